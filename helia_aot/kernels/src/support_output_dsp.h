/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From accumulators to int8 outputs with the DSP extension: helia_nn_requantize(), the output offset and the activation in one, bit
 * for bit.
 *
 * The loops stand in functions of their own: inside the loops over products they would not find the registers for their constants.
 */
#ifndef HELIA_NN_SUPPORT_OUTPUT_DSP_H
#define HELIA_NN_SUPPORT_OUTPUT_DSP_H

#include "internal.h"

/* Channels whose accumulators are kept until they are turned into outputs. */
#define HELIA_NN_CHUNK 64

/* A loop with registers of its own, in a file that may not use it. */
#define HELIA_NN_APART __attribute__((noinline, unused))

/* Start values of a chunk without any. */
static const int32_t helia_nn_no_start[HELIA_NN_CHUNK] __attribute__((unused)) = {0};

/*
 * How far the constants of a layer let its outputs be computed without a look at each sum. Channels that training has switched off have
 * a tiny scale and with it an enormous bias: twice such a sum does not fit into 32 bits.
 */
typedef enum
{
    HELIA_NN_OUTPUTS_ANY,  /* Nothing is known; always allowed. */
    HELIA_NN_OUTPUTS_WIDE, /* Shifts are to the right, by 2 at least where a sum may reach 2^30; no multiplier is negative. */
    HELIA_NN_OUTPUTS_QUICK /* Besides, no sum reaches 2^30, except where the multiplier is 0. */
} helia_nn_output_kind;

/* `start` may be NULL; there is a multiplier and a shift for each channel, or one; `depth` is the number of products of a sum. */
static HELIA_NN_APART helia_nn_output_kind helia_nn_output_kind_of(const int32_t *start,
                                                                   const int32_t *multiplier,
                                                                   const int32_t *shift,
                                                                   bool per_channel,
                                                                   int32_t channels,
                                                                   int32_t depth)
{
    /* 2^14 products of an input with its offset and a weight stay below 2^29. */
    helia_nn_output_kind kind = depth <= 1 << 14 ? HELIA_NN_OUTPUTS_QUICK : HELIA_NN_OUTPUTS_ANY;
    for (int32_t i = 0; i < channels && kind != HELIA_NN_OUTPUTS_ANY; i++)
    {
        const int32_t quant = per_channel ? i : 0;
        const int32_t first = start != NULL ? start[i] : 0;
        const bool large = multiplier[quant] != 0 && (first >= 1 << 29 || first <= -(1 << 29));
        if (shift[quant] >= (large ? -1 : 0) || multiplier[quant] < 0)
        {
            kind = HELIA_NN_OUTPUTS_ANY;
        }
        else if (large)
        {
            kind = HELIA_NN_OUTPUTS_WIDE;
        }
    }
    return kind;
}

typedef struct
{
    int32_t offset;
    cmsis_nn_activation activation;
    helia_nn_output_kind kind;
} helia_nn_output_rule;

/* A quick output before the activation; `add` is 1 + twice the offset: 1 rounds the last bit, which SSAT shifts out. */
static inline int32_t helia_nn_quick_output(int32_t sum, int32_t multiplier, int32_t shift, int32_t add)
{
    return __ssat(helia_nn_halved_shift(helia_nn_smmulr(2 * sum, multiplier), ~shift, add) >> 1, 8);
}

/* Limits outputs to the activation, where that is not int8's own range. */
static inline void helia_nn_activate(const cmsis_nn_activation *activation, int8_t *outputs, int32_t count)
{
    if (activation->min != INT8_MIN || activation->max != INT8_MAX)
    {
        const uint32_t low = (uint8_t)activation->min * UINT32_C(0x01010101);
        const uint32_t high = (uint8_t)activation->max * UINT32_C(0x01010101);
        int32_t i = 0;
        for (; i + 4 <= count; i += 4)
        {
            const uint32_t word = helia_nn_load_word(outputs + i);
            helia_nn_store_word(outputs + i, helia_nn_min_bytes(helia_nn_max_bytes(word, low), high));
        }
        for (; i < count; i++)
        {
            outputs[i] = (int8_t)helia_nn_clamp(outputs[i], activation->min, activation->max);
        }
    }
}

/* An output without a look at the sum, before the activation. */
static inline int32_t
helia_nn_known_output(bool wide, int32_t sum, int32_t multiplier, int32_t shift, int32_t add)
{
    if (!wide)
    {
        return helia_nn_quick_output(sum, multiplier, shift, add);
    }
    const int32_t high = (int32_t)(((int64_t)sum * multiplier + (INT64_C(1) << 30)) >> 31);
    return __ssat(helia_nn_halved_shift(high, ~shift, add) >> 1, 8);
}

/* The outputs of one row (`rows` 1) or of two; inlined so that constants become known. */
static inline __attribute__((always_inline)) void helia_nn_known_rows(bool wide,
                                                                      int32_t offset,
                                                                      const int32_t *sums,
                                                                      int32_t rows,
                                                                      const int32_t *multiplier,
                                                                      const int32_t *shift,
                                                                      int32_t step,
                                                                      int32_t count,
                                                                      int8_t *outputs,
                                                                      int8_t *next)
{
    const int32_t add = 1 + 2 * offset;
#pragma GCC unroll 4
    for (int32_t i = 0; i < count; i++)
    {
        const int32_t factor = multiplier[i * step], right = shift[i * step];
        outputs[i] = (int8_t)helia_nn_known_output(wide, sums[rows * i], factor, right, add);
        if (rows == 2)
        {
            next[i] = (int8_t)helia_nn_known_output(wide, sums[rows * i + 1], factor, right, add);
        }
    }
}

/* An output of any sum before the activation. */
static HELIA_NN_COLD __attribute__((unused)) int8_t
helia_nn_any_output(int32_t offset, int32_t sum, int32_t multiplier, int32_t shift)
{
    const int32_t scaled = helia_nn_requantize(sum, multiplier, shift);
    return (int8_t)helia_nn_clamp(scaled + offset, INT8_MIN, INT8_MAX);
}

/* The outputs of two rows of any sums. */
static HELIA_NN_COLD __attribute__((unused)) void helia_nn_any_rows(int32_t offset,
                                                                    const int32_t *sums,
                                                                    const int32_t *multiplier,
                                                                    const int32_t *shift,
                                                                    int32_t step,
                                                                    int32_t count,
                                                                    int8_t *outputs,
                                                                    int8_t *next)
{
    for (int32_t i = 0; i < count; i++)
    {
        outputs[i] = helia_nn_any_output(offset, sums[2 * i], multiplier[i * step], shift[i * step]);
        next[i] = helia_nn_any_output(offset, sums[2 * i + 1], multiplier[i * step], shift[i * step]);
    }
}

/*
 * `count` outputs of one row whose sums are looked at one by one, which costs less than a look at all constants of the layer for the
 * sake of one row.
 */
static HELIA_NN_APART void helia_nn_checked_row(int32_t offset,
                                                const int32_t *sums,
                                                const int32_t *multiplier,
                                                const int32_t *shift,
                                                int32_t step,
                                                int32_t count,
                                                int8_t *outputs)
{
    const int32_t add = 1 + 2 * offset;
    for (; count > 0; count--)
    {
        const int32_t sum = *sums++, factor = *multiplier, right = *shift;
        int32_t doubled;
        if (right < 0 && !__builtin_add_overflow(sum, sum, &doubled))
        {
            *outputs++ = (int8_t)__ssat(helia_nn_halved_shift(helia_nn_smmulr(doubled, factor), ~right, add) >> 1, 8);
        }
        else
        {
            *outputs++ = helia_nn_any_output(offset, sum, factor, right);
        }
        multiplier += step;
        shift += step;
    }
}

/*
 * `count` outputs of one row, or of two rows whose sums alternate and whose outputs are `next` bytes apart; each channel has its
 * multiplier and shift or, where `step` is 0 and not 1, all have the same.
 */
static HELIA_NN_APART void helia_nn_outputs(const helia_nn_output_rule *rule,
                                            const int32_t *sums,
                                            int32_t rows,
                                            const int32_t *multiplier,
                                            const int32_t *shift,
                                            int32_t step,
                                            int32_t count,
                                            int8_t *output,
                                            int32_t next)
{
    const int32_t offset = rule->offset;
    if (rule->kind == HELIA_NN_OUTPUTS_QUICK && rows == 2)
    {
        helia_nn_known_rows(false, offset, sums, 2, multiplier, shift, step, count, output, output + next);
    }
    else if (rule->kind == HELIA_NN_OUTPUTS_QUICK && rows == 1)
    {
        helia_nn_known_rows(false, offset, sums, 1, multiplier, shift, step, count, output, NULL);
    }
    else if (rule->kind == HELIA_NN_OUTPUTS_WIDE && step == 1 && rows == 2)
    {
        helia_nn_known_rows(true, offset, sums, 2, multiplier, shift, 1, count, output, output + next);
    }
    else if (rows == 1)
    {
        helia_nn_checked_row(offset, sums, multiplier, shift, step, count, output);
    }
    else
    {
        helia_nn_any_rows(offset, sums, multiplier, shift, step, count, output, output + next);
    }
    helia_nn_activate(&rule->activation, output, count);
    if (rows == 2)
    {
        helia_nn_activate(&rule->activation, output + next, count);
    }
}

#endif /* HELIA_NN_SUPPORT_OUTPUT_DSP_H */
