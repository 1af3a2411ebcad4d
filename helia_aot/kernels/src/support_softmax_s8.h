/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Softmax in the fixed-point arithmetic of TensorFlow Lite (gemmlowp): numbers with n integer bits and 31 - n fractional bits,
 * written Qn here. The exponential takes Q5, the sum is kept in Q12. The including file
 * defines the type of the output as OUTPUT, whose lowest value stands for zero, and STORE_OUTPUTS for four lanes of it.
 */
#include "internal.h"

#define DIFFERENCE_INTEGER_BITS 5
#define SUM_INTEGER_BITS 12
#define LOWEST (-(1 << (8 * (int32_t)sizeof(OUTPUT) - 1)))

#define EXP_OF_MINUS_ONE_EIGHTH 1895147668
#define ONE_THIRD 715827883
#define FRACTION_BITS (31 - DIFFERENCE_INTEGER_BITS)
#define QUARTER (1 << (FRACTION_BITS - 2))
#define FACTORS 7

/* exp(-1/4), exp(-1/2), exp(-1), ... exp(-16) in Q0. */
static const int32_t factors[FACTORS] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};

/* Multiplies by 2^exponent (1..30), saturating. */
static int32_t multiply_by_power_of_two(int32_t value, int32_t exponent)
{
    const int64_t product = (int64_t)value * (INT64_C(1) << exponent);
    return product > INT32_MAX ? INT32_MAX : product < INT32_MIN ? INT32_MIN : (int32_t)product;
}

/* 1 / (1 + a) for a in [0, 1), Q0 to Q0: three Newton-Raphson steps for the half denominator. */
static int32_t reciprocal_of_one_plus(int32_t a)
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
        x += multiply_by_power_of_two(helia_nn_doubling_high_mult(x, error), 2);
    }
    return multiply_by_power_of_two(x, 1);
}

static int32_t leading_zeros(uint32_t value)
{
    int32_t zeros = 0;
    while (zeros < 32 && (value & (UINT32_C(1) << (31 - zeros))) == 0)
    {
        zeros++;
    }
    return zeros;
}

static int32_t largest_of(const int8_t *input, int32_t count)
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
static inline int32x4_t divide(int32x4_t value, int32_t exponent)
{
    return helia_nn_divide_by_power_of_two_s32x4(value, vdupq_n_s32(-exponent));
}

/*
 * exp(a) for a in [-1/4, 0), Q0 to Q0: the Taylor series to the fourth power around -1/8.
 */
static inline int32x4_t exp_near_zero(int32x4_t a)
{
    const int32x4_t x = vaddq_n_s32(a, 1 << 28);
    const int32x4_t x2 = vqrdmulhq_s32(x, x);
    const int32x4_t x3 = vqrdmulhq_s32(x2, x);
    const int32x4_t x4_over_4 = divide(vqrdmulhq_s32(x2, x2), 2);
    /* x^4/24 + x^3/6 + x^2/2 = ((x^4/4 + x^3)/3 + x^2)/2 */
    const int32x4_t higher = divide(vaddq_s32(vqrdmulhq_n_s32(vaddq_s32(x4_over_4, x3), ONE_THIRD), x2), 1);
    const int32x4_t change = vqrdmulhq_n_s32(vaddq_s32(x, higher), EXP_OF_MINUS_ONE_EIGHTH);
    return vaddq_n_s32(change, EXP_OF_MINUS_ONE_EIGHTH);
}

/*
 * Gives exp(beta * scale * difference) in Q0 for four differences, 0 or less. The remainder in quarters goes to exp_near_zero();
 * each bit of the number of quarters multiplies by its power of e.
 */
static inline int32x4_t exp_of_differences(int32x4_t differences, int32_t mult, int32_t shift)
{
    const int32x4_t a = helia_nn_requantize_n_s32x4(differences, mult, shift);
    const int32x4_t remainder = vsubq_n_s32(vandq_s32(a, vdupq_n_s32(QUARTER - 1)), QUARTER);
    int32x4_t result = exp_near_zero(vshlq_n_s32(remainder, DIFFERENCE_INTEGER_BITS));
    const int32x4_t one = vdupq_n_s32(1);
    int32x4_t quarters = vshrq_n_s32(vsubq_s32(remainder, a), FRACTION_BITS - 2);
    for (int32_t bit = 0; bit < FACTORS; bit++)
    {
        const mve_pred16_t set = vcmpeqq_s32(vandq_s32(quarters, one), one);
        result = vqrdmulhq_m_n_s32(result, result, factors[bit], set);
        quarters = vshrq_n_s32(quarters, 1);
    }
    return vpselq_s32(vdupq_n_s32(INT32_MAX), result, vcmpeqq_n_s32(a, 0));
}

/* Loads four differences from the largest number; gives those of the row that are not too small. */
static inline mve_pred16_t
load_differences(const int8_t *input, int32_t left, int32_t largest, int32_t diff_min, int32x4_t *differences)
{
    const mve_pred16_t inside = vctp32q((uint32_t)left);
    *differences = vsubq_n_s32(vldrbq_z_s32(input, inside), largest);
    return vcmpgeq_m_n_s32(*differences, diff_min, inside);
}

/* Gives the sum of the exponentials in Q12. */
static int32_t sum_of_exponentials(
    const int8_t *input, int32_t row_size, int32_t largest, int32_t mult, int32_t shift, int32_t diff_min)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < row_size; i += 4)
    {
        int32x4_t differences;
        const mve_pred16_t counted = load_differences(input + i, row_size - i, largest, diff_min, &differences);
        const int32x4_t exponentials = exp_of_differences(differences, mult, shift);
        sum = vaddvaq_p_s32(sum, divide(exponentials, SUM_INTEGER_BITS), counted);
    }
    return sum;
}

static void store_outputs(const int8_t *input,
                          int32_t row_size,
                          int32_t largest,
                          int32_t mult,
                          int32_t shift,
                          int32_t diff_min,
                          int32_t reciprocal,
                          int32_t output_shift,
                          OUTPUT *output)
{
    for (int32_t i = 0; i < row_size; i += 4)
    {
        int32x4_t differences;
        const mve_pred16_t counted = load_differences(input + i, row_size - i, largest, diff_min, &differences);
        const int32x4_t product = vqrdmulhq_n_s32(exp_of_differences(differences, mult, shift), reciprocal);
        const int32x4_t scaled = vaddq_n_s32(divide(product, output_shift), LOWEST);
        const int32x4_t limited = helia_nn_clamp_s32x4(scaled, LOWEST, -LOWEST - 1);
        const int32x4_t result = vpselq_s32(limited, vdupq_n_s32(LOWEST), counted);
        STORE_OUTPUTS(output + i, result, vctp32q((uint32_t)(row_size - i)));
    }
}

#else

/*
 * exp(a) for a in [-1/4, 0), Q0 to Q0: the Taylor series to the fourth power around -1/8.
 */
static int32_t exp_near_zero(int32_t a)
{
    const int32_t x = a + (1 << 28);
    const int32_t x2 = helia_nn_doubling_high_mult(x, x);
    const int32_t x3 = helia_nn_doubling_high_mult(x2, x);
    const int32_t x4_over_4 = helia_nn_divide_by_power_of_two(helia_nn_doubling_high_mult(x2, x2), 2);
    /* x^4/24 + x^3/6 + x^2/2 = ((x^4/4 + x^3)/3 + x^2)/2 */
    const int32_t higher =
        helia_nn_divide_by_power_of_two(helia_nn_doubling_high_mult(x4_over_4 + x3, ONE_THIRD) + x2, 1);
    return EXP_OF_MINUS_ONE_EIGHTH + helia_nn_doubling_high_mult(EXP_OF_MINUS_ONE_EIGHTH, x + higher);
}

/*
 * exp(a) for a <= 0, Q5 to Q0. The remainder of a in quarters goes to exp_near_zero(); each bit of the number of quarters
 * multiplies by its power of e.
 */
static int32_t exp_of_negative(int32_t a)
{
    if (a == 0)
    {
        return INT32_MAX;
    }
    const int32_t remainder = (a & (QUARTER - 1)) - QUARTER;
    int32_t result = exp_near_zero(multiply_by_power_of_two(remainder, DIFFERENCE_INTEGER_BITS));
    const int32_t quarters = (remainder - a) >> (FRACTION_BITS - 2);
    for (int32_t bit = 0; bit < FACTORS; bit++)
    {
        if ((quarters >> bit) & 1)
        {
            result = helia_nn_doubling_high_mult(result, factors[bit]);
        }
    }
    return result;
}

/* Gives exp(beta * scale * difference) in Q0. */
static int32_t exp_of_difference(int32_t difference, int32_t mult, int32_t shift)
{
    return exp_of_negative(helia_nn_requantize(difference, mult, shift));
}

/* Gives the sum of the exponentials in Q12. */
static int32_t sum_of_exponentials(
    const int8_t *input, int32_t row_size, int32_t largest, int32_t mult, int32_t shift, int32_t diff_min)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < row_size; i++)
    {
        const int32_t difference = input[i] - largest;
        if (difference >= diff_min)
        {
            sum += helia_nn_divide_by_power_of_two(exp_of_difference(difference, mult, shift), SUM_INTEGER_BITS);
        }
    }
    return sum;
}

static void store_outputs(const int8_t *input,
                          int32_t row_size,
                          int32_t largest,
                          int32_t mult,
                          int32_t shift,
                          int32_t diff_min,
                          int32_t reciprocal,
                          int32_t output_shift,
                          OUTPUT *output)
{
    for (int32_t i = 0; i < row_size; i++)
    {
        const int32_t difference = input[i] - largest;
        output[i] = LOWEST;
        if (difference >= diff_min)
        {
            const int32_t product = helia_nn_doubling_high_mult(reciprocal, exp_of_difference(difference, mult, shift));
            const int32_t scaled = helia_nn_divide_by_power_of_two(product, output_shift);
            output[i] = (OUTPUT)helia_nn_clamp(scaled + LOWEST, LOWEST, -LOWEST - 1);
        }
    }
}

#endif

static void
softmax_row(const int8_t *input, int32_t row_size, int32_t mult, int32_t shift, int32_t diff_min, OUTPUT *output)
{
    const int32_t largest = largest_of(input, row_size);
    const int32_t sum = sum_of_exponentials(input, row_size, largest, mult, shift, diff_min);
    /* sum = (1 + a) * 2^(SUM_INTEGER_BITS - zeros) with a in [0, 1). */
    const int32_t zeros = leading_zeros((uint32_t)sum);
    const int32_t a = (int32_t)(((uint32_t)sum << zeros) - (UINT32_C(1) << 31));
    const int32_t reciprocal = reciprocal_of_one_plus(a);
    const int32_t output_shift = SUM_INTEGER_BITS - zeros + 31 - 8 * (int32_t)sizeof(OUTPUT);
    store_outputs(input, row_size, largest, mult, shift, diff_min, reciprocal, output_shift, output);
}
