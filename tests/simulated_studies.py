# SPDX-License-Identifier: Apache-2.0
"""Replayed campaigns on noisy targets, from the first proposal to the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from recorded_spaces import RecordedSpace, Scenario, Study, load, names, study

from optimizer.samplers import SamplerName

SCENARIOS = (
    Scenario("noise 0.05 %", noise=0.0005),
    Scenario("noise 0.5 %, coupling 5 %", noise=0.005, coupling=0.05),
    Scenario("noise 2 %", noise=0.02),
    Scenario("two modes, 1 % apart", noise=0.0005, modes=0.01),
    Scenario("gains below 1 %, noise 0.5 %", noise=0.005, contrast=0.02),
    Scenario("gains below 1 %, two modes", noise=0.0005, contrast=0.02, modes=0.01),
    Scenario("noise 0.5 %, 10 % rig faults", noise=0.005, faults=0.1),
)
SAMPLERS: tuple[SamplerName, ...] = ("profile", "random", "tpe", "random")
TRIALS = 10


def simulated(count: int) -> Iterator[tuple[Scenario, Study]]:
    """Gives the ends of so many campaigns, over all scenarios, samplers and spaces in turn."""
    spaces: list[RecordedSpace] = [load(name) for name in names()]
    for number in range(count):
        scenario = SCENARIOS[number % len(SCENARIOS)]
        turn = number // len(SCENARIOS)
        sampler, recorded = SAMPLERS[turn % len(SAMPLERS)], spaces[turn % len(spaces)]
        yield scenario, study(recorded, scenario, sampler, seed=number, trials=TRIALS)
