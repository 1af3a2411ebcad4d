# SPDX-License-Identifier: Apache-2.0
"""What samplers of Optuna are shown of a long campaign."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import optuna
import pytest
from synthetic_campaign import search_in

from optimizer.samplers import SAMPLERS, SamplerName
from optimizer.trial_window import Window, WindowedStorage
from results.records import TrialRecord


def test_the_best_and_the_most_recent_trials_are_shown() -> None:
    storage = WindowedStorage(Window(best=3, recent=4))
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=0))
    values = [9, 2, 7, 1, 8, 5, 3, 6, 4, 10]
    for value in values:
        trial = study.ask()
        is_feasible = value != 1
        study.tell(trial, float(value))
        storage.note(trial.number, [float(value)] if is_feasible else None)
    assert [trial.value for trial in study.trials] == values
    with storage.narrowed():
        # 2, 3 and 4 are the best that are feasible; 3, 6, 4 and 10 are the last.
        assert [trial.value for trial in study.get_trials()] == [2, 3, 6, 4, 10]
        states = (optuna.trial.TrialState.RUNNING,)
        assert study.get_trials(states=states) == []
    assert len(study.trials) == len(values)


def test_every_objective_has_its_best() -> None:
    storage = WindowedStorage(Window(best=1, recent=1))
    study = optuna.create_study(storage=storage, directions=["minimize"] * 2)
    for values in ([1.0, 9.0], [5.0, 5.0], [9.0, 1.0], [6.0, 6.0]):
        trial = study.ask()
        study.tell(trial, values)
        storage.note(trial.number, values)
    with storage.narrowed():
        assert [trial.number for trial in study.get_trials()] == [0, 2, 3]


@pytest.mark.parametrize("sampler", ["tpe", "nsga2"])
def test_a_campaign_longer_than_the_window_goes_on_as_if_undisturbed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sampler: SamplerName
) -> None:
    if sampler == "tpe":
        monkeypatch.setattr("optimizer.study.SAMPLERS", {**SAMPLERS, sampler: _narrow(sampler)})
    for name in ("whole", "stopped"):
        (tmp_path / name).mkdir()
    _, whole = search_in(tmp_path / "whole", operators=8, sampler=sampler, trials=40)
    search_in(tmp_path / "stopped", operators=8, sampler=sampler, trials=25)
    _, again = search_in(tmp_path / "stopped", operators=8, sampler=sampler, trials=40)
    plans = [
        [(item.ask, item.plan_key) for item in entries if isinstance(item, TrialRecord)]
        for entries in (whole, again)
    ]
    assert plans[0] == plans[1]


def test_an_evolution_loses_nothing_by_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its window holds all that it reads, old parents among it."""
    entry = SAMPLERS["nsga2"]
    assert entry.window is not None
    few = replace(entry.window, recent=60)
    trials = 3 * few.recent
    plans = []
    for name, window in (("narrow", few), ("wide", None)):
        (tmp_path / name).mkdir()
        chosen = replace(entry, window=window)
        monkeypatch.setattr("optimizer.study.SAMPLERS", {**SAMPLERS, "nsga2": chosen})
        _, entries = search_in(tmp_path / name, operators=60, sampler="nsga2", trials=trials)
        plans.append([item.plan_key for item in entries if isinstance(item, TrialRecord)])
    assert plans[0] == plans[1]
    assert len(plans[0]) > trials


def test_the_parents_of_the_last_generations_are_shown() -> None:
    storage = WindowedStorage(Window(best=0, recent=1, parents="parents:"))
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=0))
    for value in range(8):
        study.tell(study.ask(), float(value))
    for generation, parents in enumerate(([0, 1], [1, 2], [2, 4])):
        storage.set_study_system_attr(0, f"parents:{generation}", parents)
    storage.set_study_system_attr(0, "something else", [5])
    with storage.narrowed():
        assert [trial.number for trial in study.get_trials()] == [1, 2, 4, 7]


def _narrow(sampler: SamplerName) -> object:
    entry = SAMPLERS[sampler]
    return replace(entry, window=Window(best=5, recent=10))
