# SPDX-License-Identifier: Apache-2.0
"""Boards for tests: QEMU machines that pyOCD sees as probes, when ``HELIA_VIRTUAL_BOARDS`` names a bench file."""
