/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#include <string.h>

arm_cmsis_nn_status helia_nn_gather_nd(const void *input,
                                       const int32_t *indices,
                                       const int32_t count,
                                       const int32_t depth,
                                       const int32_t *extents,
                                       const int32_t run_bytes,
                                       void *output)
{
    for (int32_t i = 0; i < count * depth; i++)
    {
        if (indices[i] < 0 || indices[i] >= extents[i % depth])
        {
            return ARM_CMSIS_NN_ARG_ERROR;
        }
    }
    const uint8_t *const from = input;
    uint8_t *to = output;
    for (int32_t i = 0; i < count; i++)
    {
        int32_t run = 0;
        for (int32_t axis = 0; axis < depth; axis++)
        {
            run = run * extents[axis] + *indices++;
        }
        memcpy(to, from + run * run_bytes, (size_t)run_bytes);
        to += run_bytes;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
