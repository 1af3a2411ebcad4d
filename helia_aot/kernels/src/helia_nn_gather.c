/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#include <string.h>

arm_cmsis_nn_status helia_nn_gather(const void *input,
                                    const int32_t *indices,
                                    const int32_t batches,
                                    const int32_t outer,
                                    const int32_t extent,
                                    const int32_t count,
                                    const int32_t run_bytes,
                                    void *output)
{
    for (int32_t i = 0; i < batches * count; i++)
    {
        if (indices[i] < 0 || indices[i] >= extent)
        {
            return ARM_CMSIS_NN_ARG_ERROR;
        }
    }
    const uint8_t *from = input;
    uint8_t *to = output;
    for (int32_t batch = 0; batch < batches; batch++)
    {
        for (int32_t i = 0; i < outer; i++)
        {
            for (int32_t k = 0; k < count; k++)
            {
                memcpy(to, from + indices[k] * run_bytes, (size_t)run_bytes);
                to += run_bytes;
            }
            from += extent * run_bytes;
        }
        indices += count;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
