# SPDX-License-Identifier: Apache-2.0
"""Int8 poolings in numpy: the oracle of the pooling tests. The padding takes no part in either pooling."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np


def _windows(x, kernel, stride, padding, output):
    """Yields (output row, output column, window [N, h, w, C]) with the positions inside the input."""
    height, width = x.shape[1:3]
    for oy in range(output[0]):
        top = oy * stride[0] - padding[0]
        rows = slice(max(top, 0), min(top + kernel[0], height))
        for ox in range(output[1]):
            left = ox * stride[1] - padding[1]
            yield oy, ox, x[:, rows, max(left, 0) : min(left + kernel[1], width)]


def _half_away_from_zero(value: Fraction) -> int:
    magnitude = floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


def pool_s8(kind, x, *, kernel, stride, padding, output, activation) -> np.ndarray:
    """Pools ``x`` [N, H, W, C]; ``kind`` is "average" or "max", pairs are (height, width)."""
    result = np.zeros((x.shape[0], *output, x.shape[3]), np.int64)
    for oy, ox, window in _windows(x.astype(np.int64), kernel, stride, padding, output):
        if kind == "max":
            result[:, oy, ox] = window.max(axis=(1, 2))
            continue
        count = window.shape[1] * window.shape[2]
        sums = window.sum(axis=(1, 2))
        means = [_half_away_from_zero(Fraction(int(s), count)) for s in sums.reshape(-1)]
        result[:, oy, ox] = np.array(means).reshape(sums.shape)
    return np.clip(result, *activation).astype(np.int8)
