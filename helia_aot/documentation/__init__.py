# SPDX-License-Identifier: Apache-2.0
"""What a conversion writes for people: a page that shows where everything is and why."""
