/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f32.h"
#include "support_svdf_flt.h"

arm_cmsis_nn_status helia_nn_svdf_f32(const cmsis_nn_context *ctx,
                                      const helia_nn_svdf_params_flt *params,
                                      const cmsis_nn_activation_f32 *activation,
                                      const float32_t *input,
                                      const float32_t *weights_feature,
                                      const float32_t *weights_time,
                                      const float32_t *bias,
                                      float32_t *state,
                                      float32_t *output)
{
    if (ctx == NULL || ctx->buf == NULL)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_product features = {.weights = weights_feature,
                                       .depth = params->inputs,
                                       .channels = params->units * params->rank,
                                       .activation = {-HELIA_NN_LARGEST, HELIA_NN_LARGEST}};
    helia_nn_svdf(params, &features, activation, input, weights_time, bias, state, output, (float32_t *)ctx->buf);
    return ARM_CMSIS_NN_SUCCESS;
}
