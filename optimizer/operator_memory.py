# SPDX-License-Identifier: Apache-2.0
"""Cycles of single operators, kept across models: where a campaign of a model with known layers begins.

What is kept is never a measurement of the model at hand: it chooses the first plan to build, and nothing
else. So a wrong memory costs a build or two and changes no verdict. The entries lie beside the measurement
cache, in the folder ``operators`` of :func:`runners.cache_files.cache_directory`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from pydantic import Field, TypeAdapter, ValidationError

from helia_aot.config.base import StrictModel
from helia_aot.config.convert import ConvertConfig
from helia_aot.optimization.plan import OptimizationPlan, PlanOperator
from helia_aot.optimization.report import OptimizationReport, ReportOperator
from optimizer.additive import sites_of
from results.records import TrialRecord
from runners.cache_files import CacheFolder, cache_directory
from runners.measurement import RunnerIdentity
from search_spaces.rules import MODEL_ID
from search_spaces.space import SearchSpace

OPERATORS: Final = "operators"
"""Name of the cache, and of its folder."""

GUESS_NAME: Final = "first_guess.json"
"""File in a campaign's folder that keeps its guess: another campaign may change the memory meanwhile."""

_MEASURED_ANYWAY: Final = 2
"""Alternatives of an operator that the baseline and the all-generic plan measure."""

_FORMAT: Final = "helia-search operator 1"
_GUESS: Final[TypeAdapter[dict[str, str] | None]] = TypeAdapter(dict[str, str] | None)


class OperatorFact(StrictModel):
    """One entry of the memory."""

    cycles: int = Field(..., ge=0)


@dataclass(frozen=True)
class Signatures:
    """Keys of the operators of one model: equal for layers that are alike, in any model.

    A key covers type, shapes, multiply-accumulates and the kernel entries of an operator (these name
    the data types), its choices, the settings of memory and platform, and all that identifies the
    runner: core, clock, toolchain, flags, kernel library, timing model. Strides and padding are covered
    by the shapes alone.

    Attributes:
        operators: Facts of each operator by id.
        baseline: Choices of each operator in the baseline plan by id.
        surroundings: Digest of what all of them share.
    """

    operators: Mapping[str, ReportOperator]
    baseline: Mapping[str, PlanOperator]
    surroundings: str

    @classmethod
    def of(
        cls,
        plan: OptimizationPlan,
        report: OptimizationReport,
        *,
        config: ConvertConfig,
        runner: RunnerIdentity,
    ) -> Self:
        """Gives the keys of a converted model.

        Args:
            plan: The baseline plan.
            report: Its report.
            config: The conversion.
            runner: What measures.
        """
        shared = {
            "memory": config.memory.model_dump(mode="json"),
            "platform": config.platform.model_dump(mode="json"),
            "runner": runner.digest(),
        }
        return cls(
            {operator.id: operator for operator in report.operators},
            {operator.id: operator for operator in plan.operators},
            hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest(),
        )

    def key(self, operator_id: str, changes: Mapping[str, str]) -> str:
        """Gives the key of an operator, when some of its knobs have other values than the baseline's."""
        facts, plan = self.operators[operator_id], self.baseline[operator_id]
        variant = {name: choice.value for name, choice in plan.knobs.items()} | dict(changes)
        entries = {
            knob: {item.value: item.entry for item in items}
            for knob, items in facts.alternatives.items()
        }
        parts = {
            "format": _FORMAT,
            "surroundings": self.surroundings,
            "type": facts.op_type,
            "shapes": facts.shapes,
            "macs": facts.macs,
            "entries": entries,
            "variant": variant,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class OperatorMemory:
    """Cycles by key; safe for any number of processes, and limited in size.

    Args:
        directory: Where the entries are; made at the first write.
    """

    def __init__(self, directory: Path) -> None:
        self._files = CacheFolder(directory, ".json")

    @classmethod
    def shared(cls) -> OperatorMemory:
        """Gives the memory of this user on this machine."""
        return cls(cache_directory() / OPERATORS)

    def read(self, key: str) -> int | None:
        """Gives the cycles that an operator had; None if there is no whole entry."""
        data = self._files.read(key)
        if data is None:
            return None
        try:
            return OperatorFact.model_validate_json(data).cycles
        except ValidationError:
            self._files.drop(key)
            return None

    def write(self, key: str, cycles: int) -> None:
        """Keeps the cycles of an operator; a disk that refuses is no error, as nothing depends on it."""
        with suppress(OSError):
            self._files.write(key, OperatorFact(cycles=cycles).model_dump_json().encode())

    def remember(
        self, records: Iterable[TrialRecord], space: SearchSpace, signatures: Signatures
    ) -> None:
        """Keeps the operators of good measurements of points of the space; the last one of a key stays."""
        found: dict[str, int] = {}
        for record in records:
            if not record.in_space or not record.is_good:
                continue
            changes = _changes_by_operator(space, record.choices)
            for item in record.measurement.operator_cycles:
                if item.id in signatures.operators:
                    found[signatures.key(item.id, changes.get(item.id, {}))] = item.cycles
        for key, cycles in found.items():
            if self.read(key) != cycles:
                self.write(key, cycles)

    def first_guess(self, space: SearchSpace, signatures: Signatures) -> dict[str, str] | None:
        """Gives the point in which every operator has the alternative that was cheapest elsewhere.

        Operators of which the memory does not know every alternative keep the baseline's. Where no
        operator has more alternatives than the baseline and one more plan measure, there is nothing
        to guess: the sampler knows as much after these two builds.

        Returns:
            The value of each dimension; None when the memory has nothing better than the baseline.
        """
        guess = space.baseline
        sites = sites_of(space)
        if all(len(site.basic) <= _MEASURED_ANYWAY for site in sites):
            return None
        for site in sites:
            points = [dict(zip(site.names, values, strict=True)) for values in site.alternatives]
            cycles = [self._cycles(space, point, signatures) for point in points]
            if None not in cycles:
                best = min(range(len(cycles)), key=lambda index: (cycles[index] or 0, index))
                guess |= points[best]
        return guess if guess != space.baseline else None

    def _cycles(
        self, space: SearchSpace, point: Mapping[str, str], signatures: Signatures
    ) -> int | None:
        """Gives the cycles of the operators of one site, the others as in the baseline."""
        members = {
            member
            for dimension in space.dimensions
            if dimension.name in point
            for member in dimension.members
        }
        if not members <= set(signatures.operators):
            return None
        changes = _changes_by_operator(space, {**space.baseline, **point})
        counts = [self.read(signatures.key(member, changes[member])) for member in sorted(members)]
        return None if None in counts else sum(count or 0 for count in counts)


def _changes_by_operator(
    space: SearchSpace, choices: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Gives what a point sets for each operator; a choice for the whole module is one of each."""
    found: dict[str, dict[str, str]] = {}
    for dimension in space.dimensions:
        for member in dimension.members:
            found.setdefault(member, {})[dimension.knob] = choices[dimension.name]
    whole = found.pop(MODEL_ID, {})
    return {member: {**whole, **changes} for member, changes in found.items()}


def guess_to_json(guess: Mapping[str, str] | None) -> str:
    """Gives the text of a guess for :data:`GUESS_NAME`."""
    return json.dumps(None if guess is None else dict(guess), indent=1) + "\n"


def read_guess(path: Path, space: SearchSpace) -> dict[str, str] | None:
    """Gives the guess that a campaign began with; None if it had none, or one of another space."""
    try:
        guess = _GUESS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    allowed = {dimension.name: dimension.choices for dimension in space.dimensions}
    if guess is None or set(guess) != set(allowed):
        return None
    return guess if all(value in allowed[name] for name, value in guess.items()) else None
