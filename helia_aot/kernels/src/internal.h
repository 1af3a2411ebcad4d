/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What all kernel sources share: the instruction set guard, requantisation and clamping. Not part of the interface.
 */
#ifndef HELIA_NN_INTERNAL_H
#define HELIA_NN_INTERNAL_H

#include "../include/arm_nn_types.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Helium bodies are used where the target has integer MVE. HELIA_NN_PORTABLE turns them off on such a target, and so does a build
 * without optimisation, which has not registers enough for their assembly: the outputs are the same.
 */
#if !defined(HELIA_NN_PORTABLE) && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1) && defined(__OPTIMIZE__)
#define HELIA_NN_MVE 1
#include <arm_mve.h>

/* First in the clobber list of assembly that sets the predicate; Clang has no name for it. */
#if defined(__clang__)
#define HELIA_NN_PREDICATE
#else
#define HELIA_NN_PREDICATE "p0",
#endif
#endif

/*
 * DSP bodies are used where the target has the packed 16-bit instructions of Armv7E-M and no Helium. HELIA_NN_PORTABLE and a build
 * without optimisation turn them off in the same way, and so does Clang, which does not give assembly all the registers that it needs
 * here.
 */
#if !defined(HELIA_NN_PORTABLE) && defined(__ARM_FEATURE_DSP) && !defined(__ARM_FEATURE_MVE) && defined(__OPTIMIZE__) && \
    !defined(__clang__)
#define HELIA_NN_DSP 1
#include "support_dsp.h"
#endif

/* A body that is correct but rarely runs: kept out of the fast one, whose registers it would take. */
#define HELIA_NN_COLD __attribute__((noinline, cold))

static inline int32_t helia_nn_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t helia_nn_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Gives `value` limited to [low, high]. */
static inline int32_t helia_nn_clamp(int32_t value, int32_t low, int32_t high)
{
    return helia_nn_min(helia_nn_max(value, low), high);
}

/*
 * Gives the high half of the doubled product, rounded to nearest with ties towards plus infinity.
 *
 * gemmlowp's SaturatingRoundingDoublingHighMul writes the same rounding as a sign-dependent nudge and a truncating division.
 * The only overflow is INT32_MIN * INT32_MIN, which saturates.
 */
static inline int32_t helia_nn_doubling_high_mult(int32_t a, int32_t b)
{
    if (a == INT32_MIN && b == INT32_MIN)
    {
        return INT32_MAX;
    }
    return (int32_t)(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
}

/* Gives `value / 2^exponent` rounded to nearest, ties away from zero; exponent 0..31. */
static inline int32_t helia_nn_divide_by_power_of_two(int32_t value, int32_t exponent)
{
    /* Rounding half up takes negative ties towards zero; one less beforehand takes them away from zero. */
    const int64_t rounding = exponent > 0 ? (INT64_C(1) << (exponent - 1)) - (value < 0 ? 1 : 0) : 0;
    return (int32_t)(((int64_t)value + rounding) >> exponent);
}

/*
 * Requantises an accumulator: left shift, doubling high multiplication, rounding right shift (double rounding as in
 * TensorFlow Lite Micro). The left shift wraps, as it does there.
 */
static inline int32_t helia_nn_requantize(int32_t value, int32_t multiplier, int32_t shift)
{
#if defined(HELIA_NN_DSP)
    int32_t doubled;
    const int32_t shifted = shift > 0 ? (int32_t)((uint32_t)value << shift) : value;
    if (!__builtin_add_overflow(shifted, shifted, &doubled))
    {
        const int32_t scaled = helia_nn_smmulr(doubled, multiplier);
        return shift < 0 ? helia_nn_halved_shift(scaled, ~shift, 1) >> 1 : scaled;
    }
#endif
    const int32_t left = shift > 0 ? shift : 0;
    const int32_t right = shift > 0 ? 0 : -shift;
    const int32_t scaled = (int32_t)((uint32_t)value << left);
    return helia_nn_divide_by_power_of_two(helia_nn_doubling_high_mult(scaled, multiplier), right);
}

#if defined(HELIA_NN_MVE)

/*
 * Four lanes of helia_nn_divide_by_power_of_two(); `negative_exponent` holds minus the exponent (0..-31).
 *
 * The AND keeps the sign of negative values only in lanes that shift at all: a lane with exponent 0 must not be changed.
 */
static inline int32x4_t helia_nn_divide_by_power_of_two_s32x4(int32x4_t value, int32x4_t negative_exponent)
{
    const int32x4_t minus_one_if_negative = vshrq_n_s32(vandq_s32(value, negative_exponent), 31);
    return vrshlq_s32(vqaddq_s32(value, minus_one_if_negative), negative_exponent);
}

/* Four lanes of helia_nn_requantize() with a multiplier and shift for each lane. */
static inline int32x4_t helia_nn_requantize_s32x4(int32x4_t value, int32x4_t multiplier, int32x4_t shift)
{
    const int32x4_t zero = vdupq_n_s32(0);
    const int32x4_t scaled = vqrdmulhq_s32(vshlq_s32(value, vmaxq_s32(shift, zero)), multiplier);
    return helia_nn_divide_by_power_of_two_s32x4(scaled, vminq_s32(shift, zero));
}

/* Four lanes of helia_nn_requantize() with one multiplier and shift. */
static inline int32x4_t helia_nn_requantize_n_s32x4(int32x4_t value, int32_t multiplier, int32_t shift)
{
    const int32_t left = shift > 0 ? shift : 0;
    const int32_t negative_right = shift > 0 ? 0 : shift;
    const int32x4_t scaled = vqrdmulhq_n_s32(vshlq_r_s32(value, left), multiplier);
    return helia_nn_divide_by_power_of_two_s32x4(scaled, vdupq_n_s32(negative_right));
}

/* Whether all of `count` numbers are negative; 1 number at least. */
static inline bool helia_nn_all_negative(const int32_t *numbers, int32_t count)
{
    int32_t largest = INT32_MIN;
    for (; count > 0; count -= 4, numbers += 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)count);
        largest = vmaxvq_p_s32(largest, vldrwq_z_s32(numbers, valid), valid);
    }
    return largest < 0;
}

/* Four lanes of helia_nn_clamp(). */
static inline int32x4_t helia_nn_clamp_s32x4(int32x4_t value, int32_t low, int32_t high)
{
    return vminq_s32(vmaxq_s32(value, vdupq_n_s32(low)), vdupq_n_s32(high));
}

#else

/* Only Helium code asks; see the other body. */
static inline bool helia_nn_all_negative(const int32_t *numbers, int32_t count)
{
    (void)numbers;
    (void)count;
    return false;
}

#endif /* HELIA_NN_MVE */

#endif /* HELIA_NN_INTERNAL_H */
