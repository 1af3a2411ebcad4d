# SPDX-License-Identifier: Apache-2.0
"""Runs kernel test cases on the host and on emulated Cortex-M cores.

A :class:`Case` names an entry, its numbers and its tensors; :func:`run_cases` gives one :class:`Outcome` for each. All
cases of a call go to one process or one emulator start. ``driver.c`` says which numbers and tensors an entry wants, and
what it checks besides the output (guards, untouched inputs, reads of memory that is not the entry's).

Stream of cases, little-endian: count; for each case the entry name (64 bytes, zero-padded), then int32 numbers:
parameter count, output bytes, scratch bytes, blob count, parameters, blob sizes (0: NULL pointer); then the blobs, each
padded to 4 bytes. Stream of results: for each case status, problem bits, output bytes (int32), then the output.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import required

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "helia_aot" / "kernels"
NAME_BYTES = 64
SUCCESS, ARG_ERROR = 0, -1
STATUS_UNKNOWN_ENTRY = 1000
PROBLEMS = {
    1: "output guard overwritten",
    2: "scratch guard overwritten",
    4: "an input was changed",
    8: "output depends on memory outside the inputs",
}
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]


@dataclass(frozen=True)
class Target:
    """A way to build and run the driver."""

    name: str
    compiler: str
    flags: tuple[str, ...]
    machine: str = ""
    linker_script: str = ""
    cases_address: int = 0

    def missing_tools(self) -> list[str]:
        tools = [self.compiler, *(["qemu-system-arm"] if self.machine else [])]
        return [tool for tool in tools if shutil.which(tool) is None]


_M55 = ("-O3", "-mcpu=cortex-m55", "-mfloat-abi=hard", "-mthumb")
_ARM = "arm-none-eabi-gcc"
TARGETS = {
    target.name: target
    for target in (
        Target("host", "cc", ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")),
        Target("m55", _ARM, _M55, "mps3-an547", "mps3_an547.ld", 0x60000000),
        Target("m55-size", _ARM, ("-Os", *_M55[1:]), "mps3-an547", "mps3_an547.ld", 0x60000000),
        Target(
            "m55-portable",
            _ARM,
            (*_M55, "-DHELIA_NN_PORTABLE"),
            "mps3-an547",
            "mps3_an547.ld",
            0x60000000,
        ),
        Target(
            "m4",
            _ARM,
            ("-O3", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-mthumb"),
            "mps2-an386",
            "mps2_an386.ld",
            0x21000000,
        ),
    )
}


@dataclass(frozen=True)
class Case:
    """One kernel call; ``None`` as a tensor is a NULL pointer."""

    entry: str
    params: Sequence[int]
    tensors: Sequence[np.ndarray | None]
    output_bytes: int
    scratch_bytes: int = 0

    def encode(self) -> bytes:
        blobs = [b"" if t is None else np.ascontiguousarray(t).tobytes() for t in self.tensors]
        params = [int(p) for p in self.params]
        words = [len(params), self.output_bytes, self.scratch_bytes, len(blobs), *params]
        words += [len(b) for b in blobs]
        name = self.entry.encode().ljust(NAME_BYTES, b"\0")
        body = b"".join(b.ljust((len(b) + 3) // 4 * 4, b"\0") for b in blobs)
        return name + struct.pack(f"<{len(words)}i", *words) + body


@dataclass(frozen=True)
class Outcome:
    """What a case did."""

    status: int
    problems: tuple[str, ...]
    output: bytes = field(repr=False)

    def array(self, dtype: type = np.int8) -> np.ndarray:
        return np.frombuffer(self.output, dtype=dtype)


def decode(data: bytes, count: int) -> list[Outcome]:
    outcomes, at = [], 0
    for _ in range(count):
        status, bits, size = struct.unpack_from("<3i", data, at)
        at += 12
        problems = tuple(text for bit, text in PROBLEMS.items() if bits & bit)
        outcomes.append(Outcome(status, problems, data[at : at + size]))
        at += size
    assert at == len(data), "result stream is longer than its cases"
    return outcomes


def require(target: Target) -> None:
    """Skips, by name, when a tool of the target is not installed."""
    missing = target.missing_tools()
    if missing:
        required.missing(f"not installed: {', '.join(missing)}")


def build(target: Target, extra_flags: Sequence[str] = ()) -> Path:
    """Builds the driver with all kernel sources; built once for the same text and flags.

    The objects of all sources stay beside it, in ``objects``.
    """
    sources = [HERE / "driver.c", *sorted((KERNELS / "src").glob("*.c"))]
    headers = sorted([*KERNELS.glob("*/*.h"), *HERE.glob("*.h"), *HERE.glob("*.ld")])
    command = [target.compiler, *target.flags, *WARNINGS, *extra_flags]
    command += [f"-I{KERNELS / 'include'}", f"-I{KERNELS / 'src'}"]
    if target.machine:
        command += ["-nostartfiles", f"-DDRIVER_CASES=0x{target.cases_address:x}u"]
    else:
        command += ["-DDRIVER_HOST"]
    digest = hashlib.sha256("\0".join(command).encode())
    for path in (*sources, *headers):
        digest.update(path.name.encode() + path.read_bytes())
    builds = Path(tempfile.gettempdir()) / f"helia-kernel-builds-{os.getuid()}"
    program = builds / digest.hexdigest()[:24] / "driver.elf"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with (program.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several workers that need it one builds, on all cores
        if not program.exists():
            _build(command, sources, target, program)
    return program


def _build(command: Sequence[str], sources: Sequence[Path], target: Target, program: Path) -> None:
    folder = program.parent / "objects"
    folder.mkdir(exist_ok=True)
    objects = [str(folder / f"{source.stem}.o") for source in sources]

    def compile_source(source: Path, unit: str) -> None:
        subprocess.run([*command, "-c", str(source), "-o", unit], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_source, sources, objects))
    link = ["-L", str(HERE), "-T", target.linker_script] if target.machine else []
    partial = program.parent / "partial.elf"
    subprocess.run([*command, *objects, *link, "-o", str(partial)], check=True)
    partial.replace(program)  # whole or not at all


def available_targets() -> list[str]:
    """The targets whose tools are installed; ``test_targets.py`` reports the others as skipped."""
    return [name for name, target in TARGETS.items() if not target.missing_tools()]


def run_cases(target_name: str, cases: Sequence[Case]) -> list[Outcome]:
    """Runs the cases in order, all in one start of the driver."""
    target = TARGETS[target_name]
    require(target)
    program = build(target)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stream = struct.pack("<i", len(cases)) + b"".join(case.encode() for case in cases)
        (folder / "cases.bin").write_bytes(stream)
        command = run_command(target, program)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, (
            f"{target_name} driver: exit {done.returncode}\n{done.stderr[-4000:]}"
        )
        outcomes = decode((folder / "results.bin").read_bytes(), len(cases))
    for case, outcome in zip(cases, outcomes, strict=True):
        assert outcome.status != STATUS_UNKNOWN_ENTRY, f"{case.entry} has no adapter in driver.c"
    return outcomes


def run_command(target: Target, program: Path, extra: Sequence[str] = ()) -> list[str]:
    """The command that reads ``cases.bin`` and writes ``results.bin`` in the working directory."""
    if not target.machine:
        return [str(program), "cases.bin", "results.bin"]
    return [
        "qemu-system-arm", "-M", target.machine, "-display", "none", "-monitor", "none", "-serial", "none",
        "-semihosting-config", "enable=on,target=native", *extra,
        "-device", f"loader,file=cases.bin,addr=0x{target.cases_address:x},force-raw=on",
        "-kernel", str(program),
    ]  # fmt: skip


def check_cases(target_name: str, cases: Sequence[Case], expected: Sequence[np.ndarray]) -> None:
    """Runs the cases and compares every output byte; names the first few that differ."""
    failures = []
    for index, (case, outcome, want) in enumerate(
        zip(cases, run_cases(target_name, cases), expected, strict=True)
    ):
        got = outcome.array(want.dtype.type)
        differ = int((got != want.reshape(-1)).sum())
        if outcome.status != SUCCESS or outcome.problems or differ:
            failures.append(
                f"case {index} {case.entry} params {list(case.params)} "
                f"tensors {[None if t is None else t.shape for t in case.tensors]}: "
                f"status {outcome.status}, {differ} of {want.size} values differ, {outcome.problems}"
            )
    assert not failures, (
        f"{len(failures)} of {len(cases)} cases fail on {target_name}:\n" + "\n".join(failures[:5])
    )


def check_close(
    target_name: str,
    cases: Sequence[Case],
    expected: Sequence[np.ndarray],
    dtype: type,
    tolerance: float,
) -> float:
    """Runs the cases and compares with wide floats; gives the largest error, relative to the expected array's range.

    The range of an array is its largest magnitude, at least 1e-30.
    """
    failures, largest = [], 0.0
    for index, (case, outcome, want) in enumerate(
        zip(cases, run_cases(target_name, cases), expected, strict=True)
    ):
        got = outcome.array(dtype).astype(np.float64)
        scale = max(float(np.abs(want).max()), 1e-30)
        error = float(np.abs(got - want.reshape(-1)).max()) / scale
        largest = max(largest, error)
        if outcome.status != SUCCESS or outcome.problems or not error <= tolerance:
            failures.append(
                f"case {index} {case.entry} params {list(case.params)} "
                f"tensors {[None if t is None else t.shape for t in case.tensors]}: "
                f"status {outcome.status}, error {error:.3g} of the range, {outcome.problems}"
            )
    print(  # noqa: T201 - shown by pytest -s
        f"{target_name}: largest error {largest:.3g} of the range in {len(cases)} cases"
    )
    assert not failures, (
        f"{len(failures)} of {len(cases)} cases fail on {target_name}:\n" + "\n".join(failures[:5])
    )
    return largest


def check_everywhere(cases: Sequence[Case], expected: Sequence[np.ndarray]) -> None:
    """:func:`check_cases` on every target that is available; at least the host must be."""
    for target_name in dict.fromkeys(["host", *available_targets()]):
        check_cases(target_name, cases, expected)


def check_rejected(target_name: str, cases: Sequence[Case]) -> None:
    """Every case must be refused with ARG_ERROR, its output untouched."""
    for case, outcome in zip(cases, run_cases(target_name, cases), strict=True):
        assert outcome.status == ARG_ERROR, (
            f"{case.entry} {list(case.params)}: status {outcome.status}"
        )
        assert not outcome.problems, f"{case.entry} {list(case.params)}: {outcome.problems}"
