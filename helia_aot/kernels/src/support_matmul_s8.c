/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_matmul_s8.h"

#if defined(HELIA_NN_DSP)

#include "support_matmul_s8_dsp.h"

/* Bytes of a row that are widened at a time: two rows take 1 KB of stack. */
#define WIDE_DEPTH 256

void helia_nn_widen_row(const int8_t *from, int32_t depth, int32_t offset, uint32_t *to)
{
    const uint32_t offsets = helia_nn_twice(offset);
    to = helia_nn_widen_words(from, depth >> 2, offsets, to);
    if ((depth & 3) != 0)
    {
        uint32_t bytes = 0;
        memcpy(&bytes, from + (depth & ~3), (size_t)(depth & 3));
        to[0] = helia_nn_even_bytes(offsets, bytes);
        to[1] = helia_nn_odd_bytes(offsets, bytes);
    }
}

/* The last 1 to 3 products of each channel, whose weights end `stride` bytes apart; `tails` has the last two words of each row. */
static void
add_tails(const uint32_t *tail0, const uint32_t *tail1, const int8_t *end, int32_t stride, int32_t channels, int32_t *sums)
{
    for (int32_t i = 0; i < channels; i++)
    {
        const uint32_t word = tail_of(end, stride);
        const uint32_t even = helia_nn_even_bytes(0, word), odd = helia_nn_odd_bytes(0, word);
        *sums = helia_nn_smlad(tail0[1], odd, helia_nn_smlad(tail0[0], even, *sums));
        sums++;
        if (tail1 != NULL)
        {
            *sums = helia_nn_smlad(tail1[1], odd, helia_nn_smlad(tail1[0], even, *sums));
            sums++;
        }
        end += stride;
    }
}

static inline helia_nn_output_rule rule_of(const helia_nn_output_stage *stage)
{
    return (helia_nn_output_rule){stage->output_offset, stage->activation, stage->kind};
}

/*
 * Sets the sums of one widened row or two with a chunk of channels, whose weights are `stride` bytes apart, over `depth` bytes; less
 * than `stride` is a multiple of 4. `start` is NULL for zeros.
 */
static void sums_of_chunk(const uint32_t *const wide[2],
                          int32_t rows,
                          const int8_t *weights,
                          int32_t stride,
                          int32_t channels,
                          int32_t depth,
                          const int32_t *start,
                          int32_t *sums)
{
    const int32_t *const first = start != NULL ? start : helia_nn_no_start;
    const int32_t words = depth >> 2;
    const int32_t whole = words == 0 ? 0 : channels & (rows == 2 ? ~1 : ~3);
    if (whole > 0 && rows == 2)
    {
        sums_of_pair(wide[0], wide[1], weights, stride, whole, words, first, sums);
    }
    else if (whole > 0)
    {
        sums_of_row(wide[0], weights, stride, whole, words, 0, first, sums);
    }
    if ((depth & 3) != 0)
    {
        add_tails(
            wide[0] + 2 * words, rows == 2 ? wide[1] + 2 * words : NULL, weights + depth, stride, whole, sums);
    }
    for (int32_t i = whole; i < channels; i++)
    {
        for (int32_t k = 0; k < rows; k++)
        {
            sums[rows * i + k] = add_one(wide[k], weights + i * stride, depth, first[i]);
        }
    }
}

/* Sets the sums of a row of bytes, with `offset` added to each, and a chunk of channels. `start` is NULL for zeros. */
static inline void sums_of_one_row(const int8_t *row,
                                   int32_t offset,
                                   const int8_t *weights,
                                   int32_t channels,
                                   int32_t depth,
                                   const int32_t *start,
                                   int32_t *sums)
{
    const int32_t *const first = start != NULL ? start : helia_nn_no_start;
    const int32_t words = depth >> 2, few = channels & 3, whole = channels - few;
    const uint32_t offsets = helia_nn_twice(offset);
    if (words == 0)
    {
        memcpy(sums, first, (size_t)channels * sizeof *sums);
    }
    else
    {
        if (whole > 0)
        {
            sums_of_bytes(row, weights, depth, whole, words, offsets, first, sums);
        }
        if (few > 0)
        {
            (few == 1 ? sums_of_1 : few == 2 ? sums_of_2 : sums_of_3)(
                row, weights + whole * depth, depth, words, offsets, first + whole, sums + whole);
        }
    }
    if ((depth & 3) != 0)
    {
        const uint32_t bytes = tail_of(row + depth, depth);
        const uint32_t tail[2] = {helia_nn_even_bytes(offsets, bytes), helia_nn_odd_bytes(offsets, bytes)};
        add_tails(tail, NULL, weights + depth, depth, channels, sums);
    }
}

/* Up to so many channels, it does not pay to widen a row before its products; nor does it where that is done again and again. */
#define CHANNELS_OF_BYTES 12

/* Whether sums_of_one_row() is for a call. */
static inline bool takes_bytes(int32_t rows, int32_t channels, int32_t depth)
{
    return rows == 1 && (channels <= CHANNELS_OF_BYTES || depth > WIDE_DEPTH);
}

/* One row of bytes by all channels. */
static void one_row_times_channels(
    const int8_t *row, const int8_t *rhs, int32_t channels, int32_t depth, const helia_nn_output_stage *stage, int8_t *output)
{
    const int32_t *const start = stage->sums != NULL ? stage->sums : stage->bias;
    const int32_t offset = stage->sums != NULL ? 0 : stage->input_offset;
    const int32_t step = stage->per_channel ? 1 : 0;
    int32_t sums[HELIA_NN_CHUNK];
    for (int32_t at = 0; at < channels; at += HELIA_NN_CHUNK)
    {
        const int32_t count = helia_nn_min(channels - at, HELIA_NN_CHUNK);
        sums_of_one_row(row, offset, rhs + at * depth, count, depth, start != NULL ? start + at : NULL, sums);
        helia_nn_checked_row(stage->output_offset,
                             sums,
                             stage->multiplier + at * step,
                             stage->shift + at * step,
                             step,
                             count,
                             output + at);
    }
    helia_nn_activate(&stage->activation, output, channels);
}

/* One widened row or two by all channels; the second row of outputs is behind the first. */
static void wide_rows_times_channels(const uint32_t *const wide[2],
                                     int32_t rows,
                                     const int8_t *rhs,
                                     int32_t channels,
                                     int32_t depth,
                                     const helia_nn_output_stage *stage,
                                     const helia_nn_output_rule *rule,
                                     int8_t *output)
{
    const int32_t *const start = stage->sums != NULL ? stage->sums : stage->bias;
    const int32_t step = stage->per_channel ? 1 : 0;
    int32_t sums[2 * HELIA_NN_CHUNK];
    if (rows == 2 && channels <= HELIA_NN_CHUNK && ((channels & 1) | (depth & 3)) == 0)
    {
        /* What the calls below come to; few channels would not make up for them. */
        sums_of_pair(
            wide[0], wide[1], rhs, depth, channels, depth >> 2, start != NULL ? start : helia_nn_no_start, sums);
        helia_nn_outputs(rule, sums, 2, stage->multiplier, stage->shift, step, channels, output, channels);
        return;
    }
    for (int32_t at = 0; at < channels; at += HELIA_NN_CHUNK)
    {
        const int32_t count = helia_nn_min(channels - at, HELIA_NN_CHUNK);
        sums_of_chunk(wide, rows, rhs + at * depth, depth, count, depth, start != NULL ? start + at : NULL, sums);
        helia_nn_outputs(rule,
                         sums,
                         rows,
                         stage->multiplier + at * step,
                         stage->shift + at * step,
                         step,
                         count,
                         output + at,
                         channels);
    }
}

void helia_nn_sums_s8(const int8_t *const bytes[2],
                      int32_t rows,
                      int32_t offset,
                      const int8_t *weights,
                      int32_t channels,
                      int32_t depth,
                      const int32_t *start,
                      int32_t *sums)
{
    uint32_t blocks[2][WIDE_DEPTH / 2];
    const uint32_t *const wide[2] = {blocks[0], blocks[1]};
    int32_t parts[2 * HELIA_NN_SUMS];
    if (takes_bytes(rows, channels, depth))
    {
        sums_of_one_row(bytes[0], offset, weights, channels, depth, start, sums);
        return;
    }
    for (int32_t done = 0; done < depth; done += WIDE_DEPTH)
    {
        const int32_t now = helia_nn_min(depth - done, WIDE_DEPTH);
        for (int32_t k = 0; k < rows; k++)
        {
            helia_nn_widen_row(bytes[k] + done, now, offset, blocks[k]);
        }
        if (done == 0)
        {
            sums_of_chunk(wide, rows, weights, depth, channels, now, start, sums);
            continue;
        }
        sums_of_chunk(wide, rows, weights + done, depth, channels, now, NULL, parts);
        for (int32_t i = 0; i < rows * channels; i++)
        {
            sums[i] += parts[i];
        }
    }
}

/* Puts int16 numbers into the order of a widened row. */
static void split_row(const int16_t *from, int32_t depth, uint32_t *to)
{
    for (; depth > 0; depth -= 4, from += 4)
    {
        uint32_t first = 0, second = 0;
        if (depth >= 4)
        {
            first = helia_nn_load_word(from);
            second = helia_nn_load_word(from + 2);
        }
        else
        {
            memcpy(&first, from, (size_t)helia_nn_min(2 * depth, 4));
            memcpy(&second, from + 2, depth == 3 ? 2 : 0);
        }
        *to++ = helia_nn_lower_halves(first, second);
        *to++ = helia_nn_upper_halves(first, second);
    }
}

void helia_nn_narrow_sums_s16_s8(
    const int16_t *values, const int8_t *weights, int32_t channels, int32_t depth, const int32_t *start, int32_t *sums)
{
    uint32_t block[HELIA_NN_NARROW_DEPTH / 2];
    const uint32_t *const wide[2] = {block, NULL};
    split_row(values, depth, block);
    sums_of_chunk(wide, 1, weights, depth, channels, depth, start, sums);
}

void helia_nn_sums_s16_s8(const int16_t *values, const int8_t *weights, int32_t channels, int32_t depth, int64_t *sums)
{
    /* A block has 2^8 products of 2^22 at most, which fit into 32 bits. */
    uint32_t block[WIDE_DEPTH / 2];
    const uint32_t *const wide[2] = {block, NULL};
    int32_t parts[HELIA_NN_SUMS];
    for (int32_t done = 0; done < depth; done += WIDE_DEPTH)
    {
        const int32_t now = helia_nn_min(depth - done, WIDE_DEPTH);
        split_row(values + done, now, block);
        sums_of_chunk(wide, 1, weights + done, depth, channels, now, NULL, parts);
        for (int32_t i = 0; i < channels; i++)
        {
            sums[i] += parts[i];
        }
    }
}

/* As wide_rows_times_channels() for rows of bytes of any depth: every chunk of channels widens them again, block by block. */
static HELIA_NN_COLD void deep_rows_times_channels(const int8_t *const bytes[2],
                                                   int32_t rows,
                                                   const int8_t *rhs,
                                                   int32_t channels,
                                                   int32_t depth,
                                                   const helia_nn_output_stage *stage,
                                                   const helia_nn_output_rule *rule,
                                                   int8_t *output)
{
    const int32_t *const start = stage->sums != NULL ? stage->sums : stage->bias;
    const int32_t offset = stage->sums != NULL ? 0 : stage->input_offset;
    const int32_t step = stage->per_channel ? 1 : 0;
    int32_t sums[2 * HELIA_NN_SUMS];
    for (int32_t at = 0; at < channels; at += HELIA_NN_SUMS)
    {
        const int32_t count = helia_nn_min(channels - at, HELIA_NN_SUMS);
        helia_nn_sums_s8(bytes, rows, offset, rhs + at * depth, count, depth, start != NULL ? start + at : NULL, sums);
        helia_nn_outputs(rule,
                         sums,
                         rows,
                         stage->multiplier + at * step,
                         stage->shift + at * step,
                         step,
                         count,
                         output + at,
                         channels);
    }
}

void helia_nn_matmul_wide_s8(uint32_t *const rows[2],
                             int32_t count,
                             const int8_t *rhs,
                             int32_t channels,
                             int32_t depth,
                             const helia_nn_output_stage *stage,
                             int8_t *output)
{
    const uint32_t *const wide[2] = {rows[0], rows[1]};
    const helia_nn_output_rule rule = rule_of(stage);
    wide_rows_times_channels(wide, count, rhs, channels, depth, stage, &rule, output);
}

/* helia_nn_matmul_s8() by pairs of rows. */
static HELIA_NN_APART void rows_times_channels(const int8_t *lhs,
                                               int32_t lhs_stride,
                                               int32_t rows,
                                               const int8_t *rhs,
                                               int32_t channels,
                                               int32_t depth,
                                               const helia_nn_output_stage *stage,
                                               int8_t *output)
{
    const int32_t offset = stage->sums != NULL ? 0 : stage->input_offset;
    const helia_nn_output_rule rule = rule_of(stage);
    uint32_t blocks[2][WIDE_DEPTH / 2];
    const uint32_t *const wide[2] = {blocks[0], blocks[1]};
    for (; rows > 0; rows -= 2)
    {
        const int32_t now = helia_nn_min(rows, 2);
        if (depth > WIDE_DEPTH)
        {
            const int8_t *const bytes[2] = {lhs, lhs + lhs_stride};
            deep_rows_times_channels(bytes, now, rhs, channels, depth, stage, &rule, output);
        }
        else
        {
            for (int32_t k = 0; k < now; k++)
            {
                helia_nn_widen_row(lhs + k * lhs_stride, depth, offset, blocks[k]);
            }
            wide_rows_times_channels(wide, now, rhs, channels, depth, stage, &rule, output);
        }
        lhs += 2 * lhs_stride;
        output += 2 * channels;
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
    if (takes_bytes(rows, channels, depth))
    {
        one_row_times_channels(lhs, rhs, channels, depth, stage, output);
    }
    else
    {
        rows_times_channels(lhs, lhs_stride, rows, rhs, channels, depth, stage, output);
    }
}

#elif !defined(HELIA_NN_MVE)

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

#include "support_matmul_s8_mve.h"

/*
 * The loop over channels inside the loop over rows costs the least, but reads all weights again for every two rows. That is done
 * for few rows, and for so many bytes of weights as stay in a data cache beside the input; otherwise the loop over rows is the
 * inner one, and each weight is read from its memory once.
 */
#define FEW_ROWS 4
#define CACHED_WEIGHT_BYTES (32 * 1024)

/* An even number of rows of 16 bytes and more with all whole blocks of channels. */
static void pairs_times_channels(helia_nn_block *block,
                                 const helia_nn_output_stage *stage,
                                 const int8_t *lhs,
                                 int32_t lhs_stride,
                                 int32_t rows,
                                 const int8_t *weights,
                                 int8_t *out,
                                 int32_t out_stride)
{
    const int32_t blocks = block->blocks;
    for (; rows > 0; rows -= 2, lhs += 2 * lhs_stride, out += 2 * out_stride)
    {
        block->x0 = lhs;
        block->x1 = lhs + lhs_stride;
        block->out0 = out;
        block->out1 = out + out_stride;
        block->next_multiplier = stage->multiplier;
        block->next_shift = stage->shift;
        block->next_weights = weights;
        helia_nn_pair_all_channels(block, stage->sums);
        block->blocks = blocks; /* counted down */
    }
}

/* Rows of 17 to 64 bytes with all whole blocks of channels. */
static void rows_times_channels(helia_nn_block *block,
                                const helia_nn_output_stage *stage,
                                const int8_t *lhs,
                                int32_t lhs_stride,
                                int32_t rows,
                                const int8_t *weights,
                                int8_t *out,
                                int32_t out_stride)
{
    if (block->depth == 64)
    {
        helia_nn_channels_64(block, stage, lhs, lhs_stride, rows, weights, out, out_stride);
    }
    else if (block->depth > 48)
    {
        helia_nn_channels_to_64(block, stage, lhs, lhs_stride, rows, weights, out, out_stride);
    }
    else if (block->depth > 32)
    {
        helia_nn_channels_to_48(block, stage, lhs, lhs_stride, rows, weights, out, out_stride);
    }
    else if (block->depth == 32)
    {
        helia_nn_channels_32(block, stage, lhs, lhs_stride, rows, weights, out, out_stride);
    }
    else
    {
        helia_nn_channels_to_32(block, stage, lhs, lhs_stride, rows, weights, out, out_stride);
    }
}

/* One row with all whole blocks of channels. */
static void row_times_channels(
    helia_nn_block *block, const helia_nn_output_stage *stage, const int8_t *row, const int8_t *weights, int8_t *out)
{
    block->next_multiplier = stage->per_channel ? stage->multiplier : block->multiplier;
    block->next_shift = stage->per_channel ? stage->shift : block->shift;
    block->quant_step = stage->per_channel ? 16 : 0;
    block->overlap = -block->depth & (HELIA_NN_LANES - 1);
    helia_nn_row_all_channels(block, row, weights, stage->sums, out);
}

/* Rows with the four channels of a block. */
static void rows_times_block(
    helia_nn_block *block, const int8_t *lhs, int32_t lhs_stride, int32_t rows, int8_t *out, int32_t out_stride)
{
    const int32_t even = rows & ~1;
    if (block->depth <= HELIA_NN_LANES)
    {
        block->blocks = even / 2;
        helia_nn_block_shallow_rows(block, lhs, lhs_stride, out, out_stride);
    }
    else
    {
        helia_nn_block_deep_rows(block, lhs, lhs_stride, out, out_stride, even);
    }
    if (even < rows)
    {
        helia_nn_block_1_row(block, lhs + even * lhs_stride, out + even * out_stride);
    }
}

static int32_t dot(const int8_t *a, const int8_t *b, int32_t depth, int32_t sum)
{
    for (int32_t k = 0; k < depth; k += HELIA_NN_LANES)
    {
        const mve_pred16_t valid = vctp8q((uint32_t)(depth - k));
        sum = vmladavaq_s8(sum, vldrbq_z_s8(a + k, valid), vldrbq_z_s8(b + k, valid));
    }
    return sum;
}

/* Rows with the four channels of a block, for any shifts. */
static HELIA_NN_COLD void rows_times_block_any_shift(
    const helia_nn_block *block, const int8_t *lhs, int32_t lhs_stride, int32_t rows, int8_t *out, int32_t out_stride)
{
    const mve_pred16_t stored = vctp32q((uint32_t)block->stored);
    for (int32_t row = 0; row < rows; row++)
    {
        const int32_t sums[4] = {
            dot(lhs, block->weights[0], block->depth, block->start[0]),
            dot(lhs, block->weights[2], block->depth, block->start[2]),
            dot(lhs, block->weights[1], block->depth, block->start[1]),
            dot(lhs, block->weights[3], block->depth, block->start[3]),
        };
        vstrbq_p_s32(out, helia_nn_block_output(block, vld1q_s32(sums)), stored);
        lhs += lhs_stride;
        out += out_stride;
    }
}

/* Does all whole blocks of channels where a loop over channels is the fast way; gives the number of channels done. */
static int32_t times_channels(helia_nn_block *block,
                              const helia_nn_output_stage *stage,
                              const int8_t *lhs,
                              int32_t lhs_stride,
                              int32_t rows,
                              const int8_t *rhs,
                              int32_t channels,
                              int8_t *output)
{
    if (stage->sums == NULL || !stage->shifts_right || channels < 4)
    {
        return 0;
    }
    block->blocks = channels / 4;
    if (stage->per_channel && block->depth > HELIA_NN_LANES && block->depth <= 64)
    {
        rows_times_channels(block, stage, lhs, lhs_stride, rows, rhs, output, channels);
    }
    else if (rows == 1)
    {
        row_times_channels(block, stage, lhs, rhs, output);
    }
    else if (stage->per_channel && block->depth > 64 &&
             (rows <= FEW_ROWS || channels * block->depth <= CACHED_WEIGHT_BYTES))
    {
        const int32_t even = rows & ~1;
        pairs_times_channels(block, stage, lhs, lhs_stride, even, rhs, output, channels);
        if (even < rows)
        {
            row_times_channels(block, stage, lhs + even * lhs_stride, rhs, output + even * channels);
        }
    }
    else
    {
        return 0;
    }
    return channels & ~3;
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
    int32_t channel = times_channels(&block, stage, lhs, lhs_stride, rows, rhs, channels, output);
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
