# SPDX-License-Identifier: Apache-2.0
"""More float32 and float16 operators: functions of one element, divisions, reductions, LOG_SOFTMAX, resizing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators import checks
from helia_aot.operators.broadcasting import BROADCAST, operand_dims
from helia_aot.operators.float_maps import pair_problems, same_shape_problems
from helia_aot.operators.floating import FloatType
from helia_aot.operators.integer32 import OPERATIONS
from helia_aot.operators.movement import check_image_sizes
from helia_aot.operators.reduction import axis_arguments, check_reduced_shape
from helia_aot.operators.resize import real_neighbours
from helia_aot.operators.spec import (
    Argument,
    Constant,
    LoweredOperator,
    Plain,
    Struct,
    Support,
    Target,
    TensorPointer,
    constants_of,
    dims,
    lowered,
    operator_name,
)

_SIMPLE: Final = {
    "NEG": 0,
    "ABS": 1,
    "SQUARE": 2,
    "SQRT": 3,
    "RSQRT": 4,
    "FLOOR": 5,
    "CEIL": 6,
    "ROUND": 7,
}
"""Functions of ``helia_nn_map_*`` by their code."""
_ELEMENTARY: Final = {"EXP": 8, "LOG": 9, "SIN": 10, "COS": 11, "ELU": 12, "GELU": 13}
"""Functions of ``helia_nn_elementary_*`` by their code."""
_GELU_TANH: Final = 14
_REDUCTIONS: Final = {"SUM": 0, "MEAN": 1, "REDUCE_MAX": 2, "REDUCE_MIN": 3}
FUNCTIONS: Final = (*_SIMPLE, *_ELEMENTARY)
"""TFLite operators that are a function of one element."""


class FloatElementary(Plain):
    """A function of one element; computed in single precision.

    Args:
        kind: The type.
        name: The TFLite operator name, of :data:`FUNCTIONS`.
    """

    def __init__(self, kind: FloatType, name: str) -> None:
        self._kind, self._name = kind, name

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support("numbers up to 1e4" if self._name in ("SIN", "COS") else "")

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operator cannot be compiled."""
        return same_shape_problems(self._kind, graph, operator)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        kind = self._kind
        source, output = _ends(graph, operator)
        stem = "helia_nn_map" if self._name in _SIMPLE else "helia_nn_elementary"
        code = {**_SIMPLE, **_ELEMENTARY}[self._name]
        if self._name == "GELU" and operator.attributes.approximate:
            code = _GELU_TANH
        arguments = [
            Argument("input", kind.input(source)),
            Argument("function", code),
            Argument("output", kind.output(output)),
            Argument("size", output.elements),
        ]
        entry = f"{stem}_{kind.suffix}"
        return lowered(operator, entry, arguments, constants=constants_of(source))


class FloatLeakyRelu(Plain):
    """LEAKY_RELU: PRELU with one slope for all elements.

    Args:
        kind: The type.
    """

    def __init__(self, kind: FloatType) -> None:
        self._kind = kind

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
        """Makes the PReLU call with a constant of one element."""
        del choices, target
        kind = self._kind
        source, output = _ends(graph, operator)
        slope = np.array([operator.attributes.alpha], kind.dtype.numpy)
        alpha = Constant(f"{operator_name(operator)}_slope", slope)
        run, one = dims(1, 1, 1, output.elements), dims(1, 1, 1, 1)
        arguments = [
            Argument("input_dims", run),
            Argument("input", kind.input(source)),
            Argument("alpha_dims", one),
            Argument("alpha", kind.input(alpha)),
            Argument("output_dims", run),
            Argument("output", kind.output(output)),
        ]
        constants = (*constants_of(source), alpha)
        return lowered(operator, f"arm_prelu_{kind.suffix}", arguments, constants=constants)


class FloatArithmetic(Plain):
    """DIV, FLOOR_DIV, FLOOR_MOD and SQUARED_DIFFERENCE, same shapes or broadcast.

    Args:
        kind: The type.
        name: The TFLite operator name.
    """

    def __init__(self, kind: FloatType, name: str) -> None:
        self._kind, self._name = kind, name

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support(BROADCAST)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operation cannot be compiled."""
        reasons = pair_problems(self._kind, graph, operator)
        return reasons or checks.check_activation(checks.fused_activation(operator))

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        kind = self._kind
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        extents = operand_dims(first, second, output)
        low, high = kind.limits(checks.fused_activation(operator))
        arguments = [
            Argument("input1_data", kind.input(first)),
            Argument("input1_dims", extents[0]),
            Argument("input2_data", kind.input(second)),
            Argument("input2_dims", extents[1]),
            Argument("operation", OPERATIONS[self._name]),
            Argument("low", low),
            Argument("high", high),
            Argument("output_data", kind.output(output)),
            Argument("output_dims", extents[2]),
        ]
        entry = f"helia_nn_arithmetic_{kind.suffix}"
        return lowered(operator, entry, arguments, constants=constants_of(first, second))


class FloatReduction(Plain):
    """MEAN, SUM, REDUCE_MAX and REDUCE_MIN over constant axes; sums are kept in single precision.

    Args:
        kind: The type.
        name: The TFLite operator name.
    """

    def __init__(self, kind: FloatType, name: str) -> None:
        self._kind, self._name = kind, name

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support("the axes are a constant")

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the reduction cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        source, output = _ends(graph, operator)
        reasons += self._kind.check("input", source) + self._kind.check("output", output)
        reasons += checks.check_integers("axes", graph.tensor(operator.inputs[1]))
        return reasons or check_reduced_shape(graph, operator)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the reduction call."""
        del choices, target
        source, output = _ends(graph, operator)
        arguments = [
            Argument("input", self._kind.input(source)),
            *axis_arguments(graph, operator),
            Argument("operation", _REDUCTIONS[self._name]),
            Argument("output", self._kind.output(output)),
        ]
        entry = f"helia_nn_reduce_{self._kind.suffix}"
        return lowered(operator, entry, arguments, constants=constants_of(source))


class FloatLogSoftmax(Plain):
    """LOG_SOFTMAX over the last dimension; computed in single precision.

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
        """Lists why the operator cannot be compiled."""
        reasons = same_shape_problems(self._kind, graph, operator)
        if not reasons and not graph.tensor(operator.inputs[0]).shape:
            reasons.append("input is a scalar; supported: at least 1 dimension")
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        source, output = _ends(graph, operator)
        arguments = [
            Argument("input", self._kind.input(source)),
            Argument("num_rows", source.elements // source.shape[-1]),
            Argument("row_size", source.shape[-1]),
            Argument("output", self._kind.output(output)),
        ]
        entry = f"helia_nn_log_softmax_{self._kind.suffix}"
        return lowered(operator, entry, arguments, constants=constants_of(source))


class FloatResizeBilinear(Plain):
    """RESIZE_BILINEAR; interpolated in single precision.

    Args:
        kind: The type.
    """

    def __init__(self, kind: FloatType) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support("the size is a constant")

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the image cannot be resized."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        source, output = _ends(graph, operator)
        reasons += self._kind.check("input", source) + self._kind.check("output", output)
        reasons += checks.check_integers("size", graph.tensor(operator.inputs[1]))
        if reasons:
            return reasons
        try:
            check_image_sizes(graph, operator)
        except ValueError as error:
            reasons.append(str(error))
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call with the neighbours and weights of every row and column."""
        del choices, target
        source, output = _ends(graph, operator)
        rows = _neighbours(operator, "rows", source.shape[1], output.shape[1])
        columns = _neighbours(operator, "columns", source.shape[2], output.shape[2])
        arguments = [
            Argument("input", self._kind.input(source)),
            Argument("input_dims", _image(source)),
            Argument("rows", TensorPointer(rows[0].id, "const int32_t *")),
            Argument("row_weights", TensorPointer(rows[1].id, "const float32_t *")),
            Argument("columns", TensorPointer(columns[0].id, "const int32_t *")),
            Argument("column_weights", TensorPointer(columns[1].id, "const float32_t *")),
            Argument("output", self._kind.output(output)),
            Argument("output_dims", _image(output)),
        ]
        entry = f"helia_nn_resize_bilinear_{self._kind.suffix}"
        constants = (*constants_of(source), *rows, *columns)
        return lowered(operator, entry, arguments, constants=constants)


def _ends(graph: Graph, operator: Operator) -> tuple[Tensor, Tensor]:
    return graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])


def _image(tensor: Tensor) -> Struct:
    return dims(*tensor.shape)


def _neighbours(operator: Operator, what: str, size: int, wanted: int) -> tuple[Constant, Constant]:
    options: Any = operator.attributes
    pairs, weights = real_neighbours(size, wanted, options)
    name = f"{operator_name(operator)}_{what}"
    return Constant(name, pairs), Constant(f"{name}_weights", weights)
