/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of int16 numbers with two tables of 513 samples, between which it interpolates: exp(-10 ... 0) and 1 / (1 + x) for x in
 * 0 ... 1, both in Q15.
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

#define MIDDLE 256
#define FRACTION_BITS 7

static int32_t between_samples(const int16_t *samples, int32_t value)
{
    const int16_t *const at = samples + MIDDLE + (value >> FRACTION_BITS);
    const int32_t fraction = value & ((1 << FRACTION_BITS) - 1);
    return at[0] + (((at[1] - at[0]) * fraction + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS);
}

static int32_t largest_of(const int16_t *input, int32_t count)
{
    int32_t largest = INT16_MIN;
    for (int32_t i = 0; i < count; i++)
    {
        largest = helia_nn_max(largest, input[i]);
    }
    return largest;
}

static int32_t bits_of(uint32_t value)
{
    int32_t bits = 0;
    for (; value != 0; value >>= 1)
    {
        bits++;
    }
    return bits;
}

static void softmax_row(
    const int16_t *input, int32_t row_size, int32_t mult, int32_t shift, const cmsis_nn_softmax_lut_s16 *tables, int16_t *output)
{
    const int32_t largest = largest_of(input, row_size);
    int32_t sum = 0;
    /* The output holds the exponentials until their sum is known. */
    for (int32_t i = 0; i < row_size; i++)
    {
        /* -65535 ... 0 stand for -10 ... 0; the table has its middle in the middle. */
        const int32_t scaled = helia_nn_requantize(input[i] - largest, mult, shift) + INT16_MAX;
        output[i] = (int16_t)between_samples(tables->exp_lut, helia_nn_clamp(scaled, INT16_MIN, INT16_MAX));
        sum += output[i];
    }
    /* sum = (1 + x) * 2^(bits - 1) in Q15, x with 16 fractional bits. */
    const int32_t bits = bits_of((uint32_t)sum);
    const int32_t shifted = (int32_t)((((int64_t)sum << (31 - bits)) + (1 << 13)) >> 14);
    const int32_t x = helia_nn_clamp(shifted - (1 << 15) - (1 << 16), INT16_MIN, INT16_MAX);
    const int32_t reciprocal = between_samples(tables->one_by_one_lut, x);
    const int32_t right = bits - 1;
    for (int32_t i = 0; i < row_size; i++)
    {
        const int64_t product = (int64_t)output[i] * reciprocal;
        output[i] = (int16_t)helia_nn_clamp((int32_t)((product + (INT64_C(1) << (right - 1))) >> right), 0, INT16_MAX);
    }
}

arm_cmsis_nn_status arm_softmax_s16(
    const int16_t *input,
    const int32_t num_rows,
    const int32_t row_size,
    const int32_t mult,
    const int32_t shift,
    const cmsis_nn_softmax_lut_s16 *softmax_params,
    int16_t *output)
{
    if (softmax_params->exp_lut == NULL || softmax_params->one_by_one_lut == NULL)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t row = 0; row < num_rows; row++)
    {
        softmax_row(input + row * row_size, row_size, mult, shift, softmax_params, output + row * row_size);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
