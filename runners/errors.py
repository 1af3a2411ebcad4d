# SPDX-License-Identifier: Apache-2.0
"""Errors of the runners; a bad candidate is not one of them, it is a ``Measurement.status``."""

from __future__ import annotations

from helia_aot.errors import HeliaError


class RunnerError(HeliaError):
    """A target, or a file that the user hands to a runner, cannot be used."""

    exit_code = 8


class ToolchainError(RunnerError):
    """A compiler or an emulator is missing, too old, or cannot be started."""
