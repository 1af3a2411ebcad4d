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

typedef struct
{
    int32_t offset;
    cmsis_nn_activation activation;
    /*
     * Every shift is to the right and no sum reaches 2^30, so that twice the sum fits into 32 bits and the quick loops are exact;
     * false is always allowed.
     */
    bool quick;
} helia_nn_output_rule;

/*
 * Whether a layer's outputs may be quick as far as its constants decide: `start` may be NULL; there is a shift for each channel, or
 * one. helia_nn_quick_depth() is the other half.
 */
static HELIA_NN_APART bool
helia_nn_quick_outputs(const int32_t *start, const int32_t *shift, bool per_channel, int32_t channels)
{
    bool quick = true;
    for (int32_t i = 0; i < channels; i++)
    {
        const int32_t first = start != NULL ? start[i] : 0;
        quick = quick && shift[per_channel ? i : 0] < 0 && first < 1 << 29 && first > -(1 << 29);
    }
    return quick;
}

/* 2^14 products of an input with its offset and a weight stay below 2^29. */
static inline bool helia_nn_quick_depth(int32_t depth)
{
    return depth <= 1 << 14;
}

/* Any sum with any shift, before the activation. */
static HELIA_NN_COLD __attribute__((unused)) void
helia_nn_any_output(int32_t sum, int32_t multiplier, int32_t shift, int32_t offset, int8_t *output)
{
    *output = (int8_t)helia_nn_clamp(helia_nn_requantize(sum, multiplier, shift) + offset, INT8_MIN, INT8_MAX);
}

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
        for (int32_t i = 0; i < count; i++)
        {
            outputs[i] = (int8_t)helia_nn_clamp(outputs[i], activation->min, activation->max);
        }
    }
}

/* The outputs of one row (`rows` 1) or of two; inlined so that constants become known. */
static inline __attribute__((always_inline)) void helia_nn_output_rows(const helia_nn_output_rule *rule,
                                                                       const int32_t *sums,
                                                                       int32_t rows,
                                                                       const int32_t *multiplier,
                                                                       const int32_t *shift,
                                                                       int32_t step,
                                                                       int32_t count,
                                                                       int8_t *outputs,
                                                                       int8_t *next)
{
    const int32_t add = 1 + 2 * rule->offset;
#pragma GCC unroll 4
    for (int32_t i = 0; i < count; i++)
    {
        const int32_t factor = multiplier[i * step], right = shift[i * step];
        outputs[i] = (int8_t)helia_nn_quick_output(sums[rows * i], factor, right, add);
        if (rows == 2)
        {
            next[i] = (int8_t)helia_nn_quick_output(sums[rows * i + 1], factor, right, add);
        }
    }
}

/* `count` outputs, each with its multiplier and shift or, where `step` is 0 and not 1, with the same ones. */
static HELIA_NN_APART void helia_nn_outputs(const helia_nn_output_rule *rule,
                                            const int32_t *sums,
                                            const int32_t *multiplier,
                                            const int32_t *shift,
                                            int32_t step,
                                            int32_t count,
                                            int8_t *outputs)
{
    if (!rule->quick)
    {
        for (int32_t i = 0; i < count; i++)
        {
            helia_nn_any_output(sums[i], multiplier[i * step], shift[i * step], rule->offset, outputs + i);
        }
    }
    else if (step == 1)
    {
        helia_nn_output_rows(rule, sums, 1, multiplier, shift, 1, count, outputs, NULL);
    }
    else
    {
        helia_nn_output_rows(rule, sums, 1, multiplier, shift, 0, count, outputs, NULL);
    }
    helia_nn_activate(&rule->activation, outputs, count);
}

/* As helia_nn_outputs() for two rows, whose sums alternate; the second row of outputs is at `next`. */
static HELIA_NN_APART void helia_nn_output_pairs(const helia_nn_output_rule *rule,
                                                 const int32_t *sums,
                                                 const int32_t *multiplier,
                                                 const int32_t *shift,
                                                 int32_t step,
                                                 int32_t count,
                                                 int8_t *outputs,
                                                 int8_t *next)
{
    if (!rule->quick)
    {
        for (int32_t i = 0; i < count; i++)
        {
            helia_nn_any_output(sums[2 * i], multiplier[i * step], shift[i * step], rule->offset, outputs + i);
            helia_nn_any_output(sums[2 * i + 1], multiplier[i * step], shift[i * step], rule->offset, next + i);
        }
    }
    else if (step == 1)
    {
        helia_nn_output_rows(rule, sums, 2, multiplier, shift, 1, count, outputs, next);
    }
    else
    {
        helia_nn_output_rows(rule, sums, 2, multiplier, shift, 0, count, outputs, next);
    }
    helia_nn_activate(&rule->activation, outputs, count);
    helia_nn_activate(&rule->activation, next, count);
}

#endif /* HELIA_NN_SUPPORT_OUTPUT_DSP_H */
