# SPDX-License-Identifier: Apache-2.0
"""Which compiler this process has, by content."""

from __future__ import annotations

import hashlib
from pathlib import Path

import helia_aot


def compiler_sha256() -> str:
    """Gives the SHA-256 over the compiler's own files: changes show at the same version."""
    root = Path(helia_aot.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
