# SPDX-License-Identifier: Apache-2.0
"""Which plans exist: from a conversion report to a finite space of alternatives."""
