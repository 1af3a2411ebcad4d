# SPDX-License-Identifier: Apache-2.0
"""What a campaign leaves behind: ledger, records and reports."""
