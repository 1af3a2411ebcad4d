# SPDX-License-Identifier: Apache-2.0
"""The template environment; the only file of the compiler that imports jinja2."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def _environment(*, html: bool = False) -> Environment:
    return Environment(
        loader=PackageLoader("helia_aot.codegen"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=html,  # not for C
    )


def render(template: str, view: Mapping[str, Any]) -> str:
    """Renders a template of ``helia_aot/codegen/templates``.

    Args:
        template: File name without the ``.j2`` suffix.
        view: The values that the template names; a missing one is an error.

    Returns:
        The text; the same view always gives the same text.
    """
    module = _environment().get_template("banner.j2").make_module(dict(view))
    return _environment().get_template(f"{template}.j2").render(view, banner=vars(module)["banner"])


def render_page(template: str, view: Mapping[str, Any]) -> str:
    """Renders an HTML template of ``helia_aot/codegen/templates``; values are escaped.

    Args:
        template: File name without the ``.j2`` suffix.
        view: The values that the template names; a missing one is an error.

    Returns:
        The text; the same view always gives the same text.
    """
    return _environment(html=True).get_template(f"{template}.j2").render(view)
