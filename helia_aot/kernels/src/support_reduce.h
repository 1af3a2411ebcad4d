/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Walks over the numbers that a reduction folds into one.
 *
 * The kept axes give the outputs in order; the reduced ones the numbers behind each. Three axes of each kind are enough for tensors
 * whose neighbouring axes of one kind are merged.
 */
#ifndef HELIA_NN_SUPPORT_REDUCE_H
#define HELIA_NN_SUPPORT_REDUCE_H

#include "internal.h"

#define HELIA_NN_REDUCE_AXES 3

/* Position in the input of output `index`. */
static inline int32_t helia_nn_reduce_start(int32_t index, const int32_t *extents, const int32_t *strides)
{
    int32_t at = 0;
    for (int32_t axis = HELIA_NN_REDUCE_AXES - 1; axis >= 0; axis--)
    {
        at += index % extents[axis] * strides[axis];
        index /= extents[axis];
    }
    return at;
}

static inline int32_t helia_nn_reduce_count(const int32_t *extents)
{
    return extents[0] * extents[1] * extents[2];
}

#endif /* HELIA_NN_SUPPORT_REDUCE_H */
