# SPDX-License-Identifier: Apache-2.0
"""Which transforms run."""

from __future__ import annotations

from typing import Any

import pytest

from helia_aot.config.convert import TransformRule
from helia_aot.transforms.declarations import DECLARATIONS, NEEDED
from helia_aot.transforms.registry import TRANSFORMS, enabled_transforms

ALL = frozenset(TRANSFORMS)
NONE = frozenset(NEEDED)


def test_each_declaration_names_its_code() -> None:
    assert [d.name for d in DECLARATIONS] == [code.__name__ for code in TRANSFORMS.values()]


@pytest.mark.parametrize(
    ("rules", "running"),
    [
        ([], ALL),
        ([{}], ALL),
        ([{"name": "*", "enabled": False}], NONE),
        ([{"name": "*", "enabled": False}, {"name": "*"}], ALL),
        ([{"name": "Fuse_Padding", "enabled": False}], ALL - {"fuse_padding"}),
        ([{"name": "fuse_padding"}, {"name": "*", "enabled": False}], NONE | {"fuse_padding"}),
        ([{"name": "fuse_padding", "enabled": False}, {"name": "fuse_padding"}], ALL),
    ],
)
def test_a_name_goes_over_all_and_later_over_earlier(
    rules: list[dict[str, Any]], running: frozenset[str]
) -> None:
    assert enabled_transforms([TransformRule.model_validate(rule) for rule in rules]) == running
