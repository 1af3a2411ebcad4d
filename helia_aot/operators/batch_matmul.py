# SPDX-License-Identifier: Apache-2.0
"""BATCH_MATMUL: matrix products of two tensors, either of which may be a constant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import activation_range, fully_connected_multiplier
from helia_aot.operators import checks
from helia_aot.operators.broadcasting import merged_shapes
from helia_aot.operators.floating import FloatType
from helia_aot.operators.spec import (
    Argument,
    Constant,
    KernelCall,
    KnobDomain,
    LoweredOperator,
    Struct,
    Support,
    Target,
    TensorPointer,
    buffer,
    c_type,
    clamp,
    operator_name,
    tensor_dims,
    written_pointer,
)

_BATCHES: Final = 2
"""Dimensions of batches that the kernels walk."""
_LIMITS: Final = "up to 2 runs of batch dimensions, either side computed or constant"
_WORD_BYTES: Final = 4


@dataclass(frozen=True)
class _Side:
    """One factor as the kernel reads it.

    Attributes:
        tensor: The model's tensor.
        shape: Shape of what the kernel reads.
        constant: Its numbers, swapped at conversion where that saves a swap in each run; None for a computed tensor.
        is_swapped: Whether the kernel swaps it in each run.
    """

    tensor: Tensor
    shape: tuple[int, ...]
    constant: Constant | None
    is_swapped: bool

    @property
    def scratch_bytes(self) -> int:
        """Room for one swapped matrix, whole words."""
        if not self.is_swapped:
            return 0
        size = self.shape[-1] * self.shape[-2] * self.tensor.dtype.size_bytes
        return -(-size // _WORD_BYTES) * _WORD_BYTES

    def pointer(self) -> TensorPointer:
        """Gives the address of what the kernel reads."""
        tensor_id = self.constant.id if self.constant else self.tensor.id
        return TensorPointer(tensor_id, f"const {c_type(self.tensor.dtype)} *")


@dataclass(frozen=True)
class _Stage:
    """What an integer product has besides its sides.

    Attributes:
        params: Further fields of the parameter structure.
        quant: Further arguments.
        sums_bytes: Scratch for sums of columns, before the swapped matrices.
    """

    params: tuple[tuple[str, Any], ...] = ()
    quant: tuple[Argument, ...] = ()
    sums_bytes: int = 0


class _BatchMatMul:
    """What the integer and the float products share."""

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each output and product."""
        left = graph.tensor(operator.inputs[0])
        depth = left.shape[-2 if operator.attributes.adj_x else -1]
        return graph.tensor(operator.outputs[0]).elements * depth

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}


class IntegerBatchMatMul(_BatchMatMul):
    """The family over int8 or int16."""

    support = (Support(("int8", "int16"), _LIMITS),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the product cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        output = graph.tensor(operator.outputs[0])
        sides = [graph.tensor(i) for i in operator.inputs]
        for role, tensor in (("left side", sides[0]), ("right side", sides[1]), ("output", output)):
            reasons += checks.check_quantized(role, tensor, (output.dtype,))
        return reasons or _shape_problems(operator, sides[0], sides[1], output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        left, right = _sides(graph, operator)
        output = graph.tensor(operator.outputs[0])
        quantizations = [t.quantization for t in (left.tensor, right.tensor, output)]
        left_q, right_q, output_q = (q for q in quantizations if q is not None)
        multiplier, shift = fully_connected_multiplier(left_q, right_q, output_q)
        low, high = activation_range("NONE", output.dtype, output_q)
        params = (
            ("lhs_offset", -left_q.zero_point),
            ("rhs_offset", -right_q.zero_point),
            ("output_offset", output_q.zero_point),
            ("activation", clamp(low, high)),
        )
        quant = Argument(
            "quant_params",
            Struct(
                "cmsis_nn_per_tensor_quant_params", (("multiplier", multiplier), ("shift", shift))
            ),
        )
        is_narrow = output.dtype is DType.INT8
        entry = f"helia_nn_batch_matmul_{'s8' if is_narrow else 's16'}"
        sums = output.shape[-1] * _WORD_BYTES if is_narrow else 0
        return _lowered(operator, entry, (left, right), output, _Stage(params, (quant,), sums))


class FloatBatchMatMul(_BatchMatMul):
    """The family over one float type.

    Args:
        kind: The type.
    """

    def __init__(self, kind: FloatType) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support(_LIMITS)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the product cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        left, right = (graph.tensor(i) for i in operator.inputs)
        reasons += self._kind.check("left side", left) + self._kind.check("right side", right)
        return reasons or _shape_problems(operator, left, right, graph.tensor(operator.outputs[0]))

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        entry = f"helia_nn_batch_matmul_{self._kind.suffix}"
        output = graph.tensor(operator.outputs[0])
        return _lowered(operator, entry, _sides(graph, operator), output, _Stage())


def _shape_problems(operator: Operator, left: Tensor, right: Tensor, output: Tensor) -> list[str]:
    reasons = []
    for role, tensor in (("left side", left), ("right side", right), ("output", output)):
        if len(tensor.shape) < _BATCHES:
            reasons.append(
                f"{role} has shape {list(tensor.shape)}; supported: 2 dimensions or more"
            )
    if reasons:
        return reasons
    rows, depth = left.shape[-2:][:: -1 if operator.attributes.adj_x else 1]
    right_depth, columns = right.shape[-2:][:: -1 if operator.attributes.adj_y else 1]
    try:
        batches = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        batches = None
    if depth != right_depth or batches is None:
        return [f"the sides {list(left.shape)} and {list(right.shape)} do not fit each other"]
    reasons = checks.check_shape("output", output, (*batches, rows, columns))
    runs = 0 if reasons else len(_merged_batches(left.shape, right.shape, output)[-1])
    if runs > _BATCHES:
        reasons.append(f"broadcasts {runs} runs of batch dimensions; supported: up to {_BATCHES}")
    return reasons


def _merged_batches(
    left: tuple[int, ...], right: tuple[int, ...], output: Tensor
) -> list[tuple[int, ...]]:
    """Gives the batch dimensions of both sides and the output, as few as the kernels need."""
    return merged_shapes([left[:-2], right[:-2]], output.shape[:-2], _BATCHES)


def _sides(graph: Graph, operator: Operator) -> tuple[_Side, _Side]:
    """Gives both sides; a constant is brought into the order in which the kernel multiplies."""
    name = operator_name(operator)
    left, right = (graph.tensor(i) for i in operator.inputs)
    return (
        _side(left, f"{name}_lhs", swap=operator.attributes.adj_x),
        _side(right, f"{name}_rhs", swap=not operator.attributes.adj_y),
    )


def _side(tensor: Tensor, name: str, *, swap: bool) -> _Side:
    data = tensor.data
    if data is None:
        return _Side(tensor, tensor.shape, None, swap)
    if not swap:
        return _Side(tensor, tensor.shape, Constant(tensor.id, data), is_swapped=False)
    swapped = np.ascontiguousarray(np.swapaxes(data, -1, -2))
    return _Side(tensor, swapped.shape, Constant(name, swapped), is_swapped=False)


def _lowered(
    operator: Operator, entry: str, sides: tuple[_Side, _Side], output: Tensor, stage: _Stage
) -> LoweredOperator:
    """Makes the call of an entry."""
    name = operator_name(operator)
    left, right = sides
    scratch = stage.sums_bytes + left.scratch_bytes + right.scratch_bytes
    # The kernel reads the left side by rows and the right side by columns.
    shapes = (left.shape, right.shape, output.shape)
    batches = _merged_batches(left.shape, right.shape, output)
    extents = [tensor_dims((*b, *s[-2:])) for b, s in zip(batches, shapes, strict=True)]
    swaps = (("adj_x", int(left.is_swapped)), ("adj_y", int(not right.is_swapped)))
    arguments = (
        Argument("ctx", buffer(f"{name}_scratch" if scratch else None, scratch)),
        Argument("params", Struct("helia_nn_bmm_params", (*swaps, *stage.params))),
        *stage.quant,
        Argument("lhs_dims", extents[0]),
        Argument("lhs", left.pointer()),
        Argument("rhs_dims", extents[1]),
        Argument("rhs", right.pointer()),
        Argument("output_dims", extents[2]),
        Argument("output", written_pointer(output)),
    )
    return LoweredOperator(
        node_id=operator.node_id,
        name=name,
        op_type=operator.op_type,
        call=KernelCall(entry, arguments),
        constants=tuple(side.constant for side in sides if side.constant is not None),
        scratch_bytes=scratch,
    )
