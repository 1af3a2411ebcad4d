# SPDX-License-Identifier: Apache-2.0
"""What ``code_specialization: inlined`` changes: the operator's own file and its code, never outputs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from host_module import build_module, run_program
from module_program import converted
from tflite_models import ModelBuilder

from helia_aot.api import convert
from helia_aot.errors import ConfigError, PlanError
from helia_aot.kernels.manifest import public_entries, public_symbols, read_source, sources_for
from runners.base import MeasureSettings
from runners.measure import random_stimulus
from runners.simulator.simulator import SimulatorRunner

WITH_MACS = ("convolve", "_conv_", "fully_connected", "svdf", "lstm", "matmul")
NOT_CALLED = ("get_buffer_size", "weight_sum")
ENTRIES = [
    entry
    for entry in public_entries()
    if any(word in entry for word in WITH_MACS) and not any(word in entry for word in NOT_CALLED)
]
CORES = {
    "cortex-m55": ("-mcpu=cortex-m55", "-mfloat-abi=hard"),
    "cortex-m4": ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
}


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("core", CORES)
def test_sources_of_an_entry_compile_as_one_file(core: str, tmp_path: Path) -> None:
    """Names of macros and static functions of files that are inlined together must not meet."""
    names = sorted({name for entry in ENTRIES for name in sources_for([entry])})
    (tmp_path / "src").mkdir()
    for name in names:
        (tmp_path / "src" / name).write_text(read_source(name))
    include = Path(__file__).resolve().parents[2] / "helia_aot" / "kernels" / "include"
    (tmp_path / "include").symlink_to(include)
    command = ["arm-none-eabi-gcc", *CORES[core], "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"]
    failed = []
    for group in sorted({tuple(n for n in sources_for([e]) if n.endswith(".c")) for e in ENTRIES}):
        text = "".join(f'#include "src/{name}"\n' for name in group)
        (tmp_path / "one.c").write_text(text)
        done = subprocess.run(
            [*command, "-fsyntax-only", "one.c"], cwd=tmp_path, capture_output=True, text=True
        )
        if done.returncode:
            failed.append((group, done.stderr[:500]))
    assert ENTRIES
    assert not failed


@pytest.mark.usefixtures("tools")
def test_outputs_are_those_of_the_shared_kernels(digits_model: Path) -> None:
    outputs, cycles = [], []
    for value in ("shared", "inlined"):
        conversion = converted(digits_model, optimization={"code_specialization": value})
        result = SimulatorRunner(conversion.platform).measure(
            conversion, random_stimulus(conversion.module.inputs), MeasureSettings()
        )
        assert result.measurement.status == "ok", result.measurement
        outputs.append(result.outputs[0])
        cycles.append(result.measurement.best_cycles)
    np.testing.assert_array_equal(*outputs)
    assert cycles[0] != cycles[1]


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("platform", ["apollo510_evb", "apollo4p_evb"])
def test_layers_whose_assembly_needs_most_registers(platform: str, tmp_path: Path) -> None:
    """First layers of 27 and 40 bytes a patch, then 1x1, depthwise and dense layers, inlined."""
    rng = np.random.default_rng(4)
    quantized = {"scale": 0.1, "zero_point": 3}

    def weights(*shape: int) -> np.ndarray:
        return rng.integers(-127, 128, shape, dtype=np.int8)

    model = ModelBuilder()
    outputs = []
    for channels, kernel in ((3, (3, 3)), (1, (10, 4))):
        x = model.tensor((1, 12, 9, channels), scale=0.05, zero_point=-5)
        y = model.conv_2d(x, weights(12, *kernel, channels), None, filter_scale=0.01, stride=(2, 2),
                          padding="same", **quantized)  # fmt: skip
        y = model.depthwise_conv_2d(y, weights(1, 3, 3, 12), None, filter_scale=0.02, padding="same",
                                    **quantized)  # fmt: skip
        y = model.conv_2d(y, weights(20, 1, 1, 12), None, filter_scale=0.02, padding="same",
                          **quantized)  # fmt: skip
        flat = model.reshape(y, (1, int(np.prod(model.tensors[y].shape))))
        outputs.append(
            model.fully_connected(flat, weights(5, int(np.prod(model.tensors[y].shape))), None,
                                  filter_scale=0.01, **quantized)
        )  # fmt: skip
    inputs = [i for i, tensor in enumerate(model.tensors) if tensor.shape[1:3] == (12, 9)]
    path = tmp_path / "model.tflite"
    path.write_bytes(model.build(inputs=inputs, outputs=outputs))
    found = []
    for value in ("shared", "inlined"):
        conversion = converted(
            path, platform={"name": platform}, optimization={"code_specialization": value}
        )
        result = SimulatorRunner(conversion.platform).measure(
            conversion, random_stimulus(conversion.module.inputs), MeasureSettings()
        )
        assert result.measurement.status == "ok", result.measurement
        found.append(result.outputs)
    for shared, inlined in zip(*found, strict=True):
        np.testing.assert_array_equal(shared, inlined)


def test_one_operator_alone_gets_a_copy(digits_model: Path, tmp_path: Path) -> None:
    plain = converted(digits_model)
    chosen = next(op for op in plain.plan.operators if "code_specialization" in op.knobs)
    rule = {"id": chosen.id, "optimization": {"code_specialization": "inlined"}}
    conversion = converted(digits_model, operators=[rule])
    copied = [op.id for op in conversion.module.operators if op.inlined]
    assert copied == [chosen.id]
    files = {file.path: file.text for file in conversion.module.files}
    with_copy = [path for path, text in files.items() if '#include "../kernels/src/' in text]
    assert len(with_copy) == 1
    assert chosen.node_id in with_copy[0]
    inputs = [np.zeros(tensor.shape, tensor.dtype) for tensor in plain.module.inputs]
    outputs = []
    for index, made in enumerate((plain, conversion)):
        folder = tmp_path / str(index)
        folder.mkdir()
        outputs.append(run_program(build_module(made, folder), made, inputs)[0])
    np.testing.assert_array_equal(*outputs)


def test_symbols_of_a_copy_are_named_after_its_operator(digits_model: Path) -> None:
    conversion = converted(digits_model, optimization={"code_specialization": "inlined"})
    operator = next(op for op in conversion.module.operators if op.inlined)
    stem = f"{conversion.module.prefix}_{operator.op_type.lower()}_{operator.node_id}"
    text = next(f.text for f in conversion.module.files if f.path == f"src/{stem}.c")
    assert operator.entry is not None
    for symbol in public_symbols(sources_for([operator.entry])):
        assert f"#define {symbol} {stem}_{symbol}\n" in text


def test_external_kernels_have_no_source_to_copy(digits_model: Path) -> None:
    external = {"module": {"kernels": "external"}}
    with pytest.raises(ConfigError) as caught:
        converted(digits_model, optimization={"code_specialization": "inlined"}, **external)
    (problem,) = caught.value.problems
    assert problem.where == "optimization.code_specialization"
    assert "no kernel sources to inline" in problem.reason

    inlined = converted(digits_model, optimization={"code_specialization": "inlined"})
    without_sources = converted(digits_model, **external)
    with pytest.raises(PlanError, match="cannot be 'inlined' here"):
        convert(without_sources.config, plan=inlined.plan)

    assert not any(op.inlined for op in without_sources.module.operators)
    alternatives = [
        alternative
        for operator in without_sources.report.operators
        for alternative in operator.alternatives.get("code_specialization", [])
    ]
    assert alternatives
    assert not any(alternative.applicable for alternative in alternatives)
