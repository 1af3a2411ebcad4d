# SPDX-License-Identifier: Apache-2.0
"""Graph transforms, one a file."""
