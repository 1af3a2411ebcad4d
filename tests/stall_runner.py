# SPDX-License-Identifier: Apache-2.0
"""A runner that charges each operator for the bytes it touches, by memory, instead of running anything."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from helia_aot.api import Conversion, storage_of
from helia_aot.platforms.schema import Platform
from runners.base import MeasureSettings
from runners.measurement import (
    Measurement,
    MeasurementResult,
    OperatorCycles,
    RunnerIdentity,
    Stimulus,
)

CYCLES_PER_BYTE = {"dtcm": 0.0, "sram": 1.0, "mram": 3.0}
CODE_BYTES = {
    "arm_convolve_s8": 3000,
    "arm_convolve_s8_small_cin": 1500,
    "arm_convolve_s8_3x3_c16_s1": 1400,
    "arm_depthwise_conv_s8_opt": 2500,
}


@dataclass(frozen=True)
class StallPrices:
    """Makes the runner of a platform.

    Attributes:
        cycles_per_byte: What a byte that an operator reads or writes costs, by memory.
        weights: What the constants of an operator cost over that, by part of its id.
        generic: Cycles of a general entry over those of a specialized one.
    """

    cycles_per_byte: Mapping[str, float] = field(default_factory=lambda: CYCLES_PER_BYTE)
    weights: Mapping[str, float] = field(default_factory=dict)
    generic: int = 5000

    def __call__(self, platform: Platform) -> StallRunner:
        return StallRunner(platform, self)


class StallRunner:
    """Follows the runner's protocol; the cycles follow from the conversion alone."""

    def __init__(self, platform: Platform, prices: StallPrices) -> None:
        self._platform = platform
        self._prices = prices

    def slots(self) -> int | None:
        return None

    def identity(self) -> RunnerIdentity:
        return RunnerIdentity(
            runner="stalls",
            runner_version="1",
            timing_model=None,
            counts="modelled cycles",
            platform=self._platform.name,
            core=self._platform.core,
            clock_mhz=100,
            toolchain="none",
            toolchain_digest="0" * 64,
            compiler_flags={},
            kernel_library="none",
            emulator=None,
        )

    def measure(
        self, conversion: Conversion, stimulus: Stimulus, settings: MeasureSettings
    ) -> MeasurementResult:
        assert stimulus.inputs
        assert settings.repeats == 1
        operators = self._operators(conversion)
        entries = {str(item.entry) for item in operators}
        code_bytes = 1000 + sum(CODE_BYTES.get(entry, 800) for entry in entries)
        places = sorted(
            (item.id, item.memory, item.offset)
            for item in conversion.memory_plan.allocations.values()
        )
        image = repr((sorted(entries), [item.entry for item in operators], places))
        measurement = Measurement(
            status="ok",
            cycles=[777 + sum(item.cycles for item in operators)],
            operator_cycles=operators,
            outputs_sha256="0" * 64,
            image_sha256=hashlib.sha256(image.encode()).hexdigest(),
            code_bytes=code_bytes,
            flash_bytes=code_bytes + conversion.storage_bytes["constant_bytes"],
            identity=self.identity(),
        )
        return MeasurementResult(measurement)

    def _operators(self, conversion: Conversion) -> list[OperatorCycles]:
        storage = storage_of(conversion)
        price = self._prices.cycles_per_byte
        rate = {
            place.id: price[place.memory] for place in conversion.memory_plan.allocations.values()
        }
        found = []
        for facts, operator in zip(storage.operators, conversion.module.operators, strict=True):
            knobs = {k: c.value for k, c in conversion.plan.operators[facts.index].knobs.items()}
            variant = facts.variant(knobs)
            factor = next(
                (f for part, f in self._prices.weights.items() if part in operator.id), 1.0
            )
            cycles = 1000.0 + self._prices.generic * (knobs.get("kernel") == "generic")
            cycles += sum(rate[i] * size * factor for i, size in variant.constants.items())
            cycles += rate.get(facts.scratch_id, 0.0) * variant.scratch_bytes
            for block in storage.blocks:
                if block.owner in (operator.id, *facts.reads):
                    cycles += rate[block.tensors[0]] * block.size_bytes
            found.append(OperatorCycles(id=operator.id, entry=operator.entry, cycles=round(cycles)))
        return found
