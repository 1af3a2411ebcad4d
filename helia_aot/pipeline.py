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
from helia_aot.config.rules import RuleSubject, unmatched_rules, winning_rule
from helia_aot.errors import ConfigError, Problem
from helia_aot.frontend.tflite.reader import ModelFile, read_model
from helia_aot.ir.graph import Graph
from helia_aot.memory.layout import MemoryPlan, constant_blob
from helia_aot.memory.plan import plan_memory
from helia_aot.memory.requests import TensorRequest
from helia_aot.memory.residency import build_residency, residency_json
from helia_aot.operators.registry import DIRECT_ENTRIES, FAMILIES, check_supported
from helia_aot.operators.spec import LoweredOperator, Target
from helia_aot.optimization.hints import build_hints, constant_placement
from helia_aot.optimization.identity import ambiguity_warnings, operator_ids
from helia_aot.optimization.measurements import measurements_for
from helia_aot.optimization.plan import (
    PLAN_SCHEMA_VERSION,
    Generator,
    KnobChoice,
    ModelIdentity,
    OptimizationPlan,
    PlanOperator,
    PlanOptimization,
    PlatformIdentity,
)
from helia_aot.optimization.read_plan import check_plan, read_plan
from helia_aot.optimization.report import (
    REPORT_SCHEMA_VERSION,
    Alternative,
    ConstantPlacement,
    MeasurementRecord,
    OptimizationReport,
    ReportOperator,
)
from helia_aot.optimization.knobs import KNOBS
from helia_aot.optimization.resolve import (
    ResolvableOperator,
    plan_settings,
    resolve_choices,
    rule_warnings,
)
from helia_aot.optimization.write import dump_json
from helia_aot.platforms.registry import load_platform
from helia_aot.platforms.schema import Platform
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
    check_supported(model.graph, model.name)
    target = Target(mve="mve" in platform.capabilities, dsp="dsp" in platform.capabilities)

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
    requests = _tensor_requests(model.graph, lowered, config)
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
    new_plan = _plan(
        config, plan_settings(config, plan), identities, operators, choices, module_operators
    )
    report = _report(
        new_plan,
        _report_operators(model.graph, operators, choices, module_operators),
        measurements_for(platform.name, platform.core),
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
    spec = _module_spec(config, platform, model, lowered, module_operators, memory_plan, requests)
    module = with_files(
        emit_module(spec), _documents(config, new_plan, report, residency)
    )
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
            *_tensor_rule_warnings(config, requests),
        ),
        receipt=receipt,
    )


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


def _tensor_requests(
    graph: Graph, lowered: Sequence[LoweredOperator], config: ConvertConfig
) -> list[TensorRequest]:
    """Gives one request for each tensor that the module needs, constants in operator order first."""
    return [
        replace(
            request,
            memory=_rule_memory(config, request, "memory"),
            destination_memory=_rule_memory(config, request, "constant_destination_memory"),
        )
        for request in _constant_requests(lowered) + _scratch_requests(graph, lowered)
    ]


def _rule_memory(config: ConvertConfig, request: TensorRequest, field: str) -> str | None:
    """Gives what the rules say about one field; only constants have a destination."""
    if field == "constant_destination_memory" and request.role != "constant":
        return None
    won = winning_rule(
        config.memory.tensors,
        op_type=request.role,
        ids=(request.id,),
        field_of=lambda rule: getattr(rule.attributes, field),
    )
    return getattr(won[1].attributes, field) if won else None


def _tensor_rule_warnings(
    config: ConvertConfig, requests: Sequence[TensorRequest]
) -> tuple[str, ...]:
    subjects = [RuleSubject(request.role, (request.id,)) for request in requests]
    return tuple(
        f"memory.tensors[{index}] (type {rule.type}, id {rule.id}) matches no tensor"
        for index, rule in unmatched_rules(config.memory.tensors, subjects)
    )


def _constant_requests(lowered: Sequence[LoweredOperator]) -> list[TensorRequest]:
    constants = {c.id: c for operator in lowered for c in operator.constants}
    return [
        TensorRequest(
            id=constant.id,
            role="constant",
            size_bytes=constant.data.nbytes,
            data=constant.data.tobytes(),
        )
        for constant in constants.values()
    ]


def _scratch_requests(graph: Graph, lowered: Sequence[LoweredOperator]) -> list[TensorRequest]:
    """Gives the computed tensors and scratch buffers with their lifetimes.

    An input of the model is live from the start, an output to the end; what an operator reads and writes is live at its
    position, so that no operator overwrites what it still reads.
    """
    last = len(graph.operators) - 1
    first_use = dict.fromkeys(graph.inputs, 0)
    last_use = dict.fromkeys(graph.inputs, 0)
    for position, operator in enumerate(graph.operators):
        for tensor_id in operator.outputs:
            first_use.setdefault(tensor_id, position)
            last_use[tensor_id] = position
        for tensor_id in operator.inputs:
            if tensor_id in first_use:
                last_use[tensor_id] = position
    last_use.update({tensor_id: last for tensor_id in graph.outputs if tensor_id in first_use})
    alias = {output: source for op in lowered for output, source in op.alias.items()}
    requests = [
        TensorRequest(
            id=tensor_id,
            role="scratch",
            size_bytes=graph.tensor(tensor_id).size_bytes,
            first_use=first_use[tensor_id],
            last_use=last_use[tensor_id],
            alias_of=alias.get(tensor_id),
        )
        for tensor_id in first_use
    ]
    requests += [
        TensorRequest(
            id=operator.scratch_id,
            role="scratch",
            size_bytes=operator.scratch_bytes,
            first_use=position,
            last_use=position,
        )
        for position, operator in enumerate(lowered)
        if operator.scratch_bytes
    ]
    return requests


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
                Problem(where, f"{platform.name} has no memory {constraint.name!r}", f"use {', '.join(sizes)}")
            )
        elif constraint.max_size is not None:
            if constraint.max_size > sizes[constraint.name]:
                problems.append(
                    Problem(where, f"{constraint.name} has {sizes[constraint.name]} bytes, not {constraint.max_size}")
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


def _plan(  # noqa: PLR0913 - a plan is just the sum of these facts
    config: ConvertConfig,
    settings: PlanOptimization,
    identities: tuple[ModelIdentity, PlatformIdentity],
    operators: Sequence[ResolvableOperator],
    choices: Sequence[Mapping[str, KnobChoice]],
    module_operators: Sequence[ModuleOperator],
) -> OptimizationPlan:
    return OptimizationPlan(
        schema_version=PLAN_SCHEMA_VERSION,
        generator=Generator(helia_aot=__version__, ns_cmsis_nn=_kernel_floor(module_operators)),
        model=identities[0],
        module_prefix=config.module.prefix,
        platform=identities[1],
        optimization=settings,
        operators=[
            PlanOperator(
                id=operator.id.id,
                id_source=operator.id.id_source,
                index=operator.id.index,
                node_id=operator.id.node_id,
                op_type=operator.op_type,
                knobs=dict(chosen),
            )
            for operator, chosen in zip(operators, choices, strict=True)
        ],
    )


def _kernel_floor(operators: Sequence[ModuleOperator]) -> str:
    """Gives the lowest kernel library release that has every entry called."""
    direct = any(operator.entry in DIRECT_ENTRIES for operator in operators)
    return _FLOOR_WITH_DIRECT_ENTRIES if direct else _FLOOR


def _report_operators(
    graph: Graph,
    operators: Sequence[ResolvableOperator],
    choices: Sequence[Mapping[str, KnobChoice]],
    module_operators: Sequence[ModuleOperator],
) -> list[ReportOperator]:
    total = sum(operator.macs for operator in module_operators)
    return [
        ReportOperator(
            id=operator.id.id,
            op_type=operator.op_type,
            entry=module.entry,
            macs=module.macs,
            mac_share=module.macs / total if total else 0.0,
            shapes={
                "inputs": [list(graph.tensor(i).shape) for i in source.inputs if i is not None],
                "outputs": [list(graph.tensor(o).shape) for o in source.outputs],
            },
            alternatives={
                name: _alternatives(name, operator, chosen[name].value)
                for name in operator.domains
            },
        )
        for operator, source, chosen, module in zip(
            operators, graph.operators, choices, module_operators, strict=True
        )
    ]


def _report(
    plan: OptimizationPlan,
    operators: list[ReportOperator],
    measurements: dict[str, list[MeasurementRecord]],
    placement: ConstantPlacement | None,
) -> OptimizationReport:
    return OptimizationReport(
        schema_version=REPORT_SCHEMA_VERSION,
        plan_file=f"{plan.module_prefix}_plan.json",
        total_macs=sum(operator.macs for operator in operators),
        operators=operators,
        measurements=measurements,
        constant_placement=placement,
        hints=build_hints(plan.operators, operators, measurements, placement),
    )


def _alternatives(knob: str, operator: ResolvableOperator, chosen: str) -> list[Alternative]:
    domain = operator.domains[knob]
    return [
        Alternative(
            value=value,
            chosen=value == chosen,
            applicable=domain.applicable,
            reason=domain.reason,
            entry=entry,
            approximate=value in KNOBS[knob].approximate,
        )
        for value, entry in domain.entries.items()
    ]


def _module_spec(
    config: ConvertConfig,
    platform: Platform,
    model: ModelFile,
    lowered: tuple[LoweredOperator, ...],
    operators: tuple[ModuleOperator, ...],
    memory_plan: MemoryPlan,
    requests: Sequence[TensorRequest],
) -> ModuleSpec:
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
        blobs={
            arena.region_id: constant_blob(memory_plan, arena, requests)
            for arena in memory_plan.arenas
            if arena.role == "constant"
        },
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
