/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Addition with broadcasting of extents 1. Neighbouring axes that broadcast alike are merged, so that the runs are as long as
 * the shapes allow; equal shapes make one run.
 */
#include "../include/arm_nnfunctions.h"
#include "support_add_s8.h"

#define AXES 4

/* An axis of the output, or several merged ones. */
typedef struct
{
    int32_t extent;
    int32_t stride1, stride2; /* Step of each input along the axis, 0 where it is repeated. */
} axis;

/* Axes from the innermost on; at least one. */
typedef struct
{
    int32_t count;
    axis axes[AXES];
} axes;

static void extents_of(const cmsis_nn_dims *dims, int32_t extents[AXES])
{
    extents[0] = dims->c;
    extents[1] = dims->w;
    extents[2] = dims->h;
    extents[3] = dims->n;
}

/* Merges the axes; gives false where the extents do not broadcast to the output's. */
static bool
merge_axes(const cmsis_nn_dims *dims1, const cmsis_nn_dims *dims2, const cmsis_nn_dims *output_dims, axes *merged)
{
    int32_t extents1[AXES], extents2[AXES], extents[AXES];
    extents_of(dims1, extents1);
    extents_of(dims2, extents2);
    extents_of(output_dims, extents);
    int32_t size1 = 1, size2 = 1;
    merged->count = 0;
    for (int32_t i = 0; i < AXES; i++)
    {
        const int32_t extent = helia_nn_max(extents1[i], extents2[i]);
        if (extent != extents[i] || (extents1[i] != extent && extents1[i] != 1) ||
            (extents2[i] != extent && extents2[i] != 1))
        {
            return false;
        }
        const axis next = {extent, extents1[i] == 1 ? 0 : size1, extents2[i] == 1 ? 0 : size2};
        size1 *= extents1[i];
        size2 *= extents2[i];
        axis *last = &merged->axes[merged->count - 1];
        if (extent == 1)
        {
            continue;
        }
        if (merged->count > 0 && (last->stride1 == 0) == (next.stride1 == 0) && (last->stride2 == 0) == (next.stride2 == 0))
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
        merged->axes[merged->count++] = (axis){1, 1, 1};
    }
    for (int32_t i = merged->count; i < AXES; i++)
    {
        merged->axes[i] = (axis){1, 0, 0};
    }
    return true;
}

/* Adds one number, already in the common scale, to a run. */
static void add_constant(const helia_nn_add_params *params,
                         const helia_nn_scale *scale,
                         const int8_t *input,
                         int32_t constant,
                         int8_t *output,
                         int32_t count)
{
#if defined(HELIA_NN_MVE)
    if (helia_nn_add_shifts_right(params))
    {
        const int32x4_t power = vdupq_n_s32(1 << params->left_shift);
        for (int32_t i = 0; i < count; i += 4)
        {
            const mve_pred16_t valid = vctp32q((uint32_t)(count - i));
            const int32x4_t value = helia_nn_add_rescale_s32x4(params, scale, vldrbq_z_s32(input + i, valid), power);
            vstrbq_p_s32(output + i, helia_nn_add_finish_s32x4(params, vaddq_n_s32(value, constant)), valid);
        }
        return;
    }
#endif
    for (int32_t i = 0; i < count; i++)
    {
        output[i] = helia_nn_add_finish(params, helia_nn_add_rescale(params, scale, input[i]) + constant);
    }
}

static void add_run(
    const helia_nn_add_params *params, const axis *run, const int8_t *input1, const int8_t *input2, int8_t *output)
{
    if (run->stride1 == 0)
    {
        const int32_t constant = helia_nn_add_rescale(params, &params->input1, *input1);
        add_constant(params, &params->input2, input2, constant, output, run->extent);
    }
    else if (run->stride2 == 0)
    {
        const int32_t constant = helia_nn_add_rescale(params, &params->input2, *input2);
        add_constant(params, &params->input1, input1, constant, output, run->extent);
    }
    else
    {
        helia_nn_add_vectors(params, input1, input2, output, run->extent);
    }
}

arm_cmsis_nn_status arm_add_s8(
    const int8_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int8_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input1_mult,
    const int32_t input1_shift,
    const int32_t input2_offset,
    const int32_t input2_mult,
    const int32_t input2_shift,
    const int32_t left_shift,
    int8_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max)
{
    const helia_nn_add_params params = {
        .input1 = {input1_offset, input1_mult, input1_shift},
        .input2 = {input2_offset, input2_mult, input2_shift},
        .output = {out_offset, out_mult, out_shift},
        .left_shift = left_shift,
        .activation_min = out_activation_min,
        .activation_max = out_activation_max,
    };
    axes merged;
    if (!merge_axes(input1_dims, input2_dims, output_dims, &merged))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const axis *const a = merged.axes;
    for (int32_t i3 = 0; i3 < a[3].extent; i3++)
    {
        for (int32_t i2 = 0; i2 < a[2].extent; i2++)
        {
            for (int32_t i1 = 0; i1 < a[1].extent; i1++)
            {
                const int32_t at1 = i1 * a[1].stride1 + i2 * a[2].stride1 + i3 * a[3].stride1;
                const int32_t at2 = i1 * a[1].stride2 + i2 * a[2].stride2 + i3 * a[3].stride2;
                add_run(&params, &a[0], input1_data + at1, input2_data + at2, output_data);
                output_data += a[0].extent;
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
