# SPDX-License-Identifier: Apache-2.0
"""Random layers of the kinds that every kernel library has, side by side in one model, as building costs far more than running.

Shapes are small and lie at the edges of what libraries treat apart: single rows and columns, points, strides that leave a rest,
padding on one side, dilation, channel counts round the lengths of vectors, several batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from tflite_models import ACTIVATIONS, PADDINGS, ModelBuilder, output_extent

CHANNELS: Final = (1, 2, 3, 4, 7, 8, 15, 16, 17, 33, 64, 123, 125)


@dataclass
class Layers:
    """A model in the making.

    Attributes:
        seed: Layers are a function of it and of their number.
        dtype: ``int8`` or ``int16``.
        names: What each layer is, in the order of the model's outputs.
    """

    seed: int
    dtype: str = "int8"
    model: ModelBuilder = field(default_factory=ModelBuilder)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def build(self) -> bytes:
        """Gives the model."""
        return self.model.build(inputs=self.inputs, outputs=self.outputs)

    def add(self, kind: str) -> None:
        """Adds one layer of a kind of ``KINDS``."""
        first = len(self.model.tensors)
        y = KINDS[kind](self)
        self.outputs.append(y)
        shapes = [tensor.shape for tensor in self.model.tensors[first:] if len(tensor.shape) > 1]
        self.names.append(f"{kind} of {self.dtype}: {shapes}, {self.model.operators[-1].options}")

    def pick(self, *values: Any) -> Any:
        """Picks one value."""
        return values[int(self._rng.integers(len(values)))]

    def quantization(self, scale: float) -> dict[str, Any]:
        """Gives the quantization of activations."""
        if self.dtype == "int16":
            return {"dtype": "int16", "scale": scale / 256, "zero_point": 0}
        return {"dtype": "int8", "scale": scale, "zero_point": int(self._rng.integers(-100, 100))}

    def given(self, shape: Sequence[int]) -> int:
        """Adds an input of the model."""
        self.inputs.append(self.model.tensor(shape, **self.quantization(0.05)))
        return self.inputs[-1]

    def weights(self, shape: Sequence[int], axis: int, *, per_channel: bool = True) -> list[int]:
        """Adds weights and a bias."""
        data = self._rng.integers(-127, 128, shape).astype(np.int8)
        scale = self._rng.uniform(0.001, 0.01, shape[axis]) if per_channel else [0.004]
        bias = self._rng.integers(-4000, 4000, shape[axis])
        bias = bias.astype(np.int64 if self.dtype == "int16" else np.int32)
        source = self.model.tensors[self.inputs[-1]].scale[0]
        filters = self.model.constant(data, scale=scale, axis=axis)
        return [filters, self.model.constant(bias, scale=source * np.asarray(scale))]

    def operator(
        self, op_type: str, inputs: list[int], shape: Sequence[int], fields: Any, scale: float
    ) -> int:
        """Adds an operator with a fused activation."""
        y = self.model.tensor(shape, **self.quantization(scale))
        table, options = fields
        fused = {"FusedActivationFunction": ACTIVATIONS[self.pick("none", "relu", "relu6")]}
        self.model.operator(op_type, inputs, [y], (table, {**options, **fused}))
        return y

    def window(
        self, size: Sequence[int], kernel: Sequence[int], *, dilated: bool
    ) -> tuple[list[int], dict[str, int]]:
        """Picks stride, dilation and padding; gives the output's extents and the options."""
        stride = (self.pick(1, 1, 2, 3), self.pick(1, 1, 2, 3))
        dilation = (1, 1)
        if dilated and not self.pick(0, 1, 2):
            stride, dilation = (1, 1), (self.pick(1, 2), self.pick(1, 2))
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
        fits = all(r <= s for r, s in zip(reach, size, strict=True))
        padding = self.pick("same", "valid") if fits else "same"
        extents = zip(size, kernel, stride, dilation, strict=True)
        out = [output_extent(*extent, padding) for extent in extents]
        fields = {"Padding": PADDINGS[padding], "StrideH": stride[0], "StrideW": stride[1]}
        if dilated:
            fields |= {"DilationHFactor": dilation[0], "DilationWFactor": dilation[1]}
        return out, fields


def _convolution(m: Layers) -> int:
    height, kernel_h = m.pick((1, 1), (2, 3), (5, 1), (7, 2), (9, 5))
    size, kernel = (height, m.pick(1, 2, 5, 8, 11, 16)), (kernel_h, m.pick(1, 1, 2, 3, 4, 5, 8))
    n, c, channels = m.pick(1, 1, 2), m.pick(*CHANNELS), m.pick(1, 3, 4, 8, 17)
    x = m.given((n, *size, c))
    out, fields = m.window(size, kernel, dilated=True)
    filters = m.weights((channels, *kernel, c), 0)
    options = ("Conv2DOptions", fields)
    return m.operator("CONV_2D", [x, *filters], (n, *out, channels), options, 0.2)


def _depthwise(m: Layers) -> int:
    size, kernel = (
        (m.pick(1, 2, 5, 7, 9), m.pick(1, 2, 5, 8)),
        (m.pick(1, 2, 3, 5), m.pick(1, 3, 4)),
    )
    n, c = m.pick(1, 1, 2), m.pick(*CHANNELS)
    multiplier = m.pick(1, 1, 2, 3) if c < 20 else 1
    x = m.given((n, *size, c))
    out, fields = m.window(size, kernel, dilated=m.dtype == "int8")
    fields = {"DilationHFactor": 1, "DilationWFactor": 1, **fields, "DepthMultiplier": multiplier}
    filters = m.weights((1, *kernel, c * multiplier), 3)
    options = ("DepthwiseConv2DOptions", fields)
    return m.operator("DEPTHWISE_CONV_2D", [x, *filters], (n, *out, c * multiplier), options, 0.1)


def _fully_connected(m: Layers) -> int:
    rows, depth, channels = m.pick(1, 1, 3), m.pick(*CHANNELS), m.pick(1, 2, 3, 4, 8, 17)
    x = m.given((rows, depth))
    weights = m.weights((channels, depth), 0, per_channel=m.dtype == "int8" and m.pick(0, 1))
    options = ("FullyConnectedOptions", {})
    return m.operator("FULLY_CONNECTED", [x, *weights], (rows, channels), options, 0.2)


def _pool(m: Layers) -> int:
    size, kernel = (m.pick(1, 2, 5, 7), m.pick(1, 3, 6)), (m.pick(1, 2, 3), m.pick(1, 2, 3))
    n, c = m.pick(1, 1, 2), m.pick(*CHANNELS)
    x = m.given((n, *size, c))
    out, fields = m.window(size, kernel, dilated=False)
    source = m.model.tensors[x]
    y = m.model.tensor(
        (n, *out, c), dtype=m.dtype, scale=source.scale[0], zero_point=source.zero_point[0]
    )
    fields |= {"FilterHeight": kernel[0], "FilterWidth": kernel[1], "FusedActivationFunction": 0}
    op_type = m.pick("AVERAGE_POOL_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D")
    m.model.operator(op_type, [x], [y], ("Pool2DOptions", fields))
    return y


def _arithmetic(m: Layers) -> int:
    shape = (1, m.pick(1, 3), m.pick(1, 4), m.pick(*CHANNELS))
    kind = m.pick("Add", "Mul")
    inputs = [m.given(shape), m.given(shape)]
    return m.operator(kind.upper(), inputs, shape, (f"{kind}Options", {}), 0.1)


KINDS: Final[dict[str, Callable[[Layers], int]]] = {
    "convolution": _convolution,
    "depthwise": _depthwise,
    "fully connected": _fully_connected,
    "pool": _pool,
    "arithmetic": _arithmetic,
}
