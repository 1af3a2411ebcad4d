# SPDX-License-Identifier: Apache-2.0
"""Builds a generated module with the host's C compiler and runs it: numerics without a target."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from host_kernels import STRICT, compiler, kernel_objects

from helia_aot.api import Conversion, write_module

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
    sources = [*sorted(module.glob("src/*.c")), main]
    objects = kernel_objects(sorted(module.glob("kernels/src/*.c")))
    program = folder / "program"
    command = [compiler(), *STRICT, f"-I{module}/includes-api", *map(str, [*sources, *objects])]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


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
