/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_convolve_flt.h"

arm_cmsis_nn_status arm_fully_connected_nhwc_f16(
    const cmsis_nn_context *ctx,
    const cmsis_nn_fc_params_f16 *fc_params,
    const cmsis_nn_dims *input_dims,
    const float16_t *input,
    const cmsis_nn_dims *filter_dims,
    const float16_t *kernel,
    const cmsis_nn_dims *bias_dims,
    const float16_t *bias,
    const cmsis_nn_dims *output_dims,
    float16_t *output)
{
    (void)ctx;
    (void)bias_dims;
    if (input_dims->n < 1 || filter_dims->n < 1 || output_dims->c < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_product product = {
        .weights = kernel,
        .bias = bias,
        .depth = filter_dims->n,
        .channels = output_dims->c,
        .packed = fc_params->weight_format == ARM_NN_WEIGHT_FORMAT_NT_N_PACKED,
        .activation = fc_params->activation,
    };
    helia_nn_multiply_rows(&product, input, product.depth, input_dims->n, output);
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_FLOAT16 */
