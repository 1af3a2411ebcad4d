# SPDX-License-Identifier: Apache-2.0
"""Which operator types are supported, and the one check that names everything a model needs beyond them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from helia_aot.config.dialect import LIBRARY_NAMES, Dialect
from helia_aot.errors import Problem, UnsupportedModelError
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Tensor
from helia_aot.kernels.manifest import is_dialect_entry
from helia_aot.operators.by_type import ByType
from helia_aot.operators.cmsis_nn import cmsis_nn_reasons
from helia_aot.operators.convolution import C16, SMALL_CIN
from helia_aot.operators.depthwise import (
    DIRECT_3X3,
    DIRECT_3X3_C64_S1,
    DIRECT_CHANNELWISE,
    DIRECT_PLANAR,
)
from helia_aot.operators.float_families import FLOAT_FAMILIES
from helia_aot.operators.integer_families import INTEGER, UNTYPED
from helia_aot.operators.spec import LoweredOperator, OperatorFamily, Target

TYPED: Final[tuple[Mapping[str, Mapping[str, OperatorFamily]], ...]] = (INTEGER, FLOAT_FAMILIES)
"""Tables of families by operator name and element type of the first output."""

FAMILIES: Final[Mapping[str, OperatorFamily]] = {
    **UNTYPED,
    **{
        op_type: ByType(
            {dtype: f for table in TYPED for dtype, f in table.get(op_type, {}).items()}
        )
        for op_type in sorted({op_type for table in TYPED for op_type in table})
    },
}
"""TFLite operator name -> its family."""

DIRECT_ENTRIES: Final = frozenset(
    {SMALL_CIN, C16, DIRECT_3X3, DIRECT_3X3_C64_S1, DIRECT_CHANNELWISE, DIRECT_PLANAR}
)
"""Entries that a module can call only with kernel library release 7.37.0 or later."""


_MOST_FACTS: Final = 5
"""Operator types that one error explains."""

_LISTS: Final = frozenset(
    {("RESHAPE", 1), *((op_type, 1) for op_type in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"))}
)
"""Inputs that are lists of sizes or axes, which can be empty: the shape of a scalar, a sum along no axis."""

STATEFUL: Final = frozenset(
    {"ASSIGN_VARIABLE", "READ_VARIABLE", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"}
)
"""Operators that read variables, which keep their values from one run to the next."""


def check_supported(graph: Graph, model_name: str) -> None:
    """Checks that every operator of a graph can be compiled.

    Raises:
        UnsupportedModelError: Lists every operator that cannot, with its type and each reason.
    """
    order = _order(graph)
    problems = [
        Problem(f"operator {operator.node_id} {operator.op_type}", reason)
        for position, operator in enumerate(graph.operators)
        for reason in _reasons(graph, position, order)
    ]
    problems += _ends_problems(graph)
    if problems:
        count = len({problem.where for problem in problems})
        raise UnsupportedModelError(
            f"{model_name} needs what is not supported, in {count} place(s)",
            problems,
            next_step=_nearest(graph, problems),
        )


def _ends_problems(graph: Graph) -> list[Problem]:
    """Lists what is wrong with the inputs and outputs of the model; C has no arrays without elements for them."""
    parts = (("input", graph.inputs), ("output", graph.outputs), ("operator", graph.operators))
    problems = [Problem("the model", f"it has no {part}") for part, there in parts if not there]
    computed = {output for operator in graph.operators for output in operator.outputs}
    for role, ids in (("input", graph.inputs), ("output", graph.outputs)):
        for position, tensor_id in enumerate(ids):
            where = f"{role} {position} of the model"
            dtype = graph.tensor(tensor_id).dtype
            if not dtype.is_numeric:
                problems.append(Problem(where, f"it has type {dtype}, which has no numbers"))
            if graph.tensor(tensor_id).is_constant:
                problems.append(Problem(where, "it is a constant of the file"))
            elif tensor_id not in computed and tensor_id not in graph.inputs:
                problems.append(Problem(where, "no operator computes it"))
    return problems


def _nearest(graph: Graph, problems: Sequence[Problem]) -> str:
    """Says where all limits are listed, and the types that the refused operators have families for."""
    refused = {problem.where for problem in problems}
    op_types = dict.fromkeys(
        o.op_type for o in graph.operators if f"operator {o.node_id} {o.op_type}" in refused
    )
    known = [op_type for op_type in op_types if op_type in FAMILIES][:_MOST_FACTS]
    facts = [f"{op_type} takes {', '.join(_types(op_type))}" for op_type in known]
    return " ".join(
        ["docs/operators.md lists every operator, type and limit.", *(f"{f}." for f in facts)]
    )


def _types(op_type: str) -> tuple[str, ...]:
    """Gives the element types of an operator's families, each once."""
    return tuple(dict.fromkeys(t for s in FAMILIES[op_type].support for t in s.types))


def check_kernels(lowered: Sequence[LoweredOperator], model_name: str, dialect: Dialect) -> None:
    """Checks that every kernel of a module is one that an external library of a dialect has.

    Raises:
        UnsupportedModelError: Operators need kernels that only the bundled library has; all are listed.
    """
    reasons = cmsis_nn_reasons if dialect == "cmsis-nn" else _ns_cmsis_nn_reasons
    problems = [
        Problem(f"operator {low.node_id} {low.op_type}", reason)
        for low in lowered
        for reason in reasons(low)
    ]
    if problems:
        raise UnsupportedModelError(
            f"{model_name} needs kernels that {LIBRARY_NAMES[dialect]} does not have",
            problems,
            next_step="Set module.kernels to bundled.",
        )


def _ns_cmsis_nn_reasons(low: LoweredOperator) -> list[str]:
    calls = (*((low.call,) if low.call else ()), *low.init)
    return [f"calls {call.entry}" for call in calls if not is_dialect_entry(call.entry)]


def check_target(graph: Graph, model_name: str, target: Target) -> None:
    """Checks that a core can compute the element types of a graph.

    Raises:
        UnsupportedModelError: Operators compute in float16, but the core does not; all are listed.
    """
    if target.fp16:
        return
    problems = [
        Problem(
            f"operator {operator.node_id} {operator.op_type}",
            "computes in float16, which the platform's core does not",
        )
        for operator in graph.operators
        if any(graph.tensor(output).dtype is DType.FLOAT16 for output in operator.outputs)
    ]
    if problems:
        raise UnsupportedModelError(
            f"{model_name} needs a core that computes in FP16",
            problems,
            next_step="Take a platform whose core has FP16, or export the model in float32.",
        )


def _order(graph: Graph) -> Mapping[str, list[int]]:
    """Gives the positions of the operators that compute each tensor."""
    order: dict[str, list[int]] = {}
    for position, operator in enumerate(graph.operators):
        for output in operator.outputs:
            order.setdefault(output, []).append(position)
    return order


def _reasons(graph: Graph, position: int, order: Mapping[str, list[int]]) -> list[str]:
    operator = graph.operators[position]
    family = FAMILIES.get(operator.op_type)
    if family is None:
        return [getattr(operator.attributes, "refusal", "") or "this operator is not supported"]
    return _graph_reasons(graph, position, order) or family.problems(graph, operator)


def _graph_reasons(graph: Graph, position: int, order: Mapping[str, list[int]]) -> list[str]:
    """Gives what is wrong with the operator's tensors whatever its type."""
    operator = graph.operators[position]
    reasons = []
    for role, ids in (("input", operator.inputs), ("output", operator.outputs)):
        for place, tensor_id in enumerate(ids):
            if tensor_id is None:
                continue
            tensor = graph.tensor(tensor_id)
            reason = _shape_reason(tensor, operator.op_type, place if role == "input" else None)
            if reason:
                reasons.append(f"{role} {place} has the shape {list(tensor.shape)}, {reason}")
            if role == "input":
                reason = _source_reason(graph, position, tensor, order)
            else:
                reason = _result_reason(graph, tensor, order)
            if reason:
                reasons.append(f"{role} {place} (tensor {tensor_id}) {reason}")
    return reasons


def _shape_reason(tensor: Tensor, op_type: str, place: int | None) -> str:
    """Gives why no operator takes a shape; empty for a shape that one can take."""
    if any(size < 0 for size in tensor.shape):
        return "not static"
    if 0 in tensor.shape and not (tensor.is_constant and (op_type, place) in _LISTS):
        return "which has no elements"
    return ""


def _source_reason(
    graph: Graph, position: int, tensor: Tensor, order: Mapping[str, list[int]]
) -> str:
    """Gives why an operator cannot read a tensor; empty where it can."""
    is_given = tensor.is_constant or tensor.id in graph.inputs
    if tensor.is_variable:
        is_kept = graph.operators[position].op_type in STATEFUL and not is_given
        return "" if is_kept else "is a variable"
    if is_given:
        return ""
    if tensor.id not in order:
        return "is computed by no operator"
    if order[tensor.id][0] >= position:
        return "is read before it is computed"
    return ""


def _result_reason(graph: Graph, tensor: Tensor, order: Mapping[str, list[int]]) -> str:
    """Gives why an operator cannot write a tensor; empty where it can."""
    if len(order[tensor.id]) > 1:
        nodes = ", ".join(graph.operators[place].node_id for place in order[tensor.id])
        return f"is computed by more than one operator: {nodes}"
    if tensor.is_constant or tensor.is_variable:
        return "is a constant" if tensor.is_constant else "is a variable"
    return "is an input of the model" if tensor.id in graph.inputs else ""
