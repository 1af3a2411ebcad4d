/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Addition with rescaling of runs of int8 numbers. Both inputs are brought to a common scale with `left_shift` extra bits,
 * added, and the sum is brought to the output's scale, as TensorFlow Lite does it.
 */
#ifndef HELIA_NN_SUPPORT_ADD_S8_H
#define HELIA_NN_SUPPORT_ADD_S8_H

#include "internal.h"

/* From one scale to another. */
typedef struct
{
    int32_t offset;
    int32_t multiplier;
    int32_t shift;
} helia_nn_scale;

typedef struct
{
    helia_nn_scale input1, input2, output;
    int32_t left_shift;
    int32_t activation_min, activation_max;
} helia_nn_add_params;

/* Brings an input to the common scale. */
static inline int32_t helia_nn_add_rescale(const helia_nn_add_params *params, const helia_nn_scale *scale, int32_t value)
{
    const int32_t shifted = (int32_t)((uint32_t)(value + scale->offset) << params->left_shift);
    return helia_nn_requantize(shifted, scale->multiplier, scale->shift);
}

/* Gives the output for a sum in the common scale. */
static inline int8_t helia_nn_add_finish(const helia_nn_add_params *params, int32_t sum)
{
    const int32_t scaled = helia_nn_requantize(sum, params->output.multiplier, params->output.shift);
    return (int8_t)helia_nn_clamp(scaled + params->output.offset, params->activation_min, params->activation_max);
}

#if defined(HELIA_NN_MVE)

/* Four lanes of helia_nn_requantize() for a shift that is not to the left. */
static inline int32x4_t helia_nn_add_requantize(int32x4_t value, const helia_nn_scale *scale)
{
    value = vqrdmulhq_n_s32(value, scale->multiplier);
    /* Minus one for negative values, if anything is shifted out: ties go away from zero. The high half of the doubled product
     * with 1 is the sign. */
    value = vqdmlahq_n_s32(value, value, scale->shift < 0 ? 1 : 0);
    return vrshlq_n_s32(value, scale->shift);
}

/* Brings four inputs to the common scale; `power` holds 2^left_shift. */
static inline int32x4_t
helia_nn_add_rescale_s32x4(const helia_nn_add_params *params, const helia_nn_scale *scale, int32x4_t value, int32x4_t power)
{
    const int32_t offset = (int32_t)((uint32_t)scale->offset << params->left_shift);
    return helia_nn_add_requantize(vmlasq_n_s32(value, power, offset), scale);
}

static inline int32x4_t helia_nn_add_finish_s32x4(const helia_nn_add_params *params, int32x4_t sum)
{
    const int32x4_t scaled = helia_nn_add_requantize(sum, &params->output);
    return helia_nn_clamp_s32x4(
        vaddq_n_s32(scaled, params->output.offset), params->activation_min, params->activation_max);
}

static inline bool helia_nn_add_shifts_right(const helia_nn_add_params *params)
{
    return params->input1.shift <= 0 && params->input2.shift <= 0 && params->output.shift <= 0;
}

#endif

/* Adds two runs of `count` numbers. */
void helia_nn_add_vectors(
    const helia_nn_add_params *params, const int8_t *input1, const int8_t *input2, int8_t *output, int32_t count);

#endif /* HELIA_NN_SUPPORT_ADD_S8_H */
