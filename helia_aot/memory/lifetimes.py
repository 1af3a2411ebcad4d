# SPDX-License-Identifier: Apache-2.0
"""When storage is in use: alias chains become blocks, and blocks have a peak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from helia_aot.memory.requests import TensorRequest, alias_root


@dataclass(frozen=True)
class Block:
    """Storage shared by the tensors of one alias chain.

    Attributes:
        root: Id of the tensor that owns the storage.
        members: Ids of all tensors in it, in the order of the requests.
        size_bytes: The largest member's size.
        first_use: First operator position at which any member is live.
        last_use: Last operator position at which any member is live, inclusive.
        memories: Memories that rules ask for; more than one is a contradiction.
    """

    root: str
    members: tuple[str, ...]
    size_bytes: int
    first_use: int
    last_use: int
    memories: tuple[str, ...]


def merge_aliases(requests: Sequence[TensorRequest]) -> tuple[Block, ...]:
    """Gives one block for each alias chain, in the order in which the requests first name them.

    The lifetime of a block spans all its members, so a value is not overwritten as long as any name
    of it is used.
    """
    by_id = {request.id: request for request in requests}
    chains: dict[str, list[TensorRequest]] = {}
    for request in requests:
        chains.setdefault(alias_root(request, by_id).id, []).append(request)
    return tuple(
        Block(
            root=root,
            members=tuple(member.id for member in chain),
            size_bytes=max(member.size_bytes for member in chain),
            first_use=min(member.first_use for member in chain),
            last_use=max(member.last_use for member in chain),
            memories=tuple(sorted({member.memory for member in chain if member.memory})),
        )
        for root, chain in chains.items()
    )


def live_at_peak(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Gives the blocks live at the first operator at which most payload bytes are live."""
    blocks = tuple(blocks)
    changes: Counter[int] = Counter()
    for block in blocks:
        changes[block.first_use] += block.size_bytes
        changes[block.last_use + 1] -= block.size_bytes
    live_bytes, peak_bytes, peak_at = 0, 0, 0
    for position in sorted(changes):
        live_bytes += changes[position]
        if live_bytes > peak_bytes:
            peak_bytes, peak_at = live_bytes, position
    return tuple(block for block in blocks if block.first_use <= peak_at <= block.last_use)
