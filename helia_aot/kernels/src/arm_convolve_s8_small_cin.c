/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_s8.h"

/* The longest patch of the entry's rule: three vectors. */
#define MAX_DEPTH 48

#if defined(HELIA_NN_MVE)

#include "support_pairs_s8.h"
#include "support_patches_s8.h"

/* Patches of up to two vectors that are multiplied at a time; longer ones are multiplied in pairs. */
#define PATCH_BYTES (2 * HELIA_NN_LANES * HELIA_NN_PATCHES)

/* Output channels of a pass over the input. */
#define CHANNELS HELIA_NN_PAIR_CHANNELS

/* Fewer positions than this are not worth the preparations for whole columns. */
#define FEW_POSITIONS 8

/* Input of a column of patches; at least one patch. */
#define STRIP_BYTES 512

/*
 * Gathers `rows` rows of a strip of the input, as wide as a patch, one behind the other; writes up to 15 bytes past their end.
 *
 * One vector holds a row. Lanes outside the input are loaded as 0 and get the zero point by OR, so strips at the left and right
 * edge cost as much as others.
 */
static void gather_strip(const int8_t *input,
                         const cmsis_nn_dims *input_dims,
                         const cmsis_nn_dims *filter_dims,
                         const cmsis_nn_conv_params *params,
                         int32_t top,
                         int32_t left,
                         int32_t rows,
                         int8_t *strip)
{
    const int32_t row_bytes = filter_dims->w * input_dims->c;
    const int32_t row_step = input_dims->w * input_dims->c;
    const int32_t first = left * input_dims->c;
    const int8x16_t padding = vdupq_n_s8((int8_t)-params->input_offset);
    mve_pred16_t inside = vctp8q((uint32_t)row_bytes);
    int8x16_t edge = vdupq_n_s8(0);
    if (first < 0 || first + row_bytes > row_step)
    {
        const int32_t end = helia_nn_clamp(row_step - first, 0, row_bytes);
        inside = (mve_pred16_t)(vctp8q((uint32_t)end) & ~vctp8q((uint32_t)helia_nn_max(-first, 0)));
        edge = vpselq_s8(edge, padding, inside);
    }
    for (; rows > 0 && top < 0; rows--, top++, strip += row_bytes)
    {
        vst1q_s8(strip, padding);
    }
    const int32_t count = helia_nn_min(rows, input_dims->h - top);
    if (count > 0)
    {
        const int8_t *source = input + top * row_step + first;
        __asm volatile("vmsr p0, %[inside]\n\t"
                       "dls lr, %[count]\n"
                       "1:\n\t"
                       "vpst\n\t"
                       "vldrbt.8 q0, [%[source]]\n\t"
                       "add %[source], %[row_step]\n\t"
                       "vorr q0, q0, %q[edge]\n\t"
                       "vstrb.8 q0, [%[strip]]\n\t"
                       "add %[strip], %[row_bytes]\n\t"
                       "le lr, 1b\n\t"
                       : [source] "+r"(source), [strip] "+r"(strip)
                       : [row_step] "r"(row_step),
                         [row_bytes] "r"(row_bytes),
                         [count] "r"(count),
                         [inside] "r"(inside),
                         [edge] "w"(edge)
                       : HELIA_NN_PREDICATE "q0", "lr", "memory");
        rows -= count;
    }
    for (; rows > 0; rows--, strip += row_bytes)
    {
        vst1q_s8(strip, padding);
    }
}

#else

/* Gathers `rows` rows of a strip of the input, as wide as a patch, one behind the other. */
static void gather_strip(const int8_t *input,
                         const cmsis_nn_dims *input_dims,
                         const cmsis_nn_dims *filter_dims,
                         const cmsis_nn_conv_params *params,
                         int32_t top,
                         int32_t left,
                         int32_t rows,
                         int8_t *strip)
{
    const cmsis_nn_dims window = {1, rows, filter_dims->w, filter_dims->c};
    helia_nn_gather_patch(input, input_dims, &window, params, top, left, strip);
}

#endif

/* Output positions that are gathered before one matrix product. */
#define POSITIONS 8

static void convolve_by_position(const helia_nn_output_stage *stage,
                                 const cmsis_nn_conv_params *params,
                                 const cmsis_nn_dims *input_dims,
                                 const int8_t *input,
                                 const cmsis_nn_dims *filter_dims,
                                 const int8_t *filter,
                                 const cmsis_nn_dims *output_dims,
                                 int8_t *output)
{
    int8_t patches[POSITIONS * MAX_DEPTH + 16]; /* A row of the last one may be stored as a whole vector. */
    const int32_t depth = filter_dims->h * filter_dims->w * input_dims->c;
    int32_t filled = 0;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                gather_strip(input,
                             input_dims,
                             filter_dims,
                             params,
                             y * params->stride.h - params->padding.h,
                             x * params->stride.w - params->padding.w,
                             filter_dims->h,
                             patches + filled * MAX_DEPTH);
                filled++;
                if (filled == POSITIONS)
                {
                    helia_nn_matmul_s8(patches, MAX_DEPTH, filled, filter, output_dims->c, depth, stage, output);
                    output += filled * output_dims->c;
                    filled = 0;
                }
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
    helia_nn_matmul_s8(patches, MAX_DEPTH, filled, filter, output_dims->c, depth, stage, output);
}

#if defined(HELIA_NN_MVE)

/* Copies `count` (1 or more) patches, `step` bytes apart, to where whole vectors of them are aligned: `target_step` apart. */
static void align_patches(const int8_t *source, int32_t step, int32_t count, int8_t *target, int32_t target_step)
{
    for (int32_t at = 0; at < target_step; at += HELIA_NN_LANES)
    {
        const int8_t *from = source + at;
        int8_t *to = target + at;
        __asm volatile("dls lr, %[count]\n"
                       "1:\n\t"
                       "vldrb.8 q0, [%[from]]\n\t"
                       "add %[from], %[step]\n\t"
                       "vstrb.8 q0, [%[to]]\n\t"
                       "add %[to], %[target_step]\n\t"
                       "le lr, 1b\n\t"
                       : [from] "+r"(from), [to] "+r"(to)
                       : [step] "r"(step), [target_step] "r"(target_step), [count] "r"(count)
                       : "q0", "lr", "memory");
    }
}

/* Start values of `channels` channels where they are not folded: bias and input offset times the sum of the weights. */
static HELIA_NN_COLD void start_values(const helia_nn_output_stage *stage,
                                       int32_t first,
                                       int32_t channels,
                                       const int8_t *weights,
                                       int32_t depth,
                                       int32_t *start)
{
    for (int32_t c = first; c < first + channels; c++)
    {
        int32_t sum = 0;
        for (int32_t k = 0; k < depth; k++)
        {
            sum += *weights++;
        }
        *start++ = (stage->bias != NULL ? stage->bias[c] : 0) + stage->input_offset * sum;
    }
}

/* Patches in pairs, for depths above two vectors. An odd one at the end of a strip waits for the first of the next strip. */
typedef struct
{
    helia_nn_pair_block block;
    bool shifts_right;
    int8_t *waiting; /* Where the output of the waiting patch goes; NULL if none waits. */
    int8_t patch[MAX_DEPTH];
} pairing;

/* The waiting patch together with another one, which may be itself. */
static void multiply_waiting(pairing *pairs, const int8_t *patch, int8_t *output)
{
    pairs->block.common.x0 = pairs->patch;
    pairs->block.common.x1 = patch;
    pairs->block.common.out0 = pairs->waiting;
    pairs->block.common.out1 = output;
    pairs->block.common.blocks = 1;
    helia_nn_multiply_pairs(&pairs->block, pairs->shifts_right);
    pairs->waiting = NULL;
}

/* The `count` patches of a strip, `step` bytes apart. */
static void multiply_strip(
    pairing *pairs, const int8_t *patch, int32_t step, int32_t count, int8_t *output, int32_t output_step)
{
    if (pairs->waiting != NULL)
    {
        multiply_waiting(pairs, patch, output);
        count--;
        patch += step;
        output += output_step;
    }
    helia_nn_pair_block *const block = &pairs->block;
    block->step = 2 * step;
    block->output_step = 2 * output_step;
    block->common.x0 = patch;
    block->common.x1 = patch + step;
    block->common.out0 = output;
    block->common.out1 = output + output_step;
    block->common.blocks = (int32_t)((uint32_t)count / 2);
    helia_nn_multiply_pairs(block, pairs->shifts_right);
    if (count % 2 != 0)
    {
        helia_nn_copy(pairs->patch, block->common.x0, pairs->block.common.depth);
        pairs->waiting = block->common.out0;
    }
}

/*
 * Goes through the output column by column: patches below each other share rows, so the input of a column is gathered once, as
 * one strip, and each patch is a piece of it.
 */
static void convolve_channels(const helia_nn_output_stage *stage,
                              const cmsis_nn_conv_params *params,
                              const cmsis_nn_dims *input_dims,
                              const int8_t *input,
                              const cmsis_nn_dims *filter_dims,
                              const int8_t *filter,
                              int32_t channels,
                              const cmsis_nn_dims *output_dims,
                              int8_t *output)
{
    int8_t strip[STRIP_BYTES + HELIA_NN_LANES] __attribute__((aligned(16)));
    union
    {
        pairing pairs;
        int8_t patches[PATCH_BYTES + HELIA_NN_LANES] __attribute__((aligned(16)));
    } work;
    const int32_t row_bytes = filter_dims->w * input_dims->c;
    const int32_t depth = filter_dims->h * row_bytes;
    const int32_t step = params->stride.h * row_bytes;
    const int32_t patch_step = (depth + HELIA_NN_LANES - 1) & -HELIA_NN_LANES;
    const int32_t most_in_strip = (int32_t)((uint32_t)(STRIP_BYTES - depth) / (uint32_t)step) + 1;
    const int32_t row_step = output_dims->w * output_dims->c;
    const bool in_pairs = depth > 2 * HELIA_NN_LANES;
    if (in_pairs)
    {
        helia_nn_prepare_pairs(&work.pairs.block, stage, filter, channels, depth);
        work.pairs.shifts_right = stage->shifts_right;
        work.pairs.waiting = NULL;
    }
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        helia_nn_patch_places places = {output, output_dims->h, row_step, output_dims->c, 0};
        if (output_dims->h == 1)
        {
            /* Columns of one output make a row, which is written as one column is. */
            places.rows = output_dims->w;
            places.row_step = output_dims->c;
        }
        int32_t filled = 0, to_do = output_dims->h * output_dims->w;
        for (int32_t x = 0; x < output_dims->w; x++)
        {
            for (int32_t y = 0, in_strip; y < output_dims->h; y += in_strip)
            {
                in_strip = helia_nn_min(most_in_strip, output_dims->h - y);
                gather_strip(input,
                             input_dims,
                             filter_dims,
                             params,
                             y * params->stride.h - params->padding.h,
                             x * params->stride.w - params->padding.w,
                             (in_strip - 1) * params->stride.h + filter_dims->h,
                             strip);
                if (in_pairs)
                {
                    int8_t *const target = output + y * row_step + x * output_dims->c;
                    multiply_strip(&work.pairs, strip, step, in_strip, target, row_step);
                    continue;
                }
                for (int32_t done = 0, count; done < in_strip; done += count)
                {
                    count = helia_nn_min(in_strip - done, HELIA_NN_PATCHES - filled);
                    align_patches(strip + done * step, step, count, work.patches + filled * patch_step, patch_step);
                    filled += count;
                    to_do -= count;
                    if (filled == HELIA_NN_PATCHES || to_do == 0)
                    {
                        helia_nn_multiply_patches(stage, work.patches, filled, filter, channels, depth, &places);
                        filled = 0;
                    }
                }
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
        output += output_dims->h * row_step;
    }
    if (in_pairs && work.pairs.waiting != NULL)
    {
        multiply_waiting(&work.pairs, work.pairs.patch, work.pairs.waiting);
    }
}

/* Up to CHANNELS channels at a time, with start values that are folded, by the caller or here. */
static void convolve_by_column(const helia_nn_output_stage *stage,
                               const cmsis_nn_conv_params *params,
                               const cmsis_nn_dims *input_dims,
                               const int8_t *input,
                               const cmsis_nn_dims *filter_dims,
                               const int8_t *filter,
                               const cmsis_nn_dims *output_dims,
                               int8_t *output)
{
    const int32_t depth = filter_dims->h * filter_dims->w * input_dims->c;
    int32_t start[CHANNELS];
    for (int32_t first = 0, channels; first < output_dims->c; first += channels)
    {
        channels = helia_nn_min(CHANNELS, output_dims->c - first);
        helia_nn_output_stage part = *stage;
        part.multiplier += first;
        part.shift += first;
        if (stage->sums != NULL)
        {
            part.sums += first;
        }
        else
        {
            start_values(stage, first, channels, filter, depth, start);
            part.sums = start;
        }
        convolve_channels(
            &part, params, input_dims, input, filter_dims, filter, channels, output_dims, output + first);
        filter += channels * depth;
    }
}

static void convolve(const helia_nn_output_stage *stage,
                     const cmsis_nn_conv_params *params,
                     const cmsis_nn_dims *input_dims,
                     const int8_t *input,
                     const cmsis_nn_dims *filter_dims,
                     const int8_t *filter,
                     const cmsis_nn_dims *output_dims,
                     int8_t *output)
{
    if (input_dims->n * output_dims->h * output_dims->w < FEW_POSITIONS)
    {
        convolve_by_position(stage, params, input_dims, input, filter_dims, filter, output_dims, output);
        return;
    }
    cmsis_nn_conv_params turned = *params;
    cmsis_nn_dims turned_input = *input_dims, turned_filter = *filter_dims, turned_output = *output_dims;
    if (filter_dims->h == 1 && input_dims->h == 1 && output_dims->h == 1 && params->padding.h == 0)
    {
        /* A single row is a column that lies on its side. */
        turned.stride.h = params->stride.w;
        turned.padding = (cmsis_nn_tile){.w = 0, .h = params->padding.w};
        turned_input.h = input_dims->w;
        turned_filter.h = filter_dims->w;
        turned_output.h = output_dims->w;
        turned_input.w = turned_filter.w = turned_output.w = 1;
    }
    convolve_by_column(stage, &turned, &turned_input, input, &turned_filter, filter, &turned_output, output);
}

#else

#define convolve convolve_by_position

#endif

arm_cmsis_nn_status arm_convolve_s8_small_cin(const cmsis_nn_context *ctx,
                                              const cmsis_nn_context *weight_sum_ctx,
                                              const cmsis_nn_conv_params *conv_params,
                                              const cmsis_nn_per_channel_quant_params *quant_params,
                                              const cmsis_nn_dims *input_dims,
                                              const int8_t *input_data,
                                              const cmsis_nn_dims *filter_dims,
                                              const int8_t *filter_data,
                                              const cmsis_nn_dims *bias_dims,
                                              const int32_t *bias_data,
                                              const cmsis_nn_dims *upscale_dims,
                                              const cmsis_nn_dims *output_dims,
                                              int8_t *output_data)
{
    (void)ctx;
    (void)bias_dims;
    const int32_t row_bytes = filter_dims->w * input_dims->c;
    const int32_t depth = filter_dims->h * row_bytes;
    if (input_dims->c < 1 || input_dims->c > 3 || filter_dims->c != input_dims->c ||
        !helia_nn_no_dilation(conv_params) || !helia_nn_no_upscale(upscale_dims) || row_bytes > 16 || depth > MAX_DEPTH ||
        output_dims->c <= 0 || output_dims->c % 4 != 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_output_stage stage =
        helia_nn_conv_output_stage(weight_sum_ctx, conv_params, quant_params, bias_data, output_dims->c, depth);
    convolve(&stage, conv_params, input_dims, input_data, filter_dims, filter_data, output_dims, output_data);
    return ARM_CMSIS_NN_SUCCESS;
}
