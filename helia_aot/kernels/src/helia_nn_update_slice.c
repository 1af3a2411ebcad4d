/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

#include <string.h>

#define MOST_AXES 8

/* The start along an axis, moved to where the update fits. */
static int32_t start_at(const void *starts, int32_t start_bytes, int32_t axis, int32_t last)
{
    const int64_t start = start_bytes == 8 ? ((const int64_t *)starts)[axis] : ((const int32_t *)starts)[axis];
    return start < 0 ? 0 : start > last ? last : (int32_t)start;
}

arm_cmsis_nn_status helia_nn_update_slice(const void *input,
                                          const void *update,
                                          const void *starts,
                                          const int32_t start_bytes,
                                          const int32_t axes,
                                          const int32_t *extents,
                                          const int32_t *update_extents,
                                          const int32_t element_bytes,
                                          void *output)
{
    if (axes < 1 || axes > MOST_AXES || (start_bytes != 4 && start_bytes != 8))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    int32_t strides[MOST_AXES], position[MOST_AXES] = {0};
    int32_t bytes = element_bytes;
    uint8_t *to = output;
    for (int32_t axis = axes - 1; axis >= 0; axis--)
    {
        if (update_extents[axis] < 1 || update_extents[axis] > extents[axis])
        {
            return ARM_CMSIS_NN_ARG_ERROR;
        }
        strides[axis] = bytes;
        to += start_at(starts, start_bytes, axis, extents[axis] - update_extents[axis]) * bytes;
        bytes *= extents[axis];
    }
    memcpy(output, input, (size_t)bytes);
    const int32_t run_bytes = update_extents[axes - 1] * element_bytes;
    const uint8_t *from = update;
    for (;;)
    {
        memcpy(to, from, (size_t)run_bytes);
        from += run_bytes;
        int32_t axis = axes - 2;
        for (; axis >= 0; axis--)
        {
            to += strides[axis];
            if (++position[axis] < update_extents[axis])
            {
                break;
            }
            to -= strides[axis] * update_extents[axis];
            position[axis] = 0;
        }
        if (axis < 0)
        {
            return ARM_CMSIS_NN_SUCCESS;
        }
    }
}
