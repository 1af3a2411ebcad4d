# SPDX-License-Identifier: Apache-2.0
"""Converts damaged models in a process of limited memory, and prints those that do not end as they should.

    python tests/damaged_models.py FIRST COUNT FOLDER

Case ``i`` is a function of ``i`` alone: a small model in which one or two tensors or operators are wrong, or in whose file
bytes, words or blocks are changed or the end is cut off. A conversion may succeed or raise a :class:`HeliaError`; anything else, our own InvariantError included, is printed
as one JSON line with the case's number, and its file stays in the folder.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from control_flow_models import KINDS, branch, recurrent
from drawn_models import PAIRS, drawn
from tflite_models import DTYPES, ModelBuilder, Operator, Tensor

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import HeliaError, InvariantError

EXTRA_BYTES: Final = 256 << 20
"""Address space that conversions may take beyond what the loaded program has."""
DEADLINE_S: Final = 20
"""A conversion of such a small model that takes longer hangs."""
_WORDS: Final = (0, 1, -1, 2, 4, 127, 255, 65536, 2**31 - 1, -(2**31), 2**30)


Model = tuple[ModelBuilder, list[int], list[int]]
"""A model that is not written yet, with its inputs and outputs."""


def layers() -> Model:
    """A small network of layers."""
    rng = np.random.default_rng(1)
    model = ModelBuilder()
    x = model.tensor((1, 6, 5, 1), scale=0.1, zero_point=3, name="x")
    weights = rng.integers(-127, 128, (4, 3, 3, 1)).astype(np.int8)
    y = model.conv_2d(
        x, weights, np.arange(4, dtype=np.int32), filter_scale=[0.1, 0.2, 0.3, 0.4], scale=0.3,
        zero_point=2, stride=(2, 1), activation="relu",
    )  # fmt: skip
    weights = rng.integers(-127, 128, (1, 2, 2, 4)).astype(np.int8)
    y = model.depthwise_conv_2d(y, weights, None, filter_scale=0.02, scale=0.3, zero_point=2)
    y = model.add(y, y, scale=0.5, zero_point=1)
    y = model.average_pool_2d(y, kernel=(2, 2))
    flat = int(np.prod(model.tensors[y].shape))
    y = model.reshape(y, (1, flat))
    weights = rng.integers(-127, 128, (3, flat)).astype(np.int8)
    y = model.fully_connected(y, weights, None, filter_scale=0.02, scale=0.2, zero_point=-4)
    return model, [x], [model.softmax(y)]


def movement() -> Model:
    """Operators that read shapes, axes and positions from constants."""
    model = ModelBuilder()

    def numbers(*values: Any) -> int:
        return model.constant(np.array(values, np.int32))

    def like(shape: Sequence[int]) -> int:
        return model.tensor(shape, scale=0.1, zero_point=3)

    x = like((1, 4, 3, 2))
    outputs = []

    def op(op_type: str, inputs: list[int], shapes: list[Sequence[int]], options: Any) -> None:
        made = [like(shape) for shape in shapes]
        model.operator(op_type, inputs, made, options)
        outputs.extend(made)

    pads = model.constant(np.array([[0, 0], [1, 0], [0, 2], [0, 0]], np.int32))
    op("PAD", [x, pads], [(1, 5, 5, 2)], ("PadOptions", {}))
    op("TRANSPOSE", [x, numbers(0, 2, 1, 3)], [(1, 3, 4, 2)], ("TransposeOptions", {}))
    op("SPLIT", [numbers(3), x], [(1, 4, 3, 1)] * 2, ("SplitOptions", {"NumSplits": 2}))
    bounds = [numbers(*v) for v in ((0, 1, 0, 0), (1, 4, 3, 2), (1, 2, 1, 1))]
    op("STRIDED_SLICE", [x, *bounds], [(1, 2, 3, 2)], ("StridedSliceOptions", {}))
    op("SLICE", [x, numbers(0, 1, 0, 0), numbers(1, 2, 3, 2)], [(1, 2, 3, 2)], ("SliceOptions", {}))
    op("CONCATENATION", [x, x], [(1, 4, 3, 4)], ("ConcatenationOptions", {"Axis": 3}))
    op("GATHER", [x, numbers(3, 0)], [(1, 2, 3, 2)], ("GatherOptions", {"Axis": 1}))
    op("TILE", [x, numbers(1, 2, 1, 1)], [(1, 8, 3, 2)], ("TileOptions", {}))
    op(
        "RESIZE_NEAREST_NEIGHBOR",
        [x, numbers(8, 6)],
        [(1, 8, 6, 2)],
        ("ResizeNearestNeighborOptions", {}),
    )
    op("RESIZE_BILINEAR", [x, numbers(8, 6)], [(1, 8, 6, 2)], ("ResizeBilinearOptions", {}))
    op("MEAN", [x, numbers(1, 2)], [(1, 2)], ("ReducerOptions", {}))
    op("PACK", [x, x], [(1, 2, 4, 3, 2)], ("PackOptions", {"ValuesCount": 2, "Axis": 1}))
    return model, [x], outputs


def jumps() -> Model:
    """Two loops that recur, and a branch."""
    model, inputs, outputs = recurrent(3, 2, "int8")
    shape = model.tensors[outputs[0]].shape
    flag = model.tensor((1,), dtype="bool", name="flag")
    y = model.tensor(shape, **KINDS["int8"], name="y")
    numbers = [
        model.subgraph(branch(op_type, "int8", shape), inputs=[0, 1], outputs=[2])
        for op_type in ("ADD", "SUB")
    ]
    options = {"ThenSubgraphIndex": numbers[0], "ElseSubgraphIndex": numbers[1]}
    model.operator("IF", [flag, outputs[0], inputs[0]], [y], ("IfOptions", options))
    return model, [flag, *inputs], [y]


MODELS: Final = (layers, movement, jumps)
BASES: Final = (*MODELS, *PAIRS)
"""Models that are damaged: three networks, and one of every operator and type."""


def model_of(base: int) -> Model:
    """Gives a model that is whole, to be changed."""
    if base < len(MODELS):
        return MODELS[base]()
    (case,) = drawn(PAIRS[base - len(MODELS)], 1)
    model = ModelBuilder()
    model.tensors, model.operators = list(case.model.tensors), list(case.model.operators)
    return model, list(case.inputs), list(case.outputs)


@cache
def written(base: int) -> bytes:
    """Gives the file of a model that is whole."""
    model, inputs, outputs = model_of(base)
    return model.build(inputs=inputs, outputs=outputs)


def _bytes(rng: np.random.Generator, data: bytearray) -> bytearray:
    for position in rng.integers(0, len(data), rng.integers(1, 5)):
        data[position] = int(rng.integers(0, 256))
    return data


def _words(rng: np.random.Generator, data: bytearray) -> bytearray:
    for _ in range(rng.integers(1, 4)):
        position = 4 * int(rng.integers(0, len(data) // 4))
        word = int(rng.choice(_WORDS)) if rng.integers(2) else int(rng.integers(0, len(data)))
        data[position : position + 4] = (word % 2**32).to_bytes(4, "little")
    return data


def _cut(rng: np.random.Generator, data: bytearray) -> bytearray:
    return data[: int(rng.integers(0, len(data)))]


def _block(rng: np.random.Generator, data: bytearray) -> bytearray:
    size = int(rng.integers(1, 64))
    source, target = (int(v) for v in rng.integers(0, len(data) - size, 2))
    data[target : target + size] = data[source : source + size]
    return data


def _other_tensor(rng: np.random.Generator, tensor: Tensor) -> Tensor:
    """Changes one property of a tensor into what it should not be."""
    shape, data = list(tensor.shape), tensor.data
    match int(rng.integers(8)):
        case 0 if shape:
            shape[int(rng.integers(len(shape)))] = int(
                rng.choice([0, -1, 1, 3, 70000, 2**30, 2**31 - 1])
            )
            return replace(tensor, shape=tuple(shape))
        case 1:
            return replace(
                tensor, shape=tuple(rng.permutation([*shape, 1, 2])[: rng.integers(7)].tolist())
            )
        case 2:
            return replace(tensor, dtype=str(rng.choice(list(DTYPES))))
        case 3:
            scale = float(rng.choice([0.0, -1.0, np.nan, np.inf, 1e-38, 1e38]))
            return replace(tensor, scale=(scale,) * len(tensor.scale))
        case 4:
            count = int(rng.integers(4))
            return replace(tensor, scale=(0.5,) * count, zero_point=(0,) * int(rng.integers(4)))
        case 5:
            return replace(
                tensor, zero_point=(int(rng.choice([-129, 128, 2**40])),) * len(tensor.scale)
            )
        case 6 if data and tensor.dtype == "int32" and len(data) % 4 == 0:
            numbers = np.frombuffer(data, np.int32).copy()
            numbers[rng.integers(len(numbers))] = rng.choice(_WORDS)
            return replace(tensor, data=numbers.tobytes())
        case 7:
            return replace(tensor, data=None if data else b"123", axis=int(rng.integers(-2, 6)))
    return replace(tensor, is_variable=True)


def _other_option(rng: np.random.Generator, value: Any) -> Any:
    """Gives another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return str(rng.choice(["", "other"]))
    if isinstance(value, float):
        return float(rng.choice([0, -1, np.nan, np.inf]))
    return int(rng.choice([0, 1, 2, 3, 100]))


def _other_operator(rng: np.random.Generator, operator: Operator, tensors: int) -> Operator:
    """Changes one property of an operator into what it should not be: cycles, types, counts, options."""
    inputs, outputs = list(operator.inputs), list(operator.outputs)
    match int(rng.integers(5)):
        case 0 if inputs:
            inputs[int(rng.integers(len(inputs)))] = int(rng.integers(-1, tensors))
        case 1 if outputs:
            outputs[int(rng.integers(len(outputs)))] = int(rng.integers(tensors))
        case 2 if inputs:
            inputs = inputs[1:] if rng.integers(2) else [*inputs, inputs[0]]
        case 3:
            kinds = (
                "CONV_2D",
                "PAD",
                "SPLIT",
                "ADD",
                "RELU",
                "MUL",
                "MEAN",
                "SVDF",
                "UNPACK",
                "CAST",
            )
            return replace(operator, op_type=str(rng.choice(kinds)))
        case 4 if operator.options and operator.options[1]:
            table, fields = operator.options
            field = str(rng.choice(list(fields)))
            value = _other_option(rng, fields[field])
            return replace(operator, options=(table, {**fields, field: value}))
    return replace(operator, inputs=tuple(inputs), outputs=tuple(outputs))


def _edited(rng: np.random.Generator, base: int) -> bytes:
    """Writes a model of which one or two tensors or operators are wrong."""
    model, inputs, outputs = model_of(base)
    parts = [model, *(inner for inner, _, _ in model.subgraphs)]
    for _ in range(rng.integers(1, 3)):
        part = parts[int(rng.integers(len(parts)))]
        if rng.integers(3):
            position = int(rng.integers(len(part.tensors)))
            part.tensors[position] = _other_tensor(rng, part.tensors[position])
        else:
            position = int(rng.integers(len(part.operators)))
            operator = part.operators[position]
            part.operators[position] = _other_operator(rng, operator, len(part.tensors))
    return model.build(inputs=inputs, outputs=outputs)


_DAMAGES: Final[tuple[Callable[[np.random.Generator, bytearray], bytearray], ...]] = (
    _words, _words, _words, _bytes, _block, _cut,
)  # fmt: skip


def damaged(case: int) -> bytes:
    """Gives the file of a case."""
    rng = np.random.default_rng(case)
    base = case % len(MODELS) if rng.integers(2) else int(rng.integers(len(BASES)))
    if rng.integers(2):
        return _edited(rng, base)
    data = bytearray(written(base))
    return bytes(_DAMAGES[int(rng.integers(len(_DAMAGES)))](rng, data))


class HangError(Exception):
    """A conversion took longer than the deadline."""


def _stop(_signal: int, _frame: object) -> None:
    raise HangError(f"more than {DEADLINE_S} s")


def outcome(path: Path) -> str | None:
    """Converts a file; gives None for a conversion, "" for a proper error and the traceback of anything else."""
    signal.alarm(DEADLINE_S)
    try:
        convert(ConvertConfig.model_validate({"model": {"path": path}}))
    except InvariantError:
        return traceback.format_exc()
    except HeliaError:
        return ""
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.alarm(0)
    return None


def main() -> None:
    """Runs the cases and prints the failures, then how many of each outcome there were."""
    first, count, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    good = folder / "good.tflite"
    for index in range(len(MODELS)):
        good.write_bytes(written(index))
        if (text := outcome(good)) is not None:
            raise SystemExit(f"the whole model is refused: {text}")
    signal.signal(signal.SIGALRM, _stop)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + EXTRA_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    counts = {"converted": 0, "refused": 0, "failed": 0}
    for case in range(first, first + count):
        path = folder / f"{case}.tflite"
        path.write_bytes(damaged(case))
        text = outcome(path)
        if text:
            counts["failed"] += 1
            sys.stdout.write(json.dumps({"case": case, "traceback": text}) + "\n")
            continue
        counts["converted" if text is None else "refused"] += 1
        path.unlink()
    sys.stdout.write(json.dumps(counts) + "\n")


if __name__ == "__main__":
    main()
