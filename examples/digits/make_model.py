# SPDX-License-Identifier: Apache-2.0
"""Make the digits example: train a small DS-CNN, quantise it to int8 and record evaluation data.

Writes ``digits_int8.tflite`` and ``digits_eval.npz`` beside this file. Needs TensorFlow, which the
project itself does not: see ``README.md`` for the packages. All seeds are fixed and TensorFlow runs
deterministic kernels, so a second run on the same machine gives the same bytes; another TensorFlow
release or CPU may round the training differently.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tensorflow.lite.tools import flatbuffer_utils
from tflite_micro import runtime

SEED = 20
EPOCHS = 40
BATCH_SIZE = 32
CALIBRATION_SAMPLES = 256
STORED_SAMPLES = 200
MIN_ACCURACY = 0.95

MODEL_FILE = Path(__file__).with_name("digits_int8.tflite")
EVAL_FILE = Path(__file__).with_name("digits_eval.npz")


@dataclass(frozen=True)
class Split:
    """Images ``(N, 16, 16, 1)`` float32 in 0..1 and their labels ``(N,)`` int64."""

    images: np.ndarray
    labels: np.ndarray


def load_split() -> tuple[Split, Split]:
    """Give the training and the held-out part (1437 and 360 samples) of scikit-learn's digits.

    The 8x8 images with values 0..16 are scaled to 0..1 and enlarged to 16x16, bilinear.
    """
    digits = load_digits()
    small = (digits.images / 16.0).astype(np.float32)[..., np.newaxis]
    images = tf.image.resize(small, (16, 16), method="bilinear").numpy()
    train_x, test_x, train_y, test_y = train_test_split(
        images,
        digits.target.astype(np.int64),
        test_size=360,
        random_state=SEED,
        stratify=digits.target,
    )
    return Split(train_x, train_y), Split(test_x, test_y)


def build_network(batch_size: int | None) -> tf.keras.Model:
    """Build the network.

    Args:
        batch_size: None for training, 1 for a graph of static shapes to convert.
    """
    layers = tf.keras.layers

    def finish(x: tf.Tensor, name: str, *, relu: bool) -> tf.Tensor:
        x = layers.BatchNormalization(name=f"{name}_bn" if relu else name)(x)
        return layers.ReLU(name=name)(x) if relu else x

    def conv(
        x: tf.Tensor, name: str, channels: int, kernel: int, *, relu: bool = True
    ) -> tf.Tensor:
        x = layers.Conv2D(channels, kernel, padding="same", use_bias=False, name=f"{name}_conv")(x)
        return finish(x, name, relu=relu)

    def depthwise(x: tf.Tensor, name: str, kernel: int, *, stride: int = 1) -> tf.Tensor:
        x = layers.DepthwiseConv2D(
            kernel, strides=stride, padding="same", use_bias=False, name=f"{name}_conv"
        )(x)
        return finish(x, name, relu=True)

    image = tf.keras.Input((16, 16, 1), batch_size=batch_size, name="image")
    x = conv(image, "stem_3x3", 8, 3)
    x = depthwise(x, "dw1_3x3", 3)
    skip = conv(x, "pw1", 16, 1)
    x = conv(skip, "conv2_3x3", 16, 3, relu=False)
    x = layers.Add(name="residual_add")([x, skip])
    x = layers.ReLU(name="residual")(x)
    x = depthwise(x, "dw3_3x3_s2", 3, stride=2)
    x = conv(x, "pw3", 64, 1)
    x = depthwise(x, "dw4_3x3", 3)
    x = conv(x, "pw4", 32, 1)
    x = depthwise(x, "dw5_5x5", 5)
    x = layers.MaxPooling2D(2, name="max_pool")(x)
    x = conv(x, "pw6", 64, 1)
    x = layers.AveragePooling2D(4, name="average_pool")(x)
    x = layers.Reshape((64,), name="flat")(x)
    x = layers.Dense(10, name="logits")(x)
    return tf.keras.Model(image, layers.Softmax(name="probabilities")(x), name="digits")


def train(split: Split) -> tf.keras.Model:
    """Train for a fixed number of epochs; no choice is made with the held-out samples."""
    model = build_network(None)
    steps = EPOCHS * -(-len(split.labels) // BATCH_SIZE)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(3e-3, steps)),
        # Without smoothing nearly every output saturates at 0 or 1, and hides wrong arithmetic.
        loss=tf.keras.losses.CategoricalCrossentropy(label_smoothing=0.1),
    )
    targets = tf.keras.utils.to_categorical(split.labels, 10)
    model.fit(split.images, targets, batch_size=BATCH_SIZE, epochs=EPOCHS, verbose=2)
    return model


def convert_int8(model: tf.keras.Model, calibration: np.ndarray) -> bytes:
    """Convert to a .tflite of int8 weights, activations, input and output, with batch 1.

    Args:
        model: The trained network.
        calibration: Images ``(N, 16, 16, 1)`` float32 that set the ranges of the activations.
    """
    single = build_network(1)
    single.set_weights(model.get_weights())
    converter = tf.lite.TFLiteConverter.from_keras_model(single)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image[np.newaxis]] for image in calibration)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    return name_tensors(converter.convert())


def name_tensors(model: bytes) -> bytes:
    """Name each tensor after its layer: ids in plans and reports come from these names.

    The converter names a tensor after everything that was fused into it, which gets long:
    ``digits_1/pw1_1/Relu;digits_1/pw1_bn_1/batchnorm/add_1;...`` becomes ``pw1``.
    """
    parsed = flatbuffer_utils.convert_bytearray_to_object(bytearray(model))
    (graph,) = parsed.subgraphs
    graph.tensors[graph.inputs[0]].name = b"image"
    for operator in graph.operators:
        (output,) = operator.outputs
        if output == graph.outputs[0]:
            layer = b"probabilities"
        else:
            layer = graph.tensors[output].name.split(b"/")[1].removesuffix(b"_1")
        graph.tensors[output].name = layer
        for index, role in zip(operator.inputs[1:], (b"filter", b"bias"), strict=False):
            if parsed.buffers[graph.tensors[index].buffer].data is not None:
                graph.tensors[index].name = layer + b"/" + role
    return bytes(flatbuffer_utils.convert_object_to_bytearray(parsed))


def run_int8(model: bytes, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Run TFLite Micro, the reference for the int8 arithmetic.

    Args:
        model: The .tflite file.
        images: ``(N, 16, 16, 1)`` float32 in 0..1.

    Returns:
        The quantised inputs ``(N, 16, 16, 1)`` int8 and the outputs ``(N, 10)`` int8.
    """
    interpreter = runtime.Interpreter.from_bytes(model)
    parameters = interpreter.get_input_details(0)["quantization_parameters"]
    scale, zero_point = parameters["scales"][0], parameters["zero_points"][0]
    inputs = np.clip(np.round(images / scale) + zero_point, -128, 127).astype(np.int8)
    outputs = []
    for sample in inputs:
        interpreter.set_input(sample[np.newaxis], 0)
        interpreter.invoke()
        outputs.append(interpreter.get_output(0)[0].copy())
    return inputs, np.stack(outputs)


def main() -> int:
    """Make both files and print the accuracies; non-zero when the int8 model is below 95 %."""
    tf.keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    training, held_out = load_split()
    model = train(training)
    float_outputs = model.predict(held_out.images, verbose=0)
    float_accuracy = float(np.mean(float_outputs.argmax(axis=1) == held_out.labels))

    int8_model = convert_int8(model, training.images[:CALIBRATION_SAMPLES])
    inputs, outputs = run_int8(int8_model, held_out.images)
    accuracy = float(np.mean(outputs.argmax(axis=1) == held_out.labels))
    sys.stdout.write(
        f"held-out accuracy over {len(inputs)} samples: float {float_accuracy:.4f}, "
        f"int8 {accuracy:.4f}; {len(int8_model)} bytes\n"
    )
    if accuracy < MIN_ACCURACY:
        sys.stderr.write(f"int8 accuracy is below {MIN_ACCURACY}: nothing was written\n")
        return 1
    MODEL_FILE.write_bytes(int8_model)
    # The case to compare byte by byte is the least certain one: it saturates least.
    case = int(outputs[:STORED_SAMPLES].max(axis=1).argmin())
    np.savez_compressed(
        EVAL_FILE,
        inputs=inputs[:STORED_SAMPLES],
        labels=held_out.labels[:STORED_SAMPLES],
        input_0=inputs[case : case + 1],
        output_0=outputs[case : case + 1],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
