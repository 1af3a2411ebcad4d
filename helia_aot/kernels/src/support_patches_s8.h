/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Helium product of many short rows (patches of up to 32 bytes) with four channels, in two steps.
 *
 * First the sums: the weights of two or four channels stay in vectors while the rows pass by, so a vector of a row is loaded once
 * for them all. Each multiply-accumulate takes two cycles, in the second of which something else issues: a load, a store of two
 * finished sums, or the pair of moves that sets the next two to their start values. Then the output stage, the four channels of
 * one row in each vector, where the integer pipeline has no gap.
 */
#ifndef HELIA_NN_SUPPORT_PATCHES_S8_H
#define HELIA_NN_SUPPORT_PATCHES_S8_H

#include "support_mve_s8.h"

/* Rows of one product at most; even, since rows of two vectors are taken in pairs. */
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
    int32_t s0 = depth, s1, s2, s3, t2, t3 = count;
    int32_t *to = sums->in_front + 2;
    const int32_t *t0 = start;
    const int8_t *t1 = weights;
    __asm volatile("vctp.8 %[s0]\n\t" HELIA_NN_ASM_TAIL_OF("q0") "[%[t1]]\n\t"
                   "add %[t1], %[s0]\n\t" HELIA_NN_ASM_TAIL_OF("q1") "[%[t1]]\n\t"
                   "add %[t1], %[s0]\n\t" HELIA_NN_ASM_TAIL_OF("q2") "[%[t1]]\n\t"
                   "add %[t1], %[s0]\n\t" HELIA_NN_ASM_TAIL_OF("q3") "[%[t1]]\n\t"
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
                   : [s0] "+Te"(s0),
                     [s1] "=&Te"(s1),
                     [s2] "=&Te"(s2),
                     [s3] "=&Te"(s3),
                     [t0] "+r"(t0),
                     [t1] "+r"(t1),
                     [t2] "=&r"(t2),
                     [t3] "+r"(t3),
                     [x] "+r"(x),
                     [to] "+r"(to)
                   :
                   : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "q4", "lr", "memory");
}

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

/* Rows of 17 to 32 bytes, 32 bytes apart, by two channels: the sums go to the places `place` and `place + 1` of each row. */
static inline void helia_nn_sums_of_32(helia_nn_patch_sums *sums,
                                       int32_t place,
                                       const int32_t *start,
                                       const int8_t *weights,
                                       int32_t depth,
                                       const int8_t *x,
                                       int32_t count)
{
    int32_t s0 = depth - 16, s1 = (int32_t)((uint32_t)(count + 1) / 2), s2, s3;
    int32_t *to = sums->in_front + place;
    const int32_t *t0 = start + place;
    const int8_t *t1 = weights + place * depth;
    __asm volatile(
        "vctp.8 %[s0]\n\t"
        "vldrb.8 q0, [%[t1]]\n\t" HELIA_NN_ASM_TAIL_OF("q1") "[%[t1], #16]\n\t"
        "add %[t1], %[depth]\n\t"
        "vldrb.8 q2, [%[t1]]\n\t" HELIA_NN_ASM_TAIL_OF("q3") "[%[t1], #16]\n\t"
        "ldrd %[t0], %[t1], [%[t0]]\n\t"
        "dls lr, %[s1]\n\t" HELIA_NN_ASM_NEXT("q4") HELIA_NN_ASM_START("s0", "s1") HELIA_NN_ASM_START("s2", "s3")
        "1:\n\t" HELIA_NN_ASM_ROW_OF_32("s0", "s1", "s2", "s3") HELIA_NN_ASM_ROW_OF_32("s2", "s3", "s0", "s1")
        "le lr, 1b\n\t" HELIA_NN_ASM_KEEP("s2", "s3")
        : [s0] "+Te"(s0),
          [s1] "+Te"(s1),
          [s2] "=&Te"(s2),
          [s3] "=&Te"(s3),
          [t0] "+r"(t0),
          [t1] "+r"(t1),
          [x] "+r"(x),
          [to] "+r"(to)
        : [depth] "r"(depth)
        : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "q4", "q5", "lr", "memory");
}

/* Where outputs go: down the columns of an image, one column after the other. */
typedef struct
{
    int8_t *column; /* First output of the current column. */
    int32_t rows;
    int32_t row_step; /* Bytes from an output to the one below. */
    int32_t column_step;
    int32_t row; /* Of the next output. */
} helia_nn_patch_places;

/* The output stage of four channels. */
typedef struct
{
    int32x4_t multiplier;
    int32x4_t shift;
    int32x4_t min;
    int32x4_t max;
    int32_t offset;
} helia_nn_patch_stage;

/* Output stage of `count` (1 or more) rows of sums, whose outputs are `step` bytes apart, for shifts to the right by 1 or more. */
static inline void
helia_nn_patch_outputs(const int32_t *from, helia_nn_patch_stage stage, int32_t count, int8_t *output, int32_t step)
{
    int32x4_t a, b;
    /* One vector is shifted, moved by the offset and clamped while the next one is scaled. */
    __asm volatile("vldrw.32 %q[a], [%[from]], #16\n\t"
                   "dls lr, %[count]\n\t" HELIA_NN_ASM_SCALE("%q[a]", "%q[multiplier]") HELIA_NN_ASM_AWAY("%q[a]", "%[one]")
                   "1:\n\t"
                   "vrshl.s32 %q[b], %q[a], %q[shift]\n\t"
                   "vldrw.32 %q[a], [%[from]], #16\n\t" HELIA_NN_ASM_ADD("%q[b]", "%[offset]")
                       HELIA_NN_ASM_SCALE("%q[a]", "%q[multiplier]") HELIA_NN_ASM_CLAMP_LOW("%q[b]", "%q[min]")
                           HELIA_NN_ASM_AWAY("%q[a]", "%[one]") HELIA_NN_ASM_CLAMP_HIGH("%q[b]", "%q[max]")
                   "vstrb.32 %q[b], [%[output]]\n\t"
                   "add %[output], %[step]\n\t"
                   "le lr, 1b\n\t"
                   : [a] "=&w"(a), [b] "=&w"(b), [from] "+r"(from), [output] "+l"(output)
                   : [multiplier] "w"(stage.multiplier),
                     [shift] "w"(stage.shift),
                     [min] "w"(stage.min),
                     [max] "w"(stage.max),
                     [offset] "r"(stage.offset),
                     [one] "r"(1),
                     [count] "r"(count),
                     [step] "r"(step)
                   : "lr", "memory");
}

/* The same for all shifts. */
static HELIA_NN_COLD void helia_nn_patch_outputs_any_shift(
    const int32_t *from, helia_nn_patch_stage stage, int32_t count, int8_t *output, int32_t step)
{
    for (int32_t i = 0; i < count; i++, from += 4, output += step)
    {
        const int32x4_t scaled = helia_nn_requantize_s32x4(vldrwq_s32(from), stage.multiplier, stage.shift);
        vstrbq_s32(output, vminq_s32(vmaxq_s32(vaddq_n_s32(scaled, stage.offset), stage.min), stage.max));
    }
}

/* The sums of all patches by four channels. */
static inline void helia_nn_sums_of_patches(
    helia_nn_patch_sums *sums, const int32_t *start, const int8_t *weights, int32_t depth, const int8_t *patches, int32_t count)
{
    if (depth <= HELIA_NN_LANES)
    {
        helia_nn_sums_of_16(sums, start, weights, depth, patches, count);
    }
    else
    {
        helia_nn_sums_of_32(sums, 0, start, weights, depth, patches, count);
        helia_nn_sums_of_32(sums, 2, start, weights, depth, patches, count);
    }
}

/*
 * `count` (1 to HELIA_NN_PATCHES) patches of `depth` bytes (1 to 32) by `channels` channels (a multiple of 4), whose start values
 * are the sums of the output stage; moves `places` on.
 *
 * The patches lie `depth` rounded up to whole vectors apart; up to 16 bytes behind an even number of them are read, whatever they
 * hold.
 */
static __attribute__((noinline)) void helia_nn_multiply_patches(const helia_nn_output_stage *stage,
                                                                const int8_t *patches,
                                                                int32_t count,
                                                                const int8_t *weights,
                                                                int32_t channels,
                                                                int32_t depth,
                                                                helia_nn_patch_places *places)
{
    helia_nn_patch_sums sums;
    int32_t row = 0, columns = 0;
    for (int32_t channel = 0; channel < channels; channel += 4, weights += 4 * depth)
    {
        helia_nn_sums_of_patches(&sums, stage->sums + channel, weights, depth, patches, count);
        const helia_nn_patch_stage four = {
            vldrwq_s32(stage->multiplier + channel),
            vldrwq_s32(stage->shift + channel),
            vdupq_n_s32(stage->activation.min),
            vdupq_n_s32(stage->activation.max),
            stage->output_offset,
        };
        const bool shifts_right = stage->shifts_right;
        const int32_t rows = places->rows, row_step = places->row_step;
        int8_t *column = places->column + channel;
        const int32_t *from = sums.rows[0];
        row = places->row;
        columns = 0;
        for (int32_t left = count, run; left > 0; left -= run, from += 4 * run)
        {
            run = helia_nn_min(left, rows - row);
            if (shifts_right)
            {
                helia_nn_patch_outputs(from, four, run, column + row * row_step, row_step);
            }
            else
            {
                helia_nn_patch_outputs_any_shift(from, four, run, column + row * row_step, row_step);
            }
            row += run;
            if (row == rows)
            {
                row = 0;
                columns++;
                column += places->column_step;
            }
        }
    }
    places->row = row;
    places->column += columns * places->column_step;
}

#endif /* HELIA_NN_SUPPORT_PATCHES_S8_H */
