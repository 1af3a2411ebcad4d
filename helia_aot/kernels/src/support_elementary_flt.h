/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The elementary functions of one element, for the element type of the support_f32.h or support_f16.h before it; computed in single
 * precision.
 */
#include "support_functions_f32.h"
#include "support_unary_flt.h"

static float32_t value_of(int32_t function, float32_t x)
{
    switch (function)
    {
        case HELIA_NN_EXP:
            return helia_nn_exp_of(x);
        case HELIA_NN_LOG:
            return helia_nn_log_of(x);
        case HELIA_NN_SIN:
            return helia_nn_sine(x, 0);
        case HELIA_NN_COS:
            return helia_nn_sine(x, 1);
        case HELIA_NN_ELU:
            return helia_nn_elu_of(x);
        case HELIA_NN_GELU:
            return helia_nn_gelu_of(x);
        default:
            return helia_nn_gelu_tanh_of(x);
    }
}

#if defined(HELIA_NN_MVE_FLOAT)

static bool has_vector(int32_t function)
{
    return function == HELIA_NN_EXP || function >= HELIA_NN_ELU;
}

/* As the square of e^(x / 2), whose factors stay within the range of helia_nn_exp_vector() until the square leaves it. */
static float32x4_t exp_vector(float32x4_t x)
{
    const float32x4_t root = helia_nn_exp_vector(vmulq_n_f32(x, 0.5f));
    return vpselq_f32(x, vmulq_f32(root, root), vcmpneq_f32(x, x));
}

/* As helia_nn_elu_of(). "Less" also holds for what is no number; "greater" does not, so that it comes through. */
static float32x4_t elu_vector(float32x4_t x)
{
    float32x4_t sum = vfmasq_n_f32(vdupq_n_f32(1.0f / 40320.0f), x, 1.0f / 5040.0f);
    sum = vfmasq_n_f32(sum, x, 1.0f / 720.0f);
    sum = vfmasq_n_f32(sum, x, 1.0f / 120.0f);
    sum = vfmasq_n_f32(sum, x, 1.0f / 24.0f);
    sum = vfmasq_n_f32(sum, x, 1.0f / 6.0f);
    sum = vfmasq_n_f32(sum, x, 0.5f);
    const float32x4_t near = vfmaq_f32(x, vmulq_f32(x, x), sum);
    const float32x4_t far = vsubq_n_f32(helia_nn_exp_vector(x), 1.0f);
    const float32x4_t below = vpselq_f32(far, near, vcmpgtq_f32(vdupq_n_f32(-0.4f), x));
    return vpselq_f32(below, x, vcmpgtq_f32(vdupq_n_f32(0.0f), x));
}

/* As helia_nn_gelu_of(). */
static float32x4_t gelu_vector(float32x4_t x)
{
    const float32x4_t a = vmulq_n_f32(vabsq_f32(x), 0.707106781f);
    const float32x4_t t = helia_nn_reciprocal(vfmaq_n_f32(vdupq_n_f32(1.0f), a, 0.5f));
    float32x4_t sum = vfmasq_n_f32(vdupq_n_f32(0.17087277f), t, -0.82215223f);
    sum = vfmasq_n_f32(sum, t, 1.48851587f);
    sum = vfmasq_n_f32(sum, t, -1.13520398f);
    sum = vfmasq_n_f32(sum, t, 0.27886807f);
    sum = vfmasq_n_f32(sum, t, -0.18628806f);
    sum = vfmasq_n_f32(sum, t, 0.09678418f);
    sum = vfmasq_n_f32(sum, t, 0.37409196f);
    sum = vfmasq_n_f32(sum, t, 1.00002368f);
    sum = vfmasq_n_f32(sum, t, -1.26551223f);
    const float32x4_t power = helia_nn_exp_vector(vfmsq_f32(sum, a, a));
    const float32x4_t tail = vmulq_n_f32(vmulq_f32(t, power), 0.5f);
    const float32x4_t share = vpselq_f32(tail, vfmaq_n_f32(vdupq_n_f32(1.0f), tail, -1.0f), vcmpltq_n_f32(x, 0.0f));
    return vmulq_f32(x, share);
}

static float32x4_t gelu_tanh_vector(float32x4_t x)
{
    const float32x4_t cube = vmulq_f32(vmulq_f32(x, x), x);
    const float32x4_t u = vmulq_n_f32(vfmaq_n_f32(x, cube, 0.044715f), 2.0f * 0.797884561f);
    return vmulq_f32(x, helia_nn_logistic_vector(u));
}

static float32x4_t vector_of(int32_t function, float32x4_t x)
{
    switch (function)
    {
        case HELIA_NN_EXP:
            return exp_vector(x);
        case HELIA_NN_ELU:
            return elu_vector(x);
        case HELIA_NN_GELU:
            return gelu_vector(x);
        default:
            return gelu_tanh_vector(x);
    }
}

#endif /* HELIA_NN_MVE_FLOAT */

/* The whole of an entry. */
static arm_cmsis_nn_status elementary(
    const helia_nn_real *input, const int32_t function, helia_nn_real *output, const int32_t size)
{
    if (function < HELIA_NN_EXP || function > HELIA_NN_GELU_TANH)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
#if defined(HELIA_NN_MVE_FLOAT)
    if (has_vector(function))
    {
        for (int32_t left = size; left > 0; left -= 4)
        {
            const mve_pred16_t valid = vctp32q((uint32_t)left);
            helia_nn_store_narrow(output, vector_of(function, helia_nn_load_wide(input, valid)), valid);
            input += 4;
            output += 4;
        }
        return ARM_CMSIS_NN_SUCCESS;
    }
#endif
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = (helia_nn_real)value_of(function, (float32_t)input[i]);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
