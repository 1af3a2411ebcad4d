/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * With zero points a and b of the sides, sum (x - a) * (y - b) = sum x * y - a * sum y - b * sum x + depth * a * b.
 */
#include "../include/arm_nnfunctions.h"

typedef int8_t helia_nn_bmm_value;
#include "support_batch_matmul.h"
#include "support_matmul_s8.h"
#include "support_rows_s8.h"

typedef struct
{
    const helia_nn_bmm_params *params;
    const cmsis_nn_per_tensor_quant_params *quant;
    int32_t *sums; /* of the columns, times the offset of the left side */
} stage;

static int32_t sum_of(const int8_t *values, int32_t count)
{
    int32_t sum = 0;
#if defined(HELIA_NN_MVE)
    for (int32_t i = 0; i < count; i += 16)
    {
        const mve_pred16_t valid = vctp8q((uint32_t)(count - i));
        sum = vaddvaq_p_s8(sum, vldrbq_z_s8(values + i, valid), valid);
    }
#else
#if defined(HELIA_NN_DSP)
    const uint32_t ones = helia_nn_twice(1);
    for (; count >= 4; count -= 4, values += 4)
    {
        const uint32_t bytes = helia_nn_load_word(values);
        sum = helia_nn_smlad(helia_nn_even_bytes(0, bytes), ones, sum);
        sum = helia_nn_smlad(helia_nn_odd_bytes(0, bytes), ones, sum);
    }
#endif
    for (int32_t i = 0; i < count; i++)
    {
        sum += values[i];
    }
#endif
    return sum;
}

#if defined(HELIA_NN_MVE)

static inline void store_outputs(int32x4_t sum, const stage *how, int8_t *output, mve_pred16_t valid)
{
    const helia_nn_bmm_params *const params = how->params;
    sum = helia_nn_requantize_n_s32x4(sum, how->quant->multiplier, how->quant->shift);
    sum = vaddq_n_s32(sum, params->output_offset);
    vstrbq_p_s32(output, helia_nn_clamp_s32x4(sum, params->activation.min, params->activation.max), valid);
}

#endif

#if defined(HELIA_NN_DSP)

/* Rows whose start is the same, added to the sums of the columns already. */
static void multiply_rows(
    const stage *how, const int8_t *left, int32_t rows, const int8_t *right, int32_t columns, int32_t depth, int8_t *output)
{
    const cmsis_nn_per_tensor_quant_params *const quant = how->quant;
    const helia_nn_output_stage products = {
        .sums = how->sums,
        .multiplier = &quant->multiplier,
        .shift = &quant->shift,
        .output_offset = how->params->output_offset,
        .activation = how->params->activation,
        .kind = helia_nn_output_kind_of(NULL, &quant->multiplier, &quant->shift, false, 1, depth),
    };
    helia_nn_matmul_s8(left, depth, rows, right, columns, depth, &products, output);
}

static void multiply_all(
    const stage *how, const helia_nn_bmm_shape *shape, const int8_t *left, const int8_t *right, int8_t *output)
{
    const int32_t depth = shape->depth, columns = shape->columns;
    if (how->params->rhs_offset == 0)
    {
        multiply_rows(how, left, shape->rows, right, columns, depth, output);
        return;
    }
    int32_t before = 0;
    for (int32_t r = 0; r < shape->rows; r++)
    {
        const int32_t start = how->params->rhs_offset * (sum_of(left, depth) + depth * how->params->lhs_offset);
        for (int32_t c = 0; c < columns; c++)
        {
            how->sums[c] += start - before;
        }
        multiply_rows(how, left, 1, right, columns, depth, output);
        before = start;
        left += depth;
        output += columns;
    }
}

#else

static void multiply_row(const stage *how,
                         const int8_t *row,
                         int32_t start,
                         const int8_t *right,
                         int32_t columns,
                         int32_t depth,
                         int8_t *output)
{
    const int32_t *sums = how->sums;
#if defined(HELIA_NN_MVE)
    for (; columns >= 4; columns -= 4)
    {
        const int32x4_t sum = helia_nn_dot_rows_s8(row, right, depth, depth, sums);
        store_outputs(vaddq_n_s32(sum, start), how, output, vctp32q(4));
        right += 4 * depth;
        sums += 4;
        output += 4;
    }
    for (; columns > 0; columns--)
    {
        /* All four lanes read the same column. */
        const int32_t same[4] = {*sums, *sums, *sums, *sums};
        const int32x4_t sum = helia_nn_dot_rows_s8(row, right, 0, depth, same);
        store_outputs(vaddq_n_s32(sum, start), how, output, vctp32q(1));
        right += depth;
        sums++;
        output++;
    }
#else
    const helia_nn_bmm_params *const params = how->params;
    for (int32_t c = 0; c < columns; c++)
    {
        int32_t sum = start + sums[c];
        for (int32_t i = 0; i < depth; i++)
        {
            sum += row[i] * *right++;
        }
        const int32_t scaled = helia_nn_requantize(sum, how->quant->multiplier, how->quant->shift) + params->output_offset;
        *output++ = (int8_t)helia_nn_clamp(scaled, params->activation.min, params->activation.max);
    }
#endif
}

static void multiply_all(
    const stage *how, const helia_nn_bmm_shape *shape, const int8_t *left, const int8_t *right, int8_t *output)
{
    const int32_t depth = shape->depth;
    for (int32_t r = 0; r < shape->rows; r++)
    {
        const int32_t seen = how->params->rhs_offset == 0 ? 0 : sum_of(left, depth) + depth * how->params->lhs_offset;
        multiply_row(how, left, how->params->rhs_offset * seen, right, shape->columns, depth, output);
        left += depth;
        output += shape->columns;
    }
}

#endif

static void multiply(
    const void *context, const helia_nn_bmm_shape *shape, const int8_t *left, const int8_t *right, int8_t *output)
{
    const stage *const how = (const stage *)context;
    const int32_t depth = shape->depth;
    for (int32_t c = 0; c < shape->columns; c++)
    {
        how->sums[c] = how->params->lhs_offset * sum_of(right + c * depth, depth);
    }
    multiply_all(how, shape, left, right, output);
}

arm_cmsis_nn_status helia_nn_batch_matmul_s8(const cmsis_nn_context *ctx,
                                             const helia_nn_bmm_params *params,
                                             const cmsis_nn_per_tensor_quant_params *quant_params,
                                             const cmsis_nn_dims *lhs_dims,
                                             const int8_t *lhs,
                                             const cmsis_nn_dims *rhs_dims,
                                             const int8_t *rhs,
                                             const cmsis_nn_dims *output_dims,
                                             int8_t *output)
{
    helia_nn_bmm_shape shape;
    if (!helia_nn_bmm_shape_of(params, lhs_dims, rhs_dims, output_dims, &shape) || ctx == NULL || ctx->buf == NULL)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const stage how = {params, quant_params, (int32_t *)ctx->buf};
    int8_t *const room = (int8_t *)ctx->buf + shape.columns * (int32_t)sizeof(int32_t);
    helia_nn_bmm(&shape, lhs_dims, lhs, rhs_dims, rhs, output, room, multiply, &how);
    return ARM_CMSIS_NN_SUCCESS;
}
