/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The element type of the *_f16 kernels and its vector operations.
 */
#ifndef HELIA_NN_SUPPORT_F16_H
#define HELIA_NN_SUPPORT_F16_H

#include "support_flt.h"

#if defined(HELIA_NN_FLOAT16)

typedef float16_t helia_nn_real;
typedef cmsis_nn_activation_f16 helia_nn_activation;
typedef cmsis_nn_conv_params_f16 helia_nn_conv_params;
typedef cmsis_nn_dw_conv_params_f16 helia_nn_dw_conv_params;
typedef cmsis_nn_pool_params_f16 helia_nn_pool_params;

/* The largest number. */
#define HELIA_NN_LARGEST ((float16_t)65504)

/* Lanes of a vector and outputs of a packed block. */
#define HELIA_NN_REALS 8

/* One fused multiply-add of a chain: the product is exact in double precision, so the sum is rounded to half once. */
static inline helia_nn_real helia_nn_chain(helia_nn_real sum, helia_nn_real a, helia_nn_real b)
{
    return (helia_nn_real)((double)a * (double)b + (double)sum);
}

#if defined(HELIA_NN_MVE_FLOAT)

typedef float16x8_t helia_nn_vector;

/*
 * VCVTB and VCVTT between half and single precision, spelled as numbers: the GNU assembler of binutils 2.40 and before encodes
 * their registers doubled (q3 as q6), which also breaks the intrinsics. `d` and `m` are operands such as "%q[value]"; the symbols
 * turn a register's name into its number.
 */
#define HELIA_NN_ASM_NAMES                                                                                                    \
    ".set helia_q0, 0\n\t.set helia_q1, 1\n\t.set helia_q2, 2\n\t.set helia_q3, 3\n\t"                                        \
    ".set helia_q4, 4\n\t.set helia_q5, 5\n\t.set helia_q6, 6\n\t.set helia_q7, 7\n\t"
#define HELIA_NN_ASM_CONVERT(code, d, m) ".inst.w " code " + (helia_" d " << 13) + (helia_" m " << 1)\n\t"
#define HELIA_NN_ASM_WIDEN_EVEN(d, m) HELIA_NN_ASM_CONVERT("0xfe3f0e01", d, m) /* vcvtb.f32.f16 */
#define HELIA_NN_ASM_WIDEN_ODD(d, m) HELIA_NN_ASM_CONVERT("0xfe3f1e01", d, m)  /* vcvtt.f32.f16 */
#define HELIA_NN_ASM_NARROW_EVEN(d, m) HELIA_NN_ASM_CONVERT("0xee3f0e01", d, m) /* vcvtb.f16.f32 */
#define HELIA_NN_ASM_NARROW_ODD(d, m) HELIA_NN_ASM_CONVERT("0xee3f1e01", d, m)  /* vcvtt.f16.f32 */

static inline float32x4_t helia_nn_widen_even(float16x8_t value)
{
    float32x4_t wide;
    __asm(HELIA_NN_ASM_NAMES HELIA_NN_ASM_WIDEN_EVEN("%q[wide]", "%q[value]") : [wide] "=w"(wide) : [value] "w"(value));
    return wide;
}

static inline float32x4_t helia_nn_widen_odd(float16x8_t value)
{
    float32x4_t wide;
    __asm(HELIA_NN_ASM_NAMES HELIA_NN_ASM_WIDEN_ODD("%q[wide]", "%q[value]") : [wide] "=w"(wide) : [value] "w"(value));
    return wide;
}

/* Rounds into the even lanes of `lanes`. */
static inline float16x8_t helia_nn_narrow_even(float16x8_t lanes, float32x4_t value)
{
    __asm(HELIA_NN_ASM_NAMES HELIA_NN_ASM_NARROW_EVEN("%q[lanes]", "%q[value]") : [lanes] "+w"(lanes) : [value] "w"(value));
    return lanes;
}

/* Rounds into the odd lanes of `lanes`. */
static inline float16x8_t helia_nn_narrow_odd(float16x8_t lanes, float32x4_t value)
{
    __asm(HELIA_NN_ASM_NAMES HELIA_NN_ASM_NARROW_ODD("%q[lanes]", "%q[value]") : [lanes] "+w"(lanes) : [value] "w"(value));
    return lanes;
}

/* Mnemonics of a vector's load and multiply-add. */
#define HELIA_NN_ASM_LOAD "vldrh.16 "
#define HELIA_NN_ASM_MULTIPLY_ADD "vfma.f16 "

/* The first `count` lanes; count 1 and more. */
static inline mve_pred16_t helia_nn_first(int32_t count)
{
    return vctp16q((uint32_t)count);
}

static inline helia_nn_vector helia_nn_load(const helia_nn_real *from, mve_pred16_t valid)
{
    return vldrhq_z_f16(from, valid);
}

static inline void helia_nn_store(helia_nn_real *to, helia_nn_vector value, mve_pred16_t valid)
{
    vstrhq_p_f16(to, value, valid);
}

static inline helia_nn_vector helia_nn_load_whole(const helia_nn_real *from)
{
    return vldrhq_f16(from);
}

static inline void helia_nn_store_whole(helia_nn_real *to, helia_nn_vector value)
{
    vstrhq_f16(to, value);
}

static inline helia_nn_vector helia_nn_duplicate(helia_nn_real value)
{
    return vdupq_n_f16(value);
}

static inline helia_nn_vector helia_nn_limit_vector(helia_nn_vector value, helia_nn_vector low, helia_nn_vector high)
{
    return vminnmq_f16(vmaxnmq_f16(value, low), high);
}

/* sum + a * b, rounded once. */
static inline helia_nn_vector helia_nn_multiply_add(helia_nn_vector sum, helia_nn_vector a, helia_nn_vector b)
{
    return vfmaq_f16(sum, a, b);
}

static inline helia_nn_vector helia_nn_larger(helia_nn_vector a, helia_nn_vector b)
{
    return vmaxnmq_f16(a, b);
}

static inline helia_nn_vector helia_nn_smaller(helia_nn_vector a, helia_nn_vector b)
{
    return vminnmq_f16(a, b);
}

static inline helia_nn_vector helia_nn_add_vector(helia_nn_vector a, helia_nn_vector b)
{
    return vaddq_f16(a, b);
}

static inline helia_nn_vector helia_nn_sub_vector(helia_nn_vector a, helia_nn_vector b)
{
    return vsubq_f16(a, b);
}

static inline helia_nn_vector helia_nn_mul_vector(helia_nn_vector a, helia_nn_vector b)
{
    return vmulq_f16(a, b);
}

/* Up to four elements as single-precision numbers; `valid` counts 32-bit lanes. */
static inline float32x4_t helia_nn_load_wide(const helia_nn_real *from, mve_pred16_t valid)
{
    const uint32x4_t halves = vldrhq_z_u32((const uint16_t *)(const void *)from, valid);
    return helia_nn_widen_even(vreinterpretq_f16_u32(halves));
}

/* Rounds to half precision. */
static inline void helia_nn_store_narrow(helia_nn_real *to, float32x4_t value, mve_pred16_t valid)
{
    const float16x8_t halves = helia_nn_narrow_even(vdupq_n_f16(0), value);
    vstrhq_p_u32((uint16_t *)(void *)to, vreinterpretq_u32_f16(halves), valid);
}

/* Sums of the lanes in single precision: even lanes, then odd lanes. */
typedef struct
{
    float32x4_t even;
    float32x4_t odd;
} helia_nn_lane_sums;

static inline helia_nn_lane_sums helia_nn_no_sums(void)
{
    return (helia_nn_lane_sums){vdupq_n_f32(0.0f), vdupq_n_f32(0.0f)};
}

static inline helia_nn_lane_sums helia_nn_add_to_sums(helia_nn_lane_sums sums, helia_nn_vector value)
{
    return (helia_nn_lane_sums){vaddq_f32(sums.even, helia_nn_widen_even(value)), vaddq_f32(sums.odd, helia_nn_widen_odd(value))};
}

static inline helia_nn_vector helia_nn_scaled_sums(helia_nn_lane_sums sums, float32_t factor)
{
    const float16x8_t even = helia_nn_narrow_even(vdupq_n_f16(0), vmulq_n_f32(sums.even, factor));
    return helia_nn_narrow_odd(even, vmulq_n_f32(sums.odd, factor));
}

#endif /* HELIA_NN_MVE_FLOAT */

#endif /* HELIA_NN_FLOAT16 */

#endif /* HELIA_NN_SUPPORT_F16_H */
