/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_broadcast.h"
#include "support_fixed_point.h"

typedef struct
{
    int32_t offset1, offset2, offset, multiplier, shift, low, high;
} divide_params;

/* Redundant sign bits, beside the sign itself. */
static int32_t headroom_of(int32_t value)
{
    return helia_nn_leading_zeros((uint32_t)(value < 0 ? ~value : value)) - 1;
}

/* The quotient in the output's scale. Division by zero gives the end of the range on the numerator's side, 0 for 0 / 0. */
static int32_t quotient_of(const divide_params *p, int32_t numerator, int32_t denominator)
{
    if (denominator == 0)
    {
        return numerator > 0 ? UINT8_MAX : numerator < 0 ? -UINT8_MAX : 0;
    }
    /* The denominator is (1 + a) * 2^(31 - zeros) with a in [0, 1). */
    const uint32_t magnitude = (uint32_t)(denominator < 0 ? -denominator : denominator);
    const int32_t zeros = helia_nn_leading_zeros(magnitude);
    const int32_t a = (int32_t)((magnitude << zeros) - (UINT32_C(1) << 31));
    const int32_t reciprocal = helia_nn_reciprocal_of_one_plus(a);
    const int32_t headroom = headroom_of(numerator);
    const int32_t scaled = (int32_t)((uint32_t)numerator << headroom);
    const int32_t product = helia_nn_doubling_high_mult(scaled, denominator < 0 ? -reciprocal : reciprocal);
    const int32_t right = 31 - zeros + headroom - p->shift;
    const int32_t quotient = helia_nn_doubling_high_mult(product, p->multiplier);
    if (right < 0)
    {
        return quotient > 0 ? UINT8_MAX : -UINT8_MAX; /* The output's scale is so fine that everything is outside. */
    }
    /* TFLite Micro shifts by more than 31 as well, which C leaves undefined; the quotient is below half a step there. */
    return right > 31 ? 0 : helia_nn_divide_by_power_of_two(quotient, right);
}

static void
divide_run(const void *params, const helia_nn_axis *axis, const void *input1, const void *input2, void *output)
{
    const divide_params p = *(const divide_params *)params;
    const int8_t *a = input1;
    const int8_t *b = input2;
    int8_t *to = output;
    for (int32_t i = 0; i < axis->extent; i++)
    {
        const int32_t quotient = quotient_of(&p, a[i * axis->stride1] + p.offset1, b[i * axis->stride2] + p.offset2);
        to[i] = (int8_t)helia_nn_clamp(helia_nn_clamp(quotient, -65536, 65536) + p.offset, p.low, p.high);
    }
}

arm_cmsis_nn_status helia_nn_div_s8(
    const int8_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int8_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input2_offset,
    int8_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max)
{
    const divide_params params = {
        .offset1 = input1_offset,
        .offset2 = input2_offset,
        .offset = out_offset,
        .multiplier = out_mult,
        .shift = out_shift,
        .low = out_activation_min,
        .high = out_activation_max,
    };
    helia_nn_axes axes;
    if (!helia_nn_merge_axes(input1_dims, input2_dims, output_dims, &axes))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_for_each_run(&axes,
                          divide_run,
                          &params,
                          input1_data,
                          sizeof *input1_data,
                          input2_data,
                          sizeof *input2_data,
                          output_data,
                          sizeof *output_data);
    return ARM_CMSIS_NN_SUCCESS;
}
