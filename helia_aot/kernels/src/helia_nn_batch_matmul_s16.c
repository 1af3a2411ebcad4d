/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

typedef int16_t helia_nn_bmm_value;
#include "support_batch_matmul.h"
#include "support_requantize_s64.h"

typedef struct
{
    const helia_nn_bmm_params *params;
    int32_t multiplier; /* with 16 bits */
    int32_t shift;
} stage;

#if defined(HELIA_NN_DSP)

/* Four numbers of a row by two columns; the loads stand together, as a load behind another one costs a cycle less. */
static inline void add_4_products(
    const int16_t **row, const int16_t **column0, const int16_t **column1, int64_t *sum0, int64_t *sum1)
{
    uint32_t x0, x1, u0, u1, v0, v1;
    __asm volatile("ldr %[x0], [%[row]], #4\n\t"
                   "ldr %[u0], [%[column0]], #4\n\t"
                   "ldr %[v0], [%[column1]], #4\n\t"
                   "ldr %[x1], [%[row]], #4\n\t"
                   "ldr %[u1], [%[column0]], #4\n\t"
                   "ldr %[v1], [%[column1]], #4\n\t"
                   "smlald %Q[sum0], %R[sum0], %[x0], %[u0]\n\t"
                   "smlald %Q[sum1], %R[sum1], %[x0], %[v0]\n\t"
                   "smlald %Q[sum0], %R[sum0], %[x1], %[u1]\n\t"
                   "smlald %Q[sum1], %R[sum1], %[x1], %[v1]\n\t"
                   : [x0] "=&r"(x0),
                     [x1] "=&r"(x1),
                     [u0] "=&r"(u0),
                     [u1] "=&r"(u1),
                     [v0] "=&r"(v0),
                     [v1] "=&r"(v1),
                     [row] "+r"(*row),
                     [column0] "+r"(*column0),
                     [column1] "+r"(*column1),
                     [sum0] "+r"(*sum0),
                     [sum1] "+r"(*sum1)
                   :
                   : "memory");
}

#endif

/* The dot products of `count` numbers with two columns. */
static __attribute__((noinline)) void dots(const int16_t *row, const int16_t *column0, const int16_t *column1, int32_t count, int64_t sums[2])
{
    int64_t sum0 = 0, sum1 = 0;
#if defined(HELIA_NN_MVE)
    for (int32_t i = 0; i < count; i += 8)
    {
        const mve_pred16_t valid = vctp16q((uint32_t)(count - i));
        const int16x8_t now = vldrhq_z_s16(row + i, valid);
        sum0 = vmlaldavaq_s16(sum0, now, vldrhq_z_s16(column0 + i, valid));
        sum1 = vmlaldavaq_s16(sum1, now, vldrhq_z_s16(column1 + i, valid));
    }
#else
#if defined(HELIA_NN_DSP)
    for (int32_t fours = count >> 2; fours > 0; fours--)
    {
        add_4_products(&row, &column0, &column1, &sum0, &sum1);
    }
    count &= 3;
#endif
    for (int32_t i = 0; i < count; i++)
    {
        sum0 += row[i] * column0[i];
        sum1 += row[i] * column1[i];
    }
#endif
    sums[0] = sum0;
    sums[1] = sum1;
}

static void multiply(
    const void *context, const helia_nn_bmm_shape *shape, const int16_t *left, const int16_t *right, int16_t *output)
{
    const stage *const how = (const stage *)context;
    const cmsis_nn_activation limits = how->params->activation;
    for (int32_t r = 0; r < shape->rows; r++)
    {
        for (int32_t c = 0; c < shape->columns; c += 2)
        {
            /* Two columns share a pass over the row; a last one is computed twice over. */
            const int32_t next = helia_nn_min(c + 1, shape->columns - 1);
            int64_t sums[2];
            dots(left, right + c * shape->depth, right + next * shape->depth, shape->depth, sums);
            for (int32_t k = c; k <= next; k++)
            {
                const int32_t scaled = helia_nn_requantize_s64(sums[k - c], how->multiplier, how->shift);
                *output++ = (int16_t)helia_nn_clamp(scaled, limits.min, limits.max);
            }
        }
        left += shape->depth;
    }
}

arm_cmsis_nn_status helia_nn_batch_matmul_s16(const cmsis_nn_context *ctx,
                                              const helia_nn_bmm_params *params,
                                              const cmsis_nn_per_tensor_quant_params *quant_params,
                                              const cmsis_nn_dims *lhs_dims,
                                              const int16_t *lhs,
                                              const cmsis_nn_dims *rhs_dims,
                                              const int16_t *rhs,
                                              const cmsis_nn_dims *output_dims,
                                              int16_t *output)
{
    helia_nn_bmm_shape shape;
    if (!helia_nn_bmm_shape_of(params, lhs_dims, rhs_dims, output_dims, &shape) ||
        ((shape.swap_left || shape.swap_right) && (ctx == NULL || ctx->buf == NULL)) || params->lhs_offset != 0 ||
        params->rhs_offset != 0 || params->output_offset != 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const stage how = {params, helia_nn_reduced_multiplier(quant_params->multiplier), quant_params->shift};
    helia_nn_bmm(&shape, lhs_dims, lhs, rhs_dims, rhs, output, ctx != NULL ? (int16_t *)ctx->buf : NULL, multiply, &how);
    return ARM_CMSIS_NN_SUCCESS;
}
