# SPDX-License-Identifier: Apache-2.0
"""Rules over the choices of a space: of the form of ``operators[]``, with every choice that can vary."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from helia_aot.config.base import StrictModel
from helia_aot.config.convert import ANY, OperatorType, RuleId
from helia_aot.optimization.knobs import KNOBS, MODEL_KNOBS

CONSTANTS: Final = "constants"
"""The choice of the memory that an operator's constants are read from."""

SCRATCH: Final = "scratch"
"""The choice of the memory of what an operator writes first: its outputs and its own buffer."""

PLACEMENTS: Final = (CONSTANTS, SCRATCH)

MIXED: Final = "mixed"
"""Value of a placement where the baseline has the operator's tensors in several memories."""

MODEL_ID: Final = "*"
"""Stands for the whole module where an operator id is asked for."""

SPACE_KNOBS: Final = (*KNOBS, *PLACEMENTS, *MODEL_KNOBS)
"""Everything that a space can vary, in the order of its dimensions within one operator."""


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Values = Annotated[list[str], BeforeValidator(_as_list), Field(min_length=1)]
"""One value, or a list of them."""


def _known_choices(values: dict[str, list[str]]) -> dict[str, list[str]]:
    for name in values:
        if name not in SPACE_KNOBS:
            raise ValueError(f"no choice is called {name!r}; known are {', '.join(SPACE_KNOBS)}")
    return values


SpaceChoices = Annotated[dict[str, Values], AfterValidator(_known_choices)]
"""Values by choice: knobs as in ``operators[].optimization``, ``constants``, ``scratch``, ``planner``."""


class SpaceRule(StrictModel):
    """Values for the operators that match a type, an id, or both."""

    type: OperatorType = Field(ANY, description="Operator type such as CONV_2D, or * (any case)")
    id: RuleId = Field(
        None, description="A stable id or node id, or a list of them; by default any"
    )
    optimization: SpaceChoices = Field(
        default_factory=dict,
        description=f"Values by choice, one or a list; choices are {', '.join(SPACE_KNOBS)}",
    )


class GroupRule(StrictModel):
    """Operators that choose together: each of their choices is one dimension."""

    name: str = Field(..., min_length=1, pattern="^[^@*]+$", description="Name of the group")
    type: OperatorType = Field(ANY, description="Operator type such as CONV_2D, or * (any case)")
    id: RuleId = Field(
        None, description="A stable id or node id, or a list of them; by default any"
    )
    knobs: list[str] | None = Field(None, description="Choices that are shared; null for all")
