# SPDX-License-Identifier: Apache-2.0
"""MEAN, SUM, REDUCE_MAX and REDUCE_MIN of integers, ARG_MAX and ARG_MIN."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import mean_parameters, rescale_parameters
from helia_aot.operators import checks
from helia_aot.operators.copies import Axis, element_strides
from helia_aot.operators.movement import numbers
from helia_aot.operators.spec import (
    Argument,
    LoweredOperator,
    Plain,
    Support,
    Target,
    TensorPointer,
    constants_of,
    dims,
    integers,
    lowered,
    read_pointer,
    written_pointer,
)

_SUFFIX: Final = {DType.INT8: "s8", DType.INT16: "s16"}
_FLOATS: Final = {DType.FLOAT32: "f32", DType.FLOAT16: "f16"}
_AXES: Final = 3
"""Kept and reduced axes that the kernels walk."""


class Reduction(Plain):
    """The MEAN, SUM, REDUCE_MAX and REDUCE_MIN families: int8 and int16 over constant axes.

    Args:
        kind: ``MEAN``, ``SUM``, ``REDUCE_MAX`` or ``REDUCE_MIN``.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._rescales = kind in ("MEAN", "SUM")

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        alike = "" if self._rescales else "input and output quantized alike; "
        return (Support(("int8", "int16"), f"{alike}the axes are a constant"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the reduction cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        reasons += checks.check_quantized("input", source)
        reasons += checks.check_quantized("output", output)
        reasons += checks.check_same_type(source, output)
        reasons += checks.check_integers("axes", graph.tensor(operator.inputs[1]))
        if reasons:
            return reasons
        reasons += check_reduced_shape(graph, operator)
        if reasons:
            return reasons
        if not self._rescales:
            reasons += checks.check_same_quantization(source, output)
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the reduction call."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        arguments = [Argument("input", read_pointer(source)), *axis_arguments(graph, operator)]
        suffix = _SUFFIX[source.dtype]
        if not self._rescales:
            arguments += [
                Argument("largest", int(self._kind == "REDUCE_MAX")),
                Argument("output", written_pointer(output)),
            ]
            entry = f"helia_nn_reduce_extremum_{suffix}"
            return lowered(operator, entry, arguments, constants=constants_of(source))
        assert source.quantization is not None
        assert output.quantization is not None
        count = source.elements // output.elements
        multiplier, shift = (
            mean_parameters(source.quantization, output.quantization, count)
            if self._kind == "MEAN"
            else rescale_parameters(source.quantization, output.quantization)
        )
        arguments += [
            Argument("sum_offset", -source.quantization.zero_point * count),
            Argument("multiplier", multiplier),
            Argument("shift", shift),
            Argument("output_offset", output.quantization.zero_point),
            Argument("output", written_pointer(output)),
        ]
        entry = f"helia_nn_reduce_sum_{suffix}"
        return lowered(operator, entry, arguments, constants=constants_of(source))


class LogicalReduction(Plain):
    """The REDUCE_ALL and REDUCE_ANY families: the smallest or largest of numbers that are 0 or 1.

    Args:
        kind: ``REDUCE_ALL`` or ``REDUCE_ANY``.
    """

    support = (Support(("bool",), "the axes are a constant"),)

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the reduction cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        reasons += checks.check_same_type(source, output)
        reasons += checks.check_integers("axes", graph.tensor(operator.inputs[1]))
        return reasons or check_reduced_shape(graph, operator)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the reduction call; a bool is the int8 number 0 or 1."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        arguments = [
            Argument("input", TensorPointer(source.id, "const int8_t *")),
            *axis_arguments(graph, operator),
            Argument("largest", int(self._kind == "REDUCE_ANY")),
            Argument("output", TensorPointer(output.id, "int8_t *")),
        ]
        constants = constants_of(source)
        return lowered(operator, "helia_nn_reduce_extremum_s8", arguments, constants=constants)


def check_reduced_shape(graph: Graph, operator: Operator) -> list[str]:
    """Checks the axes and the output of a reduction with constant axes, whatever its type."""
    source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
    rank = len(source.shape)
    axes = numbers(graph.tensor(operator.inputs[1]))
    if not all(-rank <= axis < rank for axis in axes):
        return [f"axes {axes} do not fit {rank} dimensions"]
    gone = {axis % rank for axis in axes} if rank else set()
    kept = [size for i, size in enumerate(source.shape) if i not in gone]
    ones = [1 if i in gone else size for i, size in enumerate(source.shape)]
    expected = ones if operator.attributes.keep_dims else kept
    reasons = checks.check_shape("output", output, expected)
    runs = [len(axes) for axes in reduced_axes(graph, operator)]
    if max(runs) > _AXES:
        reasons.append(f"keeps {runs[0]} and reduces {runs[1]} runs of axes; supported: {_AXES}")
    return reasons


def axis_arguments(graph: Graph, operator: Operator) -> list[Argument]:
    """Gives extents and strides of the kept and the reduced axes, as all reducing kernels take them."""
    kept, reduced = (_filled(axes) for axes in reduced_axes(graph, operator))
    return [
        Argument("kept_extents", integers([axis.extent for axis in kept])),
        Argument("kept_strides", integers([axis.stride for axis in kept])),
        Argument("reduced_extents", integers([axis.extent for axis in reduced])),
        Argument("reduced_strides", integers([axis.stride for axis in reduced])),
    ]


def reduced_axes(graph: Graph, operator: Operator) -> tuple[list[Axis], list[Axis]]:
    """Gives the kept and the reduced axes of a checked reduction, neighbours of one kind merged."""
    source = graph.tensor(operator.inputs[0])
    gone = {axis % len(source.shape) for axis in numbers(graph.tensor(operator.inputs[1]))}
    kept: list[Axis] = []
    reduced: list[Axis] = []
    last: list[Axis] | None = None
    for i, (size, stride) in enumerate(
        zip(source.shape, element_strides(source.shape), strict=True)
    ):
        if size == 1:
            continue
        axes = reduced if i in gone else kept
        if axes is last:
            axes[-1] = Axis(axes[-1].extent * size, stride)
        else:
            axes.append(Axis(size, stride))
        last = axes
    return kept, reduced


def _filled(axes: Sequence[Axis]) -> list[Axis]:
    return [*[Axis(1, 0)] * (_AXES - len(axes)), *axes]


class ArgExtremum(Plain):
    """The ARG_MAX and ARG_MIN families: int8, int16 and floats to int32.

    Args:
        kind: ``max`` or ``min``.
    """

    support = (
        Support(
            ("int8", "int16", "float32", "float16"),
            "int32 output; the axis is a constant",
        ),
    )

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the index cannot be computed."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        source, axis = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        output = graph.tensor(operator.outputs[0])
        if source.dtype not in (*_SUFFIX, *_FLOATS):
            supported = ", ".join((*_SUFFIX, *_FLOATS))
            reasons.append(f"input has type {source.dtype}; supported: {supported}")
        if output.dtype is not DType.INT32:
            reasons.append(f"output has type {output.dtype}; supported: int32")
        reasons += checks.check_integers("axis", axis)
        if reasons:
            return reasons
        position = _axis(source, axis)
        if not 0 <= position < len(source.shape):
            return [f"axis {numbers(axis)[0]} does not fit {len(source.shape)} dimensions"]
        others = source.shape[:position] + source.shape[position + 1 :]
        if output.elements != int(np.prod(others, dtype=np.int64)):
            return [f"output has shape {list(output.shape)}; the operator gives {list(others)}"]
        return []

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        axis = _axis(source, graph.tensor(operator.inputs[1]))
        outer, inner = math.prod(source.shape[:axis]), math.prod(source.shape[axis + 1 :])
        arguments = [
            Argument("input_data", read_pointer(source)),
            Argument("input_dims", dims(1, outer, source.shape[axis], inner)),
            Argument("axis", 2),
        ]
        if source.dtype in _FLOATS:
            arguments.append(Argument("largest", int(self._kind == "max")))
            entry = f"helia_nn_arg_extremum_{_FLOATS[source.dtype]}"
        else:
            entry = f"arm_arg{self._kind}_{_SUFFIX[source.dtype]}"
        arguments.append(Argument("output_data", written_pointer(output)))
        return lowered(operator, entry, arguments, constants=constants_of(source))


def _axis(source: Tensor, axis: Tensor) -> int:
    position = numbers(axis)[0]
    return position + len(source.shape) if position < 0 else position
