/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Division, floor division, its rest and squared difference with broadcasting, for the element type of the support_f32.h or support_f16.h
 * before it. Every step is rounded to the element type.
 */
#include "support_broadcast.h"
#include "support_functions_f32.h"

typedef struct
{
    int32_t operation;
    float32_t low, high;
} arithmetic_params;

/*
 * The rest of the floor division, which has the sign of the divisor; exact, as every subtraction is from less than twice what it takes.
 * Divisors below the normal range count as 0.
 */
static float32_t floor_rest(float32_t a, float32_t b)
{
    const float32_t divisor = helia_nn_absolute(b);
    float32_t rest = helia_nn_absolute(a);
    if (!(rest < INFINITY) || !(divisor >= HELIA_NN_SMALLEST_NORMAL))
    {
        return NAN;
    }
    while (rest >= divisor && divisor < INFINITY)
    {
        const uint32_t exponent = helia_nn_bits_of(rest) & UINT32_C(0x7f800000);
        const float32_t scaled = helia_nn_of_bits((helia_nn_bits_of(divisor) & UINT32_C(0x007fffff)) | exponent);
        rest -= scaled > rest ? 0.5f * scaled : scaled;
    }
    const float32_t signed_rest = a < 0.0f ? -rest : rest;
    return rest != 0.0f && (a < 0.0f) != (b < 0.0f) ? signed_rest + b : signed_rest;
}

static float32_t result_of(int32_t operation, float32_t a, float32_t b)
{
    if (operation == HELIA_NN_SQUARED_DIFFERENCE)
    {
        const float32_t difference = (float32_t)(helia_nn_real)(a - b);
        return (float32_t)(helia_nn_real)(difference * difference);
    }
    if (operation == HELIA_NN_FLOOR_MOD)
    {
        return floor_rest(a, b);
    }
    const float32_t quotient = (float32_t)(helia_nn_real)(a / b);
    return operation == HELIA_NN_DIV ? quotient : helia_nn_floor_of(quotient);
}

static void
arithmetic_run(const void *params, const helia_nn_axis *axis, const void *input1, const void *input2, void *output)
{
    const arithmetic_params p = *(const arithmetic_params *)params;
    const helia_nn_real *a = input1;
    const helia_nn_real *b = input2;
    helia_nn_real *to = output;
    for (int32_t i = 0; i < axis->extent; i++)
    {
        const float32_t value = result_of(p.operation, (float32_t)a[i * axis->stride1], (float32_t)b[i * axis->stride2]);
        to[i] = (helia_nn_real)helia_nn_limit(value, p.low, p.high);
    }
}

static arm_cmsis_nn_status arithmetic(
    const helia_nn_real *input1_data,
    const cmsis_nn_dims *input1_dims,
    const helia_nn_real *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t operation,
    const helia_nn_real low,
    const helia_nn_real high,
    helia_nn_real *output_data,
    const cmsis_nn_dims *output_dims)
{
    const arithmetic_params params = {operation, (float32_t)low, (float32_t)high};
    helia_nn_axes axes;
    if ((operation != HELIA_NN_DIV && operation != HELIA_NN_FLOOR_DIV && operation != HELIA_NN_FLOOR_MOD &&
         operation != HELIA_NN_SQUARED_DIFFERENCE) ||
        !helia_nn_merge_axes(input1_dims, input2_dims, output_dims, &axes))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_for_each_run(&axes,
                          arithmetic_run,
                          &params,
                          input1_data,
                          sizeof *input1_data,
                          input2_data,
                          sizeof *input2_data,
                          output_data,
                          sizeof *output_data);
    return ARM_CMSIS_NN_SUCCESS;
}
