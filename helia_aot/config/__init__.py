# SPDX-License-Identifier: Apache-2.0
"""Typed configuration: models, rules and their loading from YAML and dotted options."""
