/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_exp_sum_s8.h"

#define OUTPUT_INTEGER_BITS 4                         /* The output's scale is 16 / 256. */
#define OUTPUT_ZERO_POINT 127                         /* It is never positive. */
#define LOG_INTEGER_BITS HELIA_NN_EXP_INTEGER_BITS    /* Of the logarithm. */
#define POWER_INTEGER_BITS (LOG_INTEGER_BITS + 1)     /* Headroom for the power of two. */
#define QUARTER (1 << (29 - POWER_INTEGER_BITS))

static int32_t shifted(int32_t value, int32_t exponent)
{
    return exponent > 0 ? helia_nn_multiply_by_power_of_two(value, exponent) : value;
}

/* Half of the sum, rounded away from zero. */
static int32_t half_sum(int32_t a, int32_t b)
{
    const int64_t sum = (int64_t)a + b;
    return (int32_t)((sum + (sum >= 0 ? 1 : -1)) / 2);
}

/*
 * log(z) of a sum z >= 1, Q12 to Q5. z = r * 2^n with r within a factor of 2^(1/4) around sqrt(sqrt(1/2)): the smaller of the two
 * mantissas that z and z * sqrt(1/2) have. Around that middle log(r) is a rational function of r, its Pade approximant.
 */
static int32_t logarithm_of(int32_t z)
{
    const int32_t log_2 = 1488522236, root_of_half = 1518500250, middle = 1805811301;
    /* 11/240, 1/20, 1/4 times 2^(1/4); 2 * 2^(-1/4) - 2^(1/4). */
    const int32_t alpha_n = 117049297, alpha_d = 127690142, alpha_f = 638450708, alpha_i = 1057819769;
    const int32_t zeros = helia_nn_leading_zeros((uint32_t)z);
    const int32_t r_a = shifted(helia_nn_doubling_high_mult(shifted(z, zeros - 1), root_of_half), 1);
    const int32_t power_a = (HELIA_NN_SUM_INTEGER_BITS - zeros) * (1 << (31 - POWER_INTEGER_BITS)) + QUARTER;
    const int32_t reduced = helia_nn_doubling_high_mult(z, root_of_half);
    const int32_t headroom = helia_nn_leading_zeros((uint32_t)reduced) - 1;
    const int32_t r_b = shifted(z, headroom);
    const int32_t power_b = (HELIA_NN_SUM_INTEGER_BITS - headroom) * (1 << (31 - POWER_INTEGER_BITS)) - QUARTER;
    const int32_t r = helia_nn_min(r_a, r_b);
    const int32_t power = helia_nn_max(power_a, power_b);
    const int32_t p = half_sum(r, middle);
    const int32_t q = 2 * (r - middle);
    const int32_t square = helia_nn_doubling_high_mult(q, q);
    const int32_t numerator =
        helia_nn_doubling_high_mult(q, r) + helia_nn_doubling_high_mult(helia_nn_doubling_high_mult(q, square), alpha_n);
    const int32_t slope = alpha_i + q + helia_nn_doubling_high_mult(alpha_d, square);
    const int32_t denominator_minus_one = helia_nn_doubling_high_mult(p, slope) + helia_nn_doubling_high_mult(alpha_f, q);
    const int32_t reciprocal = helia_nn_reciprocal_of_one_plus(denominator_minus_one);
    const int32_t mantissa = helia_nn_divide_by_power_of_two(numerator, POWER_INTEGER_BITS);
    const int32_t sum =
        helia_nn_doubling_high_mult(power, log_2) + helia_nn_doubling_high_mult(mantissa, reciprocal);
    return helia_nn_multiply_by_power_of_two(sum, 1);
}

arm_cmsis_nn_status helia_nn_log_softmax_s8(
    const int8_t *input,
    const int32_t num_rows,
    const int32_t row_size,
    const int32_t mult,
    const int32_t shift,
    const int32_t diff_min,
    int8_t *output)
{
    if (num_rows < 1 || row_size < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t row = 0; row < num_rows; row++)
    {
        int32_t largest;
        const int32_t logarithm = logarithm_of(helia_nn_exp_sum_s8(input, row_size, mult, shift, diff_min, &largest));
        for (int32_t i = 0; i < row_size; i++)
        {
            const int32_t difference = input[i] - largest;
            output[i] = INT8_MIN;
            if (difference >= diff_min)
            {
                const int64_t wide = (int64_t)helia_nn_requantize(difference, mult, shift) - logarithm;
                const int32_t saturated = wide < INT32_MIN ? INT32_MIN : (int32_t)wide;
                const int32_t scaled = helia_nn_divide_by_power_of_two(saturated, 31 - LOG_INTEGER_BITS - OUTPUT_INTEGER_BITS);
                output[i] = (int8_t)helia_nn_clamp(scaled + OUTPUT_ZERO_POINT, INT8_MIN, INT8_MAX);
            }
        }
        input += row_size;
        output += row_size;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
