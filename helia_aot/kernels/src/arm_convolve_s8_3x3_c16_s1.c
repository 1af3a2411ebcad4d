/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_s8.h"

#define CHANNELS 16
#define DEPTH (3 * 3 * CHANNELS)

#if defined(HELIA_NN_MVE)

#include "support_mve_s8.h"

/* Bytes of an input row that two neighbouring patches cover. */
#define PAIR_BYTES (4 * CHANNELS)

/* What the assembly needs: the common block, then the three input rows of the pair. */
typedef struct
{
    helia_nn_block common;
    const int8_t *rows[3];
} pair_block;

_Static_assert(offsetof(pair_block, rows) == 152, "used in assembly");

/*
 * One tap of two positions by two channels: position 0 sees the vector `left`, position 1 the vector `right`, which is its
 * neighbour in the same input row. `next` loads what the next tap starts with.
 */
#define TAP(load_right, left, right, next)                                                                                    \
    load_right "vmladava.s8 %[s0], " left ", q4\n\t"                                                                          \
               "vldrb.8 q5, [%[w1]], #16\n\t"                                                                                 \
               "vmladava.s8 %[s2], " right ", q4\n\t" next "vmladava.s8 %[s1], " left ", q5\n\t"                             \
               "vmladava.s8 %[s3], " right ", q5\n\t"

#define NEXT_WEIGHTS "vldrb.8 q4, [%[w0]], #16\n\t"

/* One input row; `next` also loads the first vector of the row that follows. */
#define ROW(next)                                                                                                             \
    TAP("vldrb.8 q1, [%[x], #16]\n\t", "q0", "q1", NEXT_WEIGHTS)                                                              \
    TAP("vldrb.8 q2, [%[x], #32]\n\t", "q1", "q2", NEXT_WEIGHTS) TAP("vldrb.8 q3, [%[x], #48]\n\t", "q2", "q3", next)

/* Two positions by two channels, all nine taps; `first` and `second` are the offsets of the start values. */
#define PASS(first, second)                                                                                                   \
    "ldr %[x], [%[block], #152]\n\t"                                                                                          \
    "ldr %[s0], [%[start], #" first "]\n\t" NEXT_WEIGHTS                                                                      \
    "ldr %[s1], [%[start], #" second "]\n\t"                                                                                  \
    "vldrb.8 q0, [%[x]]\n\t"                                                                                                  \
    "mov %[s2], %[s0]\n\t"                                                                                                    \
    "mov %[s3], %[s1]\n\t" ROW("ldr %[x], [%[block], #156]\n\t" NEXT_WEIGHTS "vldrb.8 q0, [%[x]]\n\t")                      \
        ROW("ldr %[x], [%[block], #160]\n\t" NEXT_WEIGHTS "vldrb.8 q0, [%[x]]\n\t") ROW("")

/*
 * Two neighbouring positions with `common.blocks` blocks of four channels. Channels 0 and 2 make the first pass, 1 and 3 the
 * second: each weight pointer ends where its next channel starts.
 */
static void pair_all_channels(pair_block *pair, const int32_t *start, const int8_t *weights)
{
    int32_t s0, s1, s2, s3;
    const int8_t *x, *w0;
    helia_nn_block *block = &pair->common;
    __asm volatile("1:\n\t"
                   "mov %[w0], %[w1]\n\t"
                   "addw %[w1], %[w1], #288\n\t" PASS("0", "8")
                   "vmov q6[2], q6[0], %[s0], %[s1]\n\t"
                   "vmov q7[2], q7[0], %[s2], %[s3]\n\t" PASS("4", "12")
                   "ldrd %[x], %[w0], [%[block], #132]\n\t" /* multipliers, shifts */
                   "vmov q6[3], q6[1], %[s0], %[s1]\n\t"
                   "ldr %[s0], [%[block], #128]\n\t" /* blocks */
                   "vmov q7[3], q7[1], %[s2], %[s3]\n\t"
                   "adds %[start], #16\n\t"
                   "subs %[s2], %[s0], #1\n\t" HELIA_NN_ASM_OUTPUT_2("[%[x]], #16", "[%[w0]], #16")
                   "strd %[x], %[w0], [%[block], #132]\n\t"
                   "ldrd %[x], %[w0], [%[block], #120]\n\t" /* outputs */
                   "str %[s2], [%[block], #128]\n\t"
                   "vstrb.32 q6, [%[x]], #4\n\t"
                   "vstrb.32 q7, [%[w0]], #4\n\t"
                   "strd %[x], %[w0], [%[block], #120]\n\t"
                   "bne 1b\n\t"
                   : [s0] "=&Te"(s0),
                     [s1] "=&Te"(s1),
                     [s2] "=&Te"(s2),
                     [s3] "=&Te"(s3),
                     [x] "=&l"(x),
                     [w0] "=&l"(w0),
                     [w1] "+r"(weights),
                     [start] "+r"(start)
                   : [block] "r"(block)
                   : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}

/* One row of the output, two positions at a time; the last pair overlaps the one before if the width is odd. */
static void output_row(pair_block *pair,
                       const helia_nn_output_stage *stage,
                       const int8_t *input,
                       const cmsis_nn_dims *input_dims,
                       const cmsis_nn_conv_params *params,
                       int32_t y,
                       const int8_t *filter,
                       int8_t *output,
                       const cmsis_nn_dims *output_dims)
{
    int8_t edges[3 * PAIR_BYTES] __attribute__((aligned(16)));
    const int32_t zero_point = -params->input_offset;
    for (int32_t x = 0; x < output_dims->w; x += 2)
    {
        const int32_t first = helia_nn_min(x, output_dims->w - 2);
        const int32_t left = first - params->padding.w;
        const bool inside = left >= 0 && left + 4 <= input_dims->w;
        for (int32_t i = 0; i < 3; i++)
        {
            const int32_t row = y - params->padding.h + i;
            int8_t *edge = edges + i * PAIR_BYTES;
            if (row < 0 || row >= input_dims->h)
            {
                helia_nn_fill(edge, zero_point, PAIR_BYTES);
                pair->rows[i] = edge;
            }
            else if (inside)
            {
                pair->rows[i] = input + (row * input_dims->w + left) * CHANNELS;
            }
            else
            {
                const cmsis_nn_dims window = {1, 1, 4, CHANNELS};
                helia_nn_gather_edge_patch(input, input_dims, &window, zero_point, row, left, edge);
                pair->rows[i] = edge;
            }
        }
        pair->common.out0 = output + first * output_dims->c;
        pair->common.out1 = pair->common.out0 + output_dims->c;
        pair->common.blocks = output_dims->c / 4;
        pair->common.next_multiplier = stage->multiplier;
        pair->common.next_shift = stage->shift;
        pair_all_channels(pair, stage->sums, filter);
    }
}

/* Whether the assembly takes the layer; what it does not take is rare. */
static bool convolve_pairs(const helia_nn_output_stage *stage,
                           const int8_t *input,
                           const cmsis_nn_dims *input_dims,
                           const cmsis_nn_conv_params *params,
                           const int8_t *filter,
                           int8_t *output,
                           const cmsis_nn_dims *output_dims)
{
    if (stage->sums == NULL || !stage->shifts_right || output_dims->c % 4 != 0 || output_dims->w < 2)
    {
        return false;
    }
    pair_block pair;
    helia_nn_prepare_block(&pair.common, stage, DEPTH);
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            output_row(&pair, stage, input, input_dims, params, y, filter, output, output_dims);
            output += output_dims->w * output_dims->c;
        }
        input += input_dims->h * input_dims->w * CHANNELS;
    }
    return true;
}

#else

static bool convolve_pairs(const helia_nn_output_stage *stage,
                           const int8_t *input,
                           const cmsis_nn_dims *input_dims,
                           const cmsis_nn_conv_params *params,
                           const int8_t *filter,
                           int8_t *output,
                           const cmsis_nn_dims *output_dims)
{
    (void)stage;
    (void)input;
    (void)input_dims;
    (void)params;
    (void)filter;
    (void)output;
    (void)output_dims;
    return false;
}

#endif

arm_cmsis_nn_status arm_convolve_s8_3x3_c16_s1(const cmsis_nn_context *ctx,
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
    if (input_dims->c != CHANNELS || filter_dims->c != CHANNELS || filter_dims->w != 3 || filter_dims->h != 3 ||
        conv_params->stride.w != 1 || conv_params->stride.h != 1 || !helia_nn_no_dilation(conv_params) ||
        !helia_nn_no_upscale(upscale_dims))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_output_stage stage =
        helia_nn_conv_output_stage(weight_sum_ctx, conv_params, quant_params, bias_data, output_dims->c, filter_dims->h * filter_dims->w * filter_dims->c);
    if (convolve_pairs(&stage, input_data, input_dims, conv_params, filter_data, output_data, output_dims))
    {
        return ARM_CMSIS_NN_SUCCESS;
    }
    int8_t patch[DEPTH];
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                helia_nn_gather_patch(input_data,
                                      input_dims,
                                      filter_dims,
                                      conv_params,
                                      y - conv_params->padding.h,
                                      x - conv_params->padding.w,
                                      patch);
                helia_nn_matmul_s8(patch, DEPTH, 1, filter_data, output_dims->c, DEPTH, &stage, output_data);
                output_data += output_dims->c;
            }
        }
        input_data += input_dims->h * input_dims->w * CHANNELS;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
