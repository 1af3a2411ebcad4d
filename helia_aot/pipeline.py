# SPDX-License-Identifier: Apache-2.0
"""The order of a conversion: read, check, resolve choices, lower, plan memory, emit.

Every stage takes values and gives values. The disk is read at the start (model, plan, kernel sources) and written by
``helia_aot.api`` at the end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from helia_aot.codegen.emit import ModuleSpec, emit_module, with_files
from helia_aot.codegen.module import EmittedFile, Module, ModuleOperator, ModuleTensor
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import ConfigError, Problem
from helia_aot.frontend.tflite.reader import ModelFile, read_model
from helia_aot.ir.graph import Graph
from helia_aot.memory.layout import MemoryPlan, constant_blob
from helia_aot.memory.lowered import requests_of, tensor_rule_warnings
from helia_aot.memory.plan import plan_memory
from helia_aot.memory.residency import build_residency, residency_json
from helia_aot.operators.registry import (
    DIRECT_ENTRIES,
    FAMILIES,
    check_kernels,
    check_supported,
    check_target,
)
from helia_aot.operators.spec import LoweredOperator, Target
from helia_aot.optimization.describe import OperatorFacts, build_report, plan_operators
from helia_aot.optimization.hints import constant_placement
from helia_aot.optimization.identity import ambiguity_warnings, operator_ids
from helia_aot.optimization.plan import (
    PLAN_SCHEMA_VERSION,
    Generator,
    KnobChoice,
    ModelIdentity,
    OptimizationPlan,
    PlatformIdentity,
)
from helia_aot.optimization.read_plan import check_plan, read_plan
from helia_aot.optimization.report import OptimizationReport
from helia_aot.optimization.resolve import (
    ResolvableOperator,
    plan_settings,
    resolve_choices,
    rule_warnings,
)
from helia_aot.optimization.write import dump_json
from helia_aot.platforms.registry import load_platform
from helia_aot.platforms.schema import Platform
from helia_aot.transforms.float16 import float16
from helia_aot.transforms.registry import apply_transforms
from helia_aot.version import __version__

_FLOOR_WITH_DIRECT_ENTRIES: Final = "7.37.0"
_FLOOR: Final = "7.35.0"


@dataclass(frozen=True)
class Conversion:
    """The result of one conversion, in memory.

    Attributes:
        config: The configuration that made it.
        platform: The target.
        plan: The normative plan.
        report: The explanation of the plan.
        residency: The residency record, whether or not it is written.
        memory_plan: Where everything is.
        module: The C module with its plan and report.
        warnings: What the user should look at, e.g. rules that match nothing.
        receipt: ``applied N of N ...`` when a plan was reproduced, else None.
    """

    config: ConvertConfig
    platform: Platform
    plan: OptimizationPlan
    report: OptimizationReport
    residency: Mapping[str, Any]
    memory_plan: MemoryPlan
    module: Module
    warnings: tuple[str, ...]
    receipt: str | None


def run_pipeline(config: ConvertConfig, plan: OptimizationPlan | None = None) -> Conversion:
    """Runs all stages of a conversion.

    Args:
        config: What to convert and how.
        plan: A plan to reproduce; by default the one that ``optimization.plan`` names, if any.

    Returns:
        The conversion; the same model, configuration and plan always give the same bytes.

    Raises:
        HeliaError: Any of the tree, see :mod:`helia_aot.errors`; each lists all its problems.
    """
    platform = load_platform(config.platform.name, config.platform)
    if plan is None and config.optimization.plan is not None:
        plan = read_plan(config.optimization.plan)
    model = read_model(config.model.path, config.model.subgraph)
    model = replace(model, graph=_transformed(model.graph, config, platform))
    check_supported(model.graph, model.name)
    target = Target(
        mve="mve" in platform.capabilities, dsp="dsp" in platform.capabilities, fp16=platform.fp16
    )

    check_target(model.graph, model.name, target)
    operators = _resolvable_operators(model.graph, target)
    identities = _identities(model, platform)
    receipt = None
    if plan is not None:
        receipt = check_plan(
            plan,
            model=identities[0],
            platform=identities[1],
            operators=operators,
            config=config,
        )
    choices = resolve_choices(operators, config, plan)
    lowered = _lower(model.graph, choices, target)
    if config.module.kernels == "external":
        check_kernels(lowered, model.name)
    requests = requests_of(model.graph, lowered, config.memory.tensors)
    capacities = _capacities(config, platform)
    memory_plan = plan_memory(
        requests,
        memories=capacities,
        preferred_order=platform.preferred_memory_order,
        alignment=platform.min_alignment,
        read_only=_non_volatile(platform),
        planner=config.memory.planner,
    )
    module_operators = _module_operators(model.graph, operators, lowered)
    new_plan = OptimizationPlan(
        schema_version=PLAN_SCHEMA_VERSION,
        generator=Generator(helia_aot=__version__, ns_cmsis_nn=_kernel_floor(module_operators)),
        model=identities[0],
        module_prefix=config.module.prefix,
        platform=identities[1],
        optimization=plan_settings(config, plan),
        operators=plan_operators(operators, choices),
    )
    report = build_report(
        new_plan,
        operators,
        _facts(model.graph, module_operators),
        constant_placement(
            memory_plan,
            size_bytes=capacities,
            tcm=platform.tcm_memories,
            rules=config.memory.tensors,
        ),
    )
    residency = build_residency(
        memory_plan, prefix=config.module.prefix, compiler_version=__version__
    )
    blobs = {
        arena.region_id: constant_blob(memory_plan, arena, requests)
        for arena in memory_plan.arenas
        if arena.role == "constant"
    }
    spec = _module_spec(config, platform, model, (lowered, module_operators), (memory_plan, blobs))
    module = with_files(emit_module(spec), _documents(config, new_plan, report, residency))
    return Conversion(
        config=config,
        platform=platform,
        plan=new_plan,
        report=report,
        residency=residency,
        memory_plan=memory_plan,
        module=module,
        warnings=(
            *ambiguity_warnings([operator.id for operator in operators]),
            *rule_warnings(operators, config),
            *tensor_rule_warnings(config.memory.tensors, requests),
        ),
        receipt=receipt,
    )


def _transformed(graph: Graph, config: ConvertConfig, platform: Platform) -> Graph:
    """Gives the graph that is compiled.

    Raises:
        ConfigError: The model is to be computed in FP16, but the core has none or the constants do not fit.
    """
    graph = apply_transforms(graph)
    if config.model.precision == "model":
        return graph
    if not platform.fp16:
        reason = f"{platform.name} has a {platform.core}, which does not compute in FP16"
        raise ConfigError(
            "The model cannot be computed in FP16.",
            [Problem("model.precision", reason, "use precision: model, or another platform")],
        )
    return float16(graph)


def _resolvable_operators(graph: Graph, target: Target) -> tuple[ResolvableOperator, ...]:
    return tuple(
        ResolvableOperator(
            id=identity,
            op_type=operator.op_type,
            domains=FAMILIES[operator.op_type].domains(graph, operator, target),
        )
        for identity, operator in zip(operator_ids(graph), graph.operators, strict=True)
    )


def _identities(model: ModelFile, platform: Platform) -> tuple[ModelIdentity, PlatformIdentity]:
    return (
        ModelIdentity(
            file=model.name,
            sha256=hashlib.sha256(model.data).hexdigest(),
            subgraph=model.graph.subgraph,
        ),
        PlatformIdentity(
            name=platform.name,
            core=platform.core,
            capabilities=platform.capabilities,
            fp16=platform.fp16,
        ),
    )


def _lower(
    graph: Graph, choices: Sequence[Mapping[str, KnobChoice]], target: Target
) -> tuple[LoweredOperator, ...]:
    return tuple(
        FAMILIES[operator.op_type].lower(
            graph, operator, {name: choice.value for name, choice in chosen.items()}, target
        )
        for operator, chosen in zip(graph.operators, choices, strict=True)
    )


def _capacities(config: ConvertConfig, platform: Platform) -> dict[str, int]:
    """Gives what may be used of each memory: its size, or less where a constraint says so.

    Raises:
        ConfigError: A constraint names a memory that the target does not have, or more than it has.
    """
    sizes = dict(platform.memory_sizes)
    problems = []
    for position, constraint in enumerate(config.memory.constraints):
        where = f"memory.constraints[{position}]"
        if constraint.name not in sizes:
            problems.append(
                Problem(
                    where,
                    f"{platform.name} has no memory {constraint.name!r}",
                    f"use {', '.join(sizes)}",
                )
            )
        elif constraint.max_size is not None:
            if constraint.max_size > sizes[constraint.name]:
                problems.append(
                    Problem(
                        where,
                        f"{constraint.name} has {sizes[constraint.name]} bytes, not {constraint.max_size}",
                    )
                )
            sizes[constraint.name] = constraint.max_size
    if problems:
        raise ConfigError("Memory constraints do not fit the target.", problems)
    return sizes


def _non_volatile(platform: Platform) -> frozenset[str]:
    return frozenset(name for name, memory in platform.memories.items() if not memory.volatile)


def _module_operators(
    graph: Graph, operators: Sequence[ResolvableOperator], lowered: Sequence[LoweredOperator]
) -> tuple[ModuleOperator, ...]:
    return tuple(
        ModuleOperator(
            id=resolvable.id.id,
            node_id=operator.node_id,
            op_type=operator.op_type,
            entry=low.call.entry if low.call else None,
            macs=FAMILIES[operator.op_type].macs(graph, operator),
        )
        for resolvable, operator, low in zip(operators, graph.operators, lowered, strict=True)
    )


def _kernel_floor(operators: Sequence[ModuleOperator]) -> str:
    """Gives the lowest kernel library release that has every entry called."""
    direct = any(operator.entry in DIRECT_ENTRIES for operator in operators)
    return _FLOOR_WITH_DIRECT_ENTRIES if direct else _FLOOR


def _facts(graph: Graph, module_operators: Sequence[ModuleOperator]) -> list[OperatorFacts]:
    return [
        OperatorFacts(
            entry=module.entry,
            macs=module.macs,
            input_shapes=tuple(graph.tensor(i).shape for i in source.inputs if i is not None),
            output_shapes=tuple(graph.tensor(o).shape for o in source.outputs),
        )
        for source, module in zip(graph.operators, module_operators, strict=True)
    ]


def _module_spec(
    config: ConvertConfig,
    platform: Platform,
    model: ModelFile,
    program: tuple[tuple[LoweredOperator, ...], tuple[ModuleOperator, ...]],
    memory: tuple[MemoryPlan, Mapping[int, bytes]],
) -> ModuleSpec:
    lowered, operators = program
    memory_plan, blobs = memory
    return ModuleSpec(
        name=config.module.name,
        prefix=config.module.prefix,
        kernel_prefix=config.module.kernel_prefix or config.module.prefix,
        kernels=config.module.kernels,
        model_file=model.name,
        model_sha256=hashlib.sha256(model.data).hexdigest(),
        model_text=_model_text(config, model),
        platform_name=platform.name,
        core=platform.core,
        non_volatile=_non_volatile(platform),
        kernel_floor=_kernel_floor(operators),
        lowered=lowered,
        operators=operators,
        inputs=tuple(_module_tensor(model.graph, i) for i in model.graph.inputs),
        outputs=tuple(_module_tensor(model.graph, o) for o in model.graph.outputs),
        memory_plan=memory_plan,
        blobs=blobs,
    )


def _model_text(config: ConvertConfig, model: ModelFile) -> str:
    text = config.model.description or model.graph.description
    return f"{config.model.name} {config.model.version}. {text}".strip()


def _module_tensor(graph: Graph, tensor_id: str) -> ModuleTensor:
    tensor = graph.tensor(tensor_id)
    return ModuleTensor(
        id=tensor.id,
        name=tensor.name,
        shape=tensor.shape,
        dtype=tensor.dtype.value,
        size_bytes=tensor.size_bytes,
        scale=tensor.quantization.scale if tensor.quantization else 1.0,
        zero_point=tensor.quantization.zero_point if tensor.quantization else 0,
    )


def _documents(
    config: ConvertConfig,
    plan: OptimizationPlan,
    report: OptimizationReport,
    residency: dict[str, Any],
) -> list[EmittedFile]:
    prefix = config.module.prefix
    documents = [
        EmittedFile(f"{prefix}_plan.json", dump_json(plan)),
        EmittedFile(f"{prefix}_report.json", dump_json(report)),
    ]
    if config.memory.dump_residency_json:
        documents.append(EmittedFile(f"{prefix}_residency.json", residency_json(residency)))
    return documents
