/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#define ELEMENT int8_t
#define PICK(a, b) helia_nn_max(a, b)
#define LANES 16
#define VECTOR int8x16_t
#define VALID(count) vctp8q(count)
#define LOAD(from, valid) vldrbq_z_s8(from, valid)
#define STORE(to, value, valid) vstrbq_p_s8(to, value, valid)
#define REPEAT(value) vdupq_n_s8(value)
#define PICK_LANES(a, b) vmaxq_s8(a, b)
#include "support_extremum.h"

arm_cmsis_nn_status arm_maximum_s8(
    const cmsis_nn_context *ctx,
    const int8_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const int8_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    int8_t *output_data,
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
