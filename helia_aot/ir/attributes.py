# SPDX-License-Identifier: Apache-2.0
"""The options of each operator family, as the reader decodes them and the operators read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Activation = Literal["NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"]
"""Fused activation functions of TFLite."""

Padding = Literal["SAME", "VALID"]


@dataclass(frozen=True)
class ExplicitPadding:
    """Rows and columns of padding on each side, as fusing a PAD gives them."""

    top: int
    bottom: int
    left: int
    right: int


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
        narrow_bias: Whether a bias that is absent counts as int32, so that int16 layers have 32-bit accumulators.
    """

    padding: Padding | ExplicitPadding
    stride_h: int
    stride_w: int
    dilation_h: int
    dilation_w: int
    activation: Activation
    depth_multiplier: int = 1
    narrow_bias: bool = False


@dataclass(frozen=True)
class PoolAttributes:
    """Options of AVERAGE_POOL_2D, L2_POOL_2D and MAX_POOL_2D."""

    padding: Padding | ExplicitPadding
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
        narrow_bias: Whether a bias that is absent counts as int32, so that int16 layers have 32-bit accumulators.
    """

    activation: Activation
    keep_num_dims: bool
    shuffled_weights: bool
    narrow_bias: bool = False


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


@dataclass(frozen=True)
class LeakyReluAttributes:
    """Options of LEAKY_RELU."""

    alpha: float


@dataclass(frozen=True)
class AxisAttributes:
    """Options of CONCATENATION, PACK, UNPACK and GATHER.

    Attributes:
        axis: The dimension; negative ones count from the end.
        activation: Fused activation; CONCATENATION only.
        batch_dims: Leading dimensions that the indices share with the data; GATHER only.
    """

    axis: int
    activation: Activation = "NONE"
    batch_dims: int = 0


@dataclass(frozen=True)
class MirrorPadAttributes:
    """Options of MIRROR_PAD; ``symmetric`` repeats the edge, reflection does not."""

    symmetric: bool


@dataclass(frozen=True)
class SliceAttributes:
    """Options of STRIDED_SLICE: one bit for each dimension in each mask."""

    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int
    offset: bool


@dataclass(frozen=True)
class GeluAttributes:
    """Options of GELU: whether it is approximated with tanh."""

    approximate: bool


@dataclass(frozen=True)
class BlockAttributes:
    """Options of SPACE_TO_DEPTH and DEPTH_TO_SPACE."""

    block: int


@dataclass(frozen=True)
class ResizeAttributes:
    """Options of RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""

    align_corners: bool
    half_pixel_centers: bool


@dataclass(frozen=True)
class ReduceAttributes:
    """Options of MEAN, SUM and the REDUCE operators."""

    keep_dims: bool


@dataclass(frozen=True)
class CumulativeSumAttributes:
    """Options of CUMSUM.

    Attributes:
        exclusive: Whether an element's own value is left out of its sum.
        reverse: Whether the sums run from the end.
    """

    exclusive: bool
    reverse: bool


@dataclass(frozen=True)
class TransposeConvolutionAttributes:
    """Options of TRANSPOSE_CONV."""

    padding: Padding
    stride_h: int
    stride_w: int
    activation: Activation


@dataclass(frozen=True)
class SvdfAttributes:
    """Options of SVDF."""

    rank: int
    activation: Activation


@dataclass(frozen=True)
class LstmAttributes:
    """Options of UNIDIRECTIONAL_SEQUENCE_LSTM.

    Attributes:
        activation: Function of the candidate cell values and of the cell state.
        cell_clip: Limit of the cell state's magnitude; 0 for none.
        proj_clip: Limit of a projection's magnitude; 0 for none.
        time_major: Whether steps come before batches in the shapes of input and output.
        diagonal: Whether the recurrent weights are diagonals.
    """

    activation: Activation
    cell_clip: float
    proj_clip: float
    time_major: bool
    diagonal: bool


@dataclass(frozen=True)
class BatchMatMulAttributes:
    """Options of BATCH_MATMUL: whether the last two dimensions of a side are swapped first."""

    adj_x: bool
    adj_y: bool


@dataclass(frozen=True)
class VariableAttributes:
    """Options of VAR_HANDLE: handles of one name stand for one variable."""

    name: str


@dataclass(frozen=True)
class CallAttributes:
    """Options of CALL_ONCE."""

    subgraph: int

    @property
    def subgraphs(self) -> tuple[int, ...]:
        """The subgraphs that it runs."""
        return (self.subgraph,)


@dataclass(frozen=True)
class BranchAttributes:
    """Options of IF.

    Attributes:
        then_subgraph: What runs where the condition holds.
        else_subgraph: What runs where it does not.
        refusal: Why the branches cannot take its place; empty until that is known.
    """

    then_subgraph: int
    else_subgraph: int
    refusal: str = ""

    @property
    def subgraphs(self) -> tuple[int, ...]:
        """The subgraphs that it runs."""
        return (self.then_subgraph, self.else_subgraph)


@dataclass(frozen=True)
class LoopAttributes:
    """Options of WHILE.

    Attributes:
        condition_subgraph: What says whether there is another round.
        body_subgraph: What one round computes.
        refusal: Why the rounds cannot take its place; empty until that is known.
    """

    condition_subgraph: int
    body_subgraph: int
    refusal: str = ""

    @property
    def subgraphs(self) -> tuple[int, ...]:
        """The subgraphs that it runs."""
        return (self.condition_subgraph, self.body_subgraph)
