# SPDX-License-Identifier: Apache-2.0
"""How plans with approximate values are judged: samples, reference outputs, and metrics.

A plan of exact values must give the outputs of the baseline bit for bit, and no metric is asked. A plan with an
approximate value runs on every sample, and its outputs are compared with a reference: recorded outputs, labels, or what
the baseline gives on the same samples.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, JsonValue, model_validator

from helia_aot.codegen.module import ModuleTensor
from helia_aot.config.base import StrictModel
from helia_aot.errors import ConfigError, Problem
from runners.measure import random_stimulus, read_arrays
from runners.measurement import Stimulus
from runners.verdict import stimulus_problems

Outputs = tuple[NDArray[Any], ...]
"""What the model computed for one sample: one array for each output."""

LabelMetric = Callable[[Sequence[Outputs], NDArray[Any]], float]
"""Gives a score, higher is better, from the outputs of all samples and their labels."""

LARGEST_DB: Final = 400.0
"""Stands for an infinite ratio; float64 resolves about 320 dB."""

RANDOM_SAMPLES: Final = 4
"""Samples when no file is given: pseudo-random inputs, seeds from 0."""


@dataclass(frozen=True)
class Metric:
    """One way to judge outputs.

    Attributes:
        name: Its name in ``accuracy.metric``.
        better: Whether lower or higher values are better.
        needs_labels: Whether it compares with labels instead of reference outputs.
        text: What it is, with its unit.
    """

    name: str
    better: Literal["lower", "higher"]
    needs_labels: bool
    text: str


NOISE_TO_SIGNAL_DB: Final = "noise_to_signal_db"
"""The ratio of signal to noise with its sign turned: lower is better, as for every quantity."""

MAX_ABS_ERROR: Final = "max_abs_error"
ACCURACY_DROP: Final = "accuracy_drop"

METRICS: Final[Mapping[str, Metric]] = {
    metric.name: metric
    for metric in (
        Metric(
            MAX_ABS_ERROR,
            "lower",
            False,
            "largest difference of any output element, in output units",
        ),
        Metric(
            "mean_squared_error",
            "lower",
            False,
            "mean squared difference of all output elements, in squared output units",
        ),
        Metric(
            "signal_to_noise_db",
            "higher",
            False,
            "energy of the reference over energy of the difference, in dB",
        ),
        Metric(
            "top1",
            "higher",
            True,
            "share of samples whose largest element of the first output is at the label",
        ),
    )
}
"""The metrics by name; ``module:function`` names a function of the user's beside them."""


class AccuracyConfig(StrictModel):
    """How approximate plans are judged."""

    samples: Path | None = Field(
        None,
        description=(
            "An .npz with inputs (one array, the first axis counts samples; inputs_<i> for several "
            "inputs), and labels or outputs; null takes pseudo-random inputs and what the baseline "
            "computes"
        ),
    )
    metric: str = Field(
        MAX_ABS_ERROR,
        description=f"{', '.join(METRICS)}, or module:function of your own (outputs, labels) -> score",
    )
    limit: float | None = Field(
        None,
        description=(
            "What is accepted: the largest error, the lowest ratio in dB, or for metrics with labels "
            "the largest drop of the score against auto; budget.max_abs_error and "
            "budget.accuracy_drop say the same"
        ),
    )
    max_samples: int = Field(
        32, ge=1, description="Samples that are run, the first ones of the file"
    )

    @model_validator(mode="after")
    def _metric_exists(self) -> AccuracyConfig:
        if self.metric not in METRICS and not _is_function_name(self.metric):
            raise ValueError(
                f"metric {self.metric!r} is not known; use {', '.join(METRICS)} or module:function"
            )
        if self.needs_labels and self.samples is None:
            raise ValueError(f"metric {self.metric} needs labels; name a file under samples")
        return self

    def without_folder(self) -> dict[str, JsonValue]:
        """Gives the settings with the samples' file by its name alone."""
        tree: dict[str, JsonValue] = self.model_dump(mode="json")
        tree["samples"] = None if self.samples is None else self.samples.name
        return tree

    @property
    def needs_labels(self) -> bool:
        """Whether the metric compares with labels."""
        metric = METRICS.get(self.metric)
        return metric is None or metric.needs_labels

    @property
    def limits(self) -> dict[str, float]:
        """The limit as an upper one, by the name of a quantity."""
        if self.limit is None:
            return {}
        if self.needs_labels:
            return {ACCURACY_DROP: self.limit}
        if self.is_higher_better:
            return {NOISE_TO_SIGNAL_DB: -self.limit}
        return {self.metric: self.limit}

    @property
    def is_higher_better(self) -> bool:
        """Whether higher values of the metric are better; so for every function of the user's."""
        metric = METRICS.get(self.metric)
        return metric is None or metric.better == "higher"


@dataclass(frozen=True)
class Samples:
    """Inputs to judge plans on, and what is known about their outputs.

    Attributes:
        stimuli: The inputs of each sample.
        outputs: The reference outputs of each sample; None takes those of the baseline.
        labels: One label for each sample; None when there are none.
    """

    stimuli: tuple[Stimulus, ...]
    outputs: tuple[Outputs, ...] | None = None
    labels: NDArray[Any] | None = None


def load_samples(
    config: AccuracyConfig, inputs: Sequence[ModuleTensor], outputs: Sequence[ModuleTensor]
) -> Samples:
    """Gives the samples that a configuration asks for.

    Args:
        config: The configuration.
        inputs: Inputs of the module.
        outputs: Outputs of the module.

    Raises:
        ConfigError: An array is missing or does not fit; every problem is listed.
        RunnerError: The file cannot be read.
    """
    if config.samples is None:
        return Samples(tuple(random_stimulus(inputs, seed) for seed in range(RANDOM_SAMPLES)))
    arrays = read_arrays(config.samples)
    problems: list[Problem] = []
    given = _stacked(arrays, "inputs", inputs, problems, must=True)
    wanted = _stacked(arrays, "outputs", outputs, problems, must=False)
    labels = arrays.get("labels")
    if config.needs_labels and labels is None:
        problems.append(Problem("labels", f"is missing; {config.metric} compares with them"))
    counts = {len(array) for array in (*given, *wanted, *([] if labels is None else [labels]))}
    if not problems and len(counts) != 1:
        reason = f"the arrays have {', '.join(map(str, sorted(counts)))} samples"
        problems.append(Problem("inputs", reason, "give every array the same first axis"))
    if not problems and counts == {0}:
        problems.append(Problem("inputs", "holds no sample"))
    if problems:
        raise ConfigError(f"{config.samples} does not fit the model.", problems)
    count = min(config.max_samples, len(given[0]))
    stimuli = tuple(Stimulus(tuple(array[i] for array in given)) for i in range(count))
    unfit = stimulus_problems(inputs, stimuli[0])
    if unfit:
        raise ConfigError(f"{config.samples} does not fit the model.", unfit)
    return Samples(
        stimuli,
        tuple(tuple(array[i] for array in wanted) for i in range(count)) if wanted else None,
        None if labels is None else labels[:count],
    )


def label_metric(name: str) -> LabelMetric:
    """Gives the function of a metric that compares with labels.

    Raises:
        ConfigError: A function of the user's cannot be imported.
    """
    if name == "top1":
        return top1
    module_name, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            "The accuracy metric cannot be loaded.",
            [Problem("accuracy.metric", f"{name}: {error}")],
            next_step="name a function in a module that Python finds from the current folder",
        ) from error
    if not callable(found):
        reason = f"{name} is no function"
        raise ConfigError(
            "The accuracy metric cannot be loaded.", [Problem("accuracy.metric", reason)]
        )
    metric: LabelMetric = found
    return metric


def top1(outputs: Sequence[Outputs], labels: NDArray[Any]) -> float:
    """Gives the share of samples whose first output is largest at the label; the first of equals counts."""
    chosen = [int(np.argmax(sample[0])) for sample in outputs]
    return float(np.mean(np.asarray(chosen) == np.asarray(labels).reshape(-1)))


def differences(outputs: Sequence[Outputs], reference: Sequence[Outputs]) -> dict[str, float]:
    """Gives every metric that compares outputs with reference outputs, over all samples and outputs.

    Returns:
        The metrics by name; none where an output is no number, or infinite where the reference is not. The ratio lies
        within :data:`LARGEST_DB`, which equal outputs have.
    """
    wide = [np.concatenate([_wide(a) for a in sample]) for sample in outputs]
    true = [np.concatenate([_wide(a) for a in sample]) for sample in reference]
    got, wanted = np.concatenate(wide), np.concatenate(true)
    with np.errstate(invalid="ignore"):
        error = np.where(got == wanted, 0.0, got - wanted)
    if not np.all(np.isfinite(error)):
        return {}
    noise, signal = float(np.sum(error**2)), float(np.sum(wanted**2))
    return {
        MAX_ABS_ERROR: float(np.max(np.abs(error), initial=0.0)),
        "mean_squared_error": float(np.mean(error**2)) if error.size else 0.0,
        "signal_to_noise_db": _decibel(signal, noise),
        NOISE_TO_SIGNAL_DB: -_decibel(signal, noise),
    }


def judge(
    config: AccuracyConfig,
    outputs: Sequence[Outputs],
    reference: Sequence[Outputs],
    baseline: Sequence[Outputs],
    labels: NDArray[Any] | None,
) -> dict[str, float]:
    """Gives all that can be said about a plan's outputs, by name of the quantity.

    Args:
        config: Which metric decides.
        outputs: What the plan computed, sample by sample.
        reference: The recorded outputs, or the baseline's where none are recorded.
        baseline: What the baseline computed.
        labels: The labels, where there are any.

    Returns:
        The differences, none of them where an output is no number; with labels also the score, by the metric's name,
        and ``accuracy_drop``, what the baseline scores more (below 0 where the plan is better).
    """
    found = differences(outputs, reference)
    if found and config.needs_labels and labels is not None:
        metric = label_metric(config.metric)
        score = float(metric(outputs, labels))
        found[config.metric] = score
        found[ACCURACY_DROP] = float(metric(baseline, labels)) - score
    return found


def _stacked(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    tensors: Sequence[ModuleTensor],
    problems: list[Problem],
    *,
    must: bool,
) -> list[NDArray[Any]]:
    """Gives one array for each tensor, its first axis counting samples, in the tensor's own shape and type."""
    found: list[NDArray[Any]] = []
    for index, tensor in enumerate(tensors):
        key = f"{name}_{index}" if f"{name}_{index}" in arrays or len(tensors) > 1 else name
        array = arrays.get(key)
        if array is None:
            if must or found:
                problems.append(Problem(key, "is missing"))
            continue
        elements = math.prod(tensor.shape)
        if array.ndim == 0 or array.size != len(array) * elements:
            reason = f"has the shape {list(array.shape)}"
            wanted = f"samples of {list(tensor.shape)}, one after another"
            problems.append(Problem(key, reason, f"give {wanted}"))
        elif array.dtype.kind == np.dtype(tensor.dtype).kind == "f":
            # Floats of another width are what they are: inputs are rounded, references stay.
            array = array.astype(tensor.dtype) if must else array
            found.append(array.reshape(len(array), *tensor.shape))
        elif array.dtype != np.dtype(tensor.dtype):
            problems.append(Problem(key, f"is {array.dtype}", f"give {tensor.dtype}"))
        else:
            found.append(array.reshape(len(array), *tensor.shape))
    return found


def _wide(array: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(array, dtype=np.float64).reshape(-1)


def _decibel(signal: float, noise: float) -> float:
    if noise == 0.0 or signal == 0.0:
        return LARGEST_DB if noise == 0.0 else -LARGEST_DB
    return min(max(10 * math.log10(signal / noise), -LARGEST_DB), LARGEST_DB)


def _is_function_name(name: str) -> bool:
    module, colon, attribute = name.partition(":")
    return (
        bool(colon)
        and attribute.isidentifier()
        and all(part.isidentifier() for part in module.split("."))
    )
