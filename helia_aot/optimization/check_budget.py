# SPDX-License-Identifier: Apache-2.0
"""Holds a memory plan to the limits of ``optimization.budget`` that conversion knows.

Sizes are what arenas use, each rounded up to its alignment, not what the planner could have given
them; bytes that guard address zero belong to an arena. The arena of a staged constant counts in the
memory where kernels read it, and again in that of its source. It does not matter who owns an arena.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from helia_aot.errors import BudgetError, Problem
from helia_aot.memory.budget import CONTRIBUTORS, contributors
from helia_aot.memory.layout import Allocation, Arena, MemoryPlan, align_up
from helia_aot.memory.requests import TensorRequest
from helia_aot.optimization.budgets import BUDGETS, MEMORY_SUFFIX, Budget, budget_of

_KEY: Final = "optimization.budget"
_SCRATCH_BUFFER: Final = "_scratch"


@dataclass(frozen=True)
class BudgetUse:
    """What a conversion makes of one limit.

    Attributes:
        budget: What is limited.
        limit: The upper limit, in the budget's unit.
        used_bytes: What the conversion uses; None for what only a measurement knows. For a budget
            that a search enforces as well, the part that conversion knows.
    """

    budget: Budget
    limit: float
    used_bytes: int | None

    @property
    def exceeded(self) -> bool:
        """Whether the limit is known to be broken."""
        return self.used_bytes is not None and self.used_bytes > self.limit

    @property
    def limit_text(self) -> str:
        """The limit with its unit, without the decimal point of a whole number."""
        limit = f"{int(self.limit):,}" if self.limit.is_integer() else f"{self.limit:,}"
        return f"{limit} {self.budget.unit}"

    @property
    def used_text(self) -> str:
        """What is used, with its unit; empty for what only a measurement knows."""
        if self.used_bytes is None:
            return ""
        is_part = self.budget.enforced_by == "conversion and search"
        return f"{'at least ' if is_part else ''}{self.used_bytes:,} {self.budget.unit}"


def budget_uses(
    limits: Mapping[str, float], plan: MemoryPlan, memories: Mapping[str, bool]
) -> tuple[BudgetUse, ...]:
    """Gives what a memory plan makes of every limit, in the order of the limits.

    Args:
        limits: The limits by name; a name that the target does not have is left out.
        plan: The memory plan.
        memories: For each memory of the target whether it is volatile.
    """
    return tuple(
        BudgetUse(budget, limit, _used_bytes(name, plan, memories))
        for name, limit in limits.items()
        if (budget := budget_of(name, memories)) is not None
    )


def check_budget(
    uses: Iterable[BudgetUse],
    plan: MemoryPlan,
    requests: Sequence[TensorRequest],
    memories: Mapping[str, bool],
) -> None:
    """Checks the limits that conversion knows.

    Args:
        uses: What :func:`budget_uses` gave.
        plan: The same memory plan.
        requests: The tensors that it places.
        memories: For each memory of the target whether it is volatile.

    Raises:
        BudgetError: A limit is exceeded. It names each such limit, what is needed and allowed, the
            five largest contributors and what would lower the need.
    """
    exceeded = [use for use in uses if use.exceeded]
    if exceeded:
        raise BudgetError(
            "The module exceeds its budget.",
            [_exceeded(use, plan, requests, memories) for use in exceeded],
            overflow={use.budget.name: (use.used_bytes or 0) - use.limit for use in exceeded},
        )


def storage_bytes(plan: MemoryPlan, memories: Mapping[str, bool]) -> dict[str, int]:
    """Gives every figure that conversion knows whole: each memory, arenas and constants, in bytes.

    Args:
        plan: The memory plan.
        memories: For each memory of the target whether it is volatile.
    """
    names = [*(f"{memory}{MEMORY_SUFFIX}" for memory in memories)]
    names += [name for name, item in BUDGETS.items() if item.enforced_by == "conversion"]
    return {name: _used_bytes(name, plan, memories) or 0 for name in names}


Size = Callable[[Arena], int]
"""What an arena adds to a figure, in bytes; 0 when it is not counted."""


def _size(name: str, memories: Mapping[str, bool]) -> Size | None:
    """Gives how conversion computes a budget; None for what only a measurement knows."""
    volatile = [memory for memory in memories if memories[memory]]
    memory = name.removesuffix(MEMORY_SUFFIX)
    sizes: dict[str, Size] = {
        "arena_bytes": lambda a: 0 if a.role == "constant" else a.storage_bytes(a.memory),
        "constant_bytes": _constant_bytes,
        "ram_bytes": lambda a: sum(map(a.storage_bytes, volatile)),
        "flash_bytes": _constant_bytes,
    }
    if name in sizes:
        return sizes[name]
    return (lambda a: a.storage_bytes(memory)) if memory in memories else None


def _constant_bytes(arena: Arena) -> int:
    """Gives the bytes of one copy of the constants, without guards."""
    return align_up(arena.used_bytes, arena.alignment) if arena.role == "constant" else 0


def _used_bytes(name: str, plan: MemoryPlan, memories: Mapping[str, bool]) -> int | None:
    size = _size(name, memories)
    return None if size is None else sum(map(size, plan.arenas))


def _exceeded(
    use: BudgetUse,
    plan: MemoryPlan,
    requests: Sequence[TensorRequest],
    memories: Mapping[str, bool],
) -> Problem:
    size = _size(use.budget.name, memories)
    counted = [arena for arena in plan.arenas if size is not None and size(arena)]
    places = [place for arena in counted for place in contributors(arena, plan, requests)]
    places.sort(key=lambda place: -place.size_bytes)
    remedy = _remedy(use.budget.name, memories, counted, places)
    return Problem(
        f"{_KEY}.{use.budget.name}",
        f"needs {use.used_text}, {use.limit_text} are allowed; "
        f"largest: {', '.join(map(_contributor_text, places[:CONTRIBUTORS]))}",
        f"{remedy}, or allow {use.used_bytes}",
    )


def _remedy(
    name: str,
    memories: Mapping[str, bool],
    counted: Sequence[Arena],
    places: Sequence[Allocation],
) -> str:
    """Gives what lowers a figure."""
    if name in ("constant_bytes", "flash_bytes"):
        return "use fewer or narrower weights"
    memory = name.removesuffix(MEMORY_SUFFIX)
    if memory in memories and len(memories) > 1:
        return (
            f"set max_size for {memory} under memory.constraints, so that the planner uses other "
            "memories, or move tensors with memory.tensors"
        )
    cold = next((memory for memory, volatile in memories.items() if not volatile), None)
    if cold is not None and name == "ram_bytes" and any(a.role == "constant" for a in counted):
        rule = f"memory.tensors: [{{type: constant, attributes: {{memory: {cold}}}}}]"
        return f"keep constants in {cold} ({rule})"
    return _smaller_arenas(counted, places)


def _smaller_arenas(counted: Sequence[Arena], places: Sequence[Allocation]) -> str:
    """Gives what makes scratch arenas smaller, as far as the plan shows that there is something."""
    ways = []
    gaps_bytes = sum(arena.fragmentation for arena in counted)
    if gaps_bytes > 0:
        ways.append(f"try another memory.planner ({gaps_bytes:,} bytes are gaps)")
    if any(place.id.endswith(_SCRATCH_BUFFER) for place in places):
        ways.append("choose kernels with less scratch (optimization.kernel)")
    return ", or ".join([*ways, "use a model with smaller tensors there"])


def _contributor_text(place: Allocation) -> str:
    return f"{place.id} ({place.role} in {place.memory}, {place.size_bytes:,})"
