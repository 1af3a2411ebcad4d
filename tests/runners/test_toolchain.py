# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from runners import toolchain
from runners.errors import ToolchainError

FINDERS = {
    "arm-none-eabi-gcc": toolchain.find_arm_compiler,
    "qemu-system-arm": toolchain.find_emulator,
    "cc": toolchain.find_host_compiler,
}


@pytest.mark.parametrize("name", FINDERS)
def test_missing_tool_says_how_to_install_it(name, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError) as caught:
        FINDERS[name]()
    assert caught.value.exit_code == 8
    assert name in str(caught.value)
    assert "apt install" in str(caught.value)
    assert len(toolchain.check_tools()) == 3


@pytest.mark.parametrize("name", FINDERS)
def test_broken_tool_is_named(name, monkeypatch, tmp_path):
    program = tmp_path / name
    program.write_text("#!/bin/sh\nexit 5\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(ToolchainError, match="does not start"):
        FINDERS[name]()


@pytest.mark.parametrize("name", FINDERS)
@pytest.mark.usefixtures("tools")
def test_version_and_digest(name):
    tool = FINDERS[name]()
    assert any(character.isdigit() for character in tool.version)
    assert len(tool.digest) == 64
    assert FINDERS[name]() == tool
