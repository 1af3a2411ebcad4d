# SPDX-License-Identifier: Apache-2.0
"""Errors of campaigns and of what they leave behind."""

from __future__ import annotations

from helia_aot.errors import HeliaError


class CampaignError(HeliaError):
    """A search cannot start or go on."""

    exit_code = 9


class LedgerError(CampaignError):
    """A ledger is damaged, of another version, or in use by another process."""
