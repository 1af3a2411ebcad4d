# SPDX-License-Identifier: Apache-2.0
"""The intermediate representation: tensors, operators, graphs and their attributes."""
