# SPDX-License-Identifier: Apache-2.0
"""Whole models through the compiler: outputs on the host, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from golden import SUPPORTED, golden_samples
from host_module import build_module, run_program

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import ModelError, UnsupportedModelError
from helia_aot.frontend.tflite.reader import read_model


def config_for(path: Path, **sections: object) -> ConvertConfig:
    return ConvertConfig.model_validate({"model": {"path": path}, **sections})


@pytest.mark.parametrize("platform", ["apollo510_evb", "apollo4p_evb"])
@pytest.mark.parametrize("name", SUPPORTED)
def test_outputs_equal_the_golden_ones_with_portable_kernels(
    name: str, platform: str, models_dir: Path, tmp_path: Path
) -> None:
    config = config_for(models_dir / f"{name}.tflite", platform={"name": platform})
    conversion = convert(config)
    program = build_module(conversion, tmp_path)
    for inputs, outputs in golden_samples(models_dir, name, len(conversion.module.inputs)):
        for got, wanted in zip(run_program(program, conversion, inputs), outputs, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_every_other_model_is_refused_whole(models_dir: Path) -> None:
    others = [p for p in sorted(models_dir.glob("*.tflite")) if p.stem not in SUPPORTED]
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
        convert(config_for(models_dir / "test_conv_model.tflite"))
    text = str(caught.value)
    assert "QUANTIZE: this operator is not supported" in text
    assert "DEQUANTIZE: this operator is not supported" in text


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
