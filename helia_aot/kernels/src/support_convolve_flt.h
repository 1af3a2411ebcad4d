/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions and fully connected layers as matrix products, for the element type of the support_product_*.h before it.
 */
#ifndef HELIA_NN_SUPPORT_CONVOLVE_FLT_H
#define HELIA_NN_SUPPORT_CONVOLVE_FLT_H

static inline helia_nn_product helia_nn_conv_product(const helia_nn_conv_params *params,
                                                     const cmsis_nn_dims *filter_dims,
                                                     const helia_nn_real *filter,
                                                     const helia_nn_real *bias,
                                                     const cmsis_nn_dims *output_dims)
{
    return (helia_nn_product){
        .weights = filter,
        .bias = bias,
        .depth = filter_dims->h * filter_dims->w * filter_dims->c,
        .channels = output_dims->c,
        .packed = params->weight_format == ARM_NN_WEIGHT_FORMAT_NT_N_PACKED,
        .activation = params->activation,
    };
}

static inline bool helia_nn_conv_rule(const helia_nn_conv_params *params,
                                      const cmsis_nn_dims *input,
                                      const cmsis_nn_dims *filter,
                                      const cmsis_nn_dims *output)
{
    return helia_nn_positive(input) && helia_nn_positive(filter) && helia_nn_positive(output) &&
           input->c % filter->c == 0 && output->c % (input->c / filter->c) == 0 && input->n == output->n && params->stride.h > 0 && params->stride.w > 0;
}

/* Sets `count` elements to zero; it may be 0. */
static inline void helia_nn_zero(helia_nn_real *target, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
    {
        target[i] = (helia_nn_real)0;
    }
}

/* Copies the window of an output pixel, zeros for padding: K_H * K_W * C_IN elements. */
static inline void helia_nn_gather_window(const helia_nn_conv_params *params,
                                   const cmsis_nn_dims *input_dims,
                                   const helia_nn_real *input,
                                   const cmsis_nn_dims *filter_dims,
                                   int32_t out_y,
                                   int32_t out_x,
                                   helia_nn_real *column)
{
    const int32_t channels = input_dims->c;
    const int32_t taps = params->dilation.w == 1 ? filter_dims->w : 1; /* copied at once */
    const int32_t left = out_x * params->stride.w - params->padding.w;
    for (int32_t ky = 0; ky < filter_dims->h; ky++)
    {
        const int32_t y = out_y * params->stride.h - params->padding.h + ky * params->dilation.h;
        const bool inside = y >= 0 && y < input_dims->h;
        for (int32_t kx = 0; kx < filter_dims->w; kx += taps)
        {
            const int32_t x = left + kx * params->dilation.w;
            const int32_t first = helia_nn_min(helia_nn_max(-x, 0), taps);
            const int32_t end = inside ? helia_nn_max(helia_nn_min(input_dims->w - x, taps), first) : first;
            if (end - first < taps)
            {
                helia_nn_zero(column, first * channels);
                helia_nn_zero(column + end * channels, (taps - end) * channels);
            }
            helia_nn_copy_bytes(column + first * channels, input + (y * input_dims->w + x + first) * channels,
                                (end - first) * channels * (int32_t)sizeof *column);
            column += taps * channels;
        }
    }
}

/* Gathers four windows at a time into `columns`. */
static inline void helia_nn_convolve(const helia_nn_product *product,
                                     const helia_nn_conv_params *params,
                                     const cmsis_nn_dims *input_dims,
                                     const helia_nn_real *input,
                                     const cmsis_nn_dims *filter_dims,
                                     const cmsis_nn_dims *output_dims,
                                     helia_nn_real *output,
                                     helia_nn_real *columns)
{
    const int32_t pixels = output_dims->h * output_dims->w;
    for (int32_t batch = 0; batch < output_dims->n; batch++)
    {
        int32_t y = 0, x = 0;
        for (int32_t pixel = 0; pixel < pixels; pixel += HELIA_NN_ROWS)
        {
            const int32_t count = helia_nn_min(pixels - pixel, HELIA_NN_ROWS);
            const helia_nn_real *rows[HELIA_NN_ROWS];
            for (int32_t i = 0; i < HELIA_NN_ROWS; i++)
            {
                rows[i] = columns + helia_nn_min(i, count - 1) * product->depth;
                if (i < count)
                {
                    helia_nn_gather_window(params, input_dims, input, filter_dims, y, x, columns + i * product->depth);
                    x++;
                    y += x == output_dims->w ? 1 : 0;
                    x = x == output_dims->w ? 0 : x;
                }
            }
            helia_nn_product_rows(product, rows, count, output);
            output += count * product->channels;
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
}

/* Rows that lie one after the other, `step` elements apart. */
static inline helia_nn_real *helia_nn_multiply_rows(
    const helia_nn_product *product, const helia_nn_real *input, int32_t step, int32_t count, helia_nn_real *output)
{
    for (; count > 0; count -= HELIA_NN_ROWS)
    {
        const int32_t used = helia_nn_min(count, HELIA_NN_ROWS);
        const helia_nn_real *rows[HELIA_NN_ROWS];
        for (int32_t i = 0; i < HELIA_NN_ROWS; i++)
        {
            rows[i] = input + helia_nn_min(i, used - 1) * step;
        }
        helia_nn_product_rows(product, rows, used, output);
        input += used * step;
        output += used * product->channels;
    }
    return output;
}

#endif /* HELIA_NN_SUPPORT_CONVOLVE_FLT_H */
