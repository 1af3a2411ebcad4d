/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of groups of channels, each with filters of its own; to be included after support_convolve_flt.h.
 */
#ifndef HELIA_NN_SUPPORT_CONVOLVE_GROUPS_FLT_H
#define HELIA_NN_SUPPORT_CONVOLVE_GROUPS_FLT_H

/* Goes pixel by pixel, as the outputs of a group do not lie one after the other. `column` has room for one window of a group. */
static HELIA_NN_COLD void helia_nn_convolve_groups(const helia_nn_product *product,
                                                   const helia_nn_conv_params *params,
                                                   const cmsis_nn_dims *input_dims,
                                                   const helia_nn_real *input,
                                                   const cmsis_nn_dims *filter_dims,
                                                   const cmsis_nn_dims *output_dims,
                                                   helia_nn_real *output,
                                                   helia_nn_real *column)
{
    const int32_t groups = input_dims->c / filter_dims->c;
    const helia_nn_real *const rows[HELIA_NN_ROWS] = {column, column, column, column};
    helia_nn_product part = *product;
    part.channels = product->channels / groups;
    for (int32_t batch = 0; batch < output_dims->n; batch++)
    {
        for (int32_t pixel = 0; pixel < output_dims->h * output_dims->w; pixel++)
        {
            const int32_t top = pixel / output_dims->w * params->stride.h - params->padding.h;
            const int32_t left = pixel % output_dims->w * params->stride.w - params->padding.w;
            for (int32_t group = 0; group < groups; group++)
            {
                helia_nn_real *target = column;
                for (int32_t ky = 0; ky < filter_dims->h; ky++)
                {
                    const int32_t y = top + ky * params->dilation.h;
                    for (int32_t kx = 0; kx < filter_dims->w; kx++, target += filter_dims->c)
                    {
                        const int32_t x = left + kx * params->dilation.w;
                        const int32_t at = (y * input_dims->w + x) * input_dims->c + group * filter_dims->c;
                        if (y < 0 || y >= input_dims->h || x < 0 || x >= input_dims->w)
                        {
                            helia_nn_zero(target, filter_dims->c);
                        }
                        else
                        {
                            helia_nn_copy_bytes(target, input + at, filter_dims->c * (int32_t)sizeof *target);
                        }
                    }
                }
                part.weights = product->weights + group * part.channels * product->depth;
                part.bias = product->bias != NULL ? product->bias + group * part.channels : NULL;
                helia_nn_product_rows(&part, rows, 1, output);
                output += part.channels;
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
}

#endif /* HELIA_NN_SUPPORT_CONVOLVE_GROUPS_FLT_H */
