/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f32.h"
#include "support_convolve_flt.h"
#include "support_transpose_conv_flt.h"

arm_cmsis_nn_status helia_nn_transpose_conv_f32(const cmsis_nn_context *ctx,
                                                const cmsis_nn_conv_params_f32 *conv_params,
                                                const cmsis_nn_dims *input_dims,
                                                const float32_t *input,
                                                const cmsis_nn_dims *filter_dims,
                                                const float32_t *filter,
                                                const float32_t *bias,
                                                const cmsis_nn_dims *output_dims,
                                                float32_t *output)
{
    const cmsis_nn_tile stride = conv_params->stride;
    if (ctx == NULL || ctx->buf == NULL || stride.w < 1 || stride.h < 1 || filter_dims->c != input_dims->c ||
        !helia_nn_positive(input_dims) || !helia_nn_positive(filter_dims) || input_dims->n != output_dims->n)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_product product = helia_nn_conv_product(conv_params, filter_dims, filter, bias, output_dims);
    helia_nn_transpose_conv(
        &product, conv_params, input_dims, input, filter_dims, output_dims, output, (float32_t *)ctx->buf);
    return ARM_CMSIS_NN_SUCCESS;
}
