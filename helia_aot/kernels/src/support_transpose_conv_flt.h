/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Transpose convolution of real numbers: each output is one product over the taps of its phase. To be included after
 * support_convolve_flt.h.
 */
#ifndef HELIA_NN_SUPPORT_TRANSPOSE_CONV_FLT_H
#define HELIA_NN_SUPPORT_TRANSPOSE_CONV_FLT_H

typedef helia_nn_real helia_nn_transpose_value;
#include "support_transpose_conv.h"

typedef struct
{
    helia_nn_product product;
    int32_t size; /* weights of one tap */
} layer;

static void
multiply(const void *how, const helia_nn_transpose_pixels *pixels, const helia_nn_real *column, helia_nn_real *output)
{
    const layer *const of = (const layer *)how;
    const helia_nn_real *const rows[HELIA_NN_ROWS] = {column, column, column, column};
    helia_nn_product part = of->product;
    part.weights += pixels->taps * of->size;
    part.depth = pixels->depth;
    helia_nn_product_rows(&part, rows, 1, output);
}

static arm_cmsis_nn_status transpose_conv(const cmsis_nn_context *ctx,
                                          const helia_nn_conv_params *conv_params,
                                          const cmsis_nn_dims *input_dims,
                                          const helia_nn_real *input,
                                          const cmsis_nn_dims *filter_dims,
                                          const helia_nn_real *filter,
                                          const helia_nn_real *bias,
                                          const cmsis_nn_dims *output_dims,
                                          helia_nn_real *output)
{
    const cmsis_nn_tile stride = conv_params->stride;
    if (ctx == NULL || ctx->buf == NULL || stride.w < 1 || stride.h < 1 || filter_dims->c != input_dims->c ||
        !helia_nn_positive(input_dims) || !helia_nn_positive(filter_dims) || input_dims->n != output_dims->n)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const layer how = {
        .product = helia_nn_conv_product(conv_params, filter_dims, filter, bias, output_dims),
        .size = output_dims->c * input_dims->c,
    };
    helia_nn_transpose_conv(stride,
                            conv_params->padding,
                            input_dims,
                            input,
                            0,
                            filter_dims,
                            output_dims,
                            output,
                            (helia_nn_real *)ctx->buf,
                            multiply,
                            &how);
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_SUPPORT_TRANSPOSE_CONV_FLT_H */
