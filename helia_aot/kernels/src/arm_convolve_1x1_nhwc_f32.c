/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f32.h"
#include "support_convolve_flt.h"

arm_cmsis_nn_status arm_convolve_1x1_nhwc_f32(
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
    (void)ctx;
    (void)bias_dims;
    const cmsis_nn_tile stride = conv_params->stride;
    if (!helia_nn_conv_rule(conv_params, input_dims, filter_dims, output_dims) || filter_dims->c != input_dims->c ||
        filter_dims->h != 1 || filter_dims->w != 1 || conv_params->padding.h != 0 || conv_params->padding.w != 0 ||
        (output_dims->h - 1) * stride.h >= input_dims->h || (output_dims->w - 1) * stride.w >= input_dims->w)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_product product = helia_nn_conv_product(conv_params, filter_dims, filter_data, bias_data, output_dims);
    if (stride.h == 1 && stride.w == 1 && output_dims->h == input_dims->h && output_dims->w == input_dims->w)
    {
        helia_nn_multiply_rows(
            &product, input_data, input_dims->c, output_dims->n * output_dims->h * output_dims->w, output_data);
        return ARM_CMSIS_NN_SUCCESS;
    }
    for (int32_t batch = 0; batch < output_dims->n; batch++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            const float32_t *row = input_data + (batch * input_dims->h + y * stride.h) * input_dims->w * input_dims->c;
            output_data = helia_nn_multiply_rows(&product, row, stride.w * input_dims->c, output_dims->w, output_data);
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
