/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_broadcast.h"

#include <string.h>

/* Steps of an input along the axes n, h, w, c; 0 where its one element is repeated. */
typedef struct
{
    int32_t n, h, w, c;
} steps;

static steps steps_of(const cmsis_nn_dims *dims)
{
    return (steps){
        .n = dims->n == 1 ? 0 : dims->h * dims->w * dims->c,
        .h = dims->h == 1 ? 0 : dims->w * dims->c,
        .w = dims->w == 1 ? 0 : dims->c,
        .c = dims->c == 1 ? 0 : 1,
    };
}

static bool broadcasts(const cmsis_nn_dims *dims, const cmsis_nn_dims *output)
{
    return (dims->n == output->n || dims->n == 1) && (dims->h == output->h || dims->h == 1) &&
           (dims->w == output->w || dims->w == 1) && (dims->c == output->c || dims->c == 1);
}

/* Position of an element. */
static int32_t at(const steps *step, int32_t n, int32_t h, int32_t w, int32_t c)
{
    return n * step->n + h * step->h + w * step->w + c * step->c;
}

arm_cmsis_nn_status helia_nn_select(
    const bool *condition,
    const cmsis_nn_dims *condition_dims,
    const void *input1_data,
    const cmsis_nn_dims *input1_dims,
    const void *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t element_bytes,
    void *output_data,
    const cmsis_nn_dims *output_dims)
{
    if (!broadcasts(condition_dims, output_dims) || !broadcasts(input1_dims, output_dims) ||
        !broadcasts(input2_dims, output_dims) || element_bytes < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const steps where = steps_of(condition_dims), one = steps_of(input1_dims), two = steps_of(input2_dims);
    const uint8_t *const first = input1_data;
    const uint8_t *const second = input2_data;
    uint8_t *to = output_data;
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t h = 0; h < output_dims->h; h++)
        {
            for (int32_t w = 0; w < output_dims->w; w++)
            {
                for (int32_t c = 0; c < output_dims->c; c++)
                {
                    const uint8_t *const from = condition[at(&where, n, h, w, c)]
                                                    ? first + at(&one, n, h, w, c) * element_bytes
                                                    : second + at(&two, n, h, w, c) * element_bytes;
                    memcpy(to, from, (size_t)element_bytes);
                    to += element_bytes;
                }
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
