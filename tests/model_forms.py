# SPDX-License-Identifier: Apache-2.0
"""Odd but legal forms of ``.tflite`` files: what converters, optimizers and people write, beyond the plain form.

Each form is a small plain model in which the flatbuffer's tables are then edited by the schema's own classes
(``ai_edge_litert.schema_py_generated``). :data:`CONVERTED` are compiled and give what the interpreters give; :data:`REFUSED`
end with the stated error.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

import flatbuffers
import numpy as np
from random_operators import Case
from required import litert_schema
from tflite_models import ACTIVATIONS, ModelBuilder

from helia_aot.errors import HeliaError, ModelError, UnsupportedModelError


def case_of(name: str, model: ModelBuilder, inputs: list[int], outputs: list[int]) -> Case:
    """Gives a model with full-range int8 inputs, or small float ones."""
    limits = tuple(
        (-4.0, 4.0) if model.tensors[x].dtype == "float32" else _limits(model.tensors[x].dtype)
        for x in inputs
    )
    return Case(name, "model", "host", model, tuple(inputs), tuple(outputs), limits, 1)


def _limits(dtype: str) -> tuple[float, float]:
    return (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype != "bool" else (0, 1)


def network() -> tuple[ModelBuilder, list[int], list[int]]:
    """Two layers and a sum: constants, a bias, a branch."""
    rng = np.random.default_rng(1)
    model = ModelBuilder()
    x = model.tensor((1, 5, 4, 3), scale=0.1, zero_point=3, name="x")
    filters = rng.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)
    bias = np.arange(4, dtype=np.int32) * 100
    a = model.conv_2d(x, filters, bias, filter_scale=0.01, scale=0.4, zero_point=2, name="a")
    weights = rng.integers(-127, 128, (1, 3, 3, 4)).astype(np.int8)
    b = model.depthwise_conv_2d(
        a,
        weights,
        np.zeros(4, np.int32),
        filter_scale=[0.01] * 4,
        scale=0.4,
        zero_point=-7,
        name="b",
    )
    y = model.add(a, b, scale=0.7, zero_point=1, activation="relu", name="y")
    return model, [x], [y]


MICRO: Final = ("TFLite Micro",)
LITERT: Final = ("LiteRT",)


def edited(edit: Callable[[Any], None], refused_by: tuple[str, ...] = ()) -> Case:
    """Gives the network with its tables edited."""
    case = case_of("network", *network())
    return replace(case, file=_edited(case.data, edit), refused_by=refused_by)


def _edited(data: bytes, edit: Callable[[Any], None]) -> bytes:
    model = litert_schema().ModelT.InitFromPackedBuf(data, 0)
    edit(model)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def rename(*names: bytes | None) -> Callable[[Any], None]:
    """Gives tensors new names, in turns."""

    def edit(model: Any) -> None:
        for i, tensor in enumerate(model.subgraphs[0].tensors):
            tensor.name = names[i % len(names)]

    return edit


def dynamic_batch(model: Any) -> None:
    for tensor in model.subgraphs[0].tensors:
        if len(tensor.shape) == 4 and tensor.buffer == 0:
            tensor.shapeSignature = [-1, *tensor.shape[1:]]


def unknown_batch(model: Any) -> None:
    for tensor in model.subgraphs[0].tensors:
        if len(tensor.shape) == 4 and tensor.buffer == 0:
            tensor.shape = [-1, *tensor.shape[1:]]


def two_subgraphs(model: Any) -> None:
    other = deepcopy(model.subgraphs[0])
    other.name = b"other"
    model.subgraphs.append(other)


def signatures(model: Any) -> None:
    schema = litert_schema()
    model.signatureDefs = []
    for key in (b"serving_default", b"train"):
        signature = schema.SignatureDefT()
        signature.signatureKey, signature.subgraphIndex = key, 0
        signature.inputs, signature.outputs = [], []
        for ends, index in ((signature.inputs, 0), (signature.outputs, 8)):
            ends.append(schema.TensorMapT())
            ends[-1].name, ends[-1].tensorIndex = b"t", index
        model.signatureDefs.append(signature)


def metadata(model: Any) -> None:
    schema = litert_schema()
    buffer = schema.BufferT()
    buffer.data = list(b"1.14.0\0\0")
    model.buffers.append(buffer)
    entry = schema.MetadataT()
    entry.name, entry.buffer = b"min_runtime_version", len(model.buffers) - 1
    model.metadata = [entry]
    model.metadataBuffer = [len(model.buffers) - 1]


def unused_tensors(model: Any) -> None:
    tensors = model.subgraphs[0].tensors
    for fields in ({"shape": []}, {"shape": [0]}, {"shape": [-1, 7], "type": 5}, {"type": 13}):
        tensor = deepcopy(tensors[0])
        tensor.name = b"unused"
        for field, value in fields.items():
            setattr(tensor, field, value)
        tensors.append(tensor)


def shared_buffers(model: Any) -> None:
    """Both filters have nine times four numbers, and the biases four: one buffer for each pair."""
    tensors = model.subgraphs[0].tensors
    biases = [t for t in tensors if t.type == 2 and len(t.shape) == 1]
    biases[1].buffer = biases[0].buffer


def buffer_of_its_own(model: Any) -> None:
    """Computed tensors that name an empty buffer of their own, as converters write them."""
    schema = litert_schema()
    for tensor in model.subgraphs[0].tensors:
        if tensor.buffer == 0:
            model.buffers.append(schema.BufferT())
            tensor.buffer = len(model.buffers) - 1


def without_description(model: Any) -> None:
    model.description = None
    model.subgraphs[0].name = None


def hostile_description(model: Any) -> None:
    model.description = "*/ #error \\\n??/ /* é \x00 \u202e".encode()


def old_codes(model: Any) -> None:
    """As writers before the schema's version 3a: only the old field."""
    for code in model.operatorCodes:
        code.builtinCode = 0


def few_scales(model: Any) -> None:
    """Zero points left out, which are 0 then."""
    for tensor in model.subgraphs[0].tensors:
        if tensor.buffer and tensor.quantization is not None:
            tensor.quantization.zeroPoint = None


def with_ranges(model: Any) -> None:
    for tensor in model.subgraphs[0].tensors:
        if tensor.quantization is not None:
            tensor.quantization.min, tensor.quantization.max = [-1.0], [1.0]


def unused_code(model: Any) -> None:
    code = deepcopy(model.operatorCodes[0])
    code.builtinCode, code.deprecatedBuiltinCode, code.customCode = 32, 32, b"Nothing"
    model.operatorCodes.append(code)


def outside(change: int = 0) -> Case:
    """Moves the filters behind the flatbuffer, as models of more than two gigabytes are written."""
    case = case_of("network", *network())
    plain = litert_schema().ModelT.InitFromPackedBuf(case.data, 0)
    index = plain.subgraphs[0].tensors[1].buffer
    payload = bytes(bytearray(plain.buffers[index].data))

    def edit(model: Any, offset: int) -> None:
        model.buffers[index].data = None
        model.buffers[index].offset, model.buffers[index].size = offset, len(payload) + change

    size = len(_edited(case.data, lambda model: edit(model, 2)))
    end = -(-size // 16) * 16
    data = _edited(case.data, lambda model: edit(model, end))
    assert len(data) == size
    return replace(case, file=data.ljust(end, b"\0") + payload)


def small(build: Callable[[ModelBuilder], tuple[list[int], list[int]]]) -> Case:
    """Gives a model of a few operators."""
    model = ModelBuilder()
    inputs, outputs = build(model)
    return case_of("small", model, inputs, outputs)


def _tensor(model: ModelBuilder, shape: tuple[int, ...], **fields: Any) -> int:
    return model.tensor(shape, scale=0.1, zero_point=3, **fields)


def reshape_only(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x = _tensor(model, (1, 4, 6))
    return [x], [model.reshape(x, (2, 12))]


def reshape_by_option(model: ModelBuilder) -> tuple[list[int], list[int]]:
    """The new shape is an option, and there is no second input."""
    x, y = _tensor(model, (1, 4, 6)), _tensor(model, (2, 12))
    model.operator("RESHAPE", [x], [y])
    return [x], [y]


def to_scalar(model: ModelBuilder) -> tuple[list[int], list[int]]:
    """The new shape is an empty constant: a scalar."""
    x, y = _tensor(model, (1, 1)), _tensor(model, ())
    model.operator(
        "RESHAPE", [x, model.constant(np.zeros(0, np.int32))], [y], ("ReshapeOptions", {})
    )
    z = model.tensor((), scale=0.2, zero_point=-1)
    model.operator("ADD", [y, y], [z], ("AddOptions", {}))
    return [x], [z]


def scalars(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, row = _tensor(model, ()), _tensor(model, (1, 5))
    y, z = _tensor(model, ()), _tensor(model, (1, 5))
    model.operator("RELU", [x], [y])
    model.operator("ADD", [row, y], [z], ("AddOptions", {}))
    return [x, row], [y, z]


def output_is_an_input(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = _tensor(model, (1, 5)), _tensor(model, (1, 5))
    model.operator("RELU", [x], [y])
    return [x], [y, x]


def output_twice(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = _tensor(model, (1, 5)), _tensor(model, (1, 5))
    model.operator("RELU", [x], [y])
    return [x], [y, y]


def output_read_twice(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y, z = (_tensor(model, (1, 5)) for _ in range(3))
    model.operator("RELU", [x], [y])
    model.operator("ADD", [y, y], [z], ("AddOptions", {}))
    w = model.reshape(y, (5, 1))
    return [x], [y, z, w]


def unused_input(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = _tensor(model, (1, 5)), _tensor(model, (1, 5))
    model.operator("RELU", [x], [y])
    return [x, _tensor(model, (3, 3))], [y]


def unread_output(model: ModelBuilder) -> tuple[list[int], list[int]]:
    """One part of a SPLIT is neither read nor an output; another operator computes what nobody reads."""
    x = _tensor(model, (1, 6))
    parts = [_tensor(model, (1, 3)) for _ in range(2)]
    model.operator("SPLIT", [model.constant(np.array(1, np.int32)), x], parts, ("SplitOptions", {"NumSplits": 2}))  # fmt: skip
    model.operator("RELU", [x], [_tensor(model, (1, 6))])
    return [x], parts[:1]


def no_operators(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x = _tensor(model, (1, 5))
    return [x], [x]


def absent_bias(model: ModelBuilder) -> tuple[list[int], list[int]]:
    """An absent bias is written as -1 or left out."""
    rng = np.random.default_rng(2)
    x = _tensor(model, (2, 6))
    outputs = []
    for tail in ([-1], []):
        weights = model.constant(rng.integers(-127, 128, (3, 6)).astype(np.int8), scale=0.01)
        y = _tensor(model, (2, 3))
        options = ("FullyConnectedOptions", {"FusedActivationFunction": ACTIVATIONS["relu6"]})
        model.operator("FULLY_CONNECTED", [x, weights, *tail], [y], options)
        outputs.append(y)
    return [x], outputs


def every_activation(model: ModelBuilder) -> tuple[list[int], list[int]]:
    rng = np.random.default_rng(2)
    x = _tensor(model, (2, 4, 4, 2))
    filters = rng.integers(-127, 128, (3, 2, 2, 2)).astype(np.int8)
    outputs = [
        model.conv_2d(
            x, filters, np.zeros(3, np.int32), filter_scale=0.01, scale=0.1, zero_point=3, activation=activation
        )
        for activation in ACTIVATIONS
    ]  # fmt: skip
    return [x], outputs


def constant_of_no_operator(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = _tensor(model, (1, 5)), _tensor(model, (1, 5))
    model.operator("RELU", [x], [y])
    fixed = model.constant(np.arange(4, dtype=np.int8), scale=0.5)
    return [x], [y, fixed]


def computed_constant(model: ModelBuilder) -> tuple[list[int], list[int]]:
    """An output that follows from constants alone."""
    x, y = _tensor(model, (1, 5)), _tensor(model, (1, 5))
    model.operator("RELU", [x], [y])
    fixed = model.constant(np.arange(-4, 4, dtype=np.int8), scale=0.1, zero_point=3)
    z = _tensor(model, (8,))
    model.operator("RELU", [fixed], [z])
    return [x], [y, z]


def all_axes_missing(model: ModelBuilder) -> tuple[list[int], list[int]]:
    """A sum along no axis: the axes are an empty constant."""
    x, y = _tensor(model, (2, 5)), _tensor(model, (2, 5))
    axes = model.constant(np.zeros(0, np.int32))
    model.operator("REDUCE_MAX", [x, axes], [y], ("ReducerOptions", {"KeepDims": True}))
    return [x], [y]


def empty_tensor(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = _tensor(model, (0, 5)), _tensor(model, (0, 5))
    model.operator("RELU", [x], [y])
    return [x], [y]


def passed_through(model: ModelBuilder) -> tuple[list[int], list[int]]:
    """An input that no operator reads is an output."""
    x, z, y = (_tensor(model, (1, 5)) for _ in range(3))
    model.operator("RELU", [x], [y])
    return [x, z], [y, z]


def same_shape_only(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x = _tensor(model, (1, 5))
    return [x], [model.reshape(x, (1, 5))]


def input_twice(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = _tensor(model, (1, 5)), _tensor(model, (1, 5))
    model.operator("RELU", [x], [y])
    return [x, x], [y]


def constant_input(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = _tensor(model, (1, 5)), _tensor(model, (1, 5))
    fixed = model.constant(np.arange(5, dtype=np.int8).reshape(1, 5), scale=0.1, zero_point=3)
    model.operator("ADD", [x, fixed], [y], ("AddOptions", {}))
    return [x, fixed], [y]


def no_inputs(model: ModelBuilder) -> tuple[list[int], list[int]]:
    fixed = model.constant(np.arange(-4, 4, dtype=np.int8), scale=0.1, zero_point=3)
    y = _tensor(model, (8,))
    model.operator("RELU", [fixed], [y])
    return [], [y]


def sparse(model: Any) -> None:
    schema = litert_schema()
    sparsity = schema.SparsityParametersT()
    sparsity.traversalOrder, sparsity.blockMap, sparsity.dimMetadata = [0, 1, 2, 3], [], []
    for size in model.subgraphs[0].tensors[1].shape:
        sparsity.dimMetadata.append(schema.DimensionMetadataT())
        sparsity.dimMetadata[-1].denseSize = size
    model.subgraphs[0].tensors[1].sparsity = sparsity


def fused(activation: int) -> Callable[[Any], None]:
    def edit(model: Any) -> None:
        model.subgraphs[0].operators[0].builtinOptions.fusedActivationFunction = activation

    return edit


def other_axis(model: Any) -> None:
    """Scales along the columns of a depthwise filter that has four channels and three columns."""
    quantization = model.subgraphs[0].tensors[4].quantization
    quantization.quantizedDimension, quantization.scale, quantization.zeroPoint = (
        2,
        [0.01] * 3,
        [0] * 3,
    )


def more_scales(model: Any) -> None:
    quantization = model.subgraphs[0].tensors[4].quantization
    quantization.scale, quantization.zeroPoint = [0.01] * 5, [0] * 5


def scales_of_activations(model: Any) -> None:
    quantization = model.subgraphs[0].tensors[3].quantization
    quantization.scale, quantization.zeroPoint, quantization.quantizedDimension = (
        [0.1] * 4,
        [0] * 4,
        3,
    )


def custom(model: Any) -> None:
    code = model.operatorCodes[0]
    code.builtinCode = code.deprecatedBuiltinCode = 32
    code.customCode = "Détection_*/".encode()


def old_bytes(model: Any) -> None:
    for tensor in model.subgraphs[0].tensors:
        if tensor.type == 9:
            tensor.type = 3


def no_subgraph(model: Any) -> None:
    model.subgraphs = []


def no_tables(model: Any) -> None:
    """Fields that may be absent and are read as empty."""
    graph = model.subgraphs[0]
    graph.outputs = None


def other_version(model: Any) -> None:
    model.version = 4


def wide_bias(model: Any) -> None:
    """A bias that has no quantization."""
    for tensor in model.subgraphs[0].tensors:
        if tensor.type == 2:
            tensor.quantization = None


def everything_wrong(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y, z = (_tensor(model, (1, 5)) for _ in range(3))
    model.operator("ATAN2", [x, x], [y])
    model.operator("RFFT2D", [y], [z])
    return [x], [z]


LONG: Final = ("layer/" * 200).encode()
NAMES: Final[dict[str, tuple[bytes | None, ...]]] = {
    "no names": (None,),
    "empty names": (b"",),
    "one name for all": (b"same",),
    "very long names": (LONG, LONG + b"1"),
    "names in other scripts": ("слой/入力/é".encode(), "🙂".encode(), b"a"),
    "names that are no text": (b"\xff\xfe\x00name", b"\x80"),
    "names that end comments": (b'*/ #error "\\', b"/* // ??/", b'"quoted" %s \n new line', b"\\"),
    "names of C and of modules": (b"int", b"main", b"m0_model_run", b"0", b"#1", b"@0", b"0:@1"),
}

CONVERTED: Final[dict[str, Callable[[], Case]]] = {
    **{name: (lambda names=names: edited(rename(*names))) for name, names in NAMES.items()},
    "a dynamic batch": lambda: edited(dynamic_batch),
    "two subgraphs": lambda: edited(two_subgraphs),
    "two signatures": lambda: edited(signatures),
    "metadata": lambda: edited(metadata),
    "unused tensors": lambda: edited(unused_tensors, MICRO),
    "shared buffers": lambda: edited(shared_buffers),
    "empty buffers": lambda: edited(buffer_of_its_own),
    "no description": lambda: edited(without_description),
    "a description that ends comments": lambda: edited(hostile_description),
    "old operator codes": lambda: edited(old_codes),
    "no zero points": lambda: edited(few_scales, MICRO),
    "ranges beside scales": lambda: edited(with_ranges),
    "an unused operator code": lambda: edited(unused_code),
    "constants outside the flatbuffer": lambda: replace(outside(), refused_by=MICRO),
    "no quantization of biases": lambda: edited(wide_bias),
    "a shape in the options": lambda: replace(small(reshape_by_option), refused_by=LITERT),
    **{
        build.__name__.replace("_", " "): (lambda build=build: small(build))
        for build in (
            reshape_only,
            to_scalar,
            scalars,
            output_is_an_input,
            output_twice,
            output_read_twice,
            unused_input,
            unread_output,
            passed_through,
            same_shape_only,
            input_twice,
            absent_bias,
            every_activation,
            computed_constant,
            all_axes_missing,
        )
    },
}

REFUSED: Final[dict[str, tuple[Callable[[], Case], type[HeliaError], tuple[str, ...]]]] = {
    "an unknown batch": (lambda: edited(unknown_batch), UnsupportedModelError, ("not static",)),
    "a tensor without elements": (lambda: small(empty_tensor), UnsupportedModelError, ("[0, 5], which has no elements",)),
    "two unknown operators": (lambda: small(everything_wrong), UnsupportedModelError, ("ATAN2", "RFFT2D")),
    "constants beyond the file": (lambda: outside(1), ModelError, ("buffer 1", "are not in the file")),
    "no operators": (lambda: small(no_operators), UnsupportedModelError, ("it has no operator",)),
    "no inputs": (lambda: small(no_inputs), UnsupportedModelError, ("it has no input",)),
    "a constant as output": (lambda: small(constant_of_no_operator), UnsupportedModelError, ("output 1 of the model", "it is a constant")),
    "a constant as input": (lambda: small(constant_input), UnsupportedModelError, ("input 1 of the model", "it is a constant")),
    "sparse weights": (lambda: edited(sparse), ModelError, ("stored sparsely",)),
    "a fused TANH": (lambda: edited(fused(4)), UnsupportedModelError, ("TANH",)),
    "a fused SIGN_BIT": (lambda: edited(fused(5)), UnsupportedModelError, ("SIGN_BIT",)),
    "scales along columns": (lambda: edited(other_axis), UnsupportedModelError, ("3 scales along dimension 2",)),
    "more scales than channels": (lambda: edited(more_scales), UnsupportedModelError, ("5 scales along dimension 3",)),
    "scales of activations by channel": (lambda: edited(scales_of_activations), UnsupportedModelError, ("quantized per channel",)),
    "a custom operator": (lambda: edited(custom), UnsupportedModelError, ("CUSTOM(Détection_*/)",)),
    "bytes of the old kind": (lambda: edited(old_bytes), UnsupportedModelError, ("uint8",)),
    "no subgraph": (lambda: edited(no_subgraph), ModelError, ("0 subgraph",)),
    "no outputs": (lambda: edited(no_tables), UnsupportedModelError, ("it has no output",)),
    "another schema version": (lambda: edited(other_version), ModelError, ("schema version 4",)),
}  # fmt: skip
"""Forms that are refused: the error, and what its text says."""
