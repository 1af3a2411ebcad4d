# SPDX-License-Identifier: Apache-2.0
"""The fixed choices of int16 RSQRT and int8 HARD_SWISH, through the whole compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from host_module import build_module, run_program
from micro_reference import micro_outputs
from tflite_models import ModelBuilder

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import ConfigError

SWISH_ENTRIES = {
    ("true", "true"): "helia_nn_lookup_s8",
    ("true", "false"): "helia_nn_lookup_s8",
    ("false", "true"): "arm_hard_swish_compat_s8",
    ("false", "false"): "arm_hard_swish_precise_s8",
}
"""Kernel entry by ``use_lut`` and ``compat_variant``."""


def rsqrt_model() -> bytes:
    """Two int16 RSQRT of different scales on one input."""
    model = ModelBuilder()
    x = model.tensor((300,), dtype="int16", scale=0.0003, name="x")
    outputs = [
        model.tensor((300,), dtype="int16", scale=scale, name=name)
        for name, scale in (("fine", 0.001), ("coarse", 0.01))
    ]
    for output in outputs:
        model.operator("RSQRT", [x], [output])
    return model.build(inputs=[x], outputs=outputs)


def swish_model(scale: float = 0.05) -> bytes:
    """HARD_SWISH of every int8 number."""
    model = ModelBuilder()
    x = model.tensor((256,), scale=scale, zero_point=-7, name="x")
    y = model.tensor((256,), scale=scale, zero_point=-30, name="y")
    model.operator("HARD_SWISH", [x], [y], ("HardSwishOptions", {}))
    return model.build(inputs=[x], outputs=[y])


def converted(data: bytes, folder: Path, op_type: str, attributes: dict[str, Any]) -> Conversion:
    path = folder / "model.tflite"
    path.write_bytes(data)
    rules = [{"type": op_type, "attributes": attributes}] if attributes else []
    config = {"model": {"path": path}, "platform": {"name": "apollo510_evb"}, "operators": rules}
    return convert(ConvertConfig.model_validate(config))


def fixed(conversion: Conversion) -> list[dict[str, tuple[str, str]]]:
    return [
        {name: (choice.value, choice.set_by) for name, choice in operator.fixed.items()}
        for operator in conversion.plan.operators
    ]


@pytest.mark.parametrize("mode", ["per_op", "universal"])
def test_both_tables_of_rsqrt_equal_tflite_micro(mode: str, tmp_path: Path) -> None:
    data = rsqrt_model()
    conversion = converted(data, tmp_path, "RSQRT", {"lut_mode": mode})
    assert {o.entry for o in conversion.module.operators} == {f"arm_rsqrt_s16_{mode}"}
    assert fixed(conversion) == [{"lut_mode": (mode, "attribute")}] * 2
    x = np.random.default_rng(1).integers(0, 32768, 300).astype(np.int16)
    x[:4] = (0, 1, 2, 32767)
    got = run_program(build_module(conversion, tmp_path), conversion, [x])
    for ours, theirs in zip(got, micro_outputs(data, x), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_rsqrt_has_tables_of_its_own_or_shares_one(tmp_path: Path) -> None:
    data = rsqrt_model()
    assert (
        fixed(converted(data, tmp_path, "RSQRT", {})) == [{"lut_mode": ("per_op", "default")}] * 2
    )

    def sizes(mode: str) -> int:
        conversion = converted(data, tmp_path, "RSQRT", {"lut_mode": mode})
        return sum(len(blob.data) for blob in conversion.module.constant_blobs)

    assert sizes("per_op") == 2 * 32768 * 2
    assert sizes("universal") == 32768 * 4


@pytest.mark.parametrize(("use_lut", "compat"), SWISH_ENTRIES)
def test_hard_swish_follows_its_choices(use_lut: str, compat: str, tmp_path: Path) -> None:
    data = swish_model()
    conversion = converted(
        data, tmp_path, "HARD_SWISH", {"use_lut": use_lut, "compat_variant": compat}
    )
    (operator,) = conversion.module.operators
    assert operator.entry == SWISH_ENTRIES[use_lut, compat]
    assert fixed(conversion) == [
        {"use_lut": (use_lut, "attribute"), "compat_variant": (compat, "attribute")}
    ]
    x = np.arange(-128, 128).astype(np.int8)
    (got,) = run_program(build_module(conversion, tmp_path), conversion, [x])
    real = 0.05 * (x.astype(float) + 7)
    exact = np.clip(real * np.clip(real + 3, 0, 6) / 6 / 0.05 - 30, -128, 127)
    assert np.abs(got - exact).max() < (0.51 if compat == "false" else 1.51)
    if compat == "true":
        np.testing.assert_array_equal(got, micro_outputs(data, x, outputs=1)[0])


def test_hard_swish_reads_a_table_like_tflite_by_default(tmp_path: Path) -> None:
    conversion = converted(swish_model(), tmp_path, "HARD_SWISH", {})
    assert fixed(conversion) == [
        {"use_lut": ("true", "default"), "compat_variant": ("true", "default")}
    ]


def test_a_scale_can_be_too_fine_for_the_precise_arithmetic(tmp_path: Path) -> None:
    data = swish_model(scale=1e-7)
    assert fixed(converted(data, tmp_path, "HARD_SWISH", {}))
    with pytest.raises(ConfigError, match="cannot have 'false' here"):
        converted(data, tmp_path, "HARD_SWISH", {"compat_variant": False})


def test_the_choices_come_back_with_the_plan(tmp_path: Path) -> None:
    attributes = {"use_lut": False, "compat_variant": False}
    first = converted(swish_model(), tmp_path, "HARD_SWISH", attributes)
    path = tmp_path / "plan.json"
    path.write_text(first.plan.model_dump_json(by_alias=True))
    config = {
        "model": {"path": tmp_path / "model.tflite"},
        "platform": {"name": "apollo510_evb"},
        "optimization": {"plan": path},
    }
    again = convert(ConvertConfig.model_validate(config))
    assert again.module.operators == first.module.operators
    assert fixed(again) == [{"use_lut": ("false", "plan"), "compat_variant": ("false", "plan")}]
