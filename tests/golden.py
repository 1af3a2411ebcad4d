# SPDX-License-Identifier: Apache-2.0
"""Reads the recorded inputs and outputs of the development models."""

from __future__ import annotations

from pathlib import Path

import numpy as np

INT8_LAYERS = (
    "kws_ref_model",
    "vww_96_int8",
    "pretrainedResnet_quant",
    "ad01_int8",
    "str_ww_ref_model",
    "hello_world_int8",
    "micro_speech_quantized",
    "simple_add_model",
)
"""Models of int8 layers, whose calls depend on the core."""

SUPPORTED = (
    *INT8_LAYERS,
    "test_conv_model",
    "trained_lstm_int8",
    "mltk_anomaly_detection",
    "mww_hey_jarvis",
    "call_once_mul",
    "keyword_scrambled_8bit",
    "nnid",
    "single_mul_a16w8",
    "seanet_leaky_relu0",
    "seanet_pad0",
    "seanet_quantize0",
    "seanet_strided_slice15",
    "seanet_sub0",
    "seanet_transpose_conv2",
    "q_single_conv2d_transpose_bias_a8w8",
    "q_single_resize_bilinear_a8w8",
    "q_single_resize_nearest_neighbor_a8w8",
    "q_single_split_a8w8",
    "q_single_tanh_a8w8",
    "q_single_transpose_a8w8",
    "q_two_inputs_concatenation_a8w8",
)
"""Integer models whose operators are all supported; some have float inputs and outputs."""

INT4_WEIGHTS = ("q_conv_fc_mnist_a8w4",)
"""Supported too; the only interpreter that runs it rounds otherwise, so its outputs are recorded one step off."""

FLOAT = (
    "hello_world_float",
    "ad01_fp32",
    "pretrainedResnet",
    "vww_96_float",
    "q_conv_fc_mnist_fp16w",
    "q_conv_fc_mnist_weight_only_wi4_afp32",
    "redux_precision_fp16",
    "trained_lstm",
    "qwen_fc_blockwise_int4",
    "fc_bias_subchannel",
    "mp_face_detection_short_range",
    "mp_hand_recrop",
)
"""Float models whose operators are all supported; compared within ``FLOAT_TOLERANCE``."""
FLOAT_TOLERANCE = 1e-5
"""Of an output's largest magnitude: sums are taken in another order than the recorded one."""
DYNAMIC_RANGE = {"kws_ref_model_float32": 0.02, "q_conv_fc_mnist_dynamic_wi8_afp32": 0.1}
"""Float models with integer weights, and how far the recorded outputs are, of their largest magnitude: the interpreter
that recorded them quantizes activations at run time, which is its error and not ours."""


def float_error(got: np.ndarray, wanted: np.ndarray) -> float:
    """Gives the largest difference of two float outputs, of the largest magnitude that is wanted."""
    wide = wanted.astype(np.float64)
    return float(np.abs(got.astype(np.float64) - wide).max() / np.abs(wide).max())


def golden_samples(
    models_dir: Path, name: str, inputs: int, outputs: int = 1
) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
    """Gives three samples of inputs and outputs.

    TFLite Micro rounds twice, as the kernels do; its outputs are stored where they differ from the others.
    """
    data = np.load(models_dir / f"{name}.golden.npz")

    def output(sample: int, k: int) -> np.ndarray:
        micro = f"tflm_out{sample}_{k}"
        return data[micro if micro in data.files else f"out{sample}_{k}"]

    return [
        ([data[f"in{i}_{k}"] for k in range(inputs)], [output(i, k) for k in range(outputs)])
        for i in range(3)
    ]
