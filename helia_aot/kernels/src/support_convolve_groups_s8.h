/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * int8 convolution of groups of channels, each with filters of its own.
 */
#ifndef HELIA_NN_SUPPORT_CONVOLVE_GROUPS_S8_H
#define HELIA_NN_SUPPORT_CONVOLVE_GROUPS_S8_H

#include "support_convolve_s8.h"

/* Gathers the patch of one output position for one group: `input` starts at the group's first channel. */
static inline void helia_nn_gather_group(const int8_t *input,
                                         const cmsis_nn_dims *input_dims,
                                         const cmsis_nn_dims *filter_dims,
                                         const cmsis_nn_conv_params *params,
                                         int32_t top,
                                         int32_t left,
                                         int8_t *column)
{
    const int32_t channels = filter_dims->c;
    for (int32_t ky = 0; ky < filter_dims->h; ky++)
    {
        const int32_t y = top + ky * params->dilation.h;
        for (int32_t kx = 0; kx < filter_dims->w; kx++, column += channels)
        {
            const int32_t x = left + kx * params->dilation.w;
            if (y < 0 || y >= input_dims->h || x < 0 || x >= input_dims->w)
            {
                helia_nn_fill(column, -params->input_offset, channels);
            }
            else
            {
                helia_nn_copy(column, input + (y * input_dims->w + x) * input_dims->c, channels);
            }
        }
    }
}

/* Goes pixel by pixel, as the outputs of a group do not lie one after the other. `column` has room for the patch of a group. */
static HELIA_NN_COLD void helia_nn_convolve_groups_s8(const helia_nn_output_stage *stage,
                                                      const cmsis_nn_conv_params *params,
                                                      const cmsis_nn_dims *input_dims,
                                                      const int8_t *input,
                                                      const cmsis_nn_dims *filter_dims,
                                                      const int8_t *filter,
                                                      const cmsis_nn_dims *output_dims,
                                                      int8_t *output,
                                                      int8_t *column)
{
    const int32_t groups = input_dims->c / filter_dims->c;
    const int32_t depth = filter_dims->w * filter_dims->h * filter_dims->c;
    const int32_t channels = output_dims->c / groups;
    const int32_t pixels = output_dims->h * output_dims->w;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t pixel = 0; pixel < pixels; pixel++)
        {
            const int32_t top = pixel / output_dims->w * params->stride.h - params->padding.h;
            const int32_t left = pixel % output_dims->w * params->stride.w - params->padding.w;
            helia_nn_output_stage part = *stage;
            for (int32_t group = 0; group < groups; group++)
            {
                const int8_t *const weights = filter + group * channels * depth;
                helia_nn_gather_group(input + group * filter_dims->c, input_dims, filter_dims, params, top, left, column);
                helia_nn_matmul_s8(column, depth, 1, weights, channels, depth, &part, output);
                part.sums = part.sums != NULL ? part.sums + channels : NULL;
                part.bias = part.bias != NULL ? part.bias + channels : NULL;
                part.multiplier += channels;
                part.shift += channels;
                output += channels;
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
}

#endif /* HELIA_NN_SUPPORT_CONVOLVE_GROUPS_S8_H */
