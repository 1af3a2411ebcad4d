# SPDX-License-Identifier: Apache-2.0
"""Models with IF and WHILE, as frameworks write branches, counted loops and recurrent layers."""

from __future__ import annotations

from typing import Any

import numpy as np
from tflite_models import ModelBuilder

KINDS: dict[str, dict[str, Any]] = {
    "int8": {"scale": 0.1, "zero_point": 3},
    "int16": {"scale": 0.001},
    "float32": {},
}
SHAPE = (1, 7)


def binary(model: ModelBuilder, op_type: str, inputs: list[int], output: int) -> None:
    table = {"LESS": "LessOptions", "GREATER": "GreaterOptions", "LOGICAL_AND": "LogicalAndOptions"}
    name = table.get(op_type, f"{op_type.capitalize()}Options")
    model.operator(op_type, inputs, [output], (name, {}))


def branch(op_type: str, dtype: str, shape: tuple[int, ...] = SHAPE) -> ModelBuilder:
    """One operation of two values: tensor 2 of tensors 0 and 1."""
    model = ModelBuilder(op_type)
    for name in ("a", "b", "result"):
        model.tensor(shape, dtype=dtype, name=name, **KINDS[dtype])
    binary(model, op_type, [0, 1], 2)
    return model


def choice(dtype: str, *, condition: bool | None = None) -> bytes:
    """Adds or subtracts, as an input of the model or a constant says."""
    model = ModelBuilder()
    known = None if condition is None else np.array([condition])
    flag = model.tensor((1,), dtype="bool", name="flag", data=known)
    a, b, y = (
        model.tensor(SHAPE, dtype=dtype, name=n, **KINDS[dtype]) for n in ("a", "b", "chosen")
    )
    numbers = [
        model.subgraph(branch(op_type, dtype), inputs=[0, 1], outputs=[2])
        for op_type in ("ADD", "SUB")
    ]
    options = {"ThenSubgraphIndex": numbers[0], "ElseSubgraphIndex": numbers[1]}
    model.operator("IF", [flag, a, b], [y], ("IfOptions", options))
    inputs = [a, b] if condition is not None else [flag, a, b]
    return model.build(inputs=inputs, outputs=[y])


def counting(
    dtype: str, *, start: int = 0, limit: int = 5, step: int = 1, body: str = "ADD"
) -> ModelBuilder:
    """While a counter is below a limit, x = x + k (or another operation), and the counter rises by a step."""
    model = ModelBuilder()
    first = model.constant(np.array([start], np.int32))
    x, k, counted, y, same = (
        model.tensor(shape, dtype=kind, name=name, **fields)
        for name, shape, kind, fields in (
            ("x", SHAPE, dtype, KINDS[dtype]),
            ("k", SHAPE, dtype, KINDS[dtype]),
            ("counted", (1,), "int32", {}),
            ("y", SHAPE, dtype, KINDS[dtype]),
            ("same", SHAPE, dtype, KINDS[dtype]),
        )
    )
    options = add_loop(model, dtype, limit=limit, step=step, body=body)
    model.operator("WHILE", [first, x, k], [counted, y, same], ("WhileOptions", options))
    return model


def add_loop(
    model: ModelBuilder, dtype: str, *, limit: int, step: int, body: str
) -> dict[str, int]:
    """Adds condition and body of such a loop and gives the options of its WHILE."""
    condition = ModelBuilder("condition")
    values(condition, dtype)
    ends = condition.constant(np.array([limit], np.int32))
    more = condition.tensor((1,), dtype="bool", name="more")
    binary(condition, "LESS", [0, ends], more)
    inside = ModelBuilder("body")
    values(inside, dtype)
    by = inside.constant(np.array([step], np.int32))
    counter = inside.tensor((1,), dtype="int32", name="next")
    binary(inside, "ADD", [0, by], counter)
    result = inside.tensor(SHAPE, dtype=dtype, name="sum", **KINDS[dtype])
    binary(inside, body, [1, 2], result)
    return {
        "CondSubgraphIndex": model.subgraph(condition, inputs=[0, 1, 2], outputs=[more]),
        "BodySubgraphIndex": model.subgraph(inside, inputs=[0, 1, 2], outputs=[counter, result, 2]),
    }


def values(model: ModelBuilder, dtype: str) -> None:
    """Adds the values of the loop: counter, x and k."""
    model.tensor((1,), dtype="int32", name="counter")
    for name in ("x", "k"):
        model.tensor(SHAPE, dtype=dtype, name=name, **KINDS[dtype])


def recurrent(rounds: int, rows: int, dtype: str) -> tuple[ModelBuilder, list[int], list[int]]:
    """A recurrent layer that collects its outputs, then another one that reads them, as Keras writes them.

    Gives the model with its inputs and outputs.
    """
    model = ModelBuilder()
    x = model.tensor((rounds, 1, rows), dtype=dtype, name="x", **KINDS[dtype])
    source = x
    for number in range(2):
        first = model.constant(np.array(0, np.int32))
        collected = model.constant(np.zeros((rounds, 1, rows), dtype), **KINDS[dtype])
        state = model.constant(np.zeros((1, rows), dtype), **KINDS[dtype])
        counter = model.tensor((), dtype="int32")
        result = model.tensor((rounds, 1, rows), dtype=dtype, name=f"all_{number}", **KINDS[dtype])
        last = model.tensor((1, rows), dtype=dtype, **KINDS[dtype])
        passed = model.tensor((rounds, 1, rows), dtype=dtype, **KINDS[dtype])
        condition = ModelBuilder("condition")
        shapes = ((), (rounds, 1, rows), (1, rows), (rounds, 1, rows))
        for place, shape in enumerate(shapes):
            condition.tensor(
                shape, **({"dtype": dtype, **KINDS[dtype]} if place else {"dtype": "int32"})
            )
        limit = condition.constant(np.array(rounds, np.int32))
        more = condition.tensor((), dtype="bool")
        binary(condition, "LESS", [0, limit], more)
        body, outputs = recurrent_body(rounds, rows, dtype)
        options = {
            "CondSubgraphIndex": model.subgraph(condition, inputs=range(4), outputs=[more]),
            "BodySubgraphIndex": model.subgraph(body, inputs=range(4), outputs=outputs),
        }
        model.operator(
            "WHILE",
            [first, collected, state, source],
            [counter, result, last, passed],
            ("WhileOptions", options),
        )
        source = result
    return model, [x], [source]


def recurrent_body(rounds: int, rows: int, dtype: str) -> tuple[ModelBuilder, list[int]]:
    """The state takes the next row in; its rows go where the counter says, by cutting and joining."""
    kind = {"dtype": dtype, **KINDS[dtype]}
    body = ModelBuilder("body")
    counter = body.tensor((), dtype="int32")
    collected = body.tensor((rounds, 1, rows), **kind)
    state = body.tensor((1, rows), **kind)
    source = body.tensor((rounds, 1, rows), **kind)
    one = body.constant(np.array(1, np.int32))
    after = body.tensor((), dtype="int32")
    binary(body, "ADD", [counter, one], after)
    row = body.tensor((1, rows), **kind)
    body.operator("GATHER", [source, counter], [row], ("GatherOptions", {"Axis": 0}))
    new = body.tensor((1, rows), name="state", **kind)
    binary(body, "ADD", [row, state], new)
    ends = []
    for number in (counter, after):
        vector = body.tensor((1,), dtype="int32")
        shape = body.constant(np.array([1], np.int32))
        body.operator("RESHAPE", [number, shape], [vector], ("ReshapeOptions", {}))
        rest = body.constant(np.array([0, 0] if number == after else [-1, -1], np.int32))
        end = body.tensor((3,), dtype="int32")
        body.operator("CONCATENATION", [vector, rest], [end], ("ConcatenationOptions", {"Axis": 0}))
        ends.append(end)
    zeros = body.constant(np.zeros(3, np.int32))
    all_left = body.constant(np.full(3, -1, np.int32))
    # The shapes of the cuts differ from round to round, and the file holds the shape of none of them.
    before, behind = (body.tensor((1, 1, 1), signature=(-1, -1, -1), **kind) for _ in range(2))
    body.operator("SLICE", [collected, zeros, ends[0]], [before], ("SliceOptions", {}))
    body.operator("SLICE", [collected, ends[1], all_left], [behind], ("SliceOptions", {}))
    reshaped = body.tensor((1, 1, rows), **kind)
    target = body.constant(np.array([1, 1, rows], np.int32))
    body.operator("RESHAPE", [new, target], [reshaped], ("ReshapeOptions", {}))
    joined = body.tensor((rounds, 1, rows), name="joined", **kind)
    body.operator(
        "CONCATENATION",
        [before, reshaped, behind],
        [joined],
        ("ConcatenationOptions", {"Axis": 0}),
    )
    return body, [after, joined, new, source]
