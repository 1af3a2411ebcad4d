/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Loops of the simple functions of one element, for the element type of the support_f32.h or support_f16.h before it; computed in
 * single precision.
 */
#include "support_functions_f32.h"

#define SCALAR_MAP(name, function)                                                                            \
    static void name##_elements(const helia_nn_real *input, helia_nn_real *output, int32_t size)              \
    {                                                                                                         \
        for (int32_t i = 0; i < size; i++)                                                                    \
        {                                                                                                     \
            output[i] = (helia_nn_real)function((float32_t)input[i]);                                         \
        }                                                                                                     \
    }

#if defined(HELIA_NN_MVE_FLOAT)

#define MAP(name, function, vector_function)                                                                  \
    static void name##_elements(const helia_nn_real *input, helia_nn_real *output, int32_t size)              \
    {                                                                                                         \
        for (; size > 0; size -= 4)                                                                           \
        {                                                                                                     \
            const mve_pred16_t valid = vctp32q((uint32_t)size);                                               \
            helia_nn_store_narrow(output, vector_function(helia_nn_load_wide(input, valid)), valid);          \
            input += 4;                                                                                       \
            output += 4;                                                                                      \
        }                                                                                                     \
    }

static inline float32x4_t square_vector(float32x4_t x)
{
    return vmulq_f32(x, x);
}

#else

#define MAP(name, function, vector_function) SCALAR_MAP(name, function)

static inline float32_t negative(float32_t x)
{
    return -x;
}

static inline float32_t square(float32_t x)
{
    return x * x;
}

#endif /* HELIA_NN_MVE_FLOAT */

MAP(negative, negative, vnegq_f32)
MAP(absolute, helia_nn_absolute, vabsq_f32)
MAP(square, square, square_vector)
MAP(floor, helia_nn_floor_of, vrndmq_f32)
MAP(ceil, helia_nn_ceil_of, vrndpq_f32)
MAP(round, helia_nn_round_of, vrndnq_f32)
SCALAR_MAP(root, helia_nn_root)
SCALAR_MAP(inverse_root, helia_nn_inverse_root)

/* The whole of an entry. */
static arm_cmsis_nn_status map(
    const helia_nn_real *input, const int32_t function, helia_nn_real *output, const int32_t size)
{
    switch (function)
    {
        case HELIA_NN_NEG:
            negative_elements(input, output, size);
            break;
        case HELIA_NN_ABS:
            absolute_elements(input, output, size);
            break;
        case HELIA_NN_SQUARE:
            square_elements(input, output, size);
            break;
        case HELIA_NN_SQRT:
            root_elements(input, output, size);
            break;
        case HELIA_NN_RSQRT:
            inverse_root_elements(input, output, size);
            break;
        case HELIA_NN_FLOOR:
            floor_elements(input, output, size);
            break;
        case HELIA_NN_CEIL:
            ceil_elements(input, output, size);
            break;
        case HELIA_NN_ROUND:
            round_elements(input, output, size);
            break;
        default:
            return ARM_CMSIS_NN_ARG_ERROR;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
