# SPDX-License-Identifier: Apache-2.0
"""Whether the settings of a configuration that name memories fit the target."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from helia_aot.config.convert import UNSET, ConvertConfig, MemoryConstraint, TensorRule
from helia_aot.errors import ConfigError, Problem
from helia_aot.optimization.budgets import MEMORY_SUFFIX, budget_names, budget_of, closest_name
from helia_aot.platforms.schema import Platform


def check_settings(config: ConvertConfig, platform: Platform) -> None:
    """Checks every constraint, tensor rule and budget against the memories of the target.

    Raises:
        ConfigError: A memory or a budget does not exist on the target, a constraint is above the
            memory's size, or a rule sends what is written to at run time to a memory that cannot be
            written to. All problems are listed.
    """
    problems = [
        *_constraint_problems(config, platform),
        *_rule_problems(config, platform),
        *_budget_problems(config, platform),
    ]
    if problems:
        raise ConfigError(
            f"The configuration does not fit {platform.name}",
            problems,
            next_step=f"see 'helia-aot platforms show {platform.name}'",
        )


def _constraint_problems(config: ConvertConfig, platform: Platform) -> Iterator[Problem]:
    for position, constraint in enumerate(config.memory.constraints):
        where = f"memory.constraints[{position}]"
        if constraint.name not in platform.memories:
            yield _no_memory(f"{where}.name", constraint.name, platform)
        elif _is_above(constraint, platform):
            size_bytes = platform.memory_sizes[constraint.name]
            yield Problem(
                f"{where}.max_size",
                f"{constraint.name} has {size_bytes:,} bytes, not {constraint.max_size:,}",
                f"give at most {size_bytes}",
            )


def _is_above(constraint: MemoryConstraint, platform: Platform) -> bool:
    size_bytes = platform.memory_sizes[constraint.name]
    return constraint.max_size is not None and constraint.max_size > size_bytes


def _rule_problems(config: ConvertConfig, platform: Platform) -> Iterator[Problem]:
    for position, rule in enumerate(config.memory.tensors):
        where = f"memory.tensors[{position}].attributes"
        for field in ("memory", "constant_destination_memory"):
            memory = getattr(rule.attributes, field)
            if memory is None or (field != "memory" and memory == UNSET):
                continue
            if memory not in platform.memories:
                yield _no_memory(f"{where}.{field}", memory, platform)
            elif _is_written(rule, field) and not platform.memories[memory].volatile:
                yield Problem(
                    f"{where}.{field}",
                    f"{memory} cannot be written to at run time",
                    f"use one of {', '.join(_volatile(platform))}",
                )


def _is_written(rule: TensorRule, field: str) -> bool:
    """Whether a field certainly names a memory that the module writes to."""
    if field == "memory":
        return rule.type in ("scratch", "persistent")
    return rule.attributes.memory != rule.attributes.constant_destination_memory


def _budget_problems(config: ConvertConfig, platform: Platform) -> Iterator[Problem]:
    for name in config.optimization.budget:
        if budget_of(name, platform.memories) is not None:
            continue
        memory = name.removesuffix(MEMORY_SUFFIX)
        near = closest_name(name, platform.memories)
        names = ", ".join(budget_names(platform.memories))
        yield Problem(
            f"optimization.budget.{name}",
            f"{platform.name} has no memory {memory!r}, nor is there such a budget",
            f"did you mean {near}?" if near else f"use one of {names}",
        )


def _no_memory(where: str, memory: str, platform: Platform) -> Problem:
    close = difflib.get_close_matches(memory, platform.memories, n=1)
    known = ", ".join(platform.memories)
    return Problem(
        where,
        f"{platform.name} has no memory {memory!r}",
        f"did you mean {close[0]}?" if close else f"use one of {known}",
    )


def _volatile(platform: Platform) -> list[str]:
    return [name for name, memory in platform.memories.items() if memory.volatile]
