# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.optimization.identity import OperatorId, ambiguity_warnings, operator_ids


def _graph(*named: tuple[str, str], subgraph: int = 0) -> Graph:
    """A graph with one operator for each (node id, name of its output)."""
    tensors = {
        f"t{i}": Tensor(f"t{i}", name, (1,), DType.INT8) for i, (_, name) in enumerate(named)
    }
    operators = tuple(
        Operator(node_id, "RELU", (), (f"t{i}",)) for i, (node_id, _) in enumerate(named)
    )
    return Graph(subgraph, tensors, operators, (), ())


def _ids(*named: tuple[str, str], subgraph: int = 0) -> list[tuple[str, str]]:
    return [(item.id, item.id_source) for item in operator_ids(_graph(*named, subgraph=subgraph))]


def test_operator_is_named_after_its_first_output() -> None:
    assert _ids(("7", "Stateful:0"), subgraph=2) == [("2:Stateful:0", "tensor_name")]


def test_repeated_names_are_numbered_in_operator_order() -> None:
    assert _ids(("0", "x"), ("1", "y"), ("2", "x")) == [
        ("0:x#1", "tensor_name+ordinal"),
        ("0:y", "tensor_name"),
        ("0:x#2", "tensor_name+ordinal"),
    ]


def test_operator_without_a_name_is_named_after_its_position() -> None:
    assert _ids(("5", "x"), ("6", ""), ("7", "")) == [
        ("0:x", "tensor_name"),
        ("0:@1", "index"),
        ("0:@2", "index"),
    ]


def test_operator_without_outputs_is_named_after_its_position() -> None:
    graph = Graph(0, {}, (Operator("3", "CALL", (), ()),), (), ())
    assert operator_ids(graph) == (OperatorId("0:@0", "index", 0, "3"),)


def test_stable_id_spelled_twice_falls_back_to_the_node_ids() -> None:
    assert _ids(("0", "x"), ("1", "x"), ("2", "x#1")) == [
        ("0", "node_id"),
        ("0:x#2", "tensor_name+ordinal"),
        ("2", "node_id"),
    ]


def test_stable_id_equal_to_another_node_id_falls_back_with_a_warning() -> None:
    ids = operator_ids(_graph(("a", "x"), ("0:x", "y")))
    assert [(item.id, item.id_source) for item in ids] == [("a", "node_id"), ("0:y", "tensor_name")]
    (warning,) = ambiguity_warnings(ids)
    assert warning.startswith("operator a:")


def test_rules_can_use_both_names_or_the_node_id_alone() -> None:
    assert OperatorId("0:x", "tensor_name", 0, "7").names == ("0:x", "7")
    assert OperatorId("7", "node_id", 0, "7").names == ("7",)


@given(st.lists(st.sampled_from(["", "x", "x#1", "x#2", "@1", "y"]), max_size=8))
def test_no_id_names_two_operators(names: list[str]) -> None:
    ids = operator_ids(_graph(*((str(i), name) for i, name in enumerate(names))))
    spoken = [name for item in ids for name in item.names]
    assert len(spoken) == len(set(spoken))
    assert [item.index for item in ids] == list(range(len(names)))


@given(st.lists(st.sampled_from("abcdef"), unique=True, min_size=2))
def test_id_does_not_change_when_another_operator_is_removed(names: list[str]) -> None:
    everyone = _ids(*((str(i), name) for i, name in enumerate(names)))
    assert _ids(*((str(i), name) for i, name in enumerate(names[1:]))) == everyone[1:]
