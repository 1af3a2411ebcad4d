/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Index of the first extremum along an axis, for the element type that the including file defines:
 *
 *   ELEMENT          type of an element
 *   IS_BETTER(a, b)  whether a replaces the best number b so far
 */
#include "internal.h"

static arm_cmsis_nn_status arg_extremum(
    const ELEMENT *input_data, const cmsis_nn_dims *input_dims, const int32_t axis, int32_t *output_data)
{
    const int32_t extents[] = {input_dims->n, input_dims->h, input_dims->w, input_dims->c};
    if (axis < 0 || axis > 3)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    int32_t outer = 1, inner = 1;
    for (int32_t i = 0; i < 4; i++)
    {
        outer *= i < axis ? extents[i] : 1;
        inner *= i > axis ? extents[i] : 1;
    }
    for (int32_t i = 0; i < outer; i++)
    {
        for (int32_t k = 0; k < inner; k++)
        {
            const ELEMENT *const from = input_data + i * extents[axis] * inner + k;
            int32_t best = 0;
            for (int32_t at = 1; at < extents[axis]; at++)
            {
                best = IS_BETTER(from[at * inner], from[best * inner]) ? at : best;
            }
            *output_data++ = best;
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
