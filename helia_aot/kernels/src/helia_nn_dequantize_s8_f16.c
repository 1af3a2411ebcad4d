/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

arm_cmsis_nn_status helia_nn_dequantize_s8_f16(
    const int8_t *input, float16_t *output, int32_t size, int32_t zero_point, float32_t scale)
{
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = (float16_t)(scale * (float32_t)(input[i] - zero_point));
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_FLOAT16 */
