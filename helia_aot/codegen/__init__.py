# SPDX-License-Identifier: Apache-2.0
"""From lowered operators and a memory plan to the text of a C module."""
