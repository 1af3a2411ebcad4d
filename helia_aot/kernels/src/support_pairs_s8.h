/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Helium product of pairs of patches of 33 to 48 bytes with many channels, in two steps.
 *
 * First the sums: both patches stay in six vectors while the weights of one channel after the other pass by, and each
 * multiply-accumulate leaves one cycle in which something else issues. Then the output stage, four channels of both patches at a
 * time: a vector of multipliers or shifts serves both.
 */
#ifndef HELIA_NN_SUPPORT_PAIRS_S8_H
#define HELIA_NN_SUPPORT_PAIRS_S8_H

#include "support_mve_s8.h"

/* Channels of one call at most. */
#define HELIA_NN_PAIR_CHANNELS 64

/*
 * All that the assembly needs to know. Of the common block it uses the limits, the offset, `blocks` as the number of pairs, `x0`,
 * `x1`, `out0` and `out1`, which are moved on to the next pair, and `next_multiplier`, `next_shift` and `next_weights`, which are
 * those of the first channel.
 */
typedef struct
{
    helia_nn_block common;
    const int32_t *start; /* Start values of all channels. */
    int32_t rest;         /* Depth less 32. */
    int32_t twos;         /* Channels / 2, less 1. */
    int32_t fours;        /* Channels / 4, less 1. */
    int32_t step;         /* Bytes from the patches of a pair to those of the next. */
    int32_t output_step;  /* The same for outputs. */
    int32_t in_front[2];  /* Where the first store of the loop goes. */
    int32_t sums[HELIA_NN_PAIR_CHANNELS][2]; /* Of both patches by channel. */
} helia_nn_pair_block;

_Static_assert(offsetof(helia_nn_pair_block, start) == 152, "used in assembly");
_Static_assert(offsetof(helia_nn_pair_block, rest) == 156, "used in assembly");
_Static_assert(offsetof(helia_nn_pair_block, twos) == 160, "used in assembly");
_Static_assert(offsetof(helia_nn_pair_block, fours) == 164, "used in assembly");
_Static_assert(offsetof(helia_nn_pair_block, step) == 168, "used in assembly");
_Static_assert(offsetof(helia_nn_pair_block, output_step) == 172, "used in assembly");
_Static_assert(offsetof(helia_nn_pair_block, in_front) == 176, "used in assembly");
_Static_assert(offsetof(helia_nn_pair_block, sums) == 184, "used in assembly");

/* Fills what is the same for all pairs; `channels` is a multiple of 4, the sums of the output stage are the start values. */
static inline void helia_nn_prepare_pairs(helia_nn_pair_block *block,
                                          const helia_nn_output_stage *stage,
                                          const int8_t *weights,
                                          int32_t channels,
                                          int32_t depth)
{
    helia_nn_prepare_block(&block->common, stage, depth);
    block->common.next_multiplier = stage->multiplier;
    block->common.next_shift = stage->shift;
    block->common.next_weights = weights;
    block->start = stage->sums;
    block->rest = depth - 2 * HELIA_NN_LANES;
    block->twos = (int32_t)((uint32_t)channels / 2 - 1);
    block->fours = (int32_t)((uint32_t)channels / 4 - 1);
}

#define HELIA_NN_ASM_BOTH(sum, n, x, w) "vmladava.s8 %[" sum n "], " x ", " w "\n\t"
#define HELIA_NN_ASM_WEIGHTS(w, step) "vldrb.8 " w ", [%[w]]" step "\n\t"

/*
 * One channel: patches in q0 to q2 and q3 to q5, the first two vectors of weights in w0 and w1, sums in a0 and a1. Stores those of
 * the channel in front, b0 and b1. `restart` and `mov` set them to the next start value, `next` loads the next weights.
 *
 * The two 16-bit instructions, a move and an addition, issue together.
 */
#define HELIA_NN_ASM_PAIR_CHANNEL(a, b, w0, w1, restart, mov, next_0, next_1)                                                 \
    HELIA_NN_ASM_BOTH(a, "0", "q0", w0)                                                                                       \
    "strd %[" b "0], %[" b "1], [%[to]], #8\n\t"                                                                              \
    HELIA_NN_ASM_BOTH(a, "1", "q3", w0)                                                                                       \
    restart                                                                                                                   \
    HELIA_NN_ASM_BOTH(a, "0", "q1", w1)                                                                                       \
    mov "add %[w], %[rest]\n\t"                                                                                               \
    HELIA_NN_ASM_BOTH(a, "1", "q4", w1)                                                                                       \
    HELIA_NN_ASM_WEIGHTS(w0, ", #16")                                                                                         \
    HELIA_NN_ASM_BOTH(a, "0", "q2", w0)                                                                                       \
    next_0                                                                                                                    \
    HELIA_NN_ASM_BOTH(a, "1", "q5", w0)                                                                                       \
    next_1

#define HELIA_NN_ASM_PAIR_CHANNEL_AND_NEXT(a, b, w0, w1)                                                                      \
    HELIA_NN_ASM_PAIR_CHANNEL(a,                                                                                              \
                              b,                                                                                              \
                              w0,                                                                                             \
                              w1,                                                                                             \
                              "ldr %[" b "0], [%[start]], #4\n\t",                                                            \
                              "mov %[" b "1], %[" b "0]\n\t",                                                                 \
                              HELIA_NN_ASM_WEIGHTS(w1, ", #16"),                                                              \
                              HELIA_NN_ASM_WEIGHTS(w0, ""))

#define HELIA_NN_ASM_PAIR_LAST_CHANNEL(a, b, w0, w1) HELIA_NN_ASM_PAIR_CHANNEL(a, b, w0, w1, "", "", "", "")

/*
 * The sums of the next pair of patches.
 *
 * The third vector of a patch or of weights ends where those end, so nothing behind is read. In a patch, its lanes that belong to
 * the second vector are 0.
 */
static inline void helia_nn_sums_of_pair(helia_nn_pair_block *block)
{
    int32_t a0, a1, b0, b1, rest;
    const int32_t *start;
    const int8_t *w;
    int32_t *to;
    __asm volatile("ldrd %[start], %[w], [%[block], #112]\n\t" /* patches */
                   "ldrd %[b0], %[rest], [%[block], #152]\n\t" /* start values */
                   "vldrb.8 q0, [%[start]]\n\t"
                   "ldr %[to], [%[block], #168]\n\t"
                   "vldrb.8 q3, [%[w]]\n\t"
                   "rsb %[b1], %[rest], #16\n\t"
                   "vldrb.8 q1, [%[start], #16]\n\t"
                   "add %[a0], %[start], %[to]\n\t"
                   "vldrb.8 q4, [%[w], #16]\n\t"
                   "add %[a1], %[w], %[to]\n\t"
                   "vctp.8 %[b1]\n\t"
                   "vpnot\n\t"
                   "add %[start], %[rest]\n\t"
                   "add %[w], %[rest]\n\t"
                   "strd %[a0], %[a1], [%[block], #112]\n\t"
                   "vpstt\n\t"
                   "vldrbt.8 q2, [%[start], #16]\n\t"
                   "vldrbt.8 q5, [%[w], #16]\n\t"
                   "ldr %[w], [%[block], #148]\n\t"
                   "ldr %[to], [%[block], #160]\n\t"
                   "mov %[start], %[b0]\n\t" HELIA_NN_ASM_WEIGHTS("q6", ", #16")
                   "dls lr, %[to]\n\t"
                   "ldr %[a0], [%[start]], #4\n\t" HELIA_NN_ASM_WEIGHTS("q7", "")
                   "add %[to], %[block], #176\n\t"
                   "mov %[a1], %[a0]\n"
                   "1:\n\t" HELIA_NN_ASM_PAIR_CHANNEL_AND_NEXT("a", "b", "q6", "q7")
                       HELIA_NN_ASM_PAIR_CHANNEL_AND_NEXT("b", "a", "q7", "q6")
                   "le lr, 1b\n\t" HELIA_NN_ASM_PAIR_CHANNEL_AND_NEXT("a", "b", "q6", "q7")
                       HELIA_NN_ASM_PAIR_LAST_CHANNEL("b", "a", "q7", "q6")
                   "strd %[b0], %[b1], [%[to]]\n\t"
                   : [a0] "=&Te"(a0),
                     [a1] "=&Te"(a1),
                     [b0] "=&Te"(b0),
                     [b1] "=&Te"(b1),
                     [rest] "=&r"(rest),
                     [start] "=&r"(start),
                     [w] "=&r"(w),
                     [to] "=&r"(to)
                   : [block] "r"(block)
                   : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "lr", "memory");
}

#define HELIA_NN_ASM_PAIR_MULTIPLIERS "vldrw.32 q4, [%[multiplier]], #16\n\t"
#define HELIA_NN_ASM_PAIR_SHIFTS "vldrw.32 q5, [%[shift]], #16\n\t"
#define HELIA_NN_ASM_PAIR_SHIFT(to, q) "vrshl.s32 " to ", " q ", q5\n\t"

/* Output stage of the pair for shifts to the right by 1 or more: while four channels are clamped, the next four are scaled. */
static inline void helia_nn_outputs_of_pair(helia_nn_pair_block *block)
{
    int32_t offset, one;
    const int32_t *from, *multiplier, *shift;
    int8_t *out0, *out1;
    __asm volatile("ldrd %[multiplier], %[shift], [%[block], #132]\n\t"
                   "add %[from], %[block], #184\n\t"
                   "ldr lr, [%[block], #164]\n\t"
                   "vld20.32 {q0, q1}, [%[from]]\n\t"
                   "ldrd %[offset], %[one], [%[block], #80]\n\t" HELIA_NN_ASM_PAIR_MULTIPLIERS
                   "vld21.32 {q0, q1}, [%[from]]!\n\t"
                   "ldrd %[out0], %[out1], [%[block], #120]\n\t" HELIA_NN_ASM_SCALE("q0", "q4") HELIA_NN_ASM_PAIR_SHIFTS
                       HELIA_NN_ASM_SCALE("q1", "q4")
                   "vldrw.32 q6, [%[block], #48]\n\t" HELIA_NN_ASM_AWAY("q0", "%[one]")
                   "vldrw.32 q7, [%[block], #64]\n\t" HELIA_NN_ASM_AWAY("q1", "%[one]")
                   "wls lr, lr, 2f\n"
                   "1:\n\t" HELIA_NN_ASM_PAIR_SHIFT("q2", "q0") HELIA_NN_ASM_PAIR_MULTIPLIERS
                       HELIA_NN_ASM_PAIR_SHIFT("q3", "q1")
                   "vld20.32 {q0, q1}, [%[from]]\n\t" HELIA_NN_ASM_ADD("q2", "%[offset]")
                   "vld21.32 {q0, q1}, [%[from]]!\n\t" HELIA_NN_ASM_ADD("q3", "%[offset]") HELIA_NN_ASM_PAIR_SHIFTS
                       HELIA_NN_ASM_CLAMP_LOW("q2", "q6") HELIA_NN_ASM_SCALE("q0", "q4")
                           HELIA_NN_ASM_CLAMP_LOW("q3", "q6") HELIA_NN_ASM_SCALE("q1", "q4")
                               HELIA_NN_ASM_CLAMP_HIGH("q2", "q7") HELIA_NN_ASM_AWAY("q0", "%[one]")
                                   HELIA_NN_ASM_CLAMP_HIGH("q3", "q7")
                   "vstrb.32 q2, [%[out0]], #4\n\t" HELIA_NN_ASM_AWAY("q1", "%[one]")
                   "vstrb.32 q3, [%[out1]], #4\n\t"
                   "le lr, 1b\n"
                   "2:\n\t" HELIA_NN_ASM_PAIR_SHIFT("q2", "q0")
                   "ldrd %[multiplier], %[shift], [%[block], #120]\n\t" HELIA_NN_ASM_PAIR_SHIFT("q3", "q1")
                   "ldr %[from], [%[block], #172]\n\t" HELIA_NN_ASM_ADD("q2", "%[offset]") HELIA_NN_ASM_ADD("q3", "%[offset]")
                   "add %[multiplier], %[from]\n\t" HELIA_NN_ASM_CLAMP_LOW("q2", "q6")
                   "add %[shift], %[from]\n\t" HELIA_NN_ASM_CLAMP_LOW("q3", "q6") HELIA_NN_ASM_CLAMP_HIGH("q2", "q7")
                   "strd %[multiplier], %[shift], [%[block], #120]\n\t" HELIA_NN_ASM_CLAMP_HIGH("q3", "q7")
                   "vstrb.32 q2, [%[out0]]\n\t"
                   "vstrb.32 q3, [%[out1]]\n\t"
                   : [offset] "=&r"(offset),
                     [one] "=&r"(one),
                     [from] "=&r"(from),
                     [multiplier] "=&r"(multiplier),
                     [shift] "=&r"(shift),
                     [out0] "=&l"(out0),
                     [out1] "=&l"(out1)
                   : [block] "r"(block)
                   : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "lr", "memory");
}

/* The same for all shifts. */
static HELIA_NN_COLD void helia_nn_outputs_of_pair_any_shift(helia_nn_pair_block *block)
{
    const helia_nn_block *common = &block->common;
    for (int32_t i = 0; i <= block->fours; i++)
    {
        const int32x4x2_t both = vld2q_s32(block->sums[4 * i]);
        const int32x4_t multiplier = vldrwq_s32(common->next_multiplier + 4 * i);
        const int32x4_t shift = vldrwq_s32(common->next_shift + 4 * i);
        for (int32_t k = 0; k < 2; k++)
        {
            const int32x4_t scaled = helia_nn_requantize_s32x4(both.val[k], multiplier, shift);
            const int32x4_t moved = vaddq_n_s32(scaled, common->output_offset);
            vstrbq_s32((k == 0 ? common->out0 : common->out1) + 4 * i,
                       helia_nn_clamp_s32x4(moved, common->min[0], common->max[0]));
        }
    }
    block->common.out0 += block->output_step;
    block->common.out1 += block->output_step;
}

/*
 * `blocks` pairs of patches, whose first ones are at `x0` and `x1`, to `out0` and `out1`. The patches of a pair may be one, and
 * then its outputs are one too.
 */
static __attribute__((noinline)) void helia_nn_multiply_pairs(helia_nn_pair_block *block, bool shifts_right)
{
    for (; block->common.blocks > 0; block->common.blocks--)
    {
        helia_nn_sums_of_pair(block);
        if (shifts_right)
        {
            helia_nn_outputs_of_pair(block);
        }
        else
        {
            helia_nn_outputs_of_pair_any_shift(block);
        }
    }
}

#endif /* HELIA_NN_SUPPORT_PAIRS_S8_H */
