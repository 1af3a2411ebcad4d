# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import TARGETS, build, require
from required import missing

from helia_aot.errors import InvariantError
from helia_aot.kernels import manifest


@pytest.fixture(scope="module", params=["host", "m55"])
def symbol_tables(request):
    """(defined, undefined) external symbols of every source file, as the compiler sees them."""
    target = TARGETS[request.param]
    require(target)
    folder = build(target).parent / "objects"
    nm = target.compiler.replace("gcc", "nm").replace("cc", "nm")
    if shutil.which(nm) is None:
        missing(f"{nm} is not installed")
    names = [name for name in manifest.source_names() if name.endswith(".c")]
    objects = [str(Path(name).with_suffix(".o")) for name in names]
    listing = subprocess.run(
        [nm, "-gA", *objects], cwd=folder, check=True, capture_output=True, text=True
    ).stdout
    pattern = r"^(\w+)\.o:[0-9a-f ]*([A-Za-z]) _?((?:arm|helia_nn)_\w+)$"
    found = re.findall(pattern, listing, re.MULTILINE)
    tables = {}
    for name in names:
        symbols = [(kind, symbol) for stem, kind, symbol in found if f"{stem}.c" == name]
        tables[name] = (
            {symbol for kind, symbol in symbols if kind != "U"},
            {symbol for kind, symbol in symbols if kind == "U"},
        )
    return tables


def test_no_external_symbol_is_unknown(symbol_tables):
    """A symbol that the manifest does not know would keep its name in a module and clash with another library."""
    for name, (defined, _) in symbol_tables.items():
        assert defined <= set(manifest.public_symbols([name])), name


@pytest.mark.parametrize("entry", manifest.public_entries())
def test_sources_of_an_entry_link_without_others(symbol_tables, entry):
    sources = [name for name in manifest.sources_for([entry]) if name.endswith(".c")]
    defined = set().union(*(symbol_tables[name][0] for name in sources))
    needed = set().union(*(symbol_tables[name][1] for name in sources))
    assert entry in defined
    assert needed <= defined


def test_private_headers_are_part_of_the_sources():
    for entry in manifest.public_entries():
        sources = manifest.sources_for([entry])
        for name in sources:
            included = re.findall(r'^#include "(\w+\.h)"', manifest.read_source(name), re.MULTILINE)
            assert set(included) <= set(sources), name


def test_every_prototype_has_a_body_and_every_entry_a_prototype():
    headers = "".join(map(manifest.read_include, ("arm_nnfunctions.h", "arm_nnfunctions_flt.h")))
    code = re.sub(r"/\*.*?\*/", "", headers, flags=re.DOTALL)
    declared = set(re.findall(r"\b((?:arm|helia_nn)_\w+)\(", code))
    assert declared == set(manifest.public_entries())


def test_version_is_that_of_the_header():
    header = manifest.read_include("arm_nn_types.h")
    numbers = [
        re.search(rf"#define HELIA_NN_VERSION_{part} (\d+)", header)[1]
        for part in ("MAJOR", "MINOR", "PATCH")
    ]
    assert ".".join(numbers) == manifest.VERSION
    assert f"#define {manifest.VERSION_MACRO} " in header.replace("\\\n", "")
    assert f"#define {manifest.DIALECT_MACRO} 1" in header


def test_an_unknown_entry_is_named():
    with pytest.raises(InvariantError) as caught:
        manifest.sources_for(["arm_convolve_s8", "arm_no_such_entry"])
    assert "arm_no_such_entry" in str(caught.value.problems)


def test_scratch_of_the_published_examples():
    """27 and 144 bytes of patch take 128 and 576 bytes."""
    entry = "arm_convolve_s8"
    assert manifest.scratch_bytes(entry, kernel_height=3, kernel_width=3, input_channels=3) == 128
    assert manifest.scratch_bytes(entry, kernel_height=3, kernel_width=3, input_channels=16) == 576
    assert manifest.scratch_bytes("arm_convolve_1x1_s8_fast", input_channels=64) == 0


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ("arm_convolve_s8", True),
        ("arm_softmax_f32", True),
        ("arm_convolve_1x1_nhwc_f16", False),
        ("arm_avg_pool_f32", False),
        ("helia_nn_clamp_f32", False),
        ("arm_squared_difference_s8", True),
        ("arm_rsqrt_s16_per_op", False),
        ("arm_hard_swish_compat_s8", False),
    ],
)
def test_entries_that_another_library_can_replace(entry, wanted):
    assert entry in manifest.public_entries()
    assert manifest.is_dialect_entry(entry) == wanted
