/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#include <string.h>

arm_cmsis_nn_status helia_nn_concatenate(const void *const *inputs,
                                         const int32_t *run_bytes,
                                         const int32_t count,
                                         const int32_t runs,
                                         void *output)
{
    uint8_t *to = output;
    for (int32_t run = 0; run < runs; run++)
    {
        for (int32_t i = 0; i < count; i++)
        {
            memcpy(to, (const uint8_t *)inputs[i] + run * run_bytes[i], (size_t)run_bytes[i]);
            to += run_bytes[i];
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
