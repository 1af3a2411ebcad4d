# SPDX-License-Identifier: Apache-2.0
"""What a search is asked for, as samplers see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from optimizer.additive import Site, sites_of
from optimizer.footprint import Footprint
from optimizer.quantities import CYCLES, fits, quantity
from runners.measurement import Measurement
from search_spaces.space import SearchSpace


@dataclass(frozen=True)
class SearchTask:
    """A space and what counts in it.

    Attributes:
        space: The plans.
        objectives: The quantities to minimise, the first one decides on the written plan.
        budget: Upper limits by quantity.
        judges_errors: Whether plans may have approximate values, whose errors are judged.
    """

    space: SearchSpace
    objectives: tuple[str, ...] = (CYCLES,)
    budget: Mapping[str, float] = field(default_factory=dict)
    judges_errors: bool = False

    def value(self, measurement: Measurement) -> float | None:
        """Gives the first objective of a plan; None for one that is bad or breaks a limit."""
        if not fits(measurement, self.budget):
            return None
        return quantity(measurement, self.objectives[0])

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The operators and groups that vary."""
        return sites_of(self.space)

    @cached_property
    def footprint(self) -> Footprint:
        """What the alternatives take."""
        return Footprint(self.space, self.sites, self.budget)
