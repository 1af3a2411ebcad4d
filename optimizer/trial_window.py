# SPDX-License-Identifier: Apache-2.0
"""The trials that a sampler of Optuna is shown: all, or those that it learns most from.

What such a sampler does with a trial it does again for every proposal: sort, count, build densities, or
invert a matrix. So one that sees all trials takes longer with each. The study keeps every trial all the
same.
"""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState

_GENERATIONS: Final = 2
"""Generations whose parents are shown: the one that grows, and the one before, which it is chosen from."""


@dataclass(frozen=True)
class Window:
    """How many trials a sampler is shown.

    Attributes:
        best: Feasible trials with the lowest values, so many for each objective.
        recent: The most recent trials; among them are those that show what is bad.
        parents: Key under which a genetic sampler keeps the parents of each generation, up to the
            generation's number: the last ones are shown however old they are. None for another sampler.
    """

    best: int
    recent: int
    parents: str | None = None


class WindowedStorage(InMemoryStorage):
    """Optuna's storage in memory that can show a part of the trials of its one study.

    Args:
        window: The part; None shows all trials always.
    """

    def __init__(self, window: Window | None) -> None:
        super().__init__()
        self._window = window
        self._is_narrow = False
        self._best: list[list[tuple[float, int]]] = []
        self._parents: deque[list[int]] = deque(maxlen=_GENERATIONS)

    @contextmanager
    def narrowed(self) -> Iterator[None]:
        """Shows the part while the block lasts."""
        self._is_narrow = self._window is not None
        try:
            yield
        finally:
            self._is_narrow = False

    def note(self, number: int, values: Sequence[float] | None) -> None:
        """Ranks a finished trial.

        Args:
            number: Its number in the study.
            values: Its values; None for one that is not feasible.
        """
        if self._window is None or values is None:
            return
        self._best = self._best or [[] for _ in values]
        for ranking, value in zip(self._best, values, strict=True):
            bisect.insort(ranking, (value, number))
            del ranking[self._window.best :]

    def set_study_system_attr(self, study_id: int, key: str, value: Any) -> None:
        """Keeps an attribute of the study."""
        super().set_study_system_attr(study_id, key, value)
        if self._window is None or self._window.parents is None:
            return
        if key.startswith(self._window.parents):
            self._parents.append([self.get_trial_number_from_id(number) for number in value])

    def get_all_trials(
        self,
        study_id: int,
        deepcopy: bool = True,
        states: Container[TrialState] | None = None,
    ) -> list[FrozenTrial]:
        """Gives the trials of the study, by rising number."""
        if not self._is_narrow or self._window is None or states == (TrialState.WAITING,):
            return super().get_all_trials(study_id, deepcopy, states)
        trials = super().get_all_trials(study_id, deepcopy=False)
        first = max(0, len(trials) - self._window.recent)
        older = {number for ranking in self._best for _, number in ranking}
        older.update(number for parents in self._parents for number in parents)
        shown = [trials[number] for number in sorted(older) if number < first] + trials[first:]
        return [trial for trial in shown if states is None or trial.state in states]
