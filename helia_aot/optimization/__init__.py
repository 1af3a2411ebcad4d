# SPDX-License-Identifier: Apache-2.0
"""Knobs, plans and reports: what was chosen, why, and what else would apply.

The names below read plan and report files back as typed models. They load on first use, so importing
the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from helia_aot.optimization.fixed import FIXED
    from helia_aot.optimization.knobs import KNOBS, MODEL_KNOBS
    from helia_aot.optimization.plan import (
        FixedChoice,
        KnobChoice,
        KnobSource,
        OptimizationPlan,
        PlanOperator,
        PlanTensor,
        RuleRef,
    )
    from helia_aot.optimization.read import parse_plan, parse_report, read_plan, read_report
    from helia_aot.optimization.report import (
        Alternative,
        ConstantPlacement,
        Hint,
        MeasurementRecord,
        OptimizationReport,
        ReportOperator,
    )
    from helia_aot.optimization.write import dump_json

# No public name may be the name of a module here, which importing that module would put in its place.
_HOMES: Final[dict[str, tuple[str, ...]]] = {
    "fixed": ("FIXED",),
    "knobs": ("KNOBS", "MODEL_KNOBS"),
    "plan": (
        "FixedChoice",
        "KnobChoice",
        "KnobSource",
        "OptimizationPlan",
        "PlanOperator",
        "PlanTensor",
        "RuleRef",
    ),
    "read": ("parse_plan", "parse_report", "read_plan", "read_report"),
    "report": (
        "Alternative",
        "ConstantPlacement",
        "Hint",
        "MeasurementRecord",
        "OptimizationReport",
        "ReportOperator",
    ),
    "write": ("dump_json",),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "FIXED",
    "KNOBS",
    "MODEL_KNOBS",
    "Alternative",
    "ConstantPlacement",
    "FixedChoice",
    "Hint",
    "KnobChoice",
    "KnobSource",
    "MeasurementRecord",
    "OptimizationPlan",
    "OptimizationReport",
    "PlanOperator",
    "PlanTensor",
    "ReportOperator",
    "RuleRef",
    "dump_json",
    "parse_plan",
    "parse_report",
    "read_plan",
    "read_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
