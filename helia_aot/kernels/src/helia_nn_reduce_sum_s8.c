/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#define ELEMENT int8_t
#define LOWEST INT8_MIN
#define HIGHEST INT8_MAX
#define LOAD_4(from, valid) vldrbq_z_s32(from, valid)
#define STORE_4(to, value, valid) vstrbq_p_s32(to, value, valid)
#include "support_reduce_sum.h"

arm_cmsis_nn_status helia_nn_reduce_sum_s8(
    const int8_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const int32_t sum_offset,
    const int32_t multiplier,
    const int32_t shift,
    const int32_t output_offset,
    int8_t *output)
{
    return reduce_sum(input,
                      kept_extents,
                      kept_strides,
                      reduced_extents,
                      reduced_strides,
                      sum_offset,
                      multiplier,
                      shift,
                      output_offset,
                      output);
}
