# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic_campaign import synthetic_identity, synthetic_space, table_measurement

from results.errors import LedgerError
from results.ledger import Ledger, read_ledger, set_aside
from results.records import CampaignIdentity, RepeatRecord, TrialRecord
from search_spaces.plans import plan_key

PLAN, SPACE = synthetic_space(3)
IDENTITY = synthetic_identity(SPACE)


def record(ask: int) -> TrialRecord:
    return TrialRecord(
        role="search",
        ask=ask,
        plan_key=plan_key(PLAN),
        in_space=True,
        choices=SPACE.baseline,
        seconds=0.5,
        measurement=table_measurement(PLAN, noise=ask),
    )


def write(path: Path, count: int) -> bytes:
    with Ledger.open(path, IDENTITY) as ledger:
        for ask in range(count):
            ledger.append(record(ask))
    return path.read_bytes()


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    write(path, 2)
    with Ledger.open(path, IDENTITY) as ledger:
        ledger.append(RepeatRecord(ask=2, plan_key=plan_key(PLAN)))
    content = read_ledger(path)
    assert content is not None
    assert content[0].identity == IDENTITY
    assert content[1] == (record(0), record(1), RepeatRecord(ask=2, plan_key=plan_key(PLAN)))


def test_every_line_is_one_json_object(tmp_path: Path) -> None:
    data = write(tmp_path / "ledger.jsonl", 3)
    assert data.endswith(b"}\n")
    assert data.count(b"\n") == 4


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(min_value=0))
def test_a_file_cut_anywhere_keeps_its_complete_lines(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "ledger.jsonl"
    path.unlink(missing_ok=True)
    data = write(path, 2)
    kept = data[: cut % (len(data) + 1)]
    path.write_bytes(kept)
    with Ledger.open(path, IDENTITY) as ledger:
        entries = ledger.entries
    lines = data.split(b"\n")
    complete = kept.split(b"\n")[:-1]
    if (tail := kept.split(b"\n")[-1]) and tail == lines[len(complete)]:
        complete.append(tail)
    assert len(entries) == max(0, len(complete) - 1)
    # The header is written again when it was torn; all else is as before.
    assert path.read_bytes() == b"\n".join(lines[: max(1, len(complete))]) + b"\n"


def test_a_torn_line_is_cut_off_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    data = write(path, 2)
    path.write_bytes(data[:-5])
    with Ledger.open(path, IDENTITY) as ledger:
        assert ledger.entries == (record(0),)
        assert ledger.recovered_bytes > 0
        ledger.append(record(1))
    assert path.read_bytes() == data


def test_a_line_that_lacks_only_its_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    data = write(path, 2)
    path.write_bytes(data[:-1])
    with Ledger.open(path, IDENTITY) as ledger:
        assert ledger.entries == (record(0), record(1))
        assert ledger.recovered_bytes == 0
    assert path.read_bytes() == data


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    lines = write(path, 3).split(b"\n")
    lines[2] = lines[2][:40]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(LedgerError, match="Line 3 of"):
        Ledger.open(path, IDENTITY)
    assert path.read_bytes() == b"\n".join(lines)


def test_a_foreign_first_line_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"kind": "campaign", "schema_version": 2}\n')
    with pytest.raises(LedgerError, match="no campaign header"):
        Ledger.open(path, IDENTITY)


@pytest.mark.parametrize(
    ("field", "value"),
    [("model_sha256", "f" * 64), ("space_sha256", "f" * 64), ("seed", 7), ("sampler", "random")],
)
def test_a_changed_campaign_is_refused_and_the_change_named(
    tmp_path: Path, field: str, value: str | int
) -> None:
    path = tmp_path / "ledger.jsonl"
    write(path, 1)
    changed = IDENTITY.model_copy(update={field: value})
    with pytest.raises(LedgerError) as caught:
        Ledger.open(path, changed)
    assert [problem.where for problem in caught.value.problems] == [field]
    assert "--fresh" in caught.value.next_step


def test_a_changed_toolchain_is_named_by_its_field(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    write(path, 1)
    runner = IDENTITY.runner.model_copy(update={"toolchain": "another", "timing_model": "2"})
    with pytest.raises(LedgerError) as caught:
        Ledger.open(path, IDENTITY.model_copy(update={"runner": runner}))
    assert [problem.where for problem in caught.value.problems] == [
        "runner.timing_model",
        "runner.toolchain",
    ]


def test_set_aside_keeps_the_old_ledgers(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    first = write(path, 1)
    assert set_aside(path) == tmp_path / "ledger-1.jsonl"
    write(path, 2)
    assert set_aside(path) == tmp_path / "ledger-2.jsonl"
    assert set_aside(path) is None
    assert (tmp_path / "ledger-1.jsonl").read_bytes() == first


def _try_to_open(path: Path, identity: CampaignIdentity) -> None:
    try:
        Ledger.open(path, identity)
    except LedgerError as error:
        raise SystemExit(9 if "Another process" in error.summary else 1) from error


def test_a_ledger_is_held_by_one_process(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger.open(path, IDENTITY):
        process = multiprocessing.get_context("fork").Process(
            target=_try_to_open, args=(path, IDENTITY)
        )
        process.start()
        process.join()
    assert process.exitcode == 9
