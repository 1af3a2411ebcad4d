/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_copy.h"

#define MOST_AXES 8

arm_cmsis_nn_status helia_nn_copy_strided(const void *input,
                                          const int32_t input_offset,
                                          const int32_t run_bytes,
                                          const int32_t axes,
                                          const int32_t *extents,
                                          const int32_t *strides,
                                          void *output)
{
    if (axes < 1 || axes > MOST_AXES || run_bytes < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t inner = axes - 1;
    int32_t position[MOST_AXES] = {0};
    const uint8_t *from = (const uint8_t *)input + input_offset;
    uint8_t *to = output;
    for (;;)
    {
        helia_nn_copy_runs(from, strides[inner], run_bytes, extents[inner], to);
        to += extents[inner] * run_bytes;
        int32_t axis = inner - 1;
        for (; axis >= 0; axis--)
        {
            from += strides[axis];
            if (++position[axis] < extents[axis])
            {
                break;
            }
            from -= strides[axis] * extents[axis];
            position[axis] = 0;
        }
        if (axis < 0)
        {
            return ARM_CMSIS_NN_SUCCESS;
        }
    }
}
