# SPDX-License-Identifier: Apache-2.0
"""The simulator: QEMU for the numerics, a timing plugin for modelled cycles."""
