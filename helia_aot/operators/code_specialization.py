# SPDX-License-Identifier: Apache-2.0
"""Where an operator may have a copy of its kernel's code, compiled for its shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from helia_aot.operators.spec import SAME_ENTRY, KnobDomain

KNOB: Final = "code_specialization"
SHARED: Final = "shared"
INLINED: Final = "inlined"


def code_specialization(
    macs: int, kernels: Literal["bundled", "external"]
) -> Mapping[str, KnobDomain]:
    """Gives the knob's domain for one operator.

    It exists for operators with multiply-accumulates: the loops of the others have no shapes to know that would pay.

    Args:
        macs: Multiply-accumulates of the operator.
        kernels: Where the module's kernels come from; the text of external ones is not known.
    """
    if not macs:
        return {}
    bundled = kernels == "bundled"
    values = (SHARED, INLINED) if bundled else (SHARED,)
    return {
        KNOB: KnobDomain(
            knob=KNOB,
            entries=dict.fromkeys(values, SAME_ENTRY),
            applicable=bundled,
            reason="" if bundled else "module.kernels: external has no kernel sources to inline",
        )
    }


def is_inlined(choices: Mapping[str, str]) -> bool:
    """Says whether an operator gets a copy of its kernel, by the values of its knobs."""
    return choices.get(KNOB) == INLINED
