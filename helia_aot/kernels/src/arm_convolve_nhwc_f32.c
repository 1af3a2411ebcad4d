/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f32.h"
#include "support_convolve_flt.h"
#include "support_convolve_groups_flt.h"

arm_cmsis_nn_status arm_convolve_nhwc_f32(
    const cmsis_nn_context *ctx,
    const cmsis_nn_conv_params_f32 *conv_params,
    const cmsis_nn_dims *input_dims,
    const float32_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const float32_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const float32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    float32_t *output_data)
{
    (void)bias_dims;
    const helia_nn_product product = helia_nn_conv_product(conv_params, filter_dims, filter_data, bias_data, output_dims);
    if (!helia_nn_conv_rule(conv_params, input_dims, filter_dims, output_dims) || ctx == NULL || ctx->buf == NULL ||
        ctx->size < HELIA_NN_ROWS * product.depth * (int32_t)sizeof(float32_t) ||
        (filter_dims->c != input_dims->c && product.packed))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    if (filter_dims->c != input_dims->c)
    {
        helia_nn_convolve_groups(
            &product, conv_params, input_dims, input_data, filter_dims, output_dims, output_data, (float32_t *)ctx->buf);
        return ARM_CMSIS_NN_SUCCESS;
    }
    helia_nn_convolve(
        &product, conv_params, input_dims, input_data, filter_dims, output_dims, output_data, (float32_t *)ctx->buf);
    return ARM_CMSIS_NN_SUCCESS;
}
