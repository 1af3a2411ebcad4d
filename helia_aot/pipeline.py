# SPDX-License-Identifier: Apache-2.0
"""The order of a conversion: read, check, resolve choices, lower, plan memory, emit.

Every stage takes values and gives values. The disk is read at the start (model, plan, kernel sources) and written by
``helia_aot.api`` at the end.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final, cast

from helia_aot.codegen.emit import ModuleSpec, emit_module, with_files
from helia_aot.codegen.module import EmittedFile, Module, ModuleOperator, ModuleTensor
from helia_aot.codegen.test_case import ModuleTestCase
from helia_aot.config.convert import ConvertConfig, ModuleConfig, PlannerName, PlannerOptions
from helia_aot.documentation.report_page import PageFacts, report_page
from helia_aot.errors import ConfigError, Problem
from helia_aot.frontend.golden import read_golden_case
from helia_aot.frontend.tflite.reader import ModelFile, read_model
from helia_aot.ir.graph import Graph, Operator
from helia_aot.kernels.manifest import sources_for
from helia_aot.memory.budget import check_tensors
from helia_aot.memory.layout import MemoryPlan, constant_blob
from helia_aot.memory.lifetimes import merge_aliases
from helia_aot.memory.lowered import requests_of, tensor_rule_warnings
from helia_aot.memory.placement import Memories
from helia_aot.memory.plan import plan_memory
from helia_aot.memory.planners import PLANNERS, Planner
from helia_aot.memory.residency import build_residency, residency_json
from helia_aot.operators.cmsis_nn import FLOOR as CMSIS_NN_FLOOR
from helia_aot.operators.cmsis_nn import to_cmsis_nn
from helia_aot.operators.code_specialization import code_specialization, is_inlined
from helia_aot.operators.library_buffers import with_checked_buffer
from helia_aot.operators.registry import (
    DIRECT_ENTRIES,
    FAMILIES,
    check_kernels,
    check_supported,
    check_target,
)
from helia_aot.operators.spec import (
    HasFixedChoices,
    LoweredOperator,
    Target,
    with_its_constants,
)
from helia_aot.optimization.attributes import (
    OperatorPlacement,
    operator_placements,
    planned_code,
    scratch_warnings,
)
from helia_aot.optimization.check import PlanSubject, check_plan
from helia_aot.optimization.check_budget import (
    BudgetUse,
    budget_uses,
    check_budget,
    storage_bytes,
)
from helia_aot.optimization.describe import OperatorFacts, build_report, plan_operators
from helia_aot.optimization.hints import DTCM, constant_placement
from helia_aot.optimization.identity import ambiguity_warnings, operator_ids
from helia_aot.optimization.knobs import PLANNER
from helia_aot.optimization.placement import bind_to_plan, plan_tensors
from helia_aot.optimization.plan import (
    PLAN_SCHEMA_VERSION,
    FixedChoice,
    Generator,
    KnobChoice,
    ModelIdentity,
    OptimizationPlan,
    PlanOptimization,
    PlatformIdentity,
)
from helia_aot.optimization.read import read_plan
from helia_aot.optimization.report import OptimizationReport
from helia_aot.optimization.resolve import (
    FixedDomains,
    ResolvableOperator,
    budget_limits,
    no_fixed_choices,
    plan_settings,
    resolve_choices,
    resolve_fixed,
    rule_warnings,
    values_of,
)
from helia_aot.optimization.storage import (
    MemoryFacts,
    ModuleStorage,
    OperatorStorage,
    OperatorVariant,
    StorageBlock,
)
from helia_aot.optimization.write import dump_json
from helia_aot.platforms.registry import load_platform
from helia_aot.platforms.schema import Platform
from helia_aot.platforms.settings import check_settings
from helia_aot.transforms.float16 import float16
from helia_aot.transforms.registry import apply_transforms, enabled_transforms
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
        budget: What the conversion makes of every limit of ``optimization.budget``.
        storage_bytes: Bytes of each memory, of arenas and of constants, by the name of their budget.
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
    budget: tuple[BudgetUse, ...]
    storage_bytes: Mapping[str, int]
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
    limits = budget_limits(config, plan)
    check_settings(config, platform)
    model = read_model(config.model.path, config.model.subgraph)
    model = replace(model, graph=_transformed(model.graph, config, platform))
    check_tensors(model.graph, platform.memory_sizes)
    check_supported(model.graph, model.name)
    target = _target(config, platform)

    check_target(model.graph, model.name, target)
    operators = _resolvable_operators(model.graph, target, config)
    identities = _identities(model, platform)
    receipt = None
    if plan is not None:
        subject = PlanSubject(
            *identities, operators, tuple(platform.memories), _non_volatile(platform)
        )
        receipt = check_plan(plan, subject, config)
    settings = plan_settings(config, plan)
    choices = resolve_choices(operators, config, plan)
    fixed = resolve_fixed(operators, choices, config, plan)
    lowered = _lower(model.graph, choices, fixed, target)
    if target.external:
        check_kernels(lowered, model.name, target.dialect)
    lowered = tuple(_for_library(low, target) for low in lowered)
    placements = operator_placements(operators, config.operators, platform)
    placements = planned_code(placements, operators, plan, platform)
    scratch_placement = {
        low.scratch_id: placement.scratch
        for low, placement in zip(lowered, placements, strict=True)
        if placement.scratch is not None
    }
    requests = requests_of(model.graph, lowered, config.memory.tensors, scratch_placement)
    requests = bind_to_plan(requests, plan, scratch_placement)
    capacities = _capacities(config, platform)
    memory_plan = plan_memory(
        requests,
        Memories(
            size_bytes=capacities,
            preferred=tuple(platform.preferred_memory_order),
            alignment=platform.min_alignment,
            read_only=_non_volatile(platform),
            at_zero=platform.memories_at_zero,
            external=not config.memory.allocate_arenas,
        ),
        _planner(settings),
    )
    volatile = {name: memory.volatile for name, memory in platform.memories.items()}
    budget = budget_uses(limits, memory_plan, volatile)
    check_budget(budget, memory_plan, requests, volatile)
    module_operators = _module_operators(model.graph, operators, lowered, placements, choices)
    new_plan = OptimizationPlan(
        schema_version=PLAN_SCHEMA_VERSION,
        generator=Generator(helia_aot=__version__, ns_cmsis_nn=_kernel_floor(module_operators)),
        model=identities[0],
        module_prefix=config.module.prefix,
        platform=identities[1],
        optimization=settings,
        operators=plan_operators(operators, choices, fixed, [item.code for item in placements]),
        tensors=plan_tensors(
            requests,
            memory_plan,
            rules=config.memory.tensors,
            scratch_placement=scratch_placement,
            plan=plan,
        ),
    )
    report = build_report(
        new_plan,
        operators,
        _facts(model.graph, module_operators),
        constant_placement(
            memory_plan,
            size_bytes=_within_budget(capacities, budget, memory_plan),
            tcm=platform.tcm_memories,
            rules=config.memory.tensors,
        ),
        alignment=platform.min_alignment,
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
    warnings = (
        *ambiguity_warnings([operator.id for operator in operators]),
        *rule_warnings(operators, config, fixed),
        *scratch_warnings(operators, config.operators, [bool(o.scratch_bytes) for o in lowered]),
        *tensor_rule_warnings(config.memory.tensors, requests),
    )
    documents = _documents(config, new_plan, report, residency)
    if config.documentation.html:
        facts = PageFacts(
            module_name=config.module.name,
            model_text=_model_text(config, model),
            plan=new_plan,
            report=report,
            residency=residency,
            memory_plan=memory_plan,
            requests=requests,
            memory_sizes=platform.memory_sizes,
            constraints={
                constraint.name: capacities[constraint.name]
                for constraint in config.memory.constraints
            },
            budget=budget,
            tensor_names={tensor.id: tensor.name for tensor in model.graph.tensors.values()},
            inputs=model.graph.inputs,
            outputs=model.graph.outputs,
            warnings=warnings,
        )
        page = EmittedFile(f"{config.module.prefix}_report.html", report_page(facts))
        documents.append(page)
    module = with_files(emit_module(spec), documents)
    return Conversion(
        config=config,
        platform=platform,
        plan=new_plan,
        report=report,
        residency=residency,
        memory_plan=memory_plan,
        budget=budget,
        storage_bytes=storage_bytes(memory_plan, volatile),
        module=module,
        warnings=warnings,
        receipt=receipt,
    )


def storage_of(conversion: Conversion) -> ModuleStorage:
    """Gives what the tensors of a module take by every alternative of its operators.

    The model is read again and every operator is lowered once for each combination of its knobs.

    Raises:
        HeliaError: As :func:`run_pipeline`.
    """
    config, platform = conversion.config, conversion.platform
    model = read_model(config.model.path, config.model.subgraph)
    graph = _transformed(model.graph, config, platform)
    target = _target(config, platform)
    operators = _resolvable_operators(graph, target, config)
    chosen = resolve_choices(operators, config, conversion.plan)
    variants: list[list[tuple[dict[str, str], LoweredOperator]]] = []
    for index, operator in enumerate(operators):
        variants.append([])
        for knobs in _knob_values(operator, chosen[index]):
            values = {
                name: choice.model_copy(update={"value": knobs[name]})
                for name, choice in chosen[index].items()
            }
            fixed = resolve_fixed([operator], [values], config)
            low = FAMILIES[operator.op_type].lower(
                graph,
                graph.operators[index],
                {**values_of(values), **values_of(fixed[0])},
                target,
            )
            variants[-1].append((knobs, _for_library(low, target)))
    own = [items[0][1] for items in variants]
    blocks = _storage_blocks(graph, operators, own)
    capacities = _capacities(config, platform)
    arenas = [arena for arena in conversion.memory_plan.arenas if arena.is_staged]
    return ModuleStorage(
        alignment=platform.min_alignment,
        memories=tuple(
            MemoryFacts(
                name=name,
                size_bytes=capacities[name],
                writable=platform.memories[name].volatile,
                volatile=platform.memories[name].volatile,
                tcm=platform.memories[name].tcm,
            )
            for name in platform.preferred_memory_order
        ),
        operators=_operator_storage(graph, operators, variants, blocks, config.module),
        blocks=blocks,
        places={place.id: place.memory for place in conversion.memory_plan.allocations.values()},
        sources={arena.memory: arena.source_memory for arena in arenas},
    )


def _knob_values(
    operator: ResolvableOperator, chosen: Mapping[str, KnobChoice]
) -> list[dict[str, str]]:
    """Gives all combinations of the values that make a difference, the chosen one first."""
    values = [
        [choice.value]
        + [value for value in operator.domains[name].entries if value != choice.value]
        if operator.domains[name].applicable
        else [choice.value]
        for name, choice in chosen.items()
    ]
    return [dict(zip(chosen, item, strict=True)) for item in itertools.product(*values)]


def _storage_blocks(
    graph: Graph,
    operators: Sequence[ResolvableOperator],
    lowered: Sequence[LoweredOperator],
) -> tuple[StorageBlock, ...]:
    """Gives the storage that is written at run time, without the operators' own buffers."""
    buffers = {low.scratch_id for low in lowered}
    requests = requests_of(graph, lowered, (), {})
    found = []
    last = len(operators) - 1
    for role in ("scratch", "persistent"):
        blocks = merge_aliases([r for r in requests if r.role == role and r.id not in buffers])
        for block in blocks:
            users = [
                index
                for index, operator in enumerate(graph.operators)
                if not {*operator.inputs, *operator.outputs}.isdisjoint(block.members)
            ]
            owner = operators[users[0] if users else 0].id.id
            is_scratch = role == "scratch"
            found.append(
                StorageBlock(
                    owner=owner,
                    role=role,
                    tensors=block.members,
                    size_bytes=block.size_bytes,
                    first_use=block.first_use if is_scratch else 0,
                    last_use=block.last_use if is_scratch else last,
                )
            )
    return tuple(found)


def _operator_storage(
    graph: Graph,
    operators: Sequence[ResolvableOperator],
    variants: Sequence[Sequence[tuple[dict[str, str], LoweredOperator]]],
    blocks: Sequence[StorageBlock],
    settings: ModuleConfig,
) -> tuple[OperatorStorage, ...]:
    owner_of = {tensor: block.owner for block in blocks for tensor in block.tensors}
    taken: set[str] = set()
    found = []
    for index, (operator, items) in enumerate(zip(operators, variants, strict=True)):
        source = graph.operators[index]
        owners = [owner_of[t] for t in (*source.inputs, *source.outputs) if t in owner_of]
        others = dict.fromkeys(owner for owner in owners if owner != operator.id.id)
        found.append(
            OperatorStorage(
                operator_id=operator.id.id,
                index=index,
                scratch_id=items[0][1].scratch_id,
                source=f"{settings.prefix}_{items[0][1].name}",
                variants=tuple(
                    OperatorVariant(
                        knobs=knobs,
                        sources=_shared_sources(low, knobs, settings.dialect),
                        constants={c.id: c.data.nbytes for c in low.constants if c.id not in taken},
                        scratch_bytes=low.scratch_bytes,
                    )
                    for knobs, low in items
                ),
                reads=tuple(others),
            )
        )
        taken |= {constant.id for _, low in items for constant in low.constants}
    return tuple(found)


def _shared_sources(
    low: LoweredOperator, knobs: Mapping[str, str], dialect: str
) -> tuple[str, ...]:
    """Gives the kernel sources, without suffix, that an operator needs beside its own file."""
    calls = list(low.init)
    if low.call is not None and not is_inlined(knobs):
        calls.append(low.call)
    entries = sorted({call.entry for call in calls})
    if dialect == "cmsis-nn":  # one file for each entry, by its name
        return tuple(entries)
    files = (PurePosixPath(name) for name in sources_for(entries))
    return tuple(file.stem for file in files if file.suffix == ".c")


def _transformed(graph: Graph, config: ConvertConfig, platform: Platform) -> Graph:
    """Gives the graph that is compiled.

    Raises:
        ConfigError: The model is to be computed in FP16, but the core has none or the constants do not fit.
    """
    graph = apply_transforms(graph, enabled_transforms(config.transforms))
    if config.model.precision == "model":
        return graph
    if not platform.fp16:
        reason = f"{platform.name} has a {platform.core}, which does not compute in FP16"
        raise ConfigError(
            "The model cannot be computed in FP16.",
            [Problem("model.precision", reason, "use precision: model, or another platform")],
        )
    return float16(graph)


def _within_budget(
    capacities: Mapping[str, int], budget: Sequence[BudgetUse], memory_plan: MemoryPlan
) -> dict[str, int]:
    """Lowers capacities to what the limits on single memories and on RAM leave, for hints that use them up."""
    limits = {use.budget.name: use for use in budget}
    within = dict(capacities)
    for memory in within:
        if (use := limits.get(f"{memory}_bytes")) is not None:
            within[memory] = min(within[memory], int(use.limit))
    ram = limits.get("ram_bytes")
    if DTCM in within and ram is not None and ram.used_bytes is not None:
        headroom_bytes = int(ram.limit) - ram.used_bytes
        within[DTCM] = min(within[DTCM], memory_plan.memory_bytes(DTCM) + headroom_bytes)
    return within


def _resolvable_operators(
    graph: Graph, target: Target, config: ConvertConfig
) -> tuple[ResolvableOperator, ...]:
    return tuple(
        ResolvableOperator(
            id=identity,
            op_type=operator.op_type,
            domains={
                **FAMILIES[operator.op_type].domains(graph, operator, target),
                **code_specialization(
                    FAMILIES[operator.op_type].macs(graph, operator), config.module.kernels
                ),
            },
            fixed=_fixed_domains(graph, operator, target),
        )
        for identity, operator in zip(operator_ids(graph), graph.operators, strict=True)
    )


def _fixed_domains(graph: Graph, operator: Operator, target: Target) -> FixedDomains:
    family = FAMILIES[operator.op_type]
    if not isinstance(family, HasFixedChoices):
        return no_fixed_choices
    return lambda knobs: family.fixed(graph, operator, knobs, target)


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
    graph: Graph,
    choices: Sequence[Mapping[str, KnobChoice]],
    fixed_choices: Sequence[Mapping[str, FixedChoice]],
    target: Target,
) -> tuple[LoweredOperator, ...]:
    return tuple(
        with_its_constants(
            FAMILIES[operator.op_type].lower(
                graph, operator, {**values_of(knobs), **values_of(fixed)}, target
            ),
            graph,
        )
        for operator, knobs, fixed in zip(graph.operators, choices, fixed_choices, strict=True)
    )


def _target(config: ConvertConfig, platform: Platform) -> Target:
    return Target(
        mve="mve" in platform.capabilities,
        dsp="dsp" in platform.capabilities,
        fp16=platform.fp16,
        dialect=config.module.dialect,
        external=config.module.kernels == "external",
    )


def _for_library(low: LoweredOperator, target: Target) -> LoweredOperator:
    """Gives an operator as the library of its kernels wants it called."""
    if target.dialect == "cmsis-nn":
        return to_cmsis_nn(low, target)
    return with_checked_buffer(low, target) if target.external else low


def _planner(settings: PlanOptimization) -> Planner:
    name = cast(PlannerName, settings.knobs[PLANNER.name].value)
    return PLANNERS[name](PlannerOptions(**settings.planner_options))


def _capacities(config: ConvertConfig, platform: Platform) -> dict[str, int]:
    """Gives what may be used of each memory: its size, or less where a constraint says so."""
    limits = {
        constraint.name: constraint.max_size
        for constraint in config.memory.constraints
        if constraint.max_size is not None
    }
    return {**platform.memory_sizes, **limits}


def _non_volatile(platform: Platform) -> frozenset[str]:
    return frozenset(name for name, memory in platform.memories.items() if not memory.volatile)


def _module_operators(
    graph: Graph,
    operators: Sequence[ResolvableOperator],
    lowered: Sequence[LoweredOperator],
    placements: Sequence[OperatorPlacement],
    choices: Sequence[Mapping[str, KnobChoice]],
) -> tuple[ModuleOperator, ...]:
    return tuple(
        ModuleOperator(
            id=resolvable.id.id,
            node_id=operator.node_id,
            op_type=operator.op_type,
            entry=low.call.entry if low.call else None,
            macs=FAMILIES[operator.op_type].macs(graph, operator),
            code_memory=placement.code,
            inlined=is_inlined(values_of(knobs)),
        )
        for resolvable, operator, low, placement, knobs in zip(
            operators, graph.operators, lowered, placements, choices, strict=True
        )
    )


def _kernel_floor(operators: Sequence[ModuleOperator]) -> str:
    """Gives the lowest kernel library release that has every entry called."""
    direct = any(operator.entry in DIRECT_ENTRIES for operator in operators)
    return _FLOOR_WITH_DIRECT_ENTRIES if direct else _FLOOR


def _library_floor(config: ConvertConfig, operators: Sequence[ModuleOperator]) -> str:
    """Gives the lowest release of the library that the module is linked with."""
    return CMSIS_NN_FLOOR if config.module.dialect == "cmsis-nn" else _kernel_floor(operators)


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
        build_system=config.module.type,
        prefix=config.module.prefix,
        kernel_prefix=config.module.kernel_prefix or config.module.prefix,
        kernels=config.module.kernels,
        model_file=model.name,
        model_sha256=hashlib.sha256(model.data).hexdigest(),
        model_text=_model_text(config, model),
        platform_name=platform.name,
        core=platform.core,
        non_volatile=_non_volatile(platform),
        dialect=config.module.dialect,
        kernel_floor=_library_floor(config, operators),
        lowered=lowered,
        operators=operators,
        inputs=tuple(_module_tensor(model.graph, i) for i in model.graph.inputs),
        outputs=tuple(_module_tensor(model.graph, o) for o in model.graph.outputs),
        memory_plan=memory_plan,
        blobs=blobs,
        allocates_arenas=config.memory.allocate_arenas,
        hydrates_constants=config.memory.auto_hydrate_constants,
        test_case=_test_case(config, model.graph),
    )


def _test_case(config: ConvertConfig, graph: Graph) -> ModuleTestCase | None:
    if not config.test.enabled or config.test.golden_data is None:
        return None
    golden = read_golden_case(config.test.golden_data, graph)
    return ModuleTestCase(golden.inputs, golden.outputs, config.test.tolerance)


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
