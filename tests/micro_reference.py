# SPDX-License-Identifier: Apache-2.0
"""Runs a model in TFLite Micro, the reference of the integer operators."""

from __future__ import annotations

import numpy as np
from required import tflite_micro_runtime


def micro_outputs(model: bytes, image: np.ndarray, outputs: int = 2) -> list[np.ndarray]:
    """Gives the first outputs of a model with one input; skips where TFLite Micro's package does not exist."""
    runtime = tflite_micro_runtime()

    interpreter = runtime.Interpreter.from_bytes(model)
    interpreter.set_input(image, 0)
    interpreter.invoke()
    return [interpreter.get_output(i) for i in range(outputs)]
