# SPDX-License-Identifier: Apache-2.0
"""The bundled kernels against a kernel library of yours: modelled cycles of each MLPerf Tiny layer and of whole models.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/kernel_library.py --kernels FILE [--core cortex-m55 | cortex-m4] [MODEL.tflite ...]

``FILE`` is YAML of the form of ``runner.kernels`` in a campaign; its relative paths are looked up beside it::

    dialect: cmsis-nn
    version: 7.0.0
    includes: [CMSIS-NN/Include]
    sources: [CMSIS-NN/Source]

Both libraries are compiled with the same compiler and flags. Both modules have the same settings, run on the same inputs, and must
give the same outputs, which are compared with the recorded ones where those exist. Layers are timed in a run with the
callback, whole models in one without. Without models it takes the five int8 models of MLPerf Tiny. Cycles come from the
simulator's timing model and are no silicon measurements.

Ratio: cycles with the external library over cycles with the bundled one; above 1 the bundled kernels are faster. The
last lines name every layer where they are not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from golden import golden_samples  # noqa: E402

from helia_aot.api import convert  # noqa: E402
from helia_aot.config.convert import ConvertConfig  # noqa: E402
from helia_aot.frontend.tflite.reader import read_model  # noqa: E402
from helia_aot.ir.graph import Graph, Operator  # noqa: E402
from helia_aot.platforms.registry import load_platform  # noqa: E402
from runners.base import MeasureSettings  # noqa: E402
from runners.kernel_library import (  # noqa: E402
    KernelLibrary,
    kernel_library_version,
    read_library,
)
from runners.measure import random_stimulus  # noqa: E402
from runners.measurement import MeasurementResult, Stimulus  # noqa: E402
from runners.simulator.simulator import SimulatorRunner  # noqa: E402

MODELS: Final = REPOSITORY.parent / "shared" / "models"
NAMES: Final = {
    "KWS": "kws_ref_model",
    "VWW": "vww_96_int8",
    "IC": "pretrainedResnet_quant",
    "AD": "ad01_int8",
    "SWW": "str_ww_ref_model",
}
PLATFORMS: Final = {"cortex-m55": "apollo510_evb", "cortex-m4": "apollo4p_evb"}
SETTINGS: Final = MeasureSettings(warmups=1, repeats=1, per_operator=True)


@dataclass(frozen=True)
class Row:
    """One layer, or one model as a whole.

    Attributes:
        name: What it is, with its shapes.
        macs: Multiply-accumulates.
        entries: Entries of the bundled and of the external library; empty for a model.
        cycles: Modelled cycles with each.
    """

    name: str
    macs: int
    entries: tuple[str, ...]
    cycles: tuple[int, int]

    @property
    def ratio(self) -> float:
        """External over bundled."""
        return self.cycles[1] / self.cycles[0]


class Comparison:
    """The same models with both libraries on one core.

    Args:
        core: A key of ``PLATFORMS``.
        library: The external library.
    """

    def __init__(self, core: str, library: KernelLibrary) -> None:
        self._platform = load_platform(PLATFORMS[core])
        self._runners = [
            SimulatorRunner(self._platform),
            SimulatorRunner(self._platform, kernels=library),
        ]
        external = {"kernels": "external", "dialect": library.dialect}
        self._modules: list[dict[str, str]] = [{}, external]

    def rows(self, path: Path, short_name: str) -> list[Row]:
        """Measures one model; its layers come first, the whole model last."""
        results, golden = [], None
        graph = read_model(path).graph
        for runner, module in zip(self._runners, self._modules, strict=True):
            config = {
                "model": {"path": path},
                "platform": {"name": self._platform.name},
                "module": module,
            }
            conversion = convert(ConvertConfig.model_validate(config))
            stimulus, golden = _stimulus(path, conversion.module)
            result = runner.measure(conversion, stimulus, SETTINGS)
            if result.measurement.status != "ok":
                raise SystemExit(f"{path.name}: {result.measurement.reason}")
            results.append(result)
        _check_outputs(path, results, golden)
        measurements = [result.measurement for result in results]
        operators = {operator.node_id: operator for operator in graph.operators}
        rows = [
            Row(
                f"{short_name} {_shapes(graph, operators[layer.node_id])}",
                layer.macs,
                (bundled.entry or "-", external.entry or "-"),
                (bundled.cycles, external.cycles),
            )
            for layer, bundled, external in zip(
                conversion.module.operators,
                *(measurement.operator_cycles for measurement in measurements),
                strict=True,
            )
            if layer.entry
        ]
        cycles = measurements[0].best_cycles, measurements[1].best_cycles
        return [*rows, Row(f"{short_name}, whole model", sum(row.macs for row in rows), (), cycles)]


def _stimulus(path: Path, module: Any) -> tuple[Stimulus, list[NDArray[Any]] | None]:
    """Gives the first recorded sample of a model, else random inputs and None."""
    if not (path.parent / f"{path.stem}.golden.npz").exists():
        return random_stimulus(module.inputs), None
    counts = len(module.inputs), len(module.outputs)
    inputs, outputs = golden_samples(path.parent, path.stem, *counts)[0]
    return Stimulus(tuple(inputs)), outputs


def _check_outputs(
    path: Path, results: list[MeasurementResult], golden: list[NDArray[Any]] | None
) -> None:
    """Ends the benchmark unless both libraries compute what is recorded, or else the same."""
    wanted = results[0].outputs if golden is None else golden
    for result, name in zip(results, ("bundled", "external"), strict=True):
        if not all(map(np.array_equal, result.outputs, wanted)):
            raise SystemExit(f"{path.name}: the {name} kernels compute other outputs")


def _shapes(graph: Graph, operator: Operator) -> str:
    """Gives the type with filter, stride and shapes, e.g. ``CONV_2D 3x3 s2, 96x96x3 -> 48x48x8``."""
    tensors = [graph.tensor(name) for name in (operator.inputs[0], operator.outputs[0]) if name]
    parts = [operator.op_type]
    options = operator.attributes
    if hasattr(options, "stride_h"):
        is_pool = hasattr(options, "filter_h")
        size = (
            (options.filter_h, options.filter_w)
            if is_pool
            else graph.tensor(operator.inputs[1]).shape[1:3]
        )
        parts.append("x".join(map(str, size)))
        strides = {options.stride_h, options.stride_w}
        if strides != {1}:
            parts.append("s" + "x".join(map(str, sorted(strides))))
    source, output = ("x".join(map(str, tensor.shape[1:] or tensor.shape)) for tensor in tensors)
    return f"{' '.join(parts)}, {source} -> {output}"


def lines(core: str, rows: list[Row]) -> Iterator[Table | str]:
    """Gives the table of a core, and what it says about layers where the bundled kernels are not faster."""
    table = Table(title=f"{core}: modelled cycles (timing model, not silicon)")
    for column in ("layer", "MACs", "bundled entry", "external entry", "bundled", "external", "ratio"):  # fmt: skip
        is_text = column == "layer" or column.endswith("entry")
        table.add_column(column, justify="left" if is_text else "right", no_wrap=True)
    for row in rows:
        cycles = (f"{count:,}" for count in row.cycles)
        table.add_row(
            row.name, f"{row.macs:,}", *(row.entries or ("", "")), *cycles, f"{row.ratio:.2f}"
        )
        if not row.entries:
            table.add_section()
    yield table
    layers = [row for row in rows if row.entries]
    slower = [row for row in layers if row.cycles[0] >= row.cycles[1]]
    yield f"{core}: the bundled kernels need fewer cycles on {len(layers) - len(slower)} of {len(layers)} layers"
    for row in slower:
        excess = row.cycles[0] - row.cycles[1]
        yield f"  {excess:,} cycles more ({excess / row.cycles[1]:.1%}): {row.name}"


def read_kernels(path: Path) -> KernelLibrary:
    """Reads the description of a kernel library."""
    return KernelLibrary.model_validate(yaml.safe_load(path.read_text("utf-8"))).beside(path.parent)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--kernels", type=Path, required=True, metavar="FILE")
    parser.add_argument("--core", choices=PLATFORMS)
    arguments = parser.parse_args()
    library = read_kernels(arguments.kernels)
    paths = [(path.stem, path) for path in arguments.models] or [
        (name, path) for name, stem in NAMES.items() if (path := MODELS / f"{stem}.tflite").exists()
    ]
    console = Console(width=180, highlight=False)
    console.print(f"bundled: {kernel_library_version()}")
    console.print(kernel_library_version(read_library(library)))
    for core in [arguments.core] if arguments.core else PLATFORMS:
        comparison = Comparison(core, library)
        rows = [row for name, path in paths for row in comparison.rows(path, name)]
        for line in lines(core, rows):
            console.print(line)


if __name__ == "__main__":
    main()
