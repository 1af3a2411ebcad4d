# SPDX-License-Identifier: Apache-2.0
"""The configuration of a campaign: a YAML file, or nothing but a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from helia_aot.config.base import StrictModel
from helia_aot.config.convert import (
    ConvertConfig,
    FolderName,
    MemoryConstraint,
    OptimizationConfig,
)
from helia_aot.config.load import load_convert_config, merged, read_yaml
from helia_aot.config.problems import problems_of
from helia_aot.errors import ConfigError, Problem
from helia_aot.optimization.budgets import MEMORY_SUFFIX, budget_names, closest_name
from helia_aot.platforms.registry import load_platform
from optimizer.accuracy import AccuracyConfig
from optimizer.quantities import CYCLES, ERRORS, UNMEASURED, counts_time, is_quantity
from optimizer.samplers import SamplerName
from runners.kernel_library import KernelLibrary
from runners.registry import NEED_BOARDS, RUNNERS
from search_spaces.build import Grouping, SpaceSettings
from search_spaces.presets import PresetName, load_preset
from search_spaces.rules import GroupRule, SpaceRule

MODEL_SUFFIXES: Final = (".tflite", ".lite")
CAMPAIGN_SUFFIXES: Final = (".yaml", ".yml")


def _known_runner(name: str) -> str:
    if name not in RUNNERS:
        raise ValueError(f"not a runner; use one of {', '.join(sorted(RUNNERS))}")
    return name


def _supported_objectives(names: list[str]) -> list[str]:
    if not names:
        raise ValueError(f"names nothing to minimise; use [{CYCLES}]")
    if len(set(names)) != len(names):
        raise ValueError("names an objective twice")
    for name in names:
        _supported_quantity(name)
    return names


def _supported_quantity(name: str) -> str:
    if name in UNMEASURED:
        raise ValueError(f"{name} is measured by no runner")
    if not is_quantity(name):
        close = closest_name(name)
        hint = f"; did you mean {close}?" if close else ""
        raise ValueError(f"{name} is not a quantity that can be minimised or limited{hint}")
    return name


Quantity = Annotated[str, AfterValidator(_supported_quantity)]


class RunnerConfig(StrictModel):
    """What measures, and how often."""

    name: Annotated[str, AfterValidator(_known_runner)] = Field(
        "simulator", description="Name of the runner"
    )
    boards: Path | None = Field(None, description="Board file of the runner device")
    kernels: KernelLibrary | None = Field(
        None,
        description="A kernel library to link; needs convert.module.kernels external. null for the bundled one",
    )
    clock_mhz: int | None = Field(
        None, gt=0, description="One of the platform's speeds; null for the lowest"
    )
    warmups: int = Field(1, ge=0, description="Runs before the timed ones")
    repeats: int = Field(1, ge=1, description="Timed runs")
    timeout_s: float = Field(60.0, gt=0, description="Deadline of one run on the target, seconds")

    @model_validator(mode="after")
    def _boards_where_needed(self) -> RunnerConfig:
        if self.name in NEED_BOARDS and self.boards is None:
            raise ValueError(f"the runner {self.name} needs boards: the path of a board file")
        if self.name not in NEED_BOARDS and self.boards is not None:
            raise ValueError(f"the runner {self.name} has no boards; remove boards")
        return self


class SpaceConfig(StrictModel):
    """Which plans are searched; what is set here goes over the preset."""

    preset: PresetName | None = Field(
        None, description="A set of these settings by name; helia-search presets lists them"
    )
    knobs: list[str] | None = Field(None, description="Choices that vary; null for all")
    pins: list[SpaceRule] = Field(
        default_factory=list,
        description="Rules that fix choices: type, id, optimization {<choice>: <value>}",
    )
    exclude: list[SpaceRule] = Field(
        default_factory=list,
        description="Rules of the same form for values that are not searched",
    )
    restrict: list[SpaceRule] = Field(
        default_factory=list,
        description="Rules of the same form that leave just their values and the baseline's; the "
        "most specific one counts",
    )
    group: Grouping = Field(
        "operator",
        description="Who chooses together: each operator alone, all of one type, or all of one type "
        "with equal shapes",
    )
    groups: list[GroupRule] = Field(
        default_factory=list,
        description="Groups of your own, before group: name, type, id, knobs; the first that matches",
    )

    @property
    def settings(self) -> SpaceSettings:
        """These settings over those of the preset; lists of rules are joined, the preset's first."""
        tree = load_preset(self.preset).space if self.preset else {}
        base = SpaceConfig.model_validate(tree)
        chosen = self.model_fields_set
        return SpaceSettings(
            knobs=self.knobs if "knobs" in chosen else base.knobs,
            pins=(*base.pins, *self.pins),
            exclude=(*base.exclude, *self.exclude),
            restrict=(*base.restrict, *self.restrict),
            group=self.group if "group" in chosen else base.group,
            groups=(*self.groups, *base.groups),
        )


class SearchConfig(StrictModel):
    """How the space is searched."""

    sampler: SamplerName = Field("profile", description="Who proposes plans")
    trials: int = Field(
        40, ge=1, description="Plans to measure besides the baseline and the all-generic plan"
    )
    timeout_s: float | None = Field(
        None, gt=0, description="Seconds for the search of one process; null for no limit"
    )
    gap: float | None = Field(
        0.005,
        ge=0,
        description="The profile sampler ends when the best plan is within this share of the bound; "
        "null for never",
    )
    no_gain: int | None = Field(
        None, ge=1, description="End after this many plans without a better one; null for never"
    )
    seed: int = Field(0, ge=0, description="Seed of the proposals; profile needs none")


class RayConfig(StrictModel):
    """Where evaluations run."""

    address: str | None = Field(
        None, description="Address of a running Ray cluster; null for this machine"
    )
    workers: Annotated[int, Field(ge=0)] | Literal["auto"] = Field(
        "auto",
        description="Evaluations side by side; auto for all cores or slots; 0 runs in this process "
        "without Ray",
    )


class CampaignConfig(StrictModel):
    """Everything that a campaign depends on, besides the files it names.

    Relative paths count from the current directory, as in a conversion.
    """

    name: FolderName | None = Field(
        None, description="Name of the campaign; by default <model file>-<platform>"
    )
    convert: ConvertConfig = Field(
        ..., description="The conversion: a mapping, or the path of its YAML file"
    )
    runner: RunnerConfig = Field(default_factory=RunnerConfig, description="What measures")
    objectives: Annotated[list[str], AfterValidator(_supported_objectives)] = Field(
        default_factory=lambda: [CYCLES],
        description="What is minimised, by the names of budgets; several give a Pareto front, of "
        "which the best by the first objective is the written plan",
    )
    budget: dict[Quantity, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="Upper limits by name, over those of convert.optimization.budget; no plan beyond "
        "one is written. A limit on a memory also bounds what the planner uses of it",
    )
    space: SpaceConfig = Field(default_factory=SpaceConfig, description="Which plans are searched")
    accuracy: AccuracyConfig | None = Field(
        None,
        description="How plans with approximate values are judged; null searches exact values only, "
        "whose outputs must be those of auto bit for bit",
    )
    search: SearchConfig = Field(
        default_factory=SearchConfig, description="How the space is searched"
    )
    measurement_cache: bool = Field(
        True, description="Whether measurements are shared with other campaigns on this machine"
    )
    ray: RayConfig = Field(default_factory=RayConfig, description="Where evaluations run")
    out: Path | None = Field(
        None, description="Folder of the ledger and the results; by default campaigns/<name>"
    )

    @model_validator(mode="after")
    def _library_has_the_calls_of_the_module(self) -> CampaignConfig:
        module, library = self.convert.module, self.runner.kernels
        if library is not None and module.kernels == "bundled":
            raise ValueError("runner.kernels needs convert.module.kernels external")
        if library is not None and module.dialect != library.dialect:
            raise ValueError(
                f"runner.kernels has the calls of {library.dialect}, but convert.module.dialect is "
                f"{module.dialect}; set both alike"
            )
        return self

    @property
    def campaign_name(self) -> str:
        """The name, or its default."""
        return self.name or f"{self.convert.model.path.stem}-{self.convert.platform.name}"

    @property
    def limits(self) -> dict[str, float]:
        """The upper limits of the budgets by name."""
        return {**self.convert.optimization.budget, **self.budget}

    @property
    def all_limits(self) -> dict[str, float]:
        """All upper limits by quantity, that of the accuracy among them."""
        return {**self.limits, **(self.accuracy.limits if self.accuracy else {})}

    @property
    def space_settings(self) -> SpaceSettings:
        """What is said about the space; approximate values belong to it where errors are judged."""
        return replace(self.space.settings, approximate=self.accuracy is not None)

    @property
    def limited_convert(self) -> ConvertConfig:
        """The conversion with the campaign's limits; those on memories bound the planner as well."""
        limits = self.limits
        if not limits:
            return self.convert
        sizes = {
            item.name: item.max_size
            for item in self.convert.memory.constraints
            if item.max_size is not None
        }
        whole = load_platform(self.convert.platform.name, self.convert.platform).memory_sizes
        for name, limit in limits.items():
            limited = name.removesuffix(MEMORY_SUFFIX)
            if limited != name and limited in whole:
                sizes[limited] = min(int(limit), sizes.get(limited, whole[limited]))
        constraints = [MemoryConstraint(name=name, max_size=size) for name, size in sizes.items()]
        memory = self.convert.memory.model_copy(update={"constraints": constraints})
        optimization = self.convert.optimization.model_copy(update={"budget": limits})
        return self.convert.model_copy(update={"memory": memory, "optimization": optimization})

    @property
    def saves_memory(self) -> bool:
        """Whether less of a memory is worth something, so that slower places are searched too."""
        memories = load_platform(self.convert.platform.name, self.convert.platform).memory_sizes
        names = {f"{memory}{MEMORY_SUFFIX}" for memory in memories} | {"ram_bytes", "arena_bytes"}
        wanted = {name for name in (*self.objectives, *self.limits) if not counts_time(name)}
        return bool(wanted & names)

    @property
    def out_path(self) -> Path:
        """The folder of the ledger and the results, or its default."""
        return self.out or Path("campaigns") / self.campaign_name


def load_measured_config(source: Path) -> ConvertConfig:
    """Gives the conversion of a YAML file, or of a model with defaults.

    Raises:
        ConfigError: A file cannot be read, or keys or values are wrong; carries every problem.
    """
    if source.suffix.lower() in MODEL_SUFFIXES:
        return load_convert_config(None, {"model.path": str(source)})
    return load_convert_config(source)


def load_campaign_config(
    source: Path, overrides: Mapping[str, Any] | None = None
) -> CampaignConfig:
    """Gives the configuration of a campaign.

    Args:
        source: A campaign file (``.yaml``), or a model (``.tflite``) that is searched with
            defaults.
        overrides: Nested values over those of the file, as from the command line.

    Raises:
        ConfigError: A file cannot be read, or keys or values are wrong; carries every problem.
    """
    if source.suffix.lower() in MODEL_SUFFIXES:
        tree: dict[str, Any] = {"convert": {"model": {"path": str(source)}}}
    elif source.suffix.lower() in CAMPAIGN_SUFFIXES:
        tree = read_yaml(source)
    else:
        raise ConfigError(
            f"{source} is neither a model nor a campaign file.",
            next_step=f"give a {' or '.join(MODEL_SUFFIXES)} model, or a "
            f"{' or '.join(CAMPAIGN_SUFFIXES)} file",
        )
    if isinstance(tree.get("convert"), str):
        tree = {**tree, "convert": read_yaml(Path(tree["convert"]))}
    try:
        config = CampaignConfig.model_validate(merged(tree, overrides or {}))
    except ValidationError as error:
        raise ConfigError(
            "The campaign is not valid.", problems_of(error, CampaignConfig)
        ) from error
    if unfit := [
        *_unfit_settings(config.convert.optimization),
        *_unfit_names(config),
        *_unfit_errors(config),
    ]:
        raise ConfigError("The campaign is not valid.", unfit)
    return config


def _unfit_settings(settings: OptimizationConfig) -> list[Problem]:
    """Gives the settings of a conversion that a campaign cannot follow."""
    problems = []
    if settings.plan is not None:
        problems.append(
            Problem(
                "convert.optimization.plan",
                "a search proposes plans, so it cannot start from one",
                "remove it, or set knobs under operators[].optimization",
            )
        )
    problems += [
        Problem(
            f"convert.optimization.budget.{name}",
            "no runner measures it, so no plan could be held to it",
            "remove it",
        )
        for name in settings.budget
        if name in UNMEASURED
    ]
    return problems


def _unfit_names(config: CampaignConfig) -> list[Problem]:
    """Gives the objectives and limits that the target does not have, such as an unknown memory."""
    platform = load_platform(config.convert.platform.name, config.convert.platform)
    known = budget_names(tuple(platform.memories))
    problems = []
    for key, names in (("objectives", config.objectives), ("budget", list(config.budget))):
        problems += [
            Problem(
                f"{key}.{name}" if key == "budget" else key,
                f"{platform.name} has no {name}",
                f"use one of: {', '.join(item for item in known if item not in UNMEASURED)}",
            )
            for name in names
            if name not in known
        ]
    if config.search.sampler == "profile" and not counts_time(config.objectives[0]):
        problems.append(
            Problem(
                "objectives",
                "the profile sampler needs cycles or latency_us as the first objective",
                "list it first, with the sizes after it or as a budget; or use search.sampler tpe",
            )
        )
    return problems


def _unfit_errors(config: CampaignConfig) -> list[Problem]:
    """Gives limits and objectives on errors that nothing judges, and judging without a limit."""
    if config.accuracy is None:
        return [
            Problem(
                name, "errors are judged by an accuracy section", "add accuracy: {}, or remove it"
            )
            for name in ERRORS
            if name in config.limits or name in config.objectives
        ]
    if config.all_limits.keys() & {*ERRORS, *config.accuracy.limits}:
        return []
    reason = "approximate values are searched, but nothing says how large an error may be"
    next_step = "set accuracy.limit, budget.max_abs_error or budget.accuracy_drop"
    return [Problem("accuracy", reason, next_step)]
