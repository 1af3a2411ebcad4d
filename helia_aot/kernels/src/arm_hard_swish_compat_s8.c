/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

#define FRACTION_BITS 7 /* Extra bits of the input. */

static int32_t saturate(int32_t value)
{
    return helia_nn_clamp(value, INT16_MIN, INT16_MAX);
}

/* The high half of the doubled product of two 16-bit numbers, rounded to nearest. */
static int32_t doubling_high_mult_16(int32_t a, int32_t b)
{
    return a == INT16_MIN && b == INT16_MIN ? INT16_MAX : (a * b + (1 << 14)) >> 15;
}

/* x / 3 limited to [-1, 1] in Q15, from the input with its extra bits. The saturation of the shifts is the limit. */
static int32_t third(int32_t value, int32_t multiplier, int32_t exponent)
{
    if (exponent > 0)
    {
        value = saturate((int32_t)((uint32_t)value << (exponent - 1)));
    }
    value = doubling_high_mult_16(value, multiplier);
    return exponent > 0 ? saturate(value * 2) : helia_nn_divide_by_power_of_two(value, -exponent);
}

arm_cmsis_nn_status arm_hard_swish_compat_s8(
    const int8_t *input,
    const int32_t input_offset,
    const int32_t output_offset,
    const int32_t output_multiplier_fp,
    const int32_t output_multiplier_exp,
    const int32_t relu_multiplier_fp,
    const int32_t relu_multiplier_exp,
    int8_t *output,
    const int32_t output_size)
{
    if (output_multiplier_exp > 0 || output_multiplier_exp < -31 || relu_multiplier_exp < -31 || relu_multiplier_exp > 15)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < output_size; i++)
    {
        const int32_t value = (input[i] + input_offset) * (1 << FRACTION_BITS);
        const int32_t scaled = doubling_high_mult_16(value, output_multiplier_fp);
        const int32_t gate = (third(value, relu_multiplier_fp, relu_multiplier_exp) + (1 << 15)) >> 1;
        /* Towards zero. */
        const int32_t product = gate * scaled / (1 << 15);
        const int32_t result = helia_nn_divide_by_power_of_two(product, -output_multiplier_exp) + output_offset;
        output[i] = (int8_t)helia_nn_clamp(result, INT8_MIN, INT8_MAX);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
