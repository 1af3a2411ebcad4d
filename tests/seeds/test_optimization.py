# SPDX-License-Identifier: Apache-2.0
"""What the page on performance and accuracy options says, held against real conversions."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from module_program import converted
from tflite_models import ModelBuilder

import helia_aot.optimization.describe
from helia_aot.api import Conversion
from helia_aot.cli.main import main
from helia_aot.config.convert import UNSET, ConvertConfig
from helia_aot.config.load import load_convert_config, merged
from helia_aot.errors import ConfigError
from helia_aot.kernels.manifest import sources_for
from helia_aot.operators.registry import DIRECT_ENTRIES
from helia_aot.operators.spec import KnobDomain
from helia_aot.optimization.fixed import FIXED
from helia_aot.optimization.identity import OperatorId
from helia_aot.optimization.knobs import AUTO, GOALS, KNOBS
from helia_aot.optimization.measurements import all_measurements
from helia_aot.optimization.plan import KnobChoice
from helia_aot.optimization.report import SETTINGS, Hint
from helia_aot.optimization.resolve import ResolvableOperator, resolve_choices
from helia_aot.schemas import json_schema
from helia_aot.version import __version__

PLACEMENT = "constant_destination_memory"
REPORT, PLAN = "m_report.json", "m_plan.json"


def cold(memory: str) -> dict[str, Any]:
    return {"tensors": [{"type": "constant", "attributes": {"memory": memory}}]}


def files(conversion: Conversion) -> dict[str, bytes]:
    return {file.path: file.content for file in conversion.module.files}


def entries(conversion: Conversion) -> list[str | None]:
    return [operator.entry for operator in conversion.report.operators]


def hint_of(conversion: Conversion, setting: str) -> Hint:
    (hint,) = [hint for hint in conversion.report.hints if hint.setting == setting]
    return hint


def plan_ids(conversion: Conversion) -> list[tuple[str, str]]:
    return [(operator.id, operator.id_source) for operator in conversion.plan.operators]


# Operators with half-precision weights do not exist yet; what resolves their knob does.
HALF = KnobDomain("accumulation", {"precise": "f16", "fast": "f16"}, applicable=True)
INT8 = KnobDomain("kernel", {"specialized": "direct", "generic": "general"}, applicable=True)
OPERATORS = (
    ResolvableOperator(
        OperatorId("0:dense", "tensor_name", 0, "12"), "FULLY_CONNECTED", {"accumulation": HALF}
    ),
    ResolvableOperator(
        OperatorId("0:late", "tensor_name", 1, "13"), "FULLY_CONNECTED", {"accumulation": HALF}
    ),
    ResolvableOperator(OperatorId("0:conv", "tensor_name", 2, "14"), "CONV_2D", {"kernel": INT8}),
)


def resolved(text: str) -> list[dict[str, KnobChoice]]:
    """Gives the choices of OPERATORS under settings written as YAML."""
    sections = yaml.safe_load(text) or {}
    config = ConvertConfig.model_validate({"model": {"path": "half.tflite"}, **sections})
    return resolve_choices(OPERATORS, config)


def names_model(*names: str) -> bytes:
    """A chain of fully connected layers whose outputs have these names."""
    builder = ModelBuilder()
    first = x = builder.tensor((1, 8), scale=0.1, name="input")
    weights = np.ones((8, 8), np.int8)
    for name in names:
        x = builder.fully_connected(
            x, weights, None, filter_scale=0.02, scale=0.1, zero_point=0, name=name
        )
    return builder.build(inputs=[first], outputs=[x])


def named(tmp_path: Path, *names: str, **sections: Any) -> Conversion:
    path = tmp_path / "named.tflite"
    path.write_bytes(names_model(*names))
    return converted(path, **sections)


# --- Introduction and vocabulary --------------------------------------------------------------------------------------


def test_defaults_keep_the_default_numerics(digits_model: Path) -> None:
    plan = converted(digits_model).plan
    assert not plan.optimization.allow_approximate
    choices = [choice for operator in plan.operators for choice in operator.knobs.values()]
    assert choices
    assert not any(choice.approximate for choice in choices)


def test_every_conversion_writes_plan_and_report(digits_model: Path) -> None:
    for platform in ("apollo510_evb", "apollo4p_evb", "host"):
        written = files(converted(digits_model, platform={"name": platform}))
        assert {PLAN, REPORT} <= set(written)


def test_results_print_hints_with_operators_share_gain_and_yaml(
    digits_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    rules = json.dumps(cold("SRAM")["tensors"])
    settings = ["--optimization.goal", "size", "--memory.tensors", rules]
    monkeypatch.setattr(sys, "argv", ["helia-aot", "convert", str(digits_model), *settings])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    heading, _, printed = capsys.readouterr().out.partition("Optimization hints\n")
    assert heading
    report = json.loads((tmp_path / "out/helia_aot_nn/aot_report.json").read_text())
    kernel, placement = report["hints"]
    assert len(kernel["operators"]) > 3
    assert ", ".join(kernel["operators"]) in printed
    assert f"with {kernel['mac_share']:.1%} of the MACs" in printed
    assert "measured: 2.70x on AD" in printed
    for hint in (kernel, placement):
        assert all(line.strip() in printed for line in hint["yaml"].splitlines())


def test_hints_never_change_the_conversion(
    digits_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sections = {"optimization": {"goal": "size"}, "memory": cold("SRAM")}
    hinted = converted(digits_model, **sections)
    assert len(hinted.report.hints) == 2
    monkeypatch.setattr(helia_aot.optimization.describe, "build_hints", lambda *_, **__: [])
    silent = converted(digits_model, **sections)
    assert silent.report.hints == []
    changed = {path for path, content in files(hinted).items() if files(silent)[path] != content}
    assert changed == {REPORT}


def test_settings_trade_memory_for_speed(digits_model: Path) -> None:
    def dtcm_bytes(memory: Mapping[str, Any]) -> int:
        return converted(digits_model, memory=memory).memory_plan.memory_bytes("dtcm")

    staged = merged(cold("MRAM")["tensors"][0], {"attributes": {PLACEMENT: "DTCM"}})
    assert dtcm_bytes({"tensors": [staged]}) > dtcm_bytes(cold("MRAM"))


def test_settings_are_goal_gate_knobs_and_placement() -> None:
    # Code specialization is one of the further knobs that the guide announces.
    knobs = ("accumulation", "kernel", "code_specialization")
    assert ("goal", "allow_approximate", *knobs, PLACEMENT) == SETTINGS


def test_every_value_is_exact_or_approximate(digits_model: Path) -> None:
    assert {name: set(knob.approximate) for name, knob in KNOBS.items()} == {
        "accumulation": {"fast"},
        "kernel": set(),
        "code_specialization": set(),
    }
    for operator in converted(digits_model).report.operators:
        for name, alternatives in operator.alternatives.items():
            assert {a.value: a.approximate for a in alternatives} == {
                value: value in KNOBS[name].approximate for value in KNOBS[name].values
            }


def test_the_plan_resolves_every_knob_of_every_operator(digits_model: Path) -> None:
    conversion = converted(digits_model, optimization={"kernel": "auto"})
    plan, report = conversion.plan, conversion.report
    for planned, reported in zip(plan.operators, report.operators, strict=True):
        assert set(planned.knobs) == set(reported.alternatives)
        for name, choice in planned.knobs.items():
            assert choice.value in KNOBS[name].values  # never auto


# --- The settings -----------------------------------------------------------------------------------------------------

PUBLISHED_SETTINGS = {
    "OptimizationConfig.goal": ("balanced", {"latency", "balanced", "size", "accuracy"}),
    "OptimizationConfig.allow_approximate": (False, {False, True}),
    "OptimizationConfig.accumulation": (None, {"auto", "precise", "fast"}),
    "OperatorOptimization.accumulation": (None, {"auto", "precise", "fast"}),
    "OptimizationConfig.kernel": (None, {"auto", "specialized", "generic"}),
    "OperatorOptimization.kernel": (None, {"auto", "specialized", "generic"}),
}


@pytest.mark.parametrize("setting", PUBLISHED_SETTINGS)
def test_settings_have_the_published_defaults_and_values(setting: str) -> None:
    default, values = PUBLISHED_SETTINGS[setting]
    owner, _, name = setting.partition(".")
    field = json_schema("config")["$defs"][owner]["properties"][name]
    assert field["default"] == default
    found = [item for part in (field, *field.get("anyOf", [])) for item in part.get("enum", [])]
    assert set(found or {False, True}) == values
    assert bool(found) or field["type"] == "boolean"


def test_knobs_are_auto_unless_set() -> None:
    for choices in resolved(""):
        for choice in choices.values():
            assert (choice.requested, choice.source.kind) == (AUTO, "default")


def test_placement_is_unset_by_default(digits_model: Path) -> None:
    plain, unset = cold("MRAM"), cold("MRAM")
    unset["tensors"][0]["attributes"][PLACEMENT] = UNSET
    left_out, written = (converted(digits_model, memory=memory) for memory in (plain, unset))
    assert files(written) == files(left_out)
    (arena,) = written.residency["arenas"]["constant"]
    assert (arena["kind"], arena["memory"]) == ("cold", "mram")


APOLLO = ("apollo510_evb", "cortex-m55", "0.23.0", "7.36.0")


def test_records_hold_the_published_figures_with_their_origin() -> None:
    found = [
        (
            *(record.setting, record.value, record.gain),
            (record.target, record.core, *record.versions.values()),
        )
        for record in all_measurements()
    ]
    assert found == [
        ("accumulation", "fast", 3.22, APOLLO),
        (PLACEMENT, "dtcm", 2.70, APOLLO),
        (PLACEMENT, "dtcm", 1.28, APOLLO),
        (PLACEMENT, "dtcm", 1.22, APOLLO),
        (PLACEMENT, "dtcm", 1.0, APOLLO),
    ]
    fast, anomaly, half, single, others = all_measurements()
    assert all(set(record.versions) == {"heliaAOT", "ns-cmsis-nn"} for record in all_measurements())
    assert all(record.source for record in all_measurements())
    assert "1x256, 32 to 32 channels" in fast.subject
    assert "0.0156" in fast.accuracy
    assert "0.0059" in fast.accuracy
    assert [record.subject.split(",")[0] for record in (anomaly, half, single)] == [
        "AD",
        "sleep FP16",
        "sleep FP32",
    ]
    assert {record.accuracy for record in (anomaly, half, single, others)} == {"exact"}
    assert all("96 MHz" in record.conditions for record in (anomaly, half, single, others))
    assert others.subject.startswith("KWS, VWW, IC and TCN")
    assert "within 1 %" in others.conditions


def test_the_kernel_figures_are_no_records_and_are_never_quoted(digits_model: Path) -> None:
    conversion = converted(digits_model, optimization={"kernel": "generic"})
    assert conversion.report.measurements["kernel"] == []
    assert "measured" not in hint_of(conversion, "kernel").message


def test_another_target_with_the_same_core_names_no_gain(digits_model: Path) -> None:
    def placed(platform: str) -> Conversion:
        return converted(digits_model, memory=cold("SRAM"), platform={"name": platform})

    ours, other = placed("apollo510_evb"), placed("apollo510b_evb")
    assert other.plan.platform.core == ours.plan.platform.core
    assert "2.70x" in hint_of(ours, PLACEMENT).message
    assert "would fit" in hint_of(other, PLACEMENT).message
    assert "measured" not in hint_of(other, PLACEMENT).message
    assert set(other.report.measurements) == set(ours.report.measurements) == set(SETTINGS)
    assert not any(other.report.measurements.values())
    for records in ours.report.measurements.values():
        assert all((r.target, r.core) == ("apollo510_evb", "cortex-m55") for r in records)


# --- How auto resolves ------------------------------------------------------------------------------------------------

AUTO_TABLE = {
    "accumulation": dict.fromkeys(GOALS, "precise"),
    "kernel": {goal: "generic" if goal == "size" else "specialized" for goal in GOALS},
}


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("goal", GOALS)
def test_auto_follows_the_published_table(goal: str, allowed: bool) -> None:
    text = f"optimization: {{goal: {goal}, allow_approximate: {str(allowed).lower()}}}"
    dense, _, convolution = resolved(text)
    is_fast = goal == "latency" and allowed
    wanted = "fast" if is_fast else AUTO_TABLE["accumulation"][goal]
    assert dense["accumulation"].value == wanted
    assert dense["accumulation"].approximate == is_fast
    assert convolution["kernel"].value == AUTO_TABLE["kernel"][goal]


@pytest.mark.parametrize(
    "text",
    [
        "optimization: {goal: accuracy, accumulation: fast}",
        "operators: [{type: FULLY_CONNECTED, optimization: {accumulation: fast}}]",
    ],
)
def test_an_explicit_value_is_consent(text: str) -> None:
    choice = resolved(text)[0]["accumulation"]
    assert (choice.value, choice.requested, choice.resolved_by) == ("fast", "fast", "explicit")
    assert choice.approximate


# --- Accumulation -----------------------------------------------------------------------------------------------------


def test_the_first_example_lets_auto_choose() -> None:
    dense, *_ = resolved("optimization:\n  goal: latency\n  allow_approximate: true\n")
    choice = dense["accumulation"]
    assert (choice.value, choice.resolved_by, choice.approximate) == ("fast", "auto_table", True)


def test_the_second_example_overrides_one_operator() -> None:
    text = """
optimization:
  accumulation: fast
operators:
- type: FULLY_CONNECTED
  id: "12"
  optimization:
    accumulation: precise
"""
    pinned, other, _ = (choices.get("accumulation") for choices in resolved(text))
    assert pinned is not None
    assert other is not None
    assert (pinned.value, pinned.source.kind) == ("precise", "operator")
    assert pinned.source.rule is not None
    assert (pinned.source.rule.index, pinned.source.rule.id) == (0, "12")
    assert (other.value, other.source.kind) == ("fast", "model")


def test_fp16_accuracy_has_no_alias(tmp_path: Path) -> None:
    file = tmp_path / "convert.yaml"
    file.write_text("model: {path: a.tflite}\noperators:\n- attributes: {fp16_accuracy: precise}\n")
    with pytest.raises(ConfigError) as caught:
        load_convert_config(file)
    (problem,) = caught.value.problems
    assert problem.where == "operators[0].attributes.fp16_accuracy"
    assert problem.reason == "unknown key"


@pytest.mark.parametrize("knob", KNOBS)
def test_a_knob_under_attributes_is_rejected_with_its_place(knob: str) -> None:
    rule = {"attributes": {knob: KNOBS[knob].default}}
    with pytest.raises(ConfigError) as caught:
        load_convert_config(None, {"model": {"path": "a.tflite"}, "operators": [rule]})
    (problem,) = caught.value.problems
    assert problem.next_step == f"set operators[0].optimization.{knob}"


# --- Kernel -----------------------------------------------------------------------------------------------------------


def test_the_knob_exists_for_convolutions_alone(digits_model: Path) -> None:
    for operator in converted(digits_model).plan.operators:
        has_kernel = operator.op_type in ("CONV_2D", "DEPTHWISE_CONV_2D")
        assert ("kernel" in operator.knobs) == has_kernel


@pytest.mark.parametrize("platform", ["apollo4p_evb", "host"])
def test_other_targets_keep_their_kernels(platform: str, digits_model: Path) -> None:
    specialized, generic = (
        converted(digits_model, optimization={"kernel": value}, platform={"name": platform})
        for value in ("specialized", "generic")
    )
    same = set(files(specialized)) - {PLAN, REPORT}
    assert {p: files(specialized)[p] for p in same} == {p: files(generic)[p] for p in same}
    assert DIRECT_ENTRIES.isdisjoint(entries(specialized))
    for operator in specialized.report.operators:
        for alternative in operator.alternatives.get("kernel", []):
            assert not alternative.applicable
            assert "MVE" in alternative.reason


def test_specialized_calls_every_direct_entry_by_its_shape(digits_model: Path) -> None:
    assert set(entries(converted(digits_model))) >= DIRECT_ENTRIES
    assert {
        "arm_convolve_s8_small_cin",
        "arm_convolve_s8_3x3_c16_s1",
        "arm_depthwise_conv_s8_opt_3x3_c64_s1",
        "arm_depthwise_conv_s8_opt_3x3",
        "arm_depthwise_conv_s8_opt_planar",
        "arm_depthwise_conv_s8_opt_channelwise",
    } == DIRECT_ENTRIES


def test_generic_calls_the_general_entry_in_place_of_a_direct_one(digits_model: Path) -> None:
    specialized = entries(converted(digits_model))
    generic = entries(converted(digits_model, optimization={"kernel": "generic"}))
    for direct, entry in zip(specialized, generic, strict=True):
        if direct not in DIRECT_ENTRIES:
            assert entry == direct  # e.g. the 1x1 kernels, with either value
        elif direct.startswith("arm_convolve"):
            assert entry == "arm_convolve_s8"
        else:
            assert entry == "arm_depthwise_conv_s8_opt"
    assert "arm_convolve_1x1_s8_fast" in generic


@pytest.mark.parametrize("kernel", ["specialized", "generic"])
def test_each_layer_calls_the_reported_entry_and_no_other(kernel: str, digits_model: Path) -> None:
    conversion = converted(digits_model, optimization={"kernel": kernel})
    source = "".join(
        content.decode()
        for path, content in files(conversion).items()
        if path.startswith("src/") and path.endswith(".c")
    )
    called = Counter(re.findall(r"\barm_\w+(?=\()", source))
    assert called == Counter(entry for entry in entries(conversion) if entry is not None)


def test_generic_needs_a_larger_scratch_buffer_for_a_3x3_depthwise_layer(
    digits_model: Path,
) -> None:
    specialized = converted(digits_model)
    generic = converted(digits_model, optimization={"kernel": "generic"})
    for operator in specialized.report.operators:
        if operator.entry != "arm_depthwise_conv_s8_opt_3x3_c64_s1":
            continue
        node = next(o.node_id for o in specialized.plan.operators if o.id == operator.id)
        buffer = f"depthwise_conv_2d_{node}_scratch"
        small, large = (
            next(t["size"] for t in c.residency["tensors"] if t["id"] == buffer)
            for c in (specialized, generic)
        )
        assert small < large
        break
    else:
        pytest.fail("the example model has no such layer")


def test_the_keyword_spotting_model_needs_less_arena_specialized(models_dir: Path) -> None:
    """Published for another library: 1120 B less."""
    used = []
    for kernel in ("specialized", "generic"):
        conversion = converted(models_dir / "kws_ref_model.tflite", optimization={"kernel": kernel})
        used.append(sum(arena["used"] for arena in conversion.residency["arenas"]["scratch"]))
    assert used[0] < used[1]


def test_the_general_depthwise_entry_carries_both_paths() -> None:
    general = set(sources_for(["arm_depthwise_conv_s8_opt"]))
    for path in ("planar", "channelwise"):
        own = set(sources_for([f"arm_depthwise_conv_s8_opt_{path}"]))
        assert own - {f"arm_depthwise_conv_s8_opt_{path}.c"} <= general


@pytest.mark.parametrize(
    ("sections", "floor"),
    [
        ({}, "7.37.0"),
        ({"optimization": {"goal": "size"}}, "7.35.0"),
        (
            {
                "optimization": {"goal": "size"},
                "operators": [{"id": "0", "optimization": {"kernel": "specialized"}}],
            },
            "7.37.0",
        ),
        ({"platform": {"name": "apollo4p_evb"}}, "7.35.0"),
    ],
)
def test_a_module_with_a_direct_entry_requires_the_release_that_has_it(
    sections: dict[str, Any], floor: str, digits_model: Path
) -> None:
    conversion = converted(digits_model, **sections)
    assert conversion.plan.generator.ns_cmsis_nn == floor
    assert (floor == "7.37.0") == (not DIRECT_ENTRIES.isdisjoint(entries(conversion)))


# --- Constant placement -----------------------------------------------------------------------------------------------

STAGE = """
memory:
  tensors:
  - type: constant
    attributes: {memory: MRAM, constant_destination_memory: DTCM}
"""


def test_the_placement_example_adds_a_copy_in_dtcm(digits_model: Path) -> None:
    conversion = converted(digits_model, **yaml.safe_load(STAGE))
    (arena,) = conversion.residency["arenas"]["constant"]
    source, runtime = arena["storage"]["source"], arena["storage"]["runtime"]
    assert (source["memory"], runtime["memory"]) == ("mram", "dtcm")
    assert source["size_bytes"] == runtime["size_bytes"] == arena["used"]
    assert not conversion.platform.memories["mram"].volatile  # the cold copy stays
    plain = converted(digits_model, memory=cold("MRAM"))
    padded = -(-arena["used"] // arena["alignment"]) * arena["alignment"]
    more = conversion.memory_plan.memory_bytes("dtcm") - plain.memory_plan.memory_bytes("dtcm")
    assert more == padded  # its cost


# --- The plan ---------------------------------------------------------------------------------------------------------


def test_the_plan_names_versions_model_target_and_goal(digits_model: Path) -> None:
    settings = {"goal": "latency", "allow_approximate": True}
    conversion = converted(digits_model, optimization=settings)
    plan = json.loads(files(conversion)[PLAN])
    assert plan["schema_version"] == 1
    assert plan["generator"] == {"helia_aot": __version__, "ns_cmsis_nn": "7.37.0"}
    assert (plan["model"]["file"], plan["model"]["subgraph"]) == (digits_model.name, 0)
    assert len(plan["model"]["sha256"]) == 64
    assert plan["platform"] == {
        "name": "apollo510_evb",
        "core": "cortex-m55",
        "capabilities": ["dsp", "mve"],
        "fp16": True,
    }
    assert settings.items() <= plan["optimization"].items()
    assert len(plan["operators"]) == len(conversion.module.operators)


def test_position_and_node_id_are_kept(digits_model: Path) -> None:
    conversion = converted(digits_model)
    operators = conversion.plan.operators
    assert [operator.index for operator in operators] == list(range(len(operators)))
    assert [o.node_id for o in operators] == [o.node_id for o in conversion.module.operators]


def test_ids_come_from_the_first_output_and_survive_other_operators(tmp_path: Path) -> None:
    short = named(tmp_path, "b", "d")
    assert plan_ids(short) == [("0:b", "tensor_name"), ("0:d", "tensor_name")]
    long = named(tmp_path, "a", "b", "c", "d")
    assert [id_ for id_, _ in plan_ids(long)] == ["0:a", "0:b", "0:c", "0:d"]


def test_repeated_and_missing_names(tmp_path: Path) -> None:
    assert plan_ids(named(tmp_path, "x", "", "x", "y")) == [
        ("0:x#1", "tensor_name+ordinal"),
        ("0:@1", "index"),
        ("0:x#2", "tensor_name+ordinal"),
        ("0:y", "tensor_name"),
    ]


def test_an_id_is_split_at_its_first_colon_alone(tmp_path: Path) -> None:
    name = "0:StatefulPartitionedCall_1:0"
    conversion = named(tmp_path, "plain", name)
    subgraph, _, rest = conversion.plan.operators[1].id.partition(":")
    assert (int(subgraph), rest) == (conversion.plan.model.subgraph, name)


def test_an_id_that_would_match_another_operator_gives_way_to_the_node_id(tmp_path: Path) -> None:
    conversion = named(tmp_path, "x", "x", "x#1")
    assert plan_ids(conversion) == [
        ("0", "node_id"),
        ("0:x#2", "tensor_name+ordinal"),
        ("2", "node_id"),
    ]
    warned = [warning for warning in conversion.warnings if "stable id" in warning]
    assert [warning.partition(":")[0] for warning in warned] == ["operator 0", "operator 2"]
    rules = [{"id": "0:x#1", "optimization": {"kernel": "auto"}}]
    assert any(
        "operators[0]" in warning and "matches no operator" in warning
        for warning in named(tmp_path, "x", "x", "x#1", operators=rules).warnings
    )


def kernels_of(conversion: Conversion) -> dict[str, KnobChoice]:
    return {o.id: o.knobs["kernel"] for o in conversion.plan.operators if "kernel" in o.knobs}


def test_rules_match_by_stable_id_node_id_list_and_type_together(digits_model: Path) -> None:
    plain = converted(digits_model)
    first, second, *_ = [o for o in plain.plan.operators if o.op_type == "CONV_2D"]
    generic = {"optimization": {"kernel": "generic"}}
    for rule, wanted in (
        ({"id": first.id}, {first.id}),
        ({"id": first.node_id}, {first.id}),
        ({"id": [first.node_id, second.id]}, {first.id, second.id}),
        ({"type": "CONV_2D", "id": [first.id]}, {first.id}),
        ({"type": "DEPTHWISE_CONV_2D", "id": [first.id]}, set()),
    ):
        conversion = converted(digits_model, operators=[{**rule, **generic}])
        choices = kernels_of(conversion)
        assert {key for key, choice in choices.items() if choice.value == "generic"} == wanted
        assert any("matches no operator" in text for text in conversion.warnings) == (not wanted)
        for key in wanted:
            source = choices[key].source
            assert source.kind == "operator"
            assert source.rule is not None
            assert (source.rule.index, source.rule.type) == (0, rule.get("type", "*"))
            assert source.rule.id == rule["id"]


def test_the_ids_of_a_plan_are_rules(digits_model: Path) -> None:
    conversion = converted(digits_model)
    rules = [
        {"id": operator.id, "optimization": {"kernel": "generic"}}
        for operator in conversion.plan.operators
        if "kernel" in operator.knobs
    ]
    pinned = converted(digits_model, operators=rules)
    assert pinned.warnings == ()
    assert {choice.value for choice in kernels_of(pinned).values()} == {"generic"}


PROVENANCE = {
    "nobody asked": ({}, ("auto", "auto_table", "default")),
    "the model asked for auto": (
        {"optimization": {"kernel": "auto"}},
        ("auto", "auto_table", "model"),
    ),
    "the model asked": (
        {"optimization": {"kernel": "generic"}},
        ("generic", "explicit", "model"),
    ),
    "a rule asked for auto": (
        {"operators": [{"optimization": {"kernel": "auto"}}]},
        ("auto", "auto_table", "operator"),
    ),
    "a rule asked": (
        {"operators": [{"optimization": {"kernel": "generic"}}]},
        ("generic", "explicit", "operator"),
    ),
}


@pytest.mark.parametrize("case", PROVENANCE)
def test_the_plan_records_who_asked(case: str, digits_model: Path) -> None:
    sections, wanted = PROVENANCE[case]
    choices = kernels_of(converted(digits_model, **sections))
    assert choices
    for choice in choices.values():
        assert (choice.requested, choice.resolved_by, choice.source.kind) == wanted
        assert (choice.source.rule is not None) == (wanted[2] == "operator")


def test_fixed_choices_are_the_published_ones() -> None:
    assert {name: kind.applies_to for name, kind in FIXED.items()} == {
        "lut_mode": "INT16 RSQRT",
        "use_lut": "INT8 HARD_SWISH",
        "compat_variant": "INT8 HARD_SWISH",
        "weight_layout": "float 1x1 convolutions and fully connected layers",
    }
    assert [name for name, kind in FIXED.items() if not kind.is_attribute] == ["weight_layout"]


# --- The report and its hints -----------------------------------------------------------------------------------------


def test_macs_count_convolution_depthwise_and_fully_connected_layers(digits_model: Path) -> None:
    report = converted(digits_model).report
    counted = {operator.op_type for operator in report.operators if operator.macs}
    assert counted == {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"}
    assert {operator.op_type for operator in report.operators} > counted
    assert report.total_macs == sum(operator.macs for operator in report.operators)
    for operator in report.operators:
        assert operator.mac_share == operator.macs / report.total_macs


def test_macs_of_a_layer_by_hand(tmp_path: Path) -> None:
    (operator,) = named(tmp_path, "dense").report.operators
    assert operator.macs == 8 * 8


def test_alternatives_say_whether_they_apply_and_why_not(digits_model: Path) -> None:
    operators = converted(digits_model).report.operators
    seen = set()
    for operator in operators:
        for alternatives in operator.alternatives.values():
            for alternative in alternatives:
                seen.add(alternative.applicable)
                assert bool(alternative.reason) != alternative.applicable
    assert seen == {False, True}


@pytest.mark.parametrize(
    ("sections", "appears"),
    [
        ({"optimization": {"goal": "size"}}, True),
        ({"optimization": {"kernel": "generic"}}, True),
        ({"optimization": {"goal": "latency"}}, False),
        ({}, False),
        # Rules pin all operators, even those that ask for auto: no single setting would change them.
        (
            {
                "optimization": {"goal": "size"},
                "operators": [{"optimization": {"kernel": "auto"}}],
            },
            False,
        ),
        ({"optimization": {"goal": "size"}, "platform": {"name": "apollo4p_evb"}}, False),
    ],
)
def test_a_knob_hint_appears_where_one_setting_would_select_what_applies(
    sections: dict[str, Any], appears: bool, digits_model: Path
) -> None:
    hints = converted(digits_model, **sections).report.hints
    assert [hint.setting for hint in hints] == (["kernel"] if appears else [])


def test_a_knob_hint_lists_operators_that_would_change_and_are_not_pinned(
    digits_model: Path,
) -> None:
    plain = converted(digits_model, optimization={"goal": "size"})
    applicable = {
        operator.id: operator.macs
        for operator in plain.report.operators
        if any(a.applicable for a in operator.alternatives.get("kernel", []))
    }
    pinned, fast, *_ = applicable
    rules = [
        {"id": pinned, "optimization": {"kernel": "generic"}},
        {"id": fast, "optimization": {"kernel": "specialized"}},
    ]
    mixed = converted(digits_model, optimization={"goal": "size"}, operators=rules)
    for conversion, left_out in ((plain, set()), (mixed, {pinned, fast})):
        hint = hint_of(conversion, "kernel")
        assert hint.operators == [key for key in applicable if key not in left_out]
        macs = sum(applicable[key] for key in hint.operators)
        assert hint.mac_share == macs / conversion.report.total_macs
    assert 0 < macs < conversion.report.total_macs


@pytest.mark.parametrize("memory", ["SRAM", "MRAM"])
def test_the_placement_hint_appears_for_constants_of_one_cold_memory(
    memory: str, digits_model: Path
) -> None:
    conversion = converted(digits_model, memory=cold(memory))
    hint = hint_of(conversion, PLACEMENT)
    placement = conversion.report.constant_placement
    assert placement is not None
    assert placement.cold_source == memory.lower()
    assert hint.current == memory.lower()
    assert hint.facts == placement.model_dump(mode="json")


def stage(destination: str) -> dict[str, Any]:
    attributes = {"memory": "MRAM", PLACEMENT: destination}
    return {"tensors": [{"type": "constant", "attributes": attributes}]}


NO_PLACEMENT_HINT = {
    "constants in TCM": {},
    "staged to DTCM": stage("DTCM"),
    "two cold memories": {
        "tensors": [*cold("SRAM")["tensors"], {"id": ["16"], "attributes": {"memory": "MRAM"}}]
    },
    "a constant named by a rule": {
        "tensors": [*cold("SRAM")["tensors"], {"id": "16", "attributes": {"memory": "SRAM"}}]
    },
    "no room": {**cold("SRAM"), "constraints": [{"name": "dtcm", "max_size": 12288 + 13847}]},
}


@pytest.mark.parametrize("case", NO_PLACEMENT_HINT)
def test_the_placement_hint_stays_away(case: str, digits_model: Path) -> None:
    conversion = converted(digits_model, memory=NO_PLACEMENT_HINT[case])
    assert conversion.report.hints == []
    placement = conversion.report.constant_placement
    assert placement is not None
    outside = sum(placement.constant_bytes_outside_tcm.values())
    assert {
        "constants in TCM": outside == 0,
        "staged to DTCM": outside == 0,
        "two cold memories": placement.cold_source is None and outside > 0,
        "a constant named by a rule": placement.id_specific_constant_rules == 1,
        "no room": placement.dtcm_free_bytes < outside,
    }[case]


def pasted(settings: Mapping[str, Any], lines: str) -> dict[str, Any]:
    """Adds the lines of a hint to settings as a user would: rules at the end, other keys in place."""
    added = yaml.safe_load(lines)
    result = merged(settings, added)
    rules = added.get("memory", {}).get("tensors")
    if rules is not None:
        before = settings.get("memory", {}).get("tensors", [])
        result["memory"]["tensors"] = [*before, *rules]
    return result


FREE_BYTES = 12288 + 13848  # of DTCM: exactly the arenas' bytes, so not enough once they are padded
PASTED: dict[str, dict[str, Any]] = {
    "goal size": {"optimization": {"goal": "size"}},
    "generic": {"optimization": {"kernel": "generic"}},
    "one operator pinned": {
        "optimization": {"goal": "size"},
        "operators": [{"id": "0", "optimization": {"kernel": "generic"}}],
    },
    "cold in SRAM": {"memory": cold("SRAM")},
    "cold in MRAM": {"memory": cold("MRAM")},
    "staged to SRAM": {"memory": stage("SRAM")},
    "both hints": {"optimization": {"goal": "size"}, "memory": cold("MRAM")},
    "just room": {
        "memory": {
            **cold("SRAM"),
            "constraints": [{"name": "dtcm", "max_size": -(-FREE_BYTES // 16) * 16}],
        }
    },
}


@pytest.mark.parametrize("case", PASTED)
def test_the_yaml_of_a_hint_works_when_pasted(case: str, digits_model: Path) -> None:
    settings = PASTED[case]
    before = converted(digits_model, **settings)
    assert len(before.report.hints) == (2 if case == "both hints" else 1)
    for hint in before.report.hints:
        after = converted(digits_model, **pasted(settings, hint.yaml))
        others = [h.setting for h in before.report.hints if h.setting != hint.setting]
        assert [h.setting for h in after.report.hints] == others
        assert after.warnings == ()
        if hint.setting == "kernel":
            choices = kernels_of(after)
            assert {choices[key].value for key in hint.operators} == {hint.alternative}
        else:
            arenas = after.residency["arenas"]
            assert {a["memory"] for a in arenas["constant"]} == {hint.alternative}
            assert arenas["scratch"] == [
                {**a, "total_size": b["total_size"]}
                for a, b in zip(
                    before.residency["arenas"]["scratch"], arenas["scratch"], strict=True
                )
            ]  # nothing else had to move


def test_no_placement_hint_where_padding_takes_the_last_room(digits_model: Path) -> None:
    limits = [{"name": "dtcm", "max_size": FREE_BYTES}]
    conversion = converted(digits_model, memory={**cold("SRAM"), "constraints": limits})
    assert conversion.report.hints == []
