# SPDX-License-Identifier: Apache-2.0
"""The version of the product; plans and residency reports carry it."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
