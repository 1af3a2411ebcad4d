/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Element-wise operations with two inputs, for the element type of the support_f32.h or support_f16.h before it.
 */
#ifndef HELIA_NN_SUPPORT_ELEMENTWISE_FLT_H
#define HELIA_NN_SUPPORT_ELEMENTWISE_FLT_H

#include <math.h> /* INFINITY alone */

/* Tells whether an input extent is the output's, or 1 and so repeated. */
static inline bool helia_nn_repeats_to(int32_t input, int32_t output)
{
    return output > 0 && (input == output || input == 1);
}

static inline bool helia_nn_broadcasts_to(const cmsis_nn_dims *input, const cmsis_nn_dims *output)
{
    return helia_nn_repeats_to(input->n, output->n) && helia_nn_repeats_to(input->h, output->h) &&
           helia_nn_repeats_to(input->w, output->w) && helia_nn_repeats_to(input->c, output->c);
}

static inline bool helia_nn_broadcast_rule(const cmsis_nn_dims *first, const cmsis_nn_dims *second, const cmsis_nn_dims *output)
{
    return helia_nn_broadcasts_to(first, output) && helia_nn_broadcasts_to(second, output);
}

/* Offset of an input's row for a row of the output. */
static inline int32_t helia_nn_broadcast_row(const cmsis_nn_dims *input, int32_t n, int32_t h, int32_t w)
{
    n = input->n > 1 ? n : 0;
    h = input->h > 1 ? h : 0;
    w = input->w > 1 ? w : 0;
    return ((n * input->h + h) * input->w + w) * input->c;
}

#if defined(HELIA_NN_MVE_FLOAT)

/* The elements at and above zero, plus those below it times alpha. */
static inline helia_nn_vector helia_nn_prelu_vector(helia_nn_vector x, helia_nn_vector alpha)
{
    const helia_nn_vector zero = helia_nn_duplicate(0);
    return helia_nn_multiply_add(helia_nn_larger(x, zero), helia_nn_smaller(x, zero), alpha);
}

static inline helia_nn_vector helia_nn_load_step(const helia_nn_real *from, int32_t step, mve_pred16_t valid)
{
    return step == 0 ? helia_nn_duplicate(*from) : helia_nn_load(from, valid);
}

#define HELIA_NN_VECTORS(name, vector_operation, operation)                                                                   \
    static inline void helia_nn_##name##_vectors(const helia_nn_real *a, int32_t a_step, const helia_nn_real *b,              \
                                                 int32_t b_step, helia_nn_activation activation, helia_nn_real *out,          \
                                                 int32_t count)                                                               \
    {                                                                                                                         \
        const helia_nn_vector low = helia_nn_duplicate(activation.min);                                                            \
        const helia_nn_vector high = helia_nn_duplicate(activation.max);                                                           \
        for (; count > 0; count -= HELIA_NN_REALS)                                                                            \
        {                                                                                                                     \
            const mve_pred16_t valid = helia_nn_first(count);                                                                 \
            const helia_nn_vector value =                                                                                     \
                vector_operation(helia_nn_load_step(a, a_step, valid), helia_nn_load_step(b, b_step, valid));                 \
            helia_nn_store(out, helia_nn_limit_vector(value, low, high), valid);                                              \
            a += a_step * HELIA_NN_REALS;                                                                                     \
            b += b_step * HELIA_NN_REALS;                                                                                     \
            out += HELIA_NN_REALS;                                                                                            \
        }                                                                                                                     \
    }

#else

static inline float32_t helia_nn_sum_of(float32_t a, float32_t b)
{
    return a + b;
}

static inline float32_t helia_nn_difference_of(float32_t a, float32_t b)
{
    return a - b;
}

static inline float32_t helia_nn_product_of(float32_t a, float32_t b)
{
    return a * b;
}

static inline float32_t helia_nn_larger_of(float32_t a, float32_t b)
{
    return a > b ? a : b;
}

static inline float32_t helia_nn_smaller_of(float32_t a, float32_t b)
{
    return a < b ? a : b;
}

static inline float32_t helia_nn_prelu_of(float32_t x, float32_t alpha)
{
    return x < 0.0f ? x * alpha : x;
}

#define HELIA_NN_VECTORS(name, vector_operation, operation)                                                                   \
    static inline void helia_nn_##name##_vectors(const helia_nn_real *a, int32_t a_step, const helia_nn_real *b,              \
                                                 int32_t b_step, helia_nn_activation activation, helia_nn_real *out,          \
                                                 int32_t count)                                                               \
    {                                                                                                                         \
        for (int32_t i = 0; i < count; i++)                                                                                   \
        {                                                                                                                     \
            const helia_nn_real value = (helia_nn_real)operation(a[i * a_step], b[i * b_step]);                               \
            out[i] = (helia_nn_real)helia_nn_limit((float32_t)value, activation.min, activation.max);                         \
        }                                                                                                                     \
    }

#endif /* HELIA_NN_MVE_FLOAT */

/* Element by element, limited; an input with step 0 is one element. */
HELIA_NN_VECTORS(add, helia_nn_add_vector, helia_nn_sum_of)
HELIA_NN_VECTORS(sub, helia_nn_sub_vector, helia_nn_difference_of)
HELIA_NN_VECTORS(mul, helia_nn_mul_vector, helia_nn_product_of)
HELIA_NN_VECTORS(larger, helia_nn_larger, helia_nn_larger_of)
HELIA_NN_VECTORS(smaller, helia_nn_smaller, helia_nn_smaller_of)
HELIA_NN_VECTORS(prelu, helia_nn_prelu_vector, helia_nn_prelu_of)

#undef HELIA_NN_VECTORS

/* The range that limits nothing. */
#define HELIA_NN_NO_LIMIT ((helia_nn_activation){-INFINITY, INFINITY})

typedef void (*helia_nn_vectors)(const helia_nn_real *a, int32_t a_step, const helia_nn_real *b, int32_t b_step,
                                 helia_nn_activation activation, helia_nn_real *out, int32_t count);

/* `vectors` on two inputs, each broadcast to the output's shape. */
static inline arm_cmsis_nn_status helia_nn_broadcast(helia_nn_vectors vectors,
                                                     const helia_nn_real *input1,
                                                     const cmsis_nn_dims *dims1,
                                                     const helia_nn_real *input2,
                                                     const cmsis_nn_dims *dims2,
                                                     helia_nn_activation activation,
                                                     helia_nn_real *output,
                                                     const cmsis_nn_dims *output_dims)
{
    if (!helia_nn_broadcast_rule(dims1, dims2, output_dims))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t step1 = dims1->c > 1 ? 1 : 0;
    const int32_t step2 = dims2->c > 1 ? 1 : 0;
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t h = 0; h < output_dims->h; h++)
        {
            for (int32_t w = 0; w < output_dims->w; w++)
            {
                const helia_nn_real *row1 = input1 + helia_nn_broadcast_row(dims1, n, h, w);
                const helia_nn_real *row2 = input2 + helia_nn_broadcast_row(dims2, n, h, w);
                vectors(row1, step1, row2, step2, activation, output, output_dims->c);
                output += output_dims->c;
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_SUPPORT_ELEMENTWISE_FLT_H */
