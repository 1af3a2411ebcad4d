# SPDX-License-Identifier: Apache-2.0
"""Whole models through the compiler: outputs on the host, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tflite
from golden import DYNAMIC_RANGE, FLOAT, INT4_WEIGHTS, INT8_LAYERS, SUPPORTED, golden_samples
from host_module import build_module, run_program, run_sequence

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import ModelError, UnsupportedModelError
from helia_aot.frontend.tflite.reader import read_model


def config_for(path: Path, **sections: object) -> ConvertConfig:
    return ConvertConfig.model_validate({"model": {"path": path}, **sections})


@pytest.mark.parametrize(
    ("name", "platform"),
    [
        *((name, "apollo510_evb") for name in SUPPORTED),
        *((name, "apollo4p_evb") for name in INT8_LAYERS),
    ],
)
def test_outputs_equal_the_golden_ones_with_portable_kernels(
    name: str, platform: str, models_dir: Path, tmp_path: Path
) -> None:
    config = config_for(models_dir / f"{name}.tflite", platform={"name": platform})
    conversion = convert(config)
    program = build_module(conversion, tmp_path)
    for inputs, outputs in golden_samples(
        models_dir, name, len(conversion.module.inputs), len(conversion.module.outputs)
    ):
        for got, wanted in zip(run_program(program, conversion, inputs), outputs, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_variables_keep_their_values_from_run_to_run(models_dir: Path, tmp_path: Path) -> None:
    recorded = np.load(models_dir / "mww_hey_jarvis.golden.npz")
    # The model's own output is 0 throughout; the layer before it is not, so it becomes the output.
    model = bytearray((models_dir / "mww_hey_jarvis.tflite").read_bytes())
    outputs = tflite.Model.GetRootAs(model, 0).Subgraphs(0).OutputsAsNumpy()
    outputs[0] = recorded["long_logits_tensor"]
    path = tmp_path / "logits.tflite"
    path.write_bytes(model)
    conversion = convert(config_for(path))
    program = build_module(conversion, tmp_path)
    runs = run_sequence(program, conversion, [[step] for step in recorded["long_in"]])
    got = np.array([output.reshape(-1) for (output,) in runs])
    np.testing.assert_array_equal(got, recorded["long_logits"].reshape(got.shape))
    assert len(np.unique(got)) > 10


def test_every_other_model_is_refused_whole(models_dir: Path) -> None:
    taken = {*SUPPORTED, *INT4_WEIGHTS, *FLOAT, *DYNAMIC_RANGE}
    others = [p for p in sorted(models_dir.glob("*.tflite")) if p.stem not in taken]
    assert others
    for path in others:
        with pytest.raises(UnsupportedModelError) as caught:
            convert(config_for(path))
        assert caught.value.exit_code == 4, path.name
        places = {problem.where for problem in caught.value.problems}
        graph = read_model(path).graph
        known = {f"operator {o.node_id} {o.op_type}" for o in graph.operators}
        assert places <= known | {f"output {i} of the model" for i in range(len(graph.outputs))}


def test_a_refusal_names_operator_type_and_reason(models_dir: Path) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        convert(config_for(models_dir / "audio_preprocessor_int8.tflite"))
    text = str(caught.value)
    assert "CUSTOM(SignalWindow): this operator is not supported" in text
    assert "docs/operators.md lists every operator" in text


def test_kernels_of_our_own_need_the_bundled_library(models_dir: Path) -> None:
    path = models_dir / "q_single_tanh_a8w8.tflite"
    with pytest.raises(UnsupportedModelError, match="helia_nn_lookup_s8") as caught:
        convert(config_for(path, module={"kernels": "external"}))
    assert "bundled" in str(caught.value)
    convert(config_for(models_dir / "seanet_sub0.tflite", module={"kernels": "external"}))


def test_truncation_anywhere_is_a_model_error(digits_model: Path, tmp_path: Path) -> None:
    data = digits_model.read_bytes()
    cut = tmp_path / "cut.tflite"
    for size in range(0, len(data), 601):
        cut.write_bytes(data[:size])
        with pytest.raises(ModelError):
            convert(config_for(cut))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a TFLite model"),
        (b"\x00\x01\x02\x03JUNKmore", "is not a TFLite model"),
        (b"\x10\x00\x00\x00TFL3", "is damaged"),
    ],
)
def test_junk_is_a_model_error(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "junk.tflite"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=words):
        convert(config_for(path))


def test_a_missing_model_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.tflite"):
        convert(config_for(tmp_path / "none.tflite"))
