# SPDX-License-Identifier: Apache-2.0
"""The options of each operator family, as the reader decodes them and the operators read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Activation = Literal["NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"]
"""Fused activation functions of TFLite."""

Padding = Literal["SAME", "VALID"]


@dataclass(frozen=True)
class ConvolutionAttributes:
    """Options of CONV_2D and DEPTHWISE_CONV_2D.

    Attributes:
        padding: Padding scheme.
        stride_h: Vertical step in input rows.
        stride_w: Horizontal step in input columns.
        dilation_h: Vertical distance of filter taps.
        dilation_w: Horizontal distance of filter taps.
        activation: Fused activation.
        depth_multiplier: Outputs for each input channel; 1 for CONV_2D.
    """

    padding: Padding
    stride_h: int
    stride_w: int
    dilation_h: int
    dilation_w: int
    activation: Activation
    depth_multiplier: int = 1


@dataclass(frozen=True)
class PoolAttributes:
    """Options of AVERAGE_POOL_2D and MAX_POOL_2D."""

    padding: Padding
    stride_h: int
    stride_w: int
    filter_h: int
    filter_w: int
    activation: Activation


@dataclass(frozen=True)
class FullyConnectedAttributes:
    """Options of FULLY_CONNECTED.

    Attributes:
        activation: Fused activation.
        keep_num_dims: Whether the output keeps the leading dimensions of the input.
        shuffled_weights: Whether the weights are in TFLite's shuffled format, which is not supported.
    """

    activation: Activation
    keep_num_dims: bool
    shuffled_weights: bool


@dataclass(frozen=True)
class BinaryAttributes:
    """Options of element-wise operators with two inputs."""

    activation: Activation


@dataclass(frozen=True)
class SoftmaxAttributes:
    """Options of SOFTMAX."""

    beta: float


@dataclass(frozen=True)
class ReshapeAttributes:
    """Options of RESHAPE; the output tensor's shape says all that is needed."""
