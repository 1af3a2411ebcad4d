# SPDX-License-Identifier: Apache-2.0
"""Measures every plan of a few small spaces in the simulator and keeps them for the replay of samplers.

Run it from the repository's root; it rewrites ``results/reference/spaces/<name>.json``::

    .venv/bin/python tests/benchmarks/record_spaces.py [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from recorded_spaces import FOLDER, RecordedSpace  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from space_models import SPACE_MODELS  # noqa: E402

from helia_aot.api import convert  # noqa: E402
from helia_aot.config.convert import ConvertConfig  # noqa: E402
from helia_aot.version import __version__  # noqa: E402
from optimizer.compiler import compiler_sha256  # noqa: E402
from results.files import write_atomically  # noqa: E402
from runners.base import MeasureSettings  # noqa: E402
from runners.measure import random_stimulus  # noqa: E402
from runners.registry import create_runner  # noqa: E402
from search_spaces.build import build_space  # noqa: E402
from search_spaces.plans import apply  # noqa: E402

EXAMPLE = REPOSITORY / "examples" / "digits" / "digits_int8.tflite"


def record(name: str, folder: Path) -> RecordedSpace:
    """Measures all plans of one space."""
    path = folder / f"{name}.tflite"
    path.write_bytes(EXAMPLE.read_bytes() if name == "digits" else SPACE_MODELS[name]())
    config = ConvertConfig.model_validate({"model": {"path": path}})
    auto = convert(config)
    space = build_space(auto.plan, auto.report)
    runner = create_runner("simulator", auto.platform)
    stimulus = random_stimulus(auto.module.inputs)
    recorded = RecordedSpace(
        name=name,
        command=f"python tests/benchmarks/record_spaces.py {name}",
        compiler=f"helia-aot {__version__} {compiler_sha256()}",
        identity=runner.identity(),
        space=space,
        baseline=auto.plan,
        operators=tuple((item.id, item.op_type) for item in auto.module.operators),
        cycles=(),
        operator_cycles=(),
    )
    cycles, operator_cycles, digests = [], [], set()
    for point in track(list(recorded.points()), description=name, console=Console(stderr=True)):
        conversion = convert(config, plan=apply(auto.plan, space.choices(point)))
        measurement = runner.measure(conversion, stimulus, MeasureSettings()).measurement
        if measurement.status != "ok":
            raise SystemExit(f"{name}: {point}: {measurement.reason}")
        cycles.append(measurement.best_cycles)
        operator_cycles.append(tuple(item.cycles for item in measurement.operator_cycles))
        digests.add(measurement.outputs_sha256)
    if len(digests) != 1:
        raise SystemExit(f"{name}: plans compute different outputs")
    return recorded.model_copy(
        update={"cycles": tuple(cycles), "operator_cycles": tuple(operator_cycles)}
    )


def main() -> None:
    """Records the spaces that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=["digits", *SPACE_MODELS])
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in parser.parse_args().names:
        with tempfile.TemporaryDirectory() as folder:
            recorded = record(name, Path(folder))
        write_atomically(FOLDER / f"{name}.json", recorded.to_json())
        Console().print(f"{name}: {len(recorded.cycles)} plans, best {recorded.best_cycles:,}")


if __name__ == "__main__":
    main()
