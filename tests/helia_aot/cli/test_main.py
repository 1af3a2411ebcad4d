# SPDX-License-Identifier: Apache-2.0
"""The command line from outside: output streams, exit codes, and what help loads."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from helia_aot.cli.main import main
from helia_aot.version import __version__

ROOT = Path(__file__).parents[3]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["helia-aot", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_version_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "version") == 0
    assert capsys.readouterr().out == f"{__version__}\n"


def test_version_is_that_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__


def test_module_runs_as_a_program() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "helia_aot", "version"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert ran.stdout == f"{__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["version"], ["platforms", "--help"]])
def test_light_commands_load_no_heavy_package(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['helia-aot', *{arguments!r}]\n"
        "from helia_aot.cli.main import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pydantic_settings', 'tflite', 'yaml', 'jinja2'}\n"
        "sys.stderr.write(','.join(sorted(heavy & set(sys.modules))))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ran.stdout
    assert ran.stderr == ""


def test_commands_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--help") == 0
    out = capsys.readouterr().out
    assert all(command in out for command in ("convert", "platforms", "version"))


def test_unknown_command_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "convrt") == 2


def test_error_goes_to_standard_error_with_its_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "platforms", "show", "apolo510_evb") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "error: There is no platform 'apolo510_evb'\n"
        "  platform.name: 'apolo510_evb' is not known\n"
        "    -> did you mean apollo510_evb?\n"
        "next: see 'helia-aot platforms list'\n"
    )


def test_interruption_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("helia_aot.cli.convert.run_convert", interrupted)
    assert run(monkeypatch, "convert", "m.tflite") == 130


def test_platforms_are_listed_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "platforms", "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [item["name"] for item in listed] == sorted(item["name"] for item in listed)


def test_platform_is_shown_as_json_and_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "platforms", "show", "apollo510_evb", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["memories"]["dtcm"]["size_bytes"] == 507904
    assert run(monkeypatch, "platforms", "show", "apollo510_evb") == 0
    out = capsys.readouterr().out
    assert all(fact in out for fact in ("cortex-m55", "507904", "mve", "96 MHz, 250 MHz"))


def test_platforms_are_listed_as_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "platforms", "list") == 0
    assert "apollo4p_evb" in capsys.readouterr().out
