# SPDX-License-Identifier: Apache-2.0
"""SVDF over int8 with an int8 or int16 state, and over float32 and float16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import activation_range, quantize_multiplier
from helia_aot.operators import checks
from helia_aot.operators.floating import FloatType
from helia_aot.operators.spec import (
    Argument,
    KernelCall,
    KnobDomain,
    LoweredOperator,
    Struct,
    Support,
    Target,
    TensorPointer,
    buffer,
    clamp,
    constants_of,
    operator_name,
    read_pointer,
    written_pointer,
)
from helia_aot.operators.variables import fill_call

_SUFFIX: Final = {DType.INT8: "s8", DType.INT16: "s16"}


class _Svdf:
    """What the integer and the float layers share."""

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each weight and batch."""
        source, feature, time, *_ = _tensors(graph, operator)
        return source.shape[0] * (feature.elements + time.elements)

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}


class Svdf(_Svdf):
    """The SVDF family: int8 with constant weights; the state is a variable."""

    support = (
        Support(("int8",), "constant weights, int8 or int16 state, activation RELU or none"),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the layer cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(5,))
        if reasons:
            return reasons
        source, feature, time, bias, state, output = _tensors(graph, operator)
        int8 = (DType.INT8,)
        reasons += checks.check_quantized("input", source, int8)
        reasons += checks.check_quantized("output", output, int8)
        reasons += checks.check_quantized("state", state)
        reasons += checks.check_quantized("feature weights", feature, int8)
        reasons += checks.check_quantized("time weights", time)
        reasons += checks.check_same_type(time, state)
        for role, tensor in (("feature weights", feature), ("time weights", time)):
            reasons += checks.check_constant(role, tensor) + checks.check_rank(role, tensor, (2,))
        reasons += checks.check_rank("input", source, (2,))
        if not state.is_variable:
            reasons.append("state is no variable")
        if operator.attributes.activation not in ("NONE", "RELU"):
            reasons.append(
                f"fused activation {operator.attributes.activation}; supported: NONE, RELU"
            )
        if reasons:
            return reasons
        return _shape_problems(operator, (source, feature, time, state, output)) or (
            checks.check_bias(bias, output.shape[1])
        )

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call, and the one that sets the state to zero before the first run."""
        del choices, target
        source, feature, time, bias, state, output = _tensors(graph, operator)
        quantizations = [t.quantization for t in (source, feature, time, state, output)]
        source_q, feature_q, time_q, state_q, output_q = (q for q in quantizations if q is not None)
        seen = quantize_multiplier(source_q.scale * feature_q.scale / state_q.scale)
        told = quantize_multiplier(state_q.scale * time_q.scale / output_q.scale)
        # RELU is accepted and not applied, as in TFLite Micro: the output's range ends at zero.
        low, high = activation_range("NONE", output.dtype, output_q)
        rank = operator.attributes.rank
        params = Struct(
            "helia_nn_svdf_params",
            (
                ("batches", source.shape[0]),
                ("inputs", source.shape[1]),
                ("units", feature.shape[0] // rank),
                ("rank", rank),
                ("memory", time.shape[1]),
                ("input_offset", -source_q.zero_point),
                ("state_offset", -state_q.zero_point),
                ("output_offset", output_q.zero_point),
                ("feature_multiplier", seen[0]),
                ("feature_shift", seen[1]),
                ("output_multiplier", told[0]),
                ("output_shift", told[1]),
                ("activation", clamp(low, high)),
            ),
        )
        arguments = (
            Argument("params", params),
            Argument("input", read_pointer(source)),
            Argument("weights_feature", read_pointer(feature)),
            Argument("weights_time", read_pointer(time)),
            Argument("bias", TensorPointer(bias.id if bias else None, "const int32_t *")),
            Argument("state", written_pointer(state)),
            Argument("output", written_pointer(output)),
        )
        zero = np.array([state_q.zero_point]).astype(state.dtype.numpy.newbyteorder("<"))
        return LoweredOperator(
            node_id=operator.node_id,
            name=operator_name(operator),
            op_type=operator.op_type,
            call=KernelCall(f"helia_nn_svdf_{_SUFFIX[state.dtype]}", arguments),
            constants=constants_of(feature, time, bias),
            init=(fill_call(state, zero.tobytes()),),
        )


class FloatSvdf(_Svdf):
    """The family over one float type.

    Args:
        kind: The type.
    """

    def __init__(self, kind: FloatType) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support("constant weights")

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the layer cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(5,))
        if reasons:
            return reasons
        source, feature, time, bias, state, output = _tensors(graph, operator)
        reasons += self._kind.check("input", source) + self._kind.check("state", state)
        for role, tensor in (("feature weights", feature), ("time weights", time)):
            reasons += self._kind.check_constant(role, tensor)
            reasons += checks.check_rank(role, tensor, (2,))
        reasons += checks.check_rank("input", source, (2,))
        reasons += checks.check_activation(operator.attributes.activation)
        if not state.is_variable:
            reasons.append("state is no variable")
        if reasons:
            return reasons
        return _shape_problems(operator, (source, feature, time, state, output)) or (
            self._kind.check_bias(bias, output.shape[1])
        )

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call, and the one that sets the state to zero before the first run."""
        del choices, target
        kind, name = self._kind, operator_name(operator)
        source, feature, time, bias, state, output = _tensors(graph, operator)
        rank = operator.attributes.rank
        scratch = feature.shape[0] * kind.dtype.size_bytes
        params = Struct(
            "helia_nn_svdf_params_flt",
            (
                ("batches", source.shape[0]),
                ("inputs", source.shape[1]),
                ("units", feature.shape[0] // rank),
                ("rank", rank),
                ("memory", time.shape[1]),
            ),
        )
        arguments = (
            Argument("ctx", buffer(f"{name}_scratch", scratch)),
            Argument("params", params),
            Argument("activation", kind.activation(operator.attributes.activation)),
            Argument("input", kind.input(source)),
            Argument("weights_feature", kind.input(feature)),
            Argument("weights_time", kind.input(time)),
            Argument("bias", kind.input(bias)),
            Argument("state", kind.output(state)),
            Argument("output", kind.output(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(f"helia_nn_svdf_{kind.suffix}", arguments),
            constants=constants_of(feature, time, bias),
            scratch_bytes=scratch,
            init=(fill_call(state, b"\0"),),
        )


def _tensors(
    graph: Graph, operator: Operator
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor, Tensor]:
    ids = operator.inputs
    bias = graph.tensor(ids[3]) if ids[3] is not None else None
    source, feature, time, state = (graph.tensor(ids[i]) for i in (0, 1, 2, 4))
    return source, feature, time, bias, state, graph.tensor(operator.outputs[0])


def _shape_problems(
    operator: Operator, tensors: tuple[Tensor, Tensor, Tensor, Tensor, Tensor]
) -> list[str]:
    source, feature, time, state, output = tensors
    filters, rank = feature.shape[0], operator.attributes.rank
    if rank < 1 or filters % rank:
        return [f"rank {rank} does not divide {filters} filters"]
    batches, memory = source.shape[0], time.shape[1]
    reasons = checks.check_shape("output", output, (batches, filters // rank))
    reasons += checks.check_shape("state", state, (batches, memory * filters))
    if feature.shape[1] != source.shape[1] or time.shape[0] != filters:
        reasons.append(
            f"weights {list(feature.shape)} and {list(time.shape)} do not fit input "
            f"{list(source.shape)}"
        )
    return reasons
