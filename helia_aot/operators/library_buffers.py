# SPDX-License-Identifier: Apache-2.0
"""Buffers of kernels that a library of the user's brings: how much is reserved, and the question at init.

How much scratch a kernel wants depends on how its library was built, so conversion reserves the most that any build
for the core is known to want, and each module asks the library's ``*_get_buffer_size`` functions at init whether that
suffices. Sizes are those of CMSIS-NN 7.0.0 (its public ``*_get_buffer_size`` functions), which ns-cmsis-nn shares under
the same names; an entry for which that interface has no such function needs no buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from helia_aot.operators.convolution import C16, SMALL_CIN
from helia_aot.operators.convolution import GENERAL as CONVOLVE
from helia_aot.operators.convolution import WRAPPER as CONVOLVE_WRAPPER
from helia_aot.operators.depthwise import (
    DIRECT_3X3,
    DIRECT_3X3_C64_S1,
    DIRECT_CHANNELWISE,
    DIRECT_PLANAR,
    OPTIMIZED,
    optimized_scratch_bytes,
)
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

POINT: Final = "arm_convolve_1x1_s8_fast"
_POINTS: Final = (POINT, CONVOLVE_WRAPPER)

_DEPTHWISE_BLOCK_CHANNELS: Final = 124
"""Channels that the vector depthwise kernel takes at a time (``CH_IN_BLOCK_MVE``)."""


def with_checked_buffer(low: LoweredOperator, target: Target) -> LoweredOperator:
    """Gives an operator with its buffer as large as any library may want it, and with the check of that size.

    Args:
        low: An operator with the call that it will make; what it reserves already is kept where it is more.
        target: The core's extensions.

    Returns:
        The operator; itself where its kernel needs no buffer.
    """
    rule = _BUFFERS.get(low.call.entry) if low.call else None
    if low.call is None or rule is None:
        return low
    needed = rule(low.call, target)
    query = KernelCall(needed.query, needed.arguments)
    if needed.query.startswith("arm_fully_connected"):
        # The buffer is a constant: the sums that arm_vector_sum_s8 would write into it.
        size_bytes = field(argument(low.call, "ctx"), "size")
        assert isinstance(size_bytes, int)
        return replace(low, buffer_check=BufferCheck(query, size_bytes))
    size_bytes = max(needed.size_bytes, low.scratch_bytes)
    call = with_argument(
        low.call, "ctx", buffer(low.scratch_id if size_bytes else None, size_bytes)
    )
    check = BufferCheck(query, size_bytes)
    return replace(low, call=call, scratch_bytes=size_bytes, buffer_check=check)


@dataclass(frozen=True)
class _Buffer:
    """What a call needs: the function that says how much, its arguments, and an upper bound of what it says."""

    query: str
    arguments: tuple[Argument, ...]
    size_bytes: int


def _convolution(call: KernelCall, target: Target) -> _Buffer:
    names = ("conv_params", "input_dims", "filter_dims", "output_dims")
    return _buffer(call, names, _convolution_bytes(call, target))


def _general_convolution(call: KernelCall, target: Target) -> _Buffer:
    """Also for the direct entries, which have no question of their own and take the general entry's arguments."""
    names = ("input_dims", "filter_dims")
    return _buffer(call, names, _convolution_bytes(call, target), of=CONVOLVE)


def _fast_point(call: KernelCall, target: Target) -> _Buffer:
    return _buffer(call, ("input_dims",), _convolution_bytes(call, target))


def _convolution_bytes(call: KernelCall, target: Target) -> int:
    """Four int8 columns of whole vectors on a core with MVE, two int16 columns elsewhere.

    The size for one row of a 1xN filter, which has a formula of its own, is never above that.
    """
    params, (_, _, _, channels) = argument(call, "conv_params"), extents(call, "input_dims")
    _, filter_h, filter_w, _ = extents(call, "filter_dims")
    plain = pair(params, "padding") == (0, 0) and pair(params, "dilation") == (1, 1)
    if call.entry in _POINTS and (filter_h, filter_w) == (1, 1) and plain:
        # Builds with armclang for cores with DSP instructions want two int16 rows.
        is_fast = target.dsp and not target.mve and pair(params, "stride") == (1, 1)
        return 4 * channels if is_fast else 0
    column = filter_h * filter_w * channels
    return 4 * -(-column // 16) * 16 if target.mve else 4 * -(-column // 4) * 4


def _depthwise(call: KernelCall, target: Target) -> _Buffer:
    names = ("dw_conv_params", "input_dims", "filter_dims", "output_dims")
    return _buffer(call, names, _depthwise_bytes(call, target))


def _optimized_depthwise(call: KernelCall, target: Target) -> _Buffer:
    """Also for the direct entries, which have no question of their own."""
    own = optimized_scratch_bytes(
        extents(call, "input_dims")[1:3],
        extents(call, "filter_dims")[1:3],
        extents(call, "input_dims")[3],
    )
    size_bytes = max(_depthwise_bytes(call, target), own if target.mve else 0)
    return _buffer(call, ("input_dims", "filter_dims"), size_bytes, of=OPTIMIZED)


def _depthwise_bytes(call: KernelCall, target: Target) -> int:
    batches, _, _, channels = extents(call, "input_dims")
    _, filter_h, filter_w, outputs = extents(call, "filter_dims")
    params, taps, size = argument(call, "dw_conv_params"), filter_h * filter_w, 0
    is_wrapper = call.entry == DEPTHWISE_WRAPPER
    is_dilated = pair(params, "dilation") != (1, 1)
    if not is_wrapper or (channels == outputs and batches == 1 and not is_dilated):
        is_3x3 = (filter_h, filter_w) == (3, 3) and max(pair(params, "padding")) <= 1
        if target.mve:
            size = 4 * _DEPTHWISE_BLOCK_CHANNELS * taps
        elif target.dsp and not (is_wrapper and is_3x3):
            size = 2 * channels * taps
    if is_wrapper and target.mve and channels == 1:
        # Computed as a convolution, for which the filter is turned round.
        size = max(size, 4 * -(-taps // 16) * 16 + outputs * taps)
    return size


def _convolution_s16(call: KernelCall, target: Target) -> _Buffer:
    names: tuple[str, ...] = ("input_dims", "filter_dims")
    if call.entry == "arm_convolve_wrapper_s16":
        names = ("conv_params", *names, "output_dims")
    _, filter_h, filter_w, _ = extents(call, "filter_dims")
    column = filter_h * filter_w * extents(call, "input_dims")[3]
    return _buffer(call, names, 8 * -(-column // 8) * 8 if target.mve else 4 * column)


def _depthwise_s16(call: KernelCall, target: Target) -> _Buffer:
    names = ("dw_conv_params", "input_dims", "filter_dims", "output_dims")
    _, filter_h, filter_w, _ = extents(call, "filter_dims")
    column = filter_h * filter_w * extents(call, "input_dims")[3]
    return _buffer(call, names, 8 * column + 8 if target.mve else 2 * column * target.dsp)


def _average_pool(call: KernelCall, target: Target) -> _Buffer:
    _, _, width, channels = extents(call, "output_dims")
    arguments = (Argument("dim_dst_width", width), Argument("ch_src", channels))
    size_bytes = 4 * channels if target.dsp and not target.mve else 0
    return _Buffer(f"{call.entry}_get_buffer_size", arguments, size_bytes)


def _fully_connected(call: KernelCall, target: Target) -> _Buffer:
    """No scratch: where the library wants some, the question at init finds out."""
    del target
    of = call.entry.replace("_per_channel_s8", "_s8")
    return _buffer(call, ("filter_dims",), 0, of=of)


_BUFFERS: Final[Mapping[str, Callable[[KernelCall, Target], _Buffer]]] = {
    CONVOLVE: _general_convolution,
    SMALL_CIN: _general_convolution,
    C16: _general_convolution,
    "arm_convolve_1x1_out_s8": _general_convolution,
    "arm_convolve_1_x_n_s8": _convolution,
    POINT: _fast_point,
    CONVOLVE_WRAPPER: _convolution,
    OPTIMIZED: _optimized_depthwise,
    DIRECT_3X3: _optimized_depthwise,
    DIRECT_3X3_C64_S1: _optimized_depthwise,
    DIRECT_CHANNELWISE: _optimized_depthwise,
    DIRECT_PLANAR: _optimized_depthwise,
    DEPTHWISE_WRAPPER: _depthwise,
    "arm_convolve_s16": _convolution_s16,
    "arm_convolve_wrapper_s16": _convolution_s16,
    "arm_depthwise_conv_wrapper_s16": _depthwise_s16,
    "arm_avgpool_s16": _average_pool,
    "arm_avgpool_s8": _average_pool,
    "arm_fully_connected_per_channel_s16": _fully_connected,
    "arm_fully_connected_per_channel_s8": _fully_connected,
    "arm_fully_connected_s16": _fully_connected,
    "arm_fully_connected_s8": _fully_connected,
}


def _buffer(
    call: KernelCall, names: tuple[str, ...], size_bytes: int, of: str | None = None
) -> _Buffer:
    """Gives what a call needs; ``of`` is the entry whose question it is, where that is another one."""
    arguments = tuple(Argument(name, argument(call, name)) for name in names)
    return _Buffer(f"{of or call.entry}_get_buffer_size", arguments, size_bytes)


def argument(call: KernelCall, name: str) -> Value:
    """Gives the value of one argument of a call."""
    return next(argument.value for argument in call.arguments if argument.name == name)


def with_argument(call: KernelCall, name: str, value: Value) -> KernelCall:
    """Gives a call with another value of one argument."""
    arguments = tuple(replace(a, value=value) if a.name == name else a for a in call.arguments)
    return replace(call, arguments=arguments)


def field(value: Value, name: str) -> Value:
    """Gives a field of a structure."""
    assert isinstance(value, Struct)
    return dict(value.fields)[name]


def _numbers(value: Value, names: tuple[str, ...]) -> tuple[int, ...]:
    numbers = [field(value, name) for name in names]
    return tuple(number for number in numbers if isinstance(number, int))


def extents(call: KernelCall, name: str) -> tuple[int, ...]:
    """Gives batches, height, width and channels of an argument that is ``cmsis_nn_dims``."""
    return _numbers(argument(call, name), ("n", "h", "w", "c"))


def pair(params: Value, name: str) -> tuple[int, ...]:
    """Gives height and width of a field that is ``cmsis_nn_tile``."""
    return _numbers(field(params, name), ("h", "w"))
