# SPDX-License-Identifier: Apache-2.0
"""What the bundled kernel library is, for the record."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import resources

_VERSION = re.compile(r"#define HELIA_NN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)")


@cache
def kernel_library_version() -> str:
    """Gives the release of the dialect, a blank, and a digest over all headers and sources."""
    library = resources.files("helia_aot.kernels")
    digest = hashlib.sha256()
    for folder in ("include", "src"):
        for entry in sorted(library.joinpath(folder).iterdir(), key=lambda entry: entry.name):
            if entry.name.endswith((".c", ".h")):
                digest.update(entry.name.encode() + b"\0" + entry.read_bytes())
    types = library.joinpath("include", "arm_nn_types.h").read_text("utf-8")
    return f"{'.'.join(_VERSION.findall(types))} {digest.hexdigest()[:16]}"
