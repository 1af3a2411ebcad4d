# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import pytest
from conftest import REPOSITORY
from synthetic_campaign import synthetic_plan, table_measurement

from results.records import (
    ENTRY_ADAPTER,
    LEDGER_SCHEMA_VERSION,
    CampaignHeader,
    CampaignIdentity,
    RepeatRecord,
    TrialRecord,
    known_plans,
)
from runners.measurement import Measurement

PLAN = synthetic_plan(2)
FIELDS: dict[str, Any] = {
    "plan_key": "a" * 64,
    "in_space": True,
    "choices": {},
    "seconds": 1.0,
    "measurement": table_measurement(PLAN),
}


def lost() -> Measurement:
    return Measurement(status="rig_bad", stage="run", reason="no answer")


def test_lines_are_told_apart_by_their_kind() -> None:
    entries = [TrialRecord(role="baseline", **FIELDS), RepeatRecord(ask=1, plan_key="a" * 64)]
    for entry in entries:
        assert ENTRY_ADAPTER.validate_json(entry.model_dump_json()) == entry


@pytest.mark.parametrize(
    "extra",
    [
        {"role": "search"},
        {"role": "baseline", "ask": 1},
        {"role": "verify", "slot": 1},
        {"role": "search", "ask": 1, "finalist": "b" * 64},
    ],
)
def test_fields_follow_the_role(extra: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="exactly for role"):
        TrialRecord(**FIELDS, **extra)


def test_known_plans_are_settled_and_not_of_the_verdict() -> None:
    first = TrialRecord(role="baseline", **FIELDS)
    verify = TrialRecord(
        role="verify", slot=0, finalist="b" * 64, **{**FIELDS, "plan_key": "b" * 64}
    )
    fault = TrialRecord(
        role="search", ask=0, **{**FIELDS, "plan_key": "c" * 64, "measurement": lost()}
    )
    again = TrialRecord(role="search", ask=1, **FIELDS)
    assert known_plans([first, verify, fault, again]) == {"a" * 64: first}


def test_the_page_of_the_ledger_names_every_field() -> None:
    text = (REPOSITORY / "docs" / "ledger.md").read_text("utf-8")
    tables = {
        match[1]: set(re.findall(r"^\| `(\w+)` \|", match[2], re.MULTILINE))
        for match in re.finditer(r"^## (.+)$([^#]*)", text, re.MULTILINE)
    }
    assert tables["Header"] == set(CampaignHeader.model_fields)
    assert tables["One evaluation"] == set(TrialRecord.model_fields)
    assert tables["A repeated proposal"] == set(RepeatRecord.model_fields)
    named = set(re.findall(r"`(\w+)`", text))
    assert set(CampaignIdentity.model_fields) <= named
    assert f"`schema_version` of the header is {LEDGER_SCHEMA_VERSION}" in text
