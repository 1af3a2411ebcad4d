/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Comparisons with broadcasting, for the element type that the including file defines:
 *
 *   ELEMENT                        type of an element
 *   NUMBER                         type in which two numbers are compared
 *   VALUE(params, scale, element)  the number behind an element
 */
#include "support_broadcast.h"

/* From an input's scale to the one that both share. */
typedef struct
{
    int32_t offset, multiplier, shift;
} compare_scale;

typedef struct
{
    compare_scale input1, input2;
    int32_t left_shift;
    int32_t orders;
} compare_params;

static inline int32_t order_of(NUMBER a, NUMBER b)
{
    return a < b    ? HELIA_NN_ORDER_LESS
           : a == b ? HELIA_NN_ORDER_EQUAL
           : a > b  ? HELIA_NN_ORDER_GREATER
                    : HELIA_NN_ORDER_NONE;
}

static void
compare_run(const void *params, const helia_nn_axis *axis, const void *input1, const void *input2, void *output)
{
    const compare_params p = *(const compare_params *)params;
    const ELEMENT *a = input1;
    const ELEMENT *b = input2;
    bool *to = output;
    for (int32_t i = 0; i < axis->extent; i++)
    {
        const NUMBER one = VALUE(&p, &p.input1, a[i * axis->stride1]);
        const NUMBER two = VALUE(&p, &p.input2, b[i * axis->stride2]);
        to[i] = (order_of(one, two) & p.orders) != 0;
    }
}

static arm_cmsis_nn_status compare(const compare_params *params,
                                   const ELEMENT *input1,
                                   const cmsis_nn_dims *dims1,
                                   const ELEMENT *input2,
                                   const cmsis_nn_dims *dims2,
                                   bool *output,
                                   const cmsis_nn_dims *output_dims)
{
    helia_nn_axes axes;
    if (!helia_nn_merge_axes(dims1, dims2, output_dims, &axes))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_for_each_run(
        &axes, compare_run, params, input1, sizeof *input1, input2, sizeof *input2, output, sizeof *output);
    return ARM_CMSIS_NN_SUCCESS;
}
