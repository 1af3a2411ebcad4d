/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

static int32_t number_at(const void *data, int32_t bits, int32_t index)
{
    switch (bits)
    {
        case -8:
            return ((const uint8_t *)data)[index];
        case 8:
            return ((const int8_t *)data)[index];
        case 16:
            return ((const int16_t *)data)[index];
        default:
            return ((const int32_t *)data)[index];
    }
}

static void put_at(void *data, int32_t bits, int32_t index, int32_t value)
{
    switch (bits)
    {
        case -8:
            ((uint8_t *)data)[index] = (uint8_t)helia_nn_clamp(value, 0, UINT8_MAX);
            break;
        case 8:
            ((int8_t *)data)[index] = (int8_t)helia_nn_clamp(value, INT8_MIN, INT8_MAX);
            break;
        case 16:
            ((int16_t *)data)[index] = (int16_t)helia_nn_clamp(value, INT16_MIN, INT16_MAX);
            break;
        default:
            ((int32_t *)data)[index] = value;
            break;
    }
}

static bool is_known(int32_t bits)
{
    return bits == -8 || bits == 8 || bits == 16 || bits == 32;
}

arm_cmsis_nn_status helia_nn_requantize_mixed(const void *input,
                                              const int32_t input_bits,
                                              void *output,
                                              const int32_t output_bits,
                                              const int32_t size,
                                              const int32_t multiplier,
                                              const int32_t shift,
                                              const int32_t input_zero_point,
                                              const int32_t output_zero_point)
{
    if (!is_known(input_bits) || !is_known(output_bits))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < size; i++)
    {
        /* Differences and sums of int32 numbers wrap, as they do in TensorFlow Lite Micro. */
        const uint32_t value = (uint32_t)number_at(input, input_bits, i) - (uint32_t)input_zero_point;
        const uint32_t scaled = (uint32_t)helia_nn_requantize((int32_t)value, multiplier, shift);
        put_at(output, output_bits, i, (int32_t)(scaled + (uint32_t)output_zero_point));
    }
    return ARM_CMSIS_NN_SUCCESS;
}
