# SPDX-License-Identifier: Apache-2.0
"""Memory planning: lifetimes, planners, placement and the residency record."""
