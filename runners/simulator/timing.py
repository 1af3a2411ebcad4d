# SPDX-License-Identifier: Apache-2.0
"""The timing model of the simulator: builds the QEMU plugin, feeds it parameters, reads its report.

The plugin (C sources in ``plugin/``) watches every instruction that QEMU executes and counts
*modelled cycles*: an in-order scoreboard of the core and a memory model. Its numbers are data in
``parameters/<core>.yaml``, each with its source. One run goes like this::

    so = build_plugin(cache_dir)
    write_parameters(run / "params.txt", "cortex-m55", regions, data_cache=..., code_cache=...)
    argument = plugin_argument(so, run / "params.txt", run / "timing.json", base, count)
    # qemu-system-arm -M mps3-an547 -display none -kernel image.elf -plugin <argument>
    report = read_timing(run / "timing.json")
    window, = report.windows(0, 1)
    window.cycles

A 32-bit store to ``base + 4 * k`` is event ``k``; it costs nothing and is not counted. The same image
with the same parameters gives the same report (seen alike under QEMU 7.2 and 10.0).

What the model leaves out, on purpose: values of operands (a divide takes a fixed time), predication
(an instruction costs the same with any lanes off, and does not wait for the predicate), overlap of a
cache miss with other work, prefetching beyond what the fill cost of a streaming miss contains, bank
conflicts between the core and DMA, and the fetch of a branch target from TCM.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import TypeAdapter, ValidationError

from helia_aot.errors import Problem
from runners.errors import RunnerError, ToolchainError
from runners.toolchain import find_host_compiler

TIMING_MODEL_VERSION: int = 1
"""Version of the model; raised whenever an image may cost another number of cycles.

The plugin has the same number in ``timing_model.h`` and refuses parameters of another one.
"""

_COMPILE_FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra")
_COMPILE_TIMEOUT_S = 120


@dataclass(frozen=True)
class MemoryRegionTiming:
    """What accesses to a range of addresses cost, in core cycles on top of the instruction's own.

    Attributes:
        name: Name in error messages; no blanks, at most 31 characters.
        base_address: First address.
        size_bytes: Length.
        kind: ``tcm`` costs nothing; ``cached`` costs a line fill on a cache miss; ``uncached`` costs
            a wait on each access.
        read_fill_cycles: Cached: to fill a line for a load or an instruction fetch.
        write_fill_cycles: Cached: to fill a line for a store (the caches allocate on writes).
        eviction_cycles: Cached: added when a miss evicts a modified line.
        read_wait_cycles: Uncached: for each load or instruction fetch of an aligned 8-byte unit.
        write_wait_cycles: Uncached: for each store to an aligned 8-byte unit.
        buffer_bytes: Uncached: reads in the aligned block of this length that was read last are free;
            0 for no buffer.
    """

    name: str
    base_address: int
    size_bytes: int
    kind: Literal["tcm", "cached", "uncached"]
    read_fill_cycles: int = 0
    write_fill_cycles: int = 0
    eviction_cycles: int = 0
    read_wait_cycles: int = 0
    write_wait_cycles: int = 0
    buffer_bytes: int = 0


@dataclass(frozen=True)
class CacheGeometry:
    """A set-associative cache that replaces the least recently used line.

    A data cache writes back, and allocates on writes.

    Attributes:
        size_bytes: Capacity; ``size_bytes / (ways * line_bytes)`` is a power of two.
        ways: Lines in a set.
        line_bytes: Length of a line, a power of two.
    """

    size_bytes: int
    ways: int
    line_bytes: int


@dataclass(frozen=True)
class ClassTiming:
    """Executed instructions of one timing class, and modelled cycles by which they moved time on."""

    instructions: int
    cycles: int


@dataclass(frozen=True)
class CacheTiming:
    """Look-ups of one cache, counted in lines; ``evictions`` are of modified lines only."""

    hits: int
    misses: int
    evictions: int


@dataclass(frozen=True)
class TimingWindow:
    """What happened between two events.

    Attributes:
        counters: Difference of each event column but ``marker``.
        classes: Difference of each timing class that occurred between them.
    """

    counters: Mapping[str, int]
    classes: Mapping[str, ClassTiming]

    @property
    def cycles(self) -> int:
        """Modelled cycles between the events."""
        return self.counters["cycles"]

    @property
    def instructions(self) -> int:
        """Instructions executed between the events, markers not counted."""
        return self.counters["instructions"]


@dataclass(frozen=True)
class TimingReport:
    """The plugin's report of one run.

    Attributes:
        model_version: Version of the model that made it.
        core: Core of the parameters, such as ``cortex-m55``.
        cycles: Modelled cycles of the whole run.
        instructions: Executed instructions of the whole run, markers not counted.
        columns: Names of the values in each event: ``marker``, ``cycles``, ``instructions``, then
            cycles lost, by cause: ``stall_data`` (waiting for a result), ``stall_dcache`` (data
            memory), ``stall_icache`` (instruction memory), ``branch`` (taken branches and exceptions),
            ``stall_pipeline`` (unit taken, unaligned access). All count from the start of the run.
        events: One row of ``columns`` for each event, in order.
        classes: Timing class to totals of the run; classes that did not occur are absent.
        class_names: Classes of the entries in ``event_classes``.
        event_classes: For each event, instructions and cycles of each class so far.
        caches: ``data`` and ``code``.
        unknown_instructions: Executed instructions that the model does not know, at one cycle each.
        unknown_encodings: Up to 32 of them with their addresses.
        unmapped_accesses: Data accesses outside all regions (devices); they cost nothing extra.
        exceptions: Exceptions taken.
    """

    model_version: int
    core: str
    cycles: int
    instructions: int
    columns: tuple[str, ...]
    events: tuple[tuple[int, ...], ...]
    classes: Mapping[str, ClassTiming]
    class_names: tuple[str, ...]
    event_classes: tuple[tuple[tuple[int, int], ...], ...]
    caches: Mapping[str, CacheTiming]
    unknown_instructions: int
    unknown_encodings: tuple[str, ...]
    unmapped_accesses: int
    exceptions: int

    def windows(self, opening: int, closing: int) -> tuple[TimingWindow, ...]:
        """Gives what happened between each event ``opening`` and the next event ``closing``.

        Raises:
            RunnerError: If one of the two is missing its partner.
        """
        windows: list[TimingWindow] = []
        opened: int | None = None
        for index, event in enumerate(self.events):
            if event[0] == opening and opened is None:
                opened = index
            elif event[0] == closing and opened is not None:
                windows.append(self._window(opened, index))
                opened = None
            elif event[0] in (opening, closing):
                raise _unpaired(opening, closing, index)
        if opened is not None:
            raise _unpaired(opening, closing, opened)
        return tuple(windows)

    def _window(self, first: int, last: int) -> TimingWindow:
        differences = [
            late - early for early, late in zip(self.events[first], self.events[last], strict=True)
        ]
        classes = {
            name: ClassTiming(late[0] - early[0], late[1] - early[1])
            for name, early, late in zip(
                self.class_names, self.event_classes[first], self.event_classes[last], strict=True
            )
            if late[0] > early[0]
        }
        counters = dict(zip(self.columns[1:], differences[1:], strict=True))
        return TimingWindow(counters, classes)


def _unpaired(opening: int, closing: int, index: int) -> RunnerError:
    return RunnerError(
        "The timing report has an event without its partner",
        [
            Problem(
                f"event {index}",
                f"markers {opening} and {closing} do not alternate",
                "the firmware did not run to its end, or another store hit the markers",
            )
        ],
    )


# ---- parameters ----


@cache
def _parameter_text(core: str) -> str:
    directory = resources.files("runners.simulator").joinpath("parameters")
    names = sorted(
        entry.name.removesuffix(".yaml")
        for entry in directory.iterdir()
        if entry.name.endswith(".yaml")
    )
    if core not in names:
        raise RunnerError(
            "The timing model has no parameters for this core",
            [Problem(core, "is not a modelled core", f"use one of {', '.join(names)}")],
        )
    return directory.joinpath(f"{core}.yaml").read_text(encoding="utf-8")


def load_core_parameters(core: str) -> dict[str, Any]:
    """Gives the model's parameters of a core, each with its source.

    Args:
        core: ``cortex-m55`` or ``cortex-m4``.

    Returns:
        ``core``; ``core_parameters``: name to ``{value, source}``; ``classes``: timing class to
        ``{issue, latency, pipeline, pipeline_cycles?, store_forward?, source}``, all in cycles.
        Freshly read, the caller may change it.

    Raises:
        RunnerError: If the core is not modelled.
    """
    parameters: dict[str, Any] = yaml.safe_load(_parameter_text(core))
    return parameters


def timing_model_identity(core: str) -> str:
    """Gives one line that names the model and its numbers: version, core and parameter digest.

    Raises:
        RunnerError: If the core is not modelled.
    """
    digest = hashlib.sha256(_core_lines(core).encode()).hexdigest()
    return f"modelled-cycles {TIMING_MODEL_VERSION} {core} {digest[:16]}"


def write_parameters(
    path: Path,
    core: str,
    regions: Sequence[MemoryRegionTiming],
    *,
    data_cache: CacheGeometry | None = None,
    code_cache: CacheGeometry | None = None,
) -> None:
    """Writes the parameter file of a run.

    Args:
        path: File to write.
        core: ``cortex-m55`` or ``cortex-m4``.
        regions: Costs of all memories, not overlapping. Accesses outside cost nothing extra and are
            counted.
        data_cache: Cache in front of ``cached`` regions for loads and stores; None for none.
        code_cache: The same for instruction fetches.

    Raises:
        RunnerError: If the core is not modelled, or a region or cache is not usable; carries every
            problem.
    """
    problems = [*_region_problems(regions), *_overlap_problems(regions)]
    for name, geometry in (("data_cache", data_cache), ("code_cache", code_cache)):
        problems += _cache_problems(name, geometry, regions)
    if problems:
        raise RunnerError("The memories cannot be modelled", problems)
    lines = [_core_lines(core)]
    if data_cache is not None:
        lines.append(
            f"cache data {data_cache.size_bytes} {data_cache.ways} {data_cache.line_bytes}\n"
        )
    if code_cache is not None:
        lines.append(
            f"cache code {code_cache.size_bytes} {code_cache.ways} {code_cache.line_bytes}\n"
        )
    lines += [_region_line(region) for region in regions]
    path.write_text("".join(lines), encoding="utf-8")


def _core_lines(core: str) -> str:
    parameters = load_core_parameters(core)
    lines = [f"model_version {TIMING_MODEL_VERSION}\n", f"core {core}\n"]
    for name, entry in parameters["core_parameters"].items():
        lines.append(f"{name} {entry['value']}\n")
    for name, entry in parameters["classes"].items():
        lines.append(
            f"class {name} {entry['issue']} {entry['latency']} {entry['pipeline']} "
            f"{entry.get('pipeline_cycles', 0)} {entry.get('store_forward', 0)}\n"
        )
    return "".join(lines)


def _region_line(region: MemoryRegionTiming) -> str:
    return (
        f"region {region.name} {region.base_address:#x} {region.size_bytes} {region.kind} "
        f"{region.read_fill_cycles} {region.write_fill_cycles} {region.eviction_cycles} "
        f"{region.read_wait_cycles} {region.write_wait_cycles} {region.buffer_bytes}\n"
    )


def _region_problems(regions: Sequence[MemoryRegionTiming]) -> list[Problem]:
    problems = []
    for region in regions:
        numbers = (
            region.read_fill_cycles,
            region.write_fill_cycles,
            region.eviction_cycles,
            region.read_wait_cycles,
            region.write_wait_cycles,
            region.buffer_bytes,
        )
        if not region.name or len(region.name) > 31 or any(c.isspace() for c in region.name):
            problems.append(Problem(repr(region.name), "is not a region name"))
        if region.base_address < 0 or region.base_address + region.size_bytes > 1 << 32:
            problems.append(Problem(region.name, "leaves the 32-bit address space"))
        if region.size_bytes <= 0:
            problems.append(Problem(region.name, "is empty"))
        if min(numbers) < 0:
            problems.append(Problem(region.name, "has a negative cost"))
    if len(regions) > 16:
        problems.append(Problem("regions", "the model holds at most 16"))
    return problems


def _overlap_problems(regions: Sequence[MemoryRegionTiming]) -> list[Problem]:
    ordered = sorted(regions, key=lambda region: region.base_address)
    return [
        Problem(high.name, f"overlaps {low.name}")
        for low, high in pairwise(ordered)
        if low.base_address + low.size_bytes > high.base_address
    ]


def _cache_problems(
    name: str, geometry: CacheGeometry | None, regions: Sequence[MemoryRegionTiming]
) -> list[Problem]:
    if geometry is None:
        cached = [region.name for region in regions if region.kind == "cached"]
        return [Problem(name, f"is missing, but {', '.join(cached)} is cached")] if cached else []
    line, ways, size = geometry.line_bytes, geometry.ways, geometry.size_bytes
    if min(line, ways, size) <= 0 or line < 4 or line & (line - 1) or size % (ways * line):
        return [Problem(name, f"{size} bytes, {ways} ways, {line}-byte lines is not a cache")]
    sets = size // (ways * line)
    return [Problem(name, f"{sets} sets is not a power of two")] if sets & (sets - 1) else []


# ---- plugin ----


def build_plugin(cache_dir: Path) -> Path:
    """Gives the compiled plugin; compiles it when the cache has none for its sources and compiler.

    Processes may call this at the same time with the same directory: each compiles into a file of its
    own and renames it, and all get the same path.

    Args:
        cache_dir: Directory that keeps the plugin; made when absent.

    Raises:
        ToolchainError: If there is no C compiler, or it cannot compile the plugin.
    """
    compiler = find_host_compiler()
    sources = _plugin_sources()
    key = hashlib.sha256()
    for text in (compiler.version, compiler.digest, *_COMPILE_FLAGS):
        key.update(text.encode() + b"\0")
    for name, content in sources.items():
        key.update(name.encode() + b"\0" + content + b"\0")
    target = cache_dir / f"helia-timing-{key.hexdigest()[:20]}.so"
    if target.is_file():
        return target
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_dir, prefix="build-") as scratch:
        for name, content in sources.items():
            Path(scratch, name).write_bytes(content)
        built = Path(scratch, target.name)
        units = [name for name in sources if name.endswith(".c")]
        _compile([str(compiler.path), *_COMPILE_FLAGS, "-o", built.name, *units, "-ldl"], scratch)
        built.replace(target)
    return target


def _plugin_sources() -> dict[str, bytes]:
    directory = resources.files("runners.simulator").joinpath("plugin")
    entries = sorted(directory.iterdir(), key=lambda entry: entry.name)
    return {
        entry.name: entry.read_bytes() for entry in entries if entry.name.endswith((".c", ".h"))
    }


def _compile(command: Sequence[str], directory: str) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=_COMPILE_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _cannot_compile(command[0], str(error)) from error
    if done.returncode != 0:
        raise _cannot_compile(command[0], done.stderr.strip()[-2000:])


def _cannot_compile(compiler: str, reason: str) -> ToolchainError:
    return ToolchainError(
        "The timing plugin cannot be compiled",
        [
            Problem(
                compiler,
                reason,
                "a C11 compiler with its C library is needed: apt install gcc libc6-dev",
            )
        ],
    )


def plugin_argument(
    so: Path, params: Path, output: Path, markers_base: int, marker_count: int
) -> str:
    """Gives the value of QEMU's ``-plugin`` option.

    Args:
        so: The plugin of :func:`build_plugin`.
        params: The file of :func:`write_parameters`.
        output: Where the report goes when QEMU ends.
        markers_base: Address of marker 0, in RAM.
        marker_count: Number of markers, 4 bytes each.
    """
    # A comma ends a value of a QEMU option; a doubled one stands for itself.
    so_text, params_text, output_text = (str(p).replace(",", ",,") for p in (so, params, output))
    return (
        f"file={so_text},params={params_text},output={output_text},"
        f"markers={markers_base:#x},marker_count={marker_count}"
    )


# ---- report ----


@dataclass(frozen=True)
class _RawReport:
    model_version: int
    core: str
    cycles: int
    instructions: int
    event_columns: tuple[str, ...]
    events: tuple[tuple[int, ...], ...]
    class_names: tuple[str, ...]
    event_classes: tuple[tuple[tuple[int, int], ...], ...]
    classes: dict[str, ClassTiming]
    caches: dict[str, CacheTiming]
    unknown: int
    unknown_encodings: tuple[str, ...]
    unmapped_accesses: int
    exceptions: int
    events_dropped: int


_RAW_REPORT = TypeAdapter(_RawReport)


def read_timing(path: Path) -> TimingReport:
    """Reads the report of a run.

    Raises:
        RunnerError: If the file is missing (QEMU was killed, or the plugin did not load), malformed, of
            another model version, or incomplete.
    """
    try:
        raw = _RAW_REPORT.validate_json(path.read_bytes())
    except OSError as error:
        raise _unreadable(
            path,
            f"cannot be read: {error.strerror}",
            "QEMU did not load the plugin or was killed; its standard error says more",
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _unreadable(path, f"is malformed: {where} {first['msg']}", "run it again") from error
    _check_report(path, raw)
    return TimingReport(
        model_version=raw.model_version,
        core=raw.core,
        cycles=raw.cycles,
        instructions=raw.instructions,
        columns=raw.event_columns,
        events=raw.events,
        classes=raw.classes,
        class_names=raw.class_names,
        event_classes=raw.event_classes,
        caches=raw.caches,
        unknown_instructions=raw.unknown,
        unknown_encodings=raw.unknown_encodings,
        unmapped_accesses=raw.unmapped_accesses,
        exceptions=raw.exceptions,
    )


def _check_report(path: Path, raw: _RawReport) -> None:
    if raw.model_version != TIMING_MODEL_VERSION:
        raise _unreadable(
            path,
            f"has model version {raw.model_version}, not {TIMING_MODEL_VERSION}",
            "run it again",
        )
    if raw.events_dropped:
        raise _unreadable(
            path, f"lost {raw.events_dropped} events", "store to the markers less often"
        )
    rows_fit = all(len(event) == len(raw.event_columns) for event in raw.events)
    classes_fit = len(raw.event_classes) == len(raw.events) and all(
        len(row) == len(raw.class_names) for row in raw.event_classes
    )
    if (
        raw.event_columns[:3] != ("marker", "cycles", "instructions")
        or not rows_fit
        or not classes_fit
    ):
        raise _unreadable(path, "has events that do not fit their columns", "run it again")


def _unreadable(path: Path, reason: str, next_step: str) -> RunnerError:
    return RunnerError("The timing report cannot be used", [Problem(path.name, reason, next_step)])
