# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import shlex
from pathlib import Path

from helia_aot.config.convert import ConvertConfig
from helia_aot.config.options import parse_convert_options
from optimizer.reproduce import reproduce_command


def test_a_model_alone_gives_the_short_command() -> None:
    config = ConvertConfig.model_validate({"model": {"path": "m.tflite"}})
    assert reproduce_command(config, plan_path=Path("p.json"), module_path=Path("out")) == (
        "helia-aot convert --model.path m.tflite --platform.name apollo510_evb "
        "--optimization.plan p.json --module.path out"
    )


def test_every_setting_comes_back_from_the_command() -> None:
    config = ConvertConfig.model_validate(
        {
            "model": {"path": "a model.tflite", "description": 'it\'s "quoted"'},
            "module": {"prefix": "kws", "kernel_prefix": "shared"},
            "memory": {
                "constraints": [{"name": "dtcm", "max_size": 1000}],
                "tensors": [{"type": "constant", "attributes": {"memory": "mram"}}],
                "dump_residency_json": True,
                "allocate_arenas": False,
                "planner_options": {"seed": 7},
            },
            "platform": {"memories": {"dtcm": 100000}, "speeds_mhz": [96]},
            "operators": [{"type": "CONV_2D", "optimization": {"kernel": "generic"}}],
            "optimization": {"goal": "latency"},
        }
    )
    command = reproduce_command(config, plan_path=Path("p.json"), module_path=Path("out dir"))
    parsed = parse_convert_options(shlex.split(command)[2:]).config
    expected = config.model_dump()
    expected["optimization"]["plan"] = Path("p.json")
    expected["module"]["path"] = Path("out dir")
    assert parsed.model_dump() == expected
