# SPDX-License-Identifier: Apache-2.0
"""What a campaign learns from the layers of earlier ones, and that it never believes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from double_runner import PriceList
from space_models import tiny
from synthetic_campaign import SilentProgress

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from optimizer.operator_memory import (
    GUESS_NAME,
    OperatorMemory,
    Signatures,
    guess_to_json,
    read_guess,
)
from results.ledger import LEDGER_NAME, read_ledger
from results.records import TrialRecord
from results.summary import CampaignSummary
from search_spaces.build import build_space
from search_spaces.space import SearchSpace


@pytest.fixture(autouse=True)
def _own_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HELIA_CACHE_DIR", str(tmp_path / "cache"))


def signatures(model: Path, **changes: Any) -> tuple[Signatures, SearchSpace]:
    config = ConvertConfig.model_validate({"model": {"path": str(model)}, **changes})
    auto = convert(config)
    runner = PriceList()(auto.platform).identity()
    found = Signatures.of(auto.plan, auto.report, config=config, runner=runner)
    return found, build_space(auto.plan, auto.report, knobs=None, pins=[], exclude=[])


def campaign(model: Path, out: Path, **search: Any) -> CampaignSummary:
    tree = {
        "convert": {"model": {"path": str(model)}},
        "search": {"sampler": "profile", **search},
        "ray": {"workers": 0},
        "out": str(out),
    }
    return run_campaign(
        CampaignConfig.model_validate(tree), progress=SilentProgress(), runner_factory=PriceList()
    )


def proposals(out: Path) -> list[dict[str, str]]:
    content = read_ledger(out / LEDGER_NAME)
    assert content is not None
    return [e.choices for e in content[1] if isinstance(e, TrialRecord) and e.role == "search"]


def test_a_key_covers_layer_choice_placement_and_runner(digits_model: Path) -> None:
    found, space = signatures(digits_model)
    first = space.dimensions[0]
    operator_id, changes = first.operator_id, {first.knob: first.choices[-1]}
    other = space.dimensions[-1].operator_id
    placed, _ = signatures(
        digits_model, memory={"tensors": [{"type": "scratch", "attributes": {"memory": "sram"}}]}
    )
    runner = PriceList(toolchain="prices 2")(
        convert(ConvertConfig.model_validate({"model": {"path": digits_model}})).platform
    )
    keys = {
        found.key(operator_id, {}),
        found.key(operator_id, changes),
        found.key(other, {}),
        placed.key(operator_id, {}),
        Signatures(found.operators, found.baseline, runner.identity().digest()).key(
            operator_id, {}
        ),
    }
    assert len(keys) == 5
    assert found.key(operator_id, {}) == signatures(digits_model)[0].key(operator_id, {})


def test_a_copy_of_a_model_with_other_weights_and_names_has_the_same_layers(tmp_path: Path) -> None:
    """A layer is known by its shapes and kernels, so names and weights do not matter."""
    original = tmp_path / "a.tflite"
    renamed = tmp_path / "b.tflite"
    original.write_bytes(tiny())
    renamed.write_bytes(tiny().replace(b"stem_2x2_c1", b"other_name_"))
    keys = []
    for model in (original, renamed):
        found, _ = signatures(model)
        keys.append([found.key(operator_id, {}) for operator_id in found.operators])
    assert keys[0] == keys[1]


def test_damaged_entries_are_dropped(tmp_path: Path) -> None:
    memory = OperatorMemory(tmp_path / "operators")
    memory.write("ab" * 32, 17)
    assert memory.read("ab" * 32) == 17
    (path,) = (tmp_path / "operators").rglob("*.json")
    path.write_text('{"cycles": -1}')
    assert memory.read("ab" * 32) is None
    assert not path.exists()


def test_a_warm_memory_makes_the_best_plan_the_first_proposal(
    digits_model: Path, tmp_path: Path
) -> None:
    renamed = tmp_path / "renamed.tflite"
    renamed.write_bytes(digits_model.read_bytes() + bytes(16))  # another model with known layers
    cold = campaign(renamed, tmp_path / "cold", trials=10)
    best = proposals(tmp_path / "cold")
    OperatorMemory.shared()  # the campaign above has filled it
    warm = campaign(digits_model, tmp_path / "warm", trials=10)
    assert json.loads((tmp_path / "cold" / GUESS_NAME).read_text()) is None
    guess = json.loads((tmp_path / "warm" / GUESS_NAME).read_text())
    assert guess == _winner(tmp_path / "warm")
    assert warm.best_cycles == cold.best_cycles
    assert len(proposals(tmp_path / "warm")) <= len(best)


def _winner(out: Path) -> dict[str, str]:
    content = read_ledger(out / LEDGER_NAME)
    assert content is not None
    records = [e for e in content[1] if isinstance(e, TrialRecord) and e.in_space and e.is_good]
    return min(records, key=lambda record: record.measurement.best_cycles).choices


def test_a_guess_is_kept_with_the_campaign(digits_model: Path, tmp_path: Path) -> None:
    _, space = signatures(digits_model)
    guess = {dimension.name: dimension.choices[-1] for dimension in space.dimensions}
    path = tmp_path / GUESS_NAME
    path.write_text(guess_to_json(guess))
    assert read_guess(path, space) == guess
    path.write_text(guess_to_json(None))
    assert read_guess(path, space) is None
    path.write_text(guess_to_json({**guess, space.dimensions[0].name: "none of these"}))
    assert read_guess(path, space) is None
    assert read_guess(tmp_path / "missing.json", space) is None
