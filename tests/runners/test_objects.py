# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.cache_files import cache_directory
from runners.errors import RunnerError
from runners.failure import CandidateFailure
from runners.objects import Compiler, ObjectCache, Source, visible_files
from runners.toolchain import find_arm_compiler

KEY = "ab" + "0" * 62
TREE = {
    "src/a.c": b'#include "../inc/a.h"\n#include <stdint.h>\nint a = VALUE;\n',
    "inc/a.h": b'#ifdef NEVER\n# include "b.h"\n#endif\n#define VALUE 1\n',
    "inc/b.h": b"",
    "inc/c.h": b"#define UNSEEN\n",
    "first.h": b"",
}
SOURCE = Source("src/a.c", "objects/x/a.o", ("-mthumb", "-mcpu=cortex-m4"), ("first.h",))


def compile_in(directory: Path, tree=TREE, source=SOURCE, cache: Path | None = None) -> int:
    directory.mkdir(exist_ok=True)
    compiler = Compiler(find_arm_compiler(), ObjectCache(cache or directory / "cache"))
    return compiler.compile([source], tree, directory)


def test_entry_comes_back(tmp_path):
    cache = ObjectCache(tmp_path)
    assert cache.read(KEY) is None
    cache.write(KEY, b"object")
    assert cache.read(KEY) == b"object"


@given(position=st.integers(0, 31 + 100), bit=st.integers(0, 7))
def test_damaged_entry_is_dropped(tmp_path_factory, position, bit):
    folder = tmp_path_factory.mktemp("objects")
    cache = ObjectCache(folder)
    cache.write(KEY, bytes(100))
    (entry,) = folder.rglob("*.o")
    data = bytearray(entry.read_bytes())
    data[position] ^= 1 << bit
    entry.write_bytes(data)
    assert cache.read(KEY) is None
    assert not entry.exists()


@pytest.mark.parametrize("size", [0, 5, 40])
def test_torn_entry_is_dropped(tmp_path, size):
    cache = ObjectCache(tmp_path)
    cache.write(KEY, bytes(100))
    (entry,) = tmp_path.rglob("*.o")
    entry.write_bytes(entry.read_bytes()[:size])
    assert cache.read(KEY) is None


def test_readers_never_see_half_of_a_write(tmp_path):
    cache = ObjectCache(tmp_path)
    payloads = [bytes([n]) * 100_000 for n in range(4)]
    seen: list[bytes | None] = []

    def write(data: bytes) -> None:
        for _ in range(20):
            cache.write(KEY, data)
            seen.append(cache.read(KEY))

    threads = [threading.Thread(target=write, args=(data,)) for data in payloads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 80
    assert all(data in payloads for data in seen)
    assert len(list(tmp_path.rglob("*"))) == 2  # a folder and the entry, nothing half-written


def test_cache_that_cannot_be_written_says_what_to_set(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunnerError, match="HELIA_CACHE_DIR"):
        ObjectCache(tmp_path / "file" / "objects").write(KEY, b"")


def test_cache_directory_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HELIA_CACHE_DIR", str(tmp_path / "own"))
    assert cache_directory() == tmp_path / "own"
    monkeypatch.delenv("HELIA_CACHE_DIR")
    assert cache_directory() == tmp_path / "xdg" / "helia-search"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_directory() == tmp_path / ".cache" / "helia-search"


def test_visible_files_are_those_included_in_any_way():
    assert visible_files(["src/a.c", "first.h"], [], TREE) == [
        "first.h",
        "inc/a.h",
        "inc/b.h",
        "src/a.c",
    ]


@pytest.mark.parametrize(
    ("file", "seen"),
    [
        ("src/a.c", True),
        ("inc/a.h", True),
        ("inc/b.h", True),
        ("first.h", True),
        ("inc/c.h", False),
    ],
)
@pytest.mark.usefixtures("tools")
def test_a_change_compiles_again_only_what_can_see_it(tmp_path, file, seen):
    cache = tmp_path / "cache"
    assert compile_in(tmp_path / "one", cache=cache) == 1
    assert compile_in(tmp_path / "two", cache=cache) == 0
    changed = {**TREE, file: TREE[file] + b"\n/* changed */\n"}
    assert compile_in(tmp_path / "three", changed, cache=cache) == int(seen)


@pytest.mark.usefixtures("tools")
def test_flags_are_part_of_the_key(tmp_path):
    cache = tmp_path / "cache"
    compile_in(tmp_path / "one", cache=cache)
    other = Source(SOURCE.path, SOURCE.object_path, (*SOURCE.flags, "-O3"), SOURCE.forced_includes)
    assert compile_in(tmp_path / "two", source=other, cache=cache) == 1


@pytest.mark.usefixtures("tools")
def test_objects_do_not_depend_on_the_directory(tmp_path):
    texts = []
    for name in ("one", "a much longer name"):
        compile_in(tmp_path / name)
        texts.append((tmp_path / name / SOURCE.object_path).read_bytes())
    assert texts[0] == texts[1]


@pytest.mark.usefixtures("tools")
def test_source_that_does_not_compile_gives_the_message(tmp_path):
    with pytest.raises(CandidateFailure, match=r"src/a\.c does not compile: .*error") as caught:
        compile_in(tmp_path, {**TREE, "src/a.c": b"int a = ;\n"})
    assert (caught.value.status, caught.value.stage) == ("plan_bad", "build")


@pytest.mark.usefixtures("tools")
def test_compiler_that_is_killed_is_the_rigs_fault(tmp_path):
    killed = tmp_path / "gcc"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    tool = find_arm_compiler()
    compiler = Compiler(type(tool)(killed, tool.version, tool.digest), ObjectCache(tmp_path / "c"))
    with pytest.raises(CandidateFailure) as caught:
        compiler.compile([SOURCE], TREE, tmp_path)
    assert caught.value.status == "rig_bad"
