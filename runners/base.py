# SPDX-License-Identifier: Apache-2.0
"""What every runner offers, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from runners.measurement import Measurement, MeasurementResult, RunnerIdentity, Stimulus

if TYPE_CHECKING:
    from helia_aot.api import Conversion


@dataclass(frozen=True)
class MeasureSettings:
    """How one candidate is measured.

    Attributes:
        warmups: Runs before the timed ones, at least 0; they fill the caches and are reported
            apart.
        repeats: Timed runs, at least 1.
        timeout_s: Deadline of the run on the target, seconds, above 0.
        build_timeout_s: Deadline of the build, seconds, above 0.
        keep_dir: Directory that keeps the image, its sources and the logs; None keeps nothing.
        per_operator: Whether one more run with callbacks measures every operator.
        find_image: Looks up the measurement of a built image by its SHA-256; where it gives one,
            the image does not run again and there are no outputs.
    """

    warmups: int = 1
    repeats: int = 1
    timeout_s: float = 60.0
    build_timeout_s: float = 300.0
    keep_dir: Path | None = None
    per_operator: bool = True
    find_image: Callable[[str], Measurement | None] | None = None

    def __post_init__(self) -> None:
        """Refuses settings that no run can have.

        Raises:
            ValueError: If a number is outside its range.
        """
        if self.warmups < 0 or self.repeats < 1 or min(self.timeout_s, self.build_timeout_s) <= 0:
            raise ValueError(f"impossible settings: {self}")


class Runner(Protocol):
    """Builds and measures modules of one platform.

    A runner is cheap to make and serves one caller at a time; separate runners, also in separate
    processes, do not disturb each other.
    """

    def identity(self) -> RunnerIdentity:
        """Gives what this runner is.

        Raises:
            ToolchainError: If a tool is missing.
        """
        ...

    def slots(self) -> int | None:
        """Gives how many measurements can run side by side; None for as many as there are cores.

        An executor starts at most so many workers. Each makes its own runner; runners of one pool of
        boards share it.
        """
        ...

    def measure(
        self, conversion: Conversion, stimulus: Stimulus, settings: MeasureSettings
    ) -> MeasurementResult:
        """Builds a converted module, runs it on the stimulus and counts.

        Returns:
            The measurement; what is wrong with the candidate or the rig is its status.

        Raises:
            RunnerError: If the stimulus does not fit the model's inputs, or the platform is not
                the runner's.
            ToolchainError: If a tool is missing.
        """
        ...
