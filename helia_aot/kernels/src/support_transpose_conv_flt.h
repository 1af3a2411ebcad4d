/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Transpose convolution, output by output, for the element type of the support_product_*.h before it.
 *
 * Outputs of one phase (row and column plus padding, modulo the strides) read the same taps of the filter, from inputs that lie side
 * by side; the weights of each phase are a matrix of their own. See arm_nnfunctions_flt.h for their order.
 */
#ifndef HELIA_NN_SUPPORT_TRANSPOSE_CONV_FLT_H
#define HELIA_NN_SUPPORT_TRANSPOSE_CONV_FLT_H

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

/* Copies `rows` by `columns` pixels of the input from (top, left) on; zeros outside. */
static inline void helia_nn_gather_pixels(const cmsis_nn_dims *input_dims,
                                          const helia_nn_real *input,
                                          int32_t top,
                                          int32_t left,
                                          int32_t rows,
                                          int32_t columns,
                                          helia_nn_real *column)
{
    const int32_t channels = input_dims->c;
    const int32_t first = helia_nn_min(helia_nn_max(-left, 0), columns);
    const int32_t end = helia_nn_max(helia_nn_min(input_dims->w - left, columns), first);
    for (int32_t y = top; y < top + rows; y++, column += columns * channels)
    {
        const bool inside = y >= 0 && y < input_dims->h;
        const int32_t last = inside ? end : first;
        helia_nn_zero(column, first * channels);
        helia_nn_zero(column + last * channels, (columns - last) * channels);
        if (last > first)
        {
            helia_nn_copy_bytes(column + first * channels,
                                input + (y * input_dims->w + left + first) * channels,
                                (last - first) * channels * (int32_t)sizeof *column);
        }
    }
}

/* `product` has the weights, the bias and the limits; `column` has room for the pixels of one output. */
static inline void helia_nn_transpose_conv(const helia_nn_product *product,
                                           const helia_nn_conv_params *params,
                                           const cmsis_nn_dims *input_dims,
                                           const helia_nn_real *input,
                                           const cmsis_nn_dims *filter_dims,
                                           const cmsis_nn_dims *output_dims,
                                           helia_nn_real *output,
                                           helia_nn_real *column)
{
    const cmsis_nn_tile stride = params->stride;
    const helia_nn_real *const rows[HELIA_NN_ROWS] = {column, column, column, column};
    const int32_t all_columns = helia_nn_taps_before(filter_dims->w, stride.w, stride.w);
    const int32_t size = product->channels * input_dims->c; /* of the weights of one tap */
    helia_nn_product part = *product;
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t out_y = 0; out_y < output_dims->h; out_y++)
        {
            const int32_t below = out_y + params->padding.h, phase_y = below % stride.h;
            const int32_t taps_y = helia_nn_phase_taps(filter_dims->h, stride.h, phase_y);
            const int32_t before_y = helia_nn_taps_before(filter_dims->h, stride.h, phase_y) * all_columns;
            for (int32_t out_x = 0; out_x < output_dims->w; out_x++)
            {
                const int32_t right = out_x + params->padding.w, phase_x = right % stride.w;
                const int32_t taps_x = helia_nn_phase_taps(filter_dims->w, stride.w, phase_x);
                const int32_t before_x = helia_nn_taps_before(filter_dims->w, stride.w, phase_x) * taps_y;
                part.weights = product->weights + (before_y + before_x) * size;
                part.depth = taps_y * taps_x * input_dims->c;
                helia_nn_gather_pixels(input_dims,
                                       input,
                                       below / stride.h - taps_y + 1,
                                       right / stride.w - taps_x + 1,
                                       taps_y,
                                       taps_x,
                                       column);
                helia_nn_product_rows(&part, rows, 1, output);
                output += product->channels;
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
}

#endif /* HELIA_NN_SUPPORT_TRANSPOSE_CONV_FLT_H */
