# SPDX-License-Identifier: Apache-2.0
"""Campaigns over approximate values: errors are judged on the target and held to a limit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from required import missing
from synthetic_campaign import SilentProgress
from tflite_models import ModelBuilder

from helia_aot.errors import ConfigError
from helia_aot.optimization.read import read_plan
from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig, load_campaign_config
from optimizer.verify import verify_plan
from results.evidence import Evidence, read_evidence


@pytest.fixture(scope="module")
def tools() -> None:
    """Compiler and emulator."""
    if not all(map(shutil.which, ("arm-none-eabi-gcc", "qemu-system-arm"))):
        missing("arm-none-eabi-gcc and qemu-system-arm are needed")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two float layers whose weights packing pays off for in half precision."""
    rng = np.random.default_rng(3)
    builder = ModelBuilder()
    x = builder.tensor((8, 96), dtype="float32", name="x")
    for index, (depth, outputs) in enumerate(((96, 16), (16, 8))):
        weights = (rng.normal(size=(outputs, depth)) / np.sqrt(depth)).astype(np.float32)
        y = builder.tensor((8, outputs), dtype="float32", name=f"dense{index}")
        options = ("FullyConnectedOptions", {"FusedActivationFunction": 0})
        builder.operator("FULLY_CONNECTED", [x, builder.constant(weights)], [y], options)
        x = y
    path = tmp_path_factory.mktemp("model") / "dense.tflite"
    path.write_bytes(builder.build(inputs=[0], outputs=[x]))
    return path


def campaign(model: Path, out: Path, accuracy: dict[str, Any], **changes: Any) -> Evidence:
    tree = {
        "convert": {"model": {"path": str(model), "precision": "float16"}},
        "space": {"knobs": ["accumulation"]},
        "ray": {"workers": 0},
        "measurement_cache": False,
        "accuracy": accuracy,
        "out": str(out),
    }
    run_campaign(CampaignConfig.model_validate({**tree, **changes}), progress=SilentProgress())
    return read_evidence(out)


@pytest.mark.usefixtures("tools")
def test_an_approximate_plan_wins_within_its_limit(model: Path, tmp_path: Path) -> None:
    evidence = campaign(model, tmp_path, {"limit": 0.1})
    assert not evidence.is_auto
    assert 0 < evidence.winner.measurement.errors["max_abs_error"] <= 0.1
    assert evidence.baseline.measurement.errors["max_abs_error"] == 0
    (row,) = evidence.budget
    assert (row.name, row.limit, row.baseline) == ("max_abs_error", 0.1, 0)
    plan = read_plan(tmp_path / "aot_plan.json")
    choices = [op.knobs["accumulation"] for op in plan.operators if "accumulation" in op.knobs]
    assert any(choice.value == "fast" and choice.approximate for choice in choices)
    report = verify_plan(tmp_path / "aot_plan.json", model_path=model)
    assert report.holds, report.checks
    assert [check.status for check in report.checks if check.name == "limits"] == ["ok"]


@pytest.mark.usefixtures("tools")
def test_a_plan_beyond_the_limit_is_not_written(model: Path, tmp_path: Path) -> None:
    evidence = campaign(model, tmp_path, {"metric": "signal_to_noise_db", "limit": 390})
    assert evidence.is_auto
    (row,) = evidence.budget
    assert row.name == "noise_to_signal_db"
    assert row.refused > 0


@pytest.mark.usefixtures("tools")
def test_labels_judge_what_a_plan_loses(model: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    samples = tmp_path / "samples.npz"
    np.savez(
        samples,
        inputs=rng.normal(size=(3, 8, 96)).astype(np.float32),
        labels=np.zeros(3, np.int64),
    )
    accuracy = {"metric": "top1", "samples": str(samples), "limit": 0.4}
    evidence = campaign(model, tmp_path / "out", accuracy)
    errors = evidence.winner.measurement.errors
    assert {"top1", "accuracy_drop", "max_abs_error"} <= set(errors)
    assert errors["accuracy_drop"] <= 0.4


@pytest.mark.usefixtures("tools")
def test_without_a_section_only_exact_values_are_searched(model: Path, tmp_path: Path) -> None:
    evidence = campaign(model, tmp_path, None)  # type: ignore[arg-type]
    assert evidence.space.size == 1
    assert {item.reason for item in evidence.space.dropped} >= {"the other values change numerics"}
    assert evidence.baseline.measurement.errors == {}


@pytest.mark.parametrize(
    ("sections", "where"),
    [
        ({"budget": {"max_abs_error": 1}}, "max_abs_error"),
        ({"objectives": ["cycles", "accuracy_drop"]}, "accuracy_drop"),
        ({"accuracy": {}}, "accuracy"),
    ],
)
def test_limits_and_judging_belong_together(
    model: Path, tmp_path: Path, sections: dict[str, Any], where: str
) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(json.dumps({"convert": {"model": {"path": str(model)}}, **sections}))
    with pytest.raises(ConfigError) as caught:
        load_campaign_config(path)
    assert where in {problem.where for problem in caught.value.problems}
