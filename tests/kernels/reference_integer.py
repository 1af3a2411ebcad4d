# SPDX-License-Identifier: Apache-2.0
"""Integer operators in numpy with wide integers, beside the int8 layers of ``reference.py``: the oracle of their tests."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import reference

KERNELS = Path(__file__).parents[2] / "helia_aot" / "kernels"


def limits(dtype) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def scaled(x, multiplier: int, shift: int) -> np.ndarray:
    wide = reference.wrap_int32(np.asarray(x, np.int64))
    return reference.multiply_by_quantized_multiplier(wide, np.int64(multiplier), np.int64(shift))


def scaled_s64(x, multiplier, shift) -> np.ndarray:
    """TFLite's 64-bit form: a multiplier of 16 bits, one rounding, halves up."""
    x, multiplier, shift = np.broadcast_arrays(np.asarray(x, np.int64), multiplier, shift)
    out = np.empty(x.shape, np.int64)
    for index in np.ndindex(x.shape):
        m = int(multiplier[index])
        reduced = (m + (1 << 15)) >> 16 if m < 0x7FFF0000 else 0x7FFF
        right = 15 - int(shift[index])
        out[index] = (int(x[index]) * reduced + (1 << (right - 1))) >> right
    return out


def combine(a, b, sign: int, params, left_shift: int) -> np.ndarray:
    """ADD (sign 1) and SUB (-1); ``params`` as the entries take them."""
    off1, m1, s1, off2, m2, s2, _, off, m, s, low, high = params
    one = scaled((a.astype(np.int64) + off1) << left_shift, m1, s1)
    two = scaled((b.astype(np.int64) + off2) << left_shift, m2, s2)
    return np.clip(scaled(one + sign * two, m, s) + off, low, high).astype(a.dtype)


def multiply(a, b, params) -> np.ndarray:
    off1, off2, off, m, s, low, high = params
    product = (a.astype(np.int64) + off1) * (b.astype(np.int64) + off2)
    return np.clip(scaled(product, m, s) + off, low, high).astype(a.dtype)


def prelu(x, alpha, params) -> np.ndarray:
    off, alpha_off, out_off, m1, s1, m2, s2 = params
    value = x.astype(np.int64) + off
    bent = scaled(value * (alpha.astype(np.int64) + alpha_off), m2, s2)
    out = np.where(value >= 0, scaled(value, m1, s1), bent) + out_off
    return np.clip(out, *limits(x.dtype)).astype(x.dtype)


def leaky_relu(x, params) -> np.ndarray:
    off, out_off, alpha, alpha_shift, m, s = params
    value = x.astype(np.int64) - off
    bent = np.sign(alpha) * scaled(value, abs(alpha), alpha_shift)
    return np.clip(
        np.where(value >= 0, scaled(value, m, s), bent) + out_off, *limits(x.dtype)
    ).astype(x.dtype)


def samples() -> list[int]:
    text = (KERNELS / "src" / "support_sigmoid_s16.h").read_text()
    body = re.search(r"SAMPLES\] = \{([^}]*)\}", text)[1]
    return [int(number) for number in body.split(",")]


def sigmoid(x, multiplier: int, shift: int, kind: str) -> np.ndarray:
    """Interpolates between the samples with Python integers, for the magnitude; the other half is its mirror image."""
    table, bits = samples(), 9 if kind == "logistic" else 8
    out = []
    for number in x.reshape(-1).tolist():
        half = (1 << shift) >> 1
        value = number * (3 << shift) if multiplier == 0 else (number * multiplier + half) >> shift
        whole, fraction = divmod(abs(value), 1 << bits)
        if whole >= 255:
            y = (0x7FFF << 10) if kind == "logistic" else (0xFFFF << 8)
        else:
            y = table[whole] * (1 << bits) + fraction * (table[whole + 1] - table[whole])
        if kind == "logistic":
            out.append((y + 512 if value >= 0 else (1 << 25) - y + 511) >> 10)
        else:
            out.append((y - (1 << 23) + 128 if value >= 0 else (1 << 23) - y + 127) >> 8)
    return np.array(out, np.int16).reshape(x.shape)


def softmax_s16(x, multiplier: int, shift: int, exponentials, reciprocals) -> np.ndarray:
    def look_up(table, value: int) -> int:
        index, fraction = divmod(value, 128)
        low, high = int(table[index + 256]), int(table[index + 257])
        return low + (((high - low) * fraction + 64) >> 7)

    rows = []
    for row in x.tolist():
        exps = []
        for value in row:
            difference = int(scaled(np.int64(value - max(row)), multiplier, shift)) + 32767
            exps.append(look_up(exponentials, max(-32768, min(32767, difference))))
        total = sum(exps)
        bits = total.bit_length()
        position = ((total << (31 - bits)) + (1 << 13)) >> 14
        reciprocal = look_up(reciprocals, max(-32768, min(32767, position - (1 << 15) - (1 << 16))))
        half = 1 << (bits - 2)
        rows.append([max(0, min(32767, (e * reciprocal + half) >> (bits - 1))) for e in exps])
    return np.array(rows, np.int16)


def quantize(x, scale: float, zero_point: int, dtype) -> np.ndarray:
    """Rounds the 32-bit quotient half away from zero, with wide floats from there on."""
    low, high = limits(dtype)
    with np.errstate(over="ignore"):
        steps = (x / np.float32(scale)).astype(np.float64)
    steps = np.where(np.isnan(steps), 0.0, np.clip(steps, -1e6, 1e6))
    rounded = np.sign(steps) * np.floor(np.abs(steps) + 0.5)
    return np.clip(rounded + zero_point, low, high).astype(dtype)


def convolve_s16(x, filters, bias, *, stride, padding, dilation, output, multiplier, shift, activation):  # fmt: skip
    """Grouped convolution; pairs are (height, width)."""
    c_out, kh, kw, c_in = filters.shape
    groups = x.shape[3] // c_in
    patches = reference.padded_patches(
        x.astype(np.int64), (kh, kw), stride, padding, dilation, output, 0
    )
    per_group = c_out // groups
    parts = [
        np.einsum(
            "nyxhwc,ohwc->nyxo",
            patches[..., g * c_in : (g + 1) * c_in],
            filters[g * per_group : (g + 1) * per_group].astype(np.int64),
        )
        for g in range(groups)
    ]
    acc = np.concatenate(parts, axis=-1) + (0 if bias is None else bias.astype(np.int64))
    narrow = bias is not None and bias.dtype == np.int32
    out = (
        reference.multiply_by_quantized_multiplier(reference.wrap_int32(acc), multiplier, shift)
        if narrow
        else scaled_s64(acc, multiplier, shift)
    )
    return np.clip(out, *activation).astype(np.int16)


def transpose_conv(x, filters, bias, *, input_offset, stride, padding, output) -> np.ndarray:
    """Accumulators of a transpose convolution, scattered from the inputs."""
    c_out, kh, kw, _ = filters.shape
    acc = np.zeros((x.shape[0], *output, c_out), np.int64)
    for y, col, ky, kx in np.ndindex(x.shape[1], x.shape[2], kh, kw):
        oy, ox = y * stride[0] - padding[0] + ky, col * stride[1] - padding[1] + kx
        if 0 <= oy < output[0] and 0 <= ox < output[1]:
            pixel = x[:, y, col].astype(np.int64) + input_offset
            acc[:, oy, ox] += pixel @ filters[:, ky, kx].astype(np.int64).T
    return acc + (0 if bias is None else bias.astype(np.int64))


def pool_s16(x, kernel, stride, padding, output, kind: str) -> np.ndarray:
    fill = -(1 << 40)
    patches = reference.padded_patches(
        x.astype(np.int64), kernel, stride, padding, (1, 1), output, fill
    )
    inside = patches != fill
    if kind == "max":
        return patches.max(axis=(3, 4)).astype(np.int16)
    total, count = np.where(inside, patches, 0).sum(axis=(3, 4)), inside.sum(axis=(3, 4))
    half = np.where(total > 0, count // 2, -(count // 2))
    quotient = np.abs(total + half) // count
    return (np.sign(total + half) * quotient).astype(np.int16)


def bilinear(x, rows, columns) -> np.ndarray:
    y0, y1, dy = rows.reshape(-1, 3).astype(np.int64).T
    x0, x1, dx = columns.reshape(-1, 3).astype(np.int64).T
    wide = x.astype(np.int64)
    dy, dx = dy[:, None, None], dx[None, :, None]

    def at(r, c):
        return wide[:, r][:, :, c]

    total = (
        at(y0, x0) * (1024 - dy) * (1024 - dx)
        + at(y1, x0) * dy * (1024 - dx)
        + at(y0, x1) * (1024 - dy) * dx
        + at(y1, x1) * dy * dx
    )
    return (np.sign(total) * ((np.abs(total) + (1 << 19)) >> 20)).astype(np.int8)


def svdf(x, feature_weights, time_weights, bias, state, params) -> tuple[np.ndarray, np.ndarray]:
    """Gives output and state after one step; ``params`` as the driver takes them."""
    batches, _, units, rank, memory, in_off, state_off, out_off, fm, fs, om, os, low, high = params
    moved = np.roll(state.reshape(-1), -1).reshape(batches, units * rank, memory).astype(np.int64)
    seen = (x.astype(np.int64) + in_off) @ feature_weights.astype(np.int64).T
    moved[:, :, -1] = np.clip(scaled(seen, fm, fs), *limits(state.dtype)) - state_off
    after = moved.astype(state.dtype)
    products = ((after.astype(np.int64) + state_off) * time_weights.astype(np.int64)).sum(axis=2)
    total = products.reshape(batches, units, rank).sum(axis=2) + bias.astype(np.int64)
    return np.clip(scaled(total, om, os) + out_off, low, high).astype(np.int8), after


def factor(real: float) -> tuple[int, int]:
    return reference.quantize_multiplier(real)


def float_bits(value: float) -> int:
    return int(np.float32(value).view(np.int32))


def sigmoid_is_near(kind: str) -> float:
    """The largest distance of the interpolation from the real function, in units of the output, over all inputs."""
    x = np.arange(-32768, 32768, 7, dtype=np.int16)
    got = sigmoid(x, 0, 0, kind).astype(float) / 32768
    real = x / 4096
    wanted = 1 / (1 + np.exp(-real)) if kind == "logistic" else np.tanh(real)
    return float(np.abs(got - wanted).max() * 32768)
