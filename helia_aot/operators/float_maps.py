# SPDX-License-Identifier: Apache-2.0
"""Float32 and float16 operators without weights: pools, element-wise arithmetic, clamps and SOFTMAX."""

from __future__ import annotations

from collections.abc import Mapping

from helia_aot.ir.attributes import Activation
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators import checks
from helia_aot.operators.broadcasting import BROADCAST, check_broadcast, operand_dims
from helia_aot.operators.convolution import check_output
from helia_aot.operators.floating import FloatType
from helia_aot.operators.geometry import window
from helia_aot.operators.spec import (
    Argument,
    Constant,
    KernelCall,
    LoweredOperator,
    Plain,
    Struct,
    Support,
    Target,
    buffer,
    dims,
    operator_name,
    tile,
)


class FloatPooling(Plain):
    """AVERAGE_POOL_2D, L2_POOL_2D or MAX_POOL_2D of one float type.

    Args:
        kind: The type.
        entry: Stem of the kernel entry, e.g. ``arm_avg_pool``.
    """

    def __init__(self, kind: FloatType, entry: str) -> None:
        self._kind, self._entry = kind, f"{entry}_{kind.suffix}"

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support()

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the pool cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        reasons += self._kind.check("input", source) + self._kind.check("output", output)
        reasons += checks.check_rank("input", source, (4,))
        reasons += checks.check_activation(operator.attributes.activation)
        if reasons:
            return reasons
        options = operator.attributes
        geometry = window(options, source.shape, options.filter_h, options.filter_w)
        return check_output(output, geometry, source.shape[3])

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the pooling call."""
        del choices, target
        kind, options = self._kind, operator.attributes
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        geometry = window(options, source.shape, options.filter_h, options.filter_w)
        params = Struct(
            f"cmsis_nn_pool_params_{kind.suffix}",
            (
                ("stride", tile(geometry.stride_w, geometry.stride_h)),
                ("padding", tile(geometry.pad_w, geometry.pad_h)),
                ("activation", kind.activation(options.activation)),
            ),
        )
        arguments = (
            Argument("ctx", buffer(None, 0)),
            Argument("pool_params", params),
            Argument("input_dims", dims(*source.shape)),
            Argument("src", kind.input(source)),
            Argument("filter_dims", dims(1, options.filter_h, options.filter_w, 1)),
            Argument("output_dims", dims(*output.shape)),
            Argument("dst", kind.output(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=operator_name(operator),
            op_type=operator.op_type,
            call=KernelCall(self._entry, arguments),
        )


class FloatBinary(Plain):
    """ADD, SUB or MUL of one float type, same shapes or broadcast up to four dimensions.

    Args:
        kind: The type.
        operation: ``add``, ``sub`` or ``mul``.
    """

    def __init__(self, kind: FloatType, operation: str) -> None:
        self._kind, self._operation = kind, operation

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support(BROADCAST)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operation cannot be compiled."""
        return pair_problems(self._kind, graph, operator) or checks.check_activation(
            operator.attributes.activation
        )

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call: the element-wise entry for equal shapes, else the broadcasting one."""
        del choices, target
        kind = self._kind
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        low, high = kind.limits(operator.attributes.activation)
        clamp = (Argument("out_activation_min", low), Argument("out_activation_max", high))
        if first.shape == second.shape:
            entry = f"arm_elementwise_{self._operation}_{kind.suffix}"
            arguments: tuple[Argument, ...] = (
                Argument("input_1_vect", kind.input(first)),
                Argument("input_2_vect", kind.input(second)),
                Argument("output", kind.output(output)),
                *clamp,
                Argument("block_size", output.elements),
            )
        else:
            entry = f"helia_nn_{self._operation}_{kind.suffix}"
            extents = operand_dims(first, second, output)
            arguments = (
                Argument("input_1_data", kind.input(first)),
                Argument("input_1_dims", extents[0]),
                Argument("input_2_data", kind.input(second)),
                Argument("input_2_dims", extents[1]),
                Argument("output_data", kind.output(output)),
                Argument("output_dims", extents[2]),
                *clamp,
            )
        return LoweredOperator(
            node_id=operator.node_id,
            name=operator_name(operator),
            op_type=operator.op_type,
            call=KernelCall(entry, arguments),
            constants=tuple(Constant(t.id, t.data) for t in (first, second) if t.data is not None),
        )


class FloatSelection(Plain):
    """MAXIMUM, MINIMUM or PRELU of one float type, same shapes or broadcast up to four dimensions.

    Args:
        kind: The type.
        name: ``maximum``, ``minimum`` or ``prelu``.
    """

    def __init__(self, kind: FloatType, name: str) -> None:
        self._kind, self._name = kind, name

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support(BROADCAST)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operator cannot be compiled."""
        return pair_problems(self._kind, graph, operator)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        kind = self._kind
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        shapes = operand_dims(first, second, output)
        if self._name == "prelu":
            arguments: tuple[Argument, ...] = (
                Argument("input_dims", shapes[0]),
                Argument("input", kind.input(first)),
                Argument("alpha_dims", shapes[1]),
                Argument("alpha", kind.input(second)),
                Argument("output_dims", shapes[2]),
                Argument("output", kind.output(output)),
            )
        else:
            arguments = (
                Argument("ctx", buffer(None, 0)),
                Argument("input_1_data", kind.input(first)),
                Argument("input_1_dims", shapes[0]),
                Argument("input_2_data", kind.input(second)),
                Argument("input_2_dims", shapes[1]),
                Argument("output_data", kind.output(output)),
                Argument("output_dims", shapes[2]),
            )
        call = KernelCall(f"arm_{self._name}_{kind.suffix}", arguments)
        constants = _constant(first) + _constant(second)
        return LoweredOperator(
            operator.node_id, operator_name(operator), operator.op_type, call, constants
        )


class FloatFunction(Plain):
    """LOGISTIC, TANH or HARD_SWISH of one float type; computed in single precision.

    Args:
        kind: The type.
        name: ``logistic``, ``tanh`` or ``hard_swish``.
    """

    def __init__(self, kind: FloatType, name: str) -> None:
        self._kind, self._name = kind, name

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support()

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operator cannot be compiled."""
        return same_shape_problems(self._kind, graph, operator)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        kind = self._kind
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        arguments = (
            Argument("input", kind.input(source)),
            Argument("output", kind.output(output)),
            Argument("size", output.elements),
        )
        entry = f"helia_nn_{self._name}_{kind.suffix}"
        call = KernelCall(entry, arguments, returns_status=False)
        return LoweredOperator(
            operator.node_id, operator_name(operator), operator.op_type, call, _constant(source)
        )


class FloatClamp(Plain):
    """RELU, RELU6 or RELU_N1_TO_1 of one float type.

    Args:
        kind: The type.
        activation: The operator as a fused activation.
    """

    def __init__(self, kind: FloatType, activation: Activation) -> None:
        self._kind, self._activation = kind, activation

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support()

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operator cannot be compiled."""
        return same_shape_problems(self._kind, graph, operator)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the clamp call."""
        del choices, target
        kind = self._kind
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        low, high = kind.limits(self._activation)
        arguments = (
            Argument("input", kind.input(source)),
            Argument("output", kind.output(output)),
            Argument("min", low),
            Argument("max", high),
            Argument("size", output.elements),
        )
        call = KernelCall(f"helia_nn_clamp_{kind.suffix}", arguments, returns_status=False)
        return LoweredOperator(
            operator.node_id, operator_name(operator), operator.op_type, call, _constant(source)
        )


class FloatSoftmax(Plain):
    """SOFTMAX of one float type over the last dimension; computed in single precision.

    Args:
        kind: The type.
    """

    def __init__(self, kind: FloatType) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support("last dimension")

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the softmax cannot be compiled."""
        reasons = same_shape_problems(self._kind, graph, operator)
        if reasons:
            return reasons
        if not graph.tensor(operator.inputs[0]).shape:
            reasons.append("input is a scalar; supported: at least 1 dimension")
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the softmax call."""
        del choices, target
        kind = self._kind
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        arguments = (
            Argument("input", kind.input(source)),
            Argument("num_rows", source.elements // source.shape[-1]),
            Argument("row_size", source.shape[-1]),
        )
        beta, last = operator.attributes.beta, Argument("output", kind.output(output))
        if beta == 1.0:
            call = KernelCall(f"arm_softmax_{kind.suffix}", (*arguments, last))
        else:
            scaled = (*arguments, Argument("beta", float(beta)), last)
            call = KernelCall(f"helia_nn_softmax_beta_{kind.suffix}", scaled)
        return LoweredOperator(
            operator.node_id, operator_name(operator), operator.op_type, call, _constant(source)
        )


def pair_problems(kind: FloatType, graph: Graph, operator: Operator) -> list[str]:
    """Checks two inputs that are broadcast to the output."""
    reasons = checks.check_count(operator, inputs=(2,))
    if reasons:
        return reasons
    first, second = (graph.tensor(i) for i in operator.inputs)
    output = graph.tensor(operator.outputs[0])
    for role, tensor in (("input 0", first), ("input 1", second), ("output", output)):
        reasons += kind.check(role, tensor)
    if reasons:
        return reasons
    return check_broadcast((first, second), output)


def same_shape_problems(kind: FloatType, graph: Graph, operator: Operator) -> list[str]:
    """Checks one input and an output of its shape."""
    reasons = checks.check_count(operator, inputs=(1,))
    if reasons:
        return reasons
    source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
    reasons += kind.check("input", source) + kind.check("output", output)
    if source.shape != output.shape:
        reasons.append(
            f"input {list(source.shape)} and output {list(output.shape)} differ in shape"
        )
    return reasons


def _constant(tensor: Tensor) -> tuple[Constant, ...]:
    return () if tensor.data is None else (Constant(tensor.id, tensor.data),)
