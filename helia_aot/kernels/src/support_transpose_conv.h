/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Transpose convolution, output by output, for the type helia_nn_transpose_value that is defined before.
 *
 * Outputs of one phase (row and column plus padding, modulo the strides) read the same taps of the filter, from inputs that lie side
 * by side; the weights of each phase are a matrix of their own. See helia_nn_transpose_conv_s8() for their order.
 */
#ifndef HELIA_NN_SUPPORT_TRANSPOSE_CONV_H
#define HELIA_NN_SUPPORT_TRANSPOSE_CONV_H

#include "internal.h"

#include <string.h>

/* Taps of a phase along one axis; at least one, whose weights are zeros where the filter is shorter than the stride. */
static inline int32_t helia_nn_phase_taps(int32_t extent, int32_t stride, int32_t phase)
{
    return helia_nn_max((extent - phase + stride - 1) / stride, 1);
}

/* Taps of all phases before one. */
static inline int32_t helia_nn_taps_before(int32_t extent, int32_t stride, int32_t phase)
{
    int32_t taps = 0;
    for (int32_t p = 0; p < phase; p++)
    {
        taps += helia_nn_phase_taps(extent, stride, p);
    }
    return taps;
}

static inline void helia_nn_transpose_fill(helia_nn_transpose_value *target, helia_nn_transpose_value value, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
    {
        target[i] = value;
    }
}

/* Copies `rows` by `columns` pixels of the input from (top, left) on; `outside` stands for pixels outside. */
static inline void helia_nn_gather_pixels(const cmsis_nn_dims *input_dims,
                                          const helia_nn_transpose_value *input,
                                          helia_nn_transpose_value outside,
                                          int32_t top,
                                          int32_t left,
                                          int32_t rows,
                                          int32_t columns,
                                          helia_nn_transpose_value *column)
{
    const int32_t channels = input_dims->c;
    const int32_t first = helia_nn_min(helia_nn_max(-left, 0), columns);
    const int32_t end = helia_nn_max(helia_nn_min(input_dims->w - left, columns), first);
    for (int32_t y = top; y < top + rows; y++, column += columns * channels)
    {
        const bool inside = y >= 0 && y < input_dims->h;
        const int32_t last = inside ? end : first;
        helia_nn_transpose_fill(column, outside, first * channels);
        helia_nn_transpose_fill(column + last * channels, outside, (columns - last) * channels);
        if (last > first)
        {
            memcpy(column + first * channels,
                   input + (y * input_dims->w + left + first) * channels,
                   (size_t)((last - first) * channels) * sizeof *column);
        }
    }
}

/* The pixels of one output. */
typedef struct
{
    int32_t phase; /* counted rows first */
    int32_t taps;  /* of the filter before those of the phase */
    int32_t depth; /* numbers in the column */
    int32_t first; /* of the numbers, the first one of a row inside the input */
    int32_t count; /* numbers in rows inside the input */
} helia_nn_transpose_pixels;

/* Writes the channels of one output from its pixels. */
typedef void (*helia_nn_transpose_multiply)(const void *how,
                                            const helia_nn_transpose_pixels *pixels,
                                            const helia_nn_transpose_value *column,
                                            helia_nn_transpose_value *output);

/* Goes through the outputs; `column` has room for the pixels of one. */
static inline void helia_nn_transpose_conv(cmsis_nn_tile stride,
                                           cmsis_nn_tile padding,
                                           const cmsis_nn_dims *input_dims,
                                           const helia_nn_transpose_value *input,
                                           helia_nn_transpose_value outside,
                                           const cmsis_nn_dims *filter_dims,
                                           const cmsis_nn_dims *output_dims,
                                           helia_nn_transpose_value *output,
                                           helia_nn_transpose_value *column,
                                           helia_nn_transpose_multiply multiply,
                                           const void *how)
{
    const int32_t all_columns = helia_nn_taps_before(filter_dims->w, stride.w, stride.w);
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t out_y = 0; out_y < output_dims->h; out_y++)
        {
            const int32_t below = out_y + padding.h, phase_y = below % stride.h;
            const int32_t taps_y = helia_nn_phase_taps(filter_dims->h, stride.h, phase_y);
            const int32_t before_y = helia_nn_taps_before(filter_dims->h, stride.h, phase_y) * all_columns;
            const int32_t top = below / stride.h - taps_y + 1;
            const int32_t above = helia_nn_clamp(-top, 0, taps_y);
            for (int32_t out_x = 0; out_x < output_dims->w; out_x++)
            {
                const int32_t right = out_x + padding.w, phase_x = right % stride.w;
                const int32_t taps_x = helia_nn_phase_taps(filter_dims->w, stride.w, phase_x);
                const int32_t before_x = helia_nn_taps_before(filter_dims->w, stride.w, phase_x) * taps_y;
                const int32_t left = right / stride.w - taps_x + 1;
                helia_nn_gather_pixels(input_dims, input, outside, top, left, taps_y, taps_x, column);
                const int32_t row = taps_x * input_dims->c;
                const helia_nn_transpose_pixels pixels = {
                    .phase = phase_y * stride.w + phase_x,
                    .taps = before_y + before_x,
                    .depth = taps_y * row,
                    .first = above * row,
                    .count = helia_nn_max(helia_nn_min(input_dims->h - top, taps_y) - above, 0) * row,
                };
                multiply(how, &pixels, column, output);
                output += output_dims->c;
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
}

#endif /* HELIA_NN_SUPPORT_TRANSPOSE_CONV_H */
