# SPDX-License-Identifier: Apache-2.0
"""Compares drawn models, compiled for the host, with TFLite Micro and with LiteRT.

Every model is a file, a conversion and a module of its own; many modules are compiled as one program, because starting a
compiler costs more than compiling a small module. Kernels are compiled once.

TFLite Micro is the reference: integers are equal bit by bit. LiteRT is a second opinion with kernels of its own. Its builds
round once where TFLite Micro rounds twice (multiply to 64 bits, then one rounding shift), so an integer of it may be one
step off for the operators of :data:`ONCE_ROUNDED`; all others are exact there too. In a network of several operators one
step can grow, so networks are compared with LiteRT only where each of their operators is exact. Floats differ by the order
of additions, within a part of the largest magnitude (:data:`FLOAT_TOLERANCE`).
"""

from __future__ import annotations

import subprocess
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from host_kernels import STRICT, compiler, kernel_objects
from random_operators import Case
from required import litert_interpreter, tflite_micro_runtime

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import HeliaError

FLOAT_TOLERANCE: Final = {"model": 1e-5, "float16": 1e-2}
"""Of an output's largest magnitude or 1, whichever is larger; by ``model.precision``."""
KERNEL_PREFIX: Final = "shared"

_WIDE: Final = ("int64", "uint8", "bool")
_RARE: Final = ("int32", *_WIDE)
_EVERY: Final = ("int8", "int16", "int32", "int64", "uint8", "bool", "float32", "float16")
_FLOATS: Final = ("float32", "float16")


def _pairs(table: dict[str, Sequence[str]]) -> frozenset[str]:
    return frozenset(f"{op_type} {dtype}" for op_type, types in table.items() for dtype in types)


MICRO_LACKS: Final = _pairs(
    {
        "ARG_MAX": ["int16"],
        "ARG_MIN": ["int16"],
        "BATCH_TO_SPACE_ND": ["int16", *_RARE],
        "CAST": ["uint8", "int64"],
        "CONCATENATION": ["uint8"],
        "DEPTH_TO_SPACE": ["int16", *_RARE],
        "DEQUANTIZE": ["float16"],
        "DYNAMIC_UPDATE_SLICE": _WIDE,
        "EMBEDDING_LOOKUP": ["int16", *_RARE],
        "EXP": ["int8"],
        "EXPAND_DIMS": _RARE,
        "FILL": ["int16", *_WIDE],
        "FLOOR_DIV": ["int32"],
        "FLOOR_MOD": ["int32"],
        "GATHER": ["int16", *_RARE],
        "GATHER_ND": ["int16", *_RARE],
        "GELU": ["int8", *_FLOATS],
        "LOG": ["int8"],
        "MIRROR_PAD": ["int16", *_RARE],
        "NEG": ["int8"],
        "PACK": ["uint8", "bool"],
        "PAD": _WIDE,
        "PADV2": _WIDE,
        "RANK": _EVERY,
        "REDUCE_ANY": ["bool"],
        "REDUCE_MAX": ["int16"],
        "REDUCE_MIN": ["int16"],
        "RELU_N1_TO_1": ["int8", "int16", *_FLOATS],
        "RESIZE_NEAREST_NEIGHBOR": _RARE,
        "SELECT": _EVERY,
        "SELECT_V2": _RARE,
        "SLICE": ["int64", "uint8"],
        "SPACE_TO_BATCH_ND": ["int16", *_RARE],
        "SPACE_TO_DEPTH": ["int16", *_RARE],
        "SPLIT": _WIDE,
        "SPLIT_V": _WIDE,
        "SQRT": ["int8"],
        "STRIDED_SLICE": ["int64", "uint8"],
        "TILE": _EVERY,
        "TRANSPOSE": _RARE,
        "UNPACK": _WIDE,
        "ZEROS_LIKE": ["int16", "uint8", "bool"],
    }
)
"""Operators and types that TFLite Micro does not run."""
OTHERWISE_IN_MICRO: Final = _pairs({"SPACE_TO_BATCH_ND": ["int8", *_FLOATS]})
"""Operators that TFLite Micro computes otherwise: its padding is whatever the memory held."""
LITERT_LACKS: Final = _pairs(
    {
        "ADD_N": ["int8"],
        "ARG_MAX": ["int16"],
        "ARG_MIN": ["int16"],
        "CUMSUM": ["int8"],
        "DEPTH_TO_SPACE": ["int16", "bool"],
        "PACK": ["bool"],
        "RELU_N1_TO_1": ["int16"],
        "RESIZE_NEAREST_NEIGHBOR": ["int64"],
        "SPACE_TO_DEPTH": ["int16", "bool"],
        "SPLIT": ["bool"],
        "SPLIT_V": ["bool"],
        "SQUARED_DIFFERENCE": ["int16"],
        "SVDF": ["int8"],  # an int8 state ends the process
        "UNIDIRECTIONAL_SEQUENCE_LSTM": ["int8", "int16"],  # another form of operands
        "UNPACK": ["int64"],
        "ZEROS_LIKE": ["int8", "int16", "uint8", "bool"],
    }
)
"""Operators and types that LiteRT does not run."""
ONCE_ROUNDED: Final = frozenset(
    {"ABS", "DIV", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "LEAKY_RELU", "MUL", "PRELU", "RELU", "RELU6", "RELU_N1_TO_1", "SOFTMAX"}
)  # fmt: skip
"""Operators of whose integers LiteRT may be one step off."""
OTHERWISE_IN_LITERT: Final[frozenset[str]] = frozenset({"RSQRT int16", "SUM int8", "SUM int16"})
"""Operators that LiteRT computes by another formula, so that there is nothing to compare."""
NOT_IN_REFERENCE_KERNELS: Final = frozenset({"CEIL", "ELU", "ROUND"})
"""Operators that LiteRT has in its optimized set only."""


def micro_outputs(case: Case) -> list[list[np.ndarray]]:
    """Gives what TFLite Micro computes for each sample, one after the other."""
    data = case.plain if "TFLite Micro" in case.refused_by else case.data
    interpreter = tflite_micro_runtime().Interpreter.from_bytes(data, arena_size=1 << 23)
    runs = []
    for sample in case.samples:
        for position, array in enumerate(sample):
            interpreter.set_input(array, position)
        interpreter.invoke()
        runs.append([np.array(interpreter.get_output(i)) for i in range(len(case.outputs))])
    return runs


def litert_outputs(case: Case) -> list[list[np.ndarray]]:
    """Gives what LiteRT computes for each sample, one after the other."""
    reference = not case.op_types() & NOT_IN_REFERENCE_KERNELS
    interpreter = litert_interpreter(case.data, reference_kernels=reference)
    interpreter.allocate_tensors()
    runs = []
    for sample in case.samples:
        for detail, array in zip(interpreter.get_input_details(), sample, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        details = interpreter.get_output_details()
        runs.append([interpreter.get_tensor(detail["index"]) for detail in details])
    return runs


def litert_steps(case: Case) -> int | None:
    """Gives how many steps LiteRT's integers may be away; None where LiteRT has nothing to say."""
    if case.name in LITERT_LACKS | OTHERWISE_IN_LITERT or "LiteRT" in case.refused_by:
        return None
    convolutions = [o for o in case.model.operators if o.op_type == "CONV_2D"]
    if any(len(o.inputs) < 3 for o in convolutions):
        return None  # its reference kernel needs a bias
    if not case.op_types() & ONCE_ROUNDED:
        return 0
    return 1 if len(case.model.operators) == 1 else None


class Programs:
    """Converts models, compiles them together and runs them on the host.

    Args:
        folder: Where modules and programs go.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        (folder / "kernels").mkdir()
        self._objects: dict[str, Path] = {}

    def failures(self, cases: Sequence[Case], names: Sequence[str] = ()) -> dict[int, str]:
        """Compares every model with its references.

        Args:
            cases: The models.
            names: Names of the files; by default one that fits.

        Returns:
            Why a model fails, by its position; models that pass are left out.
        """
        found: dict[int, str] = {}
        built: dict[int, Conversion] = {}
        for position, case in enumerate(cases):
            name = names[position] if names else f"m{position}.tflite"
            try:
                built[position] = self._converted(case, f"m{position}", self._folder / name)
            except HeliaError as error:
                found[position] = f"refused: {error}"
            except Exception:
                found[position] = traceback.format_exc()
        outputs = self._run(built, cases)
        for position, got in outputs.items():
            reason = got if isinstance(got, str) else difference(cases[position], got)
            if reason:
                found[position] = reason
        return dict(sorted(found.items()))

    def failure(self, case: Case) -> str:
        """Says why one model fails; empty where it passes."""
        return self.failures([case]).get(0, "")

    def _converted(self, case: Case, name: str, path: Path) -> Conversion:
        path.write_bytes(case.data)
        config = {
            "model": {"path": path, "precision": case.precision},
            "platform": {"name": case.platform},
            "module": {"prefix": name, "name": name, "kernel_prefix": KERNEL_PREFIX},
        }
        return convert(ConvertConfig.model_validate(config))

    def _run(
        self, built: dict[int, Conversion], cases: Sequence[Case]
    ) -> dict[int, list[list[np.ndarray]] | str]:
        """Gives each model's outputs for every sample, or how its run ended."""
        if not built:
            return {}
        program = self._compiled(built)
        results: dict[int, list[list[np.ndarray]] | str] = {}
        left = list(built)
        while left:
            data = b"".join(self._input(built[p], cases[p]) for p in left)
            command = [str(program), str(left[0])]
            ended = subprocess.run(command, input=data, capture_output=True, check=False)
            offset = 0
            while left and offset + self._size(built[left[0]], cases[left[0]]) <= len(ended.stdout):
                position = left.pop(0)
                results[position], offset = self._outputs(
                    built[position], cases[position], ended.stdout, offset
                )
            if left:  # the program ended inside a model: it fails, and the others go on after it
                results[left.pop(0)] = f"exit {ended.returncode}: {ended.stderr.decode()[-3000:]}"
        return results

    def _compiled(self, built: dict[int, Conversion]) -> Path:
        self._count += 1
        root = self._folder / f"batch{self._count}"
        parts, needed = [], set[str]()
        for position, conversion in built.items():
            sources = self._written(root, conversion)
            parts.append(_part(position, conversion, sources))
            needed |= {
                f"kernels/src/{name}"
                for name in conversion.module.kernel_sources
                if name.endswith(".c")
            }
        self._compile_kernels(sorted(needed - set(self._objects)))
        (root / "all.c").write_text("\n".join([_HEAD, *parts, _main(list(built))]))
        subprocess.run([compiler(), *_FLAGS, "-c", "all.c"], cwd=root, check=True)
        command = [
            compiler(),
            *STRICT,
            "all.o",
            *(str(self._objects[name]) for name in sorted(needed)),
            "-o",
            "program",
        ]
        subprocess.run(command, cwd=root, check=True)
        return root / "program"

    def _written(self, root: Path, conversion: Conversion) -> list[str]:
        """Writes a module's own files, and the kernels, which are the same for all, where all find them."""
        sources = []
        (root / conversion.module.name).mkdir(parents=True)
        (root / conversion.module.name / "kernels").symlink_to(self._folder / "kernels")
        for file in conversion.module.files:
            place = file.path.split("/")[0]
            if place not in ("src", "includes-api", "kernels"):
                continue
            path = root / conversion.module.name / file.path
            if place != "kernels" or not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.content)
            if place == "src" and path.suffix == ".c":
                sources.append(f"{conversion.module.name}/{file.path}")
        return sources

    def _compile_kernels(self, names: Sequence[str]) -> None:
        objects = kernel_objects([self._folder / name for name in names])
        self._objects |= dict(zip(names, objects, strict=True))

    @staticmethod
    def _input(conversion: Conversion, case: Case) -> bytes:
        """Gives the samples in the types that the module reads."""
        return b"".join(
            array.astype(tensor.dtype).tobytes()
            for sample in case.samples
            for array, tensor in zip(sample, conversion.module.inputs, strict=True)
        )

    @staticmethod
    def _size(conversion: Conversion, case: Case) -> int:
        return len(case.samples) * sum(t.size_bytes for t in conversion.module.outputs)

    @staticmethod
    def _outputs(
        conversion: Conversion, case: Case, data: bytes, offset: int
    ) -> tuple[list[list[np.ndarray]], int]:
        runs = []
        for _ in case.samples:
            outputs = []
            for tensor in conversion.module.outputs:
                chunk = data[offset : offset + tensor.size_bytes]
                outputs.append(np.frombuffer(chunk, tensor.dtype).reshape(tensor.shape))
                offset += tensor.size_bytes
            runs.append(outputs)
        return runs, offset


_FLAGS: Final = ("-std=c11", "-O0", "-Wall", "-Wextra", "-Werror", "-fsanitize=address")
"""Of the modules' own files, which only hold data and call kernels: arenas are watched, arithmetic is in the kernels."""
_HEAD: Final = """
#include <stdio.h>
#include <stdlib.h>
"""
_LOCAL_NAMES: Final = ("operator_function_t", "operator_entry_t", "schedule", "notify")
"""What a module's files name for themselves; modules in one file need names of their own."""
_PART: Final = """
static {p}_model_context_t {p}_context;

static int run_{p}(void)
{{
    if ({p}_model_init(&{p}_context) != {p}_status_ok) {{
        return 1;
    }}
    for (int sample = 0; sample < {samples}; sample++) {{
        for (int i = 0; i < (int){p}_num_inputs; i++) {{
            if (fread({p}_context.inputs[i].data, 1, {p}_context.inputs[i].size, stdin) != {p}_context.inputs[i].size) {{
                return 2;
            }}
        }}
        if ({p}_model_run(&{p}_context) != {p}_status_ok) {{
            return 3;
        }}
        for (int i = 0; i < (int){p}_num_outputs; i++) {{
            fwrite({p}_context.outputs[i].data, 1, {p}_context.outputs[i].size, stdout);
        }}
    }}
    return fflush(stdout);
}}
"""


def _part(position: int, conversion: Conversion, sources: Sequence[str]) -> str:
    p = conversion.module.prefix
    names = [f"#define {name} {name}_{position}" for name in _LOCAL_NAMES]
    undone = [f"#undef {name}" for name in _LOCAL_NAMES]
    includes = [f'#include "{path}"' for path in sources]
    return "\n".join([*names, *includes, *undone, _PART.format(p=p, samples=3)])


def _main(positions: Sequence[int]) -> str:
    """Runs the models from a position on, and stops at the first that fails."""
    steps = "".join(
        f"    if (status == 0 && first <= {p}) {{ status = run_m{p}(); }}\n" for p in positions
    )
    return f"int main(int argc, char **argv)\n{{\n    const int first = argc > 1 ? atoi(argv[1]) : 0;\n    int status = 0;\n{steps}    return status;\n}}\n"  # fmt: skip


def difference(case: Case, got: Sequence[Sequence[np.ndarray]]) -> str:
    """Says where a model's outputs are not its references'; empty where they agree.

    Args:
        case: The model.
        got: The outputs of the first samples.
    """
    checks: list[tuple[str, Sequence[Sequence[np.ndarray]], int]] = []
    try:
        if case.name not in MICRO_LACKS | OTHERWISE_IN_MICRO and not _is_rescaled(case):
            checks.append(("TFLite Micro", micro_outputs(case), 0))
        steps = litert_steps(case)
        if steps is not None:
            checks.append(("LiteRT", litert_outputs(case), steps))
    except (RuntimeError, ValueError, MemoryError) as error:
        return f"an interpreter refuses it: {error}"
    if not checks:
        return "no interpreter runs it"
    found = [
        f"sample {number}, output {place}, {name}: {reason}"
        for name, wanted, allowed in checks
        for number, (ours, theirs) in enumerate(zip(got, wanted, strict=False))
        for place, pair in enumerate(zip(ours, theirs, strict=True))
        if (reason := _apart(*pair, allowed, FLOAT_TOLERANCE[case.precision]))
    ]
    return "\n".join(found)


def _is_rescaled(case: Case) -> bool:
    """Says whether a clamp has an output scale of its own: TFLite Micro minds that for RELU only."""
    tensors = case.model.tensors
    clamps = [o for o in case.model.operators if o.op_type in ("RELU6", "RELU_N1_TO_1")]
    ends = [(tensors[o.inputs[0]], tensors[o.outputs[0]]) for o in clamps]
    return any((a.scale, a.zero_point) != (b.scale, b.zero_point) for a, b in ends)


def _apart(ours: np.ndarray, theirs: np.ndarray, steps: int, tolerance: float) -> str:
    """Says how two arrays differ by more than a number of steps, or floats by more than a part; empty if they do not."""
    if ours.shape != theirs.shape:
        return f"shapes {ours.shape} and {theirs.shape}"
    if theirs.dtype.kind != "f" and ours.dtype != theirs.dtype:
        return f"types {ours.dtype} and {theirs.dtype}"
    if not ours.size:
        return ""
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    limit: float = steps
    if theirs.dtype.kind == "f":
        limit = tolerance * max(1.0, float(np.abs(b).max()))
    away = np.abs(a - b)
    wrong = ~(away <= limit)
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} elements differ by up to {away.max():g}; {list(at)} is {ours[at]}, not {theirs[at]}"  # fmt: skip
