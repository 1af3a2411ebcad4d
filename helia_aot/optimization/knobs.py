# SPDX-License-Identifier: Apache-2.0
"""The registry of knobs: one declaration feeds options, schemas, report, search space and
documentation.

A knob is a mechanism of an operator (``KNOBS``) or of the whole module (``MODEL_KNOBS``) with a
closed set of values. ``auto`` is not a value: it is the request that the knob's table column, chosen
by the goal, resolves. The table never measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Goal = Literal["latency", "balanced", "size", "accuracy"]
"""What ``auto`` favours."""

GOALS: Final[tuple[Goal, ...]] = ("latency", "balanced", "size", "accuracy")
AUTO: Final = "auto"


@dataclass(frozen=True)
class Knob:
    """The declaration of one knob.

    Attributes:
        name: The one spelling in YAML, JSON, Python and on the command line.
        values: The closed set of values, without ``auto``.
        default: The value whose numerics the other values are compared with.
        approximate: Values that change numerics relative to ``default``.
        auto_table: For each goal the value that ``auto`` resolves to, approximation not allowed.
        auto_table_approximate: Overrides of ``auto_table`` for when approximation is allowed.
        applies_to: Where the knob exists, in words.
        text: What the knob does, for help, schema and documentation.
        value_texts: What each value means.
    """

    name: str
    values: tuple[str, ...]
    default: str
    approximate: frozenset[str]
    auto_table: Mapping[Goal, str]
    auto_table_approximate: Mapping[Goal, str]
    applies_to: str
    text: str
    value_texts: Mapping[str, str]

    def auto_value(self, goal: Goal, *, allow_approximate: bool) -> str:
        """Gives what ``auto`` resolves to for a goal; approximate values only when allowed."""
        if allow_approximate and goal in self.auto_table_approximate:
            return self.auto_table_approximate[goal]
        return self.auto_table[goal]


ACCUMULATION: Final = Knob(
    name="accumulation",
    values=("precise", "fast"),
    default="precise",
    approximate=frozenset({"fast"}),
    auto_table={
        "latency": "precise",
        "balanced": "precise",
        "size": "precise",
        "accuracy": "precise",
    },
    auto_table_approximate={"latency": "fast"},
    applies_to="FP16 1x1 convolutions and fully connected layers",
    text="How FP16 products are summed.",
    value_texts={
        "precise": "the default accumulation, standard weight layout",
        "fast": "packed weights, one long FP16 chain for each output (approximate)",
    },
)

KERNEL: Final = Knob(
    name="kernel",
    values=("specialized", "generic"),
    default="specialized",
    approximate=frozenset(),
    auto_table={
        "latency": "specialized",
        "balanced": "specialized",
        "size": "generic",
        "accuracy": "specialized",
    },
    auto_table_approximate={},
    applies_to="int8 convolutions and depthwise convolutions on MVE targets",
    text=(
        "Whether a layer calls a direct entry made for its shape. "
        "Both values give identical output."
    ),
    value_texts={
        "specialized": "shape-specialized direct entries where they apply",
        "generic": "the general entries",
    },
)

CODE_SPECIALIZATION: Final = Knob(
    name="code_specialization",
    values=("shared", "inlined"),
    default="shared",
    approximate=frozenset(),
    auto_table=dict.fromkeys(GOALS, "shared"),
    auto_table_approximate={},
    applies_to="operators with multiply-accumulates, with bundled kernels",
    text=(
        "Whether an operator calls the kernel that others call too, or has a copy compiled for its "
        "shapes. Both values give identical output. The gain depends on the shape and the copies "
        "cost code, so auto leaves the choice to a measurement."
    ),
    value_texts={
        "shared": "a call into the kernel library, shapes passed at run time",
        "inlined": "the kernel's code in the operator's own file, shapes known to the compiler",
    },
)

KNOBS: Final[Mapping[str, Knob]] = {
    knob.name: knob for knob in (ACCUMULATION, KERNEL, CODE_SPECIALIZATION)
}
"""All knobs of operators by name."""

PLANNER: Final = Knob(
    name="planner",
    values=("greedy", "greedy_by_size", "hill_climb"),
    default="hill_climb",
    approximate=frozenset(),
    auto_table=dict.fromkeys(GOALS, "hill_climb"),
    auto_table_approximate={},
    applies_to="the scratch arenas of the module; set with memory.planner",
    text="How scratch memory is planned. Every value gives identical output.",
    value_texts={
        "greedy": "first fit in the order of the operators",
        "greedy_by_size": "first fit from the largest tensor to the smallest",
        "hill_climb": "local search over the order of first fit",
    },
)

MODEL_KNOBS: Final[Mapping[str, Knob]] = {knob.name: knob for knob in (PLANNER,)}
"""All knobs of the whole module by name."""
