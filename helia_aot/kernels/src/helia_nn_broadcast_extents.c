/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

/* The extent of a dimension counted from the last one; 1 before the first one. */
static int64_t extent_of(const void *extents, int32_t count, int32_t from_last, int32_t extent_bytes)
{
    if (from_last >= count)
    {
        return 1;
    }
    const int32_t at = count - 1 - from_last;
    return extent_bytes == 8 ? ((const int64_t *)extents)[at] : ((const int32_t *)extents)[at];
}

arm_cmsis_nn_status helia_nn_broadcast_extents(const void *input1,
                                               const int32_t count1,
                                               const void *input2,
                                               const int32_t count2,
                                               const int32_t extent_bytes,
                                               void *output)
{
    if (extent_bytes != 4 && extent_bytes != 8)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t count = helia_nn_max(count1, count2);
    for (int32_t i = 0; i < count; i++)
    {
        const int64_t one = extent_of(input1, count1, i, extent_bytes);
        const int64_t two = extent_of(input2, count2, i, extent_bytes);
        if (one != two && one != 1 && two != 1)
        {
            return ARM_CMSIS_NN_ARG_ERROR;
        }
    }
    for (int32_t i = 0; i < count; i++)
    {
        const int64_t one = extent_of(input1, count1, i, extent_bytes);
        const int64_t extent = one == 1 ? extent_of(input2, count2, i, extent_bytes) : one;
        if (extent_bytes == 8)
        {
            ((int64_t *)output)[count - 1 - i] = extent;
        }
        else
        {
            ((int32_t *)output)[count - 1 - i] = (int32_t)extent;
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
