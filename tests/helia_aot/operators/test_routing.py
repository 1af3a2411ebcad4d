# SPDX-License-Identifier: Apache-2.0
"""Which kernel entry a layer calls, on which core, for which value of the ``kernel`` knob."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helia_aot.errors import UnsupportedModelError
from helia_aot.ir.attributes import ConvolutionAttributes
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Quantization, Tensor
from helia_aot.operators.cmsis_nn import cmsis_nn_reasons, to_cmsis_nn
from helia_aot.operators.registry import DIRECT_ENTRIES, FAMILIES, check_supported
from helia_aot.operators.spec import KnobDomain, Target
from helia_aot.transforms.depthwise_to_convolution import depthwise_to_convolution

MVE = Target(mve=True, dsp=True)
DSP = Target(mve=False, dsp=True)
SCALAR = Target(mve=False, dsp=False)
QUANT = Quantization((0.1,), (3,))


def layer(
    op_type: str,
    shape: tuple[int, int, int, int],
    kernel: tuple[int, int],
    channels: int,
    *,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
) -> Graph:
    """Makes a graph of one convolution or depthwise convolution."""
    depthwise = op_type == "DEPTHWISE_CONV_2D"
    filters = (1, *kernel, channels) if depthwise else (channels, *kernel, shape[3])
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    out = [
        -(-size // step) if padding == "SAME" else (size - reach + step) // step
        for size, reach, step in zip(shape[1:3], extent, stride, strict=True)
    ]
    attributes = ConvolutionAttributes(
        padding, *stride, *dilation, "NONE", channels // shape[3] if depthwise else 1
    )  # type: ignore[arg-type]
    tensors = {
        "0": Tensor("0", "x", shape, DType.INT8, QUANT),
        "1": Tensor(
            "1", "w", filters, DType.INT8, Quantization((0.02,), (0,)),
            np.ones(filters, dtype=np.int8),
        ),
        "2": Tensor("2", "y", (shape[0], *out, channels), DType.INT8, QUANT),
    }  # fmt: skip
    operator = Operator("0", op_type, ("0", "1"), ("2",), attributes)
    return Graph(0, tensors, (operator,), ("0",), ("2",))


def domain(graph: Graph, target: Target) -> KnobDomain:
    check_supported(graph, "test")
    operator = graph.operators[0]
    return FAMILIES[operator.op_type].domains(graph, operator, target)["kernel"]


CONVOLUTIONS = [
    # shape, kernel, channels, options -> specialized, generic on MVE
    (((1, 8, 8, 16), (1, 1), 8, {}), "1x1_s8_fast", "1x1_s8_fast"),
    (((1, 8, 8, 16), (1, 1), 8, {"stride": (2, 2)}), "1x1_s8", "1x1_s8"),
    (((1, 1, 30, 4), (1, 3), 8, {}), "1_x_n_s8", "1_x_n_s8"),
    (((1, 1, 30, 3), (1, 3), 8, {}), "s8_small_cin", "s8"),
    (((1, 4, 4, 8), (4, 4), 8, {"padding": "VALID"}), "1x1_out_s8", "1x1_out_s8"),
    (((1, 9, 9, 1), (3, 3), 8, {}), "s8_small_cin", "s8"),
    (((1, 9, 9, 3), (3, 3), 8, {}), "s8_small_cin", "s8"),
    (((1, 49, 10, 1), (10, 4), 64, {"stride": (2, 2)}), "s8_small_cin", "s8"),
    (((1, 9, 9, 3), (3, 3), 6, {}), "s8", "s8"),
    (((1, 9, 9, 3), (3, 3), 8, {"dilation": (2, 2)}), "s8", "s8"),
    (((1, 9, 9, 4), (3, 3), 8, {}), "s8", "s8"),
    (((1, 9, 9, 3), (5, 5), 8, {}), "s8", "s8"),
    (((1, 9, 9, 16), (3, 3), 7, {}), "s8_3x3_c16_s1", "s8"),
    (((1, 9, 9, 16), (3, 3), 7, {"stride": (2, 1)}), "s8", "s8"),
    (((1, 9, 9, 16), (3, 3), 7, {"dilation": (1, 2)}), "s8", "s8"),
]


@pytest.mark.parametrize(("shape", "specialized", "generic"), CONVOLUTIONS)
def test_convolutions_on_mve(shape: tuple, specialized: str, generic: str) -> None:
    *sizes, options = shape
    got = domain(layer("CONV_2D", *sizes, **options), MVE)
    assert got.entries == {
        "specialized": f"arm_convolve_{specialized}",
        "generic": f"arm_convolve_{generic}",
    }
    assert got.applicable == (specialized != generic)
    assert bool(got.reason) != got.applicable


DEPTHWISE = [
    (((1, 25, 5, 64), (3, 3), 64, {}), "s8_opt_3x3_c64_s1", "s8_opt"),
    (((1, 25, 5, 64), (3, 3), 64, {"stride": (2, 2)}), "s8_opt_3x3", "s8_opt"),
    (((1, 25, 5, 32), (3, 3), 32, {}), "s8_opt_3x3", "s8_opt"),
    (((1, 48, 48, 8), (3, 3), 8, {}), "s8_opt_planar", "s8_opt"),
    (((1, 48, 48, 8), (3, 3), 8, {"stride": (2, 2)}), "s8_opt_3x3", "s8_opt"),
    (((1, 16, 16, 20), (3, 3), 20, {}), "s8_opt_planar", "s8_opt"),
    (((1, 8, 8, 20), (3, 3), 20, {}), "s8_opt_3x3", "s8_opt"),
    (((1, 32, 1, 40), (5, 1), 40, {}), "s8_opt_planar", "s8_opt"),
    (((1, 9, 1, 60), (9, 1), 60, {"padding": "VALID"}), "s8_opt_channelwise", "s8_opt"),
    (((1, 7, 1, 8), (5, 1), 8, {"padding": "VALID"}), "s8_opt_channelwise", "s8_opt"),
    (((1, 9, 9, 16), (5, 5), 16, {}), "s8_opt_channelwise", "s8_opt"),
    (((1, 9, 9, 7), (3, 3), 14, {}), "s8", "s8"),
    (((2, 9, 9, 16), (3, 3), 16, {}), "s8", "s8"),
    (((1, 9, 9, 16), (3, 3), 16, {"dilation": (2, 2)}), "s8", "s8"),
    (((1, 1, 30, 16), (1, 3), 16, {"dilation": (1, 2)}), "s8_opt_channelwise", "s8_opt"),
]


@pytest.mark.parametrize(("shape", "specialized", "generic"), DEPTHWISE)
def test_depthwise_on_mve(shape: tuple, specialized: str, generic: str) -> None:
    *sizes, options = shape
    got = domain(layer("DEPTHWISE_CONV_2D", *sizes, **options), MVE)
    assert got.entries == {
        "specialized": f"arm_depthwise_conv_{specialized}",
        "generic": f"arm_depthwise_conv_{generic}",
    }
    assert got.applicable == (specialized != generic)


@pytest.mark.parametrize("options", [{"stride": (0, 1)}, {"dilation": (1, -1)}])
def test_impossible_steps_are_refused(options: dict) -> None:
    good = layer("CONV_2D", (1, 9, 9, 4), (3, 3), 8)
    broken = dataclasses.replace(
        good.operators[0].attributes,
        **{
            f"{name}_{axis}": v
            for name, pair in options.items()
            for axis, v in zip("hw", pair, strict=True)
        },
    )
    operator = dataclasses.replace(good.operators[0], attributes=broken)
    with pytest.raises(UnsupportedModelError, match="must be at least 1"):
        check_supported(good.replace(operators=(operator,)), "test")


def test_a_depthwise_layer_over_one_channel_runs_as_a_convolution() -> None:
    kept = layer("DEPTHWISE_CONV_2D", (1, 49, 40, 1), (10, 8), 8)
    assert domain(kept, MVE).entries["generic"] == "arm_depthwise_conv_s8"
    assert domain(depthwise_to_convolution(kept), MVE).entries["generic"] == "arm_convolve_s8"
    small = depthwise_to_convolution(layer("DEPTHWISE_CONV_2D", (1, 9, 9, 1), (3, 3), 8))
    assert domain(small, MVE).entries["specialized"] == "arm_convolve_s8_small_cin"
    operator = small.operators[0]
    lowered = FAMILIES[operator.op_type].lower(small, operator, {"kernel": "specialized"}, MVE)
    assert lowered.constants[0].data.shape == (8, 3, 3, 1)


@pytest.mark.parametrize("target", [DSP, SCALAR])
@pytest.mark.parametrize("shape", [row[0] for row in CONVOLUTIONS])
def test_other_cores_never_call_direct_entries(shape: tuple, target: Target) -> None:
    *sizes, options = shape
    got = domain(layer("CONV_2D", *sizes, **options), target)
    assert not got.applicable
    assert got.entries["specialized"] == got.entries["generic"]
    assert got.entries["generic"] not in DIRECT_ENTRIES


def test_the_dsp_extension_has_its_own_3x3_kernel() -> None:
    graph = layer("DEPTHWISE_CONV_2D", (1, 25, 5, 64), (3, 3), 64)
    assert domain(graph, DSP).entries["generic"] == "arm_depthwise_conv_3x3_s8"
    assert domain(graph, SCALAR).entries["generic"] == "arm_depthwise_conv_s8"


def test_sums_are_folded_for_vector_kernels_only() -> None:
    graph = layer("CONV_2D", (1, 9, 9, 4), (3, 3), 8)
    operator = graph.operators[0]
    family = FAMILIES[operator.op_type]
    vector = family.lower(graph, operator, {"kernel": "generic"}, MVE)
    scalar = family.lower(graph, operator, {"kernel": "generic"}, DSP)
    sums = {c.id: c.data for c in vector.constants}["conv_2d_0_weight_sum"]
    np.testing.assert_array_equal(sums, np.full(8, -3 * 36, dtype=np.int32))
    assert not [c for c in scalar.constants if c.id.endswith("_weight_sum")]


def test_scratch_of_the_published_examples() -> None:
    """Figures of two published residency reports: 27 taps take 128 bytes, 144 take 576."""
    for channels, expected in ((3, 128), (16, 576)):
        graph = layer("CONV_2D", (1, 9, 9, channels), (3, 3), 6)
        operator = graph.operators[0]
        lowered = FAMILIES["CONV_2D"].lower(graph, operator, {"kernel": "generic"}, MVE)
        assert lowered.scratch_bytes == expected


# Sizes by the formulas of CMSIS-NN 7.0.0: the vector form for MVE, then that of cores with DSP, then the plain one.
CMSIS_NN_BUFFERS = [
    ("CONV_2D", (1, 8, 8, 3), (3, 3), 8, "arm_convolve_wrapper_s8", (128, 112, 112)),
    ("CONV_2D", (1, 8, 8, 5), (1, 1), 8, "arm_convolve_wrapper_s8", (0, 20, 0)),
    ("DEPTHWISE_CONV_2D", (1, 8, 8, 5), (3, 3), 5, "arm_depthwise_conv_wrapper_s8", (4464, 0, 0)),
    ("DEPTHWISE_CONV_2D", (1, 8, 8, 5), (5, 3), 5, "arm_depthwise_conv_wrapper_s8", (7440, 150, 0)),
    ("DEPTHWISE_CONV_2D", (1, 8, 8, 1), (3, 3), 16, "arm_depthwise_conv_wrapper_s8", (208, 0, 0)),
    ("DEPTHWISE_CONV_2D", (1, 8, 8, 2), (3, 3), 4, "arm_depthwise_conv_wrapper_s8", (0, 0, 0)),
]


@pytest.mark.parametrize(
    ("op_type", "shape", "kernel", "channels", "entry", "sizes"), CMSIS_NN_BUFFERS
)
@pytest.mark.parametrize("target", [MVE, DSP, SCALAR])
def test_buffers_of_cmsis_nn_are_reserved_and_checked(
    op_type, shape, kernel, channels, entry, sizes, target
):
    graph = layer(op_type, shape, kernel, channels)
    target = dataclasses.replace(target, dialect="cmsis-nn")
    operator = graph.operators[0]
    family = FAMILIES[op_type]
    assert not family.domains(graph, operator, target)["kernel"].applicable
    low = family.lower(graph, operator, {"kernel": "specialized"}, target)
    assert cmsis_nn_reasons(low) == []
    low = to_cmsis_nn(low, target)
    assert low.call.entry == entry
    assert "weight_sum_ctx" not in [argument.name for argument in low.call.arguments]
    size_bytes = sizes[0 if target.mve else 1 if target.dsp else 2]
    assert low.scratch_bytes == low.buffer_check.size_bytes == size_bytes
    assert low.buffer_check.query.entry == f"{entry}_get_buffer_size"


@pytest.mark.parametrize(("target", "size_bytes"), [(MVE, 256), (DSP, 108)])
def test_int16_layers_of_cmsis_nn_go_through_its_wrappers(target, size_bytes):
    graph = layer("CONV_2D", (1, 8, 8, 3), (3, 3), 8)
    quantization = Quantization((0.1,), (0,))
    tensors = {
        key: t
        if key == "1"
        else dataclasses.replace(t, dtype=DType.INT16, quantization=quantization)
        for key, t in graph.tensors.items()
    }
    graph = dataclasses.replace(graph, tensors=tensors)
    target = dataclasses.replace(target, dialect="cmsis-nn")
    low = FAMILIES["CONV_2D"].lower(graph, graph.operators[0], {}, target)
    assert cmsis_nn_reasons(low) == []
    low = to_cmsis_nn(low, target)
    assert low.call.entry == "arm_convolve_wrapper_s16"
    assert low.scratch_bytes == size_bytes
