# SPDX-License-Identifier: Apache-2.0
"""RESIZE_BILINEAR of int8 images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator
from helia_aot.operators import checks
from helia_aot.operators.movement import check_image_sizes
from helia_aot.operators.spec import (
    Argument,
    Constant,
    LoweredOperator,
    Plain,
    Support,
    Target,
    TensorPointer,
    constants_of,
    dims,
    lowered,
    operator_name,
    read_pointer,
    written_pointer,
)

_ONE: Final = 1 << 10
"""A weight of one."""


class ResizeBilinear(Plain):
    """The RESIZE_BILINEAR family: int8."""

    support = (Support(("int8",), "the size is a constant; input and output quantized alike"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the image cannot be resized."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        reasons += checks.check_quantized("input", source, (DType.INT8,))
        reasons += checks.check_quantized("output", output, (DType.INT8,))
        reasons += checks.check_integers("size", graph.tensor(operator.inputs[1]))
        if reasons:
            return reasons
        try:
            check_image_sizes(graph, operator)
        except ValueError as error:
            return [str(error)]
        return checks.check_same_quantization(source, output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call with the neighbours and weights of every row and column."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        name = operator_name(operator)
        rows, columns = (
            Constant(
                f"{name}_{what}", neighbours(source.shape[i], output.shape[i], operator.attributes)
            )
            for i, what in ((1, "rows"), (2, "columns"))
        )
        arguments = [
            Argument("input", read_pointer(source)),
            Argument("input_dims", dims(*source.shape)),
            Argument("rows", TensorPointer(rows.id, "const int32_t *")),
            Argument("columns", TensorPointer(columns.id, "const int32_t *")),
            Argument("output", written_pointer(output)),
            Argument("output_dims", dims(*output.shape)),
        ]
        constants = (*constants_of(source), rows, columns)
        return lowered(operator, "helia_nn_resize_bilinear_s8", arguments, constants=constants)


def real_neighbours(
    size: int, wanted: int, options: Any
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Gives for each output position the input positions before and after it, and the weight of the latter.

    Args:
        size: Input rows or columns.
        wanted: Output rows or columns.
        options: The operator's attributes.

    Returns:
        Shapes ``[wanted * 2]`` and ``[wanted]``, computed with 32-bit floats as TFLite's float code does.
    """
    f32 = np.float32
    corners = options.align_corners and wanted > 1
    scale = f32(size - 1) / f32(wanted - 1) if corners else f32(size) / f32(wanted)
    pairs, weights = [], []
    for i in range(wanted):
        at = (
            (f32(i) + f32(0.5)) * scale - f32(0.5) if options.half_pixel_centers else f32(i) * scale
        )
        before = max(int(np.floor(at)), 0)
        pairs += [before, min(int(np.ceil(at)), size - 1)]
        weights.append(at - f32(before))
    return np.array(pairs, np.int32), np.array(weights, np.float32)


def neighbours(size: int, wanted: int, options: Any) -> NDArray[np.int32]:
    """Gives for each output position the input positions before and after it and the weight of the latter.

    Args:
        size: Input rows or columns.
        wanted: Output rows or columns.
        options: The operator's attributes.

    Returns:
        Shape ``[wanted * 3]``; weights in 1/1024, rounded as TFLite's integer code rounds them.
    """
    if options.align_corners and wanted > 1:
        scale = (_ONE * (size - 1) + (wanted - 1) // 2) // (wanted - 1)
    else:
        scale = (_ONE * size + wanted // 2) // wanted
    found = []
    for i in range(wanted):
        at = i * scale
        if options.half_pixel_centers:
            at += scale // 2 - _ONE // 2
        before = max(int(at / _ONE), 0)
        after = min(int((at + _ONE - 1) / _ONE), size - 1)
        found += [before, after, at - _ONE * before]
    return np.array(found, dtype=np.int32)
