# SPDX-License-Identifier: Apache-2.0
"""What accesses cost on a platform at one clock, for the timing model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.layout import ImageLayout
from runners.simulator.timing import CacheGeometry, MemoryRegionTiming

if TYPE_CHECKING:
    from helia_aot.platforms.schema import Cache, Platform, SimulatorTarget


def memory_regions(
    platform: Platform, layout: ImageLayout, clock_mhz: int
) -> tuple[MemoryRegionTiming, ...]:
    """Gives the cost of every memory of a platform.

    The platform states line fills in cycles at one clock. A fill takes the same time at any clock,
    so its cycles grow in proportion to the clock, rounded up. Writing back a modified line costs
    half a fill, rounded up (assumed: a write buffer hides the rest). The stack lies in TCM.

    Args:
        platform: A platform with a simulator.
        layout: Its layout.
        clock_mhz: Core clock.
    """
    target = platform.simulator
    if target is None:
        raise ValueError(f"{platform.name} has no simulator")
    regions = [MemoryRegionTiming("stack", layout.stack.origin, layout.stack.size_bytes, "tcm")]
    for region in layout.memories:
        if region.size_bytes == 0:
            continue
        if platform.memories[region.name].tcm:
            timing = MemoryRegionTiming(region.name, region.origin, region.size_bytes, "tcm")
        else:
            fill = _scaled_fill(target, region.name, clock_mhz)
            timing = MemoryRegionTiming(
                region.name,
                region.origin,
                region.size_bytes,
                "cached",
                read_fill_cycles=fill,
                write_fill_cycles=fill,
                eviction_cycles=(fill + 1) // 2,
            )
        regions.append(timing)
    return tuple(regions)


def _scaled_fill(target: SimulatorTarget, memory: str, clock_mhz: int) -> int:
    return -(-target.line_fill_cycles[memory] * clock_mhz // target.clock_mhz)


def cache_geometry(cache: Cache | None) -> CacheGeometry | None:
    """Gives a cache as the timing model takes it."""
    if cache is None:
        return None
    return CacheGeometry(cache.size_bytes, cache.ways, cache.line_bytes)
