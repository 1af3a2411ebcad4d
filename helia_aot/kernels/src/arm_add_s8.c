/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Addition with broadcasting of extents 1; a repeated input is rescaled once for a run.
 */
#include "../include/arm_nnfunctions.h"
#include "support_add_s8.h"
#include "support_broadcast.h"

/* Adds one number, already in the common scale, to a run. */
static void add_constant(const helia_nn_add_params *params,
                         const helia_nn_scale *scale,
                         const int8_t *input,
                         int32_t constant,
                         int8_t *output,
                         int32_t count)
{
#if defined(HELIA_NN_MVE)
    if (helia_nn_add_shifts_right(params))
    {
        const int32x4_t power = vdupq_n_s32(1 << params->left_shift);
        for (int32_t i = 0; i < count; i += 4)
        {
            const mve_pred16_t valid = vctp32q((uint32_t)(count - i));
            const int32x4_t value = helia_nn_add_rescale_s32x4(params, scale, vldrbq_z_s32(input + i, valid), power);
            vstrbq_p_s32(output + i, helia_nn_add_finish_s32x4(params, vaddq_n_s32(value, constant)), valid);
        }
        return;
    }
#endif
    for (int32_t i = 0; i < count; i++)
    {
        output[i] = helia_nn_add_finish(params, helia_nn_add_rescale(params, scale, input[i]) + constant);
    }
}

static void add_run(const void *context, const helia_nn_axis *run, const void *input1, const void *input2, void *output)
{
    const helia_nn_add_params *const params = context;
    if (run->stride1 == 0)
    {
        const int32_t constant = helia_nn_add_rescale(params, &params->input1, *(const int8_t *)input1);
        add_constant(params, &params->input2, input2, constant, output, run->extent);
    }
    else if (run->stride2 == 0)
    {
        const int32_t constant = helia_nn_add_rescale(params, &params->input2, *(const int8_t *)input2);
        add_constant(params, &params->input1, input1, constant, output, run->extent);
    }
    else
    {
        helia_nn_add_vectors(params, input1, input2, output, run->extent);
    }
}

arm_cmsis_nn_status arm_add_s8(
    const int8_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int8_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input1_mult,
    const int32_t input1_shift,
    const int32_t input2_offset,
    const int32_t input2_mult,
    const int32_t input2_shift,
    const int32_t left_shift,
    int8_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max)
{
    const helia_nn_add_params params = {
        .input1 = {input1_offset, input1_mult, input1_shift},
        .input2 = {input2_offset, input2_mult, input2_shift},
        .output = {out_offset, out_mult, out_shift},
        .left_shift = left_shift,
        .activation_min = out_activation_min,
        .activation_max = out_activation_max,
    };
    helia_nn_axes axes;
    if (!helia_nn_merge_axes(input1_dims, input2_dims, output_dims, &axes))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_for_each_run(&axes, add_run, &params, input1_data, 1, input2_data, 1, output_data, 1);
    return ARM_CMSIS_NN_SUCCESS;
}
