/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_matmul_s8.h"

#if !defined(HELIA_NN_MVE)

static int32_t dot(const int8_t *a, const int8_t *b, int32_t depth, int32_t a_offset)
{
    int32_t sum = 0;
    for (int32_t k = 0; k < depth; k++)
    {
        sum += (a[k] + a_offset) * b[k];
    }
    return sum;
}

void helia_nn_matmul_s8(const int8_t *lhs,
                        int32_t lhs_stride,
                        int32_t rows,
                        const int8_t *rhs,
                        int32_t channels,
                        int32_t depth,
                        const helia_nn_output_stage *stage,
                        int8_t *output)
{
    const int32_t *start = stage->sums != NULL ? stage->sums : stage->bias;
    const int32_t offset = stage->sums != NULL ? 0 : stage->input_offset;
    for (int32_t row = 0; row < rows; row++)
    {
        for (int32_t channel = 0; channel < channels; channel++)
        {
            const int32_t quant = stage->per_channel ? channel : 0;
            const int32_t sum = (start != NULL ? start[channel] : 0) + dot(lhs, rhs + channel * depth, depth, offset);
            const int32_t scaled = helia_nn_requantize(sum, stage->multiplier[quant], stage->shift[quant]);
            *output++ = (int8_t)helia_nn_clamp(
                scaled + stage->output_offset, stage->activation.min, stage->activation.max);
        }
        lhs += lhs_stride;
    }
}

#else

#include "support_mve_s8.h"

void helia_nn_matmul_s8(const int8_t *lhs,
                        int32_t lhs_stride,
                        int32_t rows,
                        const int8_t *rhs,
                        int32_t channels,
                        int32_t depth,
                        const helia_nn_output_stage *stage,
                        int8_t *output)
{
    for (int32_t channel = 0; channel < channels; channel += 4)
    {
        const int8_t *weights[4];
        helia_nn_weight_rows(weights, rhs, channel, channels, depth);
        const helia_nn_channel_block block = helia_nn_load_channel_block(stage, weights, channel, channels, depth);
        const int8_t *x = lhs;
        int8_t *out = output + channel;
        int32_t row = 0;
        for (; row < rows - 1; row += 2)
        {
            int32x4_t sums0, sums1;
            helia_nn_dot_2x4(x, x + lhs_stride, weights, depth, &sums0, &sums1);
            helia_nn_store_block(sums0, &block, out);
            helia_nn_store_block(sums1, &block, out + channels);
            x += 2 * lhs_stride;
            out += 2 * channels;
        }
        if (row < rows)
        {
            helia_nn_store_block(helia_nn_dot_1x4(x, weights, depth), &block, out);
        }
    }
}

#endif
