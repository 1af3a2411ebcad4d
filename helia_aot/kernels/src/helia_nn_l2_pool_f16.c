/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_l2_pool_flt.h"

arm_cmsis_nn_status helia_nn_l2_pool_f16(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params_f16 *pool_params,
    const cmsis_nn_dims *input_dims,
    const float16_t *src,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    float16_t *dst)
{
    (void)ctx;
    return helia_nn_pool(pool_params, input_dims, src, filter_dims, output_dims, dst, helia_nn_root_mean_square_of_window);
}

#endif /* HELIA_NN_FLOAT16 */
