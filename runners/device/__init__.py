# SPDX-License-Identifier: Apache-2.0
"""The runner on real boards, through pyOCD."""
