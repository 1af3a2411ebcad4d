# SPDX-License-Identifier: Apache-2.0
"""Search campaigns: studies, samplers, execution and the search command line."""
