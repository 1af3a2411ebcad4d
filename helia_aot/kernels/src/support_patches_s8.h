/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Helium product of many short rows (patches of up to 48 bytes) with four channels, in two steps.
 *
 * First the sums: the weights of two or four channels stay in vectors while the rows pass by, so a vector of a row is loaded once
 * for them all. Each multiply-accumulate takes two cycles, in the second of which something else issues: a load, a store of two
 * finished sums, or the pair of moves that sets the next two to their start values. Then the output stage, the four channels of
 * one row in each vector, where the integer pipeline has no gap.
 */
#ifndef HELIA_NN_SUPPORT_PATCHES_S8_H
#define HELIA_NN_SUPPORT_PATCHES_S8_H

#include "support_mve_s8.h"

/* Rows of one product at most; even, since longer rows are taken in pairs. */
#define HELIA_NN_PATCHES 48

/*
 * Sums of rows by four channels. The loops store the sums of a row while they work on the next one: their first store is to the
 * row in front, and the output stage loads the row behind.
 */
typedef struct
{
    int32_t in_front[4];
    int32_t rows[HELIA_NN_PATCHES][4];
    int32_t behind[4];
} helia_nn_patch_sums;

#define HELIA_NN_ASM_SUM(sum, w, x) "vmladava.s8 %[" sum "], " w ", " x "\n\t"
#define HELIA_NN_ASM_NEXT(x) "vldrb.8 " x ", [%[x]], #16\n\t"
#define HELIA_NN_ASM_START(first, second) "mov %[" first "], %[t0]\n\tmov %[" second "], %[t1]\n\t"
#define HELIA_NN_ASM_KEEP(first, second) "strd %[" first "], %[" second "], [%[to]], #16\n\t"
#define HELIA_NN_ASM_TAIL_OF(w) "vpst\n\tvldrbt.8 " w ", "

/*
 * Rows of one vector by four channels, one row a round. `start` has the start values, `weights` the `depth` bytes of each channel;
 * rows are 16 bytes apart and may hold anything behind `depth`.
 */
static inline void helia_nn_sums_of_16(
    helia_nn_patch_sums *sums, const int32_t *start, const int8_t *weights, int32_t depth, const int8_t *x, int32_t count)
{
    int32_t s0, s1, s2, s3, t2, t3 = count;
    int32_t *to = sums->in_front + 2;
    const int32_t *t0 = start;
    const int8_t *t1 = weights;
    __asm volatile("vctp.8 %[depth]\n\t" HELIA_NN_ASM_TAIL_OF("q0") "[%[t1]]\n\t"
                   "add %[t1], %[depth]\n\t" HELIA_NN_ASM_TAIL_OF("q1") "[%[t1]]\n\t"
                   "add %[t1], %[depth]\n\t" HELIA_NN_ASM_TAIL_OF("q2") "[%[t1]]\n\t"
                   "add %[t1], %[depth]\n\t" HELIA_NN_ASM_TAIL_OF("q3") "[%[t1]]\n\t"
                   "dls lr, %[t3]\n\t"
                   "ldrd %[t2], %[t3], [%[t0], #8]\n\t"
                   "ldrd %[t0], %[t1], [%[t0]]\n\t"
                   "mov %[s2], %[t2]\n\t"
                   "mov %[s3], %[t3]\n"
                   "1:\n\t" HELIA_NN_ASM_NEXT("q4") HELIA_NN_ASM_START("s0", "s1") HELIA_NN_ASM_SUM("s0", "q0", "q4")
                   "strd %[s2], %[s3], [%[to]], #8\n\t" HELIA_NN_ASM_SUM("s1", "q1", "q4")
                   "mov %[s2], %[t2]\n\t"
                   "mov %[s3], %[t3]\n\t" HELIA_NN_ASM_SUM("s2", "q2", "q4")
                   "strd %[s0], %[s1], [%[to]], #8\n\t" HELIA_NN_ASM_SUM("s3", "q3", "q4")
                   "le lr, 1b\n\t"
                   "strd %[s2], %[s3], [%[to]]\n\t"
                   : [s0] "=&Te"(s0),
                     [s1] "=&Te"(s1),
                     [s2] "=&Te"(s2),
                     [s3] "=&Te"(s3),
                     [t0] "+r"(t0),
                     [t1] "+r"(t1),
                     [t2] "=&r"(t2),
                     [t3] "+r"(t3),
                     [x] "+r"(x),
                     [to] "+r"(to)
                   : [depth] "r"(depth)
                   : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "q4", "lr", "memory");
}

/*
 * What the loops over pairs of rows have in common: `load` brings the weights of two channels, `round` is two rows. It begins with
 * the first vector of its first row loaded, and all four sums at their start values.
 */
#define HELIA_NN_ASM_PAIRS(load, x, round)                                                                                    \
    "vctp.8 %[tail]\n\t" load "ldrd %[t0], %[t1], [%[t0]]\n\t"                                                                \
    "dls lr, %[pairs]\n\t" HELIA_NN_ASM_NEXT(x) HELIA_NN_ASM_START("s0", "s1") HELIA_NN_ASM_START("s2", "s3")                 \
    "1:\n\t" round "le lr, 1b\n\t" HELIA_NN_ASM_KEEP("s2", "s3")

/* One row of two vectors into the sums a0 and a1; those of the row in front, b0 and b1, are stored and started again. */
#define HELIA_NN_ASM_ROW_OF_32(a0, a1, b0, b1)                                                                                \
    HELIA_NN_ASM_SUM(a0, "q0", "q4")                                                                                          \
    HELIA_NN_ASM_KEEP(b0, b1)                                                                                                 \
    HELIA_NN_ASM_SUM(a1, "q2", "q4")                                                                                          \
    HELIA_NN_ASM_NEXT("q5")                                                                                                   \
    HELIA_NN_ASM_SUM(a0, "q1", "q5")                                                                                          \
    HELIA_NN_ASM_START(b0, b1)                                                                                                \
    HELIA_NN_ASM_SUM(a1, "q3", "q5")                                                                                          \
    HELIA_NN_ASM_NEXT("q4")

/* The same with three vectors, which take turns in the registers x and y. */
#define HELIA_NN_ASM_ROW_OF_48(a0, a1, b0, b1, x, y)                                                                          \
    HELIA_NN_ASM_SUM(a0, "q0", x)                                                                                             \
    HELIA_NN_ASM_KEEP(b0, b1)                                                                                                 \
    HELIA_NN_ASM_SUM(a1, "q3", x)                                                                                             \
    HELIA_NN_ASM_NEXT(y)                                                                                                      \
    HELIA_NN_ASM_SUM(a0, "q1", y)                                                                                             \
    HELIA_NN_ASM_START(b0, b1)                                                                                                \
    HELIA_NN_ASM_SUM(a1, "q4", y)                                                                                             \
    HELIA_NN_ASM_NEXT(x)                                                                                                      \
    HELIA_NN_ASM_SUM(a0, "q2", x)                                                                                             \
    HELIA_NN_ASM_SUM(a1, "q5", x)                                                                                             \
    HELIA_NN_ASM_NEXT(y)

/* Rows of 17 to 32 bytes, 32 bytes apart, by two channels: the sums go to the places `place` and `place + 1` of each row. */
static inline void helia_nn_sums_of_32(helia_nn_patch_sums *sums,
                                       int32_t place,
                                       const int32_t *start,
                                       const int8_t *weights,
                                       int32_t depth,
                                       const int8_t *x,
                                       int32_t count)
{
    int32_t s0, s1, s2, s3;
    int32_t *to = sums->in_front + place;
    const int32_t *t0 = start + place;
    const int8_t *t1 = weights + place * depth;
    __asm volatile(
        HELIA_NN_ASM_PAIRS("vldrb.8 q0, [%[t1]]\n\t" HELIA_NN_ASM_TAIL_OF("q1") "[%[t1], #16]\n\t"
                           "add %[t1], %[depth]\n\t"
                           "vldrb.8 q2, [%[t1]]\n\t" HELIA_NN_ASM_TAIL_OF("q3") "[%[t1], #16]\n\t",
                           "q4",
                           HELIA_NN_ASM_ROW_OF_32("s0", "s1", "s2", "s3") HELIA_NN_ASM_ROW_OF_32("s2", "s3", "s0", "s1"))
        : [s0] "=&Te"(s0), [s1] "=&Te"(s1), [s2] "=&Te"(s2), [s3] "=&Te"(s3), [t0] "+r"(t0), [t1] "+r"(t1), [x] "+r"(x), [to] "+r"(to)
        : [depth] "r"(depth), [tail] "r"(depth - 16), [pairs] "r"((count + 1) / 2)
        : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "q4", "q5", "lr", "memory");
}

/* The same for rows of 33 to 48 bytes, 48 bytes apart. */
static inline void helia_nn_sums_of_48(helia_nn_patch_sums *sums,
                                       int32_t place,
                                       const int32_t *start,
                                       const int8_t *weights,
                                       int32_t depth,
                                       const int8_t *x,
                                       int32_t count)
{
    int32_t s0, s1, s2, s3;
    int32_t *to = sums->in_front + place;
    const int32_t *t0 = start + place;
    const int8_t *t1 = weights + place * depth;
    __asm volatile(
        HELIA_NN_ASM_PAIRS("vldrb.8 q0, [%[t1]]\n\t"
                           "vldrb.8 q1, [%[t1], #16]\n\t" HELIA_NN_ASM_TAIL_OF("q2") "[%[t1], #32]\n\t"
                           "add %[t1], %[depth]\n\t"
                           "vldrb.8 q3, [%[t1]]\n\t"
                           "vldrb.8 q4, [%[t1], #16]\n\t" HELIA_NN_ASM_TAIL_OF("q5") "[%[t1], #32]\n\t",
                           "q6",
                           HELIA_NN_ASM_ROW_OF_48("s0", "s1", "s2", "s3", "q6", "q7")
                               HELIA_NN_ASM_ROW_OF_48("s2", "s3", "s0", "s1", "q7", "q6"))
        : [s0] "=&Te"(s0), [s1] "=&Te"(s1), [s2] "=&Te"(s2), [s3] "=&Te"(s3), [t0] "+r"(t0), [t1] "+r"(t1), [x] "+r"(x), [to] "+r"(to)
        : [depth] "r"(depth), [tail] "r"(depth - 32), [pairs] "r"((count + 1) / 2)
        : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "lr", "memory");
}

/* Output stage of `count` rows, whose outputs are `step` bytes apart, for shifts to the right by 1 or more. */
static inline void helia_nn_patch_outputs(const helia_nn_patch_sums *sums,
                                          const helia_nn_output_stage *stage,
                                          int32x4_t multiplier,
                                          int32x4_t shift,
                                          int32_t count,
                                          int8_t *output,
                                          int32_t step)
{
    const int32_t *from = sums->rows[0];
    int32x4_t a, b;
    /* One vector is shifted, moved by the offset and clamped while the next one is scaled. */
    __asm volatile("vldrw.32 %q[a], [%[from]], #16\n\t" HELIA_NN_ASM_SCALE("%q[a]", "%q[multiplier]")
                       HELIA_NN_ASM_AWAY("%q[a]", "%[one]") "dls lr, %[count]\n"
                   "1:\n\t"
                   "vrshl.s32 %q[b], %q[a], %q[shift]\n\t"
                   "vldrw.32 %q[a], [%[from]], #16\n\t" HELIA_NN_ASM_ADD("%q[b]", "%[offset]")
                       HELIA_NN_ASM_SCALE("%q[a]", "%q[multiplier]") HELIA_NN_ASM_CLAMP_LOW("%q[b]", "%q[min]")
                           HELIA_NN_ASM_AWAY("%q[a]", "%[one]") HELIA_NN_ASM_CLAMP_HIGH("%q[b]", "%q[max]")
                   "vstrb.32 %q[b], [%[output]]\n\t"
                   "add %[output], %[step]\n\t"
                   "le lr, 1b\n\t"
                   : [a] "=&w"(a), [b] "=&w"(b), [from] "+r"(from), [output] "+l"(output)
                   : [multiplier] "w"(multiplier),
                     [shift] "w"(shift),
                     [min] "w"(vdupq_n_s32(stage->activation.min)),
                     [max] "w"(vdupq_n_s32(stage->activation.max)),
                     [offset] "r"(stage->output_offset),
                     [one] "r"(1),
                     [count] "r"(count),
                     [step] "r"(step)
                   : "lr", "memory");
}

/* The same for all shifts. */
static HELIA_NN_COLD void helia_nn_patch_outputs_any_shift(const helia_nn_patch_sums *sums,
                                                           const helia_nn_output_stage *stage,
                                                           int32x4_t multiplier,
                                                           int32x4_t shift,
                                                           int32_t count,
                                                           int8_t *output,
                                                           int32_t step)
{
    for (int32_t i = 0; i < count; i++, output += step)
    {
        const int32x4_t scaled = helia_nn_requantize_s32x4(vldrwq_s32(sums->rows[i]), multiplier, shift);
        const int32x4_t moved = vaddq_n_s32(scaled, stage->output_offset);
        vstrbq_s32(output, helia_nn_clamp_s32x4(moved, stage->activation.min, stage->activation.max));
    }
}

/* Start values of four channels where they are not folded: bias and input offset times the sum of the weights. */
static HELIA_NN_COLD void helia_nn_patch_starts(
    const helia_nn_output_stage *stage, int32_t channel, const int8_t *weights, int32_t depth, int32_t start[4])
{
    for (int32_t i = 0; i < 4; i++)
    {
        int32_t sum = 0;
        for (int32_t k = 0; k < depth; k++)
        {
            sum += *weights++;
        }
        start[i] = (stage->bias != NULL ? stage->bias[channel + i] : 0) + stage->input_offset * sum;
    }
}

/*
 * `count` (1 to HELIA_NN_PATCHES) rows of `depth` bytes (1 to 48) by a multiple of four channels. The rows lie `depth` rounded up to whole
 * vectors apart; up to 16 bytes behind an even number of rows are read, whatever they hold.
 */
static inline void helia_nn_multiply_patches(const helia_nn_output_stage *stage,
                                             const int8_t *rows,
                                             int32_t count,
                                             const int8_t *weights,
                                             int32_t channels,
                                             int32_t depth,
                                             int8_t *output)
{
    helia_nn_patch_sums sums;
    for (int32_t channel = 0; channel < channels; channel += 4, weights += 4 * depth)
    {
        int32_t own_start[4];
        const int32_t *start = own_start;
        if (stage->sums != NULL)
        {
            start = stage->sums + channel;
        }
        else
        {
            helia_nn_patch_starts(stage, channel, weights, depth, own_start);
        }
        if (depth <= HELIA_NN_LANES)
        {
            helia_nn_sums_of_16(&sums, start, weights, depth, rows, count);
        }
        else if (depth <= 2 * HELIA_NN_LANES)
        {
            helia_nn_sums_of_32(&sums, 0, start, weights, depth, rows, count);
            helia_nn_sums_of_32(&sums, 2, start, weights, depth, rows, count);
        }
        else
        {
            helia_nn_sums_of_48(&sums, 0, start, weights, depth, rows, count);
            helia_nn_sums_of_48(&sums, 2, start, weights, depth, rows, count);
        }
        const int32x4_t multiplier = vldrwq_s32(stage->multiplier + channel);
        const int32x4_t shift = vldrwq_s32(stage->shift + channel);
        if (stage->shifts_right)
        {
            helia_nn_patch_outputs(&sums, stage, multiplier, shift, count, output + channel, channels);
        }
        else
        {
            helia_nn_patch_outputs_any_shift(&sums, stage, multiplier, shift, count, output + channel, channels);
        }
    }
}

#endif /* HELIA_NN_SUPPORT_PATCHES_S8_H */
