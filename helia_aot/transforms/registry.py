# SPDX-License-Identifier: Apache-2.0
"""The transforms of a conversion in the order in which they run; each gives a graph with the same outputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from helia_aot.config.convert import ANY, TransformRule
from helia_aot.ir.graph import Graph
from helia_aot.transforms.declarations import DECLARATIONS, NEEDED
from helia_aot.transforms.depthwise_to_convolution import depthwise_to_convolution
from helia_aot.transforms.expand_broadcasts import expand_broadcasts
from helia_aot.transforms.float_weights import float_weights
from helia_aot.transforms.fold_constants import fold_constants
from helia_aot.transforms.fold_dequantize import fold_dequantize
from helia_aot.transforms.fold_shapes import fold_shapes
from helia_aot.transforms.fuse_activations import fuse_activations
from helia_aot.transforms.fuse_dilation import fuse_dilation
from helia_aot.transforms.fuse_padding import fuse_padding
from helia_aot.transforms.inline_control_flow import inline_control_flow
from helia_aot.transforms.remove_identities import remove_identities
from helia_aot.transforms.resolve_variables import resolve_variables
from helia_aot.transforms.unpack_int4 import unpack_int4

_CODE: Final = (
    inline_control_flow,
    resolve_variables,
    fold_shapes,
    fold_constants,
    unpack_int4,
    fold_dequantize,
    float_weights,
    remove_identities,
    fuse_dilation,
    fuse_padding,
    depthwise_to_convolution,
    fuse_activations,
    expand_broadcasts,
)

TRANSFORMS: Final[Mapping[str, Callable[[Graph], Graph]]] = {
    declaration.name: code for declaration, code in zip(DECLARATIONS, _CODE, strict=True)
}
"""The code of each declared transform by its name, in order."""


def enabled_transforms(rules: Sequence[TransformRule]) -> frozenset[str]:
    """Gives the names of the transforms that run.

    A rule that names a transform goes over rules for ``*``, and a later rule over an earlier one of the same kind.
    ``*`` stands for those that can be switched off.
    """
    switches = dict.fromkeys(TRANSFORMS, True)
    for rule in (rule for rule in rules if rule.name == ANY):
        switches.update(dict.fromkeys(TRANSFORMS.keys() - NEEDED.keys(), rule.enabled))
    switches.update({rule.name: rule.enabled for rule in rules if rule.name != ANY})
    return frozenset(name for name, enabled in switches.items() if enabled)


def apply_transforms(graph: Graph, enabled: Collection[str] = frozenset(TRANSFORMS)) -> Graph:
    """Gives the graph after the enabled transforms, by default all."""
    for name, transform in TRANSFORMS.items():
        if name in enabled:
            graph = transform(graph)
    return graph
