# SPDX-License-Identifier: Apache-2.0
"""What STRIDED_SLICE takes, against the same indexing in numpy, and which scales count as the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helia_aot.ir.attributes import SliceAttributes
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Quantization, Tensor
from helia_aot.operators.checks import check_same_quantization
from helia_aot.operators.movement import slice_ranges

MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def options(*, offset: bool = False, **masks: int) -> SliceAttributes:
    return SliceAttributes(**{**dict.fromkeys(MASKS, 0), **masks}, offset=offset)


@st.composite
def slices(draw: Any) -> tuple[tuple[int, ...], list[Any], SliceAttributes, list[list[int]]]:
    """Draws a shape, an index of numpy, and the same as begins, ends, strides and masks."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=5)))
    entries = draw(st.lists(st.sampled_from(("slice", "index", "new")), max_size=len(shape)))
    if draw(st.booleans()):
        entries.insert(draw(st.integers(0, len(entries))), "dots")
    index: list[Any] = []
    numbers: list[list[int]] = [[], [], []]
    masks = dict.fromkeys(MASKS, 0)
    for place, entry in enumerate(entries):
        size = 5
        begin, end = draw(st.integers(-size, size)), draw(st.integers(-size, size))
        step = draw(st.sampled_from((1, 2, 3, -1, -2)))
        if entry == "dots":
            masks["ellipsis_mask"] |= 1 << place
            index.append(Ellipsis)
        elif entry == "new":
            masks["new_axis_mask"] |= 1 << place
            index.append(None)
        elif entry == "index":
            masks["shrink_axis_mask"] |= 1 << place
            begin = draw(st.integers(-1, 0))
            index.append(begin)
        else:
            parts: list[int | None] = [begin, end]
            for part, mask in enumerate(("begin_mask", "end_mask")):
                if draw(st.booleans()):
                    masks[mask] |= 1 << place
                    parts[part] = None
            index.append(slice(*parts, step))
        for row, number in zip(numbers, (begin, end, step), strict=True):
            row.append(number)
    return shape, index, options(**masks), numbers


@given(slices())
def test_ranges_take_what_numpy_takes(drawn: Any) -> None:
    shape, index, attributes, numbers = drawn
    source = np.arange(np.prod(shape)).reshape(shape)
    expected = source[tuple(index)]
    if expected.size == 0:
        with pytest.raises(ValueError, match="takes nothing"):
            slice_ranges(shape, *numbers, attributes)
        return
    ranges, output = slice_ranges(shape, *numbers, attributes)
    assert output == expected.shape
    np.testing.assert_array_equal(source[np.ix_(*ranges)].reshape(output), expected)


def test_ends_may_be_offsets_from_the_begins() -> None:
    ranges, shape = slice_ranges((9, 9), [2, -4], [3, 2], [1, 1], options(offset=True))
    assert (ranges, shape) == ([range(2, 5), range(5, 7)], (3, 2))


@pytest.mark.parametrize(
    ("begin", "masks", "reason"),
    [
        ([0, 0], {"ellipsis_mask": 3}, "do not fit"),
        ([0, 0, 0], {}, "do not fit"),
        ([3, 0], {"shrink_axis_mask": 1}, "outside a dimension of 3"),
    ],
)
def test_what_does_not_fit_is_refused(begin: list[int], masks: dict[str, int], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        slice_ranges((3, 4), begin, [1] * len(begin), [1] * len(begin), options(**masks))


def test_a_stride_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="stride of 0"):
        slice_ranges((3,), [0], [1], [0], options())


@pytest.mark.parametrize(
    ("dtype", "ratio", "zero_points", "alike"),
    [
        (DType.INT8, 1 + 1 / 600, (3, 3), True),
        (DType.INT8, 1 + 1 / 500, (3, 3), False),
        (DType.INT8, 1, (3, 4), False),
        (DType.INT16, 1 + 1e-6, (0, 0), True),
        (DType.INT16, 1 + 1e-4, (0, 0), False),
    ],
)
def test_scales_that_move_no_number_are_the_same(
    dtype: DType, ratio: float, zero_points: tuple[int, int], *, alike: bool
) -> None:
    one, two = (
        Tensor(name, name, (1,), dtype, Quantization((scale,), (zero,)))
        for name, scale, zero in zip("ab", (0.1, 0.1 * ratio), zero_points, strict=True)
    )
    assert (check_same_quantization(one, two) == []) is alike
    if alike:
        info = np.iinfo(dtype.value)
        numbers = np.arange(info.min, info.max + 1) - zero_points[0]
        assert (np.round(numbers / ratio) == numbers).all()
