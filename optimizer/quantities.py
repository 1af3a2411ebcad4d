# SPDX-License-Identifier: Apache-2.0
"""What a campaign can minimise or limit: quantities by the names of the budgets, read from measurements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from helia_aot.optimization.budgets import BUDGETS, MEMORY_SUFFIX, may_be_budget
from runners.measurement import Measurement

CYCLES: Final = "cycles"
LATENCY: Final = "latency_us"

OVERFLOW: Final = "overflow_bytes"
"""Evidence of a plan that does not fit: by how much each limit is exceeded, by the budget's name."""

UNMEASURED: Final = ("energy_uj",)
"""Budgets that no runner can measure yet."""

ERRORS: Final = ("max_abs_error", "accuracy_drop")
"""Budgets on the outputs, which campaigns with an ``accuracy`` section judge."""

_SECTIONS: Final = ("code_bytes", "flash_bytes", "ram_bytes")


def is_quantity(name: str) -> bool:
    """Says whether some runner on some target can measure a quantity."""
    return may_be_budget(name) and name not in UNMEASURED


def counts_time(name: str) -> bool:
    """Says whether a quantity follows the cycles, so that it has their noise."""
    return name in (CYCLES, LATENCY)


def quantity(measurement: Measurement, name: str) -> float | None:
    """Gives the value of a quantity; None where the measurement does not tell.

    Args:
        measurement: A good measurement.
        name: The name of a budget.
    """
    if name == CYCLES:
        return measurement.comparable_cycles
    if name == LATENCY:
        clock_mhz = measurement.identity.clock_mhz if measurement.identity else None
        return None if clock_mhz is None else measurement.comparable_cycles / clock_mhz
    if name in _SECTIONS:
        size_bytes: int | None = getattr(measurement, name)
        return None if size_bytes is None else float(size_bytes)
    if name in measurement.errors:
        return measurement.errors[name]
    known = measurement.storage_bytes.get(name)
    return None if known is None else float(known)


def known_quantities(measurement: Measurement) -> dict[str, float]:
    """Gives every quantity that a measurement tells; nothing for one that is not good."""
    if measurement.status != "ok":
        return {}
    names = (CYCLES, LATENCY, *_SECTIONS, *measurement.storage_bytes, *measurement.errors)
    found = {name: quantity(measurement, name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def overflow_of(measurement: Measurement) -> dict[str, float]:
    """Gives by how much a plan that does not fit is too large, by budget; empty for another failure."""
    found = measurement.evidence.get(OVERFLOW)
    if measurement.status != "plan_bad" or not isinstance(found, dict):
        return {}
    return {str(name): float(size) for name, size in found.items() if isinstance(size, int | float)}


def excesses(measurement: Measurement, budget: Mapping[str, float]) -> dict[str, float]:
    """Gives by how much a good measurement is above each limit; below 0 where there is room.

    A quantity that the measurement does not tell is left out.
    """
    values = {name: quantity(measurement, name) for name in budget}
    return {name: value - budget[name] for name, value in values.items() if value is not None}


def fits(measurement: Measurement, budget: Mapping[str, float]) -> bool:
    """Says whether a measurement is good and within all limits; an unknown quantity is not."""
    if measurement.status != "ok":
        return False
    found = excesses(measurement, budget)
    return len(found) == len(budget) and all(value <= 0 for value in found.values())


def missing_quantities(measurement: Measurement, names: Mapping[str, str]) -> dict[str, str]:
    """Gives the asked quantities that a good measurement does not tell.

    Args:
        measurement: The measurement.
        names: Quantity -> the key of the configuration that asks for it.
    """
    return {name: key for name, key in names.items() if quantity(measurement, name) is None}


def unit_of(name: str) -> str:
    """Gives the unit of a quantity."""
    if name in BUDGETS:
        return BUDGETS[name].unit
    return "bytes" if name.endswith(MEMORY_SUFFIX) else ""
