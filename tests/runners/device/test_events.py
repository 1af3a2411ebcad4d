# SPDX-License-Identifier: Apache-2.0
"""The firmware's use of the performance monitor, whose registers the emulators lack: here memory lies in their place."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from required import missing

import runners

FIRMWARE = Path(runners.__file__).parent / "firmware"
PROGRAM = """
#define _GNU_SOURCE
#define HELIA_DEVICE
#define __ARM_ARCH 8
#include "counters.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static helia_result_t result;

int main(int count, char **arguments)
{
    (void)count;
    void *const page = (void *)0xE0003000u;
    if (mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
    {
        return 77;
    }
    PMU_TYPE = (uint32_t)atoi(arguments[1]) | 0x00a05f00u; /* Other fields are above the number of counters. */
    start_events();
    for (uint32_t i = 0; i < 2u * HELIA_EVENTS; i++)
    {
        printf("%x ", (unsigned)PMU_EVTYPER(i));
        PMU_EVCNTR(i) = 0xabcd0000u + 0x1000u * i + 1u; /* The upper half of a counter is not defined. */
    }
    printf("%x %x ", (unsigned)PMU_CTRL, (unsigned)PMU_CNTENSET);
    stop_events(&result);
    printf("%x %u", (unsigned)PMU_CNTENCLR, (unsigned)result.n_events);
    for (uint32_t i = 0; i < HELIA_EVENTS; i++)
    {
        printf(" %x", (unsigned)result.events[i]);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def monitor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.platform != "linux":
        pytest.skip("puts memory at the registers' addresses as Linux does")
    compiler = shutil.which("cc")
    if compiler is None:
        missing("cc is not installed")
    folder = tmp_path_factory.mktemp("monitor")
    (folder / "monitor.c").write_text(PROGRAM)
    command = [
        compiler,
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Wno-int-to-pointer-cast",
        f"-I{FIRMWARE}",
    ]
    subprocess.run([*command, "monitor.c", "-o", "monitor"], cwd=folder, check=True)
    return folder / "monitor"


def words(program: Path, counters: int) -> list[int]:
    done = subprocess.run([program, str(counters)], capture_output=True, text=True, check=True)
    return [int(word, 16) for word in done.stdout.split()]


def test_pairs_of_counters_count_32_bits(monitor: Path) -> None:
    found = words(monitor, 8)
    kinds, (control, started, stopped, count), events = found[:8], found[8:12], found[12:]
    # Instructions, refills of the data cache, MVE instructions, stalls: Armv8.1-M reference manual, PMU events.
    assert kinds[::2] == [0x08, 0x03, 0x200, 0x24]
    assert kinds[1::2] == [0x1E] * 4  # the overflows of the one before
    assert control & 3 == 3
    assert (started, stopped, count) == (0xFF, 0xFF, 4)
    assert events == [(0x1000 * (2 * i + 1) + 1) << 16 | (0x1000 * 2 * i + 1) for i in range(4)]


def test_a_monitor_with_too_few_counters_is_left_alone(monitor: Path) -> None:
    assert words(monitor, 7) == [0] * 16
