# SPDX-License-Identifier: Apache-2.0
"""Cases of the float kernels: shapes to calls and expected outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import reference_flt as reference
from harness import Case

DTYPE = {"f32": np.float32, "f16": np.float16}
WIDEST = {"f32": 3.4028234663852886e38, "f16": 65504.0}


def bits(*numbers: float) -> list[int]:
    """Floats as the driver reads them from its list of int32."""
    return np.array(numbers, np.float32).view(np.int32).tolist()


def limits_of(suffix: str, activation: str) -> tuple[float, float]:
    widest = WIDEST[suffix]
    return {"none": (-widest, widest), "relu": (0.0, widest), "relu6": (0.0, 6.0)}[activation]


@dataclass(frozen=True)
class Conv:
    """A convolution layer; pairs are (height, width), padding that of the top and the left."""

    size: tuple[int, int]
    cin: int
    cout: int
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    batches: int = 1
    bias: bool = True
    activation: str = "none"
    groups: int = 1

    @property
    def output(self) -> tuple[int, int]:
        extents = zip(self.size, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return tuple((i + 2 * p - (k - 1) * d - 1) // s + 1 for i, k, s, p, d in extents)


def values(rng: np.random.Generator, shape, suffix: str, scale: float = 1.0) -> np.ndarray:
    return (rng.standard_normal(shape) * scale).astype(DTYPE[suffix])


def _pairs(layer: Conv) -> list[int]:
    return [*layer.stride[::-1], *layer.padding[::-1], *layer.dilation[::-1]]


def conv_case(entry: str, suffix: str, layer: Conv, *, packed: bool, seed: int = 0):
    """A call of ``<entry>_<suffix>`` and its expected output."""
    rng = np.random.default_rng(seed)
    x = values(rng, (layer.batches, *layer.size, layer.cin), suffix)
    cin = layer.cin // layer.groups
    depth = layer.kernel[0] * layer.kernel[1] * cin
    filters = values(rng, (layer.cout, *layer.kernel, cin), suffix, depth**-0.5)
    bias = values(rng, (layer.cout,), suffix) if layer.bias else None
    limits = limits_of(suffix, layer.activation)
    found, _ = reference.patches(
        x, layer.kernel, layer.stride, layer.padding, layer.dilation, layer.output
    )
    rows = filters.reshape(layer.cout, depth)
    biases = [None] * layer.groups if bias is None else np.split(bias, layer.groups)
    parts = zip(
        np.split(found, layer.groups, axis=-1), np.split(rows, layer.groups), biases, strict=True
    )
    want = np.concatenate(
        [
            reference.products(
                part.reshape(-1, depth), own, start, suffix=suffix, packed=packed, limits=limits
            )
            for part, own, start in parts
        ],
        axis=-1,
    )
    params = [
        *x.shape, *filters.shape, layer.batches, *layer.output, layer.cout, *_pairs(layer), *bits(*limits), int(packed),
    ]  # fmt: skip
    weights = reference.pack_nt_n(rows, reference.PACKED_BLOCK[suffix]) if packed else filters
    size = np.dtype(DTYPE[suffix]).itemsize
    scratch = 0 if "1x1" in entry else 4 * depth * size
    return Case(f"{entry}_{suffix}", params, [x, weights, bias], want.size * size, scratch), want


def depthwise_case(suffix: str, layer: Conv, *, seed: int = 0):
    rng = np.random.default_rng(seed)
    x = values(rng, (layer.batches, *layer.size, layer.cin), suffix)
    filters = values(rng, (1, *layer.kernel, layer.cout), suffix, 0.3)
    bias = values(rng, (layer.cout,), suffix) if layer.bias else None
    limits = limits_of(suffix, layer.activation)
    multiplier = layer.cout // layer.cin
    want = reference.depthwise(
        x, filters, bias, suffix=suffix, ch_mult=multiplier, stride=layer.stride, padding=layer.padding,
        dilation=layer.dilation, output=layer.output, limits=limits,
    )  # fmt: skip
    params = [
        *x.shape, *filters.shape, layer.batches, *layer.output, layer.cout, *_pairs(layer), *bits(*limits), multiplier,
    ]  # fmt: skip
    size = np.dtype(DTYPE[suffix]).itemsize
    return Case(
        f"arm_depthwise_nhwc_conv_{suffix}", params, [x, filters, bias], want.size * size
    ), want


def linear_case(suffix, rows, depth, outputs, *, packed, bias=True, activation="none", seed=0):
    rng = np.random.default_rng(seed)
    x = values(rng, (rows, depth), suffix)
    weights = values(rng, (outputs, depth), suffix, depth**-0.5)
    offset = values(rng, (outputs,), suffix) if bias else None
    limits = limits_of(suffix, activation)
    want = reference.products(x, weights, offset, suffix=suffix, packed=packed, limits=limits)
    params = [
        rows, 1, 1, depth, depth, 1, 1, outputs, rows, 1, 1, outputs, *bits(*limits), int(packed),
    ]  # fmt: skip
    data = reference.pack_nt_n(weights, reference.PACKED_BLOCK[suffix]) if packed else weights
    size = np.dtype(DTYPE[suffix]).itemsize
    case = Case(f"arm_fully_connected_nhwc_{suffix}", params, [x, data, offset], want.size * size)
    return case, want
