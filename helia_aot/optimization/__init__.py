# SPDX-License-Identifier: Apache-2.0
"""Knobs, plans and reports: what was chosen, why, and what else would apply."""
