# SPDX-License-Identifier: Apache-2.0
"""What a campaign learns from the layers of earlier ones, and that it never believes it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from double_runner import PriceList
from recorded_spaces import MemoryLedger
from space_models import tiny
from synthetic_campaign import (
    RUNNER,
    SilentProgress,
    TableExecutor,
    synthetic_identity,
    synthetic_space,
)

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.optimization.knobs import KNOBS
from helia_aot.optimization.plan import KnobChoice, KnobSource, PlanOperator
from helia_aot.optimization.report import ReportOperator
from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from optimizer.evaluate import TrialJob
from optimizer.operator_memory import (
    GUESS_NAME,
    OperatorMemory,
    Signatures,
    guess_to_json,
    read_guess,
)
from optimizer.search import Search, SearchLimits
from results.records import TrialRecord
from results.summary import CampaignSummary
from runners.measurement import Measurement, OperatorCycles
from search_spaces.build import SpaceSettings, build_space
from search_spaces.space import Dimension, SearchSpace


@pytest.fixture(autouse=True)
def _own_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HELIA_CACHE_DIR", str(tmp_path / "cache"))


def signatures(model: Path, **changes: Any) -> tuple[Signatures, SearchSpace]:
    config = ConvertConfig.model_validate({"model": {"path": str(model)}, **changes})
    auto = convert(config)
    runner = PriceList()(auto.platform).identity()
    found = Signatures.of(auto.plan, auto.report, config=config, runner=runner)
    return found, build_space(auto.plan, auto.report, SpaceSettings(knobs=["kernel"]))


def campaign(model: Path, out: Path, **search: Any) -> CampaignSummary:
    tree = {
        "convert": {"model": {"path": str(model)}},
        "space": {"knobs": ["kernel"]},
        "search": {"sampler": "profile", **search},
        "ray": {"workers": 0},
        "out": str(out),
    }
    return run_campaign(
        CampaignConfig.model_validate(tree), progress=SilentProgress(), runner_factory=PriceList()
    )


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


def test_a_campaign_fills_the_memory_and_keeps_its_guess(
    digits_model: Path, tmp_path: Path
) -> None:
    summary = campaign(digits_model, tmp_path / "out", trials=10)
    found, space = signatures(digits_model)
    memory = OperatorMemory.shared()
    for operator_id in {dimension.operator_id for dimension in space.dimensions}:
        assert memory.read(found.key(operator_id, {})) == 1000 + len(operator_id)
        assert memory.read(found.key(operator_id, {"kernel": "generic"})) == 800 + len(operator_id)
    # Every operator has two alternatives here, which the baseline and the all-generic plan measure.
    assert memory.first_guess(space, found) is None
    assert json.loads((tmp_path / "out" / GUESS_NAME).read_text()) is None
    assert summary.search.trials <= 4


class Layers:
    """A made-up model: its layers are numbers, equal numbers are equal layers, each with four alternatives."""

    def __init__(self, numbers: range, name: str) -> None:
        self.plan, _ = synthetic_space(len(numbers))
        knobs = {
            "kernel": _choice("specialized"),
            "accumulation": _choice("precise"),
        }
        operators = [
            operator.model_copy(update={"id": f"{name}{number}", "knobs": knobs})
            for operator, number in zip(self.plan.operators, numbers, strict=False)
        ]
        self.plan = self.plan.model_copy(update={"operators": operators})
        self.space = SearchSpace(
            dimensions=tuple(
                Dimension(
                    operator_id=operator.id,
                    op_type=operator.op_type,
                    knob=knob,
                    choices=KNOBS[knob].values,
                    baseline=choice.value,
                )
                for operator in operators
                for knob, choice in operator.knobs.items()
            )
        )
        self.macs = {f"{name}{number}": 100 + number for number in numbers}
        self.signatures = Signatures(
            {
                operator.id: ReportOperator(
                    id=operator.id,
                    op_type="CONV_2D",
                    entry="arm_convolve_s8",
                    macs=self.macs[operator.id],
                    mac_share=0.1,
                    shapes={},
                )
                for operator in operators
            },
            {operator.id: operator for operator in operators},
            "",
        )

    def evaluate(self, job: TrialJob) -> Measurement:
        assert job.plan is not None
        operators = [
            OperatorCycles(id=operator.id, entry=None, cycles=self._cycles(operator))
            for operator in job.plan.operators
        ]
        return Measurement(
            status="ok",
            cycles=[sum(item.cycles for item in operators)],
            operator_cycles=operators,
            outputs_sha256="b" * 64,
            identity=RUNNER,
        )

    def _cycles(self, operator: PlanOperator) -> int:
        values = sorted((name, choice.value) for name, choice in operator.knobs.items())
        digest = hashlib.sha256(repr((self.macs[operator.id], values)).encode()).digest()
        return 10_000 + int.from_bytes(digest[:2], "big") // 8

    def search(self, guess: dict[str, str] | None) -> list[TrialRecord]:
        """Gives the builds of a campaign that ends by its gap."""
        ledger = MemoryLedger(synthetic_identity(self.space, sampler="profile"))
        search = Search(
            self.space,
            self.plan,
            executor=TableExecutor(self.evaluate),
            ledger=ledger,
            progress=SilentProgress(),
        )
        search.measure_baseline()
        limits = SearchLimits(trials=40, timeout_s=None, gap=0.005)
        assert search.run(sampler="profile", seed=0, limits=limits, guess=guess) == "gap"
        return [entry for entry in ledger.entries if isinstance(entry, TrialRecord)]


def _choice(value: str) -> KnobChoice:
    source = KnobSource(kind="default", rule=None)
    return KnobChoice(
        value=value, requested="auto", resolved_by="auto_table", source=source, approximate=False
    )


def builds_to_the_best(records: list[TrialRecord]) -> tuple[int, int]:
    """Gives the lowest cycles, and the builds until the first plan within 0.1 % of them."""
    cycles = [record.measurement.best_cycles for record in records]
    best = min(cycles)
    return best, next(number for number, count in enumerate(cycles, 1) if count <= 1.001 * best)


@pytest.fixture
def memory(tmp_path: Path) -> OperatorMemory:
    """What a search of a similar model has left: most of its layers are in the other one, too."""
    first = Layers(range(8), "first")
    memory = OperatorMemory(tmp_path / "operators")
    memory.remember(first.search(None), first.space, first.signatures)
    # All four alternatives must be known; the search has measured three of every layer.
    for operator_id in first.macs:
        key = first.signatures.key(operator_id, {"kernel": "generic", "accumulation": "fast"})
        if memory.read(key) is None:
            memory.write(key, 20_000)
    return memory


def test_a_warm_memory_needs_fewer_builds_on_a_similar_model(memory: OperatorMemory) -> None:
    second = Layers(range(1, 8), "second")
    guess = memory.first_guess(second.space, second.signatures)
    assert guess is not None
    cold, warm = (builds_to_the_best(second.search(item)) for item in (None, guess))
    assert warm[0] <= 1.001 * cold[0]
    assert warm[1] == 2  # the baseline, and the guess
    assert warm[1] < cold[1]


def test_a_wrong_memory_costs_two_builds_at_most_and_changes_no_result(
    memory: OperatorMemory,
) -> None:
    second = Layers(range(1, 9), "second")
    for operator_id in second.macs:
        for kernel in KNOBS["kernel"].values:
            for accumulation in KNOBS["accumulation"].values:
                changes = {"kernel": kernel, "accumulation": accumulation}
                key = second.signatures.key(operator_id, changes)
                memory.write(key, 30_000 - (memory.read(key) or 0))
    guess = memory.first_guess(second.space, second.signatures)
    assert guess is not None
    cold, misled = second.search(None), second.search(guess)
    assert misled[1].choices == guess
    assert len(misled) <= len(cold) + 2
    assert builds_to_the_best(misled)[0] <= 1.005 * builds_to_the_best(cold)[0]


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
