/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sums of int8 numbers of one scale, as TensorFlow Lite Micro takes them: in steps of 2^-19, wrapping beyond 4096 steps of the input,
 * and starting at `input_offset`, which is not 0 unless the zero point is.
 */
#ifndef HELIA_NN_SUPPORT_SUM_S8_H
#define HELIA_NN_SUPPORT_SUM_S8_H

#include "internal.h"

#define HELIA_NN_SUM_SHIFT 19

/* The sum with one more number. */
static inline int32_t helia_nn_sum_with(int32_t sum, int32_t number)
{
    return (int32_t)((uint32_t)sum + ((uint32_t)number << HELIA_NN_SUM_SHIFT));
}

static inline int8_t helia_nn_sum_output(int32_t sum, int32_t multiplier, int32_t shift, int32_t output_offset)
{
    return (int8_t)helia_nn_clamp(helia_nn_requantize(sum, multiplier, shift) + output_offset, INT8_MIN, INT8_MAX);
}

#endif /* HELIA_NN_SUPPORT_SUM_S8_H */
