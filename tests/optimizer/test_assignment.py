# SPDX-License-Identifier: Apache-2.0
"""The exact choice against trying everything."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.assignment import Costs, Limit, cheapest
from optimizer.ranking import ranked


def random_costs(generator: np.random.Generator, sizes: list[int], *, pairs: bool) -> Costs:
    return Costs(
        [generator.integers(0, 1000, size).astype(float) for size in sizes],
        {
            site: generator.integers(0, 300, (sizes[site], sizes[site - 1])).astype(float)
            for site in range(1, len(sizes))
            if pairs and generator.random() < 0.7
        },
    )


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    pairs=st.booleans(),
    limited=st.booleans(),
)
def test_the_lowest_cost_under_all_limits_is_found(
    seed: int, sizes: list[int], pairs: bool, limited: bool
) -> None:
    generator = np.random.default_rng(seed)
    costs = random_costs(generator, sizes, pairs=pairs)
    limits = []
    if limited:
        amounts = random_costs(generator, sizes, pairs=False).single
        limits.append(Limit(amounts, float(generator.integers(0, 500 * len(sizes)))))
    every = list(itertools.product(*map(range, sizes)))
    excluded = [
        frozenset(
            list(enumerate(every[generator.integers(len(every))]))[: generator.integers(1, 4)]
        )
        for _ in range(2)
    ]
    allowed = [
        item
        for item in every
        if all(
            sum(amount[chosen] for amount, chosen in zip(limit.costs, item, strict=True))
            <= limit.most
            for limit in limits
        )
        and not any(choices <= set(enumerate(item)) for choices in excluded)
    ]
    found = cheapest(costs, limits=limits, excluded=excluded)
    if found is None:
        assert not allowed
        return
    assert found in allowed
    assert abs(costs.of(found) - min(map(costs.of, allowed))) < 0.5


def test_of_equal_plans_the_one_with_fewer_changes_is_taken() -> None:
    same = np.array([5.0, 5.0])
    assert cheapest(Costs([same, same, same])) == (0, 0, 0)


def test_a_limit_decides_who_gets_the_scarce_memory() -> None:
    cycles = [np.array([100.0, 10.0]), np.array([100.0, 40.0]), np.array([100.0, 50.0])]
    dtcm = [np.array([0.0, 300.0]), np.array([0.0, 100.0]), np.array([0.0, 150.0])]
    assert cheapest(Costs(cycles), limits=[Limit(dtcm, 300.0)]) == (0, 1, 1)
    assert cheapest(Costs(cycles), limits=[Limit(dtcm, 249.0)]) == (0, 1, 0)
    assert cheapest(Costs(cycles), limits=[Limit(dtcm, -1.0)]) is None


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    pairs=st.booleans(),
)
def test_all_assignments_come_in_the_order_of_their_costs(
    seed: int, sizes: list[int], pairs: bool
) -> None:
    generator = np.random.default_rng(seed)
    costs = random_costs(generator, sizes, pairs=pairs)
    nothing = [np.zeros(size) for size in sizes]
    found = list(ranked(costs, nothing))
    assert sorted(found) == list(itertools.product(*map(range, sizes)))
    totals = [costs.of(item) for item in found]
    assert totals == sorted(totals)
    nothing[-1][0] = np.inf
    assert all(item[-1] != 0 for item in ranked(costs, nothing))
