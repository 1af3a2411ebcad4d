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

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from helia_aot.config.base import StrictModel
from helia_aot.memory.requests import Role
from helia_aot.optimization.budgets import budget_schema
from helia_aot.optimization.fixed import FIXED, SetBy
from helia_aot.optimization.knobs import AUTO, KNOBS, MODEL_KNOBS, Goal, Knob
from helia_aot.optimization.schema_rules import (
    AUTOMATIC,
    choice_enums,
    per_fixed,
    per_knob,
    provenance_is_consistent,
    rule_exactly_for_operator,
    rule_exactly_for_rule,
)

PLAN_SCHEMA_VERSION: Literal[1] = 1


class RuleRef(StrictModel):
    """The rule that set a choice: of ``operators[]`` for a knob, of ``memory.tensors[]`` for a
    tensor.
    """

    index: int = Field(
        ..., ge=0, description="Position of the rule in operators[], or in memory.tensors[]"
    )
    type: str = Field(..., description="The rule's type")
    id: str | list[str] | None = Field(None, description="The rule's id")


class KnobSource(StrictModel):
    """Who asked for a knob's value; ``rule`` is set exactly when ``kind`` is ``operator``."""

    model_config = ConfigDict(json_schema_extra=rule_exactly_for_operator)

    kind: Literal["operator", "model", "default", "plan"] = Field(
        ...,
        description=(
            "An operators[] rule, the model-wide setting (even auto), neither, or an input plan"
        ),
    )
    rule: RuleRef | None = Field(None, description="The operators[] rule, when kind is operator")

    @model_validator(mode="after")
    def _rule_exactly_for_operator(self) -> KnobSource:
        if (self.rule is not None) != (self.kind == "operator"):
            raise ValueError("rule must be set exactly when kind is 'operator'")
        return self


class KnobChoice(StrictModel):
    """The resolved value of one knob, for one operator or for the module.

    ``resolved_by`` agrees with ``requested``: ``explicit`` means a value was asked for and used as
    given; ``auto_table`` and ``auto_heuristic`` mean that ``auto`` was requested, by someone or,
    where ``source.kind`` is ``default``, by nobody.
    """

    model_config = ConfigDict(json_schema_extra=provenance_is_consistent)

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
        if (self.resolved_by in AUTOMATIC) != (self.requested == AUTO):
            raise ValueError(
                f"resolved_by {self.resolved_by!r} does not go with requested {self.requested!r}"
            )
        if (self.resolved_by == "plan") != (self.source.kind == "plan"):
            raise ValueError("resolved_by 'plan' and source.kind 'plan' go together")
        if self.source.kind == "default" and self.requested != AUTO:
            raise ValueError("source.kind 'default' needs requested to be 'auto'")
        return self


class FixedChoice(StrictModel):
    """A choice that changes numerics or speed, but is not a knob."""

    value: str = Field(..., description="The value used")
    set_by: SetBy = Field(
        ...,
        description=(
            "What set it: operators[].attributes, a default, a heuristic over shape and target, a "
            "knob, or an input plan"
        ),
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
        json_schema_extra=per_knob(choice_enums),
    )
    fixed: dict[str, FixedChoice] = Field(
        default_factory=dict,
        description=(
            "Choices that change numerics or speed but are not knobs, with what set them; one that "
            "is left out is derived anew when the plan is reproduced"
        ),
        json_schema_extra=per_fixed,
    )
    code_memory: str | None = Field(
        None,
        description=(
            "Memory of the operator's wrapper function, where code_placement or a plan set it; left "
            "out where the linker decides"
        ),
    )

    @model_serializer(mode="wrap")
    def _without_an_unset_memory(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = serialize(self)
        if content.get("code_memory") is None:
            content.pop("code_memory", None)
        return content

    @model_validator(mode="after")
    def _choices_are_registered(self) -> PlanOperator:
        faults = _knob_faults(self.knobs, KNOBS)
        for name, fixed in self.fixed.items():
            if name not in FIXED:
                faults.append(f"unknown fixed choice {name!r}; known: {', '.join(sorted(FIXED))}")
            elif fixed.value not in FIXED[name].values:
                known = ", ".join(FIXED[name].values)
                faults.append(f"fixed choice {name!r} has no value {fixed.value!r}, only {known}")
        if faults:
            raise ValueError("; ".join(faults))
        return self


class Generator(StrictModel):
    """What made the plan and what its module needs."""

    helia_aot: str = Field(..., description="Version of this compiler")
    ns_cmsis_nn: str = Field(
        ..., description="Lowest ns-cmsis-nn version that has the kernels chosen"
    )


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
        description="Resolved choice per knob of the whole module, e.g. the memory planner",
        json_schema_extra=per_knob(choice_enums, MODEL_KNOBS),
    )
    planner_options: dict[str, Annotated[int, Field(ge=0)]] = Field(
        default_factory=dict,
        description="Options that the planner ran with, as memory.planner_options; empty for none",
    )
    budget: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description=(
            "Upper limits of optimization.budget by name. Conversion checked those it knows; a search "
            "holds every candidate to the others"
        ),
        json_schema_extra=budget_schema,
    )

    @model_validator(mode="after")
    def _knobs_are_registered(self) -> PlanOptimization:
        if faults := _knob_faults(self.knobs, MODEL_KNOBS):
            raise ValueError("; ".join(faults))
        return self


class PlanTensor(StrictModel):
    """Where one tensor lives; for a staged constant also where its payload comes from."""

    model_config = ConfigDict(json_schema_extra=rule_exactly_for_rule)

    id: str = Field(
        ...,
        description="Tensor id as in memory.tensors[].id and the residency report, e.g. '12'",
    )
    role: Role = Field(..., description="How the storage is used")
    memory: str = Field(..., description="Memory that kernels see the tensor in")
    source_memory: str = Field(
        ...,
        description=(
            "Memory that the image carries the payload in; differs from memory exactly for a "
            "constant that is staged, i.e. copied to memory before the first run"
        ),
    )
    set_by: Literal["rule", "attribute", "default", "plan"] = Field(
        ...,
        description=(
            "A memory.tensors[] rule, the scratch_placement of operators[].attributes, the "
            "planner's own choice, or an input plan"
        ),
    )
    rule: RuleRef | None = Field(
        None,
        description=(
            "The memory.tensors[] rule, when set_by is rule: the one that set "
            "constant_destination_memory where a rule stages the constant, else memory"
        ),
    )

    @model_validator(mode="after")
    def _placement_is_consistent(self) -> PlanTensor:
        if (self.rule is not None) != (self.set_by == "rule"):
            raise ValueError("rule must be set exactly when set_by is 'rule'")
        if self.role != "constant" and self.memory != self.source_memory:
            raise ValueError(f"a {self.role} tensor has no source_memory other than its memory")
        return self

    @property
    def is_staged(self) -> bool:
        """Whether the tensor is copied to its memory before the first run."""
        return self.source_memory != self.memory


class OptimizationPlan(StrictModel):
    """The normative optimization plan, ``<prefix>_plan.json``."""

    schema_version: Literal[1] = Field(..., description="Plan schema version")
    generator: Generator
    model: ModelIdentity
    module_prefix: str
    platform: PlatformIdentity
    optimization: PlanOptimization
    operators: list[PlanOperator]
    tensors: list[PlanTensor] = Field(
        default_factory=list,
        description=(
            "Where tensors live: every constant, and every other tensor that a rule or a plan "
            "placed; all tensors when scratch did not fit into one memory. An entry binds when the "
            "plan is reproduced; a tensor without an entry is placed by the rules and the planner"
        ),
    )


def _knob_faults(choices: Mapping[str, KnobChoice], knobs: Mapping[str, Knob]) -> list[str]:
    faults: list[str] = []
    for name, choice in choices.items():
        knob = knobs.get(name)
        if knob is None:
            faults.append(f"unknown knob {name!r}; known: {', '.join(sorted(knobs))}")
            continue
        if choice.value not in knob.values:
            known = ", ".join(knob.values)
            faults.append(f"knob {name!r} has no value {choice.value!r}, only {known}")
        if choice.requested not in (AUTO, *knob.values):
            faults.append(f"knob {name!r} cannot be requested as {choice.requested!r}")
        if choice.approximate and choice.value not in knob.approximate:
            faults.append(f"knob {name!r} is not approximate as {choice.value!r}")
    return faults
