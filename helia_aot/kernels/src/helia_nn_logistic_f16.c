/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_unary_flt.h"

void helia_nn_logistic_f16(const float16_t *input, float16_t *output, int32_t size)
{
    helia_nn_logistic_elements(input, output, size);
}

#endif /* HELIA_NN_FLOAT16 */
