# SPDX-License-Identifier: Apache-2.0
"""What a campaign is, so that a ledger is continued only by the campaign that began it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from helia_aot.codegen.module import Module
from helia_aot.config.convert import ConvertConfig
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.version import __version__
from optimizer.accuracy import Samples
from optimizer.compiler import compiler_sha256
from optimizer.config import CampaignConfig
from results.records import CampaignIdentity
from runners.measurement import RunnerIdentity, Stimulus, outputs_sha256
from search_spaces.plans import plan_key
from search_spaces.space import SearchSpace


def campaign_identity(
    config: CampaignConfig,
    *,
    baseline: OptimizationPlan,
    space: SearchSpace,
    runner: RunnerIdentity,
    inputs_sha256: str,
) -> CampaignIdentity:
    """Gives the identity of a campaign.

    Limits of the search, workers and file locations are not part of it: more trials, or another
    folder, continue a campaign.
    """
    return CampaignIdentity(
        campaign=config.campaign_name,
        model_sha256=baseline.model.sha256,
        subgraph=baseline.model.subgraph,
        config_sha256=config_sha256(config),
        baseline_plan_key=plan_key(baseline),
        space_sha256=space.digest(),
        compiler=f"helia-aot {__version__} {compiler_sha256()}",
        runner=runner,
        stimulus_sha256=inputs_sha256,
        sampler=config.search.sampler,
        seed=config.search.seed,
        objectives=tuple(config.objectives),
        budget=config.all_limits,
    )


def inputs_sha256(stimulus: Stimulus, samples: Samples | None) -> str:
    """Gives the SHA-256 over everything that plans run on and are compared with."""
    arrays = list(stimulus.inputs)
    if samples is not None:
        arrays += [array for item in samples.stimuli for array in item.inputs]
        arrays += [array for outputs in samples.outputs or () for array in outputs]
        arrays += [] if samples.labels is None else [samples.labels]
    return outputs_sha256(arrays)


def config_sha256(config: CampaignConfig) -> str:
    """Gives the SHA-256 over the settings that change what is built or how it is measured."""
    settings = {
        "convert": settings_without_locations(config.limited_convert),
        "runner": config.runner.model_dump(mode="json", exclude={"timeout_s", "boards", "kernels"}),
    }
    if config.accuracy is not None:
        settings["accuracy"] = {"metric": config.accuracy.metric}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def module_sha256(module: Module) -> str:
    """Gives the SHA-256 over the files of a module and the payloads of its constant arenas."""
    digest = hashlib.sha256()
    for file in module.files:
        digest.update(f"{file.path}\0{file.text}\0".encode())
    for blob in module.constant_blobs:
        digest.update(f"{blob.symbol}\0".encode() + blob.data)
    return digest.hexdigest()


def settings_without_locations(config: ConvertConfig) -> dict[str, Any]:
    """Gives the settings of a conversion that do not say where files are."""
    settings = config.model_dump(mode="json", exclude={"force", "verbose", "log_file"})
    del settings["model"]["path"], settings["module"]["path"]
    return settings


def rebuild_settings(config: ConvertConfig) -> dict[str, Any]:
    """Gives :func:`settings_without_locations` for a conversion with a plan.

    A planner that nobody asked for is left out: written down it would be a request, which a plan with
    another planner contradicts.
    """
    settings = settings_without_locations(config)
    for name in ("planner", "planner_options"):
        if name not in config.memory.model_fields_set:
            del settings["memory"][name]
    return settings
