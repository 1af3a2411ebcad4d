/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_copy.h"

arm_cmsis_nn_status helia_nn_fill_pattern(void *output, const int32_t bytes, const int32_t pattern, const int32_t pattern_bytes)
{
    if (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_write_pattern(output, bytes, pattern, pattern_bytes);
    return ARM_CMSIS_NN_SUCCESS;
}
