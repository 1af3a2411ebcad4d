# SPDX-License-Identifier: Apache-2.0
"""Sizes and padding of sliding windows, as TFLite defines them."""

from __future__ import annotations

from dataclasses import dataclass

from helia_aot.ir.attributes import (
    ConvolutionAttributes,
    ExplicitPadding,
    Padding,
    PoolAttributes,
)


@dataclass(frozen=True)
class Window:
    """A two-dimensional sliding window over NHWC data.

    Attributes:
        batches: Images.
        in_h: Input rows.
        in_w: Input columns.
        filter_h: Window rows.
        filter_w: Window columns.
        stride_h: Vertical step.
        stride_w: Horizontal step.
        dilation_h: Vertical distance of taps.
        dilation_w: Horizontal distance of taps.
        out_h: Output rows.
        out_w: Output columns.
        pad_h: Rows of padding above; those below follow from the sizes.
        pad_w: Columns of padding on the left.
    """

    batches: int
    in_h: int
    in_w: int
    filter_h: int
    filter_w: int
    stride_h: int
    stride_w: int
    dilation_h: int
    dilation_w: int
    out_h: int
    out_w: int
    pad_h: int
    pad_w: int

    @property
    def is_dilated(self) -> bool:
        """Whether taps are further than one apart."""
        return self.dilation_h != 1 or self.dilation_w != 1


def window(
    attributes: ConvolutionAttributes | PoolAttributes,
    input_shape: tuple[int, ...],
    filter_h: int,
    filter_w: int,
) -> Window:
    """Computes the window of a convolution or a pool over an NHWC input."""
    dilation_h = getattr(attributes, "dilation_h", 1)
    dilation_w = getattr(attributes, "dilation_w", 1)
    batches, in_h, in_w, _ = input_shape
    rows, columns = _by_axis(attributes.padding)
    out_h, pad_h = _axis(rows, in_h, (filter_h - 1) * dilation_h + 1, attributes.stride_h)
    out_w, pad_w = _axis(columns, in_w, (filter_w - 1) * dilation_w + 1, attributes.stride_w)
    return Window(
        batches=batches,
        in_h=in_h,
        in_w=in_w,
        filter_h=filter_h,
        filter_w=filter_w,
        stride_h=attributes.stride_h,
        stride_w=attributes.stride_w,
        dilation_h=dilation_h,
        dilation_w=dilation_w,
        out_h=out_h,
        out_w=out_w,
        pad_h=pad_h,
        pad_w=pad_w,
    )


_AxisPadding = Padding | tuple[int, int]


def _by_axis(padding: Padding | ExplicitPadding) -> tuple[_AxisPadding, _AxisPadding]:
    """Gives the padding of rows and of columns, explicit ones as (before, after)."""
    if isinstance(padding, ExplicitPadding):
        return (padding.top, padding.bottom), (padding.left, padding.right)
    return padding, padding


def _axis(padding: _AxisPadding, size: int, extent: int, stride: int) -> tuple[int, int]:
    if isinstance(padding, tuple):
        before, after = padding
        return (size + before + after - extent) // stride + 1, before
    out = -(-size // stride) if padding == "SAME" else (size - extent + stride) // stride
    return out, max(0, ((out - 1) * stride + extent - size) // 2)


def stride_padding(padding: Padding, size: int, extent: int, stride: int) -> int:
    """Gives the padding before a dimension of ``size`` that a window of ``extent`` walks with a stride."""
    return _axis(padding, size, extent, stride)[1]
