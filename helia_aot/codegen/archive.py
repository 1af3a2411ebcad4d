# SPDX-License-Identifier: Apache-2.0
"""A module as one archive file."""

from __future__ import annotations

import io
import zipfile
from typing import Final

from helia_aot.codegen.module import Module

_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
_UNIX: Final = 3
_REGULAR_FILE: Final = 0o100644


def archive_bytes(module: Module) -> bytes:
    """Gives a zip archive that holds the module's folder with all its files, sorted by path.

    Returns:
        The archive. Times, permissions and the creating system are fixed, and nothing is compressed,
        since compressors differ between releases: equal modules give equal bytes everywhere.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(module.files, key=lambda file: file.path):
            entry = zipfile.ZipInfo(f"{module.name}/{file.path}", date_time=_EARLIEST)
            entry.create_system = _UNIX
            entry.external_attr = _REGULAR_FILE << 16
            archive.writestr(entry, file.content)
    return buffer.getvalue()
