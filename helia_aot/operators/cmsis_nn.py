# SPDX-License-Identifier: Apache-2.0
"""Calls of CMSIS-NN in place of those of ns-cmsis-nn: what differs, and what CMSIS-NN has not.

Names, argument lists, buffer sizes and the meaning of the fully connected layers' buffer are the public interface of
CMSIS-NN 7.0.0 (``Include/arm_nnfunctions.h`` and the ``*_get_buffer_size`` functions). Convolutions go through its
wrappers, which choose a kernel themselves. The sizes of buffers are reserved by conversion and depend on how the
library was built, so each module asks the library at init whether they suffice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from helia_aot.operators.convolution import GENERAL as CONVOLVE
from helia_aot.operators.convolution import WRAPPER as CONVOLVE_WRAPPER
from helia_aot.operators.depthwise import WRAPPER as DEPTHWISE_WRAPPER
from helia_aot.operators.spec import (
    Argument,
    BufferCheck,
    KernelCall,
    LoweredOperator,
    Struct,
    Target,
    Value,
    buffer,
)

FLOOR: Final = "7.0.0"
"""The release whose interface modules are written for."""

_DEPTHWISE_BLOCK_CHANNELS: Final = 124
"""Channels that the vector depthwise kernel takes at a time (``CH_IN_BLOCK_MVE``)."""

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
        if _dims(call, "input1_dims") == _dims(call, "input2_dims"):
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
    rule = _BUFFERS.get(call.entry)
    if rule is None:
        return replace(low, call=call)
    needed = rule(call, target)
    if "fully_connected" in call.entry:
        # The buffer is a constant: the sums that arm_vector_sum_s8 would write into it.
        size_bytes, scratch_bytes = _field(_argument(call, "ctx"), "size"), 0
        assert isinstance(size_bytes, int)
    else:
        size_bytes = scratch_bytes = needed.size_bytes
        ctx = buffer(low.scratch_id if scratch_bytes else None, scratch_bytes)
        call = _with(call, "ctx", ctx)
    query = KernelCall(needed.query, needed.arguments)
    return replace(
        low, call=call, scratch_bytes=scratch_bytes, buffer_check=BufferCheck(query, size_bytes)
    )


def _translated(call: KernelCall) -> KernelCall:
    if call.entry in _ELEMENT_WISE:
        return _element_wise(call)
    return replace(call, entry=_RENAMED.get(call.entry, call.entry))


def _element_wise(call: KernelCall) -> KernelCall:
    extents = _dims(call, "output_dims")
    shapes = ("input1_dims", "input2_dims", "output_dims")
    arguments = [argument for argument in call.arguments if argument.name not in shapes]
    arguments.append(Argument("block_size", math.prod(extents)))
    return replace(call, entry=_ELEMENT_WISE[call.entry], arguments=tuple(arguments))


@dataclass(frozen=True)
class _Buffer:
    """What a call needs: the function that says how much, its arguments, and an upper bound of what it says."""

    query: str
    arguments: tuple[Argument, ...]
    size_bytes: int


def _convolution(call: KernelCall, target: Target) -> _Buffer:
    names: tuple[str, ...] = ("conv_params", "input_dims", "filter_dims", "output_dims")
    if call.entry == CONVOLVE:
        names = ("input_dims", "filter_dims")
    return _buffer(call, names, _convolution_bytes(call, target))


def _convolution_bytes(call: KernelCall, target: Target) -> int:
    """Four int8 columns of whole vectors on a core with MVE, two int16 columns elsewhere.

    The size for one row of a 1xN filter, which has a formula of its own, is never above that.
    """
    params, (_, _, _, channels) = _argument(call, "conv_params"), _dims(call, "input_dims")
    _, filter_h, filter_w, _ = _dims(call, "filter_dims")
    plain = _tile(params, "padding") == (0, 0) and _tile(params, "dilation") == (1, 1)
    if call.entry == CONVOLVE_WRAPPER and (filter_h, filter_w) == (1, 1) and plain:
        # Builds with armclang for cores with DSP instructions want two int16 rows.
        is_fast = target.dsp and not target.mve and _tile(params, "stride") == (1, 1)
        return 4 * channels if is_fast else 0
    column = filter_h * filter_w * channels
    return 4 * -(-column // 16) * 16 if target.mve else 4 * -(-column // 4) * 4


def _depthwise(call: KernelCall, target: Target) -> _Buffer:
    names = ("dw_conv_params", "input_dims", "filter_dims", "output_dims")
    return _buffer(call, names, _depthwise_bytes(call, target))


def _depthwise_bytes(call: KernelCall, target: Target) -> int:
    batches, _, _, channels = _dims(call, "input_dims")
    _, filter_h, filter_w, outputs = _dims(call, "filter_dims")
    params, taps, size = _argument(call, "dw_conv_params"), filter_h * filter_w, 0
    if channels == outputs and batches == 1 and _tile(params, "dilation") == (1, 1):
        is_3x3 = (filter_h, filter_w) == (3, 3) and max(_tile(params, "padding")) <= 1
        if target.mve:
            size = 4 * _DEPTHWISE_BLOCK_CHANNELS * taps
        elif target.dsp and not is_3x3:
            size = 2 * channels * taps
    if target.mve and channels == 1:
        # Computed as a convolution, for which the filter is turned round.
        size = max(size, 4 * -(-taps // 16) * 16 + outputs * taps)
    return size


def _convolution_s16(call: KernelCall, target: Target) -> _Buffer:
    names = ("conv_params", "input_dims", "filter_dims", "output_dims")
    _, filter_h, filter_w, _ = _dims(call, "filter_dims")
    column = filter_h * filter_w * _dims(call, "input_dims")[3]
    return _buffer(call, names, 8 * -(-column // 8) * 8 if target.mve else 4 * column)


def _depthwise_s16(call: KernelCall, target: Target) -> _Buffer:
    names = ("dw_conv_params", "input_dims", "filter_dims", "output_dims")
    _, filter_h, filter_w, _ = _dims(call, "filter_dims")
    column = filter_h * filter_w * _dims(call, "input_dims")[3]
    return _buffer(call, names, 8 * column + 8 if target.mve else 2 * column * target.dsp)


def _average_pool(call: KernelCall, target: Target) -> _Buffer:
    _, _, width, channels = _dims(call, "output_dims")
    arguments = (Argument("dim_dst_width", width), Argument("ch_src", channels))
    size_bytes = 4 * channels if target.dsp and not target.mve else 0
    return _Buffer(f"{call.entry}_get_buffer_size", arguments, size_bytes)


def _fully_connected(call: KernelCall, target: Target) -> _Buffer:
    del target
    query = _buffer(call, ("filter_dims",), 0)
    return replace(query, query=query.query.replace("_per_channel", ""))


_BUFFERS: Final[Mapping[str, Callable[[KernelCall, Target], _Buffer]]] = {
    CONVOLVE: _convolution,
    CONVOLVE_WRAPPER: _convolution,
    DEPTHWISE_WRAPPER: _depthwise,
    "arm_convolve_wrapper_s16": _convolution_s16,
    "arm_depthwise_conv_wrapper_s16": _depthwise_s16,
    "arm_avgpool_s16": _average_pool,
    "arm_avgpool_s8": _average_pool,
    "arm_fully_connected_per_channel_s8": _fully_connected,
    "arm_fully_connected_s16": _fully_connected,
    "arm_fully_connected_s8": _fully_connected,
}


def _buffer(call: KernelCall, names: tuple[str, ...], size_bytes: int) -> _Buffer:
    arguments = tuple(Argument(name, _argument(call, name)) for name in names)
    return _Buffer(f"{call.entry}_get_buffer_size", arguments, size_bytes)


def _argument(call: KernelCall, name: str) -> Value:
    return next(argument.value for argument in call.arguments if argument.name == name)


def _with(call: KernelCall, name: str, value: Value) -> KernelCall:
    arguments = tuple(replace(a, value=value) if a.name == name else a for a in call.arguments)
    return replace(call, arguments=arguments)


def _without(call: KernelCall, name: str) -> KernelCall:
    return replace(call, arguments=tuple(a for a in call.arguments if a.name != name))


def _field(value: Value, name: str) -> Value:
    assert isinstance(value, Struct)
    return dict(value.fields)[name]


def _numbers(value: Value, names: tuple[str, ...]) -> tuple[int, ...]:
    numbers = [_field(value, name) for name in names]
    return tuple(number for number in numbers if isinstance(number, int))


def _dims(call: KernelCall, name: str) -> tuple[int, ...]:
    return _numbers(_argument(call, name), ("n", "h", "w", "c"))


def _tile(params: Value, name: str) -> tuple[int, ...]:
    return _numbers(_field(params, name), ("h", "w"))


def _is_grouped(call: KernelCall) -> bool:
    return _dims(call, "input_dims")[3] != _dims(call, "filter_dims")[3]


def _has_number_per_row(call: KernelCall) -> bool:
    """Says whether an operand with several rows has one number for each of them, and the other has wider rows.

    Release 7.0.0 then skips every second number; every other kind of broadcasting comes out right.
    """
    first, second = _dims(call, "input_1_dims"), _dims(call, "input_2_dims")
    return any(
        own[1] > 1 and own[2:] == (1, 1) and other[2] > 1
        for own, other in ((first, second), (second, first))
    )
