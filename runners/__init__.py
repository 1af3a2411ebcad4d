# SPDX-License-Identifier: Apache-2.0
"""Where a converted module is measured: toolchain, firmware, simulator and boards."""
