# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
import reference
from conv_cases import ConvShape, conv_case, conv_params, conv_shapes, pairs, same, valid
from harness import Case, available_targets, check_everywhere, check_rejected, run_cases
from hypothesis import given, settings
from hypothesis import strategies as st

from helia_aot.kernels.manifest import scratch_bytes

BATCH = settings(max_examples=5, deadline=None, derandomize=True, database=None)


def scratch_of(entry: str, shape: ConvShape) -> int:
    return scratch_bytes(
        entry, kernel_height=shape.kernel[0], kernel_width=shape.kernel[1], input_channels=shape.cin
    )


def check(entry: str, shapes: list[ConvShape]) -> None:
    made = [conv_case(entry, shape, scratch_of(entry, shape)) for shape in shapes]
    check_everywhere([case for case, _ in made], [expected for _, expected in made])


def batch(shapes):
    return st.lists(shapes, min_size=60, max_size=60)


def variants(shape_of, **fields):
    """Each shape with and without folded sums, with and without a bias."""
    return [
        shape_of(**fields, folded=folded, bias=bias, seed=seed)
        for seed, (folded, bias) in enumerate([(True, True), (False, True), (False, False)])
    ]


FIXED = [
    *variants(same, size=(1, 1), cin=1, cout=1),
    *variants(same, size=(1, 1), cin=1, cout=1, kernel=(3, 3)),
    *variants(same, size=(5, 7), cin=3, cout=5, kernel=(3, 3), stride=(2, 2), input_zero_point=-128),
    *variants(same, size=(5, 7), cin=3, cout=5, kernel=(3, 3), stride=(2, 2), input_zero_point=127),
    *variants(same, size=(6, 6), cin=4, cout=4, kernel=(5, 5), dilation=(2, 2)),
    *variants(valid, size=(9, 9), cin=2, cout=3, kernel=(3, 2), dilation=(3, 2), stride=(1, 2)),
    *[same(size=(2, 3), cin=c, cout=6, kernel=(1, 1), seed=c) for c in range(1, 34)],
    *[same(size=(2, 2), cin=8, cout=c, kernel=(2, 2), seed=c) for c in range(1, 18)],
    *[same(size=(3, 3), cin=16, cout=4, kernel=(3, 3), batches=2, extreme=True, seed=s) for s in range(6)],
]  # fmt: skip


def test_convolve_s8_fixed_shapes():
    check("arm_convolve_s8", FIXED)


GROUPED = [
    *variants(same, size=(4, 5), cin=6, cout=9, groups=3, kernel=(3, 3)),
    *variants(same, size=(5, 4), cin=4, cout=4, groups=4, kernel=(3, 2), stride=(2, 1), batches=2),
    *variants(same, size=(6, 6), cin=34, cout=10, groups=2, kernel=(3, 3), dilation=(2, 2)),
    *variants(valid, size=(3, 3), cin=32, cout=16, groups=2, kernel=(1, 1)),
    same(size=(4, 4), cin=16, cout=8, groups=2, kernel=(3, 3), extreme=True, seed=3),
]  # fmt: skip


def test_convolve_s8_groups():
    check("arm_convolve_s8", GROUPED)


@BATCH
@given(batch(conv_shapes()))
def test_convolve_s8(shapes):
    check("arm_convolve_s8", shapes)


DEPTHS = st.one_of(st.integers(1, 70), st.sampled_from([16, 32, 48, 64, 96, 128, 150]))
POINTWISE = {"kernel": st.just((1, 1)), "dilation": st.just((1, 1)), "padded": False}


@BATCH
@given(batch(conv_shapes(**POINTWISE, cin=DEPTHS, cout=st.integers(1, 21), stride=st.just((1, 1)))))
def test_convolve_1x1_s8_fast(shapes):
    check("arm_convolve_1x1_s8_fast", shapes)


@BATCH
@given(batch(conv_shapes(**POINTWISE, cin=DEPTHS)))
def test_convolve_1x1_s8(shapes):
    check("arm_convolve_1x1_s8", shapes)


ROW_SIZES = st.tuples(st.just(1), st.integers(1, 14))
ROW_KERNELS = st.tuples(st.just(1), st.integers(1, 6))


@BATCH
@given(
    batch(
        conv_shapes(
            size=ROW_SIZES,
            kernel=ROW_KERNELS,
            dilation=st.just((1, 1)),
            cin=st.sampled_from([4, 8, 12, 20]),
        )
    )
)
def test_convolve_1_x_n_s8(shapes):
    check("arm_convolve_1_x_n_s8", shapes)


@st.composite
def one_pixel_shapes(draw):
    """Convolutions whose output is one position: the whole input, or a padded or dilated patch."""
    return draw(
        st.one_of(
            pairs(1, 6).flatmap(lambda size: conv_shapes(
                cin=st.sampled_from([4, 8, 20]), kernel=st.just(size), size=st.just(size), padded=False)),
            conv_shapes(cin=st.sampled_from([4, 8, 20]), size=st.just((1, 1))),
            conv_shapes(cin=st.just(4), size=st.just((3, 3)), stride=st.just((3, 3))),
        )
    )  # fmt: skip


@BATCH
@given(batch(one_pixel_shapes()))
def test_convolve_1x1_out_s8(shapes):
    check("arm_convolve_1x1_out_s8", shapes)


@st.composite
def small_cin_shapes(draw):
    """Shapes of the rule: K_W * C_IN <= 16, K_H * K_W * C_IN <= 48."""
    cin = draw(st.integers(1, 3))
    kernel_width = draw(st.integers(1, 16 // cin))
    kernel_height = draw(st.integers(1, min(12, 48 // (cin * kernel_width))))
    return draw(
        conv_shapes(
            cin=st.just(cin),
            cout=st.sampled_from([4, 8, 12, 16]),
            kernel=st.just((kernel_height, kernel_width)),
            dilation=st.just((1, 1)),
            size=pairs(1, 14),
        )
    )


@BATCH
@given(batch(small_cin_shapes()))
def test_convolve_s8_small_cin(shapes):
    check("arm_convolve_s8_small_cin", shapes)


SMALL_CIN = [
    # Every depth by itself and by parts of it: one row, one column, and what fits in between.
    *[valid(size=(1, 20), cin=1, cout=4, kernel=(1, k), seed=k) for k in range(1, 17)],
    *[same(size=(50, 2), cin=1, cout=8, kernel=(k, 1), seed=k) for k in range(1, 49)],
    *[same(size=(9, 5), cin=3, cout=4, kernel=(k, 5), seed=k, folded=k != 2) for k in (1, 2, 3)],
    # Numbers of patches around those of one product, odd ones too, and the few that are not worth it.
    *[same(size=(h, w), cin=2, cout=8, kernel=(3, 2), seed=h) for h, w in [(7, 1), (2, 4), (47, 1), (7, 7), (16, 3), (97, 1)]],
    *[same(size=(h, w), cin=1, cout=12, kernel=(6, 7), seed=h) for h, w in [(7, 1), (3, 3), (13, 3), (9, 2)]],
    # Columns that do not fit in one strip, with padding at both ends; steps over rows between patches.
    *[same(size=(130, 3), cin=3, cout=4, kernel=(k, 5), stride=(s, 2), seed=k + s) for k in (1, 2, 3) for s in (1, 2, 5)],
    # More channels than one pass takes, the last pass with one block of four.
    *variants(same, size=(5, 5), cin=1, cout=68, kernel=(10, 4), stride=(2, 1)),
    *variants(same, size=(5, 5), cin=3, cout=132, kernel=(3, 3), stride=(1, 2)),
    *variants(same, size=(4, 3), cin=1, cout=72, kernel=(2, 3), activation=(-5, 5)),
    # Single rows, padded and not, several images of an odd number of positions.
    *variants(same, size=(1, 61), cin=1, cout=4, kernel=(1, 16), stride=(2, 2), batches=3),
    *variants(same, size=(1, 27), cin=3, cout=8, kernel=(1, 5), stride=(1, 1), batches=2),
    *variants(same, size=(1, 33), cin=2, cout=4, kernel=(3, 8), batches=2),
    *variants(same, size=(3, 3), cin=2, cout=8, kernel=(4, 5), batches=3, input_zero_point=-128),
    # Saturation, left shifts and shifts by 0.
    *[same(size=(6, 7), cin=3, cout=16, kernel=(3, 3), extreme=True, seed=s, folded=s % 3 > 0) for s in range(6)],
    *[same(size=(6, 7), cin=1, cout=16, kernel=(5, 8), extreme=True, seed=s, folded=s % 3 > 0) for s in range(6)],
    *[same(size=(6, 7), cin=1, cout=16, kernel=(3, 3), extreme=True, seed=s, folded=s % 3 > 0) for s in range(6)],
]  # fmt: skip


def test_convolve_s8_small_cin_edges():
    check("arm_convolve_s8_small_cin", SMALL_CIN)


C16 = {
    "kernel": st.just((3, 3)),
    "cin": st.just(16),
    "stride": st.just((1, 1)),
    "dilation": st.just((1, 1)),
}


@BATCH
@given(batch(conv_shapes(**C16, size=pairs(1, 10))))
def test_convolve_s8_3x3_c16_s1(shapes):
    check("arm_convolve_s8_3x3_c16_s1", shapes)


GOOD = same(size=(4, 4), cin=4, cout=4, kernel=(3, 3))
REJECTED = {
    "arm_convolve_1x1_s8_fast": [
        GOOD,
        same(size=(4, 4), cin=4, cout=4, stride=(2, 1)),
        ConvShape(size=(4, 4), cin=4, cout=4, padding=(1, 0)),
    ],
    "arm_convolve_1x1_s8": [GOOD, ConvShape(size=(4, 4), cin=4, cout=4, padding=(0, 1))],
    "arm_convolve_1_x_n_s8": [
        GOOD,
        same(size=(1, 8), cin=3, cout=4, kernel=(1, 3)),
        same(size=(1, 8), cin=4, cout=4, kernel=(1, 3), dilation=(1, 2)),
        same(size=(1, 8), cin=4, cout=4, kernel=(3, 1)),
    ],
    "arm_convolve_1x1_out_s8": [GOOD, valid(size=(3, 3), cin=3, cout=4, kernel=(3, 3))],
    "arm_convolve_s8_small_cin": [
        GOOD,
        same(size=(4, 4), cin=3, cout=5, kernel=(3, 3)),
        same(size=(4, 4), cin=3, cout=4, kernel=(3, 3), dilation=(2, 1)),
        same(size=(4, 4), cin=3, cout=4, kernel=(1, 6)),
        same(size=(4, 4), cin=3, cout=4, kernel=(5, 4)),
    ],
    "arm_convolve_s8_3x3_c16_s1": [
        GOOD,
        same(size=(4, 4), cin=16, cout=4, kernel=(3, 3), stride=(2, 1)),
        same(size=(4, 4), cin=16, cout=4, kernel=(3, 3), dilation=(1, 2)),
        same(size=(4, 4), cin=16, cout=4, kernel=(3, 1)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("target", available_targets())
def test_entries_refuse_shapes_outside_their_rule(target):
    check_rejected(
        target,
        [
            conv_case(entry, shape, 1024)[0]
            for entry, shapes in REJECTED.items()
            for shape in shapes
        ],
    )


def test_weight_sums():
    rng = np.random.default_rng(0)
    cases, expected = [], []
    for cout, kernel, cin, bias in [(1, (1, 1), 1, None), (5, (3, 3), 7, 1), (8, (2, 5), 16, 1)]:
        filters = rng.integers(-128, 128, (cout, *kernel, cin)).astype(np.int8)
        biases = None if bias is None else rng.integers(-(2**20), 2**20, cout).astype(np.int32)
        params = conv_params(ConvShape(size=(4, 4), cin=cin, cout=cout, kernel=kernel))[:12]
        cases.append(Case("arm_convolve_weight_sum", [*params, -77], [filters, biases], 4 * cout))
        expected.append(reference.conv_weight_sums(filters, biases, -77))
    check_everywhere(cases, expected)


@BATCH
@given(batch(conv_shapes()))
def test_python_scratch_sizes_equal_the_buffer_size_entries(shapes):
    cases = [Case("convolve_buffer_sizes", conv_params(shape), [], 20) for shape in shapes]
    for shape, outcome in zip(shapes, run_cases("host", cases), strict=True):
        assert outcome.array(np.int32).tolist() == [
            scratch_of("arm_convolve_s8", shape),
            scratch_of("arm_convolve_s8", shape),
            scratch_of("arm_convolve_1x1_s8_fast", shape),
            scratch_of("arm_convolve_1_x_n_s8", shape),
            4 * shape.cout,
        ]
