# SPDX-License-Identifier: Apache-2.0
"""One session with one board, in a process of its own. The only file that imports pyOCD.

A session of pyOCD changes the working directory, executes scripts that it finds there, and can wait
for ever in a driver. So it runs in a child process with an empty project folder, whose parent has
the deadline. The child ends with its parent.

    python -m runners.device.session <job.json> <report.json> <process id of the parent>

The folder of the report gets ``stage`` (where the session is), ``dump.bin`` (result struct and
outputs) and ``markers.bin``.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from elftools.elf.elffile import ELFFile
from pyocd import __version__ as pyocd_version
from pyocd.core import exceptions
from pyocd.core.session import Session
from pyocd.core.target import Target
from pyocd.flash.loader import MemoryLoader
from pyocd.probe.aggregator import DebugProbeAggregator

from runners.device.job import (
    DUMP_NAME,
    MARKERS_NAME,
    STAGE_NAME,
    ImageJob,
    Outcome,
    SessionJob,
    SessionReport,
    SessionStage,
    read_job,
    to_json,
)

_POLL_S = 0.01
"""Reading DHCSR touches only the private bus, so this does not slow the core down."""

_CPUID = 0xE000ED00
_VTOR = 0xE000ED08
_FAULT_REGISTERS = {
    "cfsr": 0xE000ED28,
    "hfsr": 0xE000ED2C,
    "mmfar": 0xE000ED34,
    "bfar": 0xE000ED38,
}
_CFSR_NO_FRAME = 1 << 4 | 1 << 12 | 1 << 20  # faults while stacking, and the stack limit
_EXC_RETURN_PSP = 1 << 2
_XPSR_THUMB = 1 << 24
_BUSY_WORDS = ("busy", "in use", "claim", "access denied", "already open")
_ERRORS: tuple[type[BaseException], ...] = (
    exceptions.Error,
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AssertionError,
    RuntimeError,
    AttributeError,
    IndexError,
    struct.error,
)
"""What pyOCD and the libraries below it raise when a probe or a target misbehaves."""


class _End(Exception):
    """Ends a session with an outcome."""

    def __init__(self, outcome: Outcome, reason: str, **details: Any) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason
        self.details = details


_FAILED: dict[SessionStage, Outcome] = {
    "find": "no_probe",
    "connect": "no_target",
    "identify": "no_target",
    "load": "load_failed",
    "start": "not_started",
    "run": "probe_lost",
    "read": "probe_lost",
}
"""What an error of pyOCD means, by the stage that it ends."""


class BoardSession:
    """Connects to a board, checks it, runs an image and lets go, whatever happens in between."""

    def __init__(self, job: SessionJob, folder: Path) -> None:
        self._job = job
        self._folder = folder
        self._stage: SessionStage = "find"
        self._facts: dict[str, Any] = {
            "pyocd": pyocd_version,
            "host": platform.node(),
            "frequency_hz": job.frequency_hz,
        }
        self._wrote_flash = False
        self._session: Any = None

    def run(self) -> SessionReport:
        """Gives how it ended; no error of probe or target is raised."""
        report: dict[str, Any]
        try:
            outcome = self._run()
            report = {"outcome": outcome, "stage": self._stage}
        except _End as end:
            report = {"outcome": end.outcome, "reason": end.reason, "stage": self._stage}
            report.update(end.details)
        except _ERRORS as error:
            report = {"outcome": _FAILED[self._stage], "reason": _text(error), "stage": self._stage}
            if self._stage in ("find", "connect") and _means_busy(error):
                report["outcome"] = "busy"
        report["is_released"] = self._release()
        return SessionReport(facts=self._facts, wrote_flash=self._wrote_flash, **report)

    def _run(self) -> Outcome:
        self._enter("find")
        self._open()
        self._enter("identify")
        target = self._identify()
        image = self._job.image
        if image is None:
            return "identified"
        self._enter("load")
        self._reset(target)
        segments = _segments(Path(image.path))
        self._load(target, image, segments)
        self._enter("start")
        self._start(target, image)
        self._verify(target, segments)
        self._arm(target, image)
        self._enter("run")
        self._wait(target, image)
        self._enter("read")
        self._read(target, image)
        return "ended"

    def _enter(self, stage: SessionStage) -> None:
        self._stage = stage
        (self._folder / STAGE_NAME).write_text(stage, "utf-8")

    def _open(self) -> None:
        job = self._job
        probe = DebugProbeAggregator.get_probe_with_id(job.probe)
        if probe is None or probe.unique_id != job.probe.split(":", 1)[-1]:
            raise _End("no_probe", f"no probe has the id {job.probe}")
        self._facts |= {"probe": probe.description, "probe_vendor": probe.vendor_name}
        project = self._folder / "project"
        project.mkdir(exist_ok=True)
        self._enter("connect")
        options = job.pyocd_options(project)
        if job.pack is not None:
            pack = Path(job.pack)
            digest = hashlib.sha256(pack.read_bytes()).hexdigest()
            self._facts["pack"] = f"{pack.name} {digest[:16]}"
        self._session = Session(probe, options=options)
        if job.recover_debug_port:
            self._recover()
            self._session = Session(probe, options=options)
        self._session.open()

    def _recover(self) -> None:
        """Resets through the probe, without a debug port that answers; connecting shows what came of it."""
        with suppress(*_ERRORS):
            self._session.open(init_board=False)
            self._session.target.dp.reset()
        with suppress(*_ERRORS):
            self._session.close()

    def _identify(self) -> Any:
        """A session that connected only in part has no breakpoints and no exception: look."""
        target = self._session.target
        core = target.selected_core
        if core is None:
            raise _End("no_target", "no core answers")
        extensions = sorted(extension.name.lower() for extension in core.extensions)
        self._facts |= {
            "dpidr": f"0x{target.dp.dpidr.idr:08x}",
            "cpuid": f"0x{target.read32(_CPUID):08x}",
            "core": core.name,
            "extensions": extensions,
            "hardware_breakpoints": core.available_breakpoint_count,
        }
        if _plain(core.name) != _plain(self._job.core):
            raise _End("wrong_target", f"a {core.name} answers, not a {self._job.core}")
        missing = sorted(set(self._job.extensions) - set(extensions))
        if missing:
            raise _End("wrong_target", f"the core lacks {', '.join(missing)}")
        if not core.available_breakpoint_count:
            raise _End("no_target", "the core has no hardware breakpoints: it is connected in part")
        return target

    def _reset(self, target: Any) -> None:
        """Resets and looks at the state: pyOCD only warns when the core does not halt."""
        target.reset_and_halt(Target.ResetType[self._job.reset.upper()])
        if target.get_state() != Target.State.HALTED:
            raise _End("no_target", "the core does not halt after a reset")
        for address, value in self._job.setup:
            target.write32(address, value)

    def _load(self, target: Any, image: ImageJob, segments: list[tuple[int, bytes]]) -> None:
        """Flash first: its algorithm runs in RAM that segments may go to."""
        loader = MemoryLoader(self._session)
        in_ram = []
        for address, data in segments:
            if any(start <= address < end for start, end in image.flash):
                loader.add_data(address, list(data))
                self._wrote_flash = True
            else:
                in_ram.append((address, data))
        if self._wrote_flash:
            loader.commit()
        for address, data in in_ram:
            target.write_memory_block8(address, list(data))

    def _start(self, target: Any, image: ImageJob) -> None:
        if self._job.start == "reset":
            self._reset(target)
            pc = target.read_core_register("pc")
            if pc != image.reset:
                reason = f"the core starts at 0x{pc:08x}, not at the image's 0x{image.reset:08x}"
                raise _End("not_started", reason, pc=pc)
        else:
            target.write32(_VTOR, image.vectors)
            registers = {"msp": image.stack_top, "sp": image.stack_top, "pc": image.reset}
            for name, value in registers.items():
                target.write_core_register(name, value)
            target.write_core_register("xpsr", _XPSR_THUMB)
            if target.read32(_VTOR) != image.vectors or any(
                target.read_core_register(name) != value for name, value in registers.items()
            ):
                raise _End("not_started", "the core does not take VTOR, SP and PC")
        # An old result must not look like a new one.
        target.write_memory_block8(image.result, [0] * image.result_bytes)
        target.write_memory_block8(image.stimulus, list(Path(image.stimulus_path).read_bytes()))
        target.selected_core.invalidate_instruction_cache()

    def _verify(self, target: Any, segments: list[tuple[int, bytes]]) -> None:
        """The last thing before the start, so that nothing can come between."""
        for address, data in segments:
            found = bytes(target.read_memory_block8(address, len(data)))
            if found != data:
                first = next(i for i, byte in enumerate(data) if found[i] != byte)
                reason = f"the image is not in memory as loaded, from 0x{address + first:08x} on"
                raise _End("load_failed", reason)

    def _arm(self, target: Any, image: ImageJob) -> None:
        wanted = Target.VectorCatch.HARD_FAULT | Target.VectorCatch.INTERRUPT_ERR
        target.set_vector_catch(wanted)
        if target.get_vector_catch() & wanted != wanted or not target.set_breakpoint(image.stop):
            raise _End("not_started", "the core takes no vector catch or no breakpoint")

    def _wait(self, target: Any, image: ImageJob) -> None:
        end = time.monotonic() + image.timeout_s
        started = time.monotonic()
        target.resume()
        while True:
            state = target.get_state()
            if state == Target.State.HALTED:
                self._facts["run_s"] = round(time.monotonic() - started, 4)
                self._classify_halt(target, image)
                return
            if state == Target.State.LOCKUP:
                raise _End("locked_up", "the core locked up: a fault inside the fault handler")
            if time.monotonic() > end:
                target.halt()
                pc = target.read_core_register("pc")
                raise _End("hung", f"the module did not end within {image.timeout_s:g} s", pc=pc)
            time.sleep(_POLL_S)

    def _classify_halt(self, target: Any, image: ImageJob) -> None:
        pc = target.read_core_register("pc")
        reason = target.get_halt_reason()
        if pc == image.stop:
            return
        if reason == Target.HaltReason.VECTOR_CATCH:
            raise _End("faulted", "a fault", registers=_fault_registers(target))
        if reason == Target.HaltReason.BREAKPOINT:
            raise _End("stopped", "a breakpoint instruction that is not the firmware's end", pc=pc)
        raise _End("probe_lost", f"something else halted the core ({reason})", pc=pc)

    def _read(self, target: Any, image: ImageJob) -> None:
        result = target.read_memory_block8(image.result, image.result_bytes)
        outputs = target.read_memory_block8(image.outputs, image.outputs_bytes)
        (self._folder / DUMP_NAME).write_bytes(bytes(result) + bytes(outputs))
        markers = target.read_memory_block8(image.markers, 4 * image.marker_words)
        (self._folder / MARKERS_NAME).write_bytes(bytes(markers))

    def _release(self) -> bool:
        """Resets the board and closes the probe; says whether both worked."""
        session = self._session
        if session is None:
            return True
        steps: list[Callable[[], object]] = []
        target = session.target if session.is_open else None
        if target is not None and target.selected_core is not None:
            kind = Target.ResetType[self._job.reset.upper()]
            steps.append(lambda: target.set_vector_catch(Target.VectorCatch.NONE))
            if self._job.image is not None:
                stop = self._job.image.stop
                steps.append(lambda: target.remove_breakpoint(stop))
            steps.append(lambda: target.reset(kind))
        worked = target is not None
        for step in [*steps, session.close]:
            try:
                step()
            except _ERRORS:
                worked = False
        return worked


def _segments(path: Path) -> list[tuple[int, bytes]]:
    with path.open("rb") as stream:
        return [
            (segment["p_paddr"], segment.data())
            for segment in ELFFile(stream).iter_segments("PT_LOAD")
            if segment["p_filesz"]
        ]


def _fault_registers(target: Any) -> dict[str, int]:
    registers = {name: target.read32(address) for name, address in _FAULT_REGISTERS.items()}
    exc_return = target.read_core_register("lr")
    frame = target.read_core_register("psp" if exc_return & _EXC_RETURN_PSP else "msp")
    registers |= {"sp": frame, "pc": 0, "lr": 0, "psr": 0}
    if not registers["cfsr"] & _CFSR_NO_FRAME:
        with suppress(exceptions.Error):
            words = target.read_memory_block32(frame, 8)
            registers |= {"lr": words[5], "pc": words[6], "psr": words[7]}
    return registers


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _text(error: BaseException) -> str:
    parts = [f"{type(error).__name__}: {error}"]
    if error.__cause__ is not None:
        parts.append(f"{type(error.__cause__).__name__}: {error.__cause__}")
    return " from ".join(parts)


def _means_busy(error: BaseException) -> bool:
    text = _text(error).lower()
    return any(word in text for word in _BUSY_WORDS)


def _end_with_parent(parent: int) -> None:
    """Ends this process group when the parent is gone: the board is nobody's any more."""

    def watch() -> NoReturn:
        while os.getppid() == parent:
            time.sleep(0.2)
        os.killpg(0, signal.SIGKILL)
        raise SystemExit

    threading.Thread(target=watch, daemon=True).start()


def main(arguments: list[str]) -> None:
    """Runs the session of a job file and writes its report."""
    job_path, report_path, parent = Path(arguments[0]), Path(arguments[1]), int(arguments[2])
    _end_with_parent(parent)
    logging.basicConfig(level=logging.WARNING)
    job = read_job(job_path.read_text("utf-8"))
    report = BoardSession(job, report_path.parent.resolve()).run()
    partial = report_path.with_suffix(".partial")
    partial.write_text(to_json(report), "utf-8")
    partial.replace(report_path)


if __name__ == "__main__":
    main(sys.argv[1:])
