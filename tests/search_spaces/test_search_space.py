# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from synthetic_campaign import synthetic_space

from search_spaces.errors import SpaceError
from search_spaces.space import Dimension, SearchSpace


def test_size_is_the_product_of_the_choices() -> None:
    assert synthetic_space(5)[1].size == 32


def test_size_is_one_without_dimensions() -> None:
    assert SearchSpace(dimensions=()).size == 1


def test_json_gives_an_equal_space() -> None:
    space = synthetic_space(3)[1]
    assert SearchSpace.from_json(space.to_json()) == space


def test_from_json_lists_every_problem() -> None:
    with pytest.raises(SpaceError) as caught:
        SearchSpace.from_json('{"dimensions": [{"knob": 1}], "extra": 0}')
    assert len(caught.value.problems) > 3


def test_digest_ignores_the_reasons_for_leaving_out() -> None:
    space = synthetic_space(3)[1]
    assert space.model_copy(update={"dropped": ()}).digest() == space.digest()


def test_digest_changes_with_a_choice() -> None:
    first, second = synthetic_space(3)[1], synthetic_space(4)[1]
    assert first.digest() != second.digest()


def test_choices_refuses_what_is_no_point_and_says_all() -> None:
    space = synthetic_space(3)[1]
    with pytest.raises(SpaceError) as caught:
        space.choices({"kernel@0:conv0": "fast", "kernel@nowhere": "generic"})
    assert len(caught.value.problems) == 4


def test_a_dimension_holds_its_baseline() -> None:
    with pytest.raises(ValueError, match="baseline"):
        Dimension(
            operator_id="0:a", op_type="CONV_2D", knob="kernel", choices=("a", "b"), baseline="c"
        )


def test_a_dimension_appears_once() -> None:
    dimension = synthetic_space(1)[1].dimensions[0]
    with pytest.raises(ValueError, match="twice"):
        SearchSpace(dimensions=(dimension, dimension))
