# SPDX-License-Identifier: Apache-2.0
"""A campaign as an Optuna study in a file, for optuna-dashboard and Optuna's own analyses."""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from helia_aot.errors import HeliaError
from optimizer.errors import CampaignError
from optimizer.samplers import SamplerName
from optimizer.study import CampaignStudy
from results.ledger import LEDGER_NAME, read_ledger
from search_spaces.space import SPACE_NAME, SearchSpace

STUDY_NAME: Final = "study.log"


def write_study(folder: Path, path: Path | None = None) -> Path:
    """Writes the study of a campaign, finished or not, as an Optuna journal.

    The trials are those that the sampler has seen: proposals, the baseline and the reference, with their objectives,
    constraints and cycles of operators. The ledger stays the only truth; nothing reads the study back.

    Args:
        folder: The folder of the campaign.
        path: The file; by default ``study.log`` in the folder. An old one is replaced.

    Returns:
        The file, for ``optuna-dashboard <file>``.

    Raises:
        CampaignError: There is no ledger or space, one is damaged, or the file cannot be written.
    """
    content = read_ledger(folder / LEDGER_NAME)
    if content is None:
        raise CampaignError(
            f"{folder} holds no campaign.", next_step="give the folder of a campaign (out)"
        )
    header, entries = content
    identity = header.identity
    try:
        space = SearchSpace.from_json((folder / SPACE_NAME).read_text("utf-8"))
    except (OSError, HeliaError) as error:
        raise CampaignError(f"{folder / SPACE_NAME} cannot be read: {error}") from error
    campaign = CampaignStudy(
        space,
        sampler=cast(SamplerName, identity.sampler),
        seed=identity.seed,
        objectives=identity.objectives,
        budget=identity.budget,
    )
    campaign.replay(entries)
    target = path or folder / STUDY_NAME
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        storage = JournalStorage(JournalFileBackend(str(partial)))
        study = optuna.create_study(
            storage=storage,
            study_name=identity.campaign,
            directions=["minimize"] * len(identity.objectives),
        )
        study.set_user_attr("objectives", list(identity.objectives))
        study.add_trials(campaign.trials)
        partial.replace(target)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise CampaignError(f"{target} cannot be written: {error.strerror}") from error
    return target
