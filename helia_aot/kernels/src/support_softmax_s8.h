/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Softmax in the fixed-point arithmetic of support_fixed_point.h. The including file defines the type of the output as OUTPUT,
 * whose lowest value stands for zero, and STORE_OUTPUTS for four lanes of it.
 */
#include "support_exp_sum_s8.h"

#define LOWEST (-(1 << (8 * (int32_t)sizeof(OUTPUT) - 1)))

#if defined(HELIA_NN_MVE)

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
        const mve_pred16_t counted = helia_nn_load_differences(input + i, row_size - i, largest, diff_min, &differences);
        const int32x4_t product = vqrdmulhq_n_s32(helia_nn_exp_of_differences(differences, mult, shift), reciprocal);
        const int32x4_t scaled = vaddq_n_s32(helia_nn_divide_lanes(product, output_shift), LOWEST);
        const int32x4_t limited = helia_nn_clamp_s32x4(scaled, LOWEST, -LOWEST - 1);
        const int32x4_t result = vpselq_s32(limited, vdupq_n_s32(LOWEST), counted);
        STORE_OUTPUTS(output + i, result, vctp32q((uint32_t)(row_size - i)));
    }
}

#else

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
            const int32_t product = helia_nn_doubling_high_mult(reciprocal, helia_nn_exp_of_difference(difference, mult, shift));
            const int32_t scaled = helia_nn_divide_by_power_of_two(product, output_shift);
            output[i] = (OUTPUT)helia_nn_clamp(scaled + LOWEST, LOWEST, -LOWEST - 1);
        }
    }
}

#endif

static void
softmax_row(const int8_t *input, int32_t row_size, int32_t mult, int32_t shift, int32_t diff_min, OUTPUT *output)
{
    int32_t largest;
    const int32_t sum = helia_nn_exp_sum_s8(input, row_size, mult, shift, diff_min, &largest);
    /* sum = (1 + a) * 2^(HELIA_NN_SUM_INTEGER_BITS - zeros) with a in [0, 1). */
    const int32_t zeros = helia_nn_leading_zeros((uint32_t)sum);
    const int32_t a = (int32_t)(((uint32_t)sum << zeros) - (UINT32_C(1) << 31));
    const int32_t reciprocal = helia_nn_reciprocal_of_one_plus(a);
    const int32_t output_shift = HELIA_NN_SUM_INTEGER_BITS - zeros + 31 - 8 * (int32_t)sizeof(OUTPUT);
    store_outputs(input, row_size, largest, mult, shift, diff_min, reciprocal, output_shift, output);
}
