/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the poolings share: the part of a window that is inside the input.
 */
#ifndef HELIA_NN_SUPPORT_POOL_S8_H
#define HELIA_NN_SUPPORT_POOL_S8_H

#include "internal.h"

/* The inputs of one output pixel: `h` rows of `w` pixels, padding left out. */
typedef struct
{
    const int8_t *input; /* First pixel of the first row. */
    int32_t h, w;        /* At least 1. */
    int32_t row_bytes;   /* From one row to the next. */
} helia_nn_pool_window;

/* Tells whether the windows along one axis all hold at least one input. */
static inline bool helia_nn_pool_axis_rule(int32_t input, int32_t filter, int32_t output, int32_t stride, int32_t padding)
{
    return padding < filter && (output - 1) * stride - padding < input;
}

/* Batches and channels stay, and there is no window in the padding alone. */
static inline bool helia_nn_pool_rule(const cmsis_nn_pool_params *pool_params,
                                      const cmsis_nn_dims *input_dims,
                                      const cmsis_nn_dims *filter_dims,
                                      const cmsis_nn_dims *output_dims)
{
    const cmsis_nn_tile stride = pool_params->stride;
    const cmsis_nn_tile padding = pool_params->padding;
    return input_dims->n == output_dims->n && input_dims->c == output_dims->c &&
           helia_nn_pool_axis_rule(input_dims->h, filter_dims->h, output_dims->h, stride.h, padding.h) &&
           helia_nn_pool_axis_rule(input_dims->w, filter_dims->w, output_dims->w, stride.w, padding.w);
}

/* The part of a window that is inside the input, in pixels. */
typedef struct
{
    int32_t y, x; /* Its first row and column. */
    int32_t h, w; /* At least 1. */
} helia_nn_pool_area;

static inline helia_nn_pool_area helia_nn_pool_area_at(const cmsis_nn_pool_params *pool_params,
                                                       const cmsis_nn_dims *input_dims,
                                                       const cmsis_nn_dims *filter_dims,
                                                       int32_t out_y,
                                                       int32_t out_x)
{
    const int32_t top = out_y * pool_params->stride.h - pool_params->padding.h;
    const int32_t left = out_x * pool_params->stride.w - pool_params->padding.w;
    const int32_t y = helia_nn_max(top, 0);
    const int32_t x = helia_nn_max(left, 0);
    return (helia_nn_pool_area){
        .y = y,
        .x = x,
        .h = helia_nn_min(top + filter_dims->h, input_dims->h) - y,
        .w = helia_nn_min(left + filter_dims->w, input_dims->w) - x,
    };
}

static inline helia_nn_pool_window helia_nn_pool_window_at(const cmsis_nn_pool_params *pool_params,
                                                           const cmsis_nn_dims *input_dims,
                                                           const int8_t *input_data,
                                                           const cmsis_nn_dims *filter_dims,
                                                           int32_t out_y,
                                                           int32_t out_x)
{
    const helia_nn_pool_area area = helia_nn_pool_area_at(pool_params, input_dims, filter_dims, out_y, out_x);
    return (helia_nn_pool_window){
        .input = input_data + (area.y * input_dims->w + area.x) * input_dims->c,
        .h = area.h,
        .w = area.w,
        .row_bytes = input_dims->w * input_dims->c,
    };
}

#endif /* HELIA_NN_SUPPORT_POOL_S8_H */
