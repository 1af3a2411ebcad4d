/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_quantize.h"

arm_cmsis_nn_status helia_nn_quantize_f16_s8(
    const float16_t *input, int8_t *output, int32_t size, int32_t zero_point, float32_t scale)
{
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = (int8_t)helia_nn_quantize((float32_t)input[i], scale, zero_point, INT8_MIN, INT8_MAX);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_FLOAT16 */
