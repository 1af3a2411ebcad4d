# SPDX-License-Identifier: Apache-2.0
"""What an operator family states about itself: constraints, choices, costs and its kernel call.

The layers above use these declarations and never look into a family: the knob resolver reads :class:`KnobDomain`, the
memory planner reads the constants and the scratch of :class:`LoweredOperator`, the C writer reads its
:class:`KernelCall`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol, runtime_checkable

from numpy.typing import NDArray

from helia_aot.config.dialect import Dialect
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor


@dataclass(frozen=True)
class Target:
    """What lowering needs to know about the core.

    Attributes:
        mve: Whether the core has the M-profile vector extension.
        dsp: Whether the core has the DSP extension.
        fp16: Whether the core computes in FP16.
        dialect: Whose calls the module makes.
        external: Whether the kernels are those of a library of the user's.
    """

    mve: bool
    dsp: bool
    fp16: bool = False
    dialect: Dialect = "ns-cmsis-nn"
    external: bool = False


SAME_ENTRY: Final = ""
"""In :attr:`KnobDomain.entries`: the value calls whatever entry the operator's other knobs choose."""


@dataclass(frozen=True)
class KnobDomain:
    """What one knob means for one operator on one target.

    Attributes:
        knob: The knob's name, e.g. ``kernel``.
        entries: For each value of the knob the kernel entry that the operator would call, or :data:`SAME_ENTRY`.
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


@dataclass(frozen=True)
class Array:
    """Numbers or addresses that a kernel reads as a C array.

    Attributes:
        c_type: Qualified C type of an element, e.g. ``const int32_t`` or ``const void *const``.
        values: The elements; at least one.
    """

    c_type: str
    values: tuple[int | TensorPointer, ...]


Value = int | float | TensorPointer | Struct | Array
"""What a field or an argument can hold; a float is written as a 32-bit literal."""


@dataclass(frozen=True)
class Support:
    """One line of what a family takes, for the generated page of operators.

    Attributes:
        types: Element types by their numpy names, e.g. ``("int8", "int16")``.
        limits: What is not taken, as half a sentence; empty for no limit beyond the operator's own rules.
    """

    types: tuple[str, ...]
    limits: str = ""


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
class BufferCheck:
    """A question to the kernel library, asked once before the first run.

    Attributes:
        query: Call of a function that returns the bytes that it needs.
        size_bytes: The bytes that it gets.
    """

    query: KernelCall
    size_bytes: int


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
        init: Calls that run once before the first run, in order; they give variables their first values.
        buffer_check: The check that the call's buffer is large enough; None where conversion knows its size.
    """

    node_id: str
    name: str
    op_type: str
    call: KernelCall | None
    constants: tuple[Constant, ...] = ()
    scratch_bytes: int = 0
    alias: Mapping[str, str] = field(default_factory=dict)
    init: tuple[KernelCall, ...] = ()
    buffer_check: BufferCheck | None = None

    @property
    def scratch_id(self) -> str:
        """Tensor id of the scratch buffer."""
        return f"{self.name}_scratch"


class OperatorFamily(Protocol):
    """What every operator family offers. Implementations hold no state."""

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes, in words; :meth:`problems` is the rule."""
        ...

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


class Plain:
    """What families share whose operators have no weights and no choice of kernel."""

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts none: there are no weights."""
        del graph, operator
        return 0

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}


_C_TYPES = {DType.FLOAT32: "float", DType.FLOAT16: "float16_t", DType.BOOL: "bool"}


def c_type(dtype: DType) -> str:
    """Gives the C type of an element, e.g. ``int8_t``."""
    return _C_TYPES.get(dtype, f"{dtype.value}_t")


def read_pointer(tensor: Tensor) -> TensorPointer:
    """Gives the address of a tensor that a kernel reads."""
    return TensorPointer(tensor.id, f"const {c_type(tensor.dtype)} *")


def written_pointer(tensor: Tensor) -> TensorPointer:
    """Gives the address of a tensor that a kernel writes."""
    return TensorPointer(tensor.id, f"{c_type(tensor.dtype)} *")


def integers(values: Sequence[int]) -> Array:
    """Gives an array of int32 numbers."""
    return Array("const int32_t", tuple(int(value) for value in values))


def constants_of(*tensors: Tensor | None) -> tuple[Constant, ...]:
    """Gives the constants among the tensors that a call reads as they are."""
    return tuple(Constant(t.id, t.data) for t in tensors if t is not None and t.data is not None)


def with_its_constants(operator: LoweredOperator, graph: Graph) -> LoweredOperator:
    """Gives a lowered operator that keeps every constant of the model that its calls read or that it renames.

    A family knows which constants its kernels want changed; that data can be a constant too, as the first value of a
    loop is, holds for all of them.

    Args:
        operator: What a family made.
        graph: The graph of its operator.
    """
    calls = (*((operator.call,) if operator.call else ()), *operator.init)
    read = [i for call in calls for argument in call.arguments for i in _addressed(argument.value)]
    kept = {constant.id for constant in operator.constants}
    missing = [
        graph.tensors[i]
        for i in dict.fromkeys([*read, *operator.alias.values()])
        if i in graph.tensors and i not in kept
    ]
    return replace(operator, constants=(*operator.constants, *constants_of(*missing)))


def _addressed(value: Value) -> Iterator[str]:
    """Gives the ids of the tensors whose addresses a value holds."""
    if isinstance(value, TensorPointer):
        if value.tensor_id is not None:
            yield value.tensor_id
    elif isinstance(value, Struct):
        for _, inner in value.fields:
            yield from _addressed(inner)
    elif isinstance(value, Array):
        for item in value.values:
            yield from _addressed(item)


def lowered(
    operator: Operator,
    entry: str,
    arguments: Sequence[Argument],
    *,
    constants: Sequence[Constant] = (),
    returns_status: bool = True,
) -> LoweredOperator:
    """Gives an operator that is one kernel call without scratch."""
    return LoweredOperator(
        node_id=operator.node_id,
        name=operator_name(operator),
        op_type=operator.op_type,
        call=KernelCall(entry, tuple(arguments), returns_status),
        constants=tuple(constants),
    )


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
