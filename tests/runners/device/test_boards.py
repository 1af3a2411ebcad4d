# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
import yaml
from conftest import REPOSITORY
from device_bench import board_entry

from helia_aot.errors import ConfigError
from helia_aot.platforms.registry import load_platform
from runners.device.board_state import BoardBusy, BoardState, wait_until
from runners.device.boards import Board, load_boards
from runners.device.device import library_of
from runners.device.job import RESERVED_OPTIONS, Outcome
from runners.device.ladder import LADDER, session_job
from runners.errors import RunnerError
from runners.kernel_library import KernelLibrary

PLATFORM = "apollo510_evb"


def write(folder: Path, **boards: dict) -> Path:
    path = folder / "boards.yaml"
    path.write_text(yaml.safe_dump({"boards": boards}, sort_keys=False), "utf-8")
    return path


def entry(probe: str = "1", **changes: object) -> dict:
    return {**board_entry(PLATFORM, probe), **changes}


def test_a_good_file_gives_the_boards_in_order(tmp_path):
    boards = load_boards(write(tmp_path, z=entry("1"), a=entry("2", connect="under-reset")))
    assert list(boards) == ["z", "a"]
    assert (boards["a"].probe, boards["a"].connect) == ("virtual:2", "under-reset")
    assert boards["z"].rig_digest() == boards["a"].rig_digest()
    layout = boards["z"].layout(load_platform(PLATFORM))
    assert (layout.code, layout.vectors) == ("itcm", "itcm")


def test_all_problems_come_at_once_with_their_lines(tmp_path):
    path = tmp_path / "boards.yaml"
    path.write_text(
        "boards:\n  a:\n    probe: x\n    platform: apollo510_evb\n    core: cortex-m55\n    conect: halt\n    frequency_hz: 1\n"
    )
    with pytest.raises(ConfigError) as caught:
        load_boards(path)
    sources = {
        problem.where: problem.source.rsplit(":", 1)[-1] for problem in caught.value.problems
    }
    assert sources["boards.a.conect"] == "6"
    assert sources["boards.a.frequency_hz"] == "7"
    assert {
        "boards.a.clock",
        "boards.a.memories",
        "boards.a.harness",
        "boards.a.code_memory",
    } <= set(sources)


MEMORIES = board_entry(PLATFORM, "1")["memories"]
WRONG = {
    "core": ({"core": "cortex-m4"}, "has a cortex-m55"),
    "platform": ({"platform": "apollo9"}, "apollo9"),
    "missing memory": ({"memories": {"itcm": MEMORIES["itcm"]}}, "dtcm, mram, sram of apollo510_evb is missing"),
    "unknown memory": ({"memories": {**MEMORIES, "psram": MEMORIES["sram"]}}, "no such memory"),
    "too large": ({"memories": {**MEMORIES, "itcm": {"address": 0, "size_bytes": 1 << 20}}}, "larger than the platform's"),
    "overlap": ({"memories": {**MEMORIES, "sram": {**MEMORIES["mram"], "size_bytes": 4096}}}, "overlap"),
    "vectors": ({"memories": {**MEMORIES, "itcm": {"address": 64, "size_bytes": 4096}}}, "for the vector table"),
    "code": ({"code_memory": "rom"}, "there is no memory rom"),
    "flash": ({"memories": {**MEMORIES, "mram": {**MEMORIES["mram"], "flash": True}}}, "cannot write the flash of mram"),
    "pack": ({"pack": "nowhere.pack"}, "there is no file"),
    "options": ({"options": {"auto_unlock": True}}, "is what every session sets itself"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_contradictions_are_named(tmp_path, case):
    changes, reason = WRONG[case]
    with pytest.raises(ConfigError, match=reason):
        load_boards(write(tmp_path, a=entry(**changes)))


def test_options_reach_pyocd_and_never_loosen_a_session(tmp_path):
    options = {"cmsis_dap.limit_packets": True, "jlink.device": "AMAP510", "jlink.power": True}
    board = load_boards(write(tmp_path, a=entry(options=options)))["a"]
    job = replace(session_job(board, None, LADDER[0]), pack="some.pack")
    found = job.pyocd_options(tmp_path)
    assert found.items() >= options.items()
    assert set(found) == set(options) | RESERVED_OPTIONS
    assert (found["auto_unlock"], found["resume_on_disconnect"]) == (False, False)
    plain = replace(job, options={}, pack=None).pyocd_options(tmp_path)
    assert plain["jlink.power"] is False


def test_a_board_names_its_kernel_library(tmp_path, monkeypatch):
    library = {
        "dialect": "cmsis-nn",
        "version": "7.0.0",
        "includes": ["nn/Include"],
        "archive": "nn.a",
    }
    path = write(tmp_path, a=entry("1", kernels=library), b=entry("2"))
    monkeypatch.chdir("/")
    boards = load_boards(path)
    own = boards["a"].kernels
    assert isinstance(own, KernelLibrary)
    assert own.includes == [(tmp_path / "nn" / "Include").resolve()]
    assert own.archive == (tmp_path / "nn.a").resolve()
    assert boards["b"].kernels == "bundled"
    assert boards["a"].rig_digest() != boards["b"].rig_digest()
    assert library_of(boards["a"], None) == library_of(boards["a"], own) == own
    assert library_of(boards["b"], own) == own
    assert library_of(boards["b"], None) is None
    other = own.model_copy(update={"version": "7.1.0"})
    with pytest.raises(RunnerError, match="different kernel libraries"):
        library_of(boards["a"], other)


def test_two_boards_with_one_probe_are_an_error(tmp_path):
    with pytest.raises(ConfigError, match="is the probe of a too"):
        load_boards(write(tmp_path, a=entry(), b={**entry(), "probe": "1"}))


@pytest.fixture
def state(tmp_path, monkeypatch) -> BoardState:
    monkeypatch.setenv("HELIA_BOARDS_DIR", str(tmp_path / "state"))
    return BoardState("cmsisdap:0123/45")


def test_a_lock_names_its_holder(state):
    assert state.holder() is None
    with state.locked("measure kws", wait_s=0):
        holder = state.holder()
        assert (holder.pid, holder.job) == (os.getpid(), "measure kws")
        with pytest.raises(BoardBusy, match="measure kws"), state.locked("other", wait_s=0):
            pass
        with BoardState("another").locked("other", wait_s=0):
            pass
    assert state.holder() is None


def _hold(ready) -> None:
    with BoardState("cmsisdap:0123/45").locked("dies", wait_s=5):
        ready.set()
        signal.pause()


def test_a_killed_holder_frees_the_board(state):
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    child = context.Process(target=_hold, args=(ready,))
    child.start()
    assert ready.wait(30)
    assert state.holder().job == "dies"
    child.kill()
    child.join()
    assert wait_until(lambda: state.holder() is None, 10)
    with state.locked("next", wait_s=0):
        assert state.holder().job == "next"


def test_quarantine_and_flash_count_stay(state):
    assert (state.quarantine(), state.flash_writes(), state.release()) == (None, 0, False)
    state.set_aside("no_target: nothing answers")
    state.count_flash_write()
    state.count_flash_write()
    again = BoardState("cmsisdap:0123/45")
    assert again.quarantine().reason == "no_target: nothing answers"
    assert again.flash_writes() == 2
    assert again.release()
    assert state.quarantine() is None


def test_a_damaged_note_still_sets_aside(state, tmp_path):
    state.set_aside("x")
    next((tmp_path / "state").glob("*.quarantine")).write_text("{")
    assert "cannot be read" in state.quarantine().reason


def test_the_example_of_the_manual_is_valid(tmp_path):
    manual = (REPOSITORY / "docs" / "boards.md").read_text("utf-8")
    example = manual.split("```yaml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "boards.yaml").write_text(example, "utf-8")
    assert list(load_boards(tmp_path / "boards.yaml")) == ["evb-a"]


def test_the_manual_has_every_key_and_outcome():
    manual = (REPOSITORY / "docs" / "boards.md").read_text("utf-8")
    names = [*Board.model_fields, *(set(get_args(Outcome)) - {"ended", "identified"})]
    assert [name for name in names if f"`{name}`" not in manual] == []
