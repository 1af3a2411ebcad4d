# SPDX-License-Identifier: Apache-2.0
"""UNIDIRECTIONAL_SEQUENCE_LSTM over int8, int16, float32 and float16; hidden state and cell are variables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Quantization, Tensor
from helia_aot.ir.quantization import (
    fully_connected_multiplier,
    multiplication_parameters,
)
from helia_aot.operators import checks
from helia_aot.operators.convolution import folded_sums
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
    clamp,
    integers,
    operator_name,
    read_pointer,
    written_pointer,
)
from helia_aot.operators.variables import fill_call

_INPUT: Final = 0
# Gates in the order of the kernels: input, forget, output, candidate.
_INPUT_WEIGHTS: Final = (1, 2, 4, 3)
_HIDDEN_WEIGHTS: Final = (5, 6, 8, 7)
_BIASES: Final = (12, 13, 15, 14)
_HIDDEN, _CELL = 18, 19
_ABSENT: Final = {
    "peephole weights": (9, 10, 11),
    "a projection": (16, 17),
    "layer normalization": (20, 21, 22, 23),
}
_LIMITS: Final = (
    "constant weights, activation TANH; no peephole weights, projection or layer normalization, no input gate that is "
    "coupled with the forget gate"
)
_GATES: Final = 4
_SUM: Final = Quantization((2.0**-12,), (0,))
"""Sums of a gate: Q3.12."""
_GATE: Final = Quantization((2.0**-15,), (0,))
"""Values of a gate: Q0.15."""


class _Lstm:
    """What the integer and the float layers share."""

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each weight, step and batch."""
        source, output = graph.tensor(operator.inputs[_INPUT]), graph.tensor(operator.outputs[0])
        rows = source.shape[0] * source.shape[1]
        return rows * _GATES * output.shape[2] * (source.shape[2] + output.shape[2])

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}


class IntegerLstm(_Lstm):
    """The family over int8 or int16 numbers with int8 weights and an int16 cell."""

    support = (
        Support(("int8",), f"{_LIMITS}; int8 weights with zero point 0, int32 bias, int16 cell"),
        Support(("int16",), f"{_LIMITS}; int8 weights with zero point 0, int64 bias, int16 cell"),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the layer cannot be compiled."""
        reasons = _structure_problems(graph, operator)
        if reasons:
            return reasons
        tensors = checks.inputs_of(graph, operator)
        source, hidden, cell = tensors[_INPUT], tensors[_HIDDEN], tensors[_CELL]
        output = graph.tensor(operator.outputs[0])
        assert cell is not None
        assert hidden is not None
        types = (output.dtype,)
        reasons += checks.check_quantized("input", source, types)
        reasons += checks.check_quantized("output", output, types)
        reasons += checks.check_quantized("hidden state", hidden, types)
        reasons += checks.check_quantized("cell", cell, (DType.INT16,))
        for i in (*_INPUT_WEIGHTS, *_HIDDEN_WEIGHTS):
            reasons += _weight_problems(f"input {i}", tensors[i])
        wide = output.dtype is DType.INT16
        for i in _BIASES:
            bias = (DType.INT64,) if wide else (DType.INT32,)
            reasons += checks.check_bias(tensors[i], output.shape[2], bias)
        if reasons:
            return reasons
        reasons += checks.check_same_quantization(hidden, output)
        assert cell.quantization is not None
        if not math.log2(cell.quantization.scale).is_integer():
            reasons.append(f"the cell's scale {cell.quantization.scale:.6g} is no power of two")
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call, and those that set the states to zero before the first run."""
        del choices, target
        source, output = graph.tensor(operator.inputs[_INPUT]), graph.tensor(operator.outputs[0])
        hidden, cell = graph.tensor(operator.inputs[_HIDDEN]), graph.tensor(operator.inputs[_CELL])
        assert source.quantization is not None
        assert hidden.quantization is not None
        name = operator_name(operator)
        seen, kept = _joined(graph, operator, name)
        bias = _joined_bias(graph, operator, np.int64 if _is_wide(output) else np.int32)
        gates = [
            *_gate_factors(graph, operator, _INPUT_WEIGHTS, source.quantization),
            *_gate_factors(graph, operator, _HIDDEN_WEIGHTS, hidden.quantization),
        ]
        scratch = _GATES * output.shape[2] * DType.INT16.size_bytes
        arguments = [
            Argument("ctx", buffer(f"{name}_scratch", scratch)),
            Argument("params", _integer_params(graph, operator)),
            Argument("gates", integers(gates)),
            Argument("input", read_pointer(source)),
            Argument("input_weights", TensorPointer(seen.id, "const int8_t *")),
        ]
        if _is_wide(output):
            sums = [Constant(f"{name}_bias", bias)]
            arguments += [
                Argument("bias", TensorPointer(sums[0].id, "const int64_t *")),
                Argument("hidden_weights", TensorPointer(kept.id, "const int8_t *")),
            ]
        else:
            sums = [
                Constant(
                    f"{name}_input_sum",
                    folded_sums(seen.data, bias, source.quantization.zero_point),
                ),
                Constant(
                    f"{name}_hidden_sum",
                    folded_sums(kept.data, None, hidden.quantization.zero_point),
                ),
            ]
            arguments += [
                Argument("input_sums", TensorPointer(sums[0].id, "const int32_t *")),
                Argument("hidden_weights", TensorPointer(kept.id, "const int8_t *")),
                Argument("hidden_sums", TensorPointer(sums[1].id, "const int32_t *")),
            ]
        arguments += _states_and_output(hidden, cell, output)
        zero = np.array([hidden.quantization.zero_point]).astype(hidden.dtype.numpy)
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(
                f"helia_nn_lstm_{'s16' if _is_wide(output) else 's8'}", tuple(arguments)
            ),
            constants=(seen, kept, *sums),
            scratch_bytes=scratch,
            init=(fill_call(hidden, zero.tobytes()), fill_call(cell, b"\0")),
        )


class FloatLstm(_Lstm):
    """The family over one float type.

    Args:
        kind: The type of activations, weights and states.
    """

    def __init__(self, kind: FloatType) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support(_LIMITS)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the layer cannot be compiled."""
        reasons = _structure_problems(graph, operator)
        if reasons:
            return reasons
        tensors = checks.inputs_of(graph, operator)
        reasons += self._kind.check("input", tensors[_INPUT])
        reasons += self._kind.check("hidden state", tensors[_HIDDEN])
        reasons += self._kind.check("cell", tensors[_CELL])
        for i in (*_INPUT_WEIGHTS, *_HIDDEN_WEIGHTS):
            reasons += self._kind.check_constant(f"input {i}", tensors[i])
        units = graph.tensor(operator.outputs[0]).shape[2]
        for i in _BIASES:
            reasons += self._kind.check_bias(tensors[i], units)
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call, and those that set the states to zero before the first run."""
        del choices, target
        kind, name = self._kind, operator_name(operator)
        source, output = graph.tensor(operator.inputs[_INPUT]), graph.tensor(operator.outputs[0])
        hidden, cell = graph.tensor(operator.inputs[_HIDDEN]), graph.tensor(operator.inputs[_CELL])
        seen, kept = _joined(graph, operator, name)
        bias = Constant(f"{name}_bias", _joined_bias(graph, operator, kind.dtype.numpy))
        # The products with the input and those with the hidden state, of all gates.
        scratch = 2 * _GATES * output.shape[2] * kind.dtype.size_bytes
        params = Struct(
            "helia_nn_lstm_params_flt",
            (*_extents(graph, operator), ("cell_clip", operator.attributes.cell_clip)),
        )
        arguments = (
            Argument("ctx", buffer(f"{name}_scratch", scratch)),
            Argument("params", params),
            Argument("input", kind.input(source)),
            Argument("input_weights", kind.input(seen)),
            Argument("bias", kind.input(bias)),
            Argument("hidden_weights", kind.input(kept)),
            Argument("hidden", kind.output(hidden)),
            Argument("cell", kind.output(cell)),
            Argument("output", kind.output(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(f"helia_nn_lstm_{kind.suffix}", arguments),
            constants=(seen, kept, bias),
            scratch_bytes=scratch,
            init=(fill_call(hidden, b"\0"), fill_call(cell, b"\0")),
        )


def _structure_problems(graph: Graph, operator: Operator) -> list[str]:
    """Lists what is wrong with the presence and the shapes of the tensors, and with the options."""
    reasons = _presence_problems(graph, operator)
    attributes = operator.attributes
    if attributes.activation != "TANH":
        reasons.append(f"activation {attributes.activation}; supported: TANH")
    if attributes.cell_clip < 0 or not math.isfinite(attributes.cell_clip):
        reasons.append(f"the cell's limit is {attributes.cell_clip}")
    if attributes.diagonal:
        reasons.append("has diagonal recurrent weights")
    if reasons:
        return reasons
    tensors = checks.inputs_of(graph, operator)
    source, output = tensors[_INPUT], graph.tensor(operator.outputs[0])
    assert source is not None
    if len(source.shape) != 3 or len(output.shape) != 3:
        return ["input and output must have 3 dimensions"]
    if source.shape[:2] != output.shape[:2]:
        reasons.append(
            f"input {list(source.shape)} and output {list(output.shape)} differ in steps or batches"
        )
    units, batches = output.shape[2], source.shape[1 if attributes.time_major else 0]
    shapes = {
        **dict.fromkeys(_INPUT_WEIGHTS, (units, source.shape[2])),
        **dict.fromkeys(_HIDDEN_WEIGHTS, (units, units)),
        **dict.fromkeys((_HIDDEN, _CELL), (batches, units)),
    }
    for i, shape in sorted(shapes.items()):
        tensor = tensors[i]
        assert tensor is not None
        reasons += checks.check_shape(f"input {i}", tensor, shape)
    return reasons


def _presence_problems(graph: Graph, operator: Operator) -> list[str]:
    if len(operator.inputs) not in (20, 24):
        return [f"has {len(operator.inputs)} inputs; supported: 20 or 24"]
    if len(operator.outputs) != 1:
        return [f"has {len(operator.outputs)} outputs; supported: 1"]
    tensors = checks.inputs_of(graph, operator)
    needed = (_INPUT, *_INPUT_WEIGHTS, *_HIDDEN_WEIGHTS, _HIDDEN, _CELL)
    reasons = [f"input {i} is absent" for i in sorted(needed) if tensors[i] is None]
    for what, ids in _ABSENT.items():
        if any(i < len(tensors) and tensors[i] is not None for i in ids):
            reasons.append(f"has {what}")
    for role, i in (("hidden state", _HIDDEN), ("cell", _CELL)):
        state = tensors[i]
        if state is not None and not state.is_variable:
            reasons.append(f"{role} is no variable")
    return reasons


def _weight_problems(role: str, tensor: Tensor | None) -> list[str]:
    """Lists what is wrong with int8 weights; unlike those of other layers they have one scale."""
    reasons = checks.check_quantized(role, tensor, (DType.INT8,))
    reasons += checks.check_constant(role, tensor)
    if tensor is not None and tensor.quantization is not None and tensor.quantization.zero_point:
        reasons.append(f"{role} has a zero point other than 0")
    return reasons


def _is_wide(output: Tensor) -> bool:
    return output.dtype is DType.INT16


def _joined(graph: Graph, operator: Operator, name: str) -> tuple[Constant, Constant]:
    """Gives the weights of all gates as one matrix for the input and one for the hidden state."""
    return (
        Constant(f"{name}_input_weights", _rows(graph, operator, _INPUT_WEIGHTS)),
        Constant(f"{name}_hidden_weights", _rows(graph, operator, _HIDDEN_WEIGHTS)),
    )


def _rows(graph: Graph, operator: Operator, inputs: Sequence[int]) -> NDArray[Any]:
    parts = [graph.tensor(operator.inputs[i]).data for i in inputs]
    assert all(part is not None for part in parts)
    return np.concatenate([part for part in parts if part is not None])


def _joined_bias(graph: Graph, operator: Operator, dtype: Any) -> NDArray[Any]:
    """Gives the biases of all gates, zeros where there is none."""
    units = graph.tensor(operator.outputs[0]).shape[2]
    parts = []
    for i in _BIASES:
        tensor = None if operator.inputs[i] is None else graph.tensor(operator.inputs[i])
        given = tensor is not None and tensor.data is not None
        parts.append(tensor.data.reshape(-1) if given else np.zeros(units))  # type: ignore[union-attr]
    return np.concatenate(parts).astype(dtype)


def _gate_factors(
    graph: Graph, operator: Operator, weights: Sequence[int], values: Quantization
) -> list[int]:
    """Gives the multipliers of the gates, then their shifts."""
    pairs = []
    for i in weights:
        quantization = graph.tensor(operator.inputs[i]).quantization
        assert quantization is not None
        pairs.append(fully_connected_multiplier(values, quantization, _SUM))
    return [*(pair[0] for pair in pairs), *(pair[1] for pair in pairs)]


def _extents(graph: Graph, operator: Operator) -> tuple[tuple[str, int], ...]:
    source, output = graph.tensor(operator.inputs[_INPUT]), graph.tensor(operator.outputs[0])
    time_major = operator.attributes.time_major
    batches, steps = source.shape[:2][:: -1 if time_major else 1]
    return (
        ("batches", batches),
        ("steps", steps),
        ("inputs", source.shape[2]),
        ("units", output.shape[2]),
        ("time_major", int(time_major)),
    )


def _integer_params(graph: Graph, operator: Operator) -> Struct:
    cell_q = graph.tensor(operator.inputs[_CELL]).quantization
    output_q = graph.tensor(operator.outputs[0]).quantization
    assert cell_q is not None
    assert output_q is not None
    forget = multiplication_parameters(_GATE, cell_q, cell_q)
    candidate = multiplication_parameters(_GATE, _GATE, cell_q)
    told = multiplication_parameters(_GATE, _GATE, output_q)
    # The samples of tanh want Q3.12: a finer cell is multiplied by 3 and shifted right, a coarser one shifted left.
    left = 12 + round(math.log2(cell_q.scale))
    limit = operator.attributes.cell_clip / cell_q.scale
    highest = int(min(limit, 32767.0)) if operator.attributes.cell_clip > 0 else 32767
    lowest = -highest if operator.attributes.cell_clip > 0 else -32768
    return Struct(
        "helia_nn_lstm_params",
        (
            *_extents(graph, operator),
            ("forget_multiplier", forget[0]),
            ("forget_shift", forget[1]),
            ("input_multiplier", candidate[0]),
            ("input_shift", candidate[1]),
            ("output_multiplier", told[0]),
            ("output_shift", told[1]),
            ("output_offset", output_q.zero_point),
            ("tanh_multiplier", 3 if left < 0 else 0),
            ("tanh_left_shift", abs(left)),
            ("cell", clamp(lowest, highest)),
        ),
    )


def _states_and_output(hidden: Tensor, cell: Tensor, output: Tensor) -> tuple[Argument, ...]:
    return (
        Argument("hidden", written_pointer(hidden)),
        Argument("cell", written_pointer(cell)),
        Argument("output", written_pointer(output)),
    )
