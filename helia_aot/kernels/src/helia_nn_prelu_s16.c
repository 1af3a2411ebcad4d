/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#define ELEMENT int16_t
#define LOAD_4(from, valid) vldrhq_z_s32(from, valid)
#define STORE_4(to, value, valid) vstrhq_p_s32(to, value, valid)
#include "support_prelu.h"

arm_cmsis_nn_status helia_nn_prelu_s16(
    const cmsis_nn_dims *input_dims,
    const int16_t *input,
    const cmsis_nn_dims *alpha_dims,
    const int8_t *alpha,
    const int32_t input_offset,
    const int32_t alpha_offset,
    const int32_t output_offset,
    const int32_t output_multiplier_identity,
    const int32_t output_shift_identity,
    const int32_t output_multiplier_alpha,
    const int32_t output_shift_alpha,
    const cmsis_nn_dims *output_dims,
    int16_t *output)
{
    const prelu_params params = {
        .input_offset = input_offset,
        .alpha_offset = alpha_offset,
        .output_offset = output_offset,
        .identity_multiplier = output_multiplier_identity,
        .identity_shift = output_shift_identity,
        .alpha_multiplier = output_multiplier_alpha,
        .alpha_shift = output_shift_alpha,
    };
    helia_nn_axes axes;
    if (!helia_nn_merge_axes(input_dims, alpha_dims, output_dims, &axes))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_for_each_run(
        &axes, prelu_run, &params, input, sizeof *input, alpha, sizeof *alpha, output, sizeof *output);
    return ARM_CMSIS_NN_SUCCESS;
}
