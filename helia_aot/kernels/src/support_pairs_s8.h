/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Helium loops over channels for two rows of up to 48 bytes whose weights need not end where a vector ends.
 *
 * Four channels make a block: two passes of two rows by two channels, then the output stage of both rows together. A vector of
 * weights serves both rows. The start values are added to the sums as a vector.
 */
#ifndef HELIA_NN_SUPPORT_PAIRS_S8_H
#define HELIA_NN_SUPPORT_PAIRS_S8_H

#include "support_mve_s8.h"

#define HELIA_NN_ASM_PAIR_NEW(sum, x, w) "vmladav.s8 %[" sum "], " x ", " w "\n\t"
#define HELIA_NN_ASM_PAIR_MAC(sum, x, w) "vmladava.s8 %[" sum "], " x ", " w "\n\t"
#define HELIA_NN_ASM_PAIR_WEIGHTS(q, w) "vldrb.8 " q ", [%[" w "]], #16\n\t"

/*
 * A pass over rows of two vectors that stay in q0, q1 and q2, q3. The weights of a block are 128 bytes at `w0`; `first` and
 * `second` are the places of the pass's channels, `first_end` and `second_end` those of their other halves.
 */
#define HELIA_NN_ASM_PAIR_PASS_2(first, first_end, second, second_end)                                                        \
    "vldrb.8 q4, [%[w0], #" first "]\n\t" HELIA_NN_ASM_PAIR_NEW("s0", "q0", "q4")                                            \
    "vldrb.8 q5, [%[w0], #" second "]\n\t" HELIA_NN_ASM_PAIR_NEW("s2", "q2", "q4")                                           \
    "vldrb.8 q4, [%[w0], #" first_end "]\n\t" HELIA_NN_ASM_PAIR_NEW("s1", "q0", "q5")                                        \
    HELIA_NN_ASM_PAIR_NEW("s3", "q2", "q5")                                                                                   \
    "vldrb.8 q5, [%[w0], #" second_end "]\n\t" HELIA_NN_ASM_PAIR_MAC("s0", "q1", "q4")                                       \
    HELIA_NN_ASM_PAIR_MAC("s2", "q3", "q4") HELIA_NN_ASM_PAIR_MAC("s1", "q1", "q5") HELIA_NN_ASM_PAIR_MAC("s3", "q3", "q5")

/* One vector of a longer row: `mac` multiplies, `second` is its part of the second row, `then` follows the weights' last use. */
#define HELIA_NN_ASM_PAIR_STEP(mac, second, then_w0, then_x)                                                                  \
    "vldrb.8 q1, " second "\n\t" mac("s0", "q0", "q4") HELIA_NN_ASM_PAIR_WEIGHTS("q5", "w1") mac("s2", "q1", "q4")           \
        then_w0 mac("s1", "q0", "q5") then_x mac("s3", "q1", "q5")
#define HELIA_NN_ASM_PAIR_INNER(mac, second, next)                                                                            \
    HELIA_NN_ASM_PAIR_STEP(mac, second, HELIA_NN_ASM_PAIR_WEIGHTS("q4", "w0"), "vldrb.8 q0, " next "\n\t")

/* A pass over rows of three vectors: the second row begins 64 bytes behind the first. */
#define HELIA_NN_ASM_PAIR_PASS_3                                                                                              \
    HELIA_NN_ASM_PAIR_WEIGHTS("q4", "w0")                                                                                     \
    "vldrb.8 q0, [%[x]]\n\t" HELIA_NN_ASM_PAIR_INNER(HELIA_NN_ASM_PAIR_NEW, "[%[x], #64]", "[%[x], #16]")                    \
    HELIA_NN_ASM_PAIR_INNER(HELIA_NN_ASM_PAIR_MAC, "[%[x], #80]", "[%[x], #32]") HELIA_NN_ASM_PAIR_STEP(                      \
        HELIA_NN_ASM_PAIR_MAC, "[%[x], #96]", "sub %[w0], %[overlap]\n\t", "sub %[w1], %[overlap]\n\t")

/* The loop: two passes, what `next` does to the pointers, and the output stage. */
#define HELIA_NN_ASM_PAIR_LOOP(pass_1, pass_2, next)                                                                          \
    "1:\n\t" pass_1 "vmov q6[2], q6[0], %[s0], %[s1]\n\t"                                                                   \
    "vmov q7[2], q7[0], %[s2], %[s3]\n\t" pass_2 "vldrw.32 q4, [%[start]], #16\n\t"                                         \
    "vmov q6[3], q6[1], %[s0], %[s1]\n\t" next "vmov q7[3], q7[1], %[s2], %[s3]\n\t"                                        \
    "ldrd %[s2], %[s3], [%[block], #132]\n\t" /* multipliers, shifts */                                                      \
    HELIA_NN_ASM_ADD("q6", "q4") HELIA_NN_ASM_ADD("q7", "q4")                                                                 \
    HELIA_NN_ASM_OUTPUT_2_IN("[%[s2]], #16", "[%[s3]], #16", "q4", "q5")                                                      \
    "vstrb.32 q6, [%[out0]], #4\n\t"                                                                                         \
    "strd %[s2], %[s3], [%[block], #132]\n\t"                                                                                \
    "vstrb.32 q7, [%[out1]], #4\n\t"                                                                                         \
    "le lr, 1b\n\t"

/*
 * Rows block->x0 and block->x1 of up to 32 bytes with `block->blocks` (1 or more) blocks of channels, into block->out0 and
 * block->out1. The `next_*` fields of the multipliers and shifts are those of the first channel. What a row lacks in 32 bytes is
 * 0; each channel has 32 bytes of weights, word-aligned.
 */
static inline void helia_nn_pair_of_32(helia_nn_block *block, const int32_t *start, const int8_t *weights)
{
    int32_t s0, s1, s2, s3;
    int8_t *out0 = block->out0, *out1 = block->out1;
    __asm volatile("ldrd %[s0], %[s1], [%[block], #112]\n\t"
                   "ldr %[s2], [%[block], #128]\n\t"
                   "vldrb.8 q0, [%[s0]]\n\t"
                   "vldrb.8 q1, [%[s0], #16]\n\t"
                   "vldrb.8 q2, [%[s1]]\n\t"
                   "vldrb.8 q3, [%[s1], #16]\n\t"
                   "dls lr, %[s2]\n" HELIA_NN_ASM_PAIR_LOOP(HELIA_NN_ASM_PAIR_PASS_2("0", "16", "64", "80"),
                                                            HELIA_NN_ASM_PAIR_PASS_2("32", "48", "96", "112"),
                                                            "adds %[w0], #128\n\t")
                   : [s0] "=&Te"(s0),
                     [s1] "=&Te"(s1),
                     [s2] "=&Te"(s2),
                     [s3] "=&Te"(s3),
                     [w0] "+l"(weights),
                     [start] "+r"(start),
                     [out0] "+l"(out0),
                     [out1] "+l"(out1)
                   : [block] "r"(block)
                   : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "lr", "cc", "memory");
}

/*
 * The same for rows of up to 48 bytes, the second one 64 bytes behind the first, and for weights as they are: `block->overlap`
 * bytes of a channel's last vector belong to the next one. `w0` and `w1` are at channels 0 and 2 of the block, and run on to 2
 * and to the next block's 0.
 */
static inline void helia_nn_pair_of_48(helia_nn_block *block, const int32_t *start, const int8_t *weights)
{
    int32_t s0, s1, s2, s3;
    const int8_t *w1;
    int8_t *out0 = block->out0, *out1 = block->out1;
    __asm volatile("ldr %[s2], [%[block], #104]\n\t"
                   "ldr %[s0], [%[block], #128]\n\t"
                   "add %[w1], %[w0], %[s2], lsl #1\n\t"
                   "dls lr, %[s0]\n" HELIA_NN_ASM_PAIR_LOOP(HELIA_NN_ASM_PAIR_PASS_3,
                                                            HELIA_NN_ASM_PAIR_PASS_3,
                                                            "sub %[s0], %[w1], %[w0]\n\t"
                                                            "mov %[w0], %[w1]\n\t"
                                                            "add %[w1], %[s0]\n\t")
                   : [s0] "=&Te"(s0),
                     [s1] "=&Te"(s1),
                     [s2] "=&Te"(s2),
                     [s3] "=&Te"(s3),
                     [w0] "+r"(weights),
                     [w1] "=&r"(w1),
                     [start] "+r"(start),
                     [out0] "+l"(out0),
                     [out1] "+l"(out1)
                   : [block] "r"(block), [overlap] "r"(block->overlap), [x] "r"(block->x0)
                   : "q0", "q1", "q4", "q5", "q6", "q7", "lr", "cc", "memory");
}

#endif /* HELIA_NN_SUPPORT_PAIRS_S8_H */
