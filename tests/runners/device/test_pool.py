# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from device_bench import board_entry

from runners.device.board_state import BoardBusy, BoardState
from runners.device.boards import Board
from runners.device.pool import BoardPool
from runners.failure import CandidateFailure

BOARDS = {
    name: Board.model_validate({**board_entry("apollo4p_evb", name), "lock_wait_s": 0.0})
    for name in ("a", "b", "c")
}


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("HELIA_BOARDS_DIR", str(tmp_path))


def taken(pool: BoardPool) -> str:
    with pool.take("a test") as board:
        return board.name


def test_runners_settle_on_boards_of_their_own():
    first, second, third, fourth = (BoardPool(BOARDS) for _ in range(4))
    assert [taken(pool) for pool in (first, second, third)] == ["a", "b", "c"]
    assert [taken(pool) for pool in (third, first, second)] == ["c", "a", "b"]
    assert taken(fourth) == "a"  # no home is left; any free board will do
    second.close()
    assert taken(fourth) == "b"


def test_a_busy_or_unfit_home_is_no_obstacle():
    pool = BoardPool(BOARDS)
    assert taken(pool) == "a"
    with BoardState(BOARDS["a"].probe_id).locked("other", wait_s=0):
        assert taken(pool) == "b"
    BoardState(BOARDS["a"].probe_id).set_aside("broken")
    assert taken(pool) == "b"
    BoardState(BOARDS["a"].probe_id).release()
    assert taken(pool) == "a"


def test_no_board_is_free():
    pool = BoardPool({"a": BOARDS["a"]})
    with (
        BoardState(BOARDS["a"].probe_id).locked("other", wait_s=0),
        pytest.raises(BoardBusy, match="other"),
    ):
        taken(pool)


def test_all_boards_are_set_aside():
    for name, board in BOARDS.items():
        BoardState(board.probe_id).set_aside(f"broken {name}")
    with pytest.raises(CandidateFailure, match="a: broken a; b: broken b; c: broken c") as caught:
        taken(BoardPool(BOARDS))
    assert caught.value.status == "rig_bad"
