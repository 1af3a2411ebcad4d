# SPDX-License-Identifier: Apache-2.0
"""Which operator types are supported, and the one check that names everything a model needs beyond them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from helia_aot.errors import Problem, UnsupportedModelError
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator
from helia_aot.kernels.manifest import is_dialect_entry
from helia_aot.operators.by_type import ByType
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

STATEFUL: Final = frozenset(
    {"ASSIGN_VARIABLE", "READ_VARIABLE", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"}
)
"""Operators that read variables, which keep their values from one run to the next."""


def check_supported(graph: Graph, model_name: str) -> None:
    """Checks that every operator of a graph can be compiled.

    Raises:
        UnsupportedModelError: Lists every operator that cannot, with its type and each reason.
    """
    problems = [
        Problem(f"operator {operator.node_id} {operator.op_type}", reason)
        for operator in graph.operators
        for reason in _reasons(graph, operator)
    ]
    computed = {output for operator in graph.operators for output in operator.outputs}
    problems += [
        Problem(f"output {position} of the model", "no operator computes it")
        for position, tensor_id in enumerate(graph.outputs)
        if tensor_id not in computed and tensor_id not in graph.inputs
    ]
    if problems:
        count = len({problem.where for problem in problems})
        raise UnsupportedModelError(
            f"{model_name} needs what is not supported, in {count} place(s)",
            problems,
            next_step=_nearest(graph, problems),
        )


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


def check_kernels(lowered: Sequence[LoweredOperator], model_name: str) -> None:
    """Checks that every kernel of a module is one that an external library has.

    Raises:
        UnsupportedModelError: Operators need kernels of our own, which only the bundled library has; all are listed.
    """
    problems = [
        Problem(f"operator {low.node_id} {low.op_type}", f"calls {call.entry}")
        for low in lowered
        for call in (*((low.call,) if low.call else ()), *low.init)
        if not is_dialect_entry(call.entry)
    ]
    if problems:
        raise UnsupportedModelError(
            f"{model_name} needs kernels that ns-cmsis-nn does not have",
            problems,
            next_step="Set module.kernels to bundled.",
        )


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


def _reasons(graph: Graph, operator: Operator) -> list[str]:
    family = FAMILIES.get(operator.op_type)
    if family is None:
        return ["this operator is not supported"]
    return _graph_reasons(graph, operator) or family.problems(graph, operator)


def _graph_reasons(graph: Graph, operator: Operator) -> list[str]:
    """Gives what is wrong with the operator's tensors whatever its type."""
    computed = {output for other in graph.operators for output in other.outputs}
    reasons = []
    for role, ids in (("input", operator.inputs), ("output", operator.outputs)):
        for position, tensor_id in enumerate(ids):
            if tensor_id is None:
                continue
            tensor = graph.tensor(tensor_id)
            if any(size < 1 for size in tensor.shape):
                reasons.append(f"{role} {position} has the shape {list(tensor.shape)}, not static")
            kept = tensor.is_variable and operator.op_type in STATEFUL
            if role == "input" and not (
                kept or tensor.is_constant or tensor_id in computed or tensor_id in graph.inputs
            ):
                kind = "is a variable" if tensor.is_variable else "is computed by no operator"
                reasons.append(f"{role} {position} (tensor {tensor_id}) {kind}")
    return reasons
