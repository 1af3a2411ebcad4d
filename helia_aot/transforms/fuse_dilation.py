# SPDX-License-Identifier: Apache-2.0
"""SPACE_TO_BATCH_ND, a depthwise convolution and BATCH_TO_SPACE_ND as the dilated layer that they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from helia_aot.ir.attributes import ConvolutionAttributes, ExplicitPadding
from helia_aot.ir.graph import Graph, Operator
from helia_aot.operators.space_batch import BlockGrid, SpaceBatch, block_grid
from helia_aot.transforms.uses import is_same_kind, readers

_LAYER: Final = "DEPTHWISE_CONV_2D"
"""The only layer for which it pays: CONV_2D gathers whole rows of a patch, which dilation takes apart."""
_RENAMES: Final = ("EXPAND_DIMS", "RESHAPE", "SQUEEZE")
_CUT, _JOIN = SpaceBatch(to_batch=True), SpaceBatch(to_batch=False)


def fuse_dilation(graph: Graph) -> Graph:
    """Gives the graph in which taps are as far apart as blocks were large, and the blocks are gone.

    A depthwise convolution over the images that SPACE_TO_BATCH_ND cuts out is one whose taps are a block apart. Around
    those over one dimension an operator adds a dimension of 1 and another drops it; these stay. The layer must have
    stride and dilation 1 and no padding of its own, each tensor in between one reader, and the padding must be less
    than the filter spans, so that no window lies outside the input.
    """
    for operator in graph.operators:
        if operator.op_type == "SPACE_TO_BATCH_ND":
            chain = _chain(graph, operator, readers(graph))
            fused = None if chain is None else _fused(graph, chain)
            graph = graph if fused is None else fused
    return graph


@dataclass(frozen=True)
class _Chain:
    """The operators in order; those that add and drop a dimension come together or not at all."""

    cut: Operator
    layer: Operator
    join: Operator
    expand: Operator | None = None
    drop: Operator | None = None


@dataclass(frozen=True)
class _Whole:
    """The uncut images around a convolution, NHWC, and how they are cut and joined."""

    in_shape: tuple[int, ...]
    out_shape: tuple[int, ...]
    cut: BlockGrid
    join: BlockGrid


def _chain(graph: Graph, cut: Operator, uses: Mapping[str, list[Operator]]) -> _Chain | None:
    found = [cut]
    while len(found) < 5:
        last = found[-1]
        after = uses.get(last.outputs[0], []) if len(last.outputs) == 1 else []
        is_alone = len(after) == 1 and last.outputs[0] not in graph.outputs
        if not is_alone or after[0].inputs[0] != last.outputs[0]:
            return None
        found.append(after[0])
        if after[0].op_type == "BATCH_TO_SPACE_ND":
            break
    match [operator.op_type for operator in found[1:]]:
        case [layer, "BATCH_TO_SPACE_ND"] if layer == _LAYER:
            return _Chain(*found)
        case [expand, layer, drop, "BATCH_TO_SPACE_ND"] if (
            layer == _LAYER and expand in _RENAMES and drop in _RENAMES
        ):
            return _Chain(cut, found[2], found[4], found[1], found[3])
    return None


def _fused(graph: Graph, chain: _Chain) -> Graph | None:
    """Gives the graph with the dilated convolution; None where the operators do anything else."""
    if _CUT.problems(graph, chain.cut) or _JOIN.problems(graph, chain.join):
        return None
    if len(chain.layer.inputs) < 2 or chain.layer.inputs[1] is None:
        return None
    source, output = graph.tensor(chain.cut.inputs[0]), graph.tensor(chain.join.outputs[0])
    before, after = graph.tensor(chain.layer.inputs[0]), graph.tensor(chain.layer.outputs[0])
    cut, join = block_grid(graph, chain.cut), block_grid(graph, chain.join)
    if not is_same_kind(source, before) or not is_same_kind(after, output) or source.is_constant:
        return None
    whole = _Whole(source.shape, output.shape, cut, join)
    if chain.expand is not None:
        narrow = graph.tensor(chain.cut.outputs[0]).shape
        axis = _new_axis(narrow, before.shape)
        if axis is None or after.shape != _with(graph.tensor(chain.join.inputs[0]).shape, axis):
            return None
        if axis == 1:
            cut, join = _turned(cut), _turned(join)
        whole = _Whole(_with(source.shape, axis), _with(output.shape, axis), cut, join)
    attributes = _dilated(graph, chain.layer, whole)
    return None if attributes is None else _rewritten(graph, chain, attributes, whole)


def _new_axis(narrow: tuple[int, ...], wide: tuple[int, ...]) -> int | None:
    """Gives where an operator adds a dimension of 1 to an image of one; None where that is not all it does."""
    fits = [axis for axis in (1, 2) if len(narrow) == 3 and _with(narrow, axis) == wide]
    return fits[0] if len(fits) == 1 else None


def _with(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], 1, *shape[axis:])


def _turned(grid: BlockGrid) -> BlockGrid:
    """Gives what was said of rows for columns."""
    return BlockGrid(grid.block[::-1], grid.before[::-1], grid.after[::-1])


def _dilated(graph: Graph, layer: Operator, whole: _Whole) -> ConvolutionAttributes | None:
    """Gives the options of a layer over uncut images; None where it cannot compute them."""
    cut, join = whole.cut, whole.join
    options, filters = layer.attributes, graph.tensor(layer.inputs[1]).shape
    if not isinstance(options, ConvolutionAttributes) or len(filters) != 4:
        return None
    if len(whole.in_shape) != 4 or cut.block != join.block or any(join.before):
        return None
    steps = (options.stride_h, options.stride_w, options.dilation_h, options.dilation_w)
    if steps != (1, 1, 1, 1) or (options.padding != "VALID" and filters[1:3] != (1, 1)):
        return None
    margins = []
    for i in range(2):
        reach = (filters[1 + i] - 1) * cut.block[i]
        above = cut.before[i]
        below = whole.out_shape[1 + i] + reach - whole.in_shape[1 + i] - above
        is_whole = below == cut.after[i] - join.after[i]
        if not is_whole or below < 0 or max(above, below) > reach:
            return None
        margins.append((above, below))
    (top, bottom), (left, right) = margins
    return replace(
        options,
        padding=ExplicitPadding(top, bottom, left, right),
        dilation_h=cut.block[0],
        dilation_w=cut.block[1],
    )


def _rewritten(
    graph: Graph, chain: _Chain, attributes: ConvolutionAttributes, whole: _Whole
) -> Graph:
    layer, tensors = replace(chain.layer, attributes=attributes), dict(graph.tensors)
    source, output = chain.cut.inputs[0], chain.join.outputs
    changed = {}
    if chain.expand is None or chain.drop is None:
        layer = replace(layer, inputs=(source, *layer.inputs[1:]), outputs=output)
    else:
        # They rename; their other input, a shape or an axis, does not say more than their output.
        changed[chain.expand.node_id] = replace(chain.expand, inputs=(source,))
        changed[chain.drop.node_id] = replace(
            chain.drop, inputs=chain.drop.inputs[:1], outputs=output
        )
        for tensor_id, shape in (
            (layer.inputs[0], whole.in_shape),
            (layer.outputs[0], whole.out_shape),
        ):
            tensor = graph.tensor(tensor_id)
            tensors[tensor.id] = replace(tensor, shape=shape)
    changed[layer.node_id] = layer
    gone = {chain.cut.node_id, chain.join.node_id}
    return graph.replace(
        tensors=tensors,
        operators=tuple(
            changed.get(operator.node_id, operator)
            for operator in graph.operators
            if operator.node_id not in gone
        ),
    )
