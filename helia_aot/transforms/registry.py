# SPDX-License-Identifier: Apache-2.0
"""The transforms of a conversion in the order in which they run; each gives a graph with the same outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from helia_aot.ir.graph import Graph
from helia_aot.transforms.float_weights import float_weights
from helia_aot.transforms.fold_constants import fold_constants
from helia_aot.transforms.fold_dequantize import fold_dequantize
from helia_aot.transforms.resolve_variables import resolve_variables
from helia_aot.transforms.unpack_int4 import unpack_int4


@dataclass(frozen=True)
class Transform:
    """A rewriting of the graph.

    Attributes:
        name: How configurations name it.
        text: What it does, in one sentence.
        apply: Gives the rewritten graph.
    """

    name: str
    text: str
    apply: Callable[[Graph], Graph]


TRANSFORMS: Final = (
    Transform(
        "resolve_variables",
        "Resource variables become tensors that keep values.",
        resolve_variables,
    ),
    Transform("fold_constants", "Static shape expressions become constants.", fold_constants),
    Transform("unpack_int4", "int4 constants become int8 constants.", unpack_int4),
    Transform(
        "fold_dequantize", "DEQUANTIZE of a constant becomes a float32 constant.", fold_dequantize
    ),
    Transform(
        "float_weights", "Integer weights of float layers become float32 constants.", float_weights
    ),
)
"""All transforms, in order."""


def apply_transforms(graph: Graph) -> Graph:
    """Gives the graph after all transforms."""
    for transform in TRANSFORMS:
        graph = transform.apply(graph)
    return graph
