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
    const int8_t *const row1 = rows + stride, *const row2 = row1 + stride, *const row3 = row2 + stride;
    int32_t sum0 = starts[0], sum1 = starts[1], sum2 = starts[2], sum3 = starts[3];
    for (int32_t i = 0; i < count; i += 16)
    {
        const mve_pred16_t valid = vctp8q((uint32_t)(count - i));
        const int8x16_t now = vldrbq_z_s8(values + i, valid);
        sum0 = vmladavaq_s8(sum0, now, vldrbq_z_s8(rows + i, valid));
        sum1 = vmladavaq_s8(sum1, now, vldrbq_z_s8(row1 + i, valid));
        sum2 = vmladavaq_s8(sum2, now, vldrbq_z_s8(row2 + i, valid));
        sum3 = vmladavaq_s8(sum3, now, vldrbq_z_s8(row3 + i, valid));
    }
    int32x4_t sums = vdupq_n_s32(sum0);
    sums = vsetq_lane_s32(sum1, sums, 1);
    sums = vsetq_lane_s32(sum2, sums, 2);
    return vsetq_lane_s32(sum3, sums, 3);
}

#endif

#endif /* HELIA_NN_SUPPORT_ROWS_S8_H */
