/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_dot_s8.h"

typedef int8_t helia_nn_svdf_value;
#define helia_nn_svdf_dot helia_nn_dot_s8
#include "support_svdf.h"

arm_cmsis_nn_status helia_nn_svdf_s8(const helia_nn_svdf_params *params,
                                      const int8_t *input,
                                      const int8_t *weights_feature,
                                      const int8_t *weights_time,
                                      const int32_t *bias,
                                      int8_t *state,
                                      int8_t *output)
{
    return helia_nn_svdf(params, input, weights_feature, weights_time, bias, state, output);
}
