/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f32.h"
#include "support_convolve_flt.h"

typedef float32_t helia_nn_bmm_value;
#include "support_batch_matmul.h"

static void multiply(
    const void *context, const helia_nn_bmm_shape *shape, const float32_t *left, const float32_t *right, float32_t *output)
{
    (void)context;
    const helia_nn_product product = {.weights = right,
                                      .depth = shape->depth,
                                      .channels = shape->columns,
                                      .activation = {-HELIA_NN_LARGEST, HELIA_NN_LARGEST}};
    (void)helia_nn_multiply_rows(&product, left, shape->depth, shape->rows, output);
}

arm_cmsis_nn_status helia_nn_batch_matmul_f32(const cmsis_nn_context *ctx,
                                              const helia_nn_bmm_params *params,
                                              const cmsis_nn_dims *lhs_dims,
                                              const float32_t *lhs,
                                              const cmsis_nn_dims *rhs_dims,
                                              const float32_t *rhs,
                                              const cmsis_nn_dims *output_dims,
                                              float32_t *output)
{
    helia_nn_bmm_shape shape;
    if (!helia_nn_bmm_shape_of(params, lhs_dims, rhs_dims, output_dims, &shape) ||
        ((shape.swap_left || shape.swap_right) && (ctx == NULL || ctx->buf == NULL)))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_bmm(&shape, lhs_dims, lhs, rhs_dims, rhs, output, ctx != NULL ? (float32_t *)ctx->buf : NULL, multiply, NULL);
    return ARM_CMSIS_NN_SUCCESS;
}
