/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

#include <string.h>

/* As TensorFlow Lite casts integers: the low bits; a float becomes the integer towards zero, within 64 bits. */
typedef struct
{
    int64_t whole;
    float real;
} number;

static float of_bits(uint32_t bits)
{
    float real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static uint32_t bits_of(float real)
{
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* Half precision by its bits, so that a core without it can hold it too: exponents are 112 less than those of single precision. */
static float of_half(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t exponent = (half >> 10) & 31u;
    const uint32_t fraction = half & 0x3ffu;
    if (exponent == 0)
    {
        const float magnitude = (float)fraction * 5.9604644775390625e-8f; /* 2^-24 */
        return sign != 0 ? -magnitude : magnitude;
    }
    return of_bits(sign | ((exponent == 31 ? 255u : exponent + 112u) << 23) | fraction << 13);
}

/* Rounds to the nearest half, ties to the even one. */
static uint16_t to_half(float real)
{
    const uint32_t bits = bits_of(real);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    const uint32_t magnitude = bits & UINT32_C(0x7fffffff);
    if (magnitude > UINT32_C(0x7f800000))
    {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (magnitude >= UINT32_C(0x477ff000)) /* 65520, half of a step beyond the largest. */
    {
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude < UINT32_C(0x38800000)) /* 2^-14: below it the steps are 2^-24, as those of single precision at 0.5. */
    {
        return (uint16_t)(sign | (bits_of(of_bits(magnitude) + 0.5f) - bits_of(0.5f)));
    }
    const uint32_t odd = magnitude >> 13 & 1u;
    return (uint16_t)(sign | ((magnitude + 0xfffu + odd - UINT32_C(0x38000000)) >> 13));
}

static number of_real(float real)
{
    const float limit = 9.2233715e18f; /* The float below 2^63. */
    const float within = real > -limit ? (real < limit ? real : limit) : -limit;
    return (number){real == real ? (int64_t)within : 0, real};
}

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
        case HELIA_NN_HALF:
            return of_real(of_half(((const uint16_t *)data)[index]));
        default:
            return of_real(((const float *)data)[index]);
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
        case HELIA_NN_HALF:
            ((uint16_t *)data)[index] = to_half(value.real);
            break;
        default:
            ((float *)data)[index] = value.real;
            break;
    }
}

arm_cmsis_nn_status helia_nn_cast(
    const void *input, const int32_t input_type, void *output, const int32_t output_type, const int32_t count)
{
    if (input_type < 0 || input_type > HELIA_NN_HALF || output_type < 0 || output_type > HELIA_NN_HALF)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < count; i++)
    {
        put_at(output, output_type, i, number_at(input, input_type, i));
    }
    return ARM_CMSIS_NN_SUCCESS;
}
