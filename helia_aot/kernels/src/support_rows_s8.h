/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The products of a vector of int8 numbers with four rows, for Helium bodies that have no sums of weights.
 */
#ifndef HELIA_NN_SUPPORT_ROWS_S8_H
#define HELIA_NN_SUPPORT_ROWS_S8_H

#include "internal.h"

#if defined(HELIA_NN_MVE)

/* The dot products of `count` numbers with four rows, `stride` apart, each added to its start. */
static inline int32x4_t
helia_nn_dot_rows_s8(const int8_t *values, const int8_t *rows, int32_t stride, int32_t count, const int32_t starts[4])
{
    const int8_t *row1 = rows + stride, *row2 = row1 + stride, *row3 = row2 + stride;
    int32_t sum0 = starts[0], sum1 = starts[1], sum2 = starts[2], sum3 = starts[3];
    /* Loads and multiplications alternate, as they have a pipeline each; VMLADAV wants sums in registers of even numbers. */
    __asm volatile("wlstp.8 lr, %[count], 2f\n"
                   "1:\n\t"
                   "vldrb.8 q0, [%[values]], #16\n\t"
                   "vldrb.8 q1, [%[rows]], #16\n\t"
                   "vldrb.8 q2, [%[row1]], #16\n\t"
                   "vmladava.s8 %[sum0], q0, q1\n\t"
                   "vldrb.8 q3, [%[row2]], #16\n\t"
                   "vmladava.s8 %[sum1], q0, q2\n\t"
                   "vldrb.8 q1, [%[row3]], #16\n\t"
                   "vmladava.s8 %[sum2], q0, q3\n\t"
                   "vmladava.s8 %[sum3], q0, q1\n\t"
                   "letp lr, 1b\n"
                   "2:\n\t"
                   : [sum0] "+Te"(sum0), [sum1] "+Te"(sum1), [sum2] "+Te"(sum2), [sum3] "+Te"(sum3), [values] "+r"(values),
                     [rows] "+r"(rows), [row1] "+r"(row1), [row2] "+r"(row2), [row3] "+r"(row3)
                   : [count] "r"(count)
                   : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "lr", "memory");
    int32x4_t sums = vdupq_n_s32(sum0);
    sums = vsetq_lane_s32(sum1, sums, 1);
    sums = vsetq_lane_s32(sum2, sums, 2);
    return vsetq_lane_s32(sum3, sums, 3);
}

#endif

#endif /* HELIA_NN_SUPPORT_ROWS_S8_H */
