/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_convolve_flt.h"

typedef float16_t helia_nn_transpose_value;
#include "support_transpose_conv.h"

typedef struct
{
    helia_nn_product product;
    int32_t size; /* weights of one tap */
} layer;

static void
multiply(const void *how, const helia_nn_transpose_pixels *pixels, const float16_t *column, float16_t *output)
{
    const layer *const of = (const layer *)how;
    const float16_t *const rows[HELIA_NN_ROWS] = {column, column, column, column};
    helia_nn_product part = of->product;
    part.weights += pixels->taps * of->size;
    part.depth = pixels->depth;
    helia_nn_product_rows(&part, rows, 1, output);
}

arm_cmsis_nn_status helia_nn_transpose_conv_f16(const cmsis_nn_context *ctx,
                                                const cmsis_nn_conv_params_f16 *conv_params,
                                                const cmsis_nn_dims *input_dims,
                                                const float16_t *input,
                                                const cmsis_nn_dims *filter_dims,
                                                const float16_t *filter,
                                                const float16_t *bias,
                                                const cmsis_nn_dims *output_dims,
                                                float16_t *output)
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
                            (float16_t *)ctx->buf,
                            multiply,
                            &how);
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_FLOAT16 */
