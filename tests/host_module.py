# SPDX-License-Identifier: Apache-2.0
"""Builds a generated module with the host's C compiler and runs it: numerics without a target."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from helia_aot.api import Conversion, write_module

STRICT = (
    "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)  # fmt: skip

HOST_PROGRAM = """
#include "{p}_model.h"
#include <stdio.h>

static {p}_model_context_t ctx;

int main(void)
{{
    if ({p}_model_init(&ctx) != {p}_status_ok) {{
        return 1;
    }}
    do {{
        for (int i = 0; i < (int){p}_num_inputs; i++) {{
            const size_t bytes = fread(ctx.inputs[i].data, 1, ctx.inputs[i].size, stdin);
            if (bytes == 0 && i == 0 && feof(stdin)) {{
                return 0;
            }}
            if (bytes != ctx.inputs[i].size) {{
                return 2;
            }}
        }}
        if ({p}_model_run(&ctx) != {p}_status_ok) {{
            return 3;
        }}
        for (int i = 0; i < (int){p}_num_outputs; i++) {{
            fwrite(ctx.outputs[i].data, 1, ctx.outputs[i].size, stdout);
        }}
    }} while ({p}_num_inputs > 0);
    return 0;
}}
"""


def build_module(conversion: Conversion, folder: Path) -> Path:
    """Writes a module and builds a program that reads the inputs and writes the outputs."""
    module = write_module(conversion, folder / conversion.module.name)
    main = folder / "main.c"
    main.write_text(HOST_PROGRAM.format(p=conversion.module.prefix))
    command = [host_compiler(), *STRICT, f"-I{module}/includes-api"]
    sources = map(str, sorted(module.glob("src/*.c")))
    kernels = map(str, kernel_objects(module))
    program = folder / "program"
    subprocess.run([*command, *sources, *kernels, str(main), "-o", str(program)], check=True)
    return program


def host_compiler() -> str:
    """Gives the host's C compiler."""
    compiler = shutil.which("cc")
    assert compiler, "a host C compiler is needed"
    return compiler


def kernel_objects(module: Path) -> list[Path]:
    """Gives the kernels of a written module, each compiled once for the same text and prefix."""
    folder = Path(tempfile.gettempdir()) / f"helia-module-tests-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    objects = []
    for source in sorted(module.glob("kernels/src/*.c")):
        digest = hashlib.sha256("\0".join(STRICT).encode())
        for path in _with_includes(source):
            digest.update(path.name.encode() + path.read_bytes())
        unit = folder / f"{digest.hexdigest()[:32]}.o"
        if not unit.exists():
            partial = unit.with_suffix(f".{os.getpid()}")
            command = [host_compiler(), *STRICT, "-c", str(source), "-o", str(partial)]
            subprocess.run(command, check=True)
            partial.replace(unit)  # whole or not at all
        objects.append(unit)
    return objects


def _with_includes(source: Path) -> list[Path]:
    """Gives a source and every file of the module that it includes, directly or not."""
    found = [source.resolve()]
    for path in found:  # grows on the way
        for name in re.findall(r'^ *# *include "(.+)"', path.read_text(), re.MULTILINE):
            included = (path.parent / name).resolve()
            if included not in found and included.is_file():
                found.append(included)
    return found


def run_program(
    program: Path, conversion: Conversion, inputs: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Runs a built module once on inputs of the model's own types and shapes."""
    (outputs,) = run_sequence(program, conversion, [inputs])
    return outputs


def run_sequence(
    program: Path, conversion: Conversion, samples: Sequence[Sequence[np.ndarray]]
) -> list[list[np.ndarray]]:
    """Initialises a built module once and runs it for each sample; gives the outputs of every run."""
    data = b"".join(np.ascontiguousarray(array).tobytes() for inputs in samples for array in inputs)
    raw = subprocess.run([str(program)], input=data, capture_output=True, check=True).stdout
    runs, offset = [], 0
    for _ in samples:
        outputs = []
        for tensor in conversion.module.outputs:
            chunk = raw[offset : offset + tensor.size_bytes]
            outputs.append(np.frombuffer(chunk, tensor.dtype).reshape(tensor.shape))
            offset += tensor.size_bytes
        runs.append(outputs)
    assert offset == len(raw)
    return runs
