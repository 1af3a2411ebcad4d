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

/* One row of 17 to 64 bytes with `block->blocks` blocks of channels. */
static void row_times_channels(
    const helia_nn_block *block, const helia_nn_output_stage *stage, const int8_t *weights, int8_t *out)
{
    const int32_t overlap = -block->depth & (HELIA_NN_LANES - 1);
    if (block->depth == 64)
    {
        helia_nn_channels_64(block, stage, weights, out, overlap);
    }
    else if (block->depth > 48)
    {
        helia_nn_channels_to_64(block, stage, weights, out, overlap);
    }
    else if (block->depth > 32)
    {
        helia_nn_channels_to_48(block, stage, weights, out, overlap);
    }
    else if (block->depth == 32)
    {
        helia_nn_channels_32(block, stage, weights, out, overlap);
    }
    else
    {
        helia_nn_channels_to_32(block, stage, weights, out, overlap);
    }
}

/* Rows with the four channels of a block, by the fastest way for the depth. */
static void rows_times_block(
    helia_nn_block *block, const int8_t *lhs, int32_t lhs_stride, int32_t rows, int8_t *out, int32_t out_stride)
{
    int32_t row = 0;
    if (block->depth <= HELIA_NN_LANES)
    {
        block->blocks = rows / 2;
        helia_nn_block_shallow_rows(block, lhs, lhs_stride, out, out_stride);
        row = rows & ~1;
    }
    block->x0 = lhs + row * lhs_stride;
    block->out0 = out + row * out_stride;
    for (; row < rows - 1; row += 2)
    {
        block->x1 = block->x0 + lhs_stride;
        block->out1 = block->out0 + out_stride;
        helia_nn_block_2_rows(block);
        block->x0 = block->x1 + lhs_stride;
        block->out0 = block->out1 + out_stride;
    }
    if (row < rows)
    {
        helia_nn_block_1_row(block);
    }
}

/* Rows with the four channels of a block, for any shifts. */
static void rows_times_block_any_shift(
    helia_nn_block *block, const int8_t *lhs, int32_t lhs_stride, int32_t rows, int8_t *out, int32_t out_stride)
{
    const mve_pred16_t stored = vctp32q((uint32_t)block->stored);
    for (int32_t row = 0; row < rows; row++)
    {
        block->x0 = lhs + row * lhs_stride;
        vstrbq_p_s32(out + row * out_stride, helia_nn_block_output(block, helia_nn_block_sums(block)), stored);
    }
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
    helia_nn_block block;
    helia_nn_prepare_block(&block, stage, depth);
    int32_t channel = 0;
    if (depth > HELIA_NN_LANES && depth <= 64 && stage->sums != NULL && stage->shifts_right &&
        stage->per_channel)
    {
        channel = channels & ~3;
        block.blocks = channel / 4;
        for (int32_t row = 0; row < rows && channel > 0; row++)
        {
            block.x0 = lhs + row * lhs_stride;
            row_times_channels(&block, stage, rhs, output + row * channels);
        }
    }
    for (; channel < channels; channel += 4)
    {
        helia_nn_load_block(&block, stage, rhs, channel, channels);
        if (stage->shifts_right || helia_nn_block_shifts_right(&block))
        {
            rows_times_block(&block, lhs, lhs_stride, rows, output + channel, channels);
        }
        else
        {
            rows_times_block_any_shift(&block, lhs, lhs_stride, rows, output + channel, channels);
        }
    }
}

#endif
