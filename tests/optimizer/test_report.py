# SPDX-License-Identifier: Apache-2.0
"""``report.html``: what it says, that it needs nothing else, and that equal campaigns give equal pages."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from double_runner import PriceList
from synthetic_campaign import SilentProgress

from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from optimizer.report import write_report
from results.errors import CampaignError
from results.evidence import read_evidence
from results.ledger import LEDGER_NAME, read_ledger
from results.report_page import influences, measured_plans


def campaign(model: Path, out: Path, prices: PriceList | None = None, trials: int = 10) -> Path:
    config = CampaignConfig.model_validate(
        {
            "convert": {"model": {"path": str(model)}},
            "space": {"knobs": ["kernel"]},
            "search": {"sampler": "brute_force", "trials": trials},
            "ray": {"workers": 0},
            "measurement_cache": False,
            "out": str(out),
        }
    )
    run_campaign(config, progress=SilentProgress(), runner_factory=prices or PriceList())
    return out


@pytest.fixture(scope="module")
def folder(digits_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign in which every plan was measured."""
    return campaign(digits_model, tmp_path_factory.mktemp("finished"), trials=100)


class Page(HTMLParser):
    """Reads a page: its texts, and whatever it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "path", "use"):
            self.open.append(tag)
        self.loads += [
            value
            for name, value in attrs
            if name in ("src", "href", "xlink:href") and value and not value.startswith("#")
        ]

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "use"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_verdict_comes_first_and_nothing_is_loaded(folder: Path) -> None:
    text = write_report(folder).read_text("utf-8")
    page = Page(text)
    assert page.open == []
    assert page.loads == []
    assert "://" not in text.replace("http://www.w3.org", "")
    evidence = read_evidence(folder)
    headline = re.search(r"<h1>(.*?)</h1>", text)
    assert headline is not None
    assert evidence.verdict in html.unescape(headline[1])
    assert "times as fast as auto" in headline[1]
    assert text.index("<h1>") < text.index("<h2>")


def test_every_operator_with_its_changes_is_on_the_page(folder: Path) -> None:
    text = html.unescape(write_report(folder).read_text("utf-8"))
    evidence = read_evidence(folder)
    for item in evidence.baseline.measurement.operator_cycles:
        assert item.id in text
    changed = [
        d for d in evidence.space.dimensions if evidence.winner.choices[d.name] != d.baseline
    ]
    assert changed
    assert text.count("kernel: specialized -> generic") == len(changed)
    for dropped in evidence.space.dropped:
        assert dropped.reason in text
    assert evidence.plan_sha256 in text


def test_equal_campaigns_give_equal_pages_without_paths(digits_model: Path, tmp_path: Path) -> None:
    pages = []
    for name in ("first", "second"):
        text = write_report(campaign(digits_model, tmp_path / name)).read_text("utf-8")
        assert str(tmp_path) not in text
        pages.append(
            re.sub(r"(seconds of evaluations|of these, \w+)</td><td[^>]*>[\d.]+", "", text)
        )
    assert pages[0] == pages[1]


def test_failures_are_listed_by_class(digits_model: Path, tmp_path: Path) -> None:
    folder = campaign(digits_model, tmp_path / "out", PriceList(wrong_entry="arm_convolve_s8"))
    text = html.unescape(write_report(folder).read_text("utf-8"))
    (failure,) = read_evidence(folder).search.failures
    assert failure.reason in text
    assert failure.status in text


def test_influence_takes_the_other_choices_at_their_best(folder: Path) -> None:
    content = read_ledger(folder / LEDGER_NAME)
    assert content is not None
    evidence = read_evidence(folder)
    rows = influences(evidence, measured_plans(content[1]))
    assert {row.name for row in rows} == {d.name for d in evidence.space.dimensions}
    assert all(row.tried == row.values == 2 for row in rows)
    assert all(row.low_value == "generic" for row in rows)  # the price list makes it cheaper
    assert [row.effect_cycles for row in rows] == sorted(
        (row.effect_cycles for row in rows), reverse=True
    )


def test_a_folder_without_a_campaign_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"evidence\.json"):
        write_report(tmp_path)
