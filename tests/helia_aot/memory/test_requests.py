# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from helia_aot.errors import InvariantError
from helia_aot.memory.requests import TensorRequest, check_requests

OTHERS = [TensorRequest("p", "persistent", 4), TensorRequest("x", "scratch", 4, alias_of="y")]

FAULTS = {
    "no size": (TensorRequest("a", "scratch", 0), "size is 0 bytes"),
    "dead before birth": (TensorRequest("a", "scratch", 4, 3, 2), "dies at 2"),
    "no payload": (TensorRequest("a", "constant", 4), "payload is not 4 bytes"),
    "short payload": (TensorRequest("a", "constant", 4, data=b"abc"), "payload is not 4 bytes"),
    "payload of scratch": (TensorRequest("a", "scratch", 1, data=b"a"), "carries a payload"),
    "unknown alias": (TensorRequest("a", "scratch", 4, alias_of="b"), "no end"),
    "alias circle": (TensorRequest("y", "scratch", 4, alias_of="x"), "no end"),
    "alias of constant": (TensorRequest("a", "constant", 1, alias_of="p", data=b"a"), "cannot be"),
    "alias across roles": (TensorRequest("a", "scratch", 4, alias_of="p"), "persistent tensor 'p'"),
    "repeated id": (TensorRequest("p", "persistent", 4), "used twice"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_impossible_request_is_refused(fault: tuple[Any, ...]) -> None:
    request, message = fault
    with pytest.raises(InvariantError) as caught:
        check_requests([*OTHERS, request])
    assert message in str(caught.value)


def test_all_faults_are_listed() -> None:
    with pytest.raises(InvariantError) as caught:
        check_requests([TensorRequest("a", "scratch", 0), TensorRequest("b", "constant", 4)])
    assert len(caught.value.problems) == 2
