# SPDX-License-Identifier: Apache-2.0
"""The base of every typed model that this product reads from or writes to a file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class StrictModel(BaseModel):
    """An immutable model that refuses unknown fields.

    Silence about a misspelt key would be a setting that does not apply, so every unknown key is an
    error.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
