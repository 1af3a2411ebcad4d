# SPDX-License-Identifier: Apache-2.0
"""The non-normative optimization report, ``<prefix>_report.json``, as typed models.

The report explains a plan and never changes it; a plan reader ignores it. Its content may change
between releases.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, model_validator

from helia_aot.config.base import StrictModel
from helia_aot.optimization.knobs import KNOBS
from helia_aot.optimization.schema_rules import alternative_enums, per_knob, per_setting

REPORT_SCHEMA_VERSION: Literal[1] = 1

PLACEMENT_SETTING: Final = "constant_destination_memory"
"""The setting that places constants."""

SETTINGS: Final[tuple[str, ...]] = ("goal", "allow_approximate", *KNOBS, PLACEMENT_SETTING)
"""Every setting of the optimization guide, by its key in the configuration."""


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
        default_factory=dict,
        description="Alternatives of each knob that exists for this operator",
        json_schema_extra=per_knob(alternative_enums),
    )

    @model_validator(mode="after")
    def _alternatives_are_registered(self) -> ReportOperator:
        for name, alternatives in self.alternatives.items():
            if name not in KNOBS:
                raise ValueError(f"unknown knob {name!r}; known: {', '.join(sorted(KNOBS))}")
            for alternative in alternatives:
                if alternative.value not in KNOBS[name].values:
                    raise ValueError(f"knob {name!r} has no value {alternative.value!r}")
        return self


class MeasurementRecord(StrictModel):
    """One published measurement of a setting."""

    setting: str = Field(..., description="The setting, by its key in the configuration")
    value: str = Field(..., description="The value that was measured against the default")
    target: str = Field(..., description="Platform that it was measured on")
    core: str = Field(..., description="Core of that platform")
    versions: dict[str, str] = Field(..., description="Versions of the software measured")
    subject: str = Field(..., description="Layer or model that was measured")
    gain: float = Field(..., gt=0, description="Speed ratio over the setting's default")
    accuracy: str = Field("", description="What it costs in accuracy")
    conditions: str = Field("", description="Clock and other conditions")
    source: str = Field(..., description="Where the figure was published")


class ConstantPlacement(StrictModel):
    """Constants outside TCM against DTCM left free, within ``memory.constraints``."""

    constant_bytes_outside_tcm: dict[str, int] = Field(
        ..., description="Bytes of constants that kernels read from other memories, by memory"
    )
    constant_bytes_in_tcm: int = Field(
        ..., description="Bytes of constants that kernels read from tightly coupled memory"
    )
    dtcm_budget_bytes: int = Field(
        ..., description="Bytes of DTCM that the module may use: its size, or memory.constraints"
    )
    dtcm_free_bytes: int = Field(
        ..., description="Bytes of that budget that the module leaves free"
    )
    id_specific_constant_rules: int = Field(
        ..., description="Rules of memory.tensors that name constants by id, which pins them"
    )
    cold_source: str | None = Field(
        ...,
        description="The memory that all constants outside TCM come from; null if several or none",
    )


class Hint(StrictModel):
    """One optimization hint: a fact about an alternative that applies."""

    setting: str = Field(..., description="The setting, by its key in the configuration")
    message: str = Field(..., description="The fact in one sentence, with any measured gain")
    current: str = Field(..., description="What the conversion does now")
    alternative: str = Field(..., description="What it could do")
    yaml: str = Field(..., description="The lines of YAML that set the alternative")
    operators: list[str] = Field(
        default_factory=list, description="Ids of the operators that would change"
    )
    mac_share: float | None = Field(
        None, description="Their share of total_macs, which is not a share of run time"
    )
    facts: dict[str, Any] = Field(default_factory=dict, description="Numbers behind the message")


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
        json_schema_extra=per_setting(SETTINGS),
    )
    constant_placement: ConstantPlacement | None = Field(
        ..., description="Where constants are; null on a target without DTCM"
    )
    hints: list[Hint] = Field(..., description="The hints that the results print")

    @model_validator(mode="after")
    def _every_setting_has_its_records(self) -> OptimizationReport:
        if set(self.measurements) != set(SETTINGS):
            raise ValueError(f"measurements must have the entries {', '.join(SETTINGS)}")
        for setting, records in self.measurements.items():
            if any(record.setting != setting for record in records):
                raise ValueError(f"measurements of {setting!r} hold a record of another setting")
        return self
