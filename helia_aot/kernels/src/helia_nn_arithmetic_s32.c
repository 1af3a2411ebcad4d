/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_broadcast.h"

typedef struct
{
    int32_t operation, low, high;
} arithmetic_params;

static int32_t sum(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t difference(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

static int32_t product(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

/* Towards zero; INT32_MIN / -1 wraps as the other operations do. */
static int32_t quotient(int32_t a, int32_t b)
{
    return b == -1 ? difference(0, a) : a / b;
}

static int32_t floor_modulus(int32_t a, int32_t b)
{
    const int32_t rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int32_t floor_quotient(int32_t a, int32_t b)
{
    const int32_t rest = b == -1 ? 0 : a % b;
    return quotient(a, b) - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
}

static int32_t squared_difference(int32_t a, int32_t b)
{
    return product(difference(a, b), difference(a, b));
}

/* One loop for each operation, so that the choice is made once for a run. */
#define RUN(operation)                                                                                  \
    for (int32_t i = 0; i < axis->extent; i++)                                                          \
    {                                                                                                   \
        to[i] = helia_nn_clamp(operation(a[i * axis->stride1], b[i * axis->stride2]), p.low, p.high);   \
    }                                                                                                   \
    break

static void
arithmetic_run(const void *params, const helia_nn_axis *axis, const void *input1, const void *input2, void *output)
{
    const arithmetic_params p = *(const arithmetic_params *)params;
    const int32_t *a = input1;
    const int32_t *b = input2;
    int32_t *to = output;
    switch (p.operation)
    {
        case HELIA_NN_ADD:
            RUN(sum);
        case HELIA_NN_SUB:
            RUN(difference);
        case HELIA_NN_MUL:
            RUN(product);
        case HELIA_NN_DIV:
            RUN(quotient);
        case HELIA_NN_FLOOR_DIV:
            RUN(floor_quotient);
        case HELIA_NN_FLOOR_MOD:
            RUN(floor_modulus);
        case HELIA_NN_MAXIMUM:
            RUN(helia_nn_max);
        case HELIA_NN_MINIMUM:
            RUN(helia_nn_min);
        default:
            RUN(squared_difference);
    }
}

static bool has_zero(const int32_t *numbers, const cmsis_nn_dims *dims)
{
    const int32_t count = dims->n * dims->h * dims->w * dims->c;
    for (int32_t i = 0; i < count; i++)
    {
        if (numbers[i] == 0)
        {
            return true;
        }
    }
    return false;
}

arm_cmsis_nn_status helia_nn_arithmetic_s32(
    const int32_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int32_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t operation,
    const int32_t low,
    const int32_t high,
    int32_t *output_data,
    const cmsis_nn_dims *output_dims)
{
    const arithmetic_params params = {operation, low, high};
    const bool divides =
        operation == HELIA_NN_DIV || operation == HELIA_NN_FLOOR_DIV || operation == HELIA_NN_FLOOR_MOD;
    helia_nn_axes axes;
    if (operation < HELIA_NN_ADD || operation > HELIA_NN_SQUARED_DIFFERENCE ||
        !helia_nn_merge_axes(input1_dims, input2_dims, output_dims, &axes) ||
        (divides && has_zero(input2_data, input2_dims)))
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
