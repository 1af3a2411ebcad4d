# SPDX-License-Identifier: Apache-2.0
"""Random operators and small random networks against TFLite Micro and LiteRT, through the whole compiler.

Hypothesis draws the models (``random_operators``), which are compiled together (``differential``). A failure prints the
smallest model that fails in words; ``pytest tests/helia_aot/test_random_models.py --generated-cases 5000`` tries more.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
from differential import (
    LITERT_LACKS,
    MICRO_LACKS,
    Programs,
    difference,
    litert_outputs,
    micro_outputs,
)
from drawn_models import EXCLUDED, GRAPHS, PAIRS, Kind, drawn, kinds, smallest_failure
from random_operators import MAKERS, Case, merged, supported

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.operators.registry import FAMILIES
from runners.base import MeasureSettings
from runners.measurement import Stimulus
from runners.registry import create_runner

CASES = 500
BATCH = 100
SHRUNK = 3
"""Failures that are made smaller; one takes a minute."""
ON_THE_CORE = {"model": 60, "float16": 20}
"""Models that the simulated Cortex-M55 runs too, by precision."""


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    return Programs(tmp_path)


def test_outputs_equal_tflite_micro_and_litert(
    programs: Programs, generated_cases: int | None
) -> None:
    planned = kinds(generated_cases or CASES)
    cases = [(case, number) for number, plan in enumerate(planned) for case in drawn(*plan)]
    found: list[tuple[Case, int, str]] = []
    for first in range(0, len(cases), BATCH):
        batch = cases[first : first + BATCH]
        failures = programs.failures([case for case, _ in batch])
        found += [(*batch[position], reason) for position, reason in failures.items()]
    texts = [f"{case}\n{reason}" for case, _, reason in found]
    for number in dict.fromkeys(number for _, number, _ in found[:SHRUNK]):
        smallest = smallest_failure(*planned[number], programs.failure)
        if smallest is not None:
            texts.insert(0, "the smallest that fails:\n{}\n{}".format(*smallest))
    assert not texts, f"{len(found)} of {len(cases)} models fail\n\n" + "\n\n".join(texts[:10])


@pytest.mark.parametrize("precision", ON_THE_CORE)
def test_outputs_on_the_vector_core_equal_the_references(precision: str, tmp_path: Path) -> None:
    halves = precision == "float16"
    wanted = _on_the_core(halves=halves)
    step = len(wanted) / ON_THE_CORE[precision]
    chosen = [wanted[int(i * step)] for i in range(ON_THE_CORE[precision])]
    cases = [drawn(kind, 1)[0] for kind in chosen]
    whole = merged(cases)
    path = tmp_path / "batch.tflite"
    path.write_bytes(whole.data)
    config = {
        "model": {"path": path, "precision": precision},
        "platform": {"name": "apollo510_evb"},
    }
    conversion = convert(ConvertConfig.model_validate(config))
    runner = create_runner("simulator", conversion.platform)
    sample = [
        array.astype(tensor.dtype)
        for array, tensor in zip(
            [array for case in cases for array in case.samples[0]],
            conversion.module.inputs,
            strict=True,
        )
    ]
    settings = MeasureSettings(warmups=0, per_operator=False)
    result = runner.measure(conversion, Stimulus(tuple(sample)), settings)
    assert result.measurement.status == "ok", result.measurement.reason
    left, texts = list(result.outputs), []
    for case in cases:
        got, left = left[: len(case.outputs)], left[len(case.outputs) :]
        reason = difference(case, [got])
        texts += [f"{case}\n{reason}"] if reason else []
    assert not texts, "\n\n".join(texts)


def _on_the_core(*, halves: bool) -> list[Kind]:
    """Gives the kinds of models that one conversion takes together."""
    types = ["float16"] if halves else [dtype for dtype in GRAPHS if dtype != "float16"]
    pairs = [pair for pair in PAIRS if (pair[1] == "float16") == halves and pair[0] not in _ALONE]
    return [*pairs, *(("graph", dtype) for dtype in types)]


_ALONE = ("DEQUANTIZE", "QUANTIZE")
"""Operators with float16 tensors of their own, which ``model.precision`` does not mix."""


def test_every_supported_operator_and_type_is_drawn() -> None:
    assert set(MAKERS) == set(FAMILIES)
    assert set(EXCLUDED) <= set(supported())
    assert {pair for pair in supported() if pair not in EXCLUDED} == set(PAIRS)
    for op_type, dtype in PAIRS:
        (case,) = drawn((op_type, dtype), 1)
        tensors = [case.model.tensors[i] for o in case.model.operators for i in (*o.inputs, *o.outputs) if o.op_type == op_type and i >= 0]  # fmt: skip
        assert tensors, f"the model of {op_type} has none"
        wanted = {dtype, "float32"} if case.precision == "float16" else {dtype}
        assert wanted & {tensor.dtype for tensor in tensors}, (op_type, dtype)
        assert case.precision == "float16" or dtype != "float16" or op_type == "DEQUANTIZE"


def test_interpreters_lack_what_is_said() -> None:
    """Otherwise an operator would silently lose a reference that it has by now."""
    for names, outputs in ((MICRO_LACKS, micro_outputs), (LITERT_LACKS, litert_outputs)):
        for name in sorted(names - {"SVDF int8"}):  # LiteRT ends the whole process
            (case,) = drawn((name.split()[0], name.split()[1]), 1)
            with pytest.raises((RuntimeError, ValueError)):
                outputs(case)


def test_models_that_no_interpreter_runs_are_not_drawn() -> None:
    assert {tuple(name.split()) for name in MICRO_LACKS & LITERT_LACKS} == set(EXCLUDED)


def test_a_failure_shrinks_to_a_small_readable_model() -> None:
    def reason_of(case: Case) -> str:
        filters = case.model.tensors[case.model.operators[0].inputs[1]]
        return "wrong" if filters.shape[1] > 1 and filters.shape[0] > 3 else ""

    found = smallest_failure(("CONV_2D", "int8"), 50, reason_of)
    assert found is not None
    case, reason = found
    assert reason == "wrong"
    assert "int8[4, 2, 1, 1]" in str(case)
    assert "int8[1, 2, 1, 1]" in str(case).splitlines()[1]


def test_drawing_is_repeatable() -> None:
    first = [case.data for case in drawn(("graph", "int8"), 5)]
    drawn.cache_clear()
    assert first == [case.data for case in drawn(("graph", "int8"), 5)]
    assert len(set(first)) == 5


def test_one_step_and_one_element_are_noticed() -> None:
    (case,) = drawn(("ADD", "int8"), 1)
    right = micro_outputs(case)
    assert not difference(case, right)
    wrong = [[array.copy() for array in outputs] for outputs in right]
    wrong[1][0].flat[-1] ^= 1
    assert "sample 1, output 0, TFLite Micro" in difference(case, wrong)


def test_programs_name_the_models_that_fail(programs: Programs) -> None:
    """One that is refused and one that stops do not hide the others."""
    good = [drawn(("ADD", dtype), 1)[0] for dtype in ("int8", "float32")]
    refused, stopped = (
        deepcopy(drawn(kind, 1)[0]) for kind in (("ADD", "int16"), ("DIV", "int32"))
    )
    refused.model.operators[0] = replace(refused.model.operators[0], op_type="ATAN2", options=None)
    stopped.samples[1][-1][...] = 0
    failures = programs.failures([good[0], refused, stopped, good[1]])
    assert list(failures) == [1, 2]
    assert "ATAN2" in failures[1]
    assert "exit 3" in failures[2]
