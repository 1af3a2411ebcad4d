# SPDX-License-Identifier: Apache-2.0
"""Element types of tensors and the facts that belong to them."""

from __future__ import annotations

from enum import StrEnum

import numpy as np


class DType(StrEnum):
    """Element type of a tensor, named as numpy names it where numpy has it."""

    INT4 = "int4"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    BOOL = "bool"
    FLOAT16 = "float16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    COMPLEX64 = "complex64"
    COMPLEX128 = "complex128"
    STRING = "string"
    RESOURCE = "resource"
    VARIANT = "variant"

    @property
    def is_numeric(self) -> bool:
        """Whether whole bytes hold the elements, so that numpy can hold them too."""
        return self not in (DType.INT4, DType.STRING, DType.RESOURCE, DType.VARIANT)

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The numpy type of one element."""
        return np.dtype(self.value)

    @property
    def size_bytes(self) -> int:
        """Size of one element in bytes."""
        return self.numpy.itemsize
