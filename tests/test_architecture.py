# SPDX-License-Identifier: Apache-2.0
"""The architecture as a test: who may import whom, and where heavy packages may appear."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import REPOSITORY

PACKAGES = {
    "helia_aot": set(),
    "search_spaces": {"helia_aot"},
    "runners": {"helia_aot"},
    "results": {"helia_aot", "runners", "search_spaces"},
    "optimizer": {"helia_aot", "runners", "search_spaces", "results"},
}
# Bottom to top; parts of one layer do not import each other, except that a codegen or memory part may use its own.
LAYERS = (
    ("errors", "version"),
    ("optimization.knobs", "optimization.budgets", "optimization.fixed", "transforms.declarations"),
    ("config", "kernels"),
    ("platforms", "ir"),
    ("operators", "frontend"),
    ("transforms", "memory"),
    ("optimization", "codegen"),
    ("documentation",),
    ("pipeline", "schemas"),
    ("api",),
    ("cli",),
)
PUBLIC = {
    "api",
    "cli.messages",
    "codegen.module",
    "config",
    "errors",
    "kernels.manifest",
    "optimization",
    "pipeline",
    "platforms",
    "version",
}
HEAVY = {
    "jinja2": {
        "helia_aot/codegen/environment.py",
        "results/report_page.py",
        "runners/image.py",
        "runners/layout.py",
    },
    "matplotlib": {"results/plots.py"},
    "optuna": {"optimizer"},
    "pyocd": {"runners/device/session.py"},
    "ray": {"optimizer/ray_executor.py"},
    "tflite": {"helia_aot/frontend/tflite"},
    "typer": {"helia_aot/cli", "optimizer/boards_cli.py", "optimizer/cli.py"},
}


def sources(package: str) -> list[Path]:
    return sorted((REPOSITORY / package).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer(module: str) -> int | None:
    """Gives the layer of a dotted name below helia_aot; None for names that are no module of a layer."""
    best: tuple[int, int] | None = None
    for index, names in enumerate(LAYERS):
        for name in names:
            if module == name or module.startswith(f"{name}."):
                best = max(best or (0, 0), (len(name), index))
    return best[1] if best else None


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_point_one_way(package: str) -> None:
    allowed = PACKAGES[package] | {package}
    wrong = [
        f"{path.relative_to(REPOSITORY)} imports {name}"
        for path in sources(package)
        for name in imports(path)
        if name.split(".")[0] in PACKAGES and name.split(".")[0] not in allowed
    ]
    assert not wrong


def test_layers_of_the_compiler_point_down() -> None:
    wrong = []
    for path in sources("helia_aot"):
        relative = path.relative_to(REPOSITORY / "helia_aot").with_suffix("")
        own = ".".join(part for part in relative.parts if part != "__init__")
        mine = layer(own)
        if mine is None:
            continue
        for name in imports(path):
            target = name.removeprefix("helia_aot.")
            theirs = layer(target) if name.startswith("helia_aot.") else None
            same_part = own.split(".")[0] == target.split(".")[0]
            if theirs is not None and not same_part and theirs >= mine:
                wrong.append(f"{path.relative_to(REPOSITORY)} imports {name}")
    assert not wrong


@pytest.mark.parametrize("package", ["search_spaces", "runners", "results", "optimizer"])
def test_outsiders_use_public_modules_of_the_compiler(package: str) -> None:
    wrong = [
        f"{path.relative_to(REPOSITORY)} imports {name}"
        for path in sources(package)
        for name in imports(path)
        if name.startswith("helia_aot.")
        and not any(
            name.removeprefix("helia_aot.") == public
            or name.removeprefix("helia_aot.").startswith(f"{public}.")
            for public in PUBLIC
        )
        and name.count(".") > 0
        and name not in {"helia_aot.kernels", "helia_aot.codegen"}
    ]
    assert not wrong


@pytest.mark.parametrize("heavy", HEAVY)
def test_heavy_packages_appear_in_their_place_only(heavy: str) -> None:
    wrong = [
        str(path.relative_to(REPOSITORY))
        for package in PACKAGES
        for path in sources(package)
        if any(name.split(".")[0] == heavy for name in imports(path))
        and not any(
            path.relative_to(REPOSITORY).as_posix() == place
            or path.relative_to(REPOSITORY).as_posix().startswith(f"{place}/")
            for place in HEAVY[heavy]
        )
    ]
    assert not wrong


def test_a_planted_upward_import_is_found() -> None:
    assert layer("optimization.knobs") == 1
    assert layer("optimization.plan") == LAYERS.index(("optimization", "codegen"))
    assert layer("pipeline") > layer("memory.plan") > layer("ir.graph") > layer("errors")
