# SPDX-License-Identifier: Apache-2.0
"""Odd but legal forms of ``.tflite`` files: each converts to what the interpreters give, or is refused with every reason."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from differential import Programs
from drawn_models import drawn
from model_forms import CONVERTED, NAMES, REFUSED

from helia_aot.api import convert
from helia_aot.cli.main import main
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import HeliaError, InvariantError
from helia_aot.optimization.plan import OptimizationPlan

FILE_NAMES = ('#error "x" é 入力.tflite', "back\\slash ??'.tflite", "%s %n.TFLITE")


def config(path: Path, **sections: Any) -> ConvertConfig:
    return ConvertConfig.model_validate({"model": {"path": path, **sections}})


def test_odd_forms_convert_exactly(tmp_path: Path) -> None:
    cases = {name: build() for name, build in CONVERTED.items()}
    failures = Programs(tmp_path).failures(list(cases.values()))
    assert not failures, "\n".join(f"{list(cases)[i]}: {text}" for i, text in failures.items())


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_taken_is_refused_with_every_reason(name: str, tmp_path: Path) -> None:
    build, kind, words = REFUSED[name]
    path = tmp_path / "model.tflite"
    path.write_bytes(build().data)
    with pytest.raises(HeliaError) as caught:
        convert(config(path))
    assert type(caught.value) is kind
    assert not isinstance(caught.value, InvariantError)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_finds_its_operators_by_any_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(CONVERTED[name]().data)
    first = convert(config(path))
    (text,) = [f.content for f in first.module.files if f.path.endswith("_plan.json")]
    plan = OptimizationPlan.model_validate(json.loads(text.decode("utf-8")))
    again = convert(config(path), plan=plan)
    applied = re.match(r"applied (\d+) of (\d+) choices", again.receipt or "")
    assert applied is not None
    assert applied[1] == applied[2] != "0"
    files = [[f for f in c.module.files if f.path.endswith((".c", ".h"))] for c in (first, again)]
    assert files[0] == files[1]


def test_another_subgraph_is_converted_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(CONVERTED["two subgraphs"]().data)
    ids = [operator.id for operator in convert(config(path, subgraph=1)).plan.operators]
    assert ids == ["1:a", "1:b", "1:y"]


def test_the_name_of_the_file_stays_out_of_the_code(tmp_path: Path) -> None:
    case = CONVERTED["names in other scripts"]()
    assert not Programs(tmp_path).failures([case] * len(FILE_NAMES), FILE_NAMES)


def test_a_module_that_only_quantizes_halves_has_the_header_of_float_kernels(
    tmp_path: Path,
) -> None:
    assert not Programs(tmp_path).failures(drawn(("QUANTIZE", "float16"), 3))


@pytest.mark.parametrize(("name", "code"), [("two unknown operators", 4), ("sparse weights", 3)])
def test_the_command_line_ends_with_reasons_and_no_traceback(
    name: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    build, _, words = REFUSED[name]
    path = tmp_path / "model.tflite"
    path.write_bytes(build().data)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["helia-aot", "convert", str(path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    err = capsys.readouterr().err
    assert all(word in err for word in words)
    assert "Traceback" not in err
