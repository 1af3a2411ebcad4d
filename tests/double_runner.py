# SPDX-License-Identifier: Apache-2.0
"""A runner that charges a fixed price for each kernel entry instead of building and running anything."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from helia_aot.api import Conversion
from helia_aot.platforms.schema import Platform
from runners.base import MeasureSettings
from runners.measurement import (
    Measurement,
    MeasurementResult,
    OperatorCycles,
    RunnerIdentity,
    Stimulus,
)

GENERIC_IS_FASTER = ("arm_convolve_s8", "arm_depthwise_conv_s8_opt")


@dataclass(frozen=True)
class PriceList:
    """Makes the runner of a platform; what it does besides counting is chosen here.

    Attributes:
        toolchain: What the identity says.
        generic_discount: Whether the general entries are the cheap ones.
        slow_s: Seconds that each measurement takes.
        die_once: A file; the first measurement that finds it missing makes it and kills the process.
        hang_once: A file; the first measurement that finds it missing makes it and never returns.
        wrong_entry: An operator that calls this entry computes wrong outputs.
    """

    toolchain: str = "prices 1"
    generic_discount: bool = True
    slow_s: float = 0.0
    die_once: Path | None = None
    hang_once: Path | None = None
    wrong_entry: str | None = None

    def __call__(self, platform: Platform) -> PriceRunner:
        return PriceRunner(platform, self)


class PriceRunner:
    """Follows the runner's protocol."""

    def __init__(self, platform: Platform, prices: PriceList) -> None:
        self._platform = platform
        self._prices = prices

    def identity(self) -> RunnerIdentity:
        return RunnerIdentity(
            runner="prices",
            runner_version="1",
            timing_model=None,
            counts="modelled cycles",
            platform=self._platform.name,
            core=self._platform.core,
            clock_mhz=96,
            toolchain=self._prices.toolchain,
            toolchain_digest="0" * 64,
            compiler_flags={},
            kernel_library="none",
            emulator=None,
        )

    def slots(self) -> int | None:
        return None

    def measure(
        self, conversion: Conversion, stimulus: Stimulus, settings: MeasureSettings
    ) -> MeasurementResult:
        assert stimulus.inputs
        assert settings.repeats == 1
        self._misbehave()
        operators = [
            OperatorCycles(id=item.id, entry=item.entry, cycles=self._price(item.id, item.entry))
            for item in conversion.module.operators
        ]
        entries = [str(item.entry) for item in operators]
        is_wrong = self._prices.wrong_entry in entries
        measurement = Measurement(
            status="ok",
            cycles=[sum(item.cycles for item in operators)],
            operator_cycles=operators,
            outputs_sha256=("1" if is_wrong else "0") * 64,
            image_sha256=hashlib.sha256(" ".join(entries).encode()).hexdigest(),
            identity=self.identity(),
            stage_seconds={"run": self._prices.slow_s},
        )
        return MeasurementResult(measurement)

    def _price(self, operator_id: str, entry: str | None) -> int:
        is_cheap = (entry in GENERIC_IS_FASTER) == self._prices.generic_discount
        return 1000 + len(operator_id) - (200 if is_cheap else 0)

    def _misbehave(self) -> None:
        time.sleep(self._prices.slow_s)
        if self._prices.die_once is not None and not self._prices.die_once.exists():
            self._prices.die_once.touch()
            os._exit(1)
        if self._prices.hang_once is not None and not self._prices.hang_once.exists():
            self._prices.hang_once.touch()
            time.sleep(600)
