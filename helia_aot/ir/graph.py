# SPDX-License-Identifier: Apache-2.0
"""The intermediate representation: tensors and operators of one subgraph in execution order.

Values are frozen; a transform makes a new graph with :meth:`Graph.replace` and leaves the old one as it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from typing import Any

from numpy.typing import NDArray

from helia_aot.ir.dtypes import DType


@dataclass(frozen=True)
class Quantization:
    """Affine quantization, ``real = scale * (quantized - zero_point)``.

    Attributes:
        scales: One scale for the tensor, or one for each slice along ``axis``.
        zero_points: As many zero points as scales.
        axis: The dimension that the scales run along; 0 when there is one scale only.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int = 0

    @property
    def is_per_channel(self) -> bool:
        """Whether there is more than one scale."""
        return len(self.scales) > 1

    @property
    def scale(self) -> float:
        """The first scale: the tensor's only one unless it is quantized per channel."""
        return self.scales[0]

    @property
    def zero_point(self) -> int:
        """The first zero point: the tensor's only one unless it is quantized per channel."""
        return self.zero_points[0]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Quantization by blocks along the last dimension, ``real = scale * (quantized - zero_point)``.

    Attributes:
        scales: One scale for each block, float16 or float32, in the tensor's shape with blocks in the last dimension.
        zero_points: As many zero points.
        size: Elements of a block.
    """

    scales: NDArray[Any]
    zero_points: NDArray[Any]
    size: int


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value of the graph.

    Attributes:
        id: The TFLite tensor index as a string, or a made name such as ``conv_2d_0_weight_sum``.
        name: The name that the model gives the tensor; may be empty.
        shape: Shape as the file gives it (a scalar has the empty shape); a supported model has no dimension below 1.
        dtype: Element type.
        quantization: Affine quantization, or None for plain numbers.
        data: The payload of a constant in ``shape``, int4 values as int8, or None for a computed tensor. Never written
            to.
        is_variable: Whether the tensor keeps its value from one inference to the next.
        blocks: Quantization by blocks, which ``quantization`` cannot state; None for the ordinary forms.
    """

    id: str
    name: str
    shape: tuple[int, ...]
    dtype: DType
    quantization: Quantization | None = None
    data: NDArray[Any] | None = None
    is_variable: bool = False
    blocks: Blocks | None = None

    @property
    def is_constant(self) -> bool:
        """Whether the value is known at conversion."""
        return self.data is not None

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Size of the payload in bytes."""
        return self.elements * self.dtype.size_bytes


@dataclass(frozen=True)
class Operator:
    """One operation of the graph.

    Attributes:
        node_id: The operator's index in the TFLite subgraph as a string; transforms keep it.
        op_type: The TFLite name, e.g. ``CONV_2D``.
        inputs: Tensor ids in the order of TFLite; None for an optional input that is absent.
        outputs: Tensor ids.
        attributes: The options, one frozen dataclass of ``helia_aot.ir.attributes`` for each family.
    """

    node_id: str
    op_type: str
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    attributes: Any = None


@dataclass(frozen=True)
class Graph:
    """One subgraph of a model.

    Attributes:
        subgraph: Index of the subgraph in the file.
        tensors: All tensors by id, in the order of the file.
        operators: Operators in execution order.
        inputs: Ids of the model's inputs, in order.
        outputs: Ids of the model's outputs, in order.
        description: The text that the model carries about itself; may be empty.
        subgraphs: Subgraphs that CALL_ONCE, IF and WHILE run, those inside of others included, by index.
    """

    subgraph: int
    tensors: Mapping[str, Tensor]
    operators: tuple[Operator, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    description: str = field(default="")
    subgraphs: Mapping[int, Graph] = field(default_factory=dict)

    def tensor(self, tensor_id: str | None) -> Tensor:
        """Gives the tensor of an id that must exist.

        Raises:
            KeyError: The id is None or unknown, which is our own bug.
        """
        if tensor_id is None:
            raise KeyError("an absent optional tensor was asked for")
        return self.tensors[tensor_id]

    def replace(self, **changes: Any) -> Graph:
        """Gives a copy of the graph in which the named fields are changed."""
        return dataclass_replace(self, **changes)
