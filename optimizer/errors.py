# SPDX-License-Identifier: Apache-2.0
"""Errors of the search. :class:`CampaignError` is shared with the ledger and lives with it."""

from __future__ import annotations

from results.errors import CampaignError, LedgerError

__all__ = ["CampaignError", "LedgerError", "RigError"]


class RigError(CampaignError):
    """The rig fails again and again, so nothing can be learnt about plans."""
