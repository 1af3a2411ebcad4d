# SPDX-License-Identifier: Apache-2.0
"""A generated module in memory: its files, its constant payloads and what a runner must know of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EmittedFile:
    """One file of a module.

    Attributes:
        path: POSIX path relative to the module's folder.
        text: The content of a text file; empty for a binary one.
        binary: The content of a binary file; None for a text file.
    """

    path: str
    text: str = ""
    binary: bytes | None = None

    @property
    def content(self) -> bytes:
        """The bytes of the file; text is UTF-8 with newlines as they are."""
        return self.text.encode() if self.binary is None else self.binary


@dataclass(frozen=True)
class ConstantBlob:
    """A C object with the payload of a constant arena, as ``src/<prefix>_constants.c`` spells it out.

    Attributes:
        symbol: Name of the C object.
        memory: Memory that the object belongs in.
        alignment: Alignment in bytes.
        is_const: Whether the object is declared const, as objects in non-volatile memory are.
        data: The bytes, a guard before the payload included.
    """

    symbol: str
    memory: str
    alignment: int
    is_const: bool
    data: bytes


@dataclass(frozen=True)
class ModuleTensor:
    """An input or output of the model.

    Attributes:
        id: Tensor id.
        name: The name that the model gives it.
        shape: Shape as in the model.
        dtype: Element type as numpy names it.
        size_bytes: Size in bytes.
        scale: Quantization scale; 1 for plain numbers.
        zero_point: Quantization zero point; 0 for plain numbers.
    """

    id: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    size_bytes: int
    scale: float
    zero_point: int


@dataclass(frozen=True)
class ModuleOperator:
    """An operator of the module, in execution order.

    Attributes:
        id: Operator id as in the plan.
        node_id: Node id, which the module's callback reports.
        op_type: TFLite operator name.
        entry: Kernel entry that it calls; None when it only renames its input.
        macs: Multiply-accumulates.
        code_memory: Memory that its wrapper function is placed in; None leaves it to the linker.
        inlined: Whether its file carries a copy of the kernel's code, compiled for its shapes.
    """

    id: str
    node_id: str
    op_type: str
    entry: str | None
    macs: int
    code_memory: str | None = None
    inlined: bool = False


@dataclass(frozen=True)
class Module:
    """A generated C module.

    Attributes:
        name: Name of its folder and library.
        prefix: Prefix of its files and symbols.
        files: All files, sorted by path.
        constant_blobs: Payloads of the constant arenas that are C objects, in region order.
        kernel_sources: File names of the kernel library's sources that it calls; they are in ``kernels/`` when bundled.
        inputs: Inputs of the model, in order.
        outputs: Outputs of the model, in order.
        operators: Operators in execution order.
        allocates_arenas: Whether the module brings its arenas; otherwise the application binds them before init.
        hydrates_constants: Whether init copies staged constants; otherwise the application does after it.
    """

    name: str
    prefix: str
    files: tuple[EmittedFile, ...]
    constant_blobs: tuple[ConstantBlob, ...]
    kernel_sources: tuple[str, ...]
    inputs: tuple[ModuleTensor, ...]
    outputs: tuple[ModuleTensor, ...]
    operators: tuple[ModuleOperator, ...]
    allocates_arenas: bool = True
    hydrates_constants: bool = True
