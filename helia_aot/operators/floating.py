# SPDX-License-Identifier: Apache-2.0
"""What the float32 and float16 families share: element types, checks, activation limits and packed weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.attributes import Activation
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators import checks
from helia_aot.operators.spec import (
    Constant,
    Struct,
    Support,
    Target,
    TensorPointer,
)

STANDARD_FORMAT: Final = 0
"""``ARM_NN_WEIGHT_FORMAT_STANDARD``: ``[N][K]``."""
PACKED_FORMAT: Final = 1
"""``ARM_NN_WEIGHT_FORMAT_NT_N_PACKED``: ``[N / block][K][block]``."""
PACKED_ROWS: Final = 4
"""Rows that share one pass over packed weights; fewer rows gain nothing from packing."""


@dataclass(frozen=True)
class FloatType:
    """One of the two float types.

    Attributes:
        dtype: Element type of activations, weights and biases.
        suffix: Suffix of its kernel entries.
        c_type: C type of an element.
        block: Outputs in a packed block, as many as a vector has lanes.
    """

    dtype: DType
    suffix: str
    c_type: str
    block: int

    def input(self, tensor: Tensor | Constant | None) -> TensorPointer:
        """Gives the address of what a kernel reads; a null pointer for None."""
        return TensorPointer(tensor.id if tensor else None, f"const {self.c_type} *")

    def output(self, tensor: Tensor) -> TensorPointer:
        """Gives the address of what a kernel writes."""
        return TensorPointer(tensor.id, f"{self.c_type} *")

    def limits(self, activation: Activation) -> tuple[float, float]:
        """Gives the range of a fused activation; the type's own range where nothing is clamped.

        Raises:
            ValueError: The activation is not a clamp.
        """
        info = np.finfo(self.dtype.value)
        low, high = float(info.min), float(info.max)
        match activation:
            case "NONE":
                return low, high
            case "RELU":
                return 0.0, high
            case "RELU6":
                return 0.0, 6.0
            case "RELU_N1_TO_1":
                return -1.0, 1.0
            case _:
                raise ValueError(f"{activation} is not a clamp")

    def activation(self, activation: Activation) -> Struct:
        """Gives the ``cmsis_nn_activation_*`` of a fused activation."""
        low, high = self.limits(activation)
        return Struct(f"cmsis_nn_activation_{self.suffix}", (("min", low), ("max", high)))

    def support(self, limits: str = "") -> tuple[Support, ...]:
        """Gives the line of the page of operators."""
        return (Support((self.dtype.value,), limits),)

    def check(self, role: str, tensor: Tensor | None) -> list[str]:
        """Checks a tensor's element type."""
        if tensor is None:
            return [f"{role} is absent"]
        if tensor.dtype is not self.dtype:
            return [f"{role} has type {tensor.dtype}; supported: {self.dtype}"]
        return []

    def check_constant(self, role: str, tensor: Tensor | None) -> list[str]:
        """Checks a constant of this type, as weights must be."""
        reasons = self.check(role, tensor)
        if tensor is not None and not tensor.is_constant:
            reasons.append(f"{role} is computed; supported: a constant")
        return reasons

    def check_bias(self, tensor: Tensor | None, channels: int) -> list[str]:
        """Checks an optional constant bias with one value for each channel."""
        if tensor is None:
            return []
        reasons = self.check_constant("bias", tensor)
        if tensor.elements != channels:
            reasons.append(f"bias has {tensor.elements} values for {channels} output channels")
        return reasons

    def check_layer(self, graph: Graph, operator: Operator, *, filter_rank: int) -> list[str]:
        """Checks counts, types and activation of a layer with weights."""
        reasons = checks.check_count(operator, inputs=(2, 3))
        if reasons:
            return reasons
        source, weights, *_ = checks.inputs_of(graph, operator)
        reasons += self.check("input", source)
        reasons += self.check("output", graph.tensor(operator.outputs[0]))
        reasons += self.check_constant("filter", weights)
        reasons += checks.check_rank("filter", weights, (filter_rank,))
        return reasons + checks.check_activation(operator.attributes.activation)


FLOAT32: Final = FloatType(DType.FLOAT32, "f32", "float32_t", 4)
FLOAT16: Final = FloatType(DType.FLOAT16, "f16", "float16_t", 8)


def bias_of(graph: Graph, operator: Operator) -> Constant | None:
    """Gives the bias of a layer, or None where it has none."""
    if len(operator.inputs) < 3 or operator.inputs[2] is None:
        return None
    tensor = graph.tensor(operator.inputs[2])
    assert tensor.data is not None
    return Constant(tensor.id, tensor.data)


def pack(weights: NDArray[Any], block: int) -> NDArray[Any]:
    """Packs weights in the NT_N layout: element (n, k) at ``(n // block) * K * block + k * block + n % block``.

    Args:
        weights: Weights of shape ``[N, K]``.
        block: Outputs in a block.

    Returns:
        A vector of ``ceil(N / block) * K * block`` elements; outputs beyond N are zeros.
    """
    outputs, depth = weights.shape
    padded = np.zeros((-(-outputs // block) * block, depth), weights.dtype)
    padded[:outputs] = weights
    blocks = padded.reshape(-1, block, depth).transpose(0, 2, 1)
    return np.ascontiguousarray(blocks).reshape(-1)


def packing_reason(kind: FloatType, rows: int, outputs: int, target: Target) -> str:
    """Gives why packed weights would not pay off; empty when they do.

    Four rows share one pass over packed weights, and the lanes of a vector are outputs: with fewer of either, part of
    every multiplication is wasted.
    """
    if not target.mve or (kind is FLOAT16 and not target.fp16):
        return f"packing pays off on MVE targets that compute in {kind.dtype} only"
    if rows < PACKED_ROWS:
        return f"{rows} row(s) share the weights; packing pays off from {PACKED_ROWS} on"
    if outputs < kind.block:
        return f"{outputs} output(s) fill no lane group of {kind.block}"
    return ""


def weights_constant(
    kind: FloatType, name: str, tensor: Tensor, weights: NDArray[Any], *, packed: bool
) -> Constant:
    """Gives the weights in the layout that a kernel reads.

    Args:
        kind: Their type.
        name: The operator's name, for a constant that is not the tensor as it is.
        tensor: The model's tensor.
        weights: Its data, perhaps transposed, as ``[N, ...]``.
        packed: Whether to pack.
    """
    if packed:
        return Constant(f"{name}_packed", pack(weights.reshape(weights.shape[0], -1), kind.block))
    if weights is tensor.data:
        return Constant(tensor.id, weights)
    return Constant(f"{name}_filter", np.ascontiguousarray(weights))


def present(constants: Sequence[Constant | None]) -> tuple[Constant, ...]:
    """Gives the constants that are there."""
    return tuple(constant for constant in constants if constant is not None)
