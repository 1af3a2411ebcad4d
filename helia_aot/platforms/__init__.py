# SPDX-License-Identifier: Apache-2.0
"""Targets as data: cores, memories and capabilities."""
