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
#define HELIA_NN_CHUNK 16

/* A loop with registers of its own, in a file that may not use it. */
#define HELIA_NN_APART __attribute__((noinline, unused))

typedef struct
{
    int32_t offset;
    cmsis_nn_activation activation;
} helia_nn_output_rule;

static inline helia_nn_output_rule helia_nn_output_rule_of(int32_t output_offset, cmsis_nn_activation activation)
{
    return (helia_nn_output_rule){output_offset, activation};
}

/* A shift that is not to the right, or a sum whose double overflows. */
static HELIA_NN_COLD int32_t helia_nn_any_output(int32_t sum, int32_t multiplier, int32_t shift, int32_t offset)
{
    return helia_nn_clamp(helia_nn_requantize(sum, multiplier, shift) + offset, INT8_MIN, INT8_MAX);
}

/* An output before the activation; `add` is 1 + twice the offset: 1 rounds the last bit, which SSAT shifts out. */
static inline int8_t helia_nn_output_of(int32_t sum, int32_t multiplier, int32_t shift_less_one, int32_t add)
{
    int32_t doubled;
    if (__builtin_expect(__builtin_add_overflow(sum, sum, &doubled), 0))
    {
        return (int8_t)helia_nn_any_output(sum, multiplier, ~shift_less_one, add >> 1);
    }
    return (int8_t)__ssat(helia_nn_halved_shift(helia_nn_smmulr(doubled, multiplier), shift_less_one, add) >> 1, 8);
}

/* Limits outputs to the activation, where that is not int8's own range. */
static inline void helia_nn_activate(const cmsis_nn_activation *activation, int8_t *outputs, int32_t count)
{
    if (activation->min == INT8_MIN && activation->max == INT8_MAX)
    {
        return;
    }
    for (int32_t i = 0; i < count; i++)
    {
        outputs[i] = (int8_t)helia_nn_clamp(outputs[i], activation->min, activation->max);
    }
}

/* The multipliers and shifts of a chunk of channels: the layer's own, or copies of the one that all channels share. */
typedef struct
{
    const int32_t *multiplier;
    const int32_t *shift;
    bool per_channel;
    int32_t copies[2][HELIA_NN_CHUNK];
} helia_nn_channel_scales;

static inline void helia_nn_channel_scales_init(helia_nn_channel_scales *scales,
                                                const int32_t *multiplier,
                                                const int32_t *shift,
                                                bool per_channel)
{
    scales->multiplier = multiplier;
    scales->shift = shift;
    scales->per_channel = per_channel;
    if (!per_channel)
    {
        scales->multiplier = scales->copies[0];
        scales->shift = scales->copies[1];
        for (int32_t i = 0; i < HELIA_NN_CHUNK; i++)
        {
            scales->copies[0][i] = *multiplier;
            scales->copies[1][i] = *shift;
        }
    }
}

static inline void helia_nn_channel_scales_advance(helia_nn_channel_scales *scales, int32_t count)
{
    if (scales->per_channel)
    {
        scales->multiplier += count;
        scales->shift += count;
    }
}

/* `count` outputs, 1 at least, with a multiplier and a shift for each. */
static HELIA_NN_APART void helia_nn_outputs(const helia_nn_output_rule *rule,
                                            const int32_t *sums,
                                            const int32_t *multiplier,
                                            const int32_t *shift,
                                            int32_t count,
                                            int8_t *outputs)
{
    const int32_t add = 1 + 2 * rule->offset;
    int8_t *const first = outputs;
    int8_t *const end = outputs + count;
    do
    {
        const int32_t sum = *sums++;
        const int32_t factor = *multiplier++;
        const int32_t less_one = ~*shift++;
        *outputs++ = less_one < 0 ? (int8_t)helia_nn_any_output(sum, factor, ~less_one, rule->offset)
                                  : helia_nn_output_of(sum, factor, less_one, add);
    } while (outputs != end);
    helia_nn_activate(&rule->activation, first, count);
}

/* As helia_nn_outputs() for two rows, whose sums alternate; the second row of outputs is `step` bytes behind the first. */
static HELIA_NN_APART void helia_nn_output_pairs(const helia_nn_output_rule *rule,
                                                 const int32_t *sums,
                                                 const int32_t *multiplier,
                                                 const int32_t *shift,
                                                 int32_t count,
                                                 int8_t *outputs,
                                                 int32_t step)
{
    const int32_t add = 1 + 2 * rule->offset;
    int8_t *const first = outputs;
    int8_t *const end = outputs + count;
    do
    {
        const int32_t sum0 = sums[0], sum1 = sums[1];
        const int32_t factor = *multiplier++;
        const int32_t less_one = ~*shift++;
        if (__builtin_expect(less_one < 0, 0))
        {
            outputs[0] = (int8_t)helia_nn_any_output(sum0, factor, ~less_one, rule->offset);
            outputs[step] = (int8_t)helia_nn_any_output(sum1, factor, ~less_one, rule->offset);
        }
        else
        {
            outputs[0] = helia_nn_output_of(sum0, factor, less_one, add);
            outputs[step] = helia_nn_output_of(sum1, factor, less_one, add);
        }
        sums += 2;
        outputs++;
    } while (outputs != end);
    helia_nn_activate(&rule->activation, first, count);
    helia_nn_activate(&rule->activation, first + step, count);
}

#endif /* HELIA_NN_SUPPORT_OUTPUT_DSP_H */
