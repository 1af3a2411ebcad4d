/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f32.h"
#include "support_lstm_flt.h"

arm_cmsis_nn_status helia_nn_lstm_f32(const cmsis_nn_context *ctx,
                                      const helia_nn_lstm_params_flt *params,
                                      const float32_t *input,
                                      const float32_t *input_weights,
                                      const float32_t *bias,
                                      const float32_t *hidden_weights,
                                      float32_t *hidden,
                                      float32_t *cell,
                                      float32_t *output)
{
    if (ctx == NULL || ctx->buf == NULL)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t gates = HELIA_NN_LSTM_GATES * params->units;
    const cmsis_nn_activation_f32 any = {-HELIA_NN_LARGEST, HELIA_NN_LARGEST};
    const helia_nn_product seen = {input_weights, bias, params->inputs, gates, false, any};
    const helia_nn_product kept = {hidden_weights, NULL, params->units, gates, false, any};
    helia_nn_lstm(params, &seen, &kept, input, hidden, cell, output, (float32_t *)ctx->buf);
    return ARM_CMSIS_NN_SUCCESS;
}
