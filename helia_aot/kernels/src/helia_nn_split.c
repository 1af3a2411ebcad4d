/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#include <string.h>

arm_cmsis_nn_status helia_nn_split(const void *input,
                                   const int32_t *run_bytes,
                                   const int32_t count,
                                   const int32_t runs,
                                   void *const *outputs)
{
    const uint8_t *from = input;
    for (int32_t run = 0; run < runs; run++)
    {
        for (int32_t i = 0; i < count; i++)
        {
            memcpy((uint8_t *)outputs[i] + run * run_bytes[i], from, (size_t)run_bytes[i]);
            from += run_bytes[i];
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
