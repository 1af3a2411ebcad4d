# SPDX-License-Identifier: Apache-2.0
"""Whose kernel calls a module makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Dialect = Literal["ns-cmsis-nn", "cmsis-nn"]
"""Names and argument lists of kernel entries: those of ns-cmsis-nn, which the bundled kernels have, or of CMSIS-NN."""

LIBRARY_NAMES: Final[Mapping[Dialect, str]] = {
    "ns-cmsis-nn": "ns-cmsis-nn",
    "cmsis-nn": "CMSIS-NN",
}
"""Dialect -> the name of its library in texts."""
