# SPDX-License-Identifier: Apache-2.0
"""The transforms by name, as plain data: configuration, schema and documents read them from here.

:mod:`helia_aot.transforms.registry` binds each to its code. They run in this order, and all are on by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class TransformDeclaration:
    """What is said about a transform.

    Attributes:
        name: How configurations name it.
        text: What it does, in one sentence.
        needed_because: Why it cannot be switched off; empty when it can.
    """

    name: str
    text: str
    needed_because: str = ""


DECLARATIONS: Final = (
    TransformDeclaration(
        "inline_control_flow",
        "IF becomes both branches and a choice, WHILE as many rounds as constants tell.",
        needed_because="no kernel runs another subgraph",
    ),
    TransformDeclaration(
        "resolve_variables",
        "Resource variables become tensors that keep values.",
        needed_because="no kernel takes a handle of a variable",
    ),
    TransformDeclaration(
        "fold_shapes", "SHAPE, RANK and ZEROS_LIKE of a static tensor become constants."
    ),
    TransformDeclaration("fold_constants", "Small computations on constants become constants."),
    TransformDeclaration(
        "unpack_int4",
        "int4 constants become int8 constants.",
        needed_because="the kernels read whole bytes",
    ),
    TransformDeclaration("fold_dequantize", "DEQUANTIZE of a constant becomes a float32 constant."),
    TransformDeclaration(
        "float_weights", "Integer weights of float layers become float32 constants."
    ),
    TransformDeclaration(
        "remove_identities", "Operators whose output is their input are left out."
    ),
    TransformDeclaration(
        "fuse_dilation",
        "DEPTHWISE_CONV_2D between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND becomes a dilated one.",
    ),
    TransformDeclaration("fuse_padding", "PAD becomes the padding of the layers that read it."),
    TransformDeclaration(
        "depthwise_to_convolution",
        "DEPTHWISE_CONV_2D over one channel becomes the CONV_2D that it is.",
    ),
    TransformDeclaration(
        "fuse_activations", "RELU, RELU6 and RELU_N1_TO_1 become the clamp of the layer before."
    ),
    TransformDeclaration(
        "expand_broadcasts",
        "Inputs that broadcast along more than 4 runs of dimensions are repeated by a BROADCAST_TO.",
    ),
)
"""All transforms, in order."""

NEEDED: Final = {d.name: d.needed_because for d in DECLARATIONS if d.needed_because}
"""Why transforms cannot be switched off, by name."""
