# SPDX-License-Identifier: Apache-2.0
"""IF and WHILE, written out; TFLite Micro runs the same models with its interpreter."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from control_flow_models import KINDS, SHAPE, add_loop, binary, branch, choice, counting, recurrent
from host_module import build_module, run_program
from hypothesis import given, settings
from hypothesis import strategies as st
from required import litert_interpreter
from tflite_models import ModelBuilder
from transform_checks import assert_same, check_outputs, converted, graph_of, op_types, reference

from helia_aot.errors import UnsupportedModelError
from helia_aot.transforms import inline_control_flow as transform


def drawn(dtype: str, count: int, shape: tuple[int, ...] = SHAPE) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    if dtype == "float32":
        return [rng.standard_normal(shape).astype("float32") for _ in range(count)]
    ends = np.iinfo(dtype)
    return [rng.integers(ends.min, ends.max + 1, shape).astype(dtype) for _ in range(count)]


@pytest.mark.parametrize("dtype", list(KINDS))
@pytest.mark.parametrize("flag", [True, False])
def test_both_branches_are_computed_and_one_is_taken(
    tmp_path: Path, dtype: str, flag: bool
) -> None:
    data = choice(dtype)
    conversion = converted(data, tmp_path)
    assert op_types(conversion) == ["ADD", "SUB", "SELECT_V2"]
    check_outputs(data, conversion, [np.array([flag]), *drawn(dtype, 2)], tmp_path)


@pytest.mark.parametrize("flag", [True, False])
def test_a_condition_that_is_known_leaves_one_branch(tmp_path: Path, flag: bool) -> None:
    data = choice("int8", condition=flag)
    conversion = converted(data, tmp_path)
    assert op_types(conversion) == ["ADD" if flag else "SUB"]
    check_outputs(data, conversion, drawn("int8", 2), tmp_path)


@given(
    dtype=st.sampled_from(sorted(KINDS)),
    start=st.integers(-3, 3),
    limit=st.integers(-3, 9),
    step=st.integers(1, 4),
    body=st.sampled_from(["ADD", "SUB", "MUL"]),
)
@settings(max_examples=25)
def test_a_counted_loop_is_written_out(
    tmp_path_factory: pytest.TempPathFactory,
    dtype: str,
    start: int,
    limit: int,
    step: int,
    body: str,
) -> None:
    folder = tmp_path_factory.mktemp("loop")
    model = counting(dtype, start=start, limit=limit, step=step, body=body)
    data = model.build(inputs=[1, 2], outputs=[4])
    conversion = converted(data, folder)
    rounds = len(range(start, limit, step))
    assert Counter(op_types(conversion))[body] == rounds
    inputs = drawn(dtype, 2)
    if rounds:
        check_outputs(data, conversion, inputs, folder)
    else:  # x itself
        (got,) = run_program(build_module(conversion, folder), conversion, inputs)
        np.testing.assert_array_equal(got, inputs[0])


def test_copies_have_ids_of_their_own_and_the_same_ones_every_time(tmp_path: Path) -> None:
    model = counting("int8", limit=3)
    data = model.build(inputs=[1, 2], outputs=[4])
    plans = [converted(data, tmp_path).plan for _ in range(2)]
    assert plans[0] == plans[1]
    assert [o.id for o in plans[0].operators] == ["0:sum#1", "0:sum#2", "0:y"]
    assert [o.node_id for o in plans[0].operators] == ["1", "2", "3"]


def test_values_that_a_loop_only_passes_on_need_no_operator(tmp_path: Path) -> None:
    model = counting("int8", limit=2)
    y = model.tensor(SHAPE, scale=0.1, zero_point=3, name="last")
    binary(model, "ADD", [4, 5], y)
    data = model.build(inputs=[1, 2], outputs=[y])
    conversion = converted(data, tmp_path)
    assert op_types(conversion) == ["ADD", "ADD", "ADD"]
    check_outputs(data, conversion, drawn("int8", 2), tmp_path)


def test_a_count_of_rounds_can_be_an_expression_of_shapes(tmp_path: Path) -> None:
    """The limit is what the model computes from a shape before the loop."""
    model = ModelBuilder()
    first = model.constant(np.array([0], np.int32))
    x = model.tensor((4,), dtype="float32", name="x")
    rows = model.tensor((1,), dtype="int32", name="rows")
    model.operator("SHAPE", [x], [rows], ("ShapeOptions", {}))
    out = [model.tensor((1,), dtype="int32") for _ in range(2)]
    y = model.tensor((4,), dtype="float32", name="y")
    condition, body = ModelBuilder("condition"), ModelBuilder("body")
    for inner in (condition, body):
        for shape, dtype in (((1,), "int32"), ((1,), "int32"), ((4,), "float32")):
            inner.tensor(shape, dtype=dtype)
    more = condition.tensor((1,), dtype="bool")
    binary(condition, "LESS", [0, 1], more)
    one = body.constant(np.array([1], np.int32))
    count = body.tensor((1,), dtype="int32")
    binary(body, "ADD", [0, one], count)
    doubled = body.tensor((4,), dtype="float32")
    binary(body, "ADD", [2, 2], doubled)
    options = {
        "CondSubgraphIndex": model.subgraph(condition, inputs=[0, 1, 2], outputs=[more]),
        "BodySubgraphIndex": model.subgraph(body, inputs=[0, 1, 2], outputs=[count, 1, doubled]),
    }
    model.operator("WHILE", [first, rows, x], [*out, y], ("WhileOptions", options))
    data = model.build(inputs=[x], outputs=[y])
    conversion = converted(data, tmp_path)
    assert op_types(conversion) == ["ADD"] * 4
    check_outputs(data, conversion, drawn("float32", 1, (4,)), tmp_path)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize(("rounds", "rows"), [(1, 3), (2, 1), (6, 5)])
def test_collected_rows_are_joined_once(tmp_path: Path, dtype: str, rounds: int, rows: int) -> None:
    model, ends, results = recurrent(rounds, rows, dtype)
    data = model.build(inputs=ends, outputs=results)
    conversion = converted(data, tmp_path)
    counts = Counter(op_types(conversion))
    assert counts["CONCATENATION"] == (1 if rounds > 1 else 0)
    assert counts["ADD"] == 2 * rounds
    assert "SLICE" not in counts
    inputs = drawn(dtype, 1, (rounds, 1, rows))
    got = run_program(build_module(conversion, tmp_path), conversion, inputs)
    interpreter = litert_interpreter(data, reference_kernels=True)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], inputs[0])
    interpreter.invoke()
    assert_same(got, [interpreter.get_tensor(interpreter.get_output_details()[0]["index"])])


def test_a_loop_inside_of_a_branch_inside_of_a_loop(tmp_path: Path) -> None:
    """Each round of the outer loop adds x as often as the inner one runs, where k is above zero."""
    model = ModelBuilder()
    kind = {"dtype": "float32"}
    first = model.constant(np.array([0], np.int32))
    flag = model.tensor((1,), dtype="bool", name="flag")
    x, k, y, same = (model.tensor(SHAPE, name=n, **kind) for n in ("x", "k", "y", "same"))
    counted = model.tensor((1,), dtype="int32")
    out_flag = model.tensor((1,), dtype="bool")
    inner = add_loop(model, "float32", limit=2, step=1, body="ADD")
    then = ModelBuilder("then")
    a, b, result, unread = (then.tensor(SHAPE, **kind) for _ in range(4))
    zero = then.constant(np.array([0], np.int32))
    count = then.tensor((1,), dtype="int32")
    then.operator("WHILE", [zero, a, b], [count, result, unread], ("WhileOptions", inner))
    numbers = {
        "ThenSubgraphIndex": model.subgraph(then, inputs=[a, b], outputs=[result]),
        "ElseSubgraphIndex": model.subgraph(branch("SUB", "float32"), inputs=[0, 1], outputs=[2]),
    }
    condition, body = ModelBuilder("condition"), ModelBuilder("body")
    for part in (condition, body):
        part.tensor((1,), dtype="int32")
        part.tensor((1,), dtype="bool")
        part.tensor(SHAPE, **kind)
        part.tensor(SHAPE, **kind)
    limit = condition.constant(np.array([3], np.int32))
    more = condition.tensor((1,), dtype="bool")
    binary(condition, "LESS", [0, limit], more)
    one = body.constant(np.array([1], np.int32))
    after = body.tensor((1,), dtype="int32")
    binary(body, "ADD", [0, one], after)
    chosen = body.tensor(SHAPE, **kind)
    body.operator("IF", [1, 2, 3], [chosen], ("IfOptions", numbers))
    options = {
        "CondSubgraphIndex": model.subgraph(condition, inputs=range(4), outputs=[more]),
        "BodySubgraphIndex": model.subgraph(body, inputs=range(4), outputs=[after, 1, chosen, 3]),
    }
    model.operator(
        "WHILE", [first, flag, x, k], [counted, out_flag, y, same], ("WhileOptions", options)
    )
    data = model.build(inputs=[flag, x, k], outputs=[y])
    conversion = converted(data, tmp_path)
    counts = Counter(op_types(conversion))
    assert (counts["ADD"], counts["SUB"], counts["SELECT_V2"]) == (6, 3, 3)
    program = build_module(conversion, tmp_path)
    for value in (True, False):
        inputs = [np.array([value]), *drawn("float32", 2)]
        assert_same(run_program(program, conversion, inputs), reference(data, inputs, 1))


def test_a_variable_can_change_in_a_loop(tmp_path: Path) -> None:
    model = ModelBuilder()
    first = model.constant(np.array([0], np.int32))
    x, k, y = (model.tensor(SHAPE, name=n, scale=0.1, zero_point=3) for n in ("x", "k", "y"))
    counted, same = model.tensor((1,), dtype="int32"), model.tensor(SHAPE, scale=0.1, zero_point=3)
    options = add_loop(model, "int8", limit=3, step=1, body="ADD")
    body = model.subgraphs[options["BodySubgraphIndex"] - 1][0]
    handle = body.tensor((), dtype="resource")
    before, total = (body.tensor(SHAPE, scale=0.1, zero_point=3) for _ in range(2))
    body.operator("VAR_HANDLE", [], [handle], ("VarHandleOptions", {"SharedName": "total"}))
    body.operator("READ_VARIABLE", [handle], [before])
    binary(body, "ADD", [before, 1], total)
    body.operator("ASSIGN_VARIABLE", [handle, total], [])
    model.operator("WHILE", [first, x, k], [counted, y, same], ("WhileOptions", options))
    outer = model.tensor((), dtype="resource")
    kept = model.tensor(SHAPE, scale=0.1, zero_point=3)
    model.operator("VAR_HANDLE", [], [outer], ("VarHandleOptions", {"SharedName": "total"}))
    model.operator("READ_VARIABLE", [outer], [kept])
    data = model.build(inputs=[x, k], outputs=[y, kept])
    conversion = converted(data, tmp_path)
    assert Counter(op_types(conversion))["ASSIGN_VARIABLE"] == 3
    inputs = drawn("int8", 2)
    got = run_program(build_module(conversion, tmp_path), conversion, inputs)
    real = [0.1 * (array.astype(float) - 3) for array in inputs]
    rounds = [real[0] + number * real[1] for number in range(4)]
    close = [np.clip(np.round(value / 0.1) + 3, -128, 127) for value in rounds]
    in_range = np.all([np.abs(value) < 12 for value in rounds], axis=0)
    assert in_range.any()
    np.testing.assert_array_equal(got[0][in_range], close[3][in_range])


def refusal(data: bytes, folder: Path) -> str:
    with pytest.raises(UnsupportedModelError) as caught:
        converted(data, folder)
    return str(caught.value)


def test_a_loop_that_data_decides_is_refused_with_the_reason(tmp_path: Path) -> None:
    model = counting("float32")
    condition = model.subgraphs[0][0]
    condition.operators.clear()
    first = condition.tensor((1,), dtype="float32")
    zero = condition.constant(np.zeros(1, np.float32))
    axes = condition.constant(np.array([0, 1], np.int32))
    condition.operator("SUM", [1, axes], [first], ("ReducerOptions", {}))
    binary(condition, "LESS", [first, zero], condition.tensors.index(condition.tensors[4]))
    text = refusal(model.build(inputs=[1, 2], outputs=[4]), tmp_path)
    assert "operator 0 WHILE" in text
    assert "depends on what is computed, after 0 rounds" in text


def test_a_loop_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transform, "MAX_ROUNDS", 50)
    data = counting("int8", step=0).build(inputs=[1, 2], outputs=[4])
    assert "it does not end within 50 rounds" in refusal(data, tmp_path)


def test_a_loop_of_too_many_operators_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transform, "MAX_OPERATORS", 10)
    data = counting("int8", limit=100).build(inputs=[1, 2], outputs=[4])
    assert "more than 10 operators after 11 rounds" in refusal(data, tmp_path)


def test_a_variable_that_one_branch_changes_is_refused(tmp_path: Path) -> None:
    model = ModelBuilder()
    flag = model.tensor((1,), dtype="bool")
    a, b, y = (model.tensor(SHAPE, dtype="int8", **KINDS["int8"]) for _ in range(3))
    then = branch("ADD", "int8")
    handle = then.tensor((), dtype="resource")
    then.operator("VAR_HANDLE", [], [handle], ("VarHandleOptions", {"SharedName": "v"}))
    then.operator("ASSIGN_VARIABLE", [handle, 2], [])
    options = {
        "ThenSubgraphIndex": model.subgraph(then, inputs=[0, 1], outputs=[2]),
        "ElseSubgraphIndex": model.subgraph(branch("SUB", "int8"), inputs=[0, 1], outputs=[2]),
    }
    model.operator("IF", [flag, a, b], [y], ("IfOptions", options))
    text = refusal(model.build(inputs=[flag, a, b], outputs=[y]), tmp_path)
    assert "operator 0 IF" in text
    assert "subgraph 1 changes a variable" in text


@pytest.mark.parametrize(
    ("options", "inputs", "reason"),
    [
        ({"ThenSubgraphIndex": 7, "ElseSubgraphIndex": 1}, 3, "subgraph 7 does not exist"),
        ({"ThenSubgraphIndex": -1, "ElseSubgraphIndex": 1}, 3, "subgraph -1 does not exist"),
        ({"ThenSubgraphIndex": 0, "ElseSubgraphIndex": 1}, 3, "subgraph 0 does not exist"),
        ({"ThenSubgraphIndex": 2, "ElseSubgraphIndex": 1}, 3, "inside of it: subgraph 2 runs itself"),
        ({"ThenSubgraphIndex": 3, "ElseSubgraphIndex": 1}, 3, "subgraph 3 gives 0 results, not 1"),
        ({"ThenSubgraphIndex": 4, "ElseSubgraphIndex": 1}, 3, "input 0 of subgraph 4 has another type"),
        ({"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 1}, 2, "subgraph 1 takes 2 values, not 1"),
        ({"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 1}, 0, "an input is missing"),
    ],
)  # fmt: skip
def test_contradictions_are_refused(
    tmp_path: Path, options: dict[str, int], inputs: int, reason: str
) -> None:
    model = ModelBuilder()
    flag = model.tensor((1,), dtype="bool")
    a, b, y = (model.tensor(SHAPE, dtype="int8", **KINDS["int8"]) for _ in range(3))
    model.subgraph(branch("ADD", "int8"), inputs=[0, 1], outputs=[2])
    itself = branch("ADD", "int8")
    inner = itself.tensor((1,), dtype="bool", data=np.array([True]))
    itself.operators.clear()
    to_itself = {"ThenSubgraphIndex": 2, "ElseSubgraphIndex": 1}
    itself.operator("IF", [inner, 0, 1], [2], ("IfOptions", to_itself))
    model.subgraph(itself, inputs=[0, 1], outputs=[2])
    model.subgraph(branch("ADD", "int8"), inputs=[0, 1], outputs=[])
    model.subgraph(branch("ADD", "float32"), inputs=[0, 1], outputs=[2])
    model.operator("IF", [flag, a, b][:inputs], [y], ("IfOptions", options))
    assert reason in refusal(model.build(inputs=[flag, a, b], outputs=[y]), tmp_path)


def test_a_model_without_control_flow_is_left_alone(tmp_path: Path) -> None:
    model = branch("ADD", "int8")
    graph = graph_of(model.build(inputs=[0, 1], outputs=[2]), tmp_path)
    assert transform.inline_control_flow(graph) is graph
