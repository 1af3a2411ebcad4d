/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of 3x3 depthwise outputs on Helium, 16 lanes at a time.
 */
#ifndef HELIA_NN_SUPPORT_DEPTHWISE_3X3_S8_H
#define HELIA_NN_SUPPORT_DEPTHWISE_3X3_S8_H

#include "support_depthwise_s8.h"

#if defined(HELIA_NN_MVE)

/* The nine 16-bit products of 8 lanes, summed. */
typedef struct
{
    int16x8_t low;     /* The sum modulo 2^16. */
    int16x8_t quarter; /* A quarter of the sum without its first two products, rounded down: less by at most 3/4 + 3/4. */
} helia_nn_sum_of_nine;

/* Gives two 32-bit vectors, even and odd lanes of `sum`.
 *
 * Nine products need 19 bits. Widening each pair of products to 32 bits would cost four instructions a pair; instead the
 * low 16 bits are summed with wrap-around, and the high ones follow from an estimate. With S the sum and u its low 16 bits as
 * an unsigned number, (S - u) / 2^16 is a whole number. quarter * 4 differs from S by the first two products and the rounding
 * of the halving additions, less than 2^15 in all, so rounding (quarter * 4 - u) / 2^16 to nearest gives it. */
static inline int32x4x2_t helia_nn_widen_sum_of_nine(helia_nn_sum_of_nine sum)
{
    const int16x8_t low_quarter = vreinterpretq_s16_u16(vshrq_n_u16(vreinterpretq_u16_s16(sum.low), 2));
    const int16x8_t high = vrshrq_n_s16(vhsubq_s16(sum.quarter, low_quarter), 13);
    const int16x8_t even = vmovntq_s32(sum.low, vreinterpretq_s32_s16(high));
    const int16x8_t odd = vshrnbq_n_s32(high, vreinterpretq_s32_s16(sum.low), 16);
    return (int32x4x2_t){{vreinterpretq_s32_s16(even), vreinterpretq_s32_s16(odd)}};
}

#define HELIA_NN_PRODUCT(half, tap) vmull##half##q_int_s8(vldrbq_s8(x##tap), vldrbq_s8(w + 16 * tap))

/*
 * Computes `count` vectors of a row; as helia_nn_depthwise_row_quick() for a 3x3 filter.
 *
 * tap_step, step and output_step are parameters of their own so that callers can make them constants.
 */
static inline void helia_nn_depthwise_row_3x3(const helia_nn_depthwise_row *row, int32_t tap_step, int32_t step, int32_t output_step)
{
    const helia_nn_lanes *lanes = row->lanes;
    const int8_t *row0 = helia_nn_row_ring_row(row->ring, 0) + row->row_offset;
    const int8_t *row1 = helia_nn_row_ring_row(row->ring, 1) + row->row_offset;
    const int8_t *row2 = helia_nn_row_ring_row(row->ring, 2) + row->row_offset;
    int8_t *output = row->output;
    const int8_t *const w = lanes->weights;
#define TAP(row_pointer, tap, column)                                          \
    const int8x16_t x##tap = vldrbq_s8(row_pointer + (column) * tap_step);     \
    const int8x16_t w##tap = vldrbq_s8(w + 16 * (tap));                        \
    const int16x8_t even##tap = vmullbq_int_s8(x##tap, w##tap);                \
    const int16x8_t odd##tap = vmulltq_int_s8(x##tap, w##tap)
    for (int32_t i = row->count; i > 0; i--)
    {
        helia_nn_sum_of_nine even, odd;
        TAP(row0, 2, 2);
        TAP(row1, 3, 0);
        int16x8_t even_a = vaddq_s16(even2, even3);
        int16x8_t odd_a = vaddq_s16(odd2, odd3);
        TAP(row1, 4, 1);
        TAP(row1, 5, 2);
        int16x8_t even_b = vaddq_s16(even4, even5);
        int16x8_t odd_b = vaddq_s16(odd4, odd5);
        even.low = vaddq_s16(even_a, even_b);
        odd.low = vaddq_s16(odd_a, odd_b);
        even.quarter = vhaddq_s16(even_a, even_b);
        odd.quarter = vhaddq_s16(odd_a, odd_b);
        TAP(row2, 6, 0);
        TAP(row2, 7, 1);
        even_a = vaddq_s16(even6, even7);
        odd_a = vaddq_s16(odd6, odd7);
        even.low = vaddq_s16(even.low, even_a);
        odd.low = vaddq_s16(odd.low, odd_a);
        TAP(row2, 8, 2);
        even.low = vaddq_s16(even.low, even8);
        odd.low = vaddq_s16(odd.low, odd8);
        even.quarter = vhaddq_s16(even.quarter, vhaddq_s16(even_a, even8));
        odd.quarter = vhaddq_s16(odd.quarter, vhaddq_s16(odd_a, odd8));
        TAP(row0, 0, 0);
        even.low = vaddq_s16(even.low, even0);
        odd.low = vaddq_s16(odd.low, odd0);
        TAP(row0, 1, 1);
        even.low = vaddq_s16(even.low, even1);
        odd.low = vaddq_s16(odd.low, odd1);
        row0 += step;
        row1 += step;
        row2 += step;

        const int32x4x2_t even_sums = helia_nn_widen_sum_of_nine(even);
        const int32x4x2_t odd_sums = helia_nn_widen_sum_of_nine(odd);
        const int32x4_t lanes0 =
            helia_nn_requantize_right_s32x4(vaddq_s32(even_sums.val[0], vldrwq_s32(lanes->start)),
                                            vldrwq_s32(lanes->multiplier), vldrwq_s32(lanes->shift));
        const int32x4_t lanes2 =
            helia_nn_requantize_right_s32x4(vaddq_s32(even_sums.val[1], vldrwq_s32(lanes->start + 4)),
                                            vldrwq_s32(lanes->multiplier + 4), vldrwq_s32(lanes->shift + 4));
        const int32x4_t lanes1 =
            helia_nn_requantize_right_s32x4(vaddq_s32(odd_sums.val[0], vldrwq_s32(lanes->start + 8)),
                                            vldrwq_s32(lanes->multiplier + 8), vldrwq_s32(lanes->shift + 8));
        const int32x4_t lanes3 =
            helia_nn_requantize_right_s32x4(vaddq_s32(odd_sums.val[1], vldrwq_s32(lanes->start + 12)),
                                            vldrwq_s32(lanes->multiplier + 12), vldrwq_s32(lanes->shift + 12));
        vstrbq_p_s8(output,
                    helia_nn_narrow_outputs(lanes0, lanes2, lanes1, lanes3, row->output_offset, row->activation),
                    row->stored);
        output += output_step;
    }
#undef TAP
}

#endif

#endif /* HELIA_NN_SUPPORT_DEPTHWISE_3X3_S8_H */
