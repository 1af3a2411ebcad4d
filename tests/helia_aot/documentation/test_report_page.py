# SPDX-License-Identifier: Apache-2.0
"""The HTML report: complete, well formed, escaped, offline and the same every time."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_models import ModelBuilder

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig

HTML = {"documentation": {"html": True}}
EMPTY = {"meta", "col", "br", "rect", "line"}
"""Elements without content; those of SVG close themselves."""


class Page(HTMLParser):
    """Collects what tests ask for, and checks that every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.boxes: list[dict[str, str | None]] = []
        self.text: list[str] = []
        self.record = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "rect":
            self.boxes.append(dict(attrs))
        if tag not in EMPTY - {"rect", "line"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag in ("rect", "line"):
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.record += data
        self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


def converted(model: Path, **sections: object) -> Conversion:
    return convert(ConvertConfig.model_validate({"model": {"path": model}, **HTML, **sections}))


def page_text(conversion: Conversion) -> str:
    prefix = conversion.module.prefix
    return next(f.text for f in conversion.module.files if f.path == f"{prefix}_report.html")


@pytest.fixture(scope="module")
def rich(digits_model: Path) -> Conversion:
    """A conversion with everything that a page can show."""
    staged = {"memory": "mram", "constant_destination_memory": "sram"}
    return converted(
        digits_model,
        module={"prefix": "kws"},
        memory={
            "tensors": [{"type": "constant", "attributes": staged}],
            "constraints": [{"name": "dtcm", "max_size": 65536}],
        },
        optimization={
            "kernel": "generic",
            "budget": {"dtcm_bytes": 40000, "cycles": 500000, "ram_bytes": 1e6},
        },
        operators=[
            {"type": "DEPTHWISE_CONV_2D", "optimization": {"kernel": "auto"}},
            {"type": "NOTHING", "optimization": {"kernel": "auto"}},
        ],
    )


def test_only_on_request(digits_model: Path) -> None:
    plain = convert(ConvertConfig.model_validate({"model": {"path": digits_model}}))
    with_page = converted(digits_model)
    paths = {file.path for file in plain.module.files}
    assert {file.path for file in with_page.module.files} - paths == {"aot_report.html"}
    assert {f.path: f.content for f in with_page.module.files}.items() >= {
        f.path: f.content for f in plain.module.files
    }.items()


def test_the_residency_record_is_embedded(rich: Conversion) -> None:
    assert json.loads(Page(page_text(rich)).record) == rich.residency


def test_operators_show_choices_and_who_made_them(rich: Conversion) -> None:
    words = Page(page_text(rich)).words
    for operator, facts in zip(rich.plan.operators, rich.report.operators, strict=True):
        assert operator.id in words
        assert operator.op_type in words
        assert (facts.entry or "shares storage") in words
    assert "kernel: generic set by optimization.kernel" in words
    assert "kernel: specialized auto (operators[0]), resolved by the goal" in words
    assert "makes no difference here: " in words
    assert "would call arm_convolve_s8_small_cin" in words


def test_the_rest_is_there(rich: Conversion) -> None:
    words = Page(page_text(rich)).words
    assert all(" ".join(hint.message.split()) in words for hint in rich.report.hints)
    assert all(use.used_text in words and use.limit_text in words for use in rich.budget)
    assert "not known before a measurement" in words
    assert "constraint: 64.0 KiB" in words
    assert "Constant arena in SRAM, copied from MRAM" in words
    assert all(warning in words for warning in rich.warnings)
    for tensor in rich.memory_plan.allocations.values():
        assert tensor.id in words


def test_from_a_plan(digits_model: Path, rich: Conversion) -> None:
    again = convert(
        ConvertConfig.model_validate({"model": {"path": digits_model}, **HTML}), plan=rich.plan
    )
    assert "kernel: generic from the input plan" in Page(page_text(again)).words


def test_boxes_are_the_places_and_lifetimes_of_the_plan(rich: Conversion) -> None:
    [arena] = [arena for arena in rich.memory_plan.arenas if arena.role == "scratch"]
    kinds = ("input", "output", "activation", "buffer")
    boxes = [box for box in Page(page_text(rich)).boxes if box["class"] in kinds]
    roots = {
        place.offset for place in rich.memory_plan.allocations.values() if place.role == "scratch"
    }
    height = 300
    tops = set()
    for box in boxes:
        x, width = (float(str(box[key]).removesuffix("%")) for key in ("x", "width"))
        y, tall = (float(str(box[key])) for key in ("y", "height"))
        assert 0 <= x < x + width <= 100.01
        assert -0.01 <= y < y + tall <= height + 0.01
        tops.add(round((height - y - tall) / height * arena.used_bytes))
    assert {min(roots, key=lambda offset: abs(offset - top)) for top in tops} == roots
    assert {"input", "output", "activation", "buffer"} == {str(box["class"]) for box in boxes}


def test_no_network_no_script_no_clock(rich: Conversion) -> None:
    text = page_text(rich)
    page = Page(text)
    names = {name for name, _ in page.attributes}
    assert not names & {"src", "href", "srcset", "onload", "onclick"}
    assert not {"img", "link", "iframe", "object", "a"} & set(page.tags)
    assert page.tags.count("script") == 1
    assert "application/json" in [value for _, value in page.attributes]
    assert not re.search(r"https?:|url\(|@import", text)
    assert "default-src 'none'" in text
    assert not re.search(r"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", text)


def test_the_same_bytes_every_time(digits_model: Path) -> None:
    assert page_text(converted(digits_model)) == page_text(converted(digits_model))


def test_names_of_the_model_cannot_become_markup(tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)>&amp;\"'"
    model = ModelBuilder()
    x = model.tensor((1, 4, 4, 3), scale=0.5, name=evil)
    filters = np.ones((4, 1, 1, 3), np.int8)
    y = model.conv_2d(x, filters, None, filter_scale=0.1, scale=1.0, zero_point=0, name=evil)
    path = tmp_path / "evil.tflite"
    path.write_bytes(model.build(inputs=[x], outputs=[y]))
    conversion = converted(path, module={"name": "a.b"})
    page = Page(page_text(conversion))
    assert "img" not in page.tags
    assert page.tags.count("script") == 1
    assert json.loads(page.record) == conversion.residency
    assert evil in "".join(page.text)


@pytest.mark.parametrize("platform", ["apollo4p_evb", "host"])
def test_every_target_has_a_page(digits_model: Path, platform: str) -> None:
    page = Page(page_text(converted(digits_model, platform={"name": platform})))
    assert "None: no single setting" in page.words


def test_pages_of_larger_and_smaller_models_are_well_formed(models_dir: Path) -> None:
    for name in ("vww_96_int8", "hello_world_int8"):
        conversion: Any = converted(models_dir / f"{name}.tflite")
        Page(page_text(conversion))
