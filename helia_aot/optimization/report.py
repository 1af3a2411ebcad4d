# SPDX-License-Identifier: Apache-2.0
"""The non-normative optimization report, ``<prefix>_report.json``, as typed models.

The report explains a plan and never changes it; a plan reader ignores it. Its content may change
between releases.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from helia_aot.config.base import StrictModel

REPORT_SCHEMA_VERSION: Literal[1] = 1


class Alternative(StrictModel):
    """One value of one knob for one operator."""

    value: str = Field(..., description="A value of the knob")
    chosen: bool = Field(..., description="Whether the plan uses it")
    applicable: bool = Field(
        ..., description="Whether it can be chosen and makes a difference here"
    )
    reason: str = Field("", description="Why it is not applicable; empty when it is")
    entry: str = Field(..., description="Kernel entry that the operator would call with it")
    approximate: bool = Field(..., description="Whether it changes numerics")


class ReportOperator(StrictModel):
    """Facts about one operator."""

    id: str = Field(..., description="The operator's id in the plan")
    op_type: str
    entry: str | None = Field(
        ..., description="Kernel entry that the operator calls; null for a renamed tensor"
    )
    macs: int = Field(..., ge=0, description="Multiply-accumulates")
    mac_share: float = Field(..., ge=0, le=1, description="Share of total_macs")
    shapes: dict[str, list[list[int]]] = Field(
        ..., description="Shapes of the operator's 'inputs' and 'outputs'"
    )
    alternatives: dict[str, list[Alternative]] = Field(
        default_factory=dict, description="Alternatives of each knob that exists for this operator"
    )


class MeasurementRecord(StrictModel):
    """One published measurement of a setting."""

    setting: str
    value: str
    target: str = Field(..., description="Platform that it was measured on")
    core: str
    versions: dict[str, str] = Field(..., description="Versions of the software measured")
    subject: str = Field(..., description="Layer or model that was measured")
    gain: float = Field(..., gt=0, description="Speed ratio over the setting's default")
    accuracy: str = Field("", description="What it costs in accuracy")
    conditions: str = Field("", description="Clock and other conditions")
    source: str = Field(..., description="Where the figure was published")


class ConstantPlacement(StrictModel):
    """Constants outside TCM against DTCM left free, within ``memory.constraints``."""

    constant_bytes_outside_tcm: dict[str, int]
    constant_bytes_in_tcm: int
    dtcm_budget_bytes: int
    dtcm_free_bytes: int
    id_specific_constant_rules: int
    cold_source: str | None


class Hint(StrictModel):
    """One optimization hint: a fact about an alternative that applies."""

    setting: str
    message: str
    current: str
    alternative: str
    yaml: str = Field(..., description="The lines of YAML that set the alternative")
    operators: list[str] = Field(default_factory=list)
    mac_share: float | None = None
    facts: dict[str, Any] = Field(default_factory=dict)


class OptimizationReport(StrictModel):
    """The non-normative optimization report, ``<prefix>_report.json``."""

    schema_version: Literal[1] = Field(..., description="Report schema version")
    plan_file: str = Field(..., description="The plan this report explains")
    total_macs: int = Field(
        ..., description="MACs of convolution, depthwise and fully connected layers"
    )
    operators: list[ReportOperator]
    measurements: dict[str, list[MeasurementRecord]] = Field(
        ...,
        description=(
            "Measurements for this target and core, keyed by setting; every setting has an entry"
        ),
    )
    constant_placement: ConstantPlacement | None
    hints: list[Hint]
