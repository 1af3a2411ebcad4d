/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

arm_cmsis_nn_status helia_nn_lookup_s8(const int8_t *input, const int8_t *table, int8_t *output, const int32_t count)
{
#if defined(HELIA_NN_MVE)
    for (int32_t left = count; left > 0; left -= 16)
    {
        const mve_pred16_t valid = vctp8q((uint32_t)left);
        const uint8x16_t index = vreinterpretq_u8_s8(vldrbq_z_s8(input, valid));
        vstrbq_p_s8(output, vldrbq_gather_offset_z_s8(table, index, valid), valid);
        input += 16;
        output += 16;
    }
#else
    for (int32_t i = 0; i < count; i++)
    {
        output[i] = table[(uint8_t)input[i]];
    }
#endif
    return ARM_CMSIS_NN_SUCCESS;
}
