# SPDX-License-Identifier: Apache-2.0
"""The configuration of one conversion, as typed models.

The same models describe the YAML file, the dotted command-line options and the keyword arguments of
the Python API; the field descriptions are the help texts. Relative paths count from the current
directory, not from the YAML file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from helia_aot.config.base import StrictModel
from helia_aot.config.dialect import Dialect
from helia_aot.optimization.budgets import (
    budget_help,
    budget_schema,
    closest_name,
    may_be_budget,
)
from helia_aot.optimization.fixed import COMPAT_VARIANT, LUT_MODE, USE_LUT, FixedKind
from helia_aot.optimization.knobs import ACCUMULATION, AUTO, CODE_SPECIALIZATION, KERNEL, Goal, Knob
from helia_aot.transforms.declarations import DECLARATIONS, NEEDED

ANY: Final = "*"
"""The rule type that matches every operator or tensor."""

UNSET: Final = "unset"
"""The constant_destination_memory of constants that are read where they are."""

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _identifier(text: str) -> str:
    if not _IDENTIFIER.fullmatch(text):
        raise ValueError(
            "not a C identifier that starts with a letter; use letters, digits and underscores"
        )
    return text


def _folder_name(text: str) -> str:
    if not _FOLDER_NAME.fullmatch(text):
        raise ValueError(
            "not a folder name that starts with a letter or digit; use letters, digits and _ - ."
        )
    return text


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _rule_type(value: object) -> object:
    if value is None:
        return ANY
    return value.strip() if isinstance(value, str) else value


def _operator_type(value: str) -> str:
    if not value:
        raise ValueError(f"empty; give an operator type such as CONV_2D, or {ANY!r} for any")
    return value.upper()


def _rule_id(value: object) -> str | list[str] | None:
    """Gives ids as text; YAML reads ``id: 12`` as a number, which means the same as ``"12"``."""
    if value is None:
        return None
    ids = value if isinstance(value, list) else [value]
    if not ids:
        raise ValueError("an empty list; leave id out to match any")
    if any(isinstance(item, bool) or not isinstance(item, str | int) for item in ids):
        raise ValueError("not an id; give a string or a list of strings")
    texts = [str(item) for item in ids]
    if "" in texts:
        raise ValueError("an empty id; leave id out to match any")
    return texts if isinstance(value, list) else texts[0]


def _unique_keys(value: object) -> object:
    """Refuses two keys that differ in letter case alone; one of them would be lost in silence."""
    if isinstance(value, dict):
        names = [_lower(key) for key in value]
        repeated = sorted({str(name) for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"{', '.join(repeated)} is given more than once; keep one")
    return value


def _budget_name(name: str) -> str:
    if not may_be_budget(name):
        near = closest_name(name)
        raise ValueError("not a budget" + (f"; did you mean {near}?" if near else ""))
    return name


def _not_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("not a number")
    return value


def _knob_help(knob: Knob) -> str:
    values = "; ".join(f"{value}: {knob.value_texts[value]}" for value in knob.values)
    return f"{knob.text} {values}; {AUTO}: by the goal. For {knob.applies_to}."


def _fixed_help(kind: FixedKind) -> str:
    values = "; ".join(f"{value}: {kind.value_texts[value]}" for value in kind.values)
    return f"{kind.text} {values}. For {kind.applies_to}."


def _transforms_help() -> str:
    texts = [f"{d.name}: {d.text.rstrip('.')}" for d in DECLARATIONS if not d.needed_because]
    return (
        f"Switches for rewritings of the graph, which keep every output: name, enabled. {'; '.join(texts)}. "
        f"Always on: {', '.join(NEEDED)}"
    )


def _no_options(value: dict[str, Any]) -> dict[str, Any]:
    if value:
        raise ValueError("no transform has options")
    return value


def _switch(value: object) -> object:
    """Gives a switch as text; YAML reads ``true`` as a boolean, which means the same."""
    return str(value).lower() if isinstance(value, bool) else value


def _pattern(pattern: re.Pattern[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^{pattern.pattern}$"})


_TRANSFORMS: Final = tuple(declaration.name for declaration in DECLARATIONS)
_ROLES: Final = ("constant", "persistent", "scratch")
_ONE_ID: Final = {"type": ["string", "integer"]}
_IDS: Final = {"type": "array", "items": _ONE_ID, "minItems": 1}

Identifier = Annotated[str, AfterValidator(_identifier), _pattern(_IDENTIFIER)]
FolderName = Annotated[str, AfterValidator(_folder_name), _pattern(_FOLDER_NAME)]
MemoryName = Annotated[str, BeforeValidator(_lower), Field(min_length=1)]
BudgetName = Annotated[str, BeforeValidator(_lower), AfterValidator(_budget_name)]
BudgetLimit = Annotated[float, BeforeValidator(_not_boolean), Field(gt=0, allow_inf_nan=False)]
OperatorType = Annotated[str, BeforeValidator(_rule_type), AfterValidator(_operator_type)]
TensorRole = Annotated[
    Literal["constant", "persistent", "scratch", "*"],
    BeforeValidator(_lower),
    BeforeValidator(_rule_type),
    WithJsonSchema({"enum": [*_ROLES, *(role.upper() for role in _ROLES), ANY]}),
]
PlannerName = Literal["greedy", "greedy_by_size", "hill_climb"]
RuleId = Annotated[
    str | list[str] | None,
    BeforeValidator(_rule_id),
    WithJsonSchema({"anyOf": [_ONE_ID, _IDS, {"type": "null"}]}),
]

if TYPE_CHECKING:
    TransformName = str
    AccumulationSetting = str | None
    KernelSetting = str | None
    CodeSpecializationSetting = str | None
    LutMode = str | None
    UseLut = str | None
    CompatVariant = str | None
else:
    # The values come from the registries, so these types exist at run time only.
    TransformName = Annotated[Literal[(ANY, *_TRANSFORMS)], BeforeValidator(_lower)]
    LutMode = Literal[LUT_MODE.values] | None
    _SWITCH = WithJsonSchema({"enum": ["false", "true", False, True, None]})
    UseLut = Annotated[Literal[USE_LUT.values] | None, BeforeValidator(_switch), _SWITCH]
    CompatVariant = Annotated[
        Literal[COMPAT_VARIANT.values] | None, BeforeValidator(_switch), _SWITCH
    ]
    AccumulationSetting = Literal[(AUTO, *ACCUMULATION.values)] | None
    KernelSetting = Literal[(AUTO, *KERNEL.values)] | None
    CodeSpecializationSetting = Literal[(AUTO, *CODE_SPECIALIZATION.values)] | None


def _file_schema(schema: dict[str, Any]) -> None:
    """Lets the file leave out what the command line can give: the model."""
    schema.pop("required", None)


class ModelConfig(StrictModel):
    """The model to convert."""

    model_config = ConfigDict(json_schema_extra=_file_schema)

    path: Path = Field(..., description="The .tflite file; relative to the current directory")
    subgraph: int = Field(0, ge=0, description="Index of the subgraph to convert")
    type: Literal["tflite", "litert"] | None = Field(
        None, description="Model format; by default the file suffix decides"
    )
    precision: Literal["model", "float16"] = Field(
        "model",
        description=(
            "model: each tensor in the model's own type, float16 weights of a float32 model as float32; float16: "
            "float32 tensors, inputs and outputs included, become float16, on cores that compute in FP16"
        ),
    )
    name: str = Field("model", description="Name of the model in generated documentation")
    description: str | None = Field(
        None, description="One sentence about the model; by default the file's own description"
    )
    version: str = Field("v1.0.0", description="Version of the model in generated documentation")


class ModuleConfig(StrictModel):
    """The C module to write."""

    path: Path = Field(
        Path("./out"),
        description=(
            "Folder that receives the module's folder, or a file ending in .zip that receives it as "
            "an archive (stored, equal bytes for equal modules); relative to the current directory"
        ),
    )
    type: Literal["cmake", "zephyr", "nsx"] = Field(
        "cmake",
        description=(
            "Build files of the module. cmake: a static library; zephyr: a Zephyr module; nsx: an "
            "NSX module with its manifest. The sources are the same"
        ),
    )
    name: FolderName = Field("helia_aot_nn", description="Name of the module's folder and library")
    prefix: Identifier = Field("aot", description="Prefix of every file and C symbol")
    schedule: Literal["table"] = Field(
        "table", description="How operators are dispatched: a constant table"
    )
    kernels: Literal["bundled", "external"] = Field(
        "bundled",
        description=(
            "bundled: the kernel sources needed come with the module; external: you link "
            "a library that has them, see dialect"
        ),
    )
    dialect: Dialect = Field(
        "ns-cmsis-nn",
        description=(
            "Which library you link with kernels external: ns-cmsis-nn, or CMSIS-NN 7.0.0 or later, "
            "which has fewer kernels and no direct entries"
        ),
    )
    kernel_prefix: Identifier | None = Field(
        None,
        description=(
            "Prefix of the bundled kernels, to share one copy between modules; by default "
            "module.prefix"
        ),
    )

    @model_validator(mode="after")
    def _kernel_prefix_needs_bundled_kernels(self) -> ModuleConfig:
        if self.kernels == "external" and self.kernel_prefix is not None:
            raise ValueError(
                "kernel_prefix renames bundled kernels, but kernels is 'external'; remove one"
            )
        return self

    @model_validator(mode="after")
    def _another_dialect_needs_external_kernels(self) -> ModuleConfig:
        if self.kernels == "bundled" and self.dialect != "ns-cmsis-nn":
            raise ValueError(
                f"the bundled kernels are no {self.dialect}; set kernels to external, or remove dialect"
            )
        return self


class TransformRule(StrictModel):
    """A switch for one transform, or for all that can be switched off."""

    name: TransformName = Field(
        ANY, description="A transform, or * for all that can be switched off; names go over *"
    )
    enabled: bool = Field(True, description="Whether it runs")
    options: Annotated[dict[str, Any], AfterValidator(_no_options)] = Field(
        default_factory=dict,
        description="Empty: no transform has options",
        json_schema_extra={"maxProperties": 0},
    )

    @model_validator(mode="after")
    def _needed_transforms_stay_on(self) -> TransformRule:
        if not self.enabled and self.name in NEEDED:
            raise ValueError(f"{self.name} cannot be switched off: {NEEDED[self.name]}")
        return self


class MemoryConstraint(StrictModel):
    """A limit on what the module may use of one memory."""

    name: MemoryName = Field(..., description="A memory of the platform, e.g. dtcm")
    max_size: int | None = Field(
        None,
        ge=0,
        description=(
            "Bytes that arenas and sources of staged constants may use, at most the memory's size; "
            "by default the whole memory. What you keep from the module is left for your "
            "application's stack and data, which share the memory"
        ),
    )


class TensorAttributes(StrictModel):
    """Where the tensors of a rule go; what is left out stays with the planner."""

    memory: MemoryName | None = Field(
        None, description="Memory of the tensor; for constants, of the copy that the image carries"
    )
    constant_destination_memory: MemoryName | None = Field(
        None,
        description=(
            "Faster memory that constants are copied to once, at initialisation; unset, which is the "
            "default, reads them where they are and can be written to except some from a wider rule"
        ),
    )


class TensorRule(StrictModel):
    """Attributes for the tensors that match a role, an id, or both."""

    type: TensorRole = Field(ANY, description="constant, persistent, scratch or * (any case)")
    id: RuleId = Field(None, description="A tensor id or a list of them; by default any")
    attributes: TensorAttributes = Field(
        default_factory=TensorAttributes, description="What the rule sets"
    )

    @model_validator(mode="after")
    def _only_constants_are_staged(self) -> TensorRule:
        staged = self.attributes.constant_destination_memory is not None
        if staged and self.type in ("scratch", "persistent"):
            raise ValueError(
                f"constant_destination_memory copies constants, but the rule's type is "
                f"{self.type!r}; use type: constant"
            )
        return self


class PlannerOptions(StrictModel):
    """Options of the planner; only ``hill_climb`` has any."""

    seed: int = Field(0, ge=0, description="Seed of the local search of hill_climb")
    iterations: int = Field(
        300, ge=0, description="Moves that hill_climb tries at most; it ends early at the optimum"
    )


class MemoryConfig(StrictModel):
    """How memory is planned."""

    planner: PlannerName = Field(
        "hill_climb",
        description=(
            "Planner of the scratch arenas. greedy: first fit in the order of the operators; "
            "greedy_by_size: from the largest tensor to the smallest; hill_climb: local search "
            "over that order, never larger than the other two"
        ),
    )
    planner_options: PlannerOptions = Field(
        default_factory=PlannerOptions, description="Options of hill_climb: seed, iterations"
    )
    constraints: list[MemoryConstraint] = Field(
        default_factory=list, description="Limits below the platform's sizes: name, max_size"
    )
    tensors: list[TensorRule] = Field(
        default_factory=list,
        description="Placement rules: type, id, attributes {memory, constant_destination_memory}",
    )
    allocate_arenas: bool = Field(
        True,
        description=(
            "Whether the module brings the storage of its arenas. If not, the application binds "
            "buffers with <prefix>_bind_arena(s) before <prefix>_model_init, and the content of "
            "each constant arena is also written as <symbol>.bin"
        ),
    )
    auto_hydrate_constants: bool = Field(
        True,
        description=(
            "Whether <prefix>_model_init copies staged constants. If not, the application calls "
            "<prefix>_hydrate_constants after it; running before that is hydration_required (200)"
        ),
    )
    dump_residency_json: bool = Field(
        False, description="Also write <prefix>_residency.json: where every tensor lives"
    )

    @model_validator(mode="after")
    def _options_belong_to_the_planner(self) -> MemoryConfig:
        if self.planner_options.model_fields_set and self.planner != "hill_climb":
            names = ", ".join(sorted(self.planner_options.model_fields_set))
            raise ValueError(
                f"planner_options sets {names}, but the planner {self.planner!r} has no options; "
                "remove them, or use planner: hill_climb"
            )
        return self

    @model_validator(mode="after")
    def _one_constraint_per_memory(self) -> MemoryConfig:
        names = [constraint.name for constraint in self.constraints]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"constraints name {', '.join(repeated)} more than once; keep one")
        return self


class PlatformConfig(StrictModel):
    """The target, and what differs from its built-in description."""

    name: str = Field(
        "apollo510_evb", description="A target of 'helia-aot platforms list'", min_length=1
    )
    speeds_mhz: list[Annotated[int, Field(gt=0)]] | None = Field(
        None, description="Core clocks in MHz, in place of the platform's", min_length=1
    )
    memories: Annotated[
        dict[MemoryName, Annotated[int, Field(ge=0)]] | None, BeforeValidator(_unique_keys)
    ] = Field(None, description="Sizes in bytes by memory name, over the platform's")
    capabilities: list[Literal["dsp", "mve"]] | None = Field(
        None, description="Instruction set extensions, in place of the platform's"
    )
    preferred_memory_order: list[MemoryName] | None = Field(
        None, description="Order in which the planner tries memories", min_length=1
    )
    min_alignment: int | None = Field(
        None, gt=0, description="Lowest alignment of a tensor in bytes, a power of two"
    )


class OperatorOptimization(StrictModel):
    """Knobs for the operators that a rule matches."""

    accumulation: AccumulationSetting = Field(None, description=_knob_help(ACCUMULATION))
    kernel: KernelSetting = Field(None, description=_knob_help(KERNEL))
    code_specialization: CodeSpecializationSetting = Field(
        None, description=_knob_help(CODE_SPECIALIZATION)
    )


class OperatorAttributes(StrictModel):
    """Attributes of an operator that are not knobs; what is left out stays as it is."""

    scratch_placement: MemoryName | None = Field(
        None,
        description=(
            "Memory of the operator's own scratch buffer; goes over memory.tensors rules that do "
            "not name the buffer's id. Moves no weights or activations"
        ),
    )
    code_placement: MemoryName | None = Field(
        None,
        description=(
            "Memory of the operator's wrapper function, an executable one: the function gets the "
            "macro <PREFIX>_PUT_IN_<MEMORY>_CODE. The kernel that it calls stays where it is"
        ),
    )
    lut_mode: LutMode = Field(None, description=_fixed_help(LUT_MODE))
    use_lut: UseLut = Field(None, description=_fixed_help(USE_LUT))
    compat_variant: CompatVariant = Field(None, description=_fixed_help(COMPAT_VARIANT))


class OperatorRule(StrictModel):
    """Settings for the operators that match a type, an id, or both."""

    type: OperatorType = Field(ANY, description="Operator type such as CONV_2D, or * (any case)")
    id: RuleId = Field(
        None, description="A stable id or node id, or a list of them; by default any"
    )
    attributes: OperatorAttributes = Field(
        default_factory=OperatorAttributes,
        description=(
            "What the rule sets besides knobs: scratch_placement, code_placement, lut_mode, use_lut, "
            "compat_variant"
        ),
    )
    optimization: OperatorOptimization = Field(
        default_factory=OperatorOptimization, description="Knobs that the rule sets"
    )


class OptimizationConfig(StrictModel):
    """What the conversion optimizes for.

    A knob that is None was not set: ``auto`` applies and the plan says ``default``. A knob set to
    ``auto`` is the model's own request, and the plan says ``model``.
    """

    goal: Goal = Field("balanced", description="What auto favours")
    allow_approximate: bool = Field(
        False, description="Let auto choose values that change numerics"
    )
    accumulation: AccumulationSetting = Field(None, description=_knob_help(ACCUMULATION))
    kernel: KernelSetting = Field(None, description=_knob_help(KERNEL))
    code_specialization: CodeSpecializationSetting = Field(
        None, description=_knob_help(CODE_SPECIALIZATION)
    )
    plan: Path | None = Field(
        None,
        description="A plan to reproduce exactly; relative to the current directory",
    )
    budget: Annotated[dict[BudgetName, BudgetLimit], BeforeValidator(_unique_keys)] = Field(
        default_factory=dict, description=budget_help(), json_schema_extra=budget_schema
    )


class ModuleTestConfig(StrictModel):
    """The test case that comes with the module: <prefix>_test_case.h and .c."""

    enabled: bool = Field(
        False,
        description=(
            "Also write <prefix>_test_case_init and <prefix>_test_case_run, which runs the model on "
            "recorded inputs and returns 0 when its outputs are as recorded"
        ),
    )
    tolerance: Annotated[float, BeforeValidator(_not_boolean)] = Field(
        1.0,
        ge=0,
        allow_inf_nan=False,
        description=(
            "Largest difference of an output element that passes, in units of the output: 1 is one "
            "step of an integer output, 0 asks for equal outputs"
        ),
    )
    golden_data: Path | None = Field(
        None,
        description=(
            "An .npz file with one case: input_0, ... and output_0, ... in the types and shapes of "
            "the model; needed when enabled; relative to the current directory"
        ),
    )

    @model_validator(mode="after")
    def _a_test_needs_its_data(self) -> ModuleTestConfig:
        if self.enabled and self.golden_data is None:
            raise ValueError("enabled needs golden_data, an .npz file with inputs and outputs")
        return self


class DocumentationConfig(StrictModel):
    """What is written for people besides the module."""

    html: bool = Field(
        False,
        description=(
            "Also write <prefix>_report.html: one file without network access that shows memory over "
            "time, operators with their choices, hints, budgets and the residency record"
        ),
    )


class ConvertConfig(StrictModel):
    """Everything that one conversion depends on, besides the files it names."""

    model_config = ConfigDict(json_schema_extra=_file_schema)

    model: ModelConfig = Field(..., description="The model to convert")
    module: ModuleConfig = Field(default_factory=ModuleConfig, description="The C module to write")
    transforms: list[TransformRule] = Field(default_factory=list, description=_transforms_help())
    memory: MemoryConfig = Field(default_factory=MemoryConfig, description="How memory is planned")
    platform: PlatformConfig = Field(default_factory=PlatformConfig, description="The target")
    operators: list[OperatorRule] = Field(
        default_factory=list, description="Rules for operators: type, id, optimization"
    )
    optimization: OptimizationConfig = Field(
        default_factory=OptimizationConfig, description="What the conversion optimizes for"
    )
    test: ModuleTestConfig = Field(
        default_factory=ModuleTestConfig, description="The test case that comes with the module"
    )
    documentation: DocumentationConfig = Field(
        default_factory=DocumentationConfig, description="What is written for people"
    )
    force: bool = Field(False, description="Replace an existing module")
    verbose: int = Field(
        1,
        ge=0,
        le=2,
        description="0: only the module's path, 1: tables and hints, 2: also full ids and every tensor",
    )
    log_file: Path | None = Field(None, description="Also write what is printed to this file")
