# SPDX-License-Identifier: Apache-2.0
"""Dotted command-line options: spelling, values, precedence, and what each mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from helia_aot.config.convert import ConvertConfig
from helia_aot.config.options import asks_for_help, convert_help, parse_convert_options
from helia_aot.config.problems import known_keys
from helia_aot.errors import ConfigError


def parse(*arguments: str) -> ConvertConfig:
    return parse_convert_options(["m.tflite", *arguments]).config


def problems(*arguments: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse_convert_options(arguments)
    return [str(problem) for problem in caught.value.problems]


def test_one_argument_is_enough() -> None:
    config = parse_convert_options(["m.tflite"]).config
    assert (config.model.path, config.module.path) == (Path("m.tflite"), Path("out"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--force", "m.tflite", "--verbose", "0"],
        ["--verbose=0", "--force", "m.tflite"],
        ["--model.path", "m.tflite", "--verbose", "0", "--force"],
    ],
)
def test_order_and_form_do_not_matter(arguments: list[str]) -> None:
    config = parse_convert_options(arguments).config
    assert (config.model.path, config.verbose, config.force) == (Path("m.tflite"), 0, True)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["--memory.dump-residency-json"], True),
        (["--memory.dump_residency_json"], True),
        (["--no-memory.dump-residency-json"], False),
        (["--no-memory.dump_residency_json"], False),
        (["--memory.dump-residency-json", "--no-memory.dump-residency-json"], False),
    ],
)
def test_switches_take_dashes_and_underscores(arguments: list[str], value: bool) -> None:
    assert parse(*arguments).memory.dump_residency_json is value


def test_options_set_the_fields_they_name() -> None:
    config = parse(
        *("--module.path", "gen", "--module.name", "kws", "--module.prefix", "kws"),
        *("--platform.name", "host", "--optimization.goal", "latency"),
        *("--optimization.allow-approximate", "--optimization.accumulation", "fast"),
        *("--optimization.kernel", "auto", "--optimization.plan", "best.json"),
        *("--platform.speeds-mhz", "96,250", "--platform.memories", '{"DTCM": 1024}'),
    )
    assert (config.module.path, config.module.name, config.module.prefix) == (
        Path("gen"),
        "kws",
        "kws",
    )
    assert config.optimization.model_dump() == {
        "goal": "latency",
        "allow_approximate": True,
        "accumulation": "fast",
        "kernel": "auto",
        "code_specialization": None,
        "plan": Path("best.json"),
        "budget": {},
    }
    assert config.platform.name == "host"
    assert config.platform.speeds_mhz == [96, 250]
    assert config.platform.memories == {"dtcm": 1024}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--optimization.budget.dtcm_bytes", "1000", "--optimization.budget.cycles=2e6"],
        ["--optimization.budget.DTCM-bytes", "1000", "--optimization.budget", "cycles=2000000"],
        ["--optimization.budget", '{"dtcm_bytes": 1000, "cycles": 2000000}'],
        [
            *("--optimization.budget", '{"dtcm_bytes": 1, "cycles": 2e6}'),
            *("--optimization.budget.dtcm-bytes", "1000"),
        ],
    ],
)
def test_entries_of_a_mapping_are_set_one_by_one_or_as_json(arguments: list[str]) -> None:
    assert parse(*arguments).optimization.budget == {"dtcm_bytes": 1000, "cycles": 2000000}


def test_an_entry_goes_over_the_file_and_leaves_the_others(tmp_path: Path) -> None:
    file = tmp_path / "convert.yaml"
    file.write_text("optimization: {budget: {cycles: 5, latency_us: 7}}\n", encoding="utf-8")
    config = parse(
        "--path", str(file), "--optimization.budget.cycles", "6", "--platform.memories.dtcm", "64"
    )
    assert config.optimization.budget == {"cycles": 6, "latency_us": 7}
    assert config.platform.memories == {"dtcm": 64}


def test_command_line_goes_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "convert.yaml"
    file.write_text(
        "model: {path: a.tflite, subgraph: 1}\n"
        "operators: [{type: ADD}]\n"
        "memory: {tensors: [{type: constant}], dump_residency_json: true}\n"
        "force: true\n",
        encoding="utf-8",
    )
    config = parse(
        *("--path", str(file), "--no-force", "--memory.tensors", "[]"),
        *("--operators", '[{"type": "MUL", "id": ["1", 2]}]'),
    )
    assert (config.model.path, config.model.subgraph) == (Path("m.tflite"), 1)
    assert [(rule.type, rule.id) for rule in config.operators] == [("MUL", ["1", "2"])]
    assert (config.memory.tensors, config.memory.dump_residency_json) == ([], True)
    assert config.force is False


def test_null_takes_a_setting_of_the_file_back(tmp_path: Path) -> None:
    file = tmp_path / "convert.yaml"
    file.write_text("optimization: {plan: p.json}\n", encoding="utf-8")
    assert parse("--path", str(file), "--optimization.plan", "null").optimization.plan is None


BAD = {
    "unknown option": (
        ["--modul.path", "x"],
        "--modul.path: unknown option -> did you mean --module.path?",
    ),
    "section": (["--platform", "x"], "--platform: unknown option -> did you mean --platform.name?"),
    "leaf alone": (["--goal=size"], "--goal: unknown option -> did you mean --optimization.goal?"),
    "short": (["-f"], "-f: unknown option"),
    "for later": (["--transforms"], "--transforms: not supported by this version -> remove it"),
    "no value": (["--module.prefix"], "--module.prefix: expected one argument"),
    "value for a switch": (["--force=yes"], "--force: ignored explicit argument 'yes'"),
    "bad choice": (
        ["--optimization.goal", "sise"],
        "optimization.goal: 'sise' should be 'latency', 'balanced', 'size' or 'accuracy' -> did",
    ),
    "bad number": (["--verbose", "loud"], "verbose: 'loud' should be a valid integer"),
    "bad JSON": (["--operators", '[{"type"'], "--operators: not JSON: "),
    "entry without a value": (
        ["--optimization.budget.cycles"],
        "--optimization.budget.cycles: expected one argument -> write --optimization.budget.cycles",
    ),
    "entry before an option": (
        ["--optimization.budget.cycles", "--force"],
        "--optimization.budget.cycles: expected one argument",
    ),
    "unknown entry": (
        ["--optimization.budget.cyles", "5"],
        "optimization.budget.cyles: 'cyles' is not a budget; did you mean cycles?",
    ),
    "negative entry": (
        ["--optimization.budget.cycles", "-5"],
        "optimization.budget.cycles: '-5' should be greater than 0",
    ),
    "not a rule": (["--operators", "ADD"], "operators[0]: 'ADD' should be a mapping"),
    "second model": (["n.tflite"], "n.tflite: unexpected argument -> remove it"),
    "model twice": (["--model.path", "n.tflite"], "m.tflite: the model is given twice"),
    "missing file": (["--path", "none.yaml"], "none.yaml: No such file"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=list(BAD))
def test_mistake_is_told(arguments: list[str], message: str) -> None:
    [problem] = problems("m.tflite", *arguments)
    assert problem.startswith(message)


def test_mistakes_of_options_and_file_come_together(tmp_path: Path) -> None:
    file = tmp_path / "convert.yaml"
    file.write_text("memry: {}\n", encoding="utf-8")
    told = problems("--path", str(file), "--a.b", "value", "--c.d=1", "--verbose", "7")
    places = [problem.removeprefix(f"{file}:").partition(": ")[0] for problem in told]
    assert sorted(places) == [" model.path", "--a.b", "--c.d", "1", "verbose"]


def test_help_lists_every_key_with_its_description() -> None:
    text = " ".join(convert_help().split())
    sections = {
        key for key in known_keys(ConvertConfig) if f"{key}." in " ".join(known_keys(ConvertConfig))
    }
    for key in set(known_keys(ConvertConfig)) - sections:
        assert f"--{key.replace('_', '-')}" in text
    assert "A target of 'helia-aot platforms list'" in text
    assert "(default: helia_aot_nn)" in text
    assert "default: null" not in text
    assert "default factory" not in text


@pytest.mark.parametrize("arguments", [["--help"], ["m.tflite", "-h"], ["--bad", "--help"]])
def test_help_is_asked_for_anywhere(arguments: list[str]) -> None:
    assert asks_for_help(arguments)
    assert not asks_for_help(["m.tflite"])
