# SPDX-License-Identifier: Apache-2.0
"""What the firmware's result says about a candidate; the same for simulator and boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from helia_aot.errors import Problem
from runners.failure import CandidateFailure
from runners.firmware_result import GUARD_NAMES, FirmwareResult, MalformedResult, parse_result
from runners.image import Image
from runners.measurement import Stimulus

if TYPE_CHECKING:
    from helia_aot.api import Conversion
    from helia_aot.codegen.module import Module, ModuleTensor


def stimulus_problems(inputs: Sequence[ModuleTensor], stimulus: Stimulus) -> list[Problem]:
    """Gives a problem for every array of a stimulus that is not as the model's input.

    Args:
        inputs: Inputs of the module.
        stimulus: Arrays for them.
    """
    if len(stimulus.inputs) != len(inputs):
        reason = f"{len(stimulus.inputs)} arrays for {len(inputs)} inputs"
        return [Problem("stimulus", reason)]
    return [
        Problem(
            f"input_{index}",
            f"is {array.dtype} {list(array.shape)}, the model's input is {tensor.dtype} "
            f"{list(tensor.shape)}",
        )
        for index, (tensor, array) in enumerate(zip(inputs, stimulus.inputs, strict=True))
        if array.shape != tensor.shape or array.dtype != np.dtype(tensor.dtype)
    ]


def read_result(dump: bytes, image: Image, module: Module) -> FirmwareResult:
    """Gives the firmware's result.

    Args:
        dump: The bytes at ``helia_result``, then those at ``helia_outputs``.
        image: What ran.
        module: What the image was built from.

    Raises:
        CandidateFailure: ``unknown``, if it cannot be read or comes from another image.
    """
    output_bytes = sum(tensor.size_bytes for tensor in module.outputs)
    try:
        return parse_result(dump, build_id=image.build_id, output_bytes=output_bytes)
    except MalformedResult as error:
        raise CandidateFailure(
            "unknown", "result", f"the firmware's result cannot be read: {error}"
        ) from error


def check_result(result: FirmwareResult, conversion: Conversion, image: Image) -> None:
    """Passes only a result of complete, repeatable runs.

    Args:
        result: What the firmware says.
        conversion: What was measured.
        image: What ran; names the place of a fault.

    Raises:
        CandidateFailure: With what the firmware reports.
    """
    if result.status == "ok":
        _check_repeated(result, conversion)
        return
    if result.status == "bad_stimulus":
        raise CandidateFailure("rig_bad", "run", "the stimulus did not reach the firmware")
    if result.status == "running":
        raise CandidateFailure("unknown", "result", "the firmware ended in the middle of a run")
    operator = _operator_name(result.failed_operator, conversion.module)
    if result.status == "fault":
        raise fault_failure(result.fault, image, operator)
    reasons = {
        "wrong_layout": "the module's inputs, outputs or operators are not those of the conversion",
        "init_failed": f"init returned {result.detail}",
        "run_failed": f"run returned {result.detail}",
        "guard_broken": f"the module wrote past {GUARD_NAMES.get(result.detail, 'a buffer')}",
    }
    evidence = {"detail": result.detail, "operator": operator}
    raise CandidateFailure("plan_bad", "run", reasons[result.status], evidence)


def fault_failure(fault: Mapping[str, int], image: Image, operator: str | None) -> CandidateFailure:
    """Gives the failure of a candidate that faulted.

    Args:
        fault: The fault registers by name, and the stacked ``pc``, 0 if there is none.
        image: What ran.
        operator: Id of the operator that ran; None if not known.
    """
    registers = {name: f"0x{value:08x}" for name, value in fault.items()}
    pc = fault["pc"]
    place = image.function_at(pc) if pc else None
    kind = fault_kind(fault["cfsr"])
    evidence = {**registers, "place": place, "operator": operator}
    where = f" at {place}" if place else ""
    return CandidateFailure("plan_bad", "run", f"fault{where}: {kind}", evidence)


def fault_kind(cfsr: int) -> str:
    """Gives the causes in a Configurable Fault Status Register (Armv8-M reference manual).

    Args:
        cfsr: The register.
    """
    bits = {
        0: "instruction access violation",
        1: "data access violation",
        3: "memory fault on return from an exception",
        4: "memory fault while stacking",
        5: "memory fault while saving floating-point state",
        8: "instruction bus error",
        9: "precise data bus error",
        10: "imprecise data bus error",
        11: "bus error on return from an exception",
        12: "bus error while stacking",
        13: "bus error while saving floating-point state",
        16: "undefined instruction",
        17: "invalid state",
        18: "invalid return from an exception",
        19: "no coprocessor",
        20: "stack overflow",
        24: "unaligned access",
        25: "division by zero",
    }
    causes = [text for bit, text in bits.items() if cfsr >> bit & 1]
    return ", ".join(causes) or "no cause recorded"


def _operator_name(index: int, module: Module) -> str | None:
    return module.operators[index].id if 0 <= index < len(module.operators) else None


def _check_repeated(result: FirmwareResult, conversion: Conversion) -> None:
    """A model without state must compute the same each time; one with state need not."""
    stateful = any(arena.role == "persistent" for arena in conversion.memory_plan.arenas)
    if result.differing_runs and not stateful:
        reason = f"the outputs changed in {result.differing_runs} of {result.runs} runs"
        raise CandidateFailure("plan_bad", "run", reason)


def decode_outputs(data: bytes, tensors: Sequence[ModuleTensor]) -> tuple[NDArray[Any], ...]:
    """Gives the outputs in the model's own types and shapes.

    Args:
        data: All outputs, one after another, little-endian.
        tensors: Outputs of the module.
    """
    outputs: list[NDArray[Any]] = []
    offset = 0
    for tensor in tensors:
        dtype = np.dtype(tensor.dtype)
        part = data[offset : offset + tensor.size_bytes]
        array = np.frombuffer(part, dtype.newbyteorder("<")).astype(dtype)
        outputs.append(array.reshape(tensor.shape))
        offset += tensor.size_bytes
    return tuple(outputs)
