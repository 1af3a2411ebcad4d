# SPDX-License-Identifier: Apache-2.0
"""The published example of a residency report: a small model converted for apollo510_evb.

Operators: CONV_2D 0, pooling 1, CONV_2D 2, pooling 3, RESHAPE 4, SVDF 5, FULLY_CONNECTED 6,
SOFTMAX 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from helia_aot.memory.plan import Memories, MemoryPlan, plan_memory
from helia_aot.memory.planners import Greedy, Planner
from helia_aot.memory.requests import TensorRequest

# (id, role, offset, size) in the order of the published report
_PLACES = (
    ("0", "scratch", 4096, 768),
    ("1", "constant", 0, 432),
    ("3", "scratch", 0, 4096),
    ("4", "scratch", 4096, 1024),
    ("5", "constant", 624, 9216),
    ("7", "scratch", 0, 4096),
    ("8", "scratch", 4096, 1024),
    ("9", "constant", 10608, 8),
    ("10", "scratch", 4096, 1024),
    ("11", "constant", 10624, 32768),
    ("12", "constant", 43392, 128),
    ("13", "constant", 43520, 128),
    ("14", "persistent", 0, 128),
    ("15", "scratch", 256, 32),
    ("18", "scratch", 0, 10),
    ("19", "scratch", 16, 10),
    ("conv_2d_0_multiplier", "constant", 496, 64),
    ("conv_2d_0_scratch", "scratch", 4864, 128),
    ("conv_2d_0_shift", "constant", 560, 64),
    ("conv_2d_0_weight_sum", "constant", 432, 64),
    ("conv_2d_2_multiplier", "constant", 10096, 256),
    ("conv_2d_2_scratch", "scratch", 5120, 576),
    ("conv_2d_2_shift", "constant", 10352, 256),
    ("conv_2d_2_weight_sum", "constant", 9840, 256),
    ("fully_connected_6_packed", "constant", 43648, 528),
    ("svdf_5_scratch_a", "scratch", 0, 128),
    ("svdf_5_scratch_b", "scratch", 128, 128),
    ("svdf_5_weight_sum", "constant", 43520, 128),
)

_CONSTANTS = (
    ("1", 432),
    ("conv_2d_0_weight_sum", 64),
    ("conv_2d_0_multiplier", 64),
    ("conv_2d_0_shift", 64),
    ("5", 9216),
    ("conv_2d_2_weight_sum", 256),
    ("conv_2d_2_multiplier", 256),
    ("conv_2d_2_shift", 256),
    ("9", 8),
    ("11", 32768),
    ("12", 128),
    ("13", 128),
    ("svdf_5_weight_sum", 128),
    ("fully_connected_6_packed", 528),
)


def _demo_requests() -> list[TensorRequest]:
    # tensor 13 and svdf_5_weight_sum have one offset in the report, so their payloads are equal
    payloads = {name: bytes([1 + i]) * size for i, (name, size) in enumerate(_CONSTANTS)}
    payloads["svdf_5_weight_sum"] = payloads["13"]
    return [
        *(TensorRequest(name, "constant", size, data=payloads[name]) for name, size in _CONSTANTS),
        TensorRequest("14", "persistent", 128),
        TensorRequest("0", "scratch", 768, 0, 0),
        TensorRequest("3", "scratch", 4096, 0, 1),
        TensorRequest("conv_2d_0_scratch", "scratch", 128, 0, 0),
        TensorRequest("4", "scratch", 1024, 1, 2),
        TensorRequest("7", "scratch", 4096, 2, 3),
        TensorRequest("conv_2d_2_scratch", "scratch", 576, 2, 2),
        TensorRequest("8", "scratch", 1024, 3, 4),
        TensorRequest("10", "scratch", 1024, 4, 5, alias_of="8"),
        TensorRequest("15", "scratch", 32, 5, 6),
        TensorRequest("svdf_5_scratch_a", "scratch", 128, 5, 5),
        TensorRequest("svdf_5_scratch_b", "scratch", 128, 5, 5),
        TensorRequest("18", "scratch", 10, 6, 7),
        TensorRequest("19", "scratch", 10, 7, 7),
    ]


@dataclass(frozen=True)
class Demo:
    """The example: what is published about it, and requests that lead to it."""

    requests: list[TensorRequest] = field(default_factory=_demo_requests)
    memories: dict[str, int] = field(default_factory=lambda: {"dtcm": 507904})
    places: tuple[tuple[str, str, int, int], ...] = _PLACES
    plan_hash: str = "87f6d61da9206a74"
    tensor_layout_hash: str = "b8c2130e3dd06b16"
    compiler_version: str = "0.33.0"

    def plan(self, planner: Planner | None = None) -> MemoryPlan:
        """Gives the plan, by default of the planner that the example was made with."""
        return plan_memory(
            self.requests, Memories(self.memories, ("dtcm",), 16), planner or Greedy()
        )


@pytest.fixture(scope="session")
def demo() -> Demo:
    return Demo()
