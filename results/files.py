# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from results.errors import CampaignError


def write_atomically(path: Path, text: str) -> None:
    """Writes a file under a temporary name in the same folder, syncs it, and renames it.

    A reader, or a process that starts after a crash, sees the old content or the new one.

    Raises:
        CampaignError: The file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.partial")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise CampaignError(
            f"{path} cannot be written: {error.strerror}.",
            next_step="check the free space and the permissions; the same command continues",
        ) from error
