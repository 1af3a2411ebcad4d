# SPDX-License-Identifier: Apache-2.0
"""Sizes that only a build tells, such as code: what the source files of all builds so far took.

A build tells the code of every source file by itself, so one build in which an alternative runs tells
what that alternative takes. The file of an operator follows its own choices; a kernel's file is paid
once, however many operators need it. What is left of a size then hardly changes from plan to plan.
The cost of a question does not grow with the number of builds.
"""

from __future__ import annotations

import bisect
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optimizer.assignment import Assignment, Choices, Limit, SharedCost

MAX_CODES: Final = 64
"""The most recent codes of builds that are remembered one by one, so that one that was too large is not built again."""

_Amounts = list[NDArray[np.float64]]


@dataclass(frozen=True)
class SizeSample:
    """The measured sizes of one plan.

    Attributes:
        assignment: The plan.
        sizes: Bytes by quantity, such as ``code_bytes``.
        source_code_bytes: Code by source file, as in a measurement.
    """

    assignment: Assignment
    sizes: Mapping[str, float]
    source_code_bytes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class OwnFile:
    """The source file of one operator.

    Attributes:
        source: Its name in :attr:`SizeSample.source_code_bytes`.
        site: The site that decides on its code.
        variants: For each alternative of the site a number; alternatives with equal numbers have
            equal code.
    """

    source: str
    site: int
    variants: tuple[int, ...]


@dataclass(frozen=True)
class CodeParts:
    """The source files of a space that not every plan has alike.

    Attributes:
        own: The files of operators whose choices can change their code.
        users: For each kernel source that not every plan needs the choices that need it.
        alternatives: Number of alternatives of each site.
    """

    own: tuple[OwnFile, ...]
    users: Mapping[str, Choices]
    alternatives: tuple[int, ...]

    def codes(self) -> list[NDArray[np.int64]]:
        """Gives for each site a number for each alternative; equal numbers need equal code."""
        found = []
        for site, count in enumerate(self.alternatives):
            files = [
                sorted(f for f, users in self.users.items() if (site, i) in users)
                for i in range(count)
            ]
            own = [
                [item.variants[i] for item in self.own if item.site == site] for i in range(count)
            ]
            keys = [(tuple(one), tuple(two)) for one, two in zip(files, own, strict=True)]
            numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
            found.append(np.array([numbers[key] for key in keys]))
        return found


@dataclass
class _Range:
    """The least and the most that something was in any build."""

    low: float
    high: float

    def add(self, value: float) -> None:
        self.low, self.high = min(self.low, value), max(self.high, value)


class BuiltSizes:
    """What the builds of one campaign showed.

    Args:
        parts: The files that differ from plan to plan.
    """

    def __init__(self, parts: CodeParts) -> None:
        self._parts = parts
        self._codes = parts.codes()
        self._own: dict[tuple[int, int], _Range] = {}
        self._files: dict[str, _Range] = {}
        self._rests: dict[str, list[float]] = {}
        self._seen: dict[str, OrderedDict[tuple[int, ...], float]] = {}

    def knows(self, name: str) -> bool:
        """Says whether a build told a quantity."""
        return name in self._rests

    def add(self, sample: SizeSample, known: Mapping[str, tuple[float, float]]) -> None:
        """Takes one more build.

        Args:
            sample: The build.
            known: For each quantity that counts the bytes that follow from the places of tensors, and
                the least that they can be with any places.
        """
        if not known:
            return
        code = 0.0
        for number, item in enumerate(self._parts.own):
            size = float(sample.source_code_bytes.get(item.source, 0))
            code += size
            key = (number, item.variants[sample.assignment[item.site]])
            self._own.setdefault(key, _Range(size, size)).add(size)
        chosen = set(enumerate(sample.assignment))
        for source, users in self._parts.users.items():
            if not chosen.isdisjoint(users):
                size = float(sample.source_code_bytes.get(source, 0))
                code += size
                self._files.setdefault(source, _Range(size, size)).add(size)
        for name, (placed, least) in known.items():
            rest = sample.sizes[name] - placed
            bisect.insort(
                self._rests.setdefault(name, []), rest - (code if _has_code(name) else 0.0)
            )
            self._remember(name, sample.assignment, rest + least)

    def _remember(self, name: str, assignment: Assignment, size: float) -> None:
        if not _has_code(name):
            return
        seen = self._seen.setdefault(name, OrderedDict())
        code = tuple(int(numbers[i]) for numbers, i in zip(self._codes, assignment, strict=True))
        seen[code] = size
        seen.move_to_end(code)
        while len(seen) > MAX_CODES:
            seen.popitem(last=False)

    def base(self, name: str, *, surely: bool) -> float:
        """Gives what is left of a quantity: typically, or the least of any build."""
        rests = self._rests[name]
        return rests[0] if surely else rests[len(rests) // 2]

    def own_bytes(self, name: str, *, surely: bool) -> _Amounts:
        """Gives for each site and alternative the bytes of the files of its operators.

        A file that no build had in some variant is taken as the largest of its other variants, or as
        the smallest where it is to be sure.
        """
        found = [np.zeros(count) for count in self._parts.alternatives]
        if not _has_code(name):
            return found
        for number, item in enumerate(self._parts.own):
            seen = [self._own.get((number, variant)) for variant in item.variants]
            sizes = [(r.low if surely else r.high) for r in seen if r is not None]
            if not sizes:
                continue
            unseen = min(sizes) if surely else max(sizes)
            found[item.site] += [
                unseen if r is None else (r.low if surely else r.high) for r in seen
            ]
        return found

    def shared(self, name: str, *, surely: bool) -> list[SharedCost]:
        """Gives what is paid once for each kernel source that not every plan needs."""
        if not _has_code(name):
            return []
        sizes = {s: (r.low if surely else r.high) for s, r in self._files.items()}
        return [
            SharedCost(sizes[source], users)
            for source, users in self._parts.users.items()
            if sizes.get(source, 0.0) > 0
        ]

    def too_large(self, name: str, most: float) -> list[Limit]:
        """Gives a limit for each remembered code that is above a size, wherever the tensors lie.

        The sums above are a few bytes off, which would have such a code built again with other places.
        """
        codes = [code for code, size in self._seen.get(name, {}).items() if size > most]
        return [self._all_but(code) for code in sorted(codes)]

    def _all_but(self, code: Sequence[int]) -> Limit:
        same = [
            (numbers == number).astype(np.float64)
            for numbers, number in zip(self._codes, code, strict=True)
        ]
        return Limit(same, len(code) - 1.0)


def _has_code(name: str) -> bool:
    return name != "ram_bytes"
