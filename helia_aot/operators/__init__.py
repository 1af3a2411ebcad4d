# SPDX-License-Identifier: Apache-2.0
"""Operator families: constraints, kernel routing, costs and lowering."""
