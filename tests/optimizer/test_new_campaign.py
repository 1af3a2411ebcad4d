# SPDX-License-Identifier: Apache-2.0
"""``helia-search init``: a file that is good as it stands, and still good when its comments are taken in."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from helia_aot.errors import ConfigError
from optimizer.config import CampaignConfig, load_campaign_config
from optimizer.new_campaign import campaign_text, write_campaign


def test_the_file_is_the_campaign_of_its_model(digits_model: Path, tmp_path: Path) -> None:
    path = write_campaign(digits_model, "apollo4p_evb", tmp_path / "campaign.yaml")
    config = load_campaign_config(path)
    plain = load_campaign_config(digits_model, {"convert": {"platform": {"name": "apollo4p_evb"}}})
    assert config == plain


def test_every_commented_setting_is_a_default(digits_model: Path) -> None:
    text = campaign_text(digits_model, "apollo510_evb")
    settings = [
        line[2:]
        for line in text.splitlines()
        if line.startswith("# ") and not line.startswith("#     ")
    ]
    tree: dict[str, object] = {}
    section = ""
    for line in settings:
        if line.endswith(":") and not line.startswith(" "):
            section = line[:-1]
            tree[section] = {}
        elif section and line.startswith("  "):
            value = yaml.safe_load(line)
            assert isinstance(value, dict), line
            tree[section].update(value)  # type: ignore[attr-defined]
    assert set(tree) == {"space", "search", "accuracy", "runner", "ray"}
    config = CampaignConfig.model_validate({"convert": {"model": {"path": "m.tflite"}}, **tree})
    bare = CampaignConfig.model_validate({"convert": {"model": {"path": "m.tflite"}}})
    for name in ("space", "search", "runner", "ray"):
        assert getattr(config, name).model_dump() == getattr(bare, name).model_dump(), name


def test_an_existing_file_is_left_alone(digits_model: Path, tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text("mine")
    with pytest.raises(ConfigError, match="left alone"):
        write_campaign(digits_model, "apollo510_evb", path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("model", "platform"), [("none.tflite", "apollo510_evb"), (None, "no_such_board")]
)
def test_nothing_is_written_for_what_does_not_exist(
    model: str | None, platform: str, digits_model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "campaign.yaml"
    with pytest.raises(ConfigError):
        write_campaign(tmp_path / model if model else digits_model, platform, path)
    assert not path.exists()
