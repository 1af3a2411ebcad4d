/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Addition with the DSP extension: a block of numbers goes through one rescaling after the other, so that each finds registers for its
 * constants.
 */
#ifndef HELIA_NN_SUPPORT_ADD_S8_DSP_H
#define HELIA_NN_SUPPORT_ADD_S8_DSP_H

#include "support_add_s8.h"
#include "support_output_dsp.h"

/* Numbers of both inputs that are rescaled before they are added. */
#define ADD_BLOCK 64

/* Twice an input in common scale before the multiplication is `number * power + offset`. */
typedef struct
{
    int32_t power, offset;
    int32_t multiplier;
    int32_t right;    /* Shift to the right. */
    int32_t rounding; /* Half of the last bit that stays. */
} add_scale;

static inline add_scale add_scale_of(const helia_nn_add_params *params, const helia_nn_scale *scale)
{
    return (add_scale){
        .power = 2 << params->left_shift,
        .offset = scale->offset * (2 << params->left_shift),
        .multiplier = scale->multiplier,
        .right = -scale->shift,
        .rounding = scale->shift < 0 ? 1 << (-scale->shift - 1) : 0,
    };
}

/*
 * Whether no step overflows: |number + offset| is below 2^8, so twice an input stays below 2^29, a rescaled input below 2^28 and
 * twice their sum below 2^30.
 */
static inline bool add_is_quick(const helia_nn_add_params *params)
{
    const int32_t most_offset = helia_nn_max(params->input1.offset, params->input2.offset);
    const int32_t least_offset = helia_nn_min(params->input1.offset, params->input2.offset);
    return params->left_shift >= 0 && params->left_shift <= 20 && most_offset <= 128 && least_offset >= -127 &&
           params->input1.shift <= 0 && params->input2.shift <= 0 && params->input1.shift >= -28 &&
           params->input2.shift >= -28 && params->output.shift < 0;
}

/* Brings `count` numbers to the common scale; adds them to `sums` or sets these. */
static inline __attribute__((always_inline)) void
rescale_numbers(const add_scale *scale, const int8_t *input, int32_t count, bool rounds, bool adds, int32_t *sums)
{
    const add_scale s = *scale;
#pragma GCC unroll 4
    for (int32_t i = 0; i < count; i++)
    {
        int32_t value = helia_nn_smmulr(input[i] * s.power + s.offset, s.multiplier);
        if (rounds)
        {
            value = (value + s.rounding + (value >> 31)) >> s.right;
        }
        sums[i] = adds ? sums[i] + value : value;
    }
}

/* Sets `sums` to the first input in the common scale. */
static HELIA_NN_APART void set_rescaled(const add_scale *scale, const int8_t *input, int32_t count, int32_t *sums)
{
    if (scale->right > 0)
    {
        rescale_numbers(scale, input, count, true, false, sums);
    }
    else
    {
        rescale_numbers(scale, input, count, false, false, sums);
    }
}

/* Adds the second input to `sums`. */
static HELIA_NN_APART void add_rescaled(const add_scale *scale, const int8_t *input, int32_t count, int32_t *sums)
{
    if (scale->right > 0)
    {
        rescale_numbers(scale, input, count, true, true, sums);
    }
    else
    {
        rescale_numbers(scale, input, count, false, true, sums);
    }
}

/* The outputs of `count` sums. */
static HELIA_NN_APART void
finish_sums(const helia_nn_add_params *params, const int32_t *sums, int32_t count, int8_t *output)
{
    const int32_t multiplier = params->output.multiplier;
    const int32_t shift = params->output.shift;
    const int32_t add = 1 + 2 * params->output.offset;
    const cmsis_nn_activation activation = {params->activation_min, params->activation_max};
#pragma GCC unroll 4
    for (int32_t i = 0; i < count; i++)
    {
        output[i] = (int8_t)helia_nn_quick_output(sums[i], multiplier, shift, add);
    }
    helia_nn_activate(&activation, output, count);
}

/* helia_nn_add_vectors() where add_is_quick(). */
static void add_blocks(
    const helia_nn_add_params *params, const int8_t *input1, const int8_t *input2, int8_t *output, int32_t count)
{
    const add_scale scale1 = add_scale_of(params, &params->input1);
    const add_scale scale2 = add_scale_of(params, &params->input2);
    int32_t sums[ADD_BLOCK];
    for (int32_t i = 0; i < count; i += ADD_BLOCK)
    {
        const int32_t now = helia_nn_min(count - i, ADD_BLOCK);
        set_rescaled(&scale1, input1 + i, now, sums);
        add_rescaled(&scale2, input2 + i, now, sums);
        finish_sums(params, sums, now, output + i);
    }
}

#endif /* HELIA_NN_SUPPORT_ADD_S8_DSP_H */
