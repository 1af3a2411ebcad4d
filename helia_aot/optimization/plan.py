# SPDX-License-Identifier: Apache-2.0
"""The normative optimization plan, ``<prefix>_plan.json``, as typed models.

The plan holds the resolved choice of every knob for every operator, what was requested and by which
rule, the choices that are not knobs, and the identity of the model and target that it belongs to.
It is what a search rewrites and what ``optimization.plan`` reproduces. Facts and explanations are
in the report, not here.

Adding an optional field, a knob, a knob value or an enum member keeps ``schema_version``; renaming
or removing a field, or changing what one means, increments it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from helia_aot.config.base import StrictModel
from helia_aot.optimization.knobs import AUTO, KNOBS, Goal

PLAN_SCHEMA_VERSION: Literal[1] = 1


class RuleRef(StrictModel):
    """The ``operators[]`` rule that set a knob."""

    index: int = Field(..., ge=0, description="Position of the rule in operators[]")
    type: str = Field(..., description="The rule's type")
    id: str | list[str] | None = Field(None, description="The rule's id")


class KnobSource(StrictModel):
    """Who asked for a knob's value; ``rule`` is set exactly when ``kind`` is ``operator``."""

    kind: Literal["operator", "model", "default", "plan"] = Field(
        ...,
        description=(
            "An operators[] rule, the model-wide optimization section, neither, or an input plan"
        ),
    )
    rule: RuleRef | None = Field(None, description="The operators[] rule, when kind is operator")

    @model_validator(mode="after")
    def _rule_exactly_for_operator(self) -> KnobSource:
        if (self.rule is not None) != (self.kind == "operator"):
            raise ValueError("rule must be set exactly when kind is 'operator'")
        return self


class KnobChoice(StrictModel):
    """The resolved value of one knob for one operator.

    ``resolved_by`` agrees with ``requested``: ``explicit`` means a value was asked for and used as
    given; ``auto_table`` and ``auto_heuristic`` mean that ``auto`` was requested.
    """

    value: str = Field(..., description="The value used")
    requested: str = Field(..., description="The value asked for, possibly auto")
    resolved_by: Literal["explicit", "auto_table", "auto_heuristic", "plan"] = Field(
        ...,
        description=(
            "explicit when a value was asked for; auto_table when auto chose it from the goal; "
            "plan when an input plan set it; auto_heuristic is reserved"
        ),
    )
    source: KnobSource
    approximate: bool = Field(
        ...,
        description=(
            "Whether the value changes numerics relative to the knob's default where it applies"
        ),
    )

    @model_validator(mode="after")
    def _provenance_is_consistent(self) -> KnobChoice:
        if self.resolved_by in ("explicit", "plan") and self.value != self.requested:
            raise ValueError(f"resolved_by {self.resolved_by!r} needs value equal to requested")
        if self.resolved_by in ("auto_table", "auto_heuristic") and self.requested != AUTO:
            raise ValueError(f"resolved_by {self.resolved_by!r} needs requested to be 'auto'")
        if (self.resolved_by == "plan") != (self.source.kind == "plan"):
            raise ValueError("resolved_by 'plan' and source.kind 'plan' go together")
        return self


class FixedChoice(StrictModel):
    """A choice that changes numerics or speed, but is not a knob."""

    value: str = Field(..., description="The value used")
    set_by: Literal["attribute", "default", "heuristic", "knob", "plan"] = Field(
        ..., description="What set it"
    )


class PlanOperator(StrictModel):
    """One operator's choices."""

    id: str = Field(
        ...,
        description=(
            "Stable id '<subgraph>:<first output tensor name>', or a fallback; operators[].id "
            "matches it. For every id_source except node_id, split on the first colon only "
            "(tensor names can contain ':')"
        ),
    )
    id_source: Literal["tensor_name", "tensor_name+ordinal", "index", "node_id"] = Field(
        ...,
        description=(
            "How the id was derived; node_id when the stable id would also match another operator"
        ),
    )
    index: int = Field(..., ge=0, description="Position in execution order")
    node_id: str = Field(..., description="AIR node id, which operators[].id also matches")
    op_type: str = Field(..., description="TFLite operator name")
    knobs: dict[str, KnobChoice] = Field(
        default_factory=dict,
        description="Resolved choice per knob, for the knobs that exist for this operator",
    )
    fixed: dict[str, FixedChoice] = Field(
        default_factory=dict, description="Choices that are not knobs, with what set them"
    )

    @model_validator(mode="after")
    def _knobs_are_registered(self) -> PlanOperator:
        faults: list[str] = []
        for name, choice in self.knobs.items():
            if name not in KNOBS:
                faults.append(f"unknown knob {name!r}; known: {', '.join(sorted(KNOBS))}")
                continue
            if choice.value not in KNOBS[name].values:
                faults.append(f"knob {name!r} has no value {choice.value!r}")
            if choice.requested not in (AUTO, *KNOBS[name].values):
                faults.append(f"knob {name!r} cannot be requested as {choice.requested!r}")
        if faults:
            raise ValueError("; ".join(faults))
        return self


class Generator(StrictModel):
    """What made the plan and what its module needs."""

    helia_aot: str = Field(..., description="Version of this compiler")
    ns_cmsis_nn: str = Field(..., description="Lowest ns-cmsis-nn version that the module needs")


class ModelIdentity(StrictModel):
    """The model that the plan was made from."""

    file: str = Field(..., description="File name without folders")
    sha256: str = Field(..., pattern="^[0-9a-f]{64}$", description="SHA-256 of the file")
    subgraph: int = Field(..., ge=0, description="Subgraph that was converted")


class PlatformIdentity(StrictModel):
    """The target that the plan was made for."""

    name: str
    core: str
    capabilities: list[str] = Field(..., description="Instruction set extensions, sorted")
    fp16: bool = Field(..., description="Whether the core computes in FP16")


class PlanOptimization(StrictModel):
    """The model-wide settings behind the choices."""

    goal: Goal
    allow_approximate: bool
    knobs: dict[str, KnobChoice] = Field(
        default_factory=dict,
        max_length=0,
        description="Reserved for model-level choices; empty today",
    )


class OptimizationPlan(StrictModel):
    """The normative optimization plan, ``<prefix>_plan.json``."""

    schema_version: Literal[1] = Field(..., description="Plan schema version")
    generator: Generator
    model: ModelIdentity
    module_prefix: str
    platform: PlatformIdentity
    optimization: PlanOptimization
    operators: list[PlanOperator]
    tensors: list[dict[str, Any]] = Field(
        default_factory=list,
        max_length=0,
        description="Reserved for per-tensor choices such as placement; empty today",
    )
