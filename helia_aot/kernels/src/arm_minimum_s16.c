/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#define ELEMENT int16_t
#define PICK(a, b) helia_nn_min(a, b)
#define LANES 8
#define VECTOR int16x8_t
#define VALID(count) vctp16q(count)
#define LOAD(from, valid) vldrhq_z_s16(from, valid)
#define STORE(to, value, valid) vstrhq_p_s16(to, value, valid)
#define REPEAT(value) vdupq_n_s16(value)
#define PICK_LANES(a, b) vminq_s16(a, b)
#include "support_extremum.h"

arm_cmsis_nn_status arm_minimum_s16(
    const cmsis_nn_context *ctx,
    const int16_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const int16_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    int16_t *output_data,
    const cmsis_nn_dims *output_dims)
{
    (void)ctx;
    helia_nn_axes axes;
    if (!helia_nn_merge_axes(input_1_dims, input_2_dims, output_dims, &axes))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_for_each_run(&axes,
                          pick_run,
                          NULL,
                          input_1_data,
                          sizeof *input_1_data,
                          input_2_data,
                          sizeof *input_2_data,
                          output_data,
                          sizeof *output_data);
    return ARM_CMSIS_NN_SUCCESS;
}
