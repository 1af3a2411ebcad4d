# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from helia_aot.errors import ConfigError
from optimizer.config import (
    CampaignConfig,
    SpaceConfig,
    load_campaign_config,
    load_measured_config,
)
from search_spaces.presets import load_preset, preset_names


def problems(text: str, tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "campaign.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_campaign_config(path)
    assert caught.value.exit_code == 2
    return {
        problem.where: f"{problem.reason} {problem.next_step}" for problem in caught.value.problems
    }


def test_a_model_alone_is_a_campaign() -> None:
    config = load_campaign_config(Path("models/kws.tflite"))
    assert config.campaign_name == "kws-apollo510_evb"
    assert config.out_path == Path("campaigns/kws-apollo510_evb")
    assert (config.search.sampler, config.search.trials, config.search.seed) == ("profile", 40, 0)
    assert (config.runner.name, config.objectives) == ("simulator", ["cycles"])


def test_overrides_go_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text("convert: {model: {path: m.tflite}}\nsearch: {trials: 5, seed: 3}\n")
    config = load_campaign_config(path, {"search": {"trials": 7}})
    assert (config.search.trials, config.search.seed) == (7, 3)


def test_the_conversion_may_be_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "convert.yaml").write_text("model: {path: m.tflite}\nmodule: {prefix: kws}\n")
    path = tmp_path / "campaign.yaml"
    path.write_text(f"name: mine\nconvert: {tmp_path / 'convert.yaml'}\n")
    config = load_campaign_config(path)
    assert (config.convert.module.prefix, config.campaign_name) == ("kws", "mine")


def test_the_example_campaign_is_valid() -> None:
    example = Path(__file__).parents[2] / "examples" / "digits" / "campaign.yaml"
    text = example.read_text()
    assert "examples/digits/convert.yaml" in text
    fields = set(CampaignConfig.model_fields)
    assert {line.split(":")[0] for line in text.splitlines() if line[:1].isalpha()} <= fields


def test_every_problem_is_listed_with_its_key(tmp_path: Path) -> None:
    found = problems(
        "convert: {model: {path: m.tflite}, modul: {}}\n"
        "objectives: [latency]\n"
        "runner: {name: board}\n"
        "search: {sampler: tpo, trials: 0}\n"
        "ray: {workers: -1}\n"
        "tirals: 3\n",
        tmp_path,
    )
    assert {"convert.modul", "objectives", "runner.name", "search.trials", "tirals"} <= set(found)
    assert "did you mean latency_us?" in found["objectives"]
    assert "simulator" in found["runner.name"]
    assert "did you mean tpe?" in found["search.sampler"]


@pytest.mark.parametrize("objectives", ["[]", "[cycles, energy_uj]", "[energy_uj]"])
def test_objectives_that_cannot_be_measured_are_refused(objectives: str, tmp_path: Path) -> None:
    text = f"convert: {{model: {{path: m.tflite}}}}\nobjectives: {objectives}\n"
    assert "objectives" in problems(text, tmp_path)


def test_a_search_does_not_start_from_a_plan(tmp_path: Path) -> None:
    text = "convert: {model: {path: m.tflite}, optimization: {plan: p.json}}\n"
    assert "convert.optimization.plan" in problems(text, tmp_path)


def test_limits_that_no_runner_measures_are_refused(tmp_path: Path) -> None:
    budget = "{dtcm_bytes: 65536, cycles: 5, flash_bytes: 7, energy_uj: 3}"
    text = f"convert: {{model: {{path: m.tflite}}, optimization: {{budget: {budget}}}}}"
    assert set(problems(text, tmp_path)) == {"convert.optimization.budget.energy_uj"}
    text = "convert: {model: {path: m.tflite}}\nbudget: {energy_uj: 0.1}\n"
    assert any("measured by no runner" in reason for reason in problems(text, tmp_path).values())


def test_a_limit_of_a_memory_that_the_target_has_not_is_refused(tmp_path: Path) -> None:
    text = "convert: {model: {path: m.tflite}}\nbudget: {dtmc_bytes: 5}\n"
    assert "budget.dtmc_bytes" in problems(text, tmp_path)


def test_limits_on_memories_bound_the_planner() -> None:
    tree = {
        "convert": {
            "model": {"path": "m.tflite"},
            "memory": {"constraints": [{"name": "dtcm", "max_size": 9000}]},
            "optimization": {"budget": {"dtcm_bytes": 10000, "sram_bytes": 7000}},
        },
        "budget": {"code_bytes": 5000, "dtcm_bytes": 8000},
    }
    config = CampaignConfig.model_validate(tree)
    limited = config.limited_convert
    assert {c.name: c.max_size for c in limited.memory.constraints} == {"dtcm": 8000, "sram": 7000}
    assert limited.optimization.budget == config.limits
    assert config.limits == {"dtcm_bytes": 8000, "sram_bytes": 7000, "code_bytes": 5000}


def test_the_profile_sampler_minimises_cycles_first(tmp_path: Path) -> None:
    text = "convert: {model: {path: m.tflite}}\nobjectives: [dtcm_bytes, cycles]\n"
    assert "tpe" in problems(text, tmp_path)["objectives"]


def test_settings_of_the_space_go_over_its_preset() -> None:
    tree = {"preset": "fast-first-look", "knobs": ["constants"]}
    settings = SpaceConfig.model_validate(tree).settings
    assert (settings.knobs, settings.group) == (["constants"], "type")


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_a_valid_space(name: str) -> None:
    assert load_preset(name).text
    assert SpaceConfig(preset=name).settings


def test_a_campaign_without_a_model_says_how_to_give_one(tmp_path: Path) -> None:
    assert "convert" in problems("name: empty\n", tmp_path)


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither a model nor a campaign"):
        load_campaign_config(tmp_path / "notes.txt")


def test_a_measurement_takes_a_model_or_a_conversion(tmp_path: Path) -> None:
    path = tmp_path / "convert.yaml"
    path.write_text("model: {path: m.tflite}\n")
    assert load_measured_config(path) == load_measured_config(Path("m.tflite"))


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("{kernels: bundled}", "runner.kernels needs convert.module.kernels external"),
        ("{kernels: external}", "convert.module.dialect is ns-cmsis-nn; set both alike"),
    ],
)
def test_a_kernel_library_fits_the_module(tmp_path: Path, module: str, reason: str) -> None:
    text = (
        f"convert: {{model: {{path: m.tflite}}, module: {module}}}\n"
        "runner: {kernels: {dialect: cmsis-nn, version: 7.0.0, includes: [i], sources: [s]}}\n"
    )
    assert any(reason in found for found in problems(text, tmp_path).values())
