# SPDX-License-Identifier: Apache-2.0
"""Metrics of approximate plans, and the samples that they are judged on."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pydantic import ValidationError

from helia_aot.codegen.module import ModuleTensor
from helia_aot.errors import ConfigError
from optimizer.accuracy import (
    METRICS,
    AccuracyConfig,
    differences,
    judge,
    label_metric,
    load_samples,
    top1,
)
from runners.errors import RunnerError

INPUT = ModuleTensor("0", "image", (1, 4), "int8", 4, 1.0, 0)
OUTPUT = ModuleTensor("9", "scores", (1, 3), "float32", 12, 1.0, 0)
FINITE = arrays.arrays(np.float32, 6, elements=st.floats(-1e3, 1e3, width=32))


@given(FINITE, FINITE)
def test_differences_are_those_of_their_definitions(got: np.ndarray, wanted: np.ndarray) -> None:
    found = differences([(got,)], [(wanted,)])
    error = got.astype(float) - wanted.astype(float)
    assert found["max_abs_error"] == np.abs(error).max()
    assert found["mean_squared_error"] == pytest.approx((error**2).mean(), rel=1e-12, abs=1e-300)
    signal, noise = (wanted.astype(float) ** 2).sum(), (error**2).sum()
    if noise == 0:
        assert found["signal_to_noise_db"] == 400
    elif signal == 0:
        assert found["signal_to_noise_db"] == -400
    else:
        assert found["signal_to_noise_db"] == pytest.approx(
            max(-400, min(400, 10 * math.log10(signal / noise)))
        )


def test_differences_take_all_samples_and_outputs() -> None:
    reference = [(np.int8([1, 2]), np.int16([300])), (np.int8([3, -128]), np.int16([0]))]
    plan = [(np.int8([1, 2]), np.int16([300])), (np.int8([3, 127]), np.int16([0]))]
    assert differences(plan, reference)["max_abs_error"] == 255
    assert differences(plan, reference)["mean_squared_error"] == 255**2 / 6
    assert differences(reference, reference)["max_abs_error"] == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_never_a_small_error(bad: float) -> None:
    assert differences([(np.float32([bad, 1]),)], [(np.float32([0, 1]),)]) == {}


def test_equal_infinities_are_equal() -> None:
    both = [(np.float32([np.inf, 1]),)]
    assert differences(both, both)["max_abs_error"] == 0


def test_top1_and_what_a_plan_loses() -> None:
    labels = np.array([0, 2, 1])
    baseline = [(np.float32([[5, 1, 1]]),), (np.float32([[0, 0, 9]]),), (np.float32([[9, 3, 3]]),)]
    plan = [(np.float32([[5, 6, 1]]),), (np.float32([[0, 0, 9]]),), (np.float32([[9, 3, 3]]),)]
    assert top1(baseline, labels) == pytest.approx(2 / 3)
    config = AccuracyConfig(metric="top1", samples=Path("s.npz"))
    found = judge(config, plan, baseline, baseline, labels)
    assert found["top1"] == pytest.approx(1 / 3)
    assert found["accuracy_drop"] == pytest.approx(1 / 3)
    assert found["max_abs_error"] == 5


def test_a_function_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_metric.py").write_text(
        "def score(outputs, labels):\n    return sum(o[0].sum() for o in outputs) + labels.sum()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    metric = label_metric("my_metric:score")
    assert metric([(np.float32([1, 2]),)], np.array([4])) == 7
    for name in ("my_metric:missing", "no_such_module:score"):
        with pytest.raises(ConfigError, match=r"accuracy\.metric"):
            label_metric(name)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"metric": "psnr"}, "not known"),
        ({"metric": "top1"}, "needs labels"),
        ({"metric": "my.module:score"}, "needs labels"),
        ({"metric": "a b:score"}, "not known"),
    ],
)
def test_what_cannot_be_judged_is_refused(tree: dict[str, str], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        AccuracyConfig.model_validate(tree)


def test_every_metric_says_which_side_is_better() -> None:
    sides = {
        name: AccuracyConfig(metric=name, samples=Path("s.npz")).is_higher_better
        for name in METRICS
    }
    assert sides == {
        "max_abs_error": False,
        "mean_squared_error": False,
        "signal_to_noise_db": True,
        "top1": True,
    }


@pytest.mark.parametrize(
    ("tree", "limits"),
    [
        ({}, {}),
        ({"limit": 2}, {"max_abs_error": 2}),
        ({"metric": "mean_squared_error", "limit": 0.5}, {"mean_squared_error": 0.5}),
        ({"metric": "signal_to_noise_db", "limit": 30}, {"noise_to_signal_db": -30}),
        ({"metric": "top1", "limit": 0.01, "samples": "s.npz"}, {"accuracy_drop": 0.01}),
    ],
)
def test_limits_are_upper_ones(tree: dict[str, object], limits: dict[str, float]) -> None:
    assert AccuracyConfig.model_validate(tree).limits == limits


def test_samples_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "samples.npz"
    inputs = np.arange(12, dtype=np.int8).reshape(3, 4)
    outputs = np.arange(9, dtype=np.float32).reshape(3, 3)
    np.savez(path, inputs=inputs, outputs=outputs, labels=np.array([0, 1, 2]))
    found = load_samples(AccuracyConfig(samples=path, max_samples=2), [INPUT], [OUTPUT])
    assert len(found.stimuli) == 2
    np.testing.assert_array_equal(found.stimuli[1].inputs[0], inputs[1:2])
    assert found.outputs is not None
    np.testing.assert_array_equal(found.outputs[1][0], outputs[1:2])
    assert found.labels is not None
    assert list(found.labels) == [0, 1]


def test_samples_of_the_example(digits_model: Path) -> None:
    path = digits_model.parent / "digits_eval.npz"
    image = ModuleTensor("0", "image", (1, 16, 16, 1), "int8", 256, 1.0, 0)
    found = load_samples(AccuracyConfig(samples=path, metric="top1"), [image], [OUTPUT])
    assert len(found.stimuli) == 32
    assert found.outputs is None


def test_samples_without_a_file_are_the_same_every_time() -> None:
    first, second = (load_samples(AccuracyConfig(), [INPUT], [OUTPUT]) for _ in range(2))
    assert len(first.stimuli) == 4
    for one, other in zip(first.stimuli, second.stimuli, strict=True):
        np.testing.assert_array_equal(one.inputs[0], other.inputs[0])
    assert not np.array_equal(first.stimuli[0].inputs[0], first.stimuli[1].inputs[0])


@pytest.mark.parametrize(
    ("content", "places"),
    [
        ({"labels": np.zeros(3)}, {"inputs"}),
        ({"inputs": np.zeros((3, 5), np.int8)}, {"inputs"}),
        ({"inputs": np.zeros((3, 4), np.float32)}, {"inputs"}),
        ({"inputs": np.zeros((0, 4), np.int8)}, {"inputs"}),
        ({"inputs": np.zeros((3, 4), np.int8), "outputs": np.zeros((3, 3), np.int8)}, {"outputs"}),
        ({"inputs": np.zeros((3, 4), np.int8), "labels": np.zeros(2)}, {"inputs"}),
        (
            {"inputs": np.zeros((3, 5), np.int8), "outputs": np.zeros((3, 3), np.int8)},
            {"inputs", "outputs"},
        ),
    ],
)
def test_a_file_that_does_not_fit_names_every_array(
    content: dict[str, np.ndarray], places: set[str], tmp_path: Path
) -> None:
    path = tmp_path / "samples.npz"
    np.savez(path, **content)
    with pytest.raises(ConfigError) as caught:
        load_samples(AccuracyConfig(samples=path), [INPUT], [OUTPUT])
    assert {problem.where for problem in caught.value.problems} == places


def test_a_metric_of_labels_needs_them_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "samples.npz"
    np.savez(path, inputs=np.zeros((3, 4), np.int8))
    with pytest.raises(ConfigError, match="labels"):
        load_samples(AccuracyConfig(samples=path, metric="top1"), [INPUT], [OUTPUT])


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="cannot be read"):
        load_samples(AccuracyConfig(samples=tmp_path / "none.npz"), [INPUT], [OUTPUT])
