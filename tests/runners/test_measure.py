# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helia_aot.codegen.module import ModuleTensor
from helia_aot.config.convert import ConvertConfig
from runners.base import MeasureSettings
from runners.errors import RunnerError
from runners.measure import measure, random_stimulus, read_inputs, write_outputs


def tensor(dtype: str, *shape: int) -> ModuleTensor:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return ModuleTensor("0", "x", shape, dtype, size, 1.0, 0)


INPUTS = (tensor("int8", 1, 4), tensor("float32", 2))
OUTPUTS = (tensor("int8", 1, 2),)
GOOD = {
    "input_0": np.zeros((1, 4), np.int8),
    "input_1": np.zeros(2, np.float32),
    "output_0": np.ones((1, 2), np.int8),
}


def config_of(model: Path, platform: str) -> ConvertConfig:
    return ConvertConfig.model_validate({"model": {"path": model}, "platform": {"name": platform}})


@pytest.mark.parametrize("platform", ["apollo510_evb", "apollo4p_evb"])
@pytest.mark.usefixtures("tools")
def test_what_the_target_computed_can_be_compared_later(platform, digits_model, tmp_path):
    config = config_of(digits_model, platform)
    first = measure(config, outputs_path=tmp_path / "y.npz")
    assert first.measurement.status == "ok", first.measurement.reason
    assert first.bit_exact is None
    second = measure(config, inputs_path=tmp_path / "y.npz")
    assert second.bit_exact is True
    assert second.measurement.cycles == first.measurement.cycles


@pytest.mark.usefixtures("tools")
def test_both_cores_compute_the_same(digits_model, tmp_path):
    measure(config_of(digits_model, "apollo510_evb"), outputs_path=tmp_path / "y.npz")
    report = measure(config_of(digits_model, "apollo4p_evb"), inputs_path=tmp_path / "y.npz")
    assert report.bit_exact is True


@pytest.mark.usefixtures("tools")
def test_difference_is_counted(digits_model, tmp_path):
    config = config_of(digits_model, "apollo510_evb")
    first = measure(config)
    wrong = first.outputs[0].copy()
    wrong.flat[0] ^= 5
    path = tmp_path / "x.npz"
    write_outputs(path, first.inputs, [wrong])
    (comparison,) = measure(config, inputs_path=path).comparisons
    largest = abs(int(wrong.flat[0]) - int(first.outputs[0].flat[0]))
    assert (comparison.differing, comparison.max_abs_difference) == (1, largest)
    assert comparison.size == wrong.size


@pytest.mark.usefixtures("tools")
def test_nothing_is_written_without_outputs(digits_model, tmp_path):
    path = tmp_path / "y.npz"
    settings = MeasureSettings(timeout_s=0.001)
    report = measure(config_of(digits_model, "apollo510_evb"), outputs_path=path, settings=settings)
    assert report.measurement.status in ("plan_bad", "rig_bad")
    assert list(tmp_path.iterdir()) == []


def test_random_stimulus_depends_on_the_seed_alone():
    tensors = [tensor(name, 50) for name in ("int8", "uint8", "int16", "int32", "float32", "bool")]
    first, again, other = (random_stimulus(tensors, seed).inputs for seed in (1, 1, 2))
    for a, b, c, wanted in zip(first, again, other, tensors, strict=True):
        np.testing.assert_array_equal(a, b)
        assert (a != c).any()
        assert a.dtype == wanted.dtype
    assert first[0].min() < -100
    assert first[0].max() > 100


def test_file_with_inputs_and_outputs_is_read(tmp_path):
    np.savez(tmp_path / "x.npz", **GOOD, inputs=np.zeros((9, 4)), labels=np.zeros(9))
    stimulus, expected = read_inputs(tmp_path / "x.npz", INPUTS, OUTPUTS)
    assert [array.shape for array in stimulus.inputs] == [(1, 4), (2,)]
    np.testing.assert_array_equal(expected[0], GOOD["output_0"])


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        ({"input_1": None}, ["input_1"]),
        ({"input_0": np.zeros((1, 4), np.uint8), "output_0": np.zeros((2, 1), np.int8)},
         ["input_0", "output_0"]),
        ({"input_0": np.zeros(4, np.int8)}, ["input_0"]),
        ({"in0_0": np.zeros(1), "output_1": np.zeros(1)}, ["in0_0", "output_1"]),
        ({"input_2": np.zeros(1), "input_0": None}, ["input_2", "input_0"]),
    ],
)  # fmt: skip
def test_every_array_that_does_not_fit_is_named(tmp_path, change, problems):
    arrays = {name: array for name, array in {**GOOD, **change}.items() if array is not None}
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(RunnerError, match="does not fit the model") as caught:
        read_inputs(tmp_path / "x.npz", INPUTS, OUTPUTS)
    assert [problem.where for problem in caught.value.problems] == problems


@pytest.mark.parametrize("content", [None, b"", b"not a zip", b"PK\x03\x04 torn"])
def test_file_that_cannot_be_read_is_an_error(tmp_path, content):
    path = tmp_path / "x.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RunnerError, match="cannot be read"):
        read_inputs(path, INPUTS, OUTPUTS)


def test_single_array_is_not_taken_for_a_file_of_arrays(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(RunnerError, match="cannot be read"):
        read_inputs(tmp_path / "x.npy", INPUTS, OUTPUTS)


def test_pickled_objects_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", input_0=np.array([{}], dtype=object))
    with pytest.raises(RunnerError, match="cannot be read"):
        read_inputs(tmp_path / "x.npz", INPUTS, OUTPUTS)


def test_file_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(RunnerError, match="cannot be written"):
        write_outputs(tmp_path / "nowhere" / "y.npz", [], [])


def test_written_file_replaces_the_old_one_and_repeats_its_bytes(tmp_path):
    path = tmp_path / "y.npz"
    path.write_text("old")
    write_outputs(path, [GOOD["input_0"]], [GOOD["output_0"]])
    first = path.read_bytes()
    write_outputs(path, [GOOD["input_0"]], [GOOD["output_0"]])
    assert path.read_bytes() == first
    assert [entry.name for entry in tmp_path.iterdir()] == ["y.npz"]
