/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of tensors that start where numbers say at run time.
 */
#ifndef HELIA_NN_SUPPORT_BLOCK_H
#define HELIA_NN_SUPPORT_BLOCK_H

#include "internal.h"

#include <string.h>

#define HELIA_NN_BLOCK_AXES 8

/* Bytes from one position to the next along each axis; gives the bytes of the tensor. */
static inline int32_t
helia_nn_block_strides(const int32_t *extents, int32_t axes, int32_t element_bytes, int32_t *strides)
{
    int32_t bytes = element_bytes;
    for (int32_t axis = axes - 1; axis >= 0; axis--)
    {
        strides[axis] = bytes;
        bytes *= extents[axis];
    }
    return bytes;
}

static inline int64_t helia_nn_block_start(const void *starts, int32_t start_bytes, int32_t axis)
{
    return start_bytes == 8 ? ((const int64_t *)starts)[axis] : ((const int32_t *)starts)[axis];
}

/* Whether the axes and the extents of a block are possible. */
static inline bool
helia_nn_block_rule(int32_t axes, int32_t start_bytes, const int32_t *extents, const int32_t *block_extents)
{
    if (axes < 1 || axes > HELIA_NN_BLOCK_AXES || (start_bytes != 4 && start_bytes != 8))
    {
        return false;
    }
    for (int32_t axis = 0; axis < axes; axis++)
    {
        if (block_extents[axis] < 1 || block_extents[axis] > extents[axis])
        {
            return false;
        }
    }
    return true;
}

/* Copies a block; both sides have steps of their own. */
static inline void helia_nn_copy_block(const uint8_t *from,
                                       const int32_t *from_strides,
                                       uint8_t *to,
                                       const int32_t *to_strides,
                                       const int32_t *extents,
                                       int32_t axes,
                                       int32_t element_bytes)
{
    const size_t run_bytes = (size_t)(extents[axes - 1] * element_bytes);
    int32_t position[HELIA_NN_BLOCK_AXES] = {0};
    for (;;)
    {
        memcpy(to, from, run_bytes);
        int32_t axis = axes - 2;
        for (; axis >= 0; axis--)
        {
            from += from_strides[axis];
            to += to_strides[axis];
            if (++position[axis] < extents[axis])
            {
                break;
            }
            from -= from_strides[axis] * extents[axis];
            to -= to_strides[axis] * extents[axis];
            position[axis] = 0;
        }
        if (axis < 0)
        {
            return;
        }
    }
}

#endif /* HELIA_NN_SUPPORT_BLOCK_H */
