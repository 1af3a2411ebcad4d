# SPDX-License-Identifier: Apache-2.0
"""A finite space of plans as data: dimensions, pinned choices, and what was left out and why.

The space knows no sampler. It belongs to one baseline plan, whose choices its dimensions start
from.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, Literal

from pydantic import Field, ValidationError, model_validator

from helia_aot.config.base import StrictModel
from helia_aot.errors import Problem
from helia_aot.optimization.storage import ModuleStorage
from search_spaces.errors import SpaceError
from search_spaces.rules import PLACEMENTS

SPACE_SCHEMA_VERSION: Literal[1] = 1

SPACE_NAME: Final = "space.json"


def dimension_name(knob: str, operator_id: str) -> str:
    """Gives the one spelling of a dimension: ``<knob>@<operator id>``; knob names hold no ``@``."""
    return f"{knob}@{operator_id}"


class Choice(StrictModel):
    """One value of one knob for one operator."""

    operator_id: str
    knob: str
    value: str


class Dimension(StrictModel):
    """One knob of an operator, of a group of operators, or of the module, with two values or more.

    A knob is any choice: a knob of the compiler, or the place of constants or scratch.
    """

    operator_id: str = Field(..., description="Operator or group; '*' for the whole module")
    op_type: str
    knob: str
    operators: tuple[str, ...] = Field(
        (), description="Ids of the operators of a group, in execution order; empty for no group"
    )
    choices: tuple[str, ...] = Field(..., min_length=2, description="Values in registry order")
    baseline: str = Field(..., description="The value that the baseline plan uses")

    @model_validator(mode="after")
    def _choices_are_a_set_with_the_baseline(self) -> Dimension:
        if len(set(self.choices)) != len(self.choices):
            raise ValueError(f"{self.name} lists a choice twice")
        if self.baseline not in self.choices:
            raise ValueError(f"{self.name} does not hold its baseline {self.baseline!r}")
        return self

    @property
    def name(self) -> str:
        """The name of the dimension, unique in its space."""
        return dimension_name(self.knob, self.operator_id)

    @property
    def members(self) -> tuple[str, ...]:
        """The operators that the dimension sets; ``*`` for the whole module."""
        return self.operators or (self.operator_id,)


class Pinned(StrictModel):
    """A knob of an operator that a pin sets to one value."""

    operator_id: str
    op_type: str
    knob: str
    value: str = Field(..., description="The value that every plan of the space uses")
    baseline: str = Field(..., description="The value that the baseline plan uses")


class Dropped(StrictModel):
    """A knob of an operator that is not searched, and why."""

    operator_id: str
    op_type: str
    knob: str
    value: str = Field(..., description="The value that every plan of the space uses")
    reason: str


_LARGEST_WRITTEN_OUT: Final = 10**15
"""From here on a number of plans is a power of ten for the reader."""


def plan_count(plans: int) -> str:
    """Gives a number of plans for people, e.g. ``131,072`` or ``4.32e+35``."""
    return f"{plans:,}" if plans < _LARGEST_WRITTEN_OUT else f"{Decimal(plans):.3g}"


class SearchSpace(StrictModel):
    """All plans that a campaign may propose.

    Attributes:
        schema_version: Version of this JSON form.
        dimensions: What varies, in execution order of the operators.
        pinned: What pins set, in execution order of the operators.
        dropped: Knobs of operators that do not vary, with the reason.
        storage: What tensors take and where the baseline has them; None where it is not known.
    """

    schema_version: Literal[1] = SPACE_SCHEMA_VERSION
    dimensions: tuple[Dimension, ...]
    pinned: tuple[Pinned, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    storage: ModuleStorage | None = None

    @model_validator(mode="after")
    def _names_are_unique(self) -> SearchSpace:
        names = [dimension.name for dimension in self.dimensions]
        names += [dimension_name(item.knob, item.operator_id) for item in self.pinned]
        if len(set(names)) != len(names):
            raise ValueError("a knob of an operator appears twice")
        return self

    @property
    def size(self) -> int:
        """Number of different plans; 1 when nothing varies."""
        return math.prod(len(dimension.choices) for dimension in self.dimensions)

    @property
    def moves_tensors(self) -> bool:
        """Whether every plan names the memory of every tensor; else the compiler places them."""
        knobs = {item.knob for item in self.dimensions} | {item.knob for item in self.pinned}
        return self.storage is not None and not knobs.isdisjoint(PLACEMENTS)

    @property
    def baseline(self) -> dict[str, str]:
        """The baseline's value of each dimension, by dimension name."""
        return {dimension.name: dimension.baseline for dimension in self.dimensions}

    def digest(self) -> str:
        """SHA-256 over what varies and what is pinned; what was left out does not matter."""
        return hashlib.sha256(
            self.model_dump_json(
                include={"schema_version", "dimensions", "pinned", "storage"}
            ).encode()
        ).hexdigest()

    def choices(self, values: Mapping[str, str]) -> tuple[Choice, ...]:
        """Gives the full choices of one point of the space, pins included.

        Args:
            values: For each dimension name the value; every dimension exactly once.

        Raises:
            SpaceError: A dimension is missing, unknown, or given a value that it does not have.
        """
        problems = [
            Problem(name, "is not a dimension of this space")
            for name in sorted(set(values) - {dimension.name for dimension in self.dimensions})
        ]
        for dimension in self.dimensions:
            if values.get(dimension.name) not in dimension.choices:
                problems.append(
                    Problem(
                        dimension.name,
                        f"has {values.get(dimension.name)!r}; "
                        f"its choices are {', '.join(dimension.choices)}",
                    )
                )
        if problems:
            raise SpaceError("The values are not a point of the search space.", problems)
        pinned = [(item.operator_id, item.knob, item.value) for item in self.pinned]
        chosen = [
            (operator_id, item.knob, values[item.name])
            for item in self.dimensions
            for operator_id in item.members
        ]
        return tuple(
            Choice(operator_id=operator_id, knob=knob, value=value)
            for operator_id, knob, value in pinned + chosen
        )

    def to_json(self) -> str:
        """Gives the canonical JSON text, with a trailing newline."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> SearchSpace:
        """Reads what :meth:`to_json` wrote.

        Raises:
            SpaceError: The text is not a search space; every problem is listed.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            problems = [
                Problem(".".join(str(part) for part in item["loc"]), item["msg"])
                for item in error.errors()
            ]
            raise SpaceError("The text is not a search space.", problems) from error
