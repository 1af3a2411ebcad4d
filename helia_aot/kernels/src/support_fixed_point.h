/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions in the fixed-point arithmetic of TensorFlow Lite (gemmlowp): numbers with n integer bits and 31 - n fractional bits,
 * written Qn here.
 */
#ifndef HELIA_NN_SUPPORT_FIXED_POINT_H
#define HELIA_NN_SUPPORT_FIXED_POINT_H

#include "internal.h"

/* Integer bits of what the exponential takes. */
#define HELIA_NN_EXP_INTEGER_BITS 5

#define HELIA_NN_EXP_OF_MINUS_ONE_EIGHTH 1895147668
#define HELIA_NN_ONE_THIRD 715827883
#define HELIA_NN_FRACTION_BITS (31 - HELIA_NN_EXP_INTEGER_BITS)
#define HELIA_NN_QUARTER (1 << (HELIA_NN_FRACTION_BITS - 2))
#define HELIA_NN_EXP_FACTORS 7

/* exp(-1/4), exp(-1/2), exp(-1), ... exp(-16) in Q0. */
static const int32_t helia_nn_exp_factors[HELIA_NN_EXP_FACTORS] = {
    1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};

/* Multiplies by 2^exponent (1..30), saturating. */
static inline int32_t helia_nn_multiply_by_power_of_two(int32_t value, int32_t exponent)
{
    const int64_t product = (int64_t)value * (INT64_C(1) << exponent);
    return product > INT32_MAX ? INT32_MAX : product < INT32_MIN ? INT32_MIN : (int32_t)product;
}

/*
 * exp(a) for a in [-1/4, 0), Q0 to Q0: the Taylor series to the fourth power around -1/8.
 */
static inline int32_t helia_nn_exp_near_zero(int32_t a)
{
    const int32_t x = a + (1 << 28);
    const int32_t x2 = helia_nn_doubling_high_mult(x, x);
    const int32_t x3 = helia_nn_doubling_high_mult(x2, x);
    const int32_t x4_over_4 = helia_nn_divide_by_power_of_two(helia_nn_doubling_high_mult(x2, x2), 2);
    /* x^4/24 + x^3/6 + x^2/2 = ((x^4/4 + x^3)/3 + x^2)/2 */
    const int32_t higher =
        helia_nn_divide_by_power_of_two(helia_nn_doubling_high_mult(x4_over_4 + x3, HELIA_NN_ONE_THIRD) + x2, 1);
    return HELIA_NN_EXP_OF_MINUS_ONE_EIGHTH + helia_nn_doubling_high_mult(HELIA_NN_EXP_OF_MINUS_ONE_EIGHTH, x + higher);
}

/*
 * exp(a) for a <= 0, Q5 to Q0. The remainder of a in quarters goes to helia_nn_exp_near_zero(); each bit of the number of quarters
 * multiplies by its power of e.
 */
static inline int32_t helia_nn_exp_of_negative(int32_t a)
{
    if (a == 0)
    {
        return INT32_MAX;
    }
    const int32_t remainder = (a & (HELIA_NN_QUARTER - 1)) - HELIA_NN_QUARTER;
    int32_t result = helia_nn_exp_near_zero(helia_nn_multiply_by_power_of_two(remainder, HELIA_NN_EXP_INTEGER_BITS));
    const int32_t quarters = (remainder - a) >> (HELIA_NN_FRACTION_BITS - 2);
    for (int32_t bit = 0; bit < HELIA_NN_EXP_FACTORS; bit++)
    {
        if ((quarters >> bit) & 1)
        {
            result = helia_nn_doubling_high_mult(result, helia_nn_exp_factors[bit]);
        }
    }
    return result;
}

/* 1 / (1 + a) for a in [0, 1), Q0 to Q0: three Newton-Raphson steps for the half denominator. */
static inline int32_t helia_nn_reciprocal_of_one_plus(int32_t a)
{
    const int32_t one_q2 = 1 << 29;
    const int32_t forty_eight_over_seventeen_q2 = 1515870810;
    const int32_t minus_thirty_two_over_seventeen_q2 = -1010580540;
    const int32_t half_denominator = (int32_t)(((int64_t)a + INT32_MAX + 1) / 2);
    int32_t x = forty_eight_over_seventeen_q2 +
                helia_nn_doubling_high_mult(half_denominator, minus_thirty_two_over_seventeen_q2);
    for (int32_t i = 0; i < 3; i++)
    {
        const int32_t error = one_q2 - helia_nn_doubling_high_mult(half_denominator, x);
        x += helia_nn_multiply_by_power_of_two(helia_nn_doubling_high_mult(x, error), 2);
    }
    return helia_nn_multiply_by_power_of_two(x, 1);
}

static inline int32_t helia_nn_leading_zeros(uint32_t value)
{
    int32_t zeros = 0;
    while (zeros < 32 && (value & (UINT32_C(1) << (31 - zeros))) == 0)
    {
        zeros++;
    }
    return zeros;
}

#endif /* HELIA_NN_SUPPORT_FIXED_POINT_H */
