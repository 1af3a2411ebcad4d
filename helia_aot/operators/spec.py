# SPDX-License-Identifier: Apache-2.0
"""What an operator family states about itself: constraints, choices, costs and its kernel call.

The layers above use these declarations and never look into a family: the knob resolver reads :class:`KnobDomain`, the
memory planner reads the constants and the scratch of :class:`LoweredOperator`, the C writer reads its
:class:`KernelCall`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from numpy.typing import NDArray

from helia_aot.ir.graph import Graph, Operator


@dataclass(frozen=True)
class Target:
    """What lowering needs to know about the core.

    Attributes:
        mve: Whether the core has the M-profile vector extension.
        dsp: Whether the core has the DSP extension.
    """

    mve: bool
    dsp: bool


@dataclass(frozen=True)
class KnobDomain:
    """What one knob means for one operator on one target.

    Attributes:
        knob: The knob's name, e.g. ``kernel``.
        entries: For each value of the knob the kernel entry that the operator would call.
        applicable: Whether the values differ here; when false the value is recorded, but changes nothing.
        reason: Why the knob is not applicable; empty when it is.
    """

    knob: str
    entries: Mapping[str, str]
    applicable: bool
    reason: str = ""


@dataclass(frozen=True)
class FixedDomain:
    """What one fixed choice (:mod:`helia_aot.optimization.fixed`) is for one operator.

    Attributes:
        values: The values that the operator can have on this target with its knob values.
        value: The one it gets unless an attribute or an input plan says otherwise.
        set_by: What decides ``value``: a plain default, a heuristic over shape and target, or a knob.
    """

    values: tuple[str, ...]
    value: str
    set_by: Literal["default", "heuristic", "knob"]


@dataclass(frozen=True)
class Constant:
    """A constant that lowering makes or keeps for a kernel.

    Attributes:
        id: The TFLite tensor id where it is a tensor of the model, else ``<op>_<purpose>``.
        data: The payload in the layout that the kernel reads.
    """

    id: str
    data: NDArray[Any]


@dataclass(frozen=True)
class TensorPointer:
    """The address of a tensor.

    Attributes:
        tensor_id: The tensor; None for a null pointer.
        c_type: C type of the pointer, e.g. ``const int8_t *``.
    """

    tensor_id: str | None
    c_type: str


@dataclass(frozen=True)
class Struct:
    """A parameter structure of the kernel library; passed by address where it is an argument.

    Attributes:
        c_type: Name of the C type.
        fields: Field names and values in the order of the type.
    """

    c_type: str
    fields: tuple[tuple[str, Value], ...]


Value = int | TensorPointer | Struct
"""What a field or an argument can hold."""


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel call: the parameter's name in the library and its value."""

    name: str
    value: Value


@dataclass(frozen=True)
class KernelCall:
    """One call of the kernel library, ready to be written as C.

    Attributes:
        entry: The function, e.g. ``arm_convolve_s8``.
        arguments: The arguments in order.
        returns_status: Whether the function returns a status; otherwise it returns nothing and cannot fail.
    """

    entry: str
    arguments: tuple[Argument, ...]
    returns_status: bool = True


@dataclass(frozen=True)
class LoweredOperator:
    """An operator after its choices are made.

    Attributes:
        node_id: Id of the operator in the graph.
        name: C-friendly name ``<op type>_<node id>``, e.g. ``conv_2d_0``.
        op_type: The TFLite name.
        call: The kernel call; None for an operator that only renames its input (an alias).
        constants: Constants that the call reads, in the order in which the arena lays them out.
        scratch_bytes: Size of the operator's scratch buffer; 0 for none.
        alias: Output tensor id -> input tensor id that shares its storage.
    """

    node_id: str
    name: str
    op_type: str
    call: KernelCall | None
    constants: tuple[Constant, ...] = ()
    scratch_bytes: int = 0
    alias: Mapping[str, str] = field(default_factory=dict)

    @property
    def scratch_id(self) -> str:
        """Tensor id of the scratch buffer."""
        return f"{self.name}_scratch"


class OperatorFamily(Protocol):
    """What every operator family offers. Implementations hold no state."""

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operator cannot be compiled; empty when it can."""
        ...

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts multiply-accumulates, padding included; 0 for operators other than layers with weights."""
        ...

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives, for each knob that exists for the operator, what its values mean on a target."""
        ...

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the kernel call and its constants for chosen values of knobs and fixed choices."""
        ...


@runtime_checkable
class HasFixedChoices(Protocol):
    """What a family offers besides :class:`OperatorFamily` when its operators have fixed choices."""

    def fixed(
        self, graph: Graph, operator: Operator, knobs: Mapping[str, str], target: Target
    ) -> Mapping[str, FixedDomain]:
        """Gives the fixed choices of the operator by name, for chosen knob values."""
        ...


def operator_name(operator: Operator) -> str:
    """Gives the C-friendly name of an operator, e.g. ``conv_2d_0``."""
    return f"{operator.op_type.lower()}_{operator.node_id}"


def dims(n: int, h: int, w: int, c: int) -> Struct:
    """Gives a ``cmsis_nn_dims`` structure."""
    return Struct("cmsis_nn_dims", (("n", n), ("h", h), ("w", w), ("c", c)))


def tensor_dims(shape: Sequence[int]) -> Struct:
    """Gives ``cmsis_nn_dims`` of a shape of up to four dimensions, padded with ones in front."""
    n, h, w, c = (1,) * (4 - len(shape)) + tuple(shape)
    return dims(n, h, w, c)


def tile(w: int, h: int) -> Struct:
    """Gives a ``cmsis_nn_tile`` structure."""
    return Struct("cmsis_nn_tile", (("w", w), ("h", h)))


def clamp(low: int, high: int) -> Struct:
    """Gives a ``cmsis_nn_activation`` structure."""
    return Struct("cmsis_nn_activation", (("min", low), ("max", high)))


def buffer(tensor_id: str | None, size_bytes: int) -> Struct:
    """Gives a ``cmsis_nn_context``: a buffer that a kernel works in or reads sums from."""
    return Struct(
        "cmsis_nn_context",
        (("buf", TensorPointer(tensor_id, "void *")), ("size", size_bytes if tensor_id else 0)),
    )
