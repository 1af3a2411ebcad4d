# SPDX-License-Identifier: Apache-2.0
"""The files that a conversion reads, as bytes that travel with it: workers need no shared disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import Problem
from optimizer.errors import CampaignError


@dataclass(frozen=True)
class Shipment:
    """A conversion's settings with its input files.

    Attributes:
        config: The settings; their paths are those of the machine that packed them.
        files: Content of each file by the setting that names it, e.g. ``model.path``; empty where
            the paths are good as they are.
    """

    config: ConvertConfig
    files: Mapping[str, bytes] = field(default_factory=dict)

    def unpack(self, folder: Path) -> ConvertConfig:
        """Writes the files and gives the settings that name them there.

        File names stay, because a plan holds the model's; so the same module comes out.

        Args:
            folder: An empty folder.
        """
        tree = self.config
        for setting, data in self.files.items():
            section, _, name = setting.partition(".")
            before = getattr(tree, section)
            path = folder / setting / Path(getattr(before, name)).name
            path.parent.mkdir(parents=True)
            path.write_bytes(data)
            tree = tree.model_copy(update={section: before.model_copy(update={name: path})})
        return tree


def pack(config: ConvertConfig) -> Shipment:
    """Reads the files that a conversion needs.

    Raises:
        CampaignError: One cannot be read.
    """
    paths = {"model.path": config.model.path, "test.golden_data": config.test.golden_data}
    files = {}
    for setting, path in paths.items():
        if path is None:
            continue
        try:
            files[setting] = path.read_bytes()
        except OSError as error:
            raise CampaignError(
                "A file of the conversion cannot be read.",
                [Problem(setting, f"{path}: {error.strerror}")],
            ) from error
    return Shipment(config, files)
