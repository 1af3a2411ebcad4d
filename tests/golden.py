# SPDX-License-Identifier: Apache-2.0
"""Reads the recorded inputs and outputs of the development models."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SUPPORTED = (
    "kws_ref_model",
    "vww_96_int8",
    "pretrainedResnet_quant",
    "ad01_int8",
    "str_ww_ref_model",
    "hello_world_int8",
    "micro_speech_quantized",
    "simple_add_model",
)
"""Models whose operators are all supported."""


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
