# SPDX-License-Identifier: Apache-2.0
"""The debug side of a Cortex-M core, as a probe sees it on the memory bus, over QEMU's GDB stub.

The stub gives memory, core registers, breakpoints, run control and a reset. It has no DHCSR, DCRSR, DEMCR, FPB, DWT or
ROM table, and it drops writes to the private peripheral bus: those are made here. There is no cycle counter and no
performance monitor: they read 0, which is what makes timing on a virtual board impossible.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar

from pyocd.core import exceptions

from helia_virtual_board.machine import Machine
from helia_virtual_board.rsp import StubError, StubGone

T = TypeVar("T")

PRIVATE_BUS = range(0xE0000000, 0xE0100000)
ROM_TABLE, ITM, DWT, FPB, SCS = 0xE00FF000, 0xE0000000, 0xE0001000, 0xE0002000, 0xE000E000
VTOR, AIRCR, HFSR, DFSR = 0xE000ED08, 0xE000ED0C, 0xE000ED2C, 0xE000ED30
DHCSR, DCRSR, DCRDR, DEMCR = 0xE000EDF0, 0xE000EDF4, 0xE000EDF8, 0xE000EDFC

C_DEBUGEN, C_HALT, C_STEP, C_KEPT = 1, 2, 4, 0x28
S_REGRDY, S_HALT, S_LOCKUP, S_SDE, S_RETIRE, S_RESET = (
    1 << 16,
    1 << 17,
    1 << 19,
    1 << 20,
    1 << 24,
    1 << 25,
)
STOP_HALTED, STOP_BREAKPOINT, STOP_CATCH = 1, 2, 8
HARD_FAULT = 3
CATCH_BITS = {HARD_FAULT: 0x600, 4: 0x10, 5: 0x100, 6: 0xE0, 7: 0x800}
"""Exception -> bits of DEMCR that stop the core at its entry."""

N_BREAKPOINTS = 8
PC, LR, SP, XPSR = 15, 14, 13, 25
# DCRSR's number -> SYSm of MRS and MSR, for registers that the stub does not number.
SPECIAL = {17: 8, 18: 9, 24: 0x88, 25: 0x89, 26: 8, 27: 9, 28: 10, 29: 11, 30: 0x8A, 31: 0x8B}
CONTROL_BYTES = (16, 17, 19, 20)  # PRIMASK, BASEPRI, FAULTMASK, CONTROL
BX_LR = b"\x70\x47"
STORES = {1: b"\x01\x70", 2: b"\x01\x80", 4: b"\x01\x60"}  # strb, strh, str r1, [r0]
BKPT_HIGH_BYTE = 0xBE
INTERRUPTED = b"T02"
SLEEP_STEP_S = 0.25


class Asleep(StubError):
    """The core waits in WFI or WFE, where QEMU runs nothing."""


def component_ids(
    part: int, kind: int, architecture: int = 0, device_type: int = 0
) -> dict[int, int]:
    """Gives the id words, by offset, of a CoreSight component made by Arm."""
    words = {0xFD0: 0x04, 0xFE0: part & 0xFF, 0xFE4: 0xB0 | part >> 8, 0xFE8: 0x0B}
    words |= {0xFF0: 0x0D, 0xFF4: kind << 4, 0xFF8: 0x05, 0xFFC: 0xB1}
    if kind == 9:
        words |= {0xFBC: 0x23B << 21 | 1 << 20 | architecture, 0xFCC: device_type}
    return words


class Core:
    """The bus of one machine; all errors come out as a probe would raise them."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        part = machine.model.part
        order = (SCS, DWT, FPB, ITM)
        self._rom = {
            4 * index: (base - ROM_TABLE) & 0xFFFFF000 | 3 for index, base in enumerate(order)
        }
        self._rom |= component_ids(0x4C4, 1)
        if machine.model.is_v8m:
            self._ids = {
                SCS: component_ids(part, 9, 0x2A04),
                DWT: component_ids(part, 9, 0x1A02),
                FPB: component_ids(part, 9, 0x1A03),
                ITM: component_ids(part, 9, 0x1A01, 0x43),
            }
        else:
            parts = {SCS: part, DWT: 2, FPB: 3, ITM: 1}
            self._ids = {base: component_ids(number, 0xE) for base, number in parts.items()}
        self._mapped: set[int] = set()
        self.is_held_in_reset = False
        self._is_debug_enabled = False
        self._demcr = 0
        self._fpb_enabled = False
        self._comparators = [0] * N_BREAKPOINTS
        self._power_on()

    @property
    def is_halted(self) -> bool:
        return self._is_halted

    def _power_on(self) -> None:
        self._is_halted = True
        self._is_dead = False
        self._is_register_ready = True
        self._was_reset = True
        self._kept_control = self._dfsr = self._dcrdr = 0
        self._inserted: set[int] = set()
        self._entries: dict[int, int] = {}

    # Memory bus

    def read(self, address: int, size: int) -> bytes:
        def action() -> bytes:
            if address not in PRIVATE_BUS:
                return self._stopped(lambda: self._machine.stub.read(address, size))
            words = range(address & ~3, address + size, 4)
            return b"".join(struct.pack("<I", self._read_private(word)) for word in words)[
                address & 3 :
            ][:size]

        return self._transfer(address, size, action)

    def write(self, address: int, data: bytes) -> None:
        def action() -> None:
            if address not in PRIVATE_BUS:
                self._stopped(lambda: self._write_memory(address, data))
            elif address & 3 or len(data) & 3:
                self._stopped(lambda: self._store(address, data))
            else:
                for offset in range(0, len(data), 4):
                    self._write_private(
                        address + offset, int.from_bytes(data[offset : offset + 4], "little")
                    )

        self._transfer(address, len(data), action)

    def _transfer(self, address: int, size: int, action: Callable[[], T]) -> T:
        try:
            return action()
        except (StubError, TimeoutError) as error:
            raise exceptions.TransferFaultError(fault_address=address, length=size) from error
        except StubGone as error:
            self._is_dead = True
            raise exceptions.TransferError(f"the virtual machine is gone ({error})") from None

    def _stopped(self, action: Callable[[], T]) -> T:
        """Does what the stub can only do while the machine stands still."""
        if self._is_dead:
            raise StubGone("locked up")
        self._poll()
        if self._is_halted or self.is_held_in_reset:
            return action()
        reply = self._machine.stub.interrupt()
        try:
            return action()
        finally:
            # A breakpoint may have been hit in the moment of stopping.
            if reply[:3] == INTERRUPTED:
                self._machine.stub.send("c")
            else:
                self._on_stop(reply)

    def _write_memory(self, address: int, data: bytes) -> None:
        # The stub says OK to a write where nothing is, but not to a read.
        for page in {address & ~0xFFF, (address + len(data) - 1) & ~0xFFF} - self._mapped:
            self._machine.stub.read(max(page, address), 1)
            self._mapped.add(page)
        self._machine.stub.write(address, data)

    def _word(self, address: int) -> int:
        return int.from_bytes(self._machine.stub.read(address, 4), "little")

    def _read_private(self, address: int) -> int:
        page, offset = address & ~0xFFF, address & 0xFFF
        if page == ROM_TABLE:
            return self._rom.get(offset, 0)
        if offset >= 0xFBC and page in self._ids:
            return self._ids[page].get(offset, 0)
        if page == FPB:
            if offset == 0:
                return self._fpb_control()
            index = (offset - 8) // 4
            return self._comparators[index] if 0 <= index < N_BREAKPOINTS else 0
        if page == DWT:
            return 1 << 25 if offset == 0 else 0  # NOCYCCNT
        if page == ITM:
            return 0
        if address == DFSR:
            self._poll()
        own = {
            DHCSR: self._dhcsr,
            DCRDR: lambda: self._dcrdr,
            DEMCR: lambda: self._demcr,
            DFSR: lambda: self._dfsr,
        }
        if address in own:
            return own[address]()
        return self._stopped(lambda: self._word(address))

    def _write_private(self, address: int, value: int) -> None:
        page, offset = address & ~0xFFF, address & 0xFFF
        if page == FPB:
            if offset == 0 and value & 2:
                self._fpb_enabled = bool(value & 1)
            elif 8 <= offset < 8 + 4 * N_BREAKPOINTS:
                self._comparators[(offset - 8) // 4] = value
        elif page in (ROM_TABLE, DWT, ITM):
            pass
        elif address == DHCSR:
            if value >> 16 == 0xA05F:
                self._control_run(value)
        elif address == DCRSR:
            self._transfer_register(value)
        elif address == DCRDR:
            self._dcrdr = value
        elif address == DEMCR:
            self._demcr = value
        elif address == DFSR:
            self._dfsr &= ~value
        elif address == AIRCR:
            if value >> 16 == 0x5FA and value & 5:
                self.reset()
        else:
            self._stopped(lambda: self._store(address, value.to_bytes(4, "little")))

    def _fpb_control(self) -> int:
        revision = self._machine.model.fpb_revision - 1
        return revision << 28 | N_BREAKPOINTS << 4 | self._fpb_enabled

    # Run control

    def _dhcsr(self) -> int:
        try:
            if not self._is_dead:
                self._poll()
        except StubGone:
            self._is_dead = True  # QEMU aborts on a lockup
        if self._is_dead:
            return S_LOCKUP
        value = (
            self._kept_control
            | self._is_debug_enabled
            | (S_REGRDY if self._is_register_ready else 0)
        )
        value |= S_HALT | C_HALT if self._is_halted else S_RETIRE
        if self._was_reset or self.is_held_in_reset:
            value |= S_RESET
            value &= ~S_RETIRE if self.is_held_in_reset else ~0
            self._was_reset = False
        return value | (S_SDE if self._machine.model.is_v8m else 0)

    def _control_run(self, value: int) -> None:
        self._is_debug_enabled = bool(value & C_DEBUGEN)
        self._kept_control = value & C_KEPT
        self._poll()
        if self.is_held_in_reset:
            return
        if value & C_HALT and self._is_debug_enabled:
            if not self._is_halted:
                self._halt()
        elif self._is_halted and value & C_STEP and self._is_debug_enabled:
            self._step()
            self._dfsr |= STOP_HALTED
        elif self._is_halted:
            self._resume()

    def _halt(self) -> None:
        reply = self._machine.stub.interrupt()
        if reply[:3] == INTERRUPTED:
            self._is_halted = True
            self._dfsr |= STOP_HALTED
        else:
            self._on_stop(reply)

    def _breakpoints(self) -> set[int]:
        found: set[int] = set()
        for comparator in self._comparators if self._fpb_enabled else ():
            if not comparator & 1:
                continue
            if self._machine.model.fpb_revision == 2:
                found.add(comparator & ~1)
            else:
                word = comparator & 0x1FFFFFFC
                found |= {
                    word | low for bit, low in ((1 << 30, 0), (2 << 30, 2)) if comparator & bit
                }
        return found

    def _caught(self) -> set[int]:
        return {number for number, bits in CATCH_BITS.items() if self._demcr & bits}

    def _resume(self) -> None:
        wanted: set[int] = set()
        self._entries = {}
        if self._is_debug_enabled:
            vectors = struct.unpack("<8I", self._machine.stub.read(self._word(VTOR), 32))
            # The entry of HardFault is watched always: a BKPT instruction arrives there.
            self._entries = {
                number: vectors[number] & ~1 for number in self._caught() | {HARD_FAULT}
            }
            wanted = self._breakpoints() | set(self._entries.values())
        for address in self._inserted - wanted:
            self._machine.stub.command(f"z1,{address:x},2")
        for address in wanted - self._inserted:
            self._machine.stub.command(f"Z1,{address:x},2")
        self._inserted = wanted
        self._machine.stub.send("c")
        self._is_halted = False

    def _poll(self) -> None:
        if self._is_halted or self.is_held_in_reset or self._is_dead:
            return
        if self._machine.stub.has_packet():
            self._on_stop(self._machine.stub.receive())

    def _on_stop(self, reply: bytes) -> None:
        if reply[:1] not in (b"T", b"S"):
            raise StubGone(f"unexpected stop {reply!r}")
        self._is_halted = True
        pc, exception = self._get(PC), self._get(XPSR) & 0x1FF
        if pc in self._breakpoints():
            self._dfsr |= STOP_BREAKPOINT
        elif self._entries.get(exception) == pc:
            if exception == HARD_FAULT and self._return_to_bkpt():
                self._dfsr |= STOP_BREAKPOINT
            elif exception in self._caught():
                self._dfsr |= STOP_CATCH
            else:
                self._step_on()
        elif pc in self._inserted:  # a handler shared with an exception that is not caught
            self._step_on()
        else:
            self._dfsr |= STOP_HALTED

    def _step(self) -> None:
        self._machine.stub.send("s")
        try:
            self._machine.stub.receive(SLEEP_STEP_S)
        except TimeoutError:
            self._machine.stub.interrupt()
            raise Asleep("the core is asleep") from None

    def _step_on(self) -> None:
        self._step()
        self._machine.stub.send("c")
        self._is_halted = False

    def _return_to_bkpt(self) -> bool:
        """If a BKPT led to HardFault, goes back to it, where a core under debug would stand."""
        frame = self._mrs(9) if self._get(LR) & 4 else self._get(SP)
        try:
            if self._machine.stub.read(self._word(frame + 24), 2)[1] != BKPT_HIGH_BYTE:
                return False
        except StubError:
            return False
        self._inject(BX_LR)
        self._store(HFSR, (1 << 30).to_bytes(4, "little"))
        return True

    def reset(self, *, hold: bool = False) -> None:
        try:
            if not self._is_halted and not self.is_held_in_reset and not self._is_dead:
                self._machine.stub.interrupt()
            if self._is_dead:
                raise StubGone("locked up")
            self._machine.stub.monitor("system_reset")
            self._machine.stub.ask("?")  # takes every breakpoint out as well
            self._inserted = set()
        except StubGone:  # only switching it off and on helps
            self._machine.stop()
            self._machine.start()
            self._power_on()
        self._was_reset = self._is_halted = True
        self.is_held_in_reset = hold
        if hold:
            return
        if self._is_debug_enabled and self._demcr & 1:
            self._dfsr |= STOP_CATCH
        else:
            self._resume()

    # Registers

    def _get(self, number: int) -> int:
        answer = self._machine.stub.ask(f"p{number:x}")
        if len(answer) != 8:
            raise StubError(f"register {number}: {answer!r}")
        return int.from_bytes(bytes.fromhex(answer.decode()), "little")

    def _set(self, number: int, value: int) -> None:
        self._machine.stub.command(f"P{number:x}={value.to_bytes(4, 'little').hex()}")

    def _transfer_register(self, selector: int) -> None:
        self._is_register_ready = False  # and stays so if the transfer does not work
        if self._is_halted:
            try:
                self._move_register(selector & 0x7F, write=bool(selector & 1 << 16))
                self._is_register_ready = True
            except Asleep:
                pass

    def _move_register(self, number: int, *, write: bool) -> None:
        numbered = {16: XPSR, 33: 42, 36: 43}  # xPSR, FPSCR, VPR
        if number < 16 or number in numbered:
            known = numbered.get(number, number)
            if write:
                self._set(known, self._dcrdr)
            else:
                self._dcrdr = self._get(known)
        elif number in SPECIAL:
            if write:
                self._msr(SPECIAL[number], self._dcrdr)
            else:
                self._dcrdr = self._mrs(SPECIAL[number])
        elif number in (20, 34):
            if write:
                for index, register in enumerate(CONTROL_BYTES):
                    self._msr(register, self._dcrdr >> 8 * index & 0xFF)
            else:
                found = [self._mrs(register) & 0xFF for register in CONTROL_BYTES]
                self._dcrdr = int.from_bytes(bytes(found), "little")
        elif 0x40 <= number < 0x60:
            self._move_float(number - 0x40, write=write)
        else:
            self._dcrdr = 0

    def _move_float(self, index: int, *, write: bool) -> None:
        """s0 to s31 are halves of the stub's d0 to d15."""
        double, half = 26 + index // 2, 8 * (index & 1)
        text = self._machine.stub.ask(f"p{double:x}").decode()
        if write:
            text = text[:half] + self._dcrdr.to_bytes(4, "little").hex() + text[half + 8 :]
            self._machine.stub.command(f"P{double:x}={text}")
        else:
            self._dcrdr = int.from_bytes(bytes.fromhex(text[half : half + 8]), "little")

    # Single instructions

    def _inject(self, code: bytes, r0: int | None = None, r1: int | None = None) -> int:
        """Runs one instruction on the core; gives r0 as it left it. All but an exception's return is undone."""
        scratch, stub = self._machine.model.scratch, self._machine.stub
        saved = {number: self._get(number) for number in (0, 1, PC, XPSR)}
        memory = stub.read(scratch, 8)
        keeps_effect = code == BX_LR
        stub.write(scratch, code)
        self._set(XPSR, saved[XPSR] & ~0x0600FC00 | 1 << 24)  # Thumb, outside of an IT block
        for number, value in ((0, r0), (1, r1)):
            if value is not None:
                self._set(number, value)
        self._set(PC, scratch)
        try:
            self._step()
            return self._get(0)
        except Asleep:
            keeps_effect = False
            raise
        finally:
            stub.write(scratch, memory)
            if not keeps_effect:
                for number, value in saved.items():
                    self._set(number, value)

    def _mrs(self, register: int) -> int:
        return self._inject(struct.pack("<HH", 0xF3EF, 0x8000 | register))

    def _msr(self, register: int, value: int) -> None:
        self._inject(struct.pack("<HH", 0xF380, 0x8800 | register), r0=value)

    def _store(self, address: int, data: bytes) -> None:
        self._inject(STORES[len(data)], r0=address, r1=int.from_bytes(data, "little"))
