# SPDX-License-Identifier: Apache-2.0
"""int4 constants as int8: the values and their quantization stay, the kernels read whole bytes."""

from __future__ import annotations

from dataclasses import replace

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph


def unpack_int4(graph: Graph) -> Graph:
    """Gives the graph with int4 constants as int8.

    Computed int4 tensors stay and are refused later; constants that are scaled by blocks stay for the float layers that
    read them.
    """
    tensors = {
        tensor.id: replace(tensor, dtype=DType.INT8)
        if tensor.dtype is DType.INT4 and tensor.is_constant and tensor.blocks is None
        else tensor
        for tensor in graph.tensors.values()
    }
    return graph.replace(tensors=tensors)
