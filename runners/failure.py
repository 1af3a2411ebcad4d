# SPDX-License-Identifier: Apache-2.0
"""Why a candidate has no numbers, on its way from the stage that noticed to the measurement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from runners.measurement import Measurement, Stage

FailureStatus = Literal["plan_bad", "rig_bad", "unknown"]


class CandidateFailure(Exception):
    """A stage ended the measurement of a candidate; runners turn it into a status.

    Attributes:
        status: A status that is not ``ok``.
        stage: The stage.
        reason: One sentence.
        evidence: Details behind the reason.
    """

    def __init__(
        self,
        status: FailureStatus,
        stage: Stage,
        reason: str,
        evidence: Mapping[str, JsonValue] | None = None,
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.stage = stage
        self.reason = reason
        self.evidence = dict(evidence or {})

    def measurement(self) -> Measurement:
        """Gives the measurement that says so, without numbers."""
        return Measurement(
            status=self.status, stage=self.stage, reason=self.reason, evidence=self.evidence
        )
