# SPDX-License-Identifier: Apache-2.0
"""What the kernel library holds: files behind an entry, symbols behind a file, scratch behind a call.

Nothing here is a hand-kept table of files: definitions and uses are read from the sources themselves, so a new kernel
is known as soon as its file exists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files

from helia_aot.errors import InvariantError, Problem

INCLUDE_FILES = (
    "helia_nn_symbols.h",
    "arm_nn_types.h",
    "arm_nnfunctions.h",
    "arm_nn_types_flt.h",
    "arm_nnfunctions_flt.h",
)
"""The interface headers, in the order of inclusion; a bundled module carries all, the first one generated."""

DIALECT_MACRO = "HELIA_NN_DIALECT_NS_CMSIS_NN"
"""Defined by ``arm_nn_types.h``; tells a module that it compiles against the dialect that it calls."""

VERSION_MACRO = "HELIA_NN_VERSION"
"""Defined by ``arm_nn_types.h``: the dialect's release, major * 10000 + minor * 100 + patch."""

VERSION = "7.37.0"
"""The dialect's release that the library covers."""

# A definition or declaration in the library's layout: its name starts in column 0 after a plain return type.
_FUNCTION = re.compile(
    r"^(?:arm_cmsis_nn_status|int32_t|void|bool) (\w+)\([^;{]*\)\s*\{", re.MULTILINE
)
_INCLUDE = re.compile(r'^#include "(\w+\.h)"', re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_UNPUBLISHED = re.compile(
    r"arm_(convolve|depthwise|fully_connected|avg_pool|max_pool)\w*_f(16|32)"
    r"|arm_rsqrt_s16_\w+|arm_hard_swish_\w+"
)
_WORD = re.compile(r"\b(?:arm|helia_nn)_\w+")


def read_source(name: str) -> str:
    """Gives the text of a file in ``src/``, as shipped."""
    return (files(__package__) / "src" / name).read_text(encoding="utf-8")


def read_include(name: str) -> str:
    """Gives the text of a file in ``include/``, as shipped."""
    return (files(__package__) / "include" / name).read_text(encoding="utf-8")


@cache
def source_names() -> tuple[str, ...]:
    """Gives the names of all files in ``src/``, sorted."""
    folder = files(__package__) / "src"
    return tuple(sorted(f.name for f in folder.iterdir() if f.name.endswith((".c", ".h"))))


@cache
def public_entries() -> tuple[str, ...]:
    """Gives every entry that the library defines, sorted.

    Entries are the ``arm_*`` functions of the dialect and our own, ``helia_nn_<name>`` in ``helia_nn_<name>.c``.
    """
    return tuple(
        sorted(s for s, name in _definitions().items() if s.startswith("arm_") or name == f"{s}.c")
    )


def is_dialect_entry(entry: str) -> bool:
    """Says whether an entry belongs to the dialect, so that another library of the dialect can take its place.

    Float convolutions, pools and fully connected layers count as ours: their names are the dialect's, but the fields of
    their parameter structures and their scratch sizes are not published. So do entries whose tables or factors are not.
    """
    return entry.startswith("arm_") and not _UNPUBLISHED.fullmatch(entry)


def sources_for(entries: Iterable[str]) -> tuple[str, ...]:
    """Gives every file of ``src/`` that the entries need: their own, what these call, and private headers.

    Args:
        entries: Names of kernel entries, in any order.

    Returns:
        File names, sorted, each once. ``.h`` files are for inclusion only.

    Raises:
        InvariantError: If an entry does not exist.
    """
    wanted = list(entries)
    unknown = sorted(set(wanted) - set(public_entries()))
    if unknown:
        raise InvariantError(
            "the compiler asked for kernels that the library does not have",
            problems=[Problem(name, "no such kernel entry") for name in unknown],
        )
    needed: set[str] = set()
    pending = [_definitions()[entry] for entry in wanted]
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending.extend(_needs(name))
    return tuple(sorted(needed))


def public_symbols(sources: Iterable[str]) -> tuple[str, ...]:
    """Gives every external symbol that the files define, sorted: what a module must prefix."""
    chosen = set(sources)
    return tuple(sorted(symbol for symbol, name in _definitions().items() if name in chosen))


@cache
def _code(name: str) -> str:
    return _COMMENT.sub("", read_source(name))


@cache
def _definitions() -> Mapping[str, str]:
    """External functions and the file that defines each; a function defined in two bodies counts once."""
    return {
        symbol: name
        for name in source_names()
        if name.endswith(".c")
        for symbol in _FUNCTION.findall(_code(name))
    }


@cache
def _needs(name: str) -> tuple[str, ...]:
    headers = {header for header in _INCLUDE.findall(_code(name)) if header in source_names()}
    used = {_definitions()[word] for word in _WORD.findall(_code(name)) if word in _definitions()}
    return tuple(sorted((headers | used) - {name}))


def scratch_bytes(
    entry: str, *, kernel_height: int = 1, kernel_width: int = 1, input_channels: int = 1
) -> int:
    """Gives the exact size of the scratch buffer (``ctx``) that an entry needs.

    The rules are those of the ``*_get_buffer_size`` entries of the library.

    Args:
        entry: The kernel entry.
        kernel_height: Rows of the filter.
        kernel_width: Columns of the filter.
        input_channels: Channels of the input.

    Returns:
        Bytes, at least 0; the buffer must be 4-byte aligned.
    """
    rule = _SCRATCH_RULES.get(entry)
    return 0 if rule is None else rule(kernel_height, kernel_width, input_channels)


def _im2col_bytes(kernel_height: int, kernel_width: int, input_channels: int) -> int:
    """Four im2col columns, each rounded up to 8 bytes."""
    return 4 * (-(kernel_height * kernel_width * input_channels) // 8 * -8)


def _float_columns(element_bytes: int) -> Callable[[int, int, int], int]:
    """Four columns of a float convolution's windows."""

    def rule(kernel_height: int, kernel_width: int, input_channels: int) -> int:
        return 4 * kernel_height * kernel_width * input_channels * element_bytes

    return rule


_SCRATCH_RULES: Mapping[str, Callable[[int, int, int], int]] = {
    "arm_convolve_s8": _im2col_bytes,
    "arm_convolve_1_x_n_s8": _im2col_bytes,
    "arm_convolve_1x1_out_s8": _im2col_bytes,
    "arm_convolve_nhwc_f32": _float_columns(4),
    "arm_convolve_nhwc_f16": _float_columns(2),
}
"""Entries without a rule need no scratch."""
