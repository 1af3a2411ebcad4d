# SPDX-License-Identifier: Apache-2.0
"""The configuration of one conversion, as typed models.

The same models describe the YAML file, the dotted command-line options and the keyword arguments of
the Python API; the field descriptions are the help texts. Relative paths count from the current
directory, not from the YAML file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from helia_aot.config.base import StrictModel
from helia_aot.optimization.knobs import ACCUMULATION, AUTO, KERNEL, Goal, Knob

ANY: Final = "*"
"""The rule type that matches every operator or tensor."""

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


def _knob_help(knob: Knob) -> str:
    values = "; ".join(f"{value}: {knob.value_texts[value]}" for value in knob.values)
    return f"{knob.text} {values}; {AUTO}: by the goal. For {knob.applies_to}."


Identifier = Annotated[str, AfterValidator(_identifier)]
FolderName = Annotated[str, AfterValidator(_folder_name)]
MemoryName = Annotated[str, BeforeValidator(_lower), Field(min_length=1)]
OperatorType = Annotated[str, BeforeValidator(_rule_type), AfterValidator(_operator_type)]
TensorRole = Annotated[
    Literal["constant", "persistent", "scratch", "*"],
    BeforeValidator(_lower),
    BeforeValidator(_rule_type),
]
RuleId = Annotated[str | list[str] | None, BeforeValidator(_rule_id)]

if TYPE_CHECKING:
    AccumulationSetting = str | None
    KernelSetting = str | None
else:
    # The values come from the knobs, so these types exist at run time only.
    AccumulationSetting = Literal[(AUTO, *ACCUMULATION.values)] | None
    KernelSetting = Literal[(AUTO, *KERNEL.values)] | None


class ModelConfig(StrictModel):
    """The model to convert."""

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
        description="Folder that receives the module's folder; relative to the current directory",
    )
    type: Literal["cmake"] = Field("cmake", description="Build system of the module")
    name: FolderName = Field("helia_aot_nn", description="Name of the module's folder and library")
    prefix: Identifier = Field("aot", description="Prefix of every file and C symbol")
    schedule: Literal["table"] = Field(
        "table", description="How operators are dispatched: a constant table"
    )
    kernels: Literal["bundled", "external"] = Field(
        "bundled",
        description=(
            "bundled: the kernel sources needed come with the module; external: you link "
            "ns-cmsis-nn"
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


class MemoryConstraint(StrictModel):
    """A limit on what the module may use of one memory."""

    name: MemoryName = Field(..., description="A memory of the platform, e.g. dtcm")
    max_size: int | None = Field(
        None, ge=0, description="Bytes that the module may use; by default the whole memory"
    )


class TensorAttributes(StrictModel):
    """Where the tensors of a rule go; what is left out stays with the planner."""

    memory: MemoryName | None = Field(
        None, description="Memory of the tensor; for constants, of the copy that the image carries"
    )
    constant_destination_memory: MemoryName | None = Field(
        None,
        description="Faster memory that constants are copied to once, at initialisation",
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


class MemoryConfig(StrictModel):
    """How memory is planned."""

    planner: Literal["greedy"] = Field("greedy", description="Planner of the arenas")
    constraints: list[MemoryConstraint] = Field(
        default_factory=list, description="Limits below the platform's sizes: name, max_size"
    )
    tensors: list[TensorRule] = Field(
        default_factory=list,
        description="Placement rules: type, id, attributes {memory, constant_destination_memory}",
    )
    dump_residency_json: bool = Field(
        False, description="Also write <prefix>_residency.json: where every tensor lives"
    )

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
    memories: dict[MemoryName, Annotated[int, Field(ge=0)]] | None = Field(
        None, description="Sizes in bytes by memory name, over the platform's"
    )
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


class OperatorAttributes(StrictModel):
    """Attributes of an operator that are not knobs; this version has none and refuses all."""


class OperatorRule(StrictModel):
    """Settings for the operators that match a type, an id, or both."""

    type: OperatorType = Field(ANY, description="Operator type such as CONV_2D, or * (any case)")
    id: RuleId = Field(
        None, description="A stable id or node id, or a list of them; by default any"
    )
    attributes: OperatorAttributes = Field(
        default_factory=OperatorAttributes, description="Reserved; this version has no attributes"
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
    plan: Path | None = Field(
        None,
        description="A plan to reproduce exactly; relative to the current directory",
    )


class ConvertConfig(StrictModel):
    """Everything that one conversion depends on, besides the files it names."""

    model: ModelConfig = Field(..., description="The model to convert")
    module: ModuleConfig = Field(default_factory=ModuleConfig, description="The C module to write")
    memory: MemoryConfig = Field(default_factory=MemoryConfig, description="How memory is planned")
    platform: PlatformConfig = Field(default_factory=PlatformConfig, description="The target")
    operators: list[OperatorRule] = Field(
        default_factory=list, description="Rules for operators: type, id, optimization"
    )
    optimization: OptimizationConfig = Field(
        default_factory=OptimizationConfig, description="What the conversion optimizes for"
    )
    force: bool = Field(False, description="Replace an existing module")
    verbose: int = Field(
        1,
        ge=0,
        le=2,
        description="0: only the module's path, 1: tables and hints, 2: also full ids and every tensor",
    )
    log_file: Path | None = Field(None, description="Also write what is printed to this file")
