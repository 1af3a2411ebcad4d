# SPDX-License-Identifier: Apache-2.0
"""Float models through the whole compiler, run on the host with the portable kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import reference_flt
from flt_cases import limits_of
from golden import DYNAMIC_RANGE, FLOAT, FLOAT_TOLERANCE, float_error, golden_samples
from host_module import build_module, run_program
from micro_reference import micro_outputs
from tflite_models import ModelBuilder

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import ConfigError, UnsupportedModelError
from helia_aot.frontend.tflite.reader import read_model
from helia_aot.ir.dtypes import DType
from helia_aot.transforms.dequantize import dequantized

HALF_TOLERANCE = 4e-3
"""Of an output's largest magnitude: what half precision costs the models below."""


def converted(path: Path, platform: str = "apollo510_evb", **sections: object) -> Conversion:
    model = {"path": path, "precision": sections.pop("precision", "model")}
    config = {"model": model, "platform": {"name": platform}, **sections}
    return convert(ConvertConfig.model_validate(config))


def errors(
    conversion: Conversion, models_dir: Path, name: str, folder: Path, samples: int
) -> list[float]:
    """Errors of the outputs, of the largest magnitude recorded; inputs as the module wants them."""
    program = build_module(conversion, folder)
    module = conversion.module
    found = []
    recorded = golden_samples(models_dir, name, len(module.inputs), len(module.outputs))
    for inputs, outputs in recorded[:samples]:
        stimulus = [a.astype(t.dtype) for a, t in zip(inputs, module.inputs, strict=True)]
        got = run_program(program, conversion, stimulus)
        found += [float_error(g, w) for g, w in zip(got, outputs, strict=True)]
    print(f"{name}: {max(found):.3g} of the range")  # noqa: T201 - shown by pytest -s
    return found


@pytest.mark.parametrize("name", FLOAT)
def test_outputs_are_close_to_the_golden_ones(name: str, models_dir: Path, tmp_path: Path) -> None:
    conversion = converted(models_dir / f"{name}.tflite")
    samples = 1 if name.startswith(("mp_", "vww_")) else 3
    assert max(errors(conversion, models_dir, name, tmp_path, samples)) < FLOAT_TOLERANCE
    for tensor in (*conversion.module.inputs, *conversion.module.outputs):
        assert (tensor.dtype, tensor.scale, tensor.zero_point) == ("float32", 1.0, 0)


@pytest.mark.parametrize("name", DYNAMIC_RANGE)
def test_dynamic_range_models_compute_in_float(name: str, models_dir: Path, tmp_path: Path) -> None:
    conversion = converted(models_dir / f"{name}.tflite")
    assert max(errors(conversion, models_dir, name, tmp_path, 3)) < DYNAMIC_RANGE[name]


def test_a_dynamic_range_model_equals_its_float_layers(models_dir: Path, tmp_path: Path) -> None:
    path = models_dir / "q_conv_fc_mnist_dynamic_wi8_afp32.tflite"
    tensors = read_model(path).graph.tensors
    weights = {i: dequantized(tensors[i]) for i in ("5", "2", "1")}
    bias = {i: tensors[i].data for i in ("6", "3")}
    any_value, positive = limits_of("f32", "none"), limits_of("f32", "relu")
    conversion = converted(path)
    program = build_module(conversion, tmp_path)
    for (image,), _ in golden_samples(models_dir, path.stem, 1):
        found, _ = reference_flt.patches(image, (3, 3), (1, 1), (1, 1), (1, 1), (28, 28))
        x = reference_flt.products(
            found.reshape(784, 9), weights["5"].reshape(8, 9), bias["6"], suffix="f32", packed=False, limits=positive
        ).reshape(1, 28, 28, 8)  # fmt: skip
        x = x.reshape(1, 14, 2, 14, 2, 8).mean(axis=(2, 4)).reshape(1, -1)
        for w, b, limits in (("2", bias["3"], positive), ("1", None, any_value)):
            x = reference_flt.products(x, weights[w], b, suffix="f32", packed=False, limits=limits)
        (got,) = run_program(program, conversion, [image])
        assert float_error(got, reference_flt.softmax(x)) < FLOAT_TOLERANCE


def test_int4_weights_equal_the_same_weights_in_int8(models_dir: Path, tmp_path: Path) -> None:
    """TFLite Micro takes no int4 convolution, so it gets the same layers with int8 weights."""
    path = models_dir / "q_conv_fc_mnist_a8w4.tflite"
    graph = read_model(path).graph
    tensors = graph.tensors
    conv, _, _, first, second, _ = graph.operators
    assert {tensors[o.inputs[1]].dtype for o in (conv, first, second)} == {DType.INT4}
    builder = ModelBuilder()
    source = tensors[graph.inputs[0]]
    x = builder.tensor(
        source.shape, scale=source.quantization.scale, zero_point=source.quantization.zero_point
    )
    image, y = x, x
    for operator in graph.operators:
        output = tensors[operator.outputs[0]]
        scaled = {"scale": output.quantization.scale, "zero_point": output.quantization.zero_point}
        if operator in (conv, first, second):
            w = tensors[operator.inputs[1]]
            third = operator.inputs[2] if len(operator.inputs) > 2 else None
            bias = tensors[third].data if third else None
            make = builder.conv_2d if operator is conv else builder.fully_connected
            activation = operator.attributes.activation.lower()
            y = make(
                y, w.data, bias, filter_scale=w.quantization.scales, activation=activation, **scaled
            )
        elif operator.op_type == "AVERAGE_POOL_2D":
            y = builder.average_pool_2d(y, kernel=(2, 2), stride=(2, 2))
        elif operator.op_type == "RESHAPE":
            y = builder.reshape(y, output.shape)
        else:
            y = builder.softmax(y)
    model = builder.build(inputs=[image], outputs=[y])
    conversion = converted(path)
    program = build_module(conversion, tmp_path)
    for inputs, _ in golden_samples(models_dir, path.stem, 1):
        (got,) = run_program(program, conversion, inputs)
        np.testing.assert_array_equal(got, micro_outputs(model, inputs[0], outputs=1)[0])


@pytest.mark.parametrize(
    ("name", "accumulation"),
    [
        ("q_conv_fc_mnist_fp16w", "precise"),
        ("pretrainedResnet", "precise"),
        ("vww_96_float", "fast"),
        ("trained_lstm", "precise"),
        ("qwen_fc_blockwise_int4", "precise"),
    ],
)
def test_half_precision_is_close_to_float(
    name: str, accumulation: str, models_dir: Path, tmp_path: Path
) -> None:
    conversion = converted(
        models_dir / f"{name}.tflite",
        precision="float16",
        optimization={"accumulation": accumulation},
    )
    entries = [operator.entry for operator in conversion.module.operators if operator.entry]
    assert all(entry.endswith("_f16") for entry in entries)
    assert {t.dtype for t in (*conversion.module.inputs, *conversion.module.outputs)} == {"float16"}
    assert max(errors(conversion, models_dir, name, tmp_path, 1)) < HALF_TOLERANCE


def half_model(rng: np.random.Generator) -> tuple[bytes, dict[str, np.ndarray]]:
    """A graph of FLOAT16 tensors: a 1x1 convolution with RELU6, ADD of a constant, RELU."""
    arrays = {
        "w": (rng.standard_normal((16, 1, 1, 40)) / 4).astype(np.float16),
        "b": rng.standard_normal(16).astype(np.float16),
        "a": rng.standard_normal((1, 3, 5, 16)).astype(np.float16),
    }
    builder = ModelBuilder()
    x = builder.tensor((1, 3, 5, 40), dtype="float16", name="x")
    weights, bias, added = (builder.constant(arrays[name]) for name in "wba")
    conv, total, y = (builder.tensor((1, 3, 5, 16), dtype="float16", name=n) for n in "cty")
    options = {
        "Padding": 0, "StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1,
        "FusedActivationFunction": 3,
    }  # fmt: skip
    builder.operator("CONV_2D", [x, weights, bias], [conv], ("Conv2DOptions", options))
    builder.operator("ADD", [conv, added], [total], ("AddOptions", {}))
    builder.operator("RELU", [total], [y])
    return builder.build(inputs=[x], outputs=[y]), arrays


@pytest.mark.parametrize("accumulation", ["precise", "fast"])
def test_a_graph_of_float16_tensors_is_computed_in_the_documented_order(
    accumulation: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(7)
    model, arrays = half_model(rng)
    path = tmp_path / "half.tflite"
    path.write_bytes(model)
    conversion = converted(path, optimization={"accumulation": accumulation})
    knob = conversion.plan.operators[0].knobs["accumulation"]
    assert (knob.value, knob.approximate) == (accumulation, accumulation == "fast")
    x = rng.standard_normal((1, 3, 5, 40)).astype(np.float16)
    (got,) = run_program(build_module(conversion, tmp_path), conversion, [x])
    conv = reference_flt.products(
        x.reshape(15, 40), arrays["w"].reshape(16, 40), arrays["b"], suffix="f16",
        packed=accumulation == "fast", limits=limits_of("f16", "relu6"),
    )  # fmt: skip
    wanted = np.maximum(conv.reshape(1, 3, 5, 16) + arrays["a"], np.float16(0))
    np.testing.assert_array_equal(got, wanted)


def test_float16_needs_a_core_that_has_it(tmp_path: Path) -> None:
    path = tmp_path / "half.tflite"
    path.write_bytes(half_model(np.random.default_rng(7))[0])
    with pytest.raises(UnsupportedModelError, match="operator 0 CONV_2D: computes in float16"):
        converted(path, "apollo4p_evb")
    with pytest.raises(ConfigError, match="does not compute in FP16"):
        converted(path, "apollo4p_evb", precision="float16")
