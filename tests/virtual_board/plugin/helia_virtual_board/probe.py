# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ARG002, ARG003, ARG005 - the signatures are those of pyOCD
"""A debug probe of pyOCD whose target is a QEMU machine."""

from __future__ import annotations

import atexit
import struct
import time
from collections.abc import Callable
from pathlib import Path

from pyocd.core import exceptions
from pyocd.core.memory_interface import MemoryInterface
from pyocd.core.plugin import Plugin
from pyocd.probe.debug_probe import DebugProbe

from helia_virtual_board.bench import Faults, VirtualBoard, next_session, virtual_boards
from helia_virtual_board.core import Core
from helia_virtual_board.flash_target import register
from helia_virtual_board.machine import MODELS, Machine

CSW, TAR, DRW, BASE, IDR = 0x00, 0x04, 0x0C, 0xF8, 0xFC
ROM_BASE = 0xE00FF003
PLAIN_WORDS = 0x12  # CSW: words, address counts up
DP_IDR, DP_CTRL_STAT, DP_SELECT = 0x0, 0x4, 0x8
IMAGE_BYTES = 1024  # more than connecting and a reset write
VENDOR = "QEMU virtual board"


class BlockMemory(MemoryInterface):
    """Whole blocks in one transfer, as some probes offer."""

    def __init__(self, probe: VirtualProbe) -> None:
        self._probe = probe

    def read_memory(self, addr, transfer_size=32, now=True, **_):
        value = int.from_bytes(self._probe.read(addr, transfer_size // 8), "little")
        return value if now else lambda: value

    def write_memory(self, addr, data, transfer_size=32, **_):
        self._probe.write(addr, data.to_bytes(transfer_size // 8, "little"))

    def read_memory_block32(self, addr, size, **_):
        return list(struct.unpack(f"<{size}I", self._probe.read(addr, 4 * size)))

    def write_memory_block32(self, addr, data, **_):
        self._probe.write(addr, struct.pack(f"<{len(data)}I", *data))

    def read_memory_block8(self, addr, size, **_):
        return list(self._probe.read(addr, size))

    def write_memory_block8(self, addr, data, **_):
        self._probe.write(addr, bytes(data))


class VirtualProbe(DebugProbe):
    """One board of the bench file. Opening it switches the machine on, closing it off."""

    def __init__(self, name: str, board: VirtualBoard) -> None:
        super().__init__()
        self._name = name
        self._model = MODELS[board.machine]
        self._machine = Machine(self._model, icount_shift=board.icount_shift)
        self._all_faults = board.faults
        self._faults = Faults()
        self._core: Core | None = None
        self._protocol = None
        self._select = self._ctrl_stat = self._tar = 0
        self._csw = self._model.csw
        self._transfers = self._loaded_bytes = self._clock_hz = 0
        self._was_reset = False

    @classmethod
    def get_all_connected_probes(cls, unique_id=None, is_explicit=False):
        return [cls(name, board) for name, board in virtual_boards().items()]

    @classmethod
    def get_probe_with_id(cls, unique_id, is_explicit=False):
        board = virtual_boards().get(unique_id)
        return None if board is None else cls(unique_id, board)

    vendor_name = property(lambda self: VENDOR)
    product_name = property(lambda self: f"{self._model.name} ({self._model.core})")
    unique_id = property(lambda self: self._name)
    supported_wire_protocols = property(lambda self: [self.Protocol.DEFAULT, self.Protocol.SWD])
    wire_protocol = property(lambda self: self._protocol)
    is_open = property(lambda self: self._core is not None)
    capabilities = property(
        lambda self: {self.Capability.SWJ_SEQUENCE, self.Capability.SWD_SEQUENCE}
    )

    @property
    def core(self) -> Core:
        if self._core is None:
            raise exceptions.ProbeError("the probe is not open")
        return self._core

    def open(self):
        self._faults = self._all_faults.in_session(next_session(self._name))
        if self._faults.is_busy:
            raise exceptions.ProbeError("Resource busy")
        self._transfers = self._loaded_bytes = 0
        self._machine.start()
        atexit.register(self._machine.stop)
        self._core = Core(self._machine)

    def close(self):
        atexit.unregister(self._machine.stop)
        self._machine.stop()
        self._core = None

    def connect(self, protocol=None):
        self._protocol = self.Protocol.SWD

    def disconnect(self):
        self._protocol = None

    def swj_sequence(self, length, bits):
        pass

    def swd_sequence(self, sequences):
        return 0, []

    def set_clock(self, frequency):
        self._clock_hz = frequency

    def reset(self):
        self._was_reset = True
        self.core.reset()

    def assert_reset(self, asserted):
        if asserted != self.core.is_held_in_reset:
            self.core.reset(hold=asserted)

    def is_reset_asserted(self):
        return self.core.is_held_in_reset

    # Transfers, and what goes wrong with them

    def _count_transfer(self) -> None:
        self._transfers += 1
        faults = self._faults
        if (
            faults.error_at
            and faults.error_at <= self._transfers < faults.error_at + faults.error_count
        ):
            raise getattr(exceptions, faults.error)("injected")
        if faults.hangs_at and self._transfers >= faults.hangs_at:
            time.sleep(3600)
        if faults.is_lost_running and self._loaded_bytes >= IMAGE_BYTES and not self.core.is_halted:
            raise exceptions.ProbeDisconnected("the probe has vanished")
        if self._transfers == 1 and self._is_silent():
            self._faults = Faults(error="TransferTimeoutError", error_at=1, error_count=1 << 30)
            raise exceptions.TransferTimeoutError("nothing answers")

    def _is_silent(self) -> bool:
        faults = self._faults
        return (
            (faults.max_frequency_hz is not None and self._clock_hz > faults.max_frequency_hz)
            or (faults.needs_reset_line and not self.core.is_held_in_reset)
            or (faults.needs_port_reset and not self._was_reset)
            or (faults.needs_power is not None and not Path(faults.needs_power).exists())
        )

    def read(self, address: int, size: int) -> bytes:
        data = self.core.read(address, size)
        if self._faults.garbage is not None:
            first, length = self._faults.garbage
            if first <= address < first + length:
                return bytes(0xA5 for _ in data)
        return data

    def write(self, address: int, data: bytes) -> None:
        self.core.write(address, data)
        self._loaded_bytes += len(data)
        target = self._faults.corrupts
        if target is not None and address <= target < address + len(data):
            old = self.core.read(target, 1)[0]
            self.core.write(target, bytes([old ^ 0x10]))

    def read_dp(self, addr, now=True):
        self._count_transfer()
        value = {DP_IDR: self._model.dpidr, DP_CTRL_STAT: self._ctrl_stat}.get(addr, 0)
        return _value(value, now)

    def write_dp(self, addr, data):
        self._count_transfer()
        if addr == DP_CTRL_STAT:
            asked = data & 0x50000000
            self._ctrl_stat = asked | asked << 1  # power is granted at once
        elif addr == DP_SELECT:
            self._select = data

    def read_ap(self, addr, now=True):
        self._count_transfer()
        if self._select >> 24:  # there is one access port
            return _value(0, now)
        register = self._register(addr)
        if register == DRW:
            return _value(self._read_data(), now)
        known = {CSW: self._csw, TAR: self._tar, IDR: self._model.ap_idr, BASE: ROM_BASE}
        return _value(known.get(register, 0), now)

    def write_ap(self, addr, data):
        self._count_transfer()
        if self._select >> 24:
            return
        register = self._register(addr)
        if register == CSW:
            self._csw = data & 0x7F000030 | min(data & 7, 2) | 0x40
        elif register == TAR:
            self._tar = data
        elif register == DRW:
            size, address = self._access()
            value = data >> 8 * (address & 3) & (1 << 8 * size) - 1
            self.write(address, value.to_bytes(size, "little"))
            self._advance(size)

    def read_ap_multiple(self, addr, count=1, now=True):
        if self._register(addr) != DRW or self._csw & 0x37 != PLAIN_WORDS:
            values = [self.read_ap(addr) for _ in range(count)]
        else:
            self._count_transfer()
            values = list(struct.unpack(f"<{count}I", self.read(self._tar, 4 * count)))
            self._advance(4 * count, always=True)
        return _value(values, now)

    def write_ap_multiple(self, addr, values):
        if self._register(addr) != DRW or self._csw & 0x37 != PLAIN_WORDS:
            for value in values:
                self.write_ap(addr, value)
        else:
            self._count_transfer()
            self.write(self._tar, struct.pack(f"<{len(values)}I", *values))
            self._advance(4 * len(values), always=True)

    def get_memory_interface_for_ap(self, ap_address):
        """Faults count transfers, so those boards have the plain path."""
        return BlockMemory(self) if self._all_faults == Faults() else None

    def _register(self, addr: int) -> int:
        return (self._select & 0xF0) | (addr & 0xF) if addr < 0x10 else addr & 0xFF

    def _access(self) -> tuple[int, int]:
        size = 1 << (self._csw & 7)
        return size, self._tar & ~(size - 1)

    def _read_data(self) -> int:
        size, address = self._access()
        value = int.from_bytes(self.read(address, size), "little") << 8 * (address & 3)
        self._advance(size)
        return value

    def _advance(self, size: int, *, always: bool = False) -> None:
        if always or self._csw & 0x30:
            self._tar = self._tar & ~0x3FF | (self._tar + size) & 0x3FF


def _value(value, now: bool):
    read: Callable[[], object] = lambda: value  # noqa: E731
    return value if now else read


class VirtualProbePlugin(Plugin):
    """What the entry point names."""

    def should_load(self):
        return bool(virtual_boards())

    def load(self):
        register()
        return VirtualProbe

    @property
    def name(self):
        return "virtual"

    @property
    def description(self):
        return "QEMU machines as debug probes"
