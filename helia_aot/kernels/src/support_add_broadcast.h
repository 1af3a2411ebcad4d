/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Operations on two rescaled numbers with broadcasting, for the element type that the including file defines:
 *
 *   ELEMENT             type of an element
 *   LOAD_4, STORE_4     vector load and store of four elements as int32 under a predicate
 *   COMBINE, COMBINE_4  the operation, on two numbers and on two vectors
 */
#include "support_add_s8.h"
#include "support_broadcast.h"

/* Gives the output for a combination in the common scale. */
static int32_t finish(const helia_nn_add_params *params, int32_t value)
{
    const int32_t scaled = helia_nn_requantize(value, params->output.multiplier, params->output.shift);
    return helia_nn_clamp(scaled + params->output.offset, params->activation_min, params->activation_max);
}

static void
combine_run(const void *params, const helia_nn_axis *axis, const void *input1, const void *input2, void *output)
{
    const helia_nn_add_params p = *(const helia_nn_add_params *)params;
    const ELEMENT *a = input1;
    const ELEMENT *b = input2;
    ELEMENT *to = output;
    const int32_t first1 = helia_nn_add_rescale(&p, &p.input1, *a);
    const int32_t first2 = helia_nn_add_rescale(&p, &p.input2, *b);
#if defined(HELIA_NN_MVE)
    if (helia_nn_add_shifts_right(&p))
    {
        const int32x4_t power = vdupq_n_s32(1 << p.left_shift);
        for (int32_t left = axis->extent; left > 0; left -= 4)
        {
            const mve_pred16_t valid = vctp32q((uint32_t)left);
            const int32x4_t value1 = axis->stride1 == 0
                ? vdupq_n_s32(first1)
                : helia_nn_add_rescale_s32x4(&p, &p.input1, LOAD_4(a, valid), power);
            const int32x4_t value2 = axis->stride2 == 0
                ? vdupq_n_s32(first2)
                : helia_nn_add_rescale_s32x4(&p, &p.input2, LOAD_4(b, valid), power);
            STORE_4(to, helia_nn_add_finish_s32x4(&p, COMBINE_4(value1, value2)), valid);
            a += 4 * axis->stride1;
            b += 4 * axis->stride2;
            to += 4;
        }
        return;
    }
#endif
    for (int32_t i = 0; i < axis->extent; i++)
    {
        const int32_t value1 = axis->stride1 == 0 ? first1 : helia_nn_add_rescale(&p, &p.input1, a[i]);
        const int32_t value2 = axis->stride2 == 0 ? first2 : helia_nn_add_rescale(&p, &p.input2, b[i]);
        to[i] = (ELEMENT)finish(&p, COMBINE(value1, value2));
    }
}

/* The parameters of an entry, whose arguments have the dialect's names. */
#define COMBINE_PARAMS                                          \
    {                                                           \
        .input1 = {input1_offset, input1_mult, input1_shift},   \
        .input2 = {input2_offset, input2_mult, input2_shift},   \
        .output = {out_offset, out_mult, out_shift},            \
        .left_shift = left_shift,                               \
        .activation_min = out_activation_min,                   \
        .activation_max = out_activation_max,                   \
    }

/* The whole of an entry. */
static arm_cmsis_nn_status combine(const helia_nn_add_params *params,
                                   const ELEMENT *input1,
                                   const cmsis_nn_dims *dims1,
                                   const ELEMENT *input2,
                                   const cmsis_nn_dims *dims2,
                                   ELEMENT *output,
                                   const cmsis_nn_dims *output_dims)
{
    helia_nn_axes axes;
    if (!helia_nn_merge_axes(dims1, dims2, output_dims, &axes))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_for_each_run(
        &axes, combine_run, params, input1, sizeof *input1, input2, sizeof *input2, output, sizeof *output);
    return ARM_CMSIS_NN_SUCCESS;
}
