# SPDX-License-Identifier: Apache-2.0
"""Calls of CMSIS-NN in place of those of ns-cmsis-nn: what differs, and what CMSIS-NN has not.

Names, argument lists and the meaning of the fully connected layers' buffer are the public interface of CMSIS-NN 7.0.0
(``Include/arm_nnfunctions.h``). Convolutions go through its wrappers, which choose a kernel themselves.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from helia_aot.operators.convolution import GENERAL as CONVOLVE
from helia_aot.operators.convolution import WRAPPER as CONVOLVE_WRAPPER
from helia_aot.operators.depthwise import WRAPPER as DEPTHWISE_WRAPPER
from helia_aot.operators.library_buffers import extents, with_checked_buffer
from helia_aot.operators.spec import Argument, KernelCall, LoweredOperator, Target

FLOOR: Final = "7.0.0"
"""The release whose interface modules are written for."""

_ELEMENT_WISE: Final = {
    "arm_add_s16": "arm_elementwise_add_s16",
    "arm_mul_s8": "arm_elementwise_mul_s8",
    "arm_mul_s16": "arm_elementwise_mul_s16",
}
"""Entries that broadcast -> those that take equal shapes only."""

_RENAMED: Final = {
    "arm_convolve_s16": "arm_convolve_wrapper_s16",
    "arm_depthwise_conv_s16": "arm_depthwise_conv_wrapper_s16",
}

_EXTREMA: Final = frozenset({"arm_maximum_s8", "arm_minimum_s8"})

_AS_THEY_ARE: Final = frozenset(
    {
        *_EXTREMA,
        CONVOLVE,
        CONVOLVE_WRAPPER,
        DEPTHWISE_WRAPPER,
        "arm_avgpool_s16",
        "arm_avgpool_s8",
        "arm_elementwise_add_s8",
        "arm_fully_connected_per_channel_s8",
        "arm_fully_connected_s16",
        "arm_fully_connected_s8",
        "arm_max_pool_s16",
        "arm_max_pool_s8",
        "arm_reshape_s8",
        "arm_softmax_s16",
        "arm_softmax_s8",
        "arm_softmax_s8_s16",
    }
)


def cmsis_nn_reasons(low: LoweredOperator) -> list[str]:
    """Gives why CMSIS-NN cannot compute an operator, one reason for each call; empty where it can."""
    calls = (*((low.call,) if low.call else ()), *low.init)
    return [reason for call in calls if (reason := _reason(call))]


def _reason(call: KernelCall) -> str:
    if call.entry in _ELEMENT_WISE:
        if extents(call, "input1_dims") == extents(call, "input2_dims"):
            return ""
        return f"broadcasts, and {_ELEMENT_WISE[call.entry]} takes equal shapes only"
    if call.entry == "arm_add_s8":
        return "broadcasts, and arm_elementwise_add_s8 takes equal shapes only"
    if call.entry == "arm_convolve_s16" and _is_grouped(call):
        return "has groups, which arm_convolve_wrapper_s16 does not take"
    if call.entry in _EXTREMA and _has_number_per_row(call):
        return f"broadcasts one number along each row, which {call.entry} of CMSIS-NN gets wrong"
    if call.entry in _AS_THEY_ARE or call.entry in _RENAMED:
        return ""
    return f"calls {call.entry}, which CMSIS-NN does not have"


def to_cmsis_nn(low: LoweredOperator, target: Target) -> LoweredOperator:
    """Gives an operator with the call that CMSIS-NN has for it.

    Args:
        low: An operator without :func:`cmsis_nn_reasons`, lowered for a target of this dialect.
        target: The core's extensions.

    Returns:
        The operator with its buffer as large as the core's build of the library may want it, and with the check of
        that size.
    """
    if low.call is None:
        return low
    call = _without(_translated(low.call), "weight_sum_ctx")
    return with_checked_buffer(replace(low, call=call, scratch_bytes=0), target)


def _translated(call: KernelCall) -> KernelCall:
    if call.entry in _ELEMENT_WISE:
        return _element_wise(call)
    return replace(call, entry=_RENAMED.get(call.entry, call.entry))


def _element_wise(call: KernelCall) -> KernelCall:
    shapes = ("input1_dims", "input2_dims", "output_dims")
    arguments = [argument for argument in call.arguments if argument.name not in shapes]
    arguments.append(Argument("block_size", math.prod(extents(call, "output_dims"))))
    return replace(call, entry=_ELEMENT_WISE[call.entry], arguments=tuple(arguments))


def _without(call: KernelCall, name: str) -> KernelCall:
    return replace(call, arguments=tuple(a for a in call.arguments if a.name != name))


def _is_grouped(call: KernelCall) -> bool:
    return extents(call, "input_dims")[3] != extents(call, "filter_dims")[3]


def _has_number_per_row(call: KernelCall) -> bool:
    """Says whether an operand with several rows has one number for each of them, and the other has wider rows.

    Release 7.0.0 then skips every second number; every other kind of broadcasting comes out right.
    """
    first, second = extents(call, "input_1_dims"), extents(call, "input_2_dims")
    return any(
        own[1] > 1 and own[2:] == (1, 1) and other[2] > 1
        for own, other in ((first, second), (second, first))
    )
