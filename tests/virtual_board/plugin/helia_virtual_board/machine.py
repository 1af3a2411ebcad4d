# SPDX-License-Identifier: Apache-2.0
"""QEMU machines with their GDB stub, and what a debugger sees of their cores."""

from __future__ import annotations

import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from helia_virtual_board.rsp import GdbStub, StubGone

_START_S = 10.0


@dataclass(frozen=True)
class MachineModel:
    """A machine and the identification of its debug port and core.

    Attributes:
        name: QEMU's name.
        core: Core name.
        dpidr: Debug port's id.
        ap_idr: Access port's id.
        csw: Access port's CSW after reset.
        is_v8m: Whether it is Armv8-M.
        fpb_revision: 1 covers code below 0x20000000 only, 2 everything.
        part: Part number of the core's system control space.
        scratch: Eight bytes of executable RAM for single instructions; their content is kept.
    """

    name: str
    core: str
    dpidr: int
    ap_idr: int
    csw: int
    is_v8m: bool
    fpb_revision: int
    part: int
    scratch: int


MODELS = {
    model.name: model
    for model in (
        MachineModel("mps2-an386", "Cortex-M4", 0x2BA01477, 0x24770011, 0x23000042, False, 1, 0x00C, 0x203FFFF0),
        MachineModel("mps3-an547", "Cortex-M55", 0x6BA02477, 0x14770015, 0x03000042, True, 2, 0xD22, 0x2007FFF0),
    )
}  # fmt: skip


class Machine:
    """One QEMU process; starting it switches the board on."""

    def __init__(self, model: MachineModel, *, icount_shift: int | None) -> None:
        """Makes a machine that is off.

        Args:
            model: What it is.
            icount_shift: Virtual time goes by 2^n ns an instruction, so that its timers repeat; None for host time.
        """
        self.model = model
        self._clock = [] if icount_shift is None else ["-icount", f"shift={icount_shift},sleep=off"]
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._stub: GdbStub | None = None

    @property
    def stub(self) -> GdbStub:
        if self._stub is None:
            raise StubGone("the machine is off")
        return self._stub

    def start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="helia-virtual-board-")
        path = str(Path(self._folder.name, "gdb"))
        quiet = ["-display", "none", "-monitor", "none", "-serial", "none", "-nic", "none"]
        self._process = subprocess.Popen(
            [
                *("qemu-system-arm", "-machine", self.model.name, *quiet, *self._clock, "-S"),
                *(
                    "-chardev",
                    f"socket,path={path},server=on,wait=off,id=gdb",
                    "-gdb",
                    "chardev:gdb",
                ),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._stub = self._connected(path)
        self._stub.ask("qSupported:xmlRegisters=arm")
        self._stub.read_feature("target.xml")
        self._stub.ask("?")

    def stop(self) -> None:
        if self._stub is not None:
            self._stub.close()
            self._stub = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _connected(self, path: str) -> GdbStub:
        assert self._process is not None
        end = time.monotonic() + _START_S
        while True:
            try:
                return GdbStub(path)
            except OSError:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise StubGone("QEMU did not start") from None
                time.sleep(0.01)
