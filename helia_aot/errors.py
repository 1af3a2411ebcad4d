# SPDX-License-Identifier: Apache-2.0
"""Every error of the product: one tree, one exit code for each kind.

::

    HeliaError                      1   never raised itself
    ├─ ConfigError                  2   a configuration file, option or rule is wrong
    ├─ ModelError                   3   the model file cannot be read or contradicts itself
    │  └─ UnsupportedModelError     4   the model is fine, but uses what we do not support
    ├─ PlanError                    5   a plan is malformed, of another model, or not applicable here
    ├─ BudgetError                  6   the module does not fit its memories or budgets
    ├─ EmitError                    7   the output cannot be written
    ├─ RunnerError                  8   (runners) a tool or a target is missing or fails
    │  └─ ToolchainError            8   (runners) a compiler or an emulator is missing
    ├─ CampaignError                9   (optimizer) a search cannot start or go on
    └─ InvariantError              70   our own bug: please report it

Errors collect before they are raised: one error carries every :class:`Problem` found. Only the two command
lines catch them, print them and exit with ``exit_code``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        where: The place: a file, a dotted configuration key, an operator id.
        reason: What is wrong there.
        next_step: What the user can do about it; may be empty when the reason says it all.
        source: File and line that say so, e.g. ``convert.yaml:14``; empty when no file does.
    """

    where: str
    reason: str
    next_step: str = ""
    source: str = ""

    def __str__(self) -> str:
        """Gives the one-line form ``source: where: reason -> next_step``."""
        text = ": ".join(part for part in (self.source, self.where, self.reason) if part)
        return f"{text} -> {self.next_step}" if self.next_step else text


class HeliaError(Exception):
    """The root of all errors that a user can meet; never raised itself.

    Attributes:
        summary: One sentence that names the failure.
        problems: Every problem found, in the order of discovery.
        next_step: What to do next, where one advice covers all problems.
    """

    exit_code: ClassVar[int] = 1

    def __init__(
        self, summary: str, problems: Sequence[Problem] = (), *, next_step: str = ""
    ) -> None:
        super().__init__(summary, tuple(problems), next_step)
        self.summary = summary
        self.problems = tuple(problems)
        self.next_step = next_step

    def __str__(self) -> str:
        """Gives the full text: the summary, a line for each problem, the next step."""
        lines = [self.summary, *(f"  - {problem}" for problem in self.problems)]
        if self.next_step:
            lines.append(f"Next: {self.next_step}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        """Lets errors cross process borders with all their data."""
        return (_rebuild, (type(self), self.summary, self.problems, self.next_step))


def _rebuild(
    kind: type[HeliaError], summary: str, problems: tuple[Problem, ...], next_step: str
) -> HeliaError:
    return kind(summary, problems, next_step=next_step)


class ConfigError(HeliaError):
    """A configuration file, a command-line option or a rule is wrong."""

    exit_code = 2


class ModelError(HeliaError):
    """The model file cannot be read, is truncated, or contradicts itself."""

    exit_code = 3


class UnsupportedModelError(ModelError):
    """The model is valid but needs operators, types or options that are not supported."""

    exit_code = 4


class PlanError(HeliaError):
    """A plan is malformed, belongs to another model or target, or asks for what does not apply."""

    exit_code = 5


class BudgetError(HeliaError):
    """The module does not fit into the memories or budgets it was given.

    Attributes:
        overflow: By how much each limit is exceeded, by the name of its budget and in its unit.
    """

    exit_code = 6

    def __init__(
        self,
        summary: str,
        problems: Sequence[Problem] = (),
        *,
        next_step: str = "",
        overflow: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(summary, problems, next_step=next_step)
        self.overflow = dict(overflow or {})

    def __reduce__(self) -> tuple[object, ...]:
        """Lets errors cross process borders with all their data."""
        return (_rebuild_budget, (self.summary, self.problems, self.next_step, self.overflow))


def _rebuild_budget(
    summary: str, problems: tuple[Problem, ...], next_step: str, overflow: dict[str, float]
) -> BudgetError:
    return BudgetError(summary, problems, next_step=next_step, overflow=overflow)


class EmitError(HeliaError):
    """The output cannot be written, or would overwrite something without ``force``."""

    exit_code = 7


class InvariantError(HeliaError):
    """A check on our own results failed; this is a bug in this product."""

    exit_code = 70
