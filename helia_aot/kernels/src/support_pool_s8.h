/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the int8 poolings share: the part of a window that is inside the input.
 */
#ifndef HELIA_NN_SUPPORT_POOL_S8_H
#define HELIA_NN_SUPPORT_POOL_S8_H

#include "internal.h"

/* The inputs of one output pixel: `h` rows of `w` pixels, padding left out. */
typedef struct
{
    const int8_t *input; /* First pixel of the first row. */
    int32_t h, w;        /* 0 or less: the window has no input. */
    int32_t row_bytes;   /* From one row to the next. */
} helia_nn_pool_window;

static inline bool helia_nn_pool_rule(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *output_dims)
{
    return input_dims->n == output_dims->n && input_dims->c == output_dims->c;
}

static inline helia_nn_pool_window helia_nn_pool_window_at(const cmsis_nn_pool_params *pool_params,
                                                           const cmsis_nn_dims *input_dims,
                                                           const int8_t *input_data,
                                                           const cmsis_nn_dims *filter_dims,
                                                           int32_t out_y,
                                                           int32_t out_x)
{
    const int32_t top = out_y * pool_params->stride.h - pool_params->padding.h;
    const int32_t left = out_x * pool_params->stride.w - pool_params->padding.w;
    const int32_t y = helia_nn_max(top, 0);
    const int32_t x = helia_nn_max(left, 0);
    return (helia_nn_pool_window){
        .input = input_data + (y * input_dims->w + x) * input_dims->c,
        .h = helia_nn_min(top + filter_dims->h, input_dims->h) - y,
        .w = helia_nn_min(left + filter_dims->w, input_dims->w) - x,
        .row_bytes = input_dims->w * input_dims->c,
    };
}

#endif /* HELIA_NN_SUPPORT_POOL_S8_H */
