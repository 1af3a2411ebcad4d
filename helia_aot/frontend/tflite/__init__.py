# SPDX-License-Identifier: Apache-2.0
"""The reader of TFLite flatbuffers; the only package that imports tflite."""
