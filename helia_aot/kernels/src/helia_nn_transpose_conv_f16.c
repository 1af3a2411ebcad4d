/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_convolve_flt.h"
#include "support_transpose_conv_flt.h"

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
    return transpose_conv(ctx, conv_params, input_dims, input, filter_dims, filter, bias, output_dims, output);
}

#endif /* HELIA_NN_FLOAT16 */
