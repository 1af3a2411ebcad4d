/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"
#include "support_fixed_point.h"

#define OUTPUT_BITS 7 /* The output's scale is 2^-7. */

/* The factor multiplier * 2^(shift - 31). */
typedef struct
{
    int32_t multiplier, shift;
} scale_t;

/* Times 8: what the product of two numbers with 3 integer bits, which has 6, lacks as a number with 3. */
static int32_t with_three_bits(int32_t value)
{
    return helia_nn_multiply_by_power_of_two(value, 3);
}

/* 1 / sqrt(x), x at least 0, by five Newton steps in fixed point with 3 integer bits; 1 for 0. */
static scale_t inverse_root(int32_t x)
{
    if (x <= 1)
    {
        return (scale_t){INT32_MAX, 0};
    }
    const int32_t half_root_of_two = 1518500250, one = 1 << 28, one_and_a_half = one + one / 2;
    int32_t right = 11;
    while (x >= 1 << 29)
    {
        x /= 4;
        right++;
    }
    const int32_t pairs = (helia_nn_leading_zeros((uint32_t)x) - 1) / 2 - 1;
    right -= pairs;
    x *= 1 << (2 * pairs);
    const int32_t half = helia_nn_divide_by_power_of_two(x >> 1, 1);
    int32_t y = one;
    for (int32_t step = 0; step < 5; step++)
    {
        const int32_t cube = helia_nn_doubling_high_mult(helia_nn_doubling_high_mult(y, y), y);
        const int32_t decrease = helia_nn_doubling_high_mult(half, helia_nn_multiply_by_power_of_two(cube, 6));
        y = with_three_bits(helia_nn_doubling_high_mult(one_and_a_half, y) - decrease);
    }
    y = helia_nn_doubling_high_mult(y, half_root_of_two);
    return right < 0 ? (scale_t){y * (1 << -right), 0} : (scale_t){y, -right};
}

arm_cmsis_nn_status helia_nn_l2_normalize_s8(
    const int8_t *input, const int32_t zero_point, const int32_t num_rows, const int32_t row_size, int8_t *output)
{
    if (num_rows < 1 || row_size < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t row = 0; row < num_rows; row++)
    {
        int32_t squares = 0;
        for (int32_t i = 0; i < row_size; i++)
        {
            const int32_t value = input[i] - zero_point;
            squares += value * value;
        }
        const scale_t scale = inverse_root(squares);
        for (int32_t i = 0; i < row_size; i++)
        {
            const int32_t scaled =
                helia_nn_requantize(input[i] - zero_point, scale.multiplier, scale.shift + OUTPUT_BITS);
            output[i] = (int8_t)helia_nn_min(helia_nn_max(scaled, INT8_MIN), INT8_MAX);
        }
        input += row_size;
        output += row_size;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
