# SPDX-License-Identifier: Apache-2.0
"""The one text form of plans and reports, so that equal content is equal byte for byte."""

from __future__ import annotations

import json

from pydantic import BaseModel


def dump_json(model: BaseModel) -> str:
    """Gives the canonical JSON text of a plan or report.

    Keys keep the order of the model's fields, indent is 2, text is ASCII with escapes, and the file
    ends with one newline. Reading the text back gives an equal model.
    """
    return json.dumps(model.model_dump(mode="json"), indent=2, allow_nan=False) + "\n"
