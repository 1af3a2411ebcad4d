/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The element type of the *_f32 kernels and its vector operations.
 */
#ifndef HELIA_NN_SUPPORT_F32_H
#define HELIA_NN_SUPPORT_F32_H

#include "support_flt.h"

typedef float32_t helia_nn_real;
typedef cmsis_nn_activation_f32 helia_nn_activation;
typedef cmsis_nn_conv_params_f32 helia_nn_conv_params;
typedef cmsis_nn_dw_conv_params_f32 helia_nn_dw_conv_params;
typedef cmsis_nn_pool_params_f32 helia_nn_pool_params;

/* The largest number. */
#define HELIA_NN_LARGEST 3.402823466e+38f

/* Lanes of a vector and outputs of a packed block. */
#define HELIA_NN_REALS 4

/* One fused multiply-add of a chain; in C a product and a sum. */
static inline helia_nn_real helia_nn_chain(helia_nn_real sum, helia_nn_real a, helia_nn_real b)
{
    return sum + a * b;
}

#if defined(HELIA_NN_MVE_FLOAT)

typedef float32x4_t helia_nn_vector;

/* Mnemonics of a vector's load and multiply-add. */
#define HELIA_NN_ASM_LOAD "vldrw.32 "
#define HELIA_NN_ASM_MULTIPLY_ADD "vfma.f32 "

/* The first `count` lanes; count 1 and more. */
static inline mve_pred16_t helia_nn_first(int32_t count)
{
    return vctp32q((uint32_t)count);
}

static inline helia_nn_vector helia_nn_load(const helia_nn_real *from, mve_pred16_t valid)
{
    return vldrwq_z_f32(from, valid);
}

static inline void helia_nn_store(helia_nn_real *to, helia_nn_vector value, mve_pred16_t valid)
{
    vstrwq_p_f32(to, value, valid);
}

static inline helia_nn_vector helia_nn_load_whole(const helia_nn_real *from)
{
    return vldrwq_f32(from);
}

static inline void helia_nn_store_whole(helia_nn_real *to, helia_nn_vector value)
{
    vstrwq_f32(to, value);
}

static inline helia_nn_vector helia_nn_duplicate(helia_nn_real value)
{
    return vdupq_n_f32(value);
}

static inline helia_nn_vector helia_nn_limit_vector(helia_nn_vector value, helia_nn_vector low, helia_nn_vector high)
{
    return vminnmq_f32(vmaxnmq_f32(value, low), high);
}

/* sum + a * b, rounded once. */
static inline helia_nn_vector helia_nn_multiply_add(helia_nn_vector sum, helia_nn_vector a, helia_nn_vector b)
{
    return vfmaq_f32(sum, a, b);
}

static inline helia_nn_vector helia_nn_larger(helia_nn_vector a, helia_nn_vector b)
{
    return vmaxnmq_f32(a, b);
}

static inline helia_nn_vector helia_nn_smaller(helia_nn_vector a, helia_nn_vector b)
{
    return vminnmq_f32(a, b);
}

static inline helia_nn_vector helia_nn_add_vector(helia_nn_vector a, helia_nn_vector b)
{
    return vaddq_f32(a, b);
}

static inline helia_nn_vector helia_nn_sub_vector(helia_nn_vector a, helia_nn_vector b)
{
    return vsubq_f32(a, b);
}

static inline helia_nn_vector helia_nn_mul_vector(helia_nn_vector a, helia_nn_vector b)
{
    return vmulq_f32(a, b);
}

/* Up to four elements as single-precision numbers. */
static inline float32x4_t helia_nn_load_wide(const helia_nn_real *from, mve_pred16_t valid)
{
    return vldrwq_z_f32(from, valid);
}

static inline void helia_nn_store_narrow(helia_nn_real *to, float32x4_t value, mve_pred16_t valid)
{
    vstrwq_p_f32(to, value, valid);
}

/* Sums of the lanes in single precision. */
typedef float32x4_t helia_nn_lane_sums;

static inline helia_nn_lane_sums helia_nn_no_sums(void)
{
    return vdupq_n_f32(0.0f);
}

static inline helia_nn_lane_sums helia_nn_add_to_sums(helia_nn_lane_sums sums, helia_nn_vector value)
{
    return vaddq_f32(sums, value);
}

static inline helia_nn_vector helia_nn_scaled_sums(helia_nn_lane_sums sums, float32_t factor)
{
    return vmulq_n_f32(sums, factor);
}

#endif /* HELIA_NN_MVE_FLOAT */

#endif /* HELIA_NN_SUPPORT_F32_H */
