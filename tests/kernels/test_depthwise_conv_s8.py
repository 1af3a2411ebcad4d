# SPDX-License-Identifier: Apache-2.0
"""The depthwise entries against the oracle and against TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import reference
from conv_cases import ConvShape, conv_params, conv_shapes, pairs, quantization, same, valid
from harness import TARGETS, Case, check_cases, check_rejected, run_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from required import tflite_micro_runtime
from tflite_models import ModelBuilder

from helia_aot.operators.depthwise import scratch_bytes, takes_optimized, takes_planar
from helia_aot.operators.geometry import Window

BATCH = settings(max_examples=3, deadline=None, derandomize=True, database=None)
each_target = pytest.mark.parametrize("target", list(TARGETS))
GENERAL = "arm_depthwise_conv_s8"
DSP_3X3 = "arm_depthwise_conv_3x3_s8"
OPT = "arm_depthwise_conv_s8_opt"
OPT_ENTRIES = [OPT, f"{OPT}_3x3", f"{OPT}_3x3_c64_s1", f"{OPT}_planar", f"{OPT}_channelwise"]


def output_of(shape: ConvShape) -> tuple[int, int]:
    return shape.output if shape.output != (0, 0) else shape.size


def window_of(shape: ConvShape) -> Window:
    return Window(
        shape.batches,
        *shape.size,
        *shape.kernel,
        *shape.stride,
        *shape.dilation,
        *output_of(shape),
        *shape.padding,
    )


def depthwise_case(
    entry: str, shape: ConvShape, *, smallest_weight: int = -127
) -> tuple[Case, np.ndarray]:
    """Gives the case and its expected output; ``cout`` is a multiple of ``cin``."""
    rng = np.random.default_rng(shape.seed)
    x = rng.integers(-128, 128, (shape.batches, *shape.size, shape.cin)).astype(np.int8)
    filters = rng.integers(smallest_weight, 128, (1, *shape.kernel, shape.cout)).astype(np.int8)
    if shape.extreme and shape.seed % 2:
        x[:], filters[:] = (
            rng.choice([-128, -128, 127], x.shape),
            rng.choice([smallest_weight, 127], filters.shape),
        )
        filters[..., : shape.cout // 2] = smallest_weight
    bias = rng.integers(-3000, 3000, shape.cout).astype(np.int32) if shape.bias else None
    extreme = shape.extreme and shape.seed % 4 < 2
    multiplier, shift = quantization(
        rng, shape.cout, shape.kernel[0] * shape.kernel[1], extreme=extreme
    )
    return made_case(entry, shape, x, filters, bias, multiplier, shift)


def made_case(
    entry: str, shape: ConvShape, x, filters, bias, multiplier, shift
) -> tuple[Case, np.ndarray]:
    """Gives the case of these tensors and its expected output."""
    ch_mult = shape.cout // shape.cin
    expected = reference.depthwise_conv_s8(
        x, filters, bias,
        input_offset=-shape.input_zero_point, output_offset=shape.output_zero_point, ch_mult=ch_mult,
        stride=shape.stride, padding=shape.padding, dilation=shape.dilation, output=output_of(shape),
        multiplier=multiplier, shift=shift, activation=shape.activation,
    )  # fmt: skip
    folded = shape.folded and entry not in (GENERAL, DSP_3X3)
    sums = reference.depthwise_weight_sums(filters, bias, -shape.input_zero_point)
    params = conv_params(shape)
    params[4] = 1
    params[7] = shape.cout
    scratch = (
        0 if entry in (GENERAL, DSP_3X3) else scratch_bytes(entry, window_of(shape), shape.cin)
    )
    tensors = [x, filters, None if folded else bias, sums if folded else None, multiplier, shift]
    return Case(entry, [*params, ch_mult], tensors, expected.size, scratch), expected


def takes(entry: str, shape: ConvShape) -> bool:
    """The shape rules, as the compiler states them."""
    window = window_of(shape)
    general = takes_optimized(window, shape.cin, shape.cout)
    is_3x3 = shape.kernel == (3, 3) and shape.dilation == (1, 1)
    small_padding = max(shape.padding) <= 1
    return {
        GENERAL: True,
        DSP_3X3: general and is_3x3 and small_padding,
        OPT: general,
        f"{OPT}_channelwise": general,
        f"{OPT}_3x3": general and is_3x3,
        f"{OPT}_3x3_c64_s1": general
        and is_3x3
        and shape.cin == 64
        and shape.stride == (1, 1)
        and small_padding,
        f"{OPT}_planar": general and takes_planar(window, shape.cin),
    }[entry]


def check(target: str, entries: list[str], shapes: list[ConvShape], **fields) -> None:
    """Every entry on every shape that it takes; each entry must take some."""
    made = [depthwise_case(e, s, **fields) for e in entries for s in shapes if takes(e, s)]
    assert {case.entry for case, _ in made} == set(entries)
    check_cases(target, [case for case, _ in made], [expected for _, expected in made])


def multiplied(shape: ConvShape, ch_mult: int) -> ConvShape:
    return replace(shape, cout=shape.cin * ch_mult)


def plain(shape: ConvShape) -> ConvShape:
    return multiplied(shape, 1)


def variants(shape_of, **fields):
    """Each shape with and without folded sums, with and without a bias."""
    return [
        plain(shape_of(**fields, cout=1, folded=folded, bias=bias, seed=seed))
        for seed, (folded, bias) in enumerate([(True, True), (False, True), (False, False)])
    ]


MODELS = [
    *variants(same, size=(25, 5), cin=64, kernel=(3, 3), input_zero_point=-128),
    *variants(same, size=(9, 9), cin=8, kernel=(3, 3)),
    *variants(same, size=(12, 13), cin=16, kernel=(3, 3), stride=(2, 2)),
    *variants(same, size=(3, 3), cin=256, kernel=(3, 3)),
    *variants(valid, size=(30, 1), cin=40, kernel=(3, 1)),
    *variants(valid, size=(24, 1), cin=128, kernel=(10, 1)),
    *variants(valid, size=(15, 1), cin=128, kernel=(15, 1)),
    *variants(valid, size=(5, 1), cin=30, kernel=(5, 1)),
]
TAILS = [
    *[plain(same(size=(3, 4), cin=c, cout=1, kernel=(3, 3), seed=c)) for c in range(1, 36)],
    *[plain(same(size=(2, 5), cin=c, cout=1, kernel=(2, 4), seed=c)) for c in range(1, 36)],
    *[
        plain(same(size=(1, 9), cin=c, cout=1, kernel=(1, 3), dilation=(1, 2), seed=c))
        for c in range(1, 36)
    ],
    *[
        plain(same(size=(9, 1), cin=c, cout=1, kernel=(4, 1), stride=(2, 1), seed=c))
        for c in range(1, 36)
    ],
]
EDGES = [
    *variants(same, size=(1, 1), cin=1, kernel=(1, 1)),
    *variants(same, size=(1, 1), cin=17, kernel=(1, 1)),
    *variants(same, size=(1, 1), cin=5, kernel=(3, 3)),
    *variants(same, size=(1, 1), cin=64, kernel=(3, 3)),
    *variants(
        same, size=(2, 2), cin=20, kernel=(5, 5), input_zero_point=127, output_zero_point=-128
    ),
    *variants(
        same,
        size=(7, 5),
        cin=19,
        kernel=(3, 3),
        stride=(3, 2),
        input_zero_point=-128,
        output_zero_point=127,
    ),
    *variants(same, size=(7, 5), cin=3, kernel=(3, 3), stride=(3, 1), activation=(-4, 9)),
    *variants(valid, size=(9, 9), cin=12, kernel=(2, 3), stride=(3, 3)),
    *variants(ConvShape, size=(3, 4), cin=24, kernel=(3, 3), padding=(2, 2), output=(5, 6)),
    *variants(ConvShape, size=(3, 4), cin=6, kernel=(3, 2), padding=(4, 5), output=(9, 12)),
    *variants(
        ConvShape, size=(2, 2), cin=7, kernel=(2, 2), padding=(3, 3), output=(3, 3), stride=(4, 1)
    ),
    *variants(
        ConvShape, size=(1, 6), cin=5, kernel=(1, 3), padding=(0, 4), output=(1, 8), dilation=(1, 3)
    ),
]
EXTREMES = [
    plain(same(size=(4, 6), cin=c, cout=1, kernel=k, extreme=True, seed=seed, input_zero_point=zero))
    for c in (3, 16, 23, 64)
    for k in ((3, 3), (2, 3))
    for seed in range(8)
    for zero in (-128, 127)
]  # fmt: skip

LARGE_3X3 = [
    *variants(same, size=(17, 29), cin=5, kernel=(3, 3)),
    *variants(same, size=(33, 27), cin=7, kernel=(3, 3), stride=(2, 2), activation=(-100, 90)),
    *variants(valid, size=(40, 4), cin=6, kernel=(3, 3), input_zero_point=127),
    *variants(ConvShape, size=(8, 9), cin=4, kernel=(3, 3), padding=(2, 2), output=(10, 11)),
    *[
        plain(same(size=(7, 6), cin=c, cout=1, kernel=(3, 3), extreme=True, seed=seed))
        for c in (4, 9)
        for seed in range(4)
    ],
]
"""Enough outputs for DSP cores to take the layer apart into tiles, with some that do not fill their tile."""


@each_target
def test_large_3x3(target):
    check(target, [f"{OPT}_3x3"], LARGE_3X3)
    check(target, [DSP_3X3], [shape for shape in LARGE_3X3 if takes(DSP_3X3, shape)])


@each_target
def test_shapes_of_known_models(target):
    check(target, OPT_ENTRIES, MODELS)


@each_target
def test_channel_tails(target):
    check(target, [e for e in OPT_ENTRIES if "c64" not in e], TAILS)


@each_target
def test_edges(target):
    check(target, OPT_ENTRIES, EDGES)
    check(target, [GENERAL, DSP_3X3], [*TAILS[:70:3], *EDGES, *EXTREMES[:16]])


@each_target
def test_saturation_and_any_shift(target):
    check(target, OPT_ENTRIES, EXTREMES)


@each_target
def test_start_values_near_the_limits(target):
    """A part of the sum leaves int32, the whole does not.

    The whole is 2^31 - 37258; with saturation of the parts it would be 2^31 - 64517. The multiplier puts a rounding
    boundary of the output between the two.
    """
    made = []
    multiplier = round(126.5 * 2**24 / (1 - 50888 / 2**31))
    shape = plain(valid(size=(3, 6), cin=64, cout=1, kernel=(3, 3), input_zero_point=0))
    narrow = replace(shape, size=(6, 5), cin=6, cout=6, output=(4, 3))
    for sign in (1, -1):
        for case in (shape, narrow):
            x = np.full((1, *case.size, case.cin), 127, np.int8)
            filters = np.zeros((1, 3, 3, case.cin), np.int8)
            filters.reshape(9, -1)[:6] = sign * 127 * np.array([[1], [1], [-1], [-1], [-1], [-1]])
            bias = np.full(case.cin, sign * (2**31 - 5000), np.int32)
            quant = np.full(case.cin, multiplier, np.int32), np.full(case.cin, -24, np.int32)
            made += [
                made_case(e, case, x, filters, bias, *quant) for e in OPT_ENTRIES if takes(e, case)
            ]
    assert {case.entry for case, _ in made} == set(OPT_ENTRIES)
    check_cases(target, [case for case, _ in made], [expected for _, expected in made])


@each_target
def test_weights_of_minus_128(target):
    """The sum of two products of -128 * -128 does not fit into 16 bits."""
    check(target, [GENERAL, *OPT_ENTRIES], [*EXTREMES, *TAILS[::5]], smallest_weight=-128)


OPT_SHAPES = {"cin": st.integers(1, 40), "dilation": st.just((1, 1))}


@each_target
@BATCH
@given(st.lists(conv_shapes(**OPT_SHAPES), min_size=40, max_size=40))
def test_opt_entries(target, shapes):
    shapes = [plain(replace(s, batches=1)) for s in shapes]
    made = [depthwise_case(e, s) for e in OPT_ENTRIES for s in shapes if takes(e, s)]
    check_cases(target, [case for case, _ in made], [expected for _, expected in made])


SHAPES_3X3 = {"kernel": st.just((3, 3)), "size": pairs(1, 14)}


@each_target
@BATCH
@given(st.lists(conv_shapes(**{**OPT_SHAPES, "cin": st.sampled_from([1, 2, 3, 4, 8, 16, 24, 40, 64]), **SHAPES_3X3}),
                min_size=30, max_size=30))  # fmt: skip
def test_3x3_entries(target, shapes):
    shapes = [plain(replace(s, batches=1)) for s in shapes]
    made = [depthwise_case(e, s) for e in [*OPT_ENTRIES, DSP_3X3] for s in shapes if takes(e, s)]
    check_cases(target, [case for case, _ in made], [expected for _, expected in made])


@each_target
@BATCH
@given(
    st.lists(
        st.tuples(conv_shapes(cin=st.integers(1, 11)), st.integers(1, 9)), min_size=40, max_size=40
    )
)
def test_general_entry(target, shapes):
    made = [depthwise_case(GENERAL, multiplied(shape, ch_mult)) for shape, ch_mult in shapes]
    check_cases(target, [case for case, _ in made], [expected for _, expected in made])


@each_target
def test_multipliers_and_filters_of_all_sizes(target):
    """Many outputs of one input, more than a table holds, windows outside the input, and channels left over from blocks of 64."""
    shapes = [
        multiplied(same(size=(9, 7), cin=1, cout=1, kernel=(10, 8), stride=(2, 2)), 8),
        multiplied(same(size=(3, 3), cin=2, cout=1, kernel=(3, 3)), 67),
        multiplied(same(size=(3, 4), cin=3, cout=1, kernel=(15, 16)), 5),
        multiplied(same(size=(9, 9), cin=5, cout=1, kernel=(3, 3), dilation=(2, 3)), 1),
        multiplied(same(size=(4, 4), cin=70, cout=1, kernel=(15, 16)), 1),
        multiplied(same(size=(5, 5), cin=67, cout=1, kernel=(5, 3), stride=(1, 2)), 1),
        multiplied(ConvShape(size=(2, 2), cin=6, cout=1, kernel=(3, 3), padding=(4, 4), output=(8, 8)), 1),
        multiplied(ConvShape(size=(2, 2), cin=6, cout=1, kernel=(2, 3), padding=(4, 4), output=(8, 8)), 2),
    ]  # fmt: skip
    shapes = [replace(s, seed=n, extreme=n % 2 == 0) for s in shapes for n in range(4)]
    made = [depthwise_case(GENERAL, s) for s in shapes]
    made += [depthwise_case(OPT, s) for s in shapes if takes(OPT, s)]
    check_cases(target, [case for case, _ in made], [expected for _, expected in made])


@each_target
def test_channels_with_enormous_bias(target):
    """Twice their sums do not fit into 32 bits; other channels of the same block are usual ones."""
    rng = np.random.default_rng(5)
    made = []
    for kernel, stride in (((3, 3), (1, 1)), ((3, 3), (2, 2)), ((1, 4), (1, 1)), ((5, 2), (1, 2))):
        shape = plain(same(size=(9, 9), cin=22, cout=1, kernel=kernel, stride=stride))
        x = rng.integers(-128, 128, (1, *shape.size, shape.cin)).astype(np.int8)
        filters = rng.integers(-127, 128, (1, *kernel, shape.cin)).astype(np.int8)
        bias = rng.integers(-3000, 3000, shape.cin).astype(np.int32)
        bias[::3] = rng.integers(-(2**31) + 2**24, 2**31 - 2**24, bias[::3].size)
        multiplier, shift = quantization(rng, shape.cin, kernel[0] * kernel[1], extreme=False)
        for folded in (False, True):
            made += [
                made_case(entry, replace(shape, folded=folded), x, filters, bias, multiplier, shift)
                for entry in (GENERAL, OPT)
            ]
    check_cases(target, [case for case, _ in made], [expected for _, expected in made])


def test_folded_sums_and_bias_give_the_same_output():
    shapes = variants(same, size=(4, 4), cin=9, kernel=(3, 3))
    outputs = [depthwise_case(f"{OPT}_3x3", replace(s, seed=1, bias=True)) for s in shapes[:2]]
    assert [case.tensors[3] is None for case, _ in outputs] == [False, True]
    assert (outputs[0][1] == outputs[1][1]).all()


REJECTED = [
    (OPT, multiplied(same(size=(4, 4), cin=8, cout=1, kernel=(3, 3)), 2)),
    (OPT, plain(same(size=(4, 4), cin=8, cout=1, kernel=(3, 3), batches=2))),
    (OPT, plain(same(size=(4, 4), cin=8, cout=1, kernel=(3, 3), dilation=(1, 2)))),
    (f"{OPT}_channelwise", plain(same(size=(4, 4), cin=8, cout=1, kernel=(3, 3), dilation=(2, 1)))),
    (f"{OPT}_channelwise", multiplied(same(size=(4, 4), cin=8, cout=1, kernel=(3, 3)), 3)),
    (f"{OPT}_3x3", plain(same(size=(4, 4), cin=8, cout=1, kernel=(3, 2)))),
    (f"{OPT}_3x3", plain(same(size=(4, 4), cin=8, cout=1, kernel=(2, 3)))),
    (f"{OPT}_3x3_c64_s1", plain(same(size=(4, 4), cin=32, cout=1, kernel=(3, 3)))),
    (f"{OPT}_3x3_c64_s1", plain(same(size=(4, 4), cin=64, cout=1, kernel=(3, 3), stride=(2, 1)))),
    (f"{OPT}_3x3_c64_s1", plain(ConvShape(size=(4, 4), cin=64, cout=1, kernel=(3, 3), padding=(2, 1), output=(5, 4)))),
    (f"{OPT}_planar", plain(same(size=(4, 4), cin=16, cout=1, kernel=(3, 3)))),
    (f"{OPT}_planar", plain(same(size=(4, 4), cin=33, cout=1, kernel=(3, 3)))),
    (f"{OPT}_planar", plain(same(size=(4, 4), cin=8, cout=1, kernel=(3, 3), stride=(1, 2)))),
    (f"{OPT}_planar", plain(same(size=(4, 3), cin=5, cout=1, kernel=(3, 3)))),
    (DSP_3X3, plain(same(size=(4, 4), cin=8, cout=1, kernel=(3, 3), batches=2))),
    (DSP_3X3, plain(same(size=(4, 4), cin=8, cout=1, kernel=(3, 3), dilation=(2, 2)))),
    (DSP_3X3, plain(ConvShape(size=(4, 4), cin=8, cout=1, kernel=(3, 3), padding=(1, 2), output=(4, 5)))),
]  # fmt: skip


@each_target
def test_shapes_outside_the_rule_are_refused(target):
    assert not any(takes(entry, shape) for entry, shape in REJECTED)
    check_rejected(target, [depthwise_case(entry, shape)[0] for entry, shape in REJECTED])


@pytest.mark.parametrize("target", ["host", "m55"])
@BATCH
@given(st.lists(conv_shapes(cin=st.integers(1, 70)), min_size=60, max_size=60))
def test_planar_predicate(target, shapes):
    entry = f"{OPT}_planar_supported"
    shapes = [plain(shape) for shape in shapes]
    cases = [Case(entry, [*conv_params(s), 1], [None] * 6, 4) for s in shapes]
    for case, shape in zip(cases, shapes, strict=True):
        case.params[4], case.params[7] = 1, shape.cin
    got = [int(o.array(np.int32)[0]) for o in run_cases(target, cases)]
    assert got == [int(takes(f"{OPT}_planar", shape)) for shape in shapes]


@pytest.mark.parametrize(("target", "used"), [("host", 0), ("m55", 1)])
def test_buffer_size_of_opt(target, used):
    """The size entry and the compiler's rule agree; without Helium no scratch is used."""
    shapes = [*MODELS, *TAILS, *EDGES]
    cases = [Case("other_buffer_sizes", [*conv_params(s), 1], [None] * 6, 24) for s in shapes]
    for case, shape in zip(cases, shapes, strict=True):
        case.params[4], case.params[7] = 1, shape.cin
    sizes = np.stack([o.array(np.int32) for o in run_cases(target, cases)])
    assert sizes[:, 0].tolist() == [used * scratch_bytes(OPT, window_of(s), s.cin) for s in shapes]
    assert not sizes[:, 3:].any(), "average pooling needs no scratch"


@pytest.mark.parametrize("target", ["host", "m55"])
@pytest.mark.parametrize("with_bias", [True, False])
def test_weight_sums(target, with_bias):
    rng = np.random.default_rng(5)
    cases, expected = [], []
    for kernel, channels, offset in [((3, 3), 20, 128), ((1, 1), 1, -127), ((5, 2), 33, 7)]:
        filters = rng.integers(-128, 128, (1, *kernel, channels)).astype(np.int8)
        bias = rng.integers(-9000, 9000, channels).astype(np.int32) if with_bias else None
        params = [1, 4, 4, channels, *filters.shape, 1, 4, 4, channels, offset]
        cases.append(
            Case("arm_depthwise_convolve_weight_sum", params, [filters, bias], 4 * channels)
        )
        expected.append(reference.depthwise_weight_sums(filters, bias, offset))
    check_cases(target, cases, expected)


MICRO = [
    (GENERAL, (1, 9, 8, 3), (1, 3, 3, 12), {"stride": (2, 1)}),
    (GENERAL, (2, 7, 7, 4), (1, 3, 2, 4), {"dilation": (2, 2)}),
    (OPT, (1, 6, 5, 20), (1, 4, 3, 20), {}),
    (f"{OPT}_3x3", (1, 10, 10, 24), (1, 3, 3, 24), {"stride": (2, 2)}),
    (f"{OPT}_3x3_c64_s1", (1, 5, 6, 64), (1, 3, 3, 64), {}),
    (f"{OPT}_planar", (1, 9, 9, 6), (1, 3, 3, 6), {}),
    (f"{OPT}_channelwise", (1, 15, 1, 40), (1, 4, 1, 40), {"padding": "valid"}),
]


@each_target
def test_against_tensorflow_lite_micro(target):
    runtime = tflite_micro_runtime()
    cases, expected = [], []
    for seed, (entry, size, filter_shape, options) in enumerate(MICRO):
        rng = np.random.default_rng(seed)
        x = rng.integers(-128, 128, size).astype(np.int8)
        filters = rng.integers(-127, 128, filter_shape).astype(np.int8)
        channels = filter_shape[3]
        bias = rng.integers(-4000, 4000, channels).astype(np.int32)
        filter_scale = rng.uniform(0.001, 0.02, channels).astype(np.float32)
        scale_in, zero_in, scale_out, zero_out = 0.0375, -11, 0.11, 7
        builder = ModelBuilder()
        source = builder.tensor(size, scale=scale_in, zero_point=zero_in)
        y = builder.depthwise_conv_2d(
            source,
            filters,
            bias,
            filter_scale=filter_scale,
            scale=scale_out,
            zero_point=zero_out,
            **options,
        )
        interpreter = runtime.Interpreter.from_bytes(builder.build(inputs=[source], outputs=[y]))
        interpreter.set_input(x, 0)
        interpreter.invoke()
        want = interpreter.get_output(0)

        factors = (
            np.float64(np.float32(scale_in))
            * filter_scale.astype(np.float64)
            / np.float64(np.float32(scale_out))
        )
        multiplier, shift = np.array(
            [reference.quantize_multiplier(float(f)) for f in factors], np.int32
        ).T
        shape_of = valid if options.get("padding") == "valid" else same
        shape = shape_of(
            size=size[1:3], cin=size[3], cout=channels, kernel=filter_shape[1:3], batches=size[0],
            stride=options.get("stride", (1, 1)), dilation=options.get("dilation", (1, 1)),
            input_zero_point=zero_in, output_zero_point=zero_out,
        )  # fmt: skip
        params = conv_params(shape)
        params[4], params[7] = 1, channels
        folded = entry != GENERAL
        sums = reference.depthwise_weight_sums(filters, bias, -zero_in)
        scratch = scratch_bytes(entry, window_of(shape), size[3]) if folded else 0
        tensors = [
            x,
            filters,
            None if folded else bias,
            sums if folded else None,
            multiplier,
            shift,
        ]
        cases.append(Case(entry, [*params, channels // size[3]], tensors, want.size, scratch))
        expected.append(want)
    check_cases(target, cases, expected)
