# SPDX-License-Identifier: Apache-2.0
"""The timing plugin: decoding against the GNU assembler, costs against known sequences, reports."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness import TARGETS
from harness import build as build_kernels
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import runners.simulator
from runners.errors import RunnerError, ToolchainError
from runners.simulator import timing
from runners.simulator.timing import (
    TIMING_MODEL_VERSION,
    CacheGeometry,
    ClassTiming,
    MemoryRegionTiming,
    TimingReport,
    TimingWindow,
    build_plugin,
    load_core_parameters,
    plugin_argument,
    read_timing,
    timing_model_identity,
    write_parameters,
)

PROGRAMS = Path(__file__).parent / "programs"
PLUGIN = Path(runners.simulator.__file__).parent / "plugin"
KERNELS = Path(runners.simulator.__file__).parents[2] / "helia_aot" / "kernels"
TOOLS = ("cc", "arm-none-eabi-gcc", "arm-none-eabi-objdump", "qemu-system-arm")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]
needs_tools = pytest.mark.skipif(bool(MISSING), reason=f"not in PATH: {', '.join(MISSING)}")

MARKERS = 0x20070000
MACHINES = {"cortex-m55": "mps3-an547", "cortex-m4": "mps2-an386"}
DATA_CACHE = CacheGeometry(65536, 4, 32)
CODE_CACHE = CacheGeometry(65536, 2, 32)
TCM_CODE = MemoryRegionTiming("code", 0, 1 << 19, "tcm")
TCM_DATA = MemoryRegionTiming("data", 0x20000000, 1 << 19, "tcm")
SRAM = MemoryRegionTiming("sram", 0x21000000, 1 << 22, "cached", 13, 13, 6)
REGIONS = (TCM_CODE, TCM_DATA, SRAM)
PLAIN_REGIONS = (TCM_CODE, TCM_DATA)


def run_tool(*command: object, text: str | None = None) -> str:
    done = subprocess.run(
        [str(part) for part in command], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- fixtures ----


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_plugin(tmp_path_factory.mktemp("plugin"))


def compile_host(directory: Path, program: str, *sources: str) -> Path:
    units = [PROGRAMS / f"{program}.c", *(PLUGIN / source for source in sources)]
    run_tool(
        "cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined,address",
        "-I", PLUGIN, "-o", directory / program, *units,
    )  # fmt: skip
    return directory / program


@pytest.fixture(scope="module")
def decode_dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_host(
        tmp_path_factory.mktemp("dump"), "decode_dump", "decode.c", "decode_vector.c"
    )


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = ("decode.c", "decode_vector.c", "timing_model.c", "parameters.c", "report.c")
    return compile_host(tmp_path_factory.mktemp("replay"), "replay", *sources)


@dataclass(frozen=True)
class Simulation:
    """Runs a piece of assembly between markers 0 and 1, in the machine of a core."""

    plugin: Path
    directory: Path

    def report(
        self,
        body: str,
        core: str = "cortex-m55",
        regions: Sequence[MemoryRegionTiming] = REGIONS,
    ) -> TimingReport:
        elf = self.build(body, core)
        return self.run(elf, core, regions)

    def window(
        self,
        body: str,
        core: str = "cortex-m55",
        regions: Sequence[MemoryRegionTiming] = REGIONS,
    ) -> TimingWindow:
        report = self.report(body, core, regions)
        assert report.unknown_instructions == 0, report.unknown_encodings
        (window,) = report.windows(0, 1)
        return window

    def cycles(self, body: str, core: str = "cortex-m55") -> int:
        return self.window(body, core).cycles

    def build(self, body: str, core: str) -> Path:
        source, elf = self.directory / "program.S", self.directory / "program.elf"
        source.write_text(
            f"""
            .syntax unified
            .thumb
            .global program
            .thumb_func
        program:
            push {{r4-r11, lr}}
            ldr r12, ={MARKERS:#x}  @ markers
            ldr r10, =0x20000000    @ tightly coupled memory
            ldr r11, =0x21000000    @ cached memory
            movs r0, #0
            nop.w
            str r12, [r12]
            {body}
            str r12, [r12, #4]
            pop {{r4-r11, pc}}
            .pool
            """
        )
        run_tool(
            "arm-none-eabi-gcc", f"-mcpu={core}", "-mfloat-abi=hard", "-mthumb", "-nostdlib",
            "-Wl,--no-warn-rwx-segments", "-T", PROGRAMS / "program.ld", PROGRAMS / "start.S",
            source, "-o", elf,
        )  # fmt: skip
        return elf

    def run(self, elf: Path, core: str, regions: Sequence[MemoryRegionTiming]) -> TimingReport:
        parameters, output = self.directory / "parameters.txt", self.directory / "timing, 1.json"
        write_parameters(parameters, core, regions, data_cache=DATA_CACHE, code_cache=CODE_CACHE)
        output.unlink(missing_ok=True)
        argument = plugin_argument(self.plugin, parameters, output, MARKERS, 16)
        done = start_machine(MACHINES[core], elf, argument)
        assert done.returncode == 0, done.stderr
        return read_timing(output)


def start_machine(machine: str, elf: Path, argument: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["qemu-system-arm", "-M", machine, "-display", "none", "-serial", "none", "-monitor",
         "none", "-semihosting-config", "enable=on,target=native", "-kernel", str(elf),
         "-plugin", argument],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.fixture
def simulation(plugin: Path, tmp_path: Path) -> Simulation:
    return Simulation(plugin, tmp_path)


# ---- decoding ----


def expand(line: str) -> list[str]:
    """Expands ``<a|b>``, every combination."""
    parts = re.split(r"<([^<>]*\|[^<>]*)>", line)
    choices = [part.split("|") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(chosen) for chosen in product(*choices)]


def instruction_list() -> dict[str, list[str]]:
    listed = yaml.safe_load((PROGRAMS / "instruction_classes.yaml").read_text())
    return {
        name: [text for line in lines for text in expand(line)] for name, lines in listed.items()
    }


@dataclass(frozen=True)
class Decoded:
    """One line of ``decode_dump``; registers as bit masks."""

    timing_class: str
    core_sources: int
    core_results: int
    core_writebacks: int
    vector_sources: int
    vector_results: int
    store_data: int
    gather_offsets: int
    transfers: int
    pairable: int
    may_branch: int


def decode(decode_dump: Path, encodings: Sequence[tuple[int, int]]) -> list[Decoded]:
    text = "".join(f"{size} {encoding:x}\n" for size, encoding in encodings)
    decoded = []
    for line in run_tool(decode_dump, text=text).splitlines():
        name, *numbers = line.split()
        masks = [int(number, 16) for number in numbers[:7]]
        decoded.append(Decoded(name, *masks, *(int(number) for number in numbers[7:])))
    return decoded


def assemble(directory: Path, instructions: Sequence[str]) -> list[tuple[int, int]]:
    """Gives size and encoding of the first instruction of each text."""
    source, unit, binary = (directory / f"list.{kind}" for kind in ("s", "o", "bin"))
    slots = "".join(f".balign 32\n {text}\n" for text in instructions)
    source.write_text(f".syntax unified\n.thumb\n{slots}.balign 32\n")
    run_tool(
        "arm-none-eabi-as", "-march=armv8.1-m.main+mve.fp+fp.dp", "-mthumb", source, "-o", unit
    )
    run_tool("arm-none-eabi-objcopy", "-O", "binary", "-j", ".text", unit, binary)
    code = binary.read_bytes()
    return [first_encoding(code[32 * slot :]) for slot in range(len(instructions))]


def first_encoding(code: bytes) -> tuple[int, int]:
    first, second = (int.from_bytes(code[i : i + 2], "little") for i in (0, 2))
    return (4, first << 16 | second) if first >> 11 in (0x1D, 0x1E, 0x1F) else (2, first)


@needs_tools
def test_every_listed_instruction_has_its_class(decode_dump: Path, tmp_path: Path) -> None:
    expected = [(name, text) for name, texts in instruction_list().items() for text in texts]
    encodings = assemble(tmp_path, [text for _, text in expected])
    decoded = decode(decode_dump, encodings)
    wrong = [
        f"{text}: {found.timing_class}, not {name}"
        for (name, text), found in zip(expected, decoded, strict=True)
        if found.timing_class != name
    ]
    assert len(expected) > 900
    assert not wrong


def test_the_list_covers_every_class_of_the_model() -> None:
    assert {*instruction_list(), "unknown"} == set(load_core_parameters("cortex-m55")["classes"])


def q(*numbers: int) -> int:
    return sum(0xF << 4 * number for number in numbers)


def r(*numbers: int) -> int:
    return sum(1 << number for number in numbers)


FLAGS = r(16)
VPR = r(17)
NOTHING = Decoded("", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


@needs_tools
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("adds r1, r2, r3", {"core_sources": r(2, 3), "core_results": r(1) | FLAGS}),
        ("add.w r1, r2, r3", {"core_sources": r(2, 3), "core_results": r(1)}),
        ("movs r1, #3", {"core_results": r(1) | FLAGS, "pairable": 1}),
        ("cmp.w r8, r9", {"core_sources": r(8, 9), "core_results": FLAGS}),
        ("adc.w r1, r2, r3", {"core_sources": r(2, 3) | FLAGS, "core_results": r(1)}),
        ("movt r1, #3", {"core_sources": r(1), "core_results": r(1)}),
        ("beq .", {"core_sources": FLAGS, "pairable": 1, "may_branch": 1}),
        ("mla r1, r2, r3, r4", {"core_sources": r(2, 3, 4), "core_results": r(1)}),
        ("smlal r1, r2, r3, r4", {"core_sources": r(1, 2, 3, 4), "core_results": r(1, 2)}),
        (
            "ldr r1, [r2], #4",
            {"core_sources": r(2), "core_results": r(1), "core_writebacks": r(2)},
        ),
        ("str r1, [r2, r3]", {"core_sources": r(1, 2, 3)}),
        (
            "pop {r1, r2, pc}",
            {
                "core_sources": r(13),
                "core_results": r(1, 2),
                "core_writebacks": r(13),
                "transfers": 3,
                "may_branch": 1,
            },
        ),
        ("ldrd r1, r2, [r3]", {"core_sources": r(3), "core_results": r(1, 2), "transfers": 2}),
        ("lsll r2, r3, r4", {"core_sources": r(2, 3, 4), "core_results": r(2, 3)}),
        ("sqrshrl r2, r3, #64, r9", {"core_sources": r(2, 3, 9), "core_results": r(2, 3)}),
        ("csel r1, r2, r3, eq", {"core_sources": r(2, 3) | FLAGS, "core_results": r(1)}),
        ("dlstp.8 lr, r1", {"core_sources": r(1), "core_results": r(14)}),
        ("vadd.i8 q1, q2, q3", {"vector_sources": q(2, 3), "vector_results": q(1)}),
        (
            "vmla.s8 q1, q2, r3",
            {"core_sources": r(3), "vector_sources": q(1, 2), "vector_results": q(1)},
        ),
        (
            "vmladav.s8 r2, q3, q4",
            {"core_results": r(2), "vector_sources": q(3, 4)},
        ),
        (
            "vmladava.s8 r2, q3, q4",
            {"core_sources": r(2), "core_results": r(2), "vector_sources": q(3, 4)},
        ),
        (
            "vmlaldava.s16 r2, r3, q4, q5",
            {"core_sources": r(2, 3), "core_results": r(2, 3), "vector_sources": q(4, 5)},
        ),
        (
            "vldrw.32 q1, [r2], #16",
            {"core_sources": r(2), "core_writebacks": r(2), "vector_results": q(1)},
        ),
        ("vldrw.32 q1, [r2, #16]", {"core_sources": r(2), "vector_results": q(1)}),
        ("vstrb.16 q1, [r2]", {"core_sources": r(2), "store_data": q(1)}),
        (
            "vldrb.u16 q1, [r2, q3]",
            {
                "core_sources": r(2),
                "vector_results": q(1),
                "gather_offsets": q(3),
                "transfers": 8,
            },
        ),
        ("vstrd.64 q1, [q3, #8]", {"store_data": q(1), "gather_offsets": q(3), "transfers": 2}),
        (
            "vld40.8 {q1, q2, q3, q4}, [r2]!",
            {
                "core_sources": r(2),
                "core_writebacks": r(2),
                "vector_sources": q(1, 2, 3, 4),
                "vector_results": q(1, 2, 3, 4),
            },
        ),
        (
            "viwdup.u8 q1, r2, r3, #1",
            {"core_sources": r(2, 3), "core_writebacks": r(2), "vector_results": q(1)},
        ),
        ("vcmp.s8 gt, q1, q2", {"vector_sources": q(1, 2), "core_results": VPR}),
        ("vpsel q1, q2, q3", {"core_sources": VPR, "vector_sources": q(2, 3), "vector_results": q(1)}),
        ("vshlc q1, r2, #7", {"core_sources": r(2), "core_results": r(2), "vector_sources": q(1),
                              "vector_results": q(1)}),
        ("vfma.f32 s1, s2, s3", {"vector_sources": 0b1110, "vector_results": 0b0010}),
        ("vadd.f64 d1, d2, d3", {"vector_sources": 0xF0, "vector_results": 0b1100}),
        ("vmrs apsr_nzcv, fpscr", {"core_sources": FLAGS, "core_results": FLAGS}),
        (
            "vldmia r1!, {s1-s5}",
            {
                "core_sources": r(1),
                "core_writebacks": r(1),
                "vector_results": 0b111110,
                "transfers": 5,
            },
        ),
        ("vpush {d8-d9}", {"core_sources": r(13), "core_writebacks": r(13), "store_data": 0xF0000,
                           "transfers": 4}),
        ("vcmp.f32 s1, s2", {"core_results": FLAGS, "vector_sources": 0b110}),
        ("vadc.i32 q1, q2, q3", {"core_sources": FLAGS, "core_results": FLAGS,
                                 "vector_sources": q(2, 3), "vector_results": q(1)}),
        ("vmsr vpr, r1", {"core_sources": r(1), "core_results": FLAGS | VPR}),
        ("vmov r2, r3, d1", {"core_results": r(2, 3), "vector_sources": 0b1100}),
    ],
)  # fmt: skip
def test_operands(
    decode_dump: Path, tmp_path: Path, text: str, expected: Mapping[str, int]
) -> None:
    (found,) = decode(decode_dump, assemble(tmp_path, [text]))
    assert found == replace(NOTHING, timing_class=found.timing_class, **expected)


@needs_tools
@pytest.mark.parametrize(
    "encoding",
    [(4, 0xEE000010), (4, 0xEC000000), (4, 0xF7F0A000), (2, 0xDE00), (4, 0xFB00F0F0)],
    ids=["coprocessor 0", "stc coprocessor 0", "udf.w", "udf", "multiply hole"],
)
def test_unknown_encodings_are_not_guessed(decode_dump: Path, encoding: tuple[int, int]) -> None:
    (found,) = decode(decode_dump, [encoding])
    assert found == replace(NOTHING, timing_class="unknown")


@needs_tools
@pytest.mark.parametrize("core", MACHINES)
def test_no_instruction_of_the_kernels_is_unknown(decode_dump: Path, core: str) -> None:
    program = build_kernels(TARGETS[core.removeprefix("cortex-")])  # what the kernel tests run
    lines = re.findall(
        r"^ *[0-9a-f]+:\t([0-9a-f]{4})(?: ([0-9a-f]{4}))? +\t(.*)$",
        run_tool("arm-none-eabi-objdump", "-d", program),
        re.MULTILINE,
    )
    encodings = [(4 if second else 2, int(first + second, 16)) for first, second, _ in lines]
    decoded = decode(decode_dump, encodings)
    modelled = set(load_core_parameters(core)["classes"]) - {"unknown"}
    unknown = [
        text
        for (_, _, text), found in zip(lines, decoded, strict=True)
        if found.timing_class not in modelled
    ]
    assert len(lines) > 1000
    assert not unknown


@needs_tools
def test_classes_of_the_report_count_what_ran(simulation: Simulation) -> None:
    window = simulation.window(
        """
        vldrw.32 q0, [r10]
        vldrw.32 q1, [r10, #16]
        vadd.i32 q2, q0, q1
        vmladava.s8 r2, q0, q1
        vqrshl.s32 q2, q2, q0
        vstrw.32 q2, [r10, #32]
        mul r3, r4, r5
        udiv r6, r0, r12
        """
    )
    counts = {name: entry.instructions for name, entry in window.classes.items()}
    assert counts == {
        "mve_load": 2,
        "mve_integer": 1,
        "mve_dot": 1,
        "mve_shift_round": 1,
        "mve_store": 1,
        "multiply": 1,
        "divide": 1,
    }
    assert window.instructions == 8


@needs_tools
@pytest.mark.parametrize("last", ["adds r1, #1\n adds r2, #1", "nop.w", "adds r1, #1\n nop.w"])
def test_instructions_at_the_end_of_a_page_are_decoded(simulation: Simulation, last: str) -> None:
    # QEMU looks ahead at the end of a page (1 KB on these cores) and reports an instruction too long.
    window = simulation.window(
        f"b.w 1f\n .balign 1024\n 1: .rept 255\n mov.w r3, #1\n .endr\n {last}\n nop.w"
    )
    assert window.instructions == 1 + 255 + last.count("\n") + 1 + 1


# ---- Cortex-M55 costs ----


@needs_tools
@pytest.mark.parametrize(
    ("body", "cycles"),
    [
        pytest.param("", 0, id="markers cost nothing"),
        pytest.param("nop.w", 1, id="one instruction"),
        # Vector instructions: two beats, overlapping across pipelines.
        pytest.param(
            "vldrw.32 q0, [r10]\n vadd.i32 q1, q0, q0\n vmul.i32 q2, q1, q1\n vstrw.32 q2, [r10]",
            5,
            id="VLDR VADD VMUL VSTR",
        ),
        pytest.param("vldrw.32 q0, [r10]\n vldrw.32 q1, [r10]", 4, id="two vector loads"),
        pytest.param(
            "vldrw.32 q0, [r10]\n vldrb.8 q1, [r10]\n vadd.i8 q0, q0, q1\n vstrw.32 q0, [r10]",
            6,
            id="VLDR VLDR VADD VSTR",
        ),
        pytest.param(
            "vmul.i32 q0, q1, q1\n vadd.i32 q2, q0, q0", 4, id="result of a multiply after 2"
        ),
        pytest.param(
            "vmovnb.i32 q0, q1\n vstrw.32 q0, [r10]", 5, id="narrowed vector is not forwarded"
        ),
        pytest.param("vctp.8 r0\n vpst\n vaddt.i8 q0, q0, q0", 4, id="predicate"),
        pytest.param("vaddv.u8 r2, q0\n add.w r2, r2, #1", 3, id="reduction to a core register"),
        # Gather: an element a cycle, offsets early.
        pytest.param("vldrw.u32 q0, [r10, q1]", 4, id="gather of 4"),
        pytest.param("vldrb.u8 q0, [r10, q1]", 16, id="gather of 16"),
        pytest.param(
            "vmov.i8 q1, #0\n vldrw.u32 q0, [r10, q1]", 10, id="gather waits for its offsets"
        ),
        # Scalar.
        pytest.param("ldr.w r1, [r10]\n add.w r2, r1, #1", 3, id="load then use"),
        pytest.param("ldr.w r1, [r10]\n add.w r2, r3, #1", 2, id="load then something else"),
        pytest.param("mul r1, r2, r3\n add.w r1, r1, #1", 3, id="multiply then use"),
        pytest.param("ldr.w r1, [r10], #4\n ldr.w r2, [r10]", 2, id="written-back address"),
        pytest.param("ldrd r2, r3, [r10]", 1, id="load of two"),
        pytest.param("ldm r10, {r1, r2, r3, r4}", 2, id="load of four"),
        pytest.param("add.w r2, r10, #1\n ldr.w r1, [r2]", 3, id="unaligned load"),
        pytest.param("add.w r2, r10, #1\n vldrb.8 q0, [r2]", 4, id="unaligned vector load"),
        # Pairs of 16-bit instructions.
        pytest.param("adds r1, #1\n adds r2, #1", 1, id="pair"),
        pytest.param("adds r1, #1\n adds r1, #1", 2, id="no pair: depends"),
        pytest.param("lsls r1, r2, #1\n lsls r3, r4, #1", 2, id="no pair: neither may"),
        pytest.param("adds r1, #1\n add.w r2, r2, #1", 2, id="no pair: 32 bits"),
        pytest.param("adds r1, #1\n adds r2, #1\n adds r3, #1", 2, id="a pair and one"),
        pytest.param("movs r1, #1\n ldr r2, [r0]\n adds r3, #1", 2, id="pair with a load"),
        # Branches and loops.
        pytest.param("b.w 1f\n nop.w\n 1:", 3, id="taken branch"),
        pytest.param("cmp.w r10, #0\n beq.w 1f\n 1:", 2, id="branch not taken"),
        pytest.param("mov.w r1, #100\n 1: subs.w r1, #1\n bne.w 1b", 400 - 1, id="branch loop"),
        pytest.param(
            "mov.w r1, #100\n dls lr, r1\n 1: nop.w\n nop.w\n le lr, 1b",
            1 + 1 + 200 + 3,
            id="the end of a running loop is free",
        ),
        pytest.param(
            "mov.w r1, #100\n vmov.i8 q1, #1\n dls lr, r1\n"
            "1: vldrb.8 q0, [r10], #16\n vmladava.s8 r2, q0, q1\n le lr, 1b",
            1 + 1 + 1 + 200 + 3 + 1,
            id="load and dot product: one vector instruction a cycle",
        ),
        # Scalar floating point.
        pytest.param("vfma.f32 s1, s2, s3\n vfma.f32 s1, s2, s3", 3, id="chain of two FMA"),
        pytest.param("vmla.f32 s1, s2, s3\n vmla.f32 s1, s2, s3", 5, id="chain of two VMLA"),
        pytest.param("vmul.f32 s1, s2, s3\n vmul.f32 s4, s2, s3", 2, id="two independent"),
    ],
)
def test_m55_sequence(simulation: Simulation, body: str, cycles: int) -> None:
    assert simulation.cycles(body) == cycles


@needs_tools
def test_tail_predication_costs_the_same(simulation: Simulation) -> None:
    loop = """
        mov.w r1, #{elements}
        dlstp.8 lr, r1
    1:  vldrb.8 q0, [r10], #16
        vmladava.s8 r2, q0, q1
        letp lr, 1b
    """
    assert simulation.cycles(loop.format(elements=160)) == simulation.cycles(
        loop.format(elements=145)
    )


@needs_tools
def test_m55_stalls_are_attributed(simulation: Simulation) -> None:
    window = simulation.window(
        "ldr.w r1, [r10]\n add.w r2, r1, #1\n vldrw.32 q0, [r10]\n vldrw.32 q1, [r10]\n"
        "ldr.w r3, [r11]\n b.w 1f\n nop.w\n 1: nop.w"
    )
    assert window.counters["stall_data"] == 1
    assert window.counters["stall_pipeline"] == 2  # second vector load, load behind it
    assert window.counters["stall_dcache"] == SRAM.read_fill_cycles
    assert window.counters["branch"] == 2
    stalls = sum(v for k, v in window.counters.items() if k not in ("cycles", "instructions"))
    assert window.cycles == window.instructions + stalls


# ---- Cortex-M4 costs ----


@needs_tools
@pytest.mark.parametrize(
    ("body", "cycles"),
    [
        pytest.param("ldr r1, [r0]\n add.w r2, r3, #1", 3, id="a load takes two"),
        pytest.param("ldr r1, [r0]\n ldr r2, [r0]\n ldr r3, [r0]\n nop.w", 5, id="run of loads"),
        pytest.param("ldr r1, [r0]\n str r2, [r10]", 2, id="store behind a load"),
        pytest.param("smlad r1, r2, r3, r1\n smlad r1, r2, r3, r1", 2, id="SMLAD"),
        pytest.param("mla r1, r2, r3, r1\n add.w r1, r1, #1", 2, id="MLA then use"),
        pytest.param("adds r1, #1\n adds r2, #1", 2, id="single issue"),
        pytest.param("ldm r10, {r1, r2, r3, r4}", 5, id="load of four"),
        pytest.param("push {r1, r2}\n pop {r1, r2}", 6, id="push and pop"),
        pytest.param("b.w 1f\n nop.w\n 1:", 3, id="taken branch"),
        pytest.param("udiv r1, r2, r12", 7, id="divide"),
        pytest.param("vadd.f32 s1, s2, s3\n vadd.f32 s1, s1, s3", 3, id="dependent FP add"),
        pytest.param("vfma.f32 s1, s2, s3\n vadd.f32 s4, s5, s6", 4, id="FMA"),
        pytest.param("vdiv.f32 s1, s2, s3", 14, id="FP divide"),
    ],
)
def test_m4_sequence(simulation: Simulation, body: str, cycles: int) -> None:
    assert simulation.cycles(body, "cortex-m4") == cycles


# ---- memories ----

STREAM = """
    mov.w r0, {base}
    movw lr, #{count}
    movs r2, #0
    dls lr, lr
1:  vldrb.8 q0, [r0], #16
    vmladava.s8 r2, q0, q1
    le lr, 1b
"""


@needs_tools
def test_streaming_weights_from_sram_costs_12_to_13_cycles_a_line(simulation: Simulation) -> None:
    size_bytes = 270_016
    fast = simulation.cycles(STREAM.format(base="r10", count=size_bytes // 16))
    slow = simulation.cycles(STREAM.format(base="r11", count=size_bytes // 16))
    assert 12 <= (slow - fast) / (size_bytes / 32) <= 13


@needs_tools
def test_data_that_fits_the_cache_costs_once(simulation: Simulation) -> None:
    once = STREAM.format(base="r11", count=1024)
    report = simulation.report(f"{once}{once.replace('1:', '2:').replace('1b', '2b')}")
    assert report.caches["data"].misses == 16384 // 32
    (window,) = report.windows(0, 1)
    assert window.counters["stall_dcache"] == 16384 // 32 * SRAM.read_fill_cycles


@needs_tools
def test_modified_lines_cost_their_eviction(simulation: Simulation) -> None:
    # Five lines of one set of a 4-way cache with 512 sets.
    body = "".join(f"add.w r1, r11, #{way * 16384}\n str.w r0, [r1]\n" for way in range(5))
    window = simulation.window(body)
    assert window.counters["stall_dcache"] == 5 * SRAM.write_fill_cycles + SRAM.eviction_cycles


@needs_tools
def test_a_vector_load_across_two_lines_fills_both(simulation: Simulation) -> None:
    window = simulation.window("add.w r1, r11, #24\n vldrb.8 q0, [r1]")
    assert window.counters["stall_dcache"] == 2 * SRAM.read_fill_cycles


@needs_tools
def test_code_in_cached_memory_fills_lines_once(simulation: Simulation) -> None:
    mram = MemoryRegionTiming("mram", 0, 1 << 19, "cached", read_fill_cycles=24)
    loop = "mov.w r1, #10\n dls lr, r1\n .balign 32\n1: " + "nop.w\n" * 32 + "le lr, 1b"
    window = simulation.window(loop, regions=(mram, TCM_DATA, SRAM))
    lines = window.counters["stall_icache"] / mram.read_fill_cycles
    assert lines in (5, 6)  # 128 bytes of loop, its end, and where the window starts


@needs_tools
def test_uncached_memory_waits_and_its_buffer_helps(simulation: Simulation) -> None:
    flash = MemoryRegionTiming("flash", 0x21000000, 1 << 22, "uncached", read_wait_cycles=5)
    body = "".join(f"ldr.w r1, [r11, #{4 * word}]\n" for word in range(8))
    plain = simulation.window(body, "cortex-m4", (TCM_CODE, TCM_DATA, flash))
    buffered = simulation.window(
        body, "cortex-m4", (TCM_CODE, TCM_DATA, replace(flash, buffer_bytes=16))
    )
    assert plain.counters["stall_dcache"] == 8 * 5
    assert buffered.counters["stall_dcache"] == 2 * 5


@needs_tools
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    accesses=st.lists(
        st.tuples(st.integers(0, 63), st.integers(0, 7), st.booleans()), min_size=1, max_size=200
    )
)
def test_the_data_cache_replaces_the_least_recently_used(
    replay: Path, tmp_path: Path, accesses: list[tuple[int, int, bool]]
) -> None:
    geometry = CacheGeometry(size_bytes=512, ways=4, line_bytes=32)
    parameters = tmp_path / "parameters.txt"
    write_parameters(parameters, "cortex-m55", [SRAM], data_cache=geometry, code_cache=CODE_CACHE)
    text = "".join(
        f"{'store' if store else 'load'} {0x21000000 + 32 * line + 4 * word:x} 4\n"
        for line, word, store in accesses
    )
    report = json.loads(run_tool(replay, parameters, text=text))

    sets: list[OrderedDict[int, bool]] = [OrderedDict() for _ in range(4)]
    expected = {"hits": 0, "misses": 0, "evictions": 0}
    for line, _, store in accesses:
        lines = sets[line % 4]
        expected["hits" if line in lines else "misses"] += 1
        dirty = lines.pop(line, False)
        if len(lines) == geometry.ways:
            expected["evictions"] += lines.popitem(last=False)[1]
        lines[line] = dirty or store
    assert report["caches"]["data"] == expected
    stall = expected["misses"] * SRAM.read_fill_cycles + expected["evictions"] * 6
    instructions = len(accesses)
    assert instructions + stall <= report["cycles"] <= 2 * instructions + stall


# ---- reports ----


@needs_tools
def test_the_same_image_gives_the_same_report(simulation: Simulation) -> None:
    elf = simulation.build(STREAM.format(base="r11", count=2000), "cortex-m55")
    reports = []
    for _ in range(2):
        simulation.run(elf, "cortex-m55", REGIONS)
        reports.append((simulation.directory / "timing, 1.json").read_bytes())
    assert reports[0] == reports[1]


@needs_tools
def test_events_carry_marker_and_counters_so_far(simulation: Simulation) -> None:
    report = simulation.report("nop.w\n str r12, [r12, #8]\n nop.w\n nop.w\n str r12, [r12, #12]")
    assert [event[0] for event in report.events] == [0, 2, 3, 1]
    assert report.columns[:3] == ("marker", "cycles", "instructions")
    assert report.windows(2, 3)[0].classes == {"nop": ClassTiming(2, 2)}
    assert report.windows(0, 1)[0].instructions == 3
    assert report.model_version == TIMING_MODEL_VERSION
    with pytest.raises(RunnerError, match="do not alternate"):
        report.windows(0, 9)
    with pytest.raises(RunnerError, match="do not alternate"):
        report.windows(9, 1)


@needs_tools
def test_an_unknown_instruction_is_reported(simulation: Simulation) -> None:
    # The branch-future hint of Armv8.1-M, which no compiler here emits: a no-operation for QEMU.
    report = simulation.report(".inst.w 0xf0c0e001")
    assert report.unknown_instructions == 1
    assert report.unknown_encodings[0].startswith("0xf0c0e001 at 0x")
    assert report.classes["unknown"] == ClassTiming(1, 1)


@needs_tools
def test_a_vector_instruction_is_unknown_to_the_m4(replay: Path, tmp_path: Path) -> None:
    write_parameters(tmp_path / "p.txt", "cortex-m4", PLAIN_REGIONS)
    assert "mve_load" not in load_core_parameters("cortex-m4")["classes"]
    assert json.loads(run_tool(replay, tmp_path / "p.txt", text=""))["core"] == "cortex-m4"


@needs_tools
def test_parameters_of_another_version_stop_the_plugin(
    simulation: Simulation, plugin: Path
) -> None:
    elf = simulation.build("", "cortex-m55")
    parameters = simulation.directory / "old.txt"
    parameters.write_text("model_version 0\n")
    output = simulation.directory / "never.json"
    done = start_machine(
        "mps3-an547", elf, plugin_argument(plugin, parameters, output, MARKERS, 16)
    )
    assert done.returncode != 0
    assert "model_version is 0" in done.stderr
    with pytest.raises(RunnerError, match="QEMU did not load the plugin"):
        read_timing(output)


def valid_report() -> dict[str, Any]:
    return {
        "model_version": TIMING_MODEL_VERSION,
        "core": "cortex-m55",
        "cycles": 3,
        "instructions": 2,
        "event_columns": ["marker", "cycles", "instructions"],
        "events": [[0, 1, 1], [1, 3, 2]],
        "class_names": ["alu"],
        "event_classes": [[[1, 1]], [[2, 3]]],
        "classes": {"alu": {"instructions": 2, "cycles": 3}},
        "caches": {"data": {"hits": 0, "misses": 0, "evictions": 0}},
        "unknown": 0,
        "unknown_encodings": [],
        "unmapped_accesses": 0,
        "exceptions": 0,
        "events_dropped": 0,
    }


def test_a_report_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(valid_report()))
    (window,) = read_timing(tmp_path / "t.json").windows(0, 1)
    assert (window.cycles, window.instructions) == (2, 1)
    assert window.classes == {"alu": ClassTiming(1, 2)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_version": 0}, "model version 0"),
        ({"events_dropped": 7}, "lost 7 events"),
        ({"events": [[0, 1], [1, 3]]}, "do not fit"),
        ({"event_classes": []}, "do not fit"),
        ({"classes": {"alu": {"instructions": "two"}}}, "malformed"),
        ({"unknown": None}, "malformed"),
    ],
)
def test_a_bad_report_is_an_error(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    (tmp_path / "t.json").write_text(json.dumps({**valid_report(), **change}))
    with pytest.raises(RunnerError, match=message):
        read_timing(tmp_path / "t.json")


@pytest.mark.parametrize("content", ["", "{", '{"model_version": 1'])
def test_a_cut_off_report_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(RunnerError, match="malformed"):
        read_timing(tmp_path / "t.json")


# ---- parameters ----


@pytest.mark.parametrize("core", MACHINES)
def test_every_parameter_names_its_source(core: str) -> None:
    parameters = load_core_parameters(core)
    entries = {**parameters["core_parameters"], **parameters["classes"]}
    assert parameters["core"] == core
    assert [name for name, entry in entries.items() if entry["source"][0] not in "LTA"] == []


def test_an_unknown_core_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(RunnerError, match="use one of cortex-m4, cortex-m55"):
        load_core_parameters("cortex-m7")


def test_identity_changes_with_the_core() -> None:
    assert timing_model_identity("cortex-m55") == timing_model_identity("cortex-m55")
    assert timing_model_identity("cortex-m55") != timing_model_identity("cortex-m4")
    assert f" {TIMING_MODEL_VERSION} cortex-m4 " in timing_model_identity("cortex-m4")


def test_all_problems_of_the_memories_are_reported_at_once(tmp_path: Path) -> None:
    regions = [
        MemoryRegionTiming("two words", 0, 16, "tcm"),
        MemoryRegionTiming("negative", 0x100, 16, "cached", read_fill_cycles=-1),
        MemoryRegionTiming("overlap", 0x108, 16, "tcm"),
        MemoryRegionTiming("far", 0xFFFFFFF0, 32, "tcm"),
    ]
    with pytest.raises(RunnerError) as caught:
        write_parameters(
            tmp_path / "p.txt", "cortex-m55", regions, data_cache=CacheGeometry(1000, 3, 32)
        )
    text = str(caught.value)
    for part in (
        "two words",
        "negative cost",
        "overlaps negative",
        "32-bit address",
        "1000 bytes",
        "code_cache",
    ):
        assert part in text
    assert not (tmp_path / "p.txt").exists()


def test_commas_in_paths_reach_qemu(tmp_path: Path) -> None:
    argument = plugin_argument(
        tmp_path / "a,b.so", tmp_path / "p.txt", tmp_path / "o.json", 0x20000000, 4
    )
    assert argument.startswith(f"file={tmp_path}/a,,b.so,params=")
    assert argument.endswith(",markers=0x20000000,marker_count=4")


# ---- building ----


@needs_tools
def test_concurrent_builders_share_one_plugin(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(build_plugin, [tmp_path, tmp_path])
    assert first == second
    assert [entry.name for entry in tmp_path.iterdir()] == [first.name]
    built = first.stat().st_mtime_ns
    assert build_plugin(tmp_path) == first
    assert first.stat().st_mtime_ns == built


@needs_tools
def test_other_sources_make_another_plugin(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources: Callable[[], dict[str, bytes]] = timing._plugin_sources
    monkeypatch.setattr(
        timing, "_plugin_sources", lambda: {**sources(), "extra.c": b"int helia_extra;\n"}
    )
    assert build_plugin(plugin.parent) != plugin


def test_no_compiler_is_an_error_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match="apt install gcc"):
        build_plugin(tmp_path / "cache")


@needs_tools
def test_sources_that_do_not_compile_show_the_compiler_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "_plugin_sources", lambda: {"bad.c": b"int f( {"})
    with pytest.raises(ToolchainError, match=r"bad\.c:1"):
        build_plugin(tmp_path)
    assert list(tmp_path.iterdir()) == []
