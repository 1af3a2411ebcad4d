/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

/* As TensorFlow Lite casts integers: the low bits; a float becomes the integer towards zero, within 64 bits. */
typedef struct
{
    int64_t whole;
    float real;
} number;

static number number_at(const void *data, int32_t type, int32_t index)
{
    int64_t whole = 0;
    switch (type)
    {
        case HELIA_NN_BOOL:
        case HELIA_NN_UINT8:
            whole = ((const uint8_t *)data)[index];
            break;
        case HELIA_NN_INT8:
            whole = ((const int8_t *)data)[index];
            break;
        case HELIA_NN_INT16:
            whole = ((const int16_t *)data)[index];
            break;
        case HELIA_NN_INT32:
            whole = ((const int32_t *)data)[index];
            break;
        case HELIA_NN_UINT32:
            whole = ((const uint32_t *)data)[index];
            break;
        case HELIA_NN_INT64:
            whole = ((const int64_t *)data)[index];
            break;
        default:
        {
            const float real = ((const float *)data)[index];
            const float limit = 9.2233715e18f; /* The float below 2^63. */
            const float within = real > -limit ? (real < limit ? real : limit) : -limit;
            return (number){real == real ? (int64_t)within : 0, real};
        }
    }
    return (number){whole, (float)whole};
}

static void put_at(void *data, int32_t type, int32_t index, number value)
{
    switch (type)
    {
        case HELIA_NN_BOOL:
            ((uint8_t *)data)[index] = value.real != 0.0f;
            break;
        case HELIA_NN_UINT8:
        case HELIA_NN_INT8:
            ((uint8_t *)data)[index] = (uint8_t)value.whole;
            break;
        case HELIA_NN_INT16:
            ((uint16_t *)data)[index] = (uint16_t)value.whole;
            break;
        case HELIA_NN_INT32:
        case HELIA_NN_UINT32:
            ((uint32_t *)data)[index] = (uint32_t)value.whole;
            break;
        case HELIA_NN_INT64:
            ((int64_t *)data)[index] = value.whole;
            break;
        default:
            ((float *)data)[index] = value.real;
            break;
    }
}

arm_cmsis_nn_status helia_nn_cast(
    const void *input, const int32_t input_type, void *output, const int32_t output_type, const int32_t count)
{
    if (input_type < 0 || input_type > HELIA_NN_FLOAT32 || output_type < 0 || output_type > HELIA_NN_FLOAT32)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < count; i++)
    {
        put_at(output, output_type, i, number_at(input, input_type, i));
    }
    return ARM_CMSIS_NN_SUCCESS;
}
