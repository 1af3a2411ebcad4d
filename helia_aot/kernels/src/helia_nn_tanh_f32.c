/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"
#include "support_unary_flt.h"

void helia_nn_tanh_f32(const float32_t *input, float32_t *output, int32_t size)
{
    helia_nn_tanh_elements(input, output, size);
}
