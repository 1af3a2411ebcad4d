# SPDX-License-Identifier: Apache-2.0
"""Writes a kernel call as C: its parameter structures and the call itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from helia_aot.operators.spec import Argument, Array, KernelCall, Struct, TensorPointer, Value

_LINE_COLUMNS: Final = 110
"""A structure that would make a longer line has each field on its own."""


@dataclass(frozen=True)
class CallText:
    """The C text of one call.

    Attributes:
        declarations: Parameter structures, one statement each.
        call: The call expression without semicolon, one argument a line.
    """

    declarations: tuple[str, ...]
    call: str


def render_call(prefix: str, call: KernelCall) -> CallText:
    """Gives the C text of a kernel call inside a function that has the context as ``ctx``.

    Args:
        prefix: The module's prefix.
        call: What to call.

    Returns:
        Structures without tensor addresses are static constants; the others are made on the stack.
    """
    declarations = tuple(
        _declaration(prefix, argument)
        for argument in call.arguments
        if isinstance(argument.value, Struct | Array)
    )
    arguments = ",\n        ".join(_expression(prefix, a) for a in call.arguments)
    return CallText(declarations, f"{call.entry}(\n        {arguments})")


def tensor_pointer(prefix: str, pointer: TensorPointer) -> str:
    """Gives the C expression of a tensor's address in the type that is asked for."""
    if pointer.tensor_id is None:
        return "NULL"
    address = f"ctx->tensor_ptrs[{prefix}_tensor_{pointer.tensor_id}]"
    if pointer.c_type in ("int8_t *", "const int8_t *", "void *"):
        return address
    return f"({pointer.c_type})(void *){address}"


def _declaration(prefix: str, argument: Argument) -> str:
    value = argument.value
    if isinstance(value, Array):
        storage = "" if _has_address(value) else "static "
        return f"{storage}{value.c_type} {_variable(argument)}[] = {_initializer(prefix, value)};"
    assert isinstance(value, Struct)
    storage = "const" if _has_address(value) else "static const"
    head = f"{storage} {value.c_type} {_variable(argument)} ="
    short = f"{head} {_initializer(prefix, value)};"
    if len(short) <= _LINE_COLUMNS:
        return short
    fields = "".join(f"        .{name} = {_value(prefix, item)},\n" for name, item in value.fields)
    return f"{head} {{\n{fields}    }};"


def _variable(argument: Argument) -> str:
    # The parameter named ctx would hide the model's context.
    return "kernel_ctx" if argument.name == "ctx" else argument.name


def _expression(prefix: str, argument: Argument) -> str:
    if isinstance(argument.value, Struct):
        return f"&{_variable(argument)}"
    if isinstance(argument.value, Array):
        return _variable(argument)
    return _value(prefix, argument.value)


def _value(prefix: str, value: Value) -> str:
    match value:
        case Struct() | Array():
            return _initializer(prefix, value)
        case TensorPointer():
            return tensor_pointer(prefix, value)
        case int():
            # -2147483648 is not an integer constant in C: the minus applies to 2147483648.
            return "(-2147483647 - 1)" if value == -(1 << 31) else str(value)
        case float():
            return float_literal(value)


def float_literal(value: float) -> str:
    """Gives a C float literal that reads back to the same 32-bit value."""
    text = f"{value:.9g}"
    return f"{text}f" if any(mark in text for mark in ".en") else f"{text}.0f"


def _initializer(prefix: str, value: Struct | Array) -> str:
    if isinstance(value, Array):
        return f"{{ {', '.join(_value(prefix, element) for element in value.values)} }}"
    fields = ", ".join(f".{name} = {_value(prefix, value)}" for name, value in value.fields)
    return f"{{ {fields} }}"


def _has_address(holder: Struct | Array) -> bool:
    values = holder.values if isinstance(holder, Array) else [value for _, value in holder.fields]
    return any(
        (isinstance(value, TensorPointer) and value.tensor_id is not None)
        or (isinstance(value, Struct) and _has_address(value))
        for value in values
    )
