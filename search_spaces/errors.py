# SPDX-License-Identifier: Apache-2.0
"""Errors of search spaces."""

from __future__ import annotations

from helia_aot.errors import ConfigError


class SpaceError(ConfigError):
    """A search space is malformed, or a pin names what does not exist."""
