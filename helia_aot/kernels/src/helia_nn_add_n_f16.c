/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_add_n_flt.h"

arm_cmsis_nn_status helia_nn_add_n_f16(
    const void *const *inputs, const int32_t count, float16_t *output, const int32_t size)
{
    return add_n(inputs, count, output, size);
}

#endif /* HELIA_NN_FLOAT16 */
