/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What SOFTMAX and LOG_SOFTMAX of int8 numbers share: the sum of the exponentials of a row, in Q12.
 */
#ifndef HELIA_NN_SUPPORT_EXP_SUM_S8_H
#define HELIA_NN_SUPPORT_EXP_SUM_S8_H

#include "support_fixed_point.h"

#define HELIA_NN_SUM_INTEGER_BITS 12

/* Gives exp(beta * scale * difference) in Q0. */
static inline int32_t helia_nn_exp_of_difference(int32_t difference, int32_t mult, int32_t shift)
{
    return helia_nn_exp_of_negative(helia_nn_requantize(difference, mult, shift));
}

static inline int32_t helia_nn_largest_s8(const int8_t *input, int32_t count)
{
    int32_t largest = INT8_MIN;
#if defined(HELIA_NN_MVE)
    for (int32_t i = 0; i < count; i += 16)
    {
        largest = vmaxvq_p_s8((int8_t)largest, vldrbq_z_s8(input + i, vctp8q((uint32_t)(count - i))),
                              vctp8q((uint32_t)(count - i)));
    }
#else
    for (int32_t i = 0; i < count; i++)
    {
        largest = helia_nn_max(largest, input[i]);
    }
#endif
    return largest;
}

/* Gives the sum of exp(beta * scale * (x - largest)) over differences from `diff_min` on, and the largest number. */
static inline int32_t helia_nn_exp_sum_s8(
    const int8_t *input, int32_t count, int32_t mult, int32_t shift, int32_t diff_min, int32_t *largest)
{
    *largest = helia_nn_largest_s8(input, count);
    int32_t sum = 0;
    for (int32_t i = 0; i < count; i++)
    {
        const int32_t difference = input[i] - *largest;
        if (difference >= diff_min)
        {
            sum += helia_nn_divide_by_power_of_two(helia_nn_exp_of_difference(difference, mult, shift),
                                                   HELIA_NN_SUM_INTEGER_BITS);
        }
    }
    return sum;
}

#endif /* HELIA_NN_SUPPORT_EXP_SUM_S8_H */
