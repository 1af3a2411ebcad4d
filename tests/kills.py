# SPDX-License-Identifier: Apache-2.0
"""Campaigns that are killed again and again, and what must be left of them.

Each campaign is real but for its runner, which looks its cycles up. A kill is SIGKILL: of the campaign's
process at a random moment, of the same in the middle of writing a line of the ledger, or of a Ray worker.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from double_runner import PriceList
from synthetic_campaign import SilentProgress

import results.ledger
from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from results.ledger import LEDGER_NAME, read_ledger
from results.records import TrialRecord

Kind = Literal["driver", "ledger write", "worker"]

PRICES = PriceList(slow_s=0.01)
PLAN_NAME = "aot_plan.json"


@dataclass
class Tally:
    """What many kills did.

    Attributes:
        kills: Kills by kind.
        torn_lines: Ledgers that a kill left with a torn last line.
        campaigns: Campaigns that came to their end, each with the plan of an undisturbed one.
        finished: Evaluations in their ledgers.
        lost: Evaluations that a ledger held and did not hold after the next kill.
        other_plans: Campaigns that ended with another plan than the undisturbed one.
    """

    kills: Counter[str] = field(default_factory=Counter)
    torn_lines: int = 0
    campaigns: int = 0
    finished: int = 0
    lost: int = 0
    other_plans: int = 0


def campaign(model: Path, out: Path, *, sampler: str = "tpe", workers: int = 0) -> None:
    """Runs a small campaign to its end, or goes on with one."""
    tree: dict[str, Any] = {
        "convert": {"model": {"path": str(model)}},
        "search": {"sampler": sampler, "trials": 14, "gap": None},
        "ray": {"workers": workers},
        "measurement_cache": False,
        "out": str(out),
    }
    run_campaign(
        CampaignConfig.model_validate(tree), progress=SilentProgress(), runner_factory=PRICES
    )


def kill_drivers(model: Path, folder: Path, *, kills: int, seed: int, tally: Tally) -> None:
    """Kills campaigns until there were so many kills, every third in the middle of a ledger write.

    Args:
        model: What they search.
        folder: An empty folder for them.
        kills: How many.
        seed: Of the moments.
        tally: Is added to.
    """
    moments = random.Random(seed)
    whole = folder / "whole"
    campaign(model, whole)
    number = done = 0
    while done < kills:
        out = folder / f"killed-{number}"
        records: list[TrialRecord] = []
        while True:
            kind: Kind = "ledger write" if done % 3 == 2 else "driver"
            is_alive = done < kills  # then the campaign is left alone to end
            exit_code = _run_once(model, out, moments, kind if is_alive else None)
            was_killed = exit_code == -signal.SIGKILL
            done += was_killed
            tally.kills[kind] += was_killed
            records = _check(out, records, tally)
            if not was_killed:
                assert exit_code == 0, f"the campaign ended with {exit_code}"
                break
        number += 1
        _conclude(out, whole, records, tally)


def kill_workers(model: Path, folder: Path, *, kills: int, seed: int, tally: Tally) -> None:
    """Kills Ray workers of running campaigns until there were so many kills.

    Args:
        model: What they search.
        folder: An empty folder for them.
        kills: How many.
        seed: Of the moments.
        tally: Is added to.
    """
    moments = random.Random(seed)
    whole = folder / "whole-space"
    campaign(model, whole, sampler="profile")
    number = done = 0
    while done < kills:
        out = folder / f"workers-killed-{number}"
        ended = threading.Event()
        killer = threading.Thread(target=_kill_workers, args=(moments, kills - done, ended, tally))
        before = tally.kills["worker"]
        killer.start()
        try:
            campaign(model, out, sampler="profile", workers=2)
        finally:
            ended.set()
            killer.join()
        done += tally.kills["worker"] - before
        number += 1
        _conclude(out, whole, _check(out, [], tally), tally)


def _run_once(model: Path, out: Path, moments: random.Random, kind: Kind | None) -> int | None:
    torn_write = moments.randrange(1, 8) if kind == "ledger write" else None
    process = multiprocessing.get_context("fork").Process(
        target=_campaign_in_child, args=(model, out, torn_write, moments.random())
    )
    process.start()
    if kind == "driver":
        process.join(moments.uniform(0.05, 0.5))
        if process.is_alive() and process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
    process.join()
    return process.exitcode


def _campaign_in_child(model: Path, out: Path, torn_write: int | None, share: float) -> None:
    if torn_write is not None:
        results.ledger.os = _TornWrites(torn_write, share)  # type: ignore[assignment, attr-defined]
    campaign(model, out)


class _TornWrites:
    """Stands for ``os`` in the ledger: one of its writes reaches the disk in part, and the process is dead."""

    def __init__(self, number: int, share: float) -> None:
        self._left = number
        self._share = share

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, descriptor: int, data: bytes) -> int:
        self._left -= 1
        if self._left == 0:
            os.write(descriptor, data[: max(1, int(self._share * len(data)))])
            os.kill(os.getpid(), signal.SIGKILL)
        return os.write(descriptor, data)


def _check(out: Path, before: list[TrialRecord], tally: Tally) -> list[TrialRecord]:
    path = out / LEDGER_NAME
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        tally.torn_lines += 1
    content = read_ledger(path)
    now = [entry for entry in content[1] if isinstance(entry, TrialRecord)] if content else []
    tally.lost += sum(record not in now for record in before)
    assert now[: len(before)] == before, "a finished evaluation is lost or changed"
    return now


def _conclude(out: Path, whole: Path, records: list[TrialRecord], tally: Tally) -> None:
    tally.campaigns += 1
    tally.finished += len(records)
    is_equal = (out / PLAN_NAME).read_bytes() == (whole / PLAN_NAME).read_bytes()
    tally.other_plans += not is_equal
    keys = [record.plan_key for record in records if record.role != "verify" and record.is_settled]
    assert len(set(keys)) == len(keys), "a plan that was settled was measured again"


def _kill_workers(moments: random.Random, most: int, ended: threading.Event, tally: Tally) -> None:
    killed = 0
    while killed < most and not ended.wait(moments.uniform(0.02, 0.6)):
        workers = [pid for pid in _descendants(os.getpid()) if _title(pid).startswith("ray::Eval")]
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(moments.choice(workers), signal.SIGKILL)
                killed += 1
                tally.kills["worker"] += 1
        time.sleep(0.3)


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = status.read_text().rsplit(")", 1)[1].split()
            children.setdefault(int(fields[1]), []).append(int(status.parent.name))
    found, pending = [], [pid]
    while pending:
        found += (below := children.get(pending.pop(), []))
        pending += below
    return found


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
