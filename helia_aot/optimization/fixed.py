# SPDX-License-Identifier: Apache-2.0
"""The registry of fixed choices: what changes numerics or speed of an operator, but is no knob.

A plan records fixed choices with what set them and reproduces them. An operator family states which
of them an operator has (:class:`helia_aot.operators.spec.FixedDomain`); names and values come from
here. Values are text; ``true`` and ``false`` stand for a switch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

SetBy = Literal["attribute", "default", "heuristic", "knob", "plan"]
"""What set a fixed choice."""


@dataclass(frozen=True)
class FixedKind:
    """The declaration of one fixed choice.

    Attributes:
        name: The one spelling in plans and, where ``is_attribute``, under ``operators[].attributes``.
        values: The closed set of values.
        applies_to: Where the choice exists, in words.
        text: What it decides.
        value_texts: What each value means.
        is_attribute: Whether ``operators[].attributes`` can set it.
    """

    name: str
    values: tuple[str, ...]
    applies_to: str
    text: str
    value_texts: Mapping[str, str]
    is_attribute: bool


LUT_MODE: Final = FixedKind(
    name="lut_mode",
    values=("per_op", "universal"),
    applies_to="INT16 RSQRT",
    text="Which look-up table the operator reads.",
    value_texts={
        "per_op": "a table of its own",
        "universal": "one table shared by all such operators",
    },
    is_attribute=True,
)

USE_LUT: Final = FixedKind(
    name="use_lut",
    values=("false", "true"),
    applies_to="INT8 HARD_SWISH",
    text="Whether the operator reads its results from a look-up table.",
    value_texts={"false": "every value is computed", "true": "a table with one entry per input"},
    is_attribute=True,
)

COMPAT_VARIANT: Final = FixedKind(
    name="compat_variant",
    values=("false", "true"),
    applies_to="INT8 HARD_SWISH",
    text="Which arithmetic the operator follows.",
    value_texts={"false": "the precise kernel", "true": "the kernel that rounds as TFLite does"},
    is_attribute=True,
)

WEIGHT_LAYOUT: Final = FixedKind(
    name="weight_layout",
    values=("standard", "packed"),
    applies_to="float 1x1 convolutions and fully connected layers",
    text="How float weights are laid out.",
    value_texts={
        "standard": "the order of the model",
        "packed": "output channels become vector lanes",
    },
    is_attribute=False,
)

FIXED: Final[Mapping[str, FixedKind]] = {
    kind.name: kind for kind in (LUT_MODE, USE_LUT, COMPAT_VARIANT, WEIGHT_LAYOUT)
}
"""All fixed choices by name."""
