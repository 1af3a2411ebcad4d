# SPDX-License-Identifier: Apache-2.0
"""The registry of budgets: every limit that ``optimization.budget`` takes, with unit and meaning.

A budget is an upper limit, given by name; the unit is part of the name. What a conversion knows it
checks and fails; the plan carries all limits, so that a search holds every candidate to the rest.
This file is plain data, like the registry of knobs: configuration, plan, error messages, results and
documentation take their texts from here.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

EnforcedBy = Literal["conversion", "conversion and search", "search"]
"""Who holds a module to a limit. ``conversion and search``: conversion checks the part of the figure
that it knows, a search the whole of it as measured."""

MEMORY_SUFFIX: Final = "_bytes"


@dataclass(frozen=True)
class Budget:
    """The declaration of one budget.

    Attributes:
        name: The one spelling in YAML, JSON, Python and on the command line.
        unit: Unit of the limit.
        text: What is counted.
        enforced_by: Who checks it.
    """

    name: str
    unit: str
    text: str
    enforced_by: EnforcedBy

    @property
    def is_bytes(self) -> bool:
        """Whether the limit is a size."""
        return self.unit == "bytes"


_DECLARED: Final = (
    Budget(
        "arena_bytes",
        "bytes",
        "scratch and persistent arenas of all memories; no constants",
        "conversion",
    ),
    Budget(
        "constant_bytes",
        "bytes",
        "constant arenas of all memories, equal constants once; a staged copy is not counted again",
        "conversion",
    ),
    Budget(
        "ram_bytes",
        "bytes",
        "everything of the linked module, its kernels and the C library in volatile memories, "
        "without stack and heap; conversion knows the arenas in them, staged copies included",
        "conversion and search",
    ),
    Budget(
        "flash_bytes",
        "bytes",
        "everything of the linked module, its kernels and the C library that is stored in "
        "non-volatile memory, initial values of data in RAM included; conversion knows the constants",
        "conversion and search",
    ),
    Budget(
        "code_bytes",
        "bytes",
        "machine code and read-only tables of the module and its kernels, without weights and the C "
        "library, as linked",
        "search",
    ),
    Budget(
        "cycles",
        "cycles",
        "core cycles of one inference, the best of the timed runs; modelled cycles from a simulator",
        "search",
    ),
    Budget(
        "latency_us",
        "us",
        "time of one inference: cycles at the clock of the runner",
        "search",
    ),
    Budget("energy_uj", "uJ", "energy of one inference; needs a runner with a meter", "search"),
    Budget(
        "max_abs_error",
        "output units",
        "largest difference of any output element from the reference; 1 is one step of an integer "
        "output",
        "search",
    ),
    Budget(
        "accuracy_drop",
        "fraction",
        "what is lost of the accuracy metric against the reference, 0.01 for one point of a hundred",
        "search",
    ),
)

BUDGETS: Final[Mapping[str, Budget]] = {budget.name: budget for budget in _DECLARED}
"""The budgets that every target has, by name; :func:`budget_of` adds those of its memories."""


def memory_budget(memory: str) -> Budget:
    """Gives the budget of one memory of a target, ``<memory>_bytes``."""
    return Budget(
        f"{memory}{MEMORY_SUFFIX}",
        "bytes",
        f"arenas of the module in {memory}, and the sources of constants that are staged from it; "
        "used bytes, not the planner's capacity, each rounded up to the alignment; without code, "
        "stack and heap",
        "conversion",
    )


MEMORY_BUDGET: Final = memory_budget("<memory>")
"""The budget of a memory, whatever its name."""


def budget_of(name: str, memories: Collection[str]) -> Budget | None:
    """Gives the budget of a name on a target with these memories; None for an unknown name."""
    if name in BUDGETS:
        return BUDGETS[name]
    memory = name.removesuffix(MEMORY_SUFFIX)
    return memory_budget(memory) if memory != name and memory in memories else None


def budget_names(memories: Collection[str]) -> tuple[str, ...]:
    """Gives every name that a target with these memories takes."""
    return (*(f"{memory}{MEMORY_SUFFIX}" for memory in memories), *BUDGETS)


def closest_name(name: str, memories: Collection[str] = ("<memory>",)) -> str | None:
    """Gives the budget whose name is most like an unknown one; None when none is alike."""
    return next(iter(difflib.get_close_matches(name, budget_names(memories), n=1)), None)


def may_be_budget(name: str) -> bool:
    """Says whether a name can be a budget of some target: a fixed name, or ``<memory>_bytes``."""
    return name in BUDGETS or (name.endswith(MEMORY_SUFFIX) and name != MEMORY_SUFFIX)


def budget_schema(schema: dict[str, Any]) -> None:
    """Lists every budget with its meaning in the JSON schema of a mapping of limits."""
    limit = {"type": "number", "exclusiveMinimum": 0}
    for key in ("additionalProperties", "propertyNames"):
        schema.pop(key, None)
    schema["properties"] = {
        budget.name: {**limit, "description": _described(budget)} for budget in _DECLARED
    }
    schema["patternProperties"] = {
        f"^[A-Za-z][A-Za-z0-9_]*{MEMORY_SUFFIX}$": {**limit, "description": MEMORY_BUDGET.text}
    }
    schema["additionalProperties"] = False


def budget_help() -> str:
    """Gives the text of the setting: every name with unit, meaning and who enforces it."""
    rows = "; ".join(
        f"{budget.name}: {_described(budget)}" for budget in (MEMORY_BUDGET, *_DECLARED)
    )
    return (
        "Upper limits by name, above 0. Conversion fails on those it knows and writes all of them to "
        f"the plan, for a search to hold. {rows}. Unlike memory.constraints, a budget does not "
        "change what the planner does"
    )


def _described(budget: Budget) -> str:
    unit = "" if budget.is_bytes else f"in {budget.unit}, "
    return f"{budget.text} ({unit}enforced by {budget.enforced_by})"
