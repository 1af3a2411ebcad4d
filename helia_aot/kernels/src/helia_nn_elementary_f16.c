/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_elementary_flt.h"

arm_cmsis_nn_status helia_nn_elementary_f16(
    const float16_t *input, const int32_t function, float16_t *output, const int32_t size)
{
    return elementary(input, function, output, size);
}

#endif /* HELIA_NN_FLOAT16 */
