/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions of one single-precision number without the C library. Results are within a few units of the last place, unless a
 * comment says otherwise; numbers below the normal range count as the nearest end of their result.
 */
#ifndef HELIA_NN_SUPPORT_FUNCTIONS_F32_H
#define HELIA_NN_SUPPORT_FUNCTIONS_F32_H

#include "support_exp_f32.h"

#include <math.h> /* INFINITY and NAN alone */

#define HELIA_NN_SMALLEST_NORMAL 1.17549435e-38f
#define HELIA_NN_WHOLE 8388608.0f /* From 2^23 on every number is whole. */

static inline uint32_t helia_nn_bits_of(float32_t x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float32_t helia_nn_of_bits(uint32_t bits)
{
    float32_t x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float32_t helia_nn_absolute(float32_t x)
{
    return helia_nn_of_bits(helia_nn_bits_of(x) & UINT32_C(0x7fffffff));
}

/* 1 / sqrt(x). Half of the bits, taken from a constant, are a start within 4 %; each Newton step squares the error. */
static inline float32_t helia_nn_inverse_root(float32_t x)
{
    if (!(x > 0.0f))
    {
        return x == 0.0f ? INFINITY : NAN;
    }
    if (x == INFINITY)
    {
        return 0.0f;
    }
    float32_t y = helia_nn_of_bits(UINT32_C(0x5f3759df) - (helia_nn_bits_of(x) >> 1));
    for (int32_t step = 0; step < 4; step++)
    {
        const float32_t product = x * y;
        y += 0.5f * y * (1.0f - product * y);
    }
    return y;
}

static inline float32_t helia_nn_root(float32_t x)
{
    if (x == 0.0f || x == INFINITY)
    {
        return x;
    }
    const float32_t inverse = helia_nn_inverse_root(x);
    const float32_t root = x * inverse;
    return root + 0.5f * inverse * (x - root * root);
}

/* The whole number towards zero. */
static inline float32_t helia_nn_truncated(float32_t x)
{
    return helia_nn_absolute(x) < HELIA_NN_WHOLE ? (float32_t)(int32_t)x : x;
}

static inline float32_t helia_nn_floor_of(float32_t x)
{
    const float32_t whole = helia_nn_truncated(x);
    return whole > x ? whole - 1.0f : whole;
}

static inline float32_t helia_nn_ceil_of(float32_t x)
{
    return -helia_nn_floor_of(-x);
}

/* Halves go to the even neighbour: adding 2^23 leaves no bits below one, and the addition rounds like that. */
static inline float32_t helia_nn_round_of(float32_t x)
{
    const float32_t magnitude = helia_nn_absolute(x);
    if (!(magnitude < HELIA_NN_WHOLE))
    {
        return x;
    }
    volatile float32_t sum = magnitude + HELIA_NN_WHOLE;
    const float32_t whole = sum - HELIA_NN_WHOLE;
    return x < 0.0f ? -whole : whole;
}

/* e^x with zero and infinity beyond the range of helia_nn_exp(). */
static inline float32_t helia_nn_exp_of(float32_t x)
{
    if (!(x < HELIA_NN_EXP_HIGHEST) && !(x <= 88.7228394f))
    {
        return x > 0.0f ? INFINITY : x;
    }
    if (x > HELIA_NN_EXP_HIGHEST)
    {
        return helia_nn_exp(x - 1.0f) * 2.71828183f;
    }
    return x < HELIA_NN_EXP_LOWEST ? 0.0f : helia_nn_exp(x);
}

/*
 * log(x): x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log(m) = 2 atanh(s) with s = (m - 1) / (m + 1), its series to s^9, whose
 * next term is below 1e-9.
 */
static inline float32_t helia_nn_log_of(float32_t x)
{
    if (!(x > 0.0f))
    {
        return x == 0.0f ? -INFINITY : NAN;
    }
    if (x == INFINITY)
    {
        return x;
    }
    int32_t exponent = 0;
    if (x < HELIA_NN_SMALLEST_NORMAL)
    {
        x *= HELIA_NN_WHOLE;
        exponent = -23;
    }
    const uint32_t bits = helia_nn_bits_of(x);
    exponent += (int32_t)(bits >> 23) - 127;
    float32_t m = helia_nn_of_bits((bits & UINT32_C(0x007fffff)) | UINT32_C(0x3f800000));
    if (m > 1.41421356f)
    {
        m *= 0.5f;
        exponent++;
    }
    const float32_t s = (m - 1.0f) / (m + 1.0f);
    const float32_t square = s * s;
    float32_t sum = square * (1.0f / 9.0f) + 1.0f / 7.0f;
    sum = sum * square + 1.0f / 5.0f;
    sum = sum * square + 1.0f / 3.0f;
    const float32_t near = 2.0f * (s + s * square * sum);
    return (float32_t)exponent * HELIA_NN_LN2_HIGH + (near + (float32_t)exponent * HELIA_NN_LN2_LOW);
}

/*
 * sin(x + quarters * pi / 2): pi / 2 is subtracted in three parts, the first two short enough for exact products up to 2^13
 * quarters, so the argument keeps its digits up to about 1e4. Then the series to r^9 or r^10 on [-pi / 4, pi / 4].
 */
static inline float32_t helia_nn_sine(float32_t x, int32_t quarters)
{
    if (!(helia_nn_absolute(x) < 1e9f))
    {
        return NAN;
    }
    const float32_t whole = helia_nn_round_of(x * 0.636619772f);
    float32_t r = x - whole * 1.5703125f;
    r -= whole * 4.837512969970703125e-4f;
    r -= whole * 7.549790126e-8f;
    const float32_t square = r * r;
    switch (((int32_t)whole + quarters) & 3)
    {
        case 0:
        case 2:
        {
            float32_t sum = square * (1.0f / 362880.0f) - 1.0f / 5040.0f;
            sum = sum * square + 1.0f / 120.0f;
            sum = sum * square - 1.0f / 6.0f;
            const float32_t sine = r + r * square * sum;
            return (((int32_t)whole + quarters) & 2) != 0 ? -sine : sine;
        }
        default:
        {
            float32_t sum = square * (-1.0f / 3628800.0f) + 1.0f / 40320.0f;
            sum = sum * square - 1.0f / 720.0f;
            sum = sum * square + 1.0f / 24.0f;
            sum = sum * square - 0.5f;
            const float32_t cosine = 1.0f + square * sum;
            return (((int32_t)whole + quarters) & 2) != 0 ? -cosine : cosine;
        }
    }
}

/* x above zero, e^x - 1 below; near zero its series, because the difference would lose the digits. */
static inline float32_t helia_nn_elu_of(float32_t x)
{
    if (!(x < 0.0f))
    {
        return x;
    }
    if (x < -0.4f)
    {
        return helia_nn_exp_of(x) - 1.0f;
    }
    float32_t sum = x * (1.0f / 40320.0f) + 1.0f / 5040.0f;
    sum = sum * x + 1.0f / 720.0f;
    sum = sum * x + 1.0f / 120.0f;
    sum = sum * x + 1.0f / 24.0f;
    sum = sum * x + 1.0f / 6.0f;
    sum = sum * x + 0.5f;
    return x + x * x * sum;
}

/*
 * 1 - erf(x) for x >= 0: t * exp(-x^2 + P(t)) with t = 1 / (1 + x / 2), the Chebyshev fit of Numerical Recipes, 2nd edition,
 * section 6.2, whose relative error is below 1.2e-7.
 */
static inline float32_t helia_nn_erfc(float32_t x)
{
    const float32_t t = 1.0f / (1.0f + 0.5f * x);
    float32_t sum = t * 0.17087277f - 0.82215223f;
    sum = sum * t + 1.48851587f;
    sum = sum * t - 1.13520398f;
    sum = sum * t + 0.27886807f;
    sum = sum * t - 0.18628806f;
    sum = sum * t + 0.09678418f;
    sum = sum * t + 0.37409196f;
    sum = sum * t + 1.00002368f;
    sum = sum * t - 1.26551223f;
    return t * helia_nn_exp_of(sum - x * x);
}

/* x times the share of the normal distribution below x. */
static inline float32_t helia_nn_gelu_of(float32_t x)
{
    const float32_t tail = 0.5f * helia_nn_erfc(helia_nn_absolute(x) * 0.707106781f);
    return x * (x < 0.0f ? tail : 1.0f - tail);
}

/* The same by 0.5 x (1 + tanh(u)) = x / (1 + e^-2u). */
static inline float32_t helia_nn_gelu_tanh_of(float32_t x)
{
    const float32_t u = 0.797884561f * (x + 0.044715f * x * x * x);
    return x / (1.0f + helia_nn_exp(helia_nn_limit(-2.0f * u, HELIA_NN_EXP_LOWEST, HELIA_NN_EXP_HIGHEST)));
}

#endif /* HELIA_NN_SUPPORT_FUNCTIONS_F32_H */
