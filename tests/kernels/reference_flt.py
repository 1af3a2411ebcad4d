# SPDX-License-Identifier: Apache-2.0
"""Floating-point operators in numpy: the oracle of the float kernel tests, written from the definitions alone.

Float32 operators are computed in double precision, for comparison within a tolerance. Float16 products are computed step by
step in the orders that ``arm_nnfunctions_flt.h`` promises, for comparison bit by bit.
"""

from __future__ import annotations

import numpy as np

PACKED_BLOCK = {"f32": 4, "f16": 8}


def pack_nt_n(weights: np.ndarray, block: int) -> np.ndarray:
    """``[N, K]`` to the packed layout: element (n, k) at ``(n // B) * K * B + k * B + n % B``, zeros at the end."""
    n, k = weights.shape
    packed = np.zeros(-(-n // block) * k * block, weights.dtype)
    for row in range(n):
        for column in range(k):
            packed[(row // block) * k * block + column * block + row % block] = weights[row, column]
    return packed


def half_fma(total: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Half-precision fused multiply-add: the product of halves is exact in double precision."""
    wide = a.astype(np.float64) * b.astype(np.float64) + total.astype(np.float64)
    return wide.astype(np.float16)


def half_chain(x: np.ndarray, w: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """One chain for each output, from the bias on: ``x`` [R, K], ``w`` [N, K], result [R, N]."""
    total = np.broadcast_to(bias.astype(np.float16), (x.shape[0], w.shape[0]))
    for k in range(x.shape[1]):
        total = half_fma(total, x[:, k : k + 1], w[:, k][None, :])
    return total


def half_blockwise(x: np.ndarray, w: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Eight half sums for 32 products, folded into four single-precision sums; the result is single precision."""
    rows, depth = x.shape
    sums = np.zeros((4, rows, w.shape[0]), np.float32)
    for start in range(0, depth, 32):
        halves = np.zeros((8, rows, w.shape[0]), np.float16)
        for k in range(start, min(start + 32, depth)):
            halves[k % 8] = half_fma(halves[k % 8], x[:, k : k + 1], w[:, k][None, :])
        wide = halves.astype(np.float32)
        for i in range(4):
            sums[i] = sums[i] + wide[2 * i]
            sums[i] = sums[i] + wide[2 * i + 1]
    return (sums[0] + sums[1]) + (sums[2] + sums[3]) + bias.astype(np.float32)


def products(x, w, bias, *, suffix: str, packed: bool, limits) -> np.ndarray:
    """The matrix product of an entry: rows ``x`` [R, K] by ``w`` [N, K]."""
    bias = np.zeros(w.shape[0], x.dtype) if bias is None else bias
    if suffix == "f32":
        wide = x.astype(np.float64) @ w.astype(np.float64).T + bias.astype(np.float64)
        return np.clip(wide, *limits)
    total = (half_chain if packed else half_blockwise)(x, w, bias)
    return np.clip(total.astype(np.float32), *np.float32(limits)).astype(np.float16)


def patches(x, kernel, stride, padding, dilation, output) -> np.ndarray:
    """Gives patches [N, OH, OW, KH, KW, C] and the mask of taps inside; positions outside are zero."""
    n, h, w, c = x.shape
    found = np.zeros((n, *output, *kernel, c), x.dtype)
    inside = np.zeros((*output, *kernel), bool)
    for oy in range(output[0]):
        for ox in range(output[1]):
            for ky in range(kernel[0]):
                for kx in range(kernel[1]):
                    y = oy * stride[0] - padding[0] + ky * dilation[0]
                    col = ox * stride[1] - padding[1] + kx * dilation[1]
                    if 0 <= y < h and 0 <= col < w:
                        found[:, oy, ox, ky, kx] = x[:, y, col]
                        inside[oy, ox, ky, kx] = True
    return found, inside


def depthwise(x, filters, bias, *, suffix, ch_mult, stride, padding, dilation, output, limits):
    """Depthwise convolution; ``filters`` [1, KH, KW, CI * ch_mult]; f16 in one chain over the taps inside,
    column after column."""
    _, kh, kw, co = filters.shape
    found, inside = patches(x, (kh, kw), stride, padding, dilation, output)
    spread = np.repeat(found, ch_mult, axis=-1)
    bias = np.zeros(co, x.dtype) if bias is None else bias
    if suffix == "f32":
        wide = np.einsum(
            "nyxhwc,hwc->nyxc", spread.astype(np.float64), filters[0].astype(np.float64)
        )
        return np.clip(wide + bias.astype(np.float64), *limits)
    total = np.broadcast_to(bias, (x.shape[0], *output, co))
    for kx in range(kw):
        for ky in range(kh):
            step = half_fma(total, spread[:, :, :, ky, kx], filters[0, ky, kx])
            total = np.where(inside[None, :, :, ky, kx, None], step, total)
    return np.clip(total.astype(np.float32), *np.float32(limits)).astype(np.float16)


def pool(x, *, average: bool, kernel, stride, padding, output, limits) -> np.ndarray:
    """Average or maximum over the part of each window that is inside."""
    found, inside = patches(x.astype(np.float64), kernel, stride, padding, (1, 1), output)
    if average:
        value = found.sum(axis=(3, 4)) / inside.sum(axis=(2, 3))[None, :, :, None]
    else:
        masked = np.where(inside[None, ..., None], found, -np.inf)
        value = masked.max(axis=(3, 4))
    return np.clip(value, *limits)


def softmax(x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
