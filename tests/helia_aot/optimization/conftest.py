# SPDX-License-Identifier: Apache-2.0
"""A small conversion: a convolution that can be specialized, a pointwise one, a reshape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from helia_aot.config.convert import ConvertConfig
from helia_aot.operators.spec import FixedDomain, KnobDomain
from helia_aot.optimization.check import PlanSubject
from helia_aot.optimization.describe import plan_operators
from helia_aot.optimization.identity import OperatorId
from helia_aot.optimization.plan import (
    Generator,
    ModelIdentity,
    OptimizationPlan,
    PlatformIdentity,
)
from helia_aot.optimization.resolve import (
    ResolvableOperator,
    plan_settings,
    resolve_choices,
    resolve_fixed,
)

_DIRECT = {"specialized": "arm_convolve_s8_small_cin", "generic": "arm_convolve_s8"}
_SUMS = {"precise": "arm_fully_connected_f16", "fast": "arm_fully_connected_f16"}
_POINTWISE = dict.fromkeys(_DIRECT, "arm_convolve_1x1_s8_fast")


def rsqrt_like(knobs: Mapping[str, str]) -> Mapping[str, FixedDomain]:
    """A choice that an attribute can set, and one that follows a knob."""
    layout = "packed" if knobs.get("accumulation") == "fast" else "standard"
    return {
        "lut_mode": FixedDomain(("per_op", "universal"), "per_op", "default"),
        "weight_layout": FixedDomain((layout,), layout, "knob"),
    }


OPERATORS = (
    ResolvableOperator(
        OperatorId("0:first", "tensor_name", 0, "10"),
        "CONV_2D",
        {"kernel": KnobDomain("kernel", _DIRECT, applicable=True)},
    ),
    ResolvableOperator(
        OperatorId("0:a:b", "tensor_name", 1, "11"),
        "CONV_2D",
        {"kernel": KnobDomain("kernel", _POINTWISE, applicable=False, reason="one entry")},
    ),
    ResolvableOperator(OperatorId("0:@2", "index", 2, "12"), "RESHAPE", {}),
)
MODEL = ModelIdentity(file="kws.tflite", sha256="0" * 64, subgraph=0)
PLATFORM = PlatformIdentity(
    name="apollo510_evb", core="cortex-m55", capabilities=["dsp", "mve"], fp16=True
)


@dataclass(frozen=True)
class Case:
    """What a conversion knows when it resolves choices."""

    operators: tuple[ResolvableOperator, ...] = OPERATORS
    model: ModelIdentity = MODEL
    platform: PlatformIdentity = PLATFORM

    def config(self, **sections: object) -> ConvertConfig:
        return ConvertConfig.model_validate({"model": {"path": "kws.tflite"}, **sections})

    def plan(
        self, input_plan: OptimizationPlan | None = None, **sections: object
    ) -> OptimizationPlan:
        config = self.config(**sections)
        choices = resolve_choices(self.operators, config, input_plan)
        fixed = resolve_fixed(self.operators, choices, config, input_plan)
        return OptimizationPlan(
            schema_version=1,
            generator=Generator(helia_aot="0.1.0", ns_cmsis_nn="7.37.0"),
            model=self.model,
            module_prefix="aot",
            platform=self.platform,
            optimization=plan_settings(config, input_plan),
            operators=plan_operators(self.operators, choices, fixed, [None] * len(self.operators)),
        )

    def subject(self) -> PlanSubject:
        return PlanSubject(
            self.model, self.platform, self.operators, ("dtcm", "sram", "mram"), ("mram",)
        )

    def edited(self, **changes: object) -> OptimizationPlan:
        return self.plan().model_copy(update=changes)


@pytest.fixture(scope="session")
def case() -> Case:
    return Case()


@pytest.fixture(scope="session")
def fixed_case() -> Case:
    """The same, but the last operator has fixed choices."""
    *others, last = OPERATORS
    domains = {"accumulation": KnobDomain("accumulation", _SUMS, applicable=True)}
    return Case((*others, replace(last, domains=domains, fixed=rsqrt_like)))


@pytest.fixture(scope="session")
def edit_operator() -> Callable[..., OptimizationPlan]:
    def edit(plan: OptimizationPlan, position: int, **changes: Any) -> OptimizationPlan:
        operators = list(plan.operators)
        operators[position] = operators[position].model_copy(update=changes)
        return plan.model_copy(update={"operators": operators})

    return edit
