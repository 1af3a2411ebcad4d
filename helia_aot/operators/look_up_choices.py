# SPDX-License-Identifier: Apache-2.0
"""HARD_SWISH of int8 and RSQRT of int16, whose fixed choices decide about look-up tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from helia_aot.ir import tables
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Quantization, Tensor
from helia_aot.operators import checks
from helia_aot.operators.activation import table_look_up
from helia_aot.operators.spec import (
    Argument,
    Constant,
    FixedDomain,
    LoweredOperator,
    Plain,
    Support,
    Target,
    TensorPointer,
    constants_of,
    lowered,
    operator_name,
    read_pointer,
    written_pointer,
)

_SWITCH: Final = ("false", "true")
_SHARED_ROOTS: Final = "rsqrt_roots"
"""Id of the table that all operators with ``lut_mode: universal`` read."""
_INT16: Final = (-32768, 32767)


class HardSwish(Plain):
    """HARD_SWISH of int8: read from a table or computed, in TFLite's 16-bit arithmetic or more precisely."""

    support = (
        Support(
            ("int8",),
            "input scale at most 128 times the output's; `use_lut` and `compat_variant` choose the kernel",
        ),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the activation cannot be compiled."""
        reasons = _check_ends(graph, operator, DType.INT8)
        if not reasons and tables.hard_swish_parameters(*_scales(graph, operator)).output[1] > 0:
            return ["input scale is more than 128 times the output scale"]
        return reasons

    def fixed(
        self, graph: Graph, operator: Operator, knobs: Mapping[str, str], target: Target
    ) -> Mapping[str, FixedDomain]:
        """Gives whether a table is read and whose arithmetic is followed.

        The precise arithmetic needs room for 6 in the input's scale, so that a scale can be too fine for it.
        """
        del knobs, target
        precise = tables.precise_hard_swish_parameters(*_scales(graph, operator))
        return {
            "use_lut": FixedDomain(_SWITCH, "true", "default"),
            "compat_variant": FixedDomain(_SWITCH if precise else ("true",), "true", "default"),
        }

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the table look-up or the call that computes the function."""
        del target
        source, output = _ends(graph, operator)
        source_q, output_q = _scales(graph, operator)
        compatible = choices["compat_variant"] == "true"
        precise = tables.precise_hard_swish_parameters(source_q, output_q)
        if choices["use_lut"] == "true":
            function = (
                tables.hard_swish(source_q, output_q)
                if compatible or precise is None
                else tables.precise_hard_swish(precise, source_q, output_q)
            )
            return table_look_up(operator, source, output, function)
        arguments = [
            Argument("input", read_pointer(source)),
            Argument("input_offset", -source_q.zero_point),
            Argument("output_offset", output_q.zero_point),
        ]
        if compatible or precise is None:
            entry = "arm_hard_swish_compat_s8"
            parameters = tables.hard_swish_parameters(source_q, output_q)
            arguments += [
                Argument("output_multiplier_fp", parameters.output[0]),
                Argument("output_multiplier_exp", parameters.output[1]),
                Argument("relu_multiplier_fp", parameters.relu[0]),
                Argument("relu_multiplier_exp", parameters.relu[1]),
            ]
        else:
            entry = "arm_hard_swish_precise_s8"
            arguments += [
                Argument("output_multiplier", precise.factor[0]),
                Argument("output_shift", precise.factor[1]),
                Argument("relu_q3", precise.three),
                Argument("relu_q6", precise.six),
                Argument("prescale", precise.prescale),
            ]
        arguments += [
            Argument("output", written_pointer(output)),
            Argument("output_size", output.elements),
        ]
        return lowered(operator, entry, arguments, constants=constants_of(source))


class Rsqrt16(Plain):
    """RSQRT of int16 by a table of its own or one for all such operators; both give the same outputs."""

    support = (
        Support(
            ("int16",),
            "numbers below 0 count as 0; a table of 64 KB for each operator, or with `lut_mode: universal` one of "
            "128 KB for all",
        ),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the function cannot be compiled."""
        return _check_ends(graph, operator, DType.INT16)

    def fixed(
        self, graph: Graph, operator: Operator, knobs: Mapping[str, str], target: Target
    ) -> Mapping[str, FixedDomain]:
        """Gives which table is read."""
        del graph, operator, knobs, target
        return {"lut_mode": FixedDomain(("per_op", "universal"), "per_op", "default")}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the table look-up."""
        del target
        source, output = _ends(graph, operator)
        source_q, output_q = _scales(graph, operator)
        universal = choices["lut_mode"] == "universal"
        table = (
            Constant(_SHARED_ROOTS, tables.rsqrt_roots())
            if universal
            else Constant(
                f"{operator_name(operator)}_table", tables.rsqrt_outputs_s16(source_q, output_q)
            )
        )
        arguments = [
            Argument("input", read_pointer(source)),
            Argument("input_offset", 0),
            Argument("output", written_pointer(output)),
            Argument("out_offset", 0),
        ]
        if universal:
            multiplier, shift = tables.rsqrt_factor(source_q, output_q)
            arguments += [
                Argument("out_mult", multiplier),
                Argument("out_shift", shift),
                Argument("needs_rescale", 1),
            ]
        arguments += [
            Argument("out_activation_min", _INT16[0]),
            Argument("out_activation_max", _INT16[1]),
            Argument("block_size", output.elements),
            Argument("lut", TensorPointer(table.id, f"const {table.data.dtype.name}_t *")),
        ]
        entry = f"arm_rsqrt_s16_{choices['lut_mode']}"
        return lowered(operator, entry, arguments, constants=(*constants_of(source), table))


def _ends(graph: Graph, operator: Operator) -> tuple[Tensor, Tensor]:
    return graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])


def _scales(graph: Graph, operator: Operator) -> tuple[Quantization, Quantization]:
    source, output = _ends(graph, operator)
    assert source.quantization is not None
    assert output.quantization is not None
    return source.quantization, output.quantization


def _check_ends(graph: Graph, operator: Operator, dtype: DType) -> list[str]:
    """Checks one quantized input and an output of its type and shape."""
    reasons = checks.check_count(operator, inputs=(1,))
    if reasons:
        return reasons
    source, output = _ends(graph, operator)
    reasons += checks.check_quantized("input", source, (dtype,))
    reasons += checks.check_quantized("output", output, (dtype,))
    if source.shape != output.shape:
        reasons.append(
            f"input {list(source.shape)} and output {list(output.shape)} differ in shape"
        )
    return reasons
