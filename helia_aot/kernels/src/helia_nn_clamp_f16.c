/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

void helia_nn_clamp_f16(const float16_t *input, float16_t *output, float16_t min, float16_t max, int32_t size)
{
#if defined(HELIA_NN_MVE_FLOAT)
    const helia_nn_vector low = helia_nn_duplicate(min);
    const helia_nn_vector high = helia_nn_duplicate(max);
    for (; size > 0; size -= HELIA_NN_REALS)
    {
        const mve_pred16_t valid = helia_nn_first(size);
        helia_nn_store(output, helia_nn_limit_vector(helia_nn_load(input, valid), low, high), valid);
        input += HELIA_NN_REALS;
        output += HELIA_NN_REALS;
    }
#else
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = (float16_t)helia_nn_limit((float32_t)input[i], min, max);
    }
#endif
}

#endif /* HELIA_NN_FLOAT16 */
