# SPDX-License-Identifier: Apache-2.0
"""Runs the command line: ``python -m helia_aot``."""

from __future__ import annotations

from helia_aot.cli.main import main

if __name__ == "__main__":
    main()
