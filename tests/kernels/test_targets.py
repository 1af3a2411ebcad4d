# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from harness import TARGETS, Case, check_cases


@pytest.mark.parametrize("target", list(TARGETS))
def test_target_builds_without_warnings_and_runs(target):
    """Skips with the missing tool's name; the other kernel tests use the targets that are there."""
    data = np.arange(37, dtype=np.int8)
    check_cases(target, [Case("arm_reshape_s8", [37], [data], 37)], [data])
