/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What SOFTMAX and LOG_SOFTMAX of int8 numbers share: the sum of the exponentials of a row, in Q12.
 */
#ifndef HELIA_NN_SUPPORT_EXP_SUM_S8_H
#define HELIA_NN_SUPPORT_EXP_SUM_S8_H

#include "support_fixed_point.h"

#define HELIA_NN_SUM_INTEGER_BITS 12

/* Gives exp(beta * scale * difference) in Q0. */
static inline int32_t helia_nn_exp_of_difference(int32_t difference, int32_t mult, int32_t shift)
{
    return helia_nn_exp_of_negative(helia_nn_requantize(difference, mult, shift));
}

static inline int32_t helia_nn_largest_s8(const int8_t *input, int32_t count)
{
    int32_t largest = INT8_MIN;
#if defined(HELIA_NN_MVE)
    for (int32_t i = 0; i < count; i += 16)
    {
        largest = vmaxvq_p_s8((int8_t)largest, vldrbq_z_s8(input + i, vctp8q((uint32_t)(count - i))),
                              vctp8q((uint32_t)(count - i)));
    }
#else
    for (int32_t i = 0; i < count; i++)
    {
        largest = helia_nn_max(largest, input[i]);
    }
#endif
    return largest;
}

#if defined(HELIA_NN_MVE)

/* Four lanes of helia_nn_divide_by_power_of_two() with one exponent, 1 or more. */
static inline int32x4_t helia_nn_divide_lanes(int32x4_t value, int32_t exponent)
{
    return helia_nn_divide_by_power_of_two_s32x4(value, vdupq_n_s32(-exponent));
}

/*
 * exp(a) for a in [-1/4, 0), Q0 to Q0: the Taylor series to the fourth power around -1/8.
 */
static inline int32x4_t helia_nn_exp_near_zero_lanes(int32x4_t a)
{
    const int32x4_t x = vaddq_n_s32(a, 1 << 28);
    const int32x4_t x2 = vqrdmulhq_s32(x, x);
    const int32x4_t x3 = vqrdmulhq_s32(x2, x);
    const int32x4_t x4_over_4 = helia_nn_divide_lanes(vqrdmulhq_s32(x2, x2), 2);
    /* x^4/24 + x^3/6 + x^2/2 = ((x^4/4 + x^3)/3 + x^2)/2 */
    const int32x4_t higher = helia_nn_divide_lanes(vaddq_s32(vqrdmulhq_n_s32(vaddq_s32(x4_over_4, x3), HELIA_NN_ONE_THIRD), x2), 1);
    const int32x4_t change = vqrdmulhq_n_s32(vaddq_s32(x, higher), HELIA_NN_EXP_OF_MINUS_ONE_EIGHTH);
    return vaddq_n_s32(change, HELIA_NN_EXP_OF_MINUS_ONE_EIGHTH);
}

/*
 * Gives exp(beta * scale * difference) in Q0 for four differences, 0 or less. The remainder in quarters goes to helia_nn_exp_near_zero_lanes();
 * each bit of the number of quarters multiplies by its power of e.
 */
static inline int32x4_t helia_nn_exp_of_differences(int32x4_t differences, int32_t mult, int32_t shift)
{
    const int32x4_t a = helia_nn_requantize_n_s32x4(differences, mult, shift);
    const int32x4_t remainder = vsubq_n_s32(vandq_s32(a, vdupq_n_s32(HELIA_NN_QUARTER - 1)), HELIA_NN_QUARTER);
    int32x4_t result = helia_nn_exp_near_zero_lanes(vshlq_n_s32(remainder, HELIA_NN_EXP_INTEGER_BITS));
    const int32x4_t one = vdupq_n_s32(1);
    int32x4_t quarters = vshrq_n_s32(vsubq_s32(remainder, a), HELIA_NN_FRACTION_BITS - 2);
    for (int32_t bit = 0; bit < HELIA_NN_EXP_FACTORS; bit++)
    {
        const mve_pred16_t set = vcmpeqq_s32(vandq_s32(quarters, one), one);
        result = vqrdmulhq_m_n_s32(result, result, helia_nn_exp_factors[bit], set);
        quarters = vshrq_n_s32(quarters, 1);
    }
    return vpselq_s32(vdupq_n_s32(INT32_MAX), result, vcmpeqq_n_s32(a, 0));
}

/* Loads four differences from the largest number; gives those of the row that are not too small. */
static inline mve_pred16_t
helia_nn_load_differences(const int8_t *input, int32_t left, int32_t largest, int32_t diff_min, int32x4_t *differences)
{
    const mve_pred16_t inside = vctp32q((uint32_t)left);
    *differences = vsubq_n_s32(vldrbq_z_s32(input, inside), largest);
    return vcmpgeq_m_n_s32(*differences, diff_min, inside);
}

/* Gives the sum of the exponentials in Q12. */
static inline int32_t helia_nn_sum_of_exponentials(
    const int8_t *input, int32_t row_size, int32_t largest, int32_t mult, int32_t shift, int32_t diff_min)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < row_size; i += 4)
    {
        int32x4_t differences;
        const mve_pred16_t counted = helia_nn_load_differences(input + i, row_size - i, largest, diff_min, &differences);
        const int32x4_t exponentials = helia_nn_exp_of_differences(differences, mult, shift);
        sum = vaddvaq_p_s32(sum, helia_nn_divide_lanes(exponentials, HELIA_NN_SUM_INTEGER_BITS), counted);
    }
    return sum;
}

#else

/* Gives the sum of the exponentials in Q12. */
static inline int32_t helia_nn_sum_of_exponentials(
    const int8_t *input, int32_t row_size, int32_t largest, int32_t mult, int32_t shift, int32_t diff_min)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < row_size; i++)
    {
        const int32_t difference = input[i] - largest;
        if (difference >= diff_min)
        {
            sum += helia_nn_divide_by_power_of_two(helia_nn_exp_of_difference(difference, mult, shift),
                                                   HELIA_NN_SUM_INTEGER_BITS);
        }
    }
    return sum;
}

#endif

/* Gives the sum of exp(beta * scale * (x - largest)) over differences from `diff_min` on, and the largest number. */
static inline int32_t helia_nn_exp_sum_s8(
    const int8_t *input, int32_t count, int32_t mult, int32_t shift, int32_t diff_min, int32_t *largest)
{
    *largest = helia_nn_largest_s8(input, count);
    return helia_nn_sum_of_exponentials(input, count, *largest, mult, shift, diff_min);
}

#endif /* HELIA_NN_SUPPORT_EXP_SUM_S8_H */
