# SPDX-License-Identifier: Apache-2.0
"""Float32 models in half precision: ``model.precision: float16``."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from helia_aot.errors import ConfigError, Problem
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Tensor

_LARGEST: Final = float(np.finfo(np.float16).max)


def float16(graph: Graph) -> Graph:
    """Gives the graph with every float32 tensor as float16, the model's inputs and outputs too.

    Constants are rounded to the nearest half; integer tensors and operators stay.

    Raises:
        ConfigError: Constants are beyond the range of float16; all are listed.
    """
    beyond = [
        Problem(
            f"tensor {tensor.id} {tensor.name}".rstrip(),
            f"has values up to {float(np.abs(tensor.data).max()):.3g}; float16 ends at {_LARGEST:.0f}",
        )
        for tensor in graph.tensors.values()
        if tensor.dtype is DType.FLOAT32
        and tensor.data is not None
        and tensor.data.size
        and float(np.abs(tensor.data).max()) > _LARGEST
    ]
    if beyond:
        raise ConfigError(
            "model.precision: float16 cannot hold the model's constants",
            beyond,
            next_step="Use model.precision: model.",
        )
    return graph.replace(tensors={t.id: _half(t) for t in graph.tensors.values()})


def _half(tensor: Tensor) -> Tensor:
    if tensor.dtype is not DType.FLOAT32:
        return tensor
    data = None if tensor.data is None else tensor.data.astype(np.float16)
    return replace(tensor, dtype=DType.FLOAT16, data=data)
