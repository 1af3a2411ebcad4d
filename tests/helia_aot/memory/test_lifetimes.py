# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from helia_aot.memory.lifetimes import Block, live_at_peak, merge_aliases
from helia_aot.memory.requests import TensorRequest


def test_chain_becomes_one_block_that_spans_all_members() -> None:
    requests = [
        TensorRequest("c", "scratch", 8, 4, 6, alias_of="b"),
        TensorRequest("a", "scratch", 16, 0, 1),
        TensorRequest("b", "scratch", 16, 1, 4, alias_of="a", memory="sram"),
        TensorRequest("other", "scratch", 4, 2, 2),
    ]
    assert merge_aliases(requests) == (
        Block("a", ("c", "a", "b"), 16, 0, 6, ("sram",)),
        Block("other", ("other",), 4, 2, 2, ()),
    )


def test_peak_counts_blocks_that_meet_at_one_operator() -> None:
    blocks = merge_aliases(
        [
            TensorRequest("a", "scratch", 10, 0, 1),
            TensorRequest("b", "scratch", 20, 1, 2),
            TensorRequest("c", "scratch", 15, 2, 3),
        ]
    )
    assert [block.root for block in live_at_peak(blocks)] == ["b", "c"]
