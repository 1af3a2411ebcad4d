# SPDX-License-Identifier: Apache-2.0
"""What every alternative of a space takes of memories and code: the knapsacks of the exact choice.

Constants add up. Scratch that is live at one operator adds up too, which is the least that an arena
can be: a plan that passes here may still not fit, by what first fit leaves unused. What such a plan
really needed becomes one more limit (:meth:`Footprint.cut`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.optimization.budgets import MEMORY_SUFFIX
from helia_aot.optimization.storage import ModuleStorage, OperatorStorage
from optimizer.additive import Site
from optimizer.assignment import Assignment, Limit, SharedCost
from optimizer.built_sizes import BuiltSizes, CodeParts, OwnFile, SizeSample
from search_spaces.places import Place, operator_places
from search_spaces.rules import CONSTANTS, MIXED, SCRATCH
from search_spaces.space import SearchSpace

BUILT: Final = ("code_bytes", "flash_bytes", "ram_bytes")
"""Quantities that only a build tells."""

_Amounts = list[NDArray[np.float64]]


@dataclass
class _Row:
    """Bytes that add up: for each site and alternative, and what no choice changes."""

    costs: _Amounts
    fixed: float = 0.0

    @classmethod
    def zeros(cls, sites: Sequence[Site]) -> _Row:
        return cls([np.zeros(len(site.alternatives)) for site in sites])

    def plus(self, other: _Row) -> _Row:
        costs = [one + two for one, two in zip(self.costs, other.costs, strict=True)]
        return _Row(costs, self.fixed + other.fixed)

    def of(self, assignment: Assignment) -> float:
        chosen = zip(self.costs, assignment, strict=True)
        return self.fixed + sum(float(costs[index]) for costs, index in chosen)

    @property
    def most(self) -> float:
        return self.fixed + sum(float(costs.max()) for costs in self.costs)

    def limit(self, most: float, shared: Sequence[SharedCost] = ()) -> Limit:
        return Limit(self.costs, most - self.fixed, shared)


@dataclass
class Footprint:
    """The bytes of one space; what it gives depends on the arguments alone.

    Args:
        space: The space; without its storage nothing is known and nothing limited.
        sites: Its sites.
        budget: Upper limits by quantity.
    """

    space: SearchSpace
    sites: Sequence[Site]
    budget: Mapping[str, float]
    _sites_of: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict, init=False)
    _both: dict[str, list[_Row]] = field(default_factory=dict, init=False)
    _limits: dict[tuple[str, float], list[Limit]] = field(default_factory=dict, init=False)
    _known_parts: dict[str, list[_Row]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        number = {
            name: (i, p) for i, site in enumerate(self.sites) for p, name in enumerate(site.names)
        }
        for dimension in self.space.dimensions:
            for member in dimension.members:
                self._sites_of[member, dimension.knob] = number[dimension.name]

    @property
    def _storage(self) -> ModuleStorage | None:
        return self.space.storage

    @cached_property
    def _pinned(self) -> dict[tuple[str, str], str]:
        return {(item.operator_id, item.knob): item.value for item in self.space.pinned}

    def _value(
        self, operator: OperatorStorage, knob: str, site: int | None, index: int
    ) -> str | None:
        """Gives the value of a choice with one alternative of a site; None when another site decides."""
        place = self._sites_of.get((operator.operator_id, knob))
        if place is None:
            default = operator.variants[0].knobs.get(knob, MIXED)
            return self._pinned.get((operator.operator_id, knob), default)
        if place[0] != site:
            return None
        return self.sites[place[0]].alternatives[index][place[1]]

    def _site(self, operator: OperatorStorage, knobs: Iterable[str]) -> int | None:
        """Gives the site that decides on what the first of these choices that varies takes."""
        found = (self._sites_of.get((operator.operator_id, knob)) for knob in knobs)
        return next((place[0] for place in found if place is not None), None)

    def _places(
        self, operator: OperatorStorage, knob: str, site: int | None, index: int
    ) -> list[list[Place]]:
        """Gives the places of constants or scratch for every variant that another site may choose."""
        storage = self._storage
        if storage is None:
            return []
        memory = self._value(operator, knob, site, index) or MIXED
        wanted = {
            name: self._value(operator, name, site, index) for name in operator.variants[0].knobs
        }
        role_is_constant = knob == CONSTANTS
        found = []
        for variant in operator.variants:
            if all(value in (None, variant.knobs[name]) for name, value in wanted.items()):
                items = operator_places(
                    storage,
                    operator,
                    variant.knobs,
                    **{"constants" if role_is_constant else "scratch": memory},
                )
                found.append([p for p in items if (p.role == "constant") == role_is_constant])
        return found

    def _tables(self, knob: str) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        """Gives bytes by memory and operator position: for each site and alternative, and fixed.

        The last memory stands for all of them together. The position matters for what is written.
        """
        shape = (len(self._memories) + 1, max(1, self._positions))
        tables = [np.zeros((len(site.alternatives), *shape)) for site in self.sites]
        fixed = np.zeros(shape)
        for operator in self._storage.operators if self._storage is not None else ():
            site = self._site(operator, (knob, *operator.variants[0].knobs))
            for index in range(1 if site is None else len(self.sites[site].alternatives)):
                amount = np.zeros(shape)
                for places in self._places(operator, knob, site, index):
                    amount = np.maximum(amount, self._bytes(places, shape))
                if site is None:
                    fixed += amount
                else:
                    tables[site][index] += amount
        return tables, fixed

    def _bytes(self, places: Sequence[Place], shape: tuple[int, int]) -> NDArray[np.float64]:
        amount = np.zeros(shape)
        if self._storage is None:
            return amount
        for place in places:
            size_bytes = self._storage.slot_bytes(place.size_bytes)
            live = slice(place.first_use, place.last_use + 1)
            for memory in {place.memory, place.source_memory}:
                amount[self._memories.index(memory), live] += size_bytes
            amount[-1, live] += size_bytes
        return amount

    @cached_property
    def _memories(self) -> tuple[str, ...]:
        if self._storage is None:
            return ()
        others = {*self._storage.places.values(), *self._storage.sources.values()}
        names = [memory.name for memory in self._storage.memories]
        return (*names, *sorted(others - set(names)))

    @cached_property
    def _positions(self) -> int:
        return len(self._storage.operators) if self._storage is not None else 0

    def _rows(self, knob: str, memory: int) -> list[_Row]:
        tables, fixed = self._constant_tables if knob == CONSTANTS else self._scratch_tables
        return [
            _Row([table[:, memory, at] for table in tables], float(fixed[memory, at]))
            for at in range(1 if knob == CONSTANTS else fixed.shape[1])
        ]

    @cached_property
    def _constant_tables(self) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        return self._tables(CONSTANTS)

    @cached_property
    def _scratch_tables(self) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        return self._tables(SCRATCH)

    @cached_property
    def _constants(self) -> dict[str, _Row]:
        return {name: self._rows(CONSTANTS, i)[0] for i, name in enumerate(self._memory_names)}

    @cached_property
    def _scratch(self) -> dict[str, list[_Row]]:
        return {name: self._rows(SCRATCH, i) for i, name in enumerate(self._memory_names)}

    @property
    def _all_constants(self) -> _Row:
        return self._rows(CONSTANTS, -1)[0]

    @cached_property
    def _memory_names(self) -> tuple[str, ...]:
        if self._storage is None or not self.space.moves_tensors:
            return ()
        return tuple(memory.name for memory in self._storage.memories)

    def _memory_rows(self, memory: str) -> list[_Row]:
        if memory not in self._both:
            self._both[memory] = self._sum_rows(memory)
        return self._both[memory]

    def _sum_rows(self, memory: str) -> list[_Row]:
        constants = self._constants[memory]
        rows = [constants.plus(row) for row in self._scratch[memory]]
        return rows or [constants]

    def memory_bytes(self, memory: str, assignment: Assignment) -> float:
        """Gives the least bytes that a plan can take of a memory."""
        return max(row.of(assignment) for row in self._memory_rows(memory))

    def knows(self, name: str) -> bool:
        """Says whether a quantity can be told before building: the bytes of a memory."""
        return name.removesuffix(MEMORY_SUFFIX) in self._memory_names

    def expected(self, name: str, assignment: Assignment) -> float:
        """Gives the bytes of a quantity that :meth:`knows`."""
        return self.memory_bytes(name.removesuffix(MEMORY_SUFFIX), assignment)

    def room_bytes(self, name: str) -> float:
        """Gives what plans may take of a memory that :meth:`knows`, by the name of its budget."""
        size_bytes = self._size_bytes(name.removesuffix(MEMORY_SUFFIX))
        return min(size_bytes, self.budget.get(name, np.inf))

    def limits(
        self,
        built: BuiltSizes | None = None,
        *,
        tighter: Mapping[str, float] | None = None,
        surely: bool = False,
    ) -> list[Limit]:
        """Gives what every plan must keep to.

        Args:
            built: What builds showed, for the quantities that only a build tells.
            tighter: Further limits, besides the budget.
            surely: Whether a plan is left out only when it is above a limit with the least that any
                build showed of every part, in place of what is typical.
        """
        budget = dict(self.budget)
        for name, most in (tighter or {}).items():
            budget[name] = min(most, budget.get(name, most))
        found: list[Limit] = []
        for memory in self._memory_names:
            most = min(self._size_bytes(memory), budget.get(f"{memory}{MEMORY_SUFFIX}", np.inf))
            found += self._memory_limits(memory, most)
        if "constant_bytes" in budget and self._storage is not None:
            found += _binding([self._all_constants], budget["constant_bytes"])
        if "arena_bytes" in budget and self.space.moves_tensors:
            found += _binding(self._rows(SCRATCH, -1), budget["arena_bytes"])
        for name in BUILT:
            if name in budget and built is not None and built.knows(name):
                found += self._built_limits(name, budget[name], built, surely=surely)
        return found

    def _size_bytes(self, memory: str) -> float:
        memories = self._storage.memories if self._storage is not None else ()
        return float(next(item.size_bytes for item in memories if item.name == memory))

    def _memory_limits(self, memory: str, most: float) -> list[Limit]:
        if (memory, most) not in self._limits:
            self._limits[memory, most] = _binding(self._memory_rows(memory), most)
        return self._limits[memory, most]

    def _built_limits(
        self, name: str, most: float, built: BuiltSizes, *, surely: bool
    ) -> list[Limit]:
        """Gives the limits of a size that the builds so far let one expect, or be sure of."""
        left = most - built.base(name, surely=surely)
        own = _Row(built.own_bytes(name, surely=surely))
        shared = built.shared(name, surely=surely)
        rows = [row.plus(own).limit(left, shared) for row in self._known_part(name)]
        return [*rows, *built.too_large(name, most)]

    def built_sizes(self) -> BuiltSizes:
        """Gives a record of builds without any."""
        return BuiltSizes(self.code_parts)

    def note(self, sample: SizeSample, built: BuiltSizes) -> None:
        """Adds a build to a record."""
        names = [name for name in BUILT if name in sample.sizes]
        built.add(sample, {name: self._placed(name, sample.assignment) for name in names})

    def _placed(self, name: str, assignment: Assignment) -> tuple[float, float]:
        """Gives the part of a size that follows from the places, and the least that it can be for the same code."""
        rows = self._known_part(name)
        row = max(rows, key=lambda item: item.of(assignment))
        least = row.fixed + sum(
            float(costs[codes == codes[index]].min())
            for costs, codes, index in zip(row.costs, self._codes, assignment, strict=True)
        )
        return row.of(assignment), least

    @cached_property
    def _codes(self) -> list[NDArray[np.int64]]:
        return self.code_parts.codes()

    def _known_part(self, name: str) -> list[_Row]:
        """Gives the part of a size that follows from the places; its largest row counts."""
        if name not in self._known_parts:
            self._known_parts[name] = self._placed_rows(name)
        return self._known_parts[name]

    def _placed_rows(self, name: str) -> list[_Row]:
        zero = _Row.zeros(self.sites)
        if name == "code_bytes" or self._storage is None:
            return [zero]
        if name == "flash_bytes":
            return [self._all_constants]
        volatile = [
            m.name for m in self._storage.memories if m.volatile and m.name in self._memory_names
        ]
        rows = [zero for _ in range(max(1, self._positions))]
        for memory in volatile:
            rows = [one.plus(two) for one, two in zip(rows, self._memory_rows(memory), strict=True)]
        return rows

    @cached_property
    def code_parts(self) -> CodeParts:
        """The source files that plans do not all have alike."""
        users: dict[str, set[tuple[int, int]]] = {}
        always: set[str] = set()
        own: list[OwnFile] = []
        for operator in self._storage.operators if self._storage is not None else ():
            site = self._site(operator, operator.variants[0].knobs)
            count = 1 if site is None else len(self.sites[site].alternatives)
            possible = [self._variants(operator, site, index) for index in range(count)]
            needs = [
                {source for number in variants for source in operator.variants[number].sources}
                for variants in possible
            ]
            always |= set.intersection(*needs)
            if site is None:
                continue
            for index, sources in enumerate(needs):
                for source in sources:
                    users.setdefault(source, set()).add((site, index))
            numbers = {key: number for number, key in enumerate(dict.fromkeys(possible))}
            if len(numbers) > 1:
                own.append(OwnFile(operator.source, site, tuple(numbers[key] for key in possible)))
        return CodeParts(
            tuple(own),
            {s: frozenset(choices) for s, choices in sorted(users.items()) if s not in always},
            tuple(len(site.alternatives) for site in self.sites),
        )

    def _variants(self, operator: OperatorStorage, site: int | None, index: int) -> tuple[int, ...]:
        """Gives the variants of an operator that one alternative of a site leaves possible."""
        wanted = {n: self._value(operator, n, site, index) for n in operator.variants[0].knobs}
        return tuple(
            number
            for number, variant in enumerate(operator.variants)
            if all(value in (None, variant.knobs[name]) for name, value in wanted.items())
        )

    def cut(self, name: str, assignment: Assignment, excess: float) -> Limit | None:
        """Gives a limit that a plan breaks which overflowed a memory by what first fit left unused.

        As long as all scratch of that plan stays in the memory, the arena is taken to need as much.

        Args:
            name: The budget of the memory.
            assignment: The plan.
            excess: Bytes by which it was too large.

        Returns:
            None for a quantity that is not known, or where the plan has no scratch there to move.
        """
        memory = name.removesuffix(MEMORY_SUFFIX)
        if memory not in self._memory_names:
            return None
        most = self.room_bytes(name)
        constants, live = self._constants[memory], self._scratch[memory]
        need = most + excess - constants.of(assignment)
        movable = [
            (site, index)
            for site, index in enumerate(assignment)
            if any(row.costs[site][index] > row.costs[site].min() for row in live)
        ]
        if not movable or need <= 0:
            return None
        row = _Row([costs.copy() for costs in constants.costs], constants.fixed)
        for site, index in movable:
            row.costs[site][index] += need
        return row.limit(most + need * (len(movable) - 1))


def _binding(rows: Sequence[_Row], most: float) -> list[Limit]:
    """Gives the rows that can be above a limit, without those that another one implies."""
    found: list[_Row] = []
    for row in rows:
        if row.most <= most or any(_covers(other, row) for other in found):
            continue
        found = [other for other in found if not _covers(row, other)] + [row]
    return [row.limit(most) for row in found]


def _covers(one: _Row, two: _Row) -> bool:
    return one.fixed >= two.fixed and all(
        bool((a >= b).all()) for a, b in zip(one.costs, two.costs, strict=True)
    )
