/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The axes of an element-wise operation with broadcasting of extents 1. Neighbouring axes that broadcast alike are merged, so that
 * the runs are as long as the shapes allow; equal shapes make one run.
 */
#ifndef HELIA_NN_SUPPORT_BROADCAST_H
#define HELIA_NN_SUPPORT_BROADCAST_H

#include "internal.h"

#define HELIA_NN_AXES 4

/* An axis of the output, or several merged ones. */
typedef struct
{
    int32_t extent;
    int32_t stride1, stride2; /* Step of each input along the axis, 0 where it is repeated; of the innermost one 0 or 1. */
} helia_nn_axis;

/* Axes from the innermost on; at least one counts, the others have the extent 1. */
typedef struct
{
    int32_t count;
    helia_nn_axis axes[HELIA_NN_AXES];
} helia_nn_axes;

/* Computes one run along the innermost axis. */
typedef void (*helia_nn_run)(
    const void *params, const helia_nn_axis *axis, const void *input1, const void *input2, void *output);

static inline void helia_nn_extents_of(const cmsis_nn_dims *dims, int32_t extents[HELIA_NN_AXES])
{
    extents[0] = dims->c;
    extents[1] = dims->w;
    extents[2] = dims->h;
    extents[3] = dims->n;
}

/* Merges the axes; gives false where the extents do not broadcast to the output's. */
static inline bool helia_nn_merge_axes(const cmsis_nn_dims *dims1,
                                       const cmsis_nn_dims *dims2,
                                       const cmsis_nn_dims *output_dims,
                                       helia_nn_axes *merged)
{
    int32_t extents1[HELIA_NN_AXES], extents2[HELIA_NN_AXES], extents[HELIA_NN_AXES];
    helia_nn_extents_of(dims1, extents1);
    helia_nn_extents_of(dims2, extents2);
    helia_nn_extents_of(output_dims, extents);
    int32_t size1 = 1, size2 = 1;
    merged->count = 0;
    for (int32_t i = 0; i < HELIA_NN_AXES; i++)
    {
        const int32_t extent = helia_nn_max(extents1[i], extents2[i]);
        if (extent != extents[i] || (extents1[i] != extent && extents1[i] != 1) ||
            (extents2[i] != extent && extents2[i] != 1))
        {
            return false;
        }
        const helia_nn_axis next = {extent, extents1[i] == 1 ? 0 : size1, extents2[i] == 1 ? 0 : size2};
        size1 *= extents1[i];
        size2 *= extents2[i];
        if (extent == 1)
        {
            continue;
        }
        helia_nn_axis *last = merged->count > 0 ? &merged->axes[merged->count - 1] : NULL;
        if (last != NULL && (last->stride1 == 0) == (next.stride1 == 0) && (last->stride2 == 0) == (next.stride2 == 0))
        {
            last->extent *= extent;
        }
        else
        {
            merged->axes[merged->count++] = next;
        }
    }
    if (merged->count == 0)
    {
        merged->axes[merged->count++] = (helia_nn_axis){1, 1, 1};
    }
    for (int32_t i = merged->count; i < HELIA_NN_AXES; i++)
    {
        merged->axes[i] = (helia_nn_axis){1, 0, 0};
    }
    return true;
}

/* Calls `run` for every run of the output, in order; `bytes1`, `bytes2` and `bytes` are the sizes of an element. */
static inline void helia_nn_for_each_run(const helia_nn_axes *merged,
                                         helia_nn_run run,
                                         const void *params,
                                         const void *input1,
                                         int32_t bytes1,
                                         const void *input2,
                                         int32_t bytes2,
                                         void *output,
                                         int32_t bytes)
{
    const helia_nn_axis *const a = merged->axes;
    const int8_t *const start1 = input1;
    const int8_t *const start2 = input2;
    int8_t *to = output;
    for (int32_t i3 = 0; i3 < a[3].extent; i3++)
    {
        for (int32_t i2 = 0; i2 < a[2].extent; i2++)
        {
            for (int32_t i1 = 0; i1 < a[1].extent; i1++)
            {
                const int32_t at1 = i1 * a[1].stride1 + i2 * a[2].stride1 + i3 * a[3].stride1;
                const int32_t at2 = i1 * a[1].stride2 + i2 * a[2].stride2 + i3 * a[3].stride2;
                run(params, &a[0], start1 + at1 * bytes1, start2 + at2 * bytes2, to);
                to += a[0].extent * bytes;
            }
        }
    }
}

#endif /* HELIA_NN_SUPPORT_BROADCAST_H */
