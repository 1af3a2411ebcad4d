# SPDX-License-Identifier: Apache-2.0
"""Reading a configuration: precedence, merging, and what each mistake is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helia_aot.config.load import (
    load_convert_config,
    merged,
    read_config_source,
    read_yaml,
)
from helia_aot.errors import ConfigError, Problem

KEYS = st.sampled_from(["a", "b", "c"])
TREES = st.recursive(
    st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
MAPPINGS = st.dictionaries(KEYS, TREES, max_size=3)


@pytest.fixture
def yaml_file(tmp_path: Path) -> Path:
    return tmp_path / "convert.yaml"


def problems_in(path: Path, text: str, overrides: dict[str, Any] | None = None) -> list[str]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_convert_config(path, overrides)
    assert caught.value.exit_code == 2
    return [str(replace(problem, source="")) for problem in caught.value.problems]


def places_in(path: Path, text: str, overrides: dict[str, Any] | None = None) -> dict[str, str]:
    """Gives file and line of every problem by its key, the file without its folder."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_convert_config(path, overrides)
    return {
        problem.where: problem.source.removeprefix(f"{path.parent}/")
        for problem in caught.value.problems
    }


def test_overrides_go_over_file_over_defaults(yaml_file: Path) -> None:
    yaml_file.write_text(
        "model: {path: a.tflite}\nmodule: {prefix: kws, name: kws_nn}\n", encoding="utf-8"
    )
    config = load_convert_config(yaml_file, {"module.prefix": "vww", "verbose": 0})
    assert (config.module.prefix, config.module.name) == ("vww", "kws_nn")
    assert (config.verbose, config.model.subgraph) == (0, 0)


def test_nested_and_dotted_overrides_are_the_same() -> None:
    nested = load_convert_config(None, {"model": {"path": "m.tflite"}, "module": {"prefix": "k"}})
    assert load_convert_config(None, {"model.path": "m.tflite", "module.prefix": "k"}) == nested


def test_lists_replace_and_mappings_merge(yaml_file: Path) -> None:
    yaml_file.write_text(
        "model: {path: m.tflite}\n"
        "operators: [{type: ADD}, {type: MUL}]\n"
        "platform: {memories: {dtcm: 1, sram: 2}}\n",
        encoding="utf-8",
    )
    config = load_convert_config(
        yaml_file, {"operators": [{"type": "SUB"}], "platform.memories": {"dtcm": 3}}
    )
    assert [rule.type for rule in config.operators] == ["SUB"]
    assert config.platform.memories == {"dtcm": 3, "sram": 2}


def test_null_means_not_set(yaml_file: Path) -> None:
    yaml_file.write_text(
        "model: {path: m.tflite}\nmemory:\noperators:\noptimization: {plan: p.json}\n",
        encoding="utf-8",
    )
    config = load_convert_config(yaml_file, {"optimization.plan": None})
    assert config == load_convert_config(None, {"model.path": "m.tflite"})


def test_empty_file_is_no_setting(yaml_file: Path) -> None:
    yaml_file.write_text("# nothing\n", encoding="utf-8")
    assert read_yaml(yaml_file) == {}


BAD = {
    "no model": (
        "",
        "model.path: missing -> give the model: --model.path MODEL.tflite, or model: ",
    ),
    "unknown section": ("memry: {}", "memry: unknown key -> did you mean memory?"),
    "unknown key": (
        "module: {prefx: a}",
        "module.prefx: unknown key -> did you mean module.prefix?",
    ),
    "dashes": (
        "memory: {dump-residency-json: true}",
        "memory.dump_residency_json: unknown key -> did you mean memory.dump_residency_json?",
    ),
    "key of another section": (
        "allow_approximate: true",
        "allow_approximate: unknown key -> did you mean optimization.allow_approximate?",
    ),
    "key in a list": (
        "memory: {constraints: [{name: dtcm, size: 1}]}",
        "memory.constraints[0].size: unknown key -> did you mean memory.constraints[0].max_size?",
    ),
    "nothing is near": ("zzzzzz: 1", "zzzzzz: unknown key"),
    "key for later": (
        "test: {skip_verification: true}",
        "test.skip_verification: not supported by this version -> remove it",
    ),
    "key is a number": ("1: a", "1: not a key; keys are text -> write it in quotes"),
    "knob under attributes": (
        "operators: [{type: ADD}, {attributes: {kernel: generic}}]",
        "operators[1].attributes.kernel: kernel is a knob, not an attribute -> set "
        "operators[1].optimization.kernel",
    ),
    "unknown attribute": (
        "operators: [{attributes: {lut_mod: per_op}}]",
        "operators[0].attributes.lut_mod: unknown key -> did you mean "
        "operators[0].attributes.lut_mode?",
    ),
    "wrong number": ("model: {subgraph: two}", "model.subgraph: 'two' should be a valid integer"),
    "negative": (
        "model: {subgraph: -1}",
        "model.subgraph: -1 should be greater than or equal to 0",
    ),
    "wrong boolean": ("force: maybe", "force: 'maybe' should be a valid boolean"),
    "number for text": (
        "model: {version: 1.0}",
        "model.version: 1.0 should be a valid string -> write it in quotes: '1.0'",
    ),
    "wrong path": ("module: {path: 5}", "module.path: 5 is not a valid path"),
    "wrong choice": (
        "optimization: {goal: latensy}",
        "optimization.goal: 'latensy' should be 'latency', 'balanced', 'size' or 'accuracy' -> "
        "did you mean latency?",
    ),
    "wrong knob value": (
        "optimization: {kernel: specialised}",
        "optimization.kernel: 'specialised' should be 'auto', 'specialized' or 'generic' -> "
        "did you mean specialized?",
    ),
    "wrong role": (
        "memory: {tensors: [{type: weights}]}",
        "memory.tensors[0].type: 'weights' should be 'constant', 'persistent', 'scratch' or '*'",
    ),
    "staged scratch": (
        "memory: {tensors: [{type: SCRATCH, attributes: {constant_destination_memory: dtcm}}]}",
        "memory.tensors[0]: constant_destination_memory copies constants, but the rule's type is "
        "'scratch'",
    ),
    "constraint twice": (
        "memory: {constraints: [{name: dtcm}, {name: DTCM}]}",
        "memory: constraints name dtcm more than once",
    ),
    "empty id list": ("operators: [{id: []}]", "operators[0].id: [] is an empty list"),
    "wrong id": ("operators: [{id: 1.5}]", "operators[0].id: 1.5 is not an id"),
    "bad prefix": ("module: {prefix: 9a}", "module.prefix: '9a' is not a C identifier"),
    "bad name": ("module: {name: a/b}", "module.name: 'a/b' is not a folder name"),
    "kernel prefix of nothing": (
        "module: {kernels: external, kernel_prefix: k}",
        "module: kernel_prefix renames bundled kernels",
    ),
    "section is text": (
        "module: kws",
        "module: 'kws' should be a mapping of keys to values",
    ),
    "rules are a mapping": (
        "operators: {type: ADD}",
        "operators: {'type': 'ADD'} should be a valid",
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=list(BAD))
def test_mistake_is_told(yaml_file: Path, text: str, message: str) -> None:
    model = {} if "model.path" in message else {"model.path": "m.tflite"}
    [problem] = problems_in(yaml_file, text, model)
    assert message in problem


def test_all_mistakes_are_told_at_once(yaml_file: Path) -> None:
    text = "memry: {}\nmodule: {prefx: a, path: 5}\nverbose: 9\n"
    told = problems_in(yaml_file, text)
    assert {problem.partition(":")[0] for problem in told} == {
        "memry",
        "module.prefx",
        "module.path",
        "model.path",
        "verbose",
    }


RULES = """\
# a comment
model:
  path: m.tflite
  subgraph: -1
operators:
  - type: CONV_2D
    optimization:
      kernel: generic
  - {type: ADD, optimization: {kernel: fastest}}
  - type: MUL
    optimization:
      kernl: generic
memory:
  constraints:
    - max_size: 5
"""


def test_every_problem_names_its_line(yaml_file: Path) -> None:
    assert places_in(yaml_file, RULES) == {
        "model.subgraph": "convert.yaml:4",
        "operators[1].optimization.kernel": "convert.yaml:9",
        "operators[2].optimization.kernl": "convert.yaml:12",
        "memory.constraints[0].name": "convert.yaml:15",
    }


def test_a_missing_section_has_the_file_alone(yaml_file: Path) -> None:
    assert places_in(yaml_file, "force: true\n") == {"model.path": "convert.yaml"}


def test_what_an_override_sets_has_no_line(yaml_file: Path) -> None:
    overrides = {"model.subgraph": -2, "operators": [{}, {"optimization": {"kernel": "x"}}]}
    assert places_in(yaml_file, RULES, overrides) == {
        "model.subgraph": "",
        "operators[1].optimization.kernel": "",
        "memory.constraints[0].name": "convert.yaml:15",
    }


def test_lines_are_those_of_merged_keys(yaml_file: Path) -> None:
    text = (
        "model: {path: m.tflite}\noperators:\n"
        "  - &base\n    type: ADD\n    optimization: {kernel: x}\n"
        "  - <<: *base\n    type: MUL\n"
    )
    assert places_in(yaml_file, text) == {
        "operators[0].optimization.kernel": "convert.yaml:5",
        "operators[1].optimization.kernel": "convert.yaml:5",
    }


def test_errors_found_later_get_their_lines(yaml_file: Path) -> None:
    yaml_file.write_text(RULES, encoding="utf-8")
    source = read_config_source(yaml_file, {"model.subgraph": 0})
    error = source.located(
        ConfigError(
            "wrong",
            [
                Problem("operators[1].type", "no"),
                Problem("model.subgraph", "set by an override"),
                Problem("operators[9]", "not in the file"),
                Problem("some tensor", "no key"),
            ],
            next_step="think",
        )
    )
    sources = [problem.source.removeprefix(f"{yaml_file}") for problem in error.problems]
    assert sources == [":9", "", "", ""]
    assert (error.summary, error.next_step) == ("wrong", "think")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: &a [*a]\n", ":1:4: found unconstructable recursive node"),
        ("a: 2001-99-99\n", ": month must be in 1..12"),
        ("a: 1\n---\nb: 2\n", ":2:1: but found another document"),
        ("[" * 5000, ": nested too deeply"),
        ("a: 1\nb: [1\n", ":3:1: "),
        ("force: true\nmodel: {path: a}\nforce: false\n", ":3:1: the key 'force' is given twice"),
        ("module:\n  prefix: a\n  prefix: b\n", ":3:3: the key 'prefix' is given twice"),
        ("a: 1\n\tb: 2\n", ":2:1: "),
        ("- 1\n", ": the file is not a mapping"),
    ],
)
def test_yaml_mistake_names_file_and_line(yaml_file: Path, text: str, place: str) -> None:
    [problem] = problems_in(yaml_file, text)
    assert problem.startswith(f"{yaml_file}{place}")


def test_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: No such file"):
        load_convert_config(tmp_path / "none.yaml")


def test_file_that_is_not_text_is_told(yaml_file: Path) -> None:
    yaml_file.write_bytes(b"a: \xff\n")
    with pytest.raises(ConfigError, match="not UTF-8 text"):
        load_convert_config(yaml_file)


@given(MAPPINGS, MAPPINGS)
def test_merge_keeps_every_leaf_of_the_upper(base: dict[str, Any], over: dict[str, Any]) -> None:
    result = merged(base, over)
    assert merged(result, over) == result
    assert set(result) == set(base) | set(over)
    assert merged(base, {}) == base
    assert merged({}, over) == over
    for key, value in over.items():
        if not isinstance(value, dict):
            assert result[key] == value
