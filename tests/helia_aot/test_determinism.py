# SPDX-License-Identifier: Apache-2.0
"""Equal inputs give equal bytes, whatever the hash seed and the working directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from conftest import REPOSITORY
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

PROGRAM = """
import hashlib, json, sys
from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import HeliaError

model, sections = json.load(sys.stdin)
for section in sections:
    try:
        conversion = convert(ConvertConfig.model_validate({"model": {"path": model}, **section}))
    except HeliaError as error:
        print(type(error).__name__, error)
        continue
    for file in conversion.module.files:
        print(file.path, hashlib.sha256(file.content).hexdigest())
    print(conversion.warnings)
"""

MEMORIES = st.sampled_from(["dtcm", "sram", "mram"])
KERNELS = st.sampled_from(["auto", "specialized", "generic"])
TENSOR_RULES = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["constant", "scratch", "*"]),
            "attributes": st.fixed_dictionaries({"memory": MEMORIES}),
        },
        optional={"id": st.sampled_from(["4", "16", ["8", "25"], "conv_2d_0_scratch"])},
    ),
    max_size=3,
)
OPERATOR_RULES = st.lists(
    st.fixed_dictionaries(
        {"optimization": st.fixed_dictionaries({"kernel": KERNELS})},
        optional={
            "type": st.sampled_from(["CONV_2D", "DEPTHWISE_CONV_2D", "NOTHING"]),
            "id": st.sampled_from(["0", "0:pw1", ["0:stem_3x3", "5"]]),
        },
    ),
    max_size=3,
)
CONFIGURATIONS = st.fixed_dictionaries(
    {
        "platform": st.fixed_dictionaries(
            {"name": st.sampled_from(["apollo510_evb", "apollo4p_evb"])}
        ),
        "module": st.fixed_dictionaries(
            {
                "prefix": st.sampled_from(["aot", "kws"]),
                "type": st.sampled_from(["cmake", "zephyr", "nsx"]),
                "kernels": st.sampled_from(["bundled", "external"]),
            }
        ),
        "memory": st.fixed_dictionaries(
            {
                "planner": st.sampled_from(["greedy", "greedy_by_size", "hill_climb"]),
                "dump_residency_json": st.booleans(),
                "allocate_arenas": st.booleans(),
                "tensors": TENSOR_RULES,
            }
        ),
        "optimization": st.fixed_dictionaries(
            {
                "goal": st.sampled_from(["latency", "balanced", "size", "accuracy"]),
                "allow_approximate": st.booleans(),
                "budget": st.dictionaries(
                    st.sampled_from(["dtcm_bytes", "ram_bytes", "cycles", "itcm_bytes"]),
                    st.sampled_from([1000.0, 100000.0]),
                ),
            }
        ),
        "documentation": st.fixed_dictionaries({"html": st.booleans()}),
        "operators": OPERATOR_RULES,
    }
)


def outcome(seed: str, folder: Path, sections: list[dict[str, Any]], model: Path) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY)}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([str(model), sections]),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


@settings(
    max_examples=2,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(sections=st.lists(CONFIGURATIONS, min_size=8, max_size=8))
def test_bytes_depend_on_the_inputs_alone(
    sections: list[dict[str, Any]], digits_model: Path, tmp_path_factory: Any
) -> None:
    folders = [REPOSITORY, tmp_path_factory.mktemp("a"), tmp_path_factory.mktemp("b")]
    outcomes = {
        outcome(seed, folder, sections, digits_model)
        for seed, folder in zip(("0", "1", "4711"), folders, strict=True)
    }
    assert len(outcomes) == 1
    assert "_plan.json" in outcomes.pop()
