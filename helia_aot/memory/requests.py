# SPDX-License-Identifier: Apache-2.0
"""What the planner is asked to place: one request for each tensor of a module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from helia_aot.errors import InvariantError, Problem

Role = Literal["scratch", "persistent", "constant"]
"""Scratch is reused during a run, persistent lasts between runs, constant never changes."""

ROLES: Final[tuple[Role, ...]] = ("scratch", "persistent", "constant")
"""All roles, in the order in which their arenas are numbered."""


@dataclass(frozen=True)
class TensorRequest:
    """One tensor that needs a place.

    Attributes:
        id: Unique id, e.g. ``12`` or ``conv_2d_0_scratch``.
        role: How the storage is used.
        size_bytes: Payload size, at least 1.
        first_use: First operator position at which the value is live; scratch only.
        last_use: Last operator position at which it is live, inclusive; scratch only.
        alias_of: Id of the tensor whose storage this one shares; never of a constant.
        data: Payload of a constant, ``size_bytes`` long; None for the other roles.
        memory: Memory that a rule asks for. It binds; for a staged constant it is the source.
        destination_memory: Memory that a rule wants a constant to be copied to before the first
            run.
    """

    id: str
    role: Role
    size_bytes: int
    first_use: int = 0
    last_use: int = 0
    alias_of: str | None = None
    data: bytes | None = None
    memory: str | None = None
    destination_memory: str | None = None


def check_requests(requests: Sequence[TensorRequest]) -> None:
    """Checks that requests make sense together.

    Raises:
        InvariantError: Ids repeat, a size or a lifetime is impossible, a payload is missing, or an
            alias points nowhere, in a circle or to another role. All problems are listed.
    """
    by_id = {request.id: request for request in requests}
    problems = [
        Problem(f"tensor {request.id!r}", reason)
        for request in requests
        for reason in _faults(request, by_id)
    ]
    if len(by_id) != len(requests):
        problems.append(Problem("requests", "a tensor id is used twice"))
    if problems:
        raise InvariantError("The memory planner was given impossible requests.", problems)


def alias_root(request: TensorRequest, by_id: dict[str, TensorRequest]) -> TensorRequest:
    """Gives the tensor that owns the storage: the end of the alias chain.

    Raises:
        InvariantError: The chain leaves the requests or runs in a circle.
    """
    seen = {request.id}
    while request.alias_of is not None:
        if request.alias_of in seen or request.alias_of not in by_id:
            raise InvariantError(f"The alias chain of tensor {request.id!r} has no end.")
        request = by_id[request.alias_of]
        seen.add(request.id)
    return request


def _faults(request: TensorRequest, by_id: dict[str, TensorRequest]) -> list[str]:
    faults: list[str] = []
    if request.size_bytes < 1:
        faults.append(f"size is {request.size_bytes} bytes")
    if request.role == "scratch" and request.first_use > request.last_use:
        faults.append(f"dies at {request.last_use} before it is born at {request.first_use}")
    if request.role == "constant" and len(request.data or b"") != request.size_bytes:
        faults.append(f"payload is not {request.size_bytes} bytes long")
    if request.role != "constant" and request.data is not None:
        faults.append(f"a {request.role} tensor carries a payload")
    if request.alias_of is not None:
        if request.role == "constant":
            faults.append("a constant cannot be an alias")
        else:
            faults.extend(_alias_faults(request, by_id))
    return faults


def _alias_faults(request: TensorRequest, by_id: dict[str, TensorRequest]) -> list[str]:
    try:
        root = alias_root(request, by_id)
    except InvariantError as error:
        return [error.summary]
    return (
        [] if root.role == request.role else [f"is an alias of the {root.role} tensor {root.id!r}"]
    )
