# SPDX-License-Identifier: Apache-2.0
"""READ_VARIABLE and ASSIGN_VARIABLE of resolved variables, and the first values of all variables."""

from __future__ import annotations

from collections.abc import Mapping

from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators import checks
from helia_aot.operators.spec import (
    Argument,
    Constant,
    KernelCall,
    LoweredOperator,
    Plain,
    Support,
    Target,
    TensorPointer,
    constants_of,
    integers,
    operator_name,
)


def fill_call(tensor: Tensor, element: bytes) -> KernelCall:
    """Makes the call that gives every element of a variable one value."""
    pattern = element[:1] if len(set(element)) == 1 else element
    arguments = (
        Argument("output", TensorPointer(tensor.id, "void *")),
        Argument("bytes", tensor.size_bytes),
        Argument("pattern", int.from_bytes(pattern, "little", signed=True)),
        Argument("pattern_bytes", len(pattern)),
    )
    return KernelCall("helia_nn_fill_pattern", arguments)


def copy_call(source: str, destination: str, size_bytes: int) -> KernelCall:
    """Makes the call that copies a whole tensor."""
    arguments = (
        Argument("input", TensorPointer(source, "const void *")),
        Argument("input_offset", 0),
        Argument("run_bytes", size_bytes),
        Argument("axes", 1),
        Argument("extents", integers([1])),
        Argument("strides", integers([size_bytes])),
        Argument("output", TensorPointer(destination, "void *")),
    )
    return KernelCall("helia_nn_copy_strided", arguments)


class Variable(Plain):
    """The READ_VARIABLE and ASSIGN_VARIABLE families.

    Inputs of a resolved operator: the variable, the value that is assigned, and, of the operator that touches the
    variable first, the first value.

    Args:
        assigns: Whether the operator writes the variable or reads it.
    """

    support = (
        Support(("any",), "VAR_HANDLE names the variable; CALL_ONCE assigns constants to it"),
    )

    def __init__(self, *, assigns: bool) -> None:
        self._assigns = assigns

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the variable cannot be read or written."""
        if not operator.inputs or operator.inputs[0] is None:
            return ["has no variable"]
        variable = graph.tensor(operator.inputs[0])
        if not variable.is_variable:
            return ["its variable is not resolved: VAR_HANDLE or CALL_ONCE is out of the ordinary"]
        other = graph.tensor(operator.inputs[1] if self._assigns else operator.outputs[0])
        for value in (graph.tensor(i) for i in operator.inputs[2 if self._assigns else 1 :]):
            if value.shape != variable.shape or value.dtype is not variable.dtype:
                return [f"the first value has type {value.dtype} and shape {list(value.shape)}"]
        return (
            checks.check_same_type(variable, other)
            or checks.check_shape("value", other, variable.shape)
            or checks.check_same_quantization(variable, other)
        )

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the copy, and at first use the call that gives the variable its first value."""
        del choices, target
        variable = graph.tensor(operator.inputs[0])
        first = operator.inputs[2 if self._assigns else 1 :]
        other = graph.tensor(operator.inputs[1] if self._assigns else operator.outputs[0])
        ends = (other.id, variable.id) if self._assigns else (variable.id, other.id)
        constants = constants_of(other) if self._assigns else ()
        init: tuple[KernelCall, ...] = ()
        if first:
            value = graph.tensor(first[0])
            assert value.data is not None
            raw = value.data.tobytes()
            size = value.dtype.size_bytes
            if raw == raw[:size] * value.elements and (size <= 4 or len(set(raw)) == 1):
                init = (fill_call(variable, raw[:size]),)
            else:
                constants = (*constants, Constant(value.id, value.data))
                init = (copy_call(value.id, variable.id, variable.size_bytes),)
        return LoweredOperator(
            node_id=operator.node_id,
            name=operator_name(operator),
            op_type=operator.op_type,
            call=copy_call(*ends, variable.size_bytes),
            constants=constants,
            init=init,
        )
