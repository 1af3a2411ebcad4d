/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Softmax in the fixed-point arithmetic of support_fixed_point.h; the sum is kept in Q12. The including file defines the type of
 * the output as OUTPUT; its lowest value stands for zero.
 */
#include "support_fixed_point.h"

#define SUM_INTEGER_BITS 12
#define LOWEST (-(1 << (8 * (int32_t)sizeof(OUTPUT) - 1)))

/* Gives exp(beta * scale * difference) in Q0. */
static int32_t exp_of_difference(int32_t difference, int32_t mult, int32_t shift)
{
    return helia_nn_exp_of_negative(helia_nn_requantize(difference, mult, shift));
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

static void
softmax_row(const int8_t *input, int32_t row_size, int32_t mult, int32_t shift, int32_t diff_min, OUTPUT *output)
{
    const int32_t largest = largest_of(input, row_size);
    int32_t sum = 0;
    for (int32_t i = 0; i < row_size; i++)
    {
        const int32_t difference = input[i] - largest;
        if (difference >= diff_min)
        {
            sum += helia_nn_divide_by_power_of_two(exp_of_difference(difference, mult, shift), SUM_INTEGER_BITS);
        }
    }
    /* sum = (1 + a) * 2^(SUM_INTEGER_BITS - zeros) with a in [0, 1). */
    const int32_t zeros = helia_nn_leading_zeros((uint32_t)sum);
    const int32_t a = (int32_t)(((uint32_t)sum << zeros) - (UINT32_C(1) << 31));
    const int32_t reciprocal = helia_nn_reciprocal_of_one_plus(a);
    const int32_t output_shift = SUM_INTEGER_BITS - zeros + 31 - 8 * (int32_t)sizeof(OUTPUT);
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
