/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The int8 matrix product for cores with the DSP extension: blocks of two rows by two channels, the rows widened to int16 once for
 * all channels, and blocks of one row by four channels.
 *
 * A widened row has two words for every four bytes: the even pair and the odd pair, see support_dsp.h. Past its end it is filled up
 * with any numbers: there the weights count as 0.
 */
#ifndef HELIA_NN_SUPPORT_MATMUL_S8_DSP_H
#define HELIA_NN_SUPPORT_MATMUL_S8_DSP_H

#include "support_matmul_s8.h"
#include "support_output_dsp.h"

/* The last 1 to 3 bytes of a run of `depth` bytes that ends at `end`, in the low bytes of a word; the others are 0. */
static inline uint32_t tail_of(const int8_t *end, int32_t depth)
{
    const int32_t count = depth & 3;
    if (depth > 4)
    {
        /* Never reads beyond the end. */
        return helia_nn_load_word(end - 4) >> (8 * (4 - count));
    }
    uint32_t word = 0;
    for (int32_t i = 1; i <= count; i++)
    {
        word = word << 8 | (uint8_t)end[-i];
    }
    return word;
}

/*
 * Four bytes of depth in 20 cycles: the loads stand in two groups, as a load behind another one costs a cycle less. All instructions
 * are wide ones, so that the loop over four steps can be entered at each of them.
 */
#define STEP_BYTES 72
#define STEP_2X2                                                                                                              \
    "ldr %[u0], [%[w0]], #4\n\t"                                                                                              \
    "ldr %[u1], [%[w1]], #4\n\t"                                                                                              \
    "ldr %[v0], [%[x0]], #4\n\t"                                                                                              \
    "ldr %[v1], [%[x1]], #4\n\t"                                                                                              \
    "sxtb16 %[t], %[u0]\n\t"                                                                                                  \
    "sxtb16 %[u0], %[u0], ror #8\n\t"                                                                                         \
    "smlad %[s00], %[v0], %[t], %[s00]\n\t"                                                                                   \
    "smlad %[s10], %[v1], %[t], %[s10]\n\t"                                                                                   \
    "sxtb16 %[t], %[u1]\n\t"                                                                                                  \
    "sxtb16 %[u1], %[u1], ror #8\n\t"                                                                                         \
    "smlad %[s01], %[v0], %[t], %[s01]\n\t"                                                                                   \
    "smlad %[s11], %[v1], %[t], %[s11]\n\t"                                                                                   \
    "ldr %[v0], [%[x0]], #4\n\t"                                                                                              \
    "ldr %[v1], [%[x1]], #4\n\t"                                                                                              \
    "smlad %[s00], %[v0], %[u0], %[s00]\n\t"                                                                                  \
    "smlad %[s10], %[v1], %[u0], %[s10]\n\t"                                                                                  \
    "smlad %[s01], %[v0], %[u1], %[s01]\n\t"                                                                                  \
    "smlad %[s11], %[v1], %[u1], %[s11]\n\t"

/*
 * Sets the sums, which alternate between two rows, to the start values of `channels` channels, an even number and 2 at least, and the
 * products of the widened rows with as many rows of weights. These are `stride` bytes apart; of each `4 * words` bytes count.
 */
static HELIA_NN_APART void sums_of_pair(const uint32_t *row0,
                                        const uint32_t *row1,
                                        const int8_t *weights,
                                        int32_t stride,
                                        int32_t channels,
                                        int32_t words,
                                        const int32_t *start,
                                        int32_t *sums)
{
    /* What does not fit into registers. */
    struct
    {
        const uint32_t *row0, *row1;
        int32_t rounds, stride, to_next;
        uint32_t entry; /* Into the loop; at first, where to. */
        const int32_t *start;
        int32_t *to, *end;
    } block = {
        row0,
        row1,
        (words + 3) >> 2,
        stride,
        stride - 4 * words,
        /* The lowest bit says that it is Thumb code. */
        (uint32_t)(-words & 3) * STEP_BYTES + 1,
        start,
        sums,
        sums + 2 * channels,
    };
    const int8_t *w0 = weights, *w1;
    const uint32_t *x0, *x1;
    int32_t s00, s01, s10, s11, count;
    uint32_t u0, u1, v0, v1, t;
    __asm volatile("adr %[t], 2f\n\t"
                   "ldr %[u0], %[entry]\n\t"
                   "add %[t], %[u0]\n\t"
                   "str %[t], %[entry]\n"
                   "1:\n\t"
                   "ldr %[t], %[start]\n\t"
                   "ldr %[x0], %[row0]\n\t"
                   "ldr %[x1], %[row1]\n\t"
                   "ldr %[w1], %[stride]\n\t"
                   "ldr %[n], %[rounds]\n\t"
                   "ldr %[u0], %[entry]\n\t"
                   "ldr %[s00], [%[t]], #4\n\t"
                   "ldr %[s01], [%[t]], #4\n\t"
                   "str %[t], %[start]\n\t"
                   "add %[w1], %[w0]\n\t"
                   "mov %[s10], %[s00]\n\t"
                   "mov %[s11], %[s01]\n\t"
                   "bx %[u0]\n\t"
                   ".p2align 2\n"
                   "2:\n\t" STEP_2X2 STEP_2X2 STEP_2X2 STEP_2X2 "subs %[n], #1\n\t"
                   "bne 2b\n\t"
                   "ldr %[t], %[to]\n\t"
                   "ldr %[u0], %[to_next]\n\t"
                   "ldr %[u1], %[end]\n\t"
                   "str %[s00], [%[t]], #4\n\t"
                   "str %[s10], [%[t]], #4\n\t"
                   "str %[s01], [%[t]], #4\n\t"
                   "str %[s11], [%[t]], #4\n\t"
                   "str %[t], %[to]\n\t"
                   "add %[w0], %[w1], %[u0]\n\t"
                   "cmp %[t], %[u1]\n\t"
                   "bne 1b\n\t"
                   : [s00] "=&r"(s00),
                     [s01] "=&r"(s01),
                     [s10] "=&r"(s10),
                     [s11] "=&r"(s11),
                     [x0] "=&r"(x0),
                     [x1] "=&r"(x1),
                     [w0] "+r"(w0),
                     [w1] "=&r"(w1),
                     [u0] "=&r"(u0),
                     [u1] "=&r"(u1),
                     [v0] "=&r"(v0),
                     [v1] "=&r"(v1),
                     [t] "=&r"(t),
                     [n] "=&r"(count),
                     [start] "+m"(block.start),
                     [to] "+m"(block.to),
                     [entry] "+m"(block.entry)
                   : [row0] "m"(block.row0),
                     [row1] "m"(block.row1),
                     [rounds] "m"(block.rounds),
                     [stride] "m"(block.stride),
                     [to_next] "m"(block.to_next),
                     [end] "m"(block.end)
                   : "cc", "memory");
}

#undef STEP_BYTES
#undef STEP_2X2

/* Half of a step of 24 cycles: two channels by four bytes of depth. */
#define STEP_1X2(first, second)                                                                                               \
    "sxtb16 %[t], %[u0]\n\t"                                                                                                  \
    "sxtb16 %[u0], %[u0], ror #8\n\t"                                                                                         \
    "smlad %[" first "], %[even], %[t], %[" first "]\n\t"                                                                     \
    "smlad %[" first "], %[odd], %[u0], %[" first "]\n\t"                                                                     \
    "sxtb16 %[t], %[u1]\n\t"                                                                                                  \
    "sxtb16 %[u1], %[u1], ror #8\n\t"                                                                                         \
    "smlad %[" second "], %[even], %[t], %[" second "]\n\t"                                                                   \
    "smlad %[" second "], %[odd], %[u1], %[" second "]\n\t"

/* A step of four channels; `widen` is empty for a row that is widened already. */
#define STEP_1X4(load, widen)                                                                                                 \
    load "ldr %[u0], [%[w], %[stride]]\n\t"                                                                                   \
         "ldr %[u1], [%[w], %[stride], lsl #1]\n\t" widen STEP_1X2("s1", "s2") "ldr %[u0], [%[w]], #4\n\t"                   \
         "ldr %[u1], [%[w3]], #4\n\t" STEP_1X2("s0", "s3")

/*
 * A function as sums_of_pair() for one row of words of a type and a number of channels that is a multiple of 4, 4 at least. `load` or
 * `widen` give `even` and `odd`.
 */
#define DEFINE_SUMS_OF_ROW(name, type, load, widen)                                                                           \
    static HELIA_NN_APART void name(const type *row,                                                                          \
                                    const int8_t *weights,                                                                    \
                                    int32_t stride,                                                                           \
                                    int32_t channels,                                                                         \
                                    int32_t words,                                                                            \
                                    uint32_t offsets,                                                                         \
                                    const int32_t *start,                                                                     \
                                    int32_t *sums)                                                                            \
    {                                                                                                                         \
        struct                                                                                                                \
        {                                                                                                                     \
            const type *row;                                                                                                  \
            int32_t words, to_next;                                                                                           \
            const int32_t *start;                                                                                             \
            int32_t *to, *end;                                                                                                \
            uint32_t offsets;                                                                                                 \
        } block = {row, words, 4 * (stride - words), start, sums, sums + channels, offsets};                                  \
        const int8_t *w = weights, *w3;                                                                                       \
        const type *x;                                                                                                        \
        int32_t s0, s1, s2, s3, count;                                                                                        \
        uint32_t u0, u1, even, odd, t;                                                                                        \
        __asm volatile("1:\n\t"                                                                                               \
                       "ldr %[t], %[start]\n\t"                                                                               \
                       "ldr %[x], %[row]\n\t"                                                                                 \
                       "ldr %[n], %[words]\n\t"                                                                               \
                       "ldr %[s0], [%[t]], #4\n\t"                                                                            \
                       "ldr %[s1], [%[t]], #4\n\t"                                                                            \
                       "ldr %[s2], [%[t]], #4\n\t"                                                                            \
                       "ldr %[s3], [%[t]], #4\n\t"                                                                            \
                       "str %[t], %[start]\n\t"                                                                               \
                       "add %[w3], %[w], %[stride]\n\t"                                                                       \
                       "add %[w3], %[w3], %[stride], lsl #1\n\t"                                                              \
                       "lsrs %[n], #1\n\t"                                                                                    \
                       "bcc 2f\n\t" STEP_1X4(load, widen) "cmp %[n], #0\n"                                                   \
                       "2:\n\t"                                                                                               \
                       "beq 4f\n"                                                                                             \
                       "3:\n\t" STEP_1X4(load, widen) STEP_1X4(load, widen) "subs %[n], #1\n\t"                             \
                       "bne 3b\n"                                                                                             \
                       "4:\n\t"                                                                                               \
                       "ldr %[t], %[to]\n\t"                                                                                  \
                       "ldr %[u0], %[to_next]\n\t"                                                                            \
                       "ldr %[u1], %[end]\n\t"                                                                                \
                       "str %[s0], [%[t]], #4\n\t"                                                                            \
                       "str %[s1], [%[t]], #4\n\t"                                                                            \
                       "str %[s2], [%[t]], #4\n\t"                                                                            \
                       "str %[s3], [%[t]], #4\n\t"                                                                            \
                       "str %[t], %[to]\n\t"                                                                                  \
                       "add %[w], %[u0]\n\t"                                                                                  \
                       "cmp %[t], %[u1]\n\t"                                                                                  \
                       "bne 1b\n\t"                                                                                           \
                       : [s0] "=&r"(s0),                                                                                      \
                         [s1] "=&r"(s1),                                                                                      \
                         [s2] "=&r"(s2),                                                                                      \
                         [s3] "=&r"(s3),                                                                                      \
                         [x] "=&r"(x),                                                                                        \
                         [w] "+r"(w),                                                                                         \
                         [w3] "=&r"(w3),                                                                                      \
                         [u0] "=&r"(u0),                                                                                      \
                         [u1] "=&r"(u1),                                                                                      \
                         [even] "=&r"(even),                                                                                  \
                         [odd] "=&r"(odd),                                                                                    \
                         [t] "=&r"(t),                                                                                        \
                         [n] "=&r"(count),                                                                                    \
                         [start] "+m"(block.start),                                                                           \
                         [to] "+m"(block.to)                                                                                  \
                       : [stride] "r"(stride),                                                                                \
                         [row] "m"(block.row),                                                                                \
                         [words] "m"(block.words),                                                                            \
                         [to_next] "m"(block.to_next),                                                                        \
                         [end] "m"(block.end),                                                                                \
                         [offsets] "m"(block.offsets)                                                                         \
                       : "cc", "memory");                                                                                     \
    }

/* A widened row, whose `offsets` are not used; and a row of bytes to which they are added. */
DEFINE_SUMS_OF_ROW(sums_of_row, uint32_t, "ldr %[even], [%[x]], #4\n\tldr %[odd], [%[x]], #4\n\t", "")
DEFINE_SUMS_OF_ROW(sums_of_bytes,
                   int8_t,
                   "ldr %[t], [%[x]], #4\n\tldr %[odd], %[offsets]\n\t",
                   "sxtab16 %[even], %[odd], %[t]\n\tsxtab16 %[odd], %[odd], %[t], ror #8\n\t")

#undef DEFINE_SUMS_OF_ROW
/* One to three channels by four bytes of depth, in 10, 14 and 19 cycles. */
#define UNPACK                                                                                                                \
    "sxtab16 %[odd], %[offsets], %[even], ror #8\n\t"                                                                         \
    "sxtab16 %[even], %[offsets], %[even]\n\t"
#define STEP_OF_1                                                                                                             \
    "ldr %[even], [%[x]], #4\n\t"                                                                                             \
    "ldr %[u0], [%[w0]], #4\n\t" UNPACK "sxtb16 %[t], %[u0]\n\t"                                                             \
    "sxtb16 %[u0], %[u0], ror #8\n\t"                                                                                         \
    "smlad %[s0], %[even], %[t], %[s0]\n\t"                                                                                   \
    "smlad %[s0], %[odd], %[u0], %[s0]\n\t"
#define STEP_OF_2                                                                                                             \
    "ldr %[even], [%[x]], #4\n\t"                                                                                             \
    "ldr %[u0], [%[w0]], #4\n\t"                                                                                              \
    "ldr %[u1], [%[w1]], #4\n\t" UNPACK STEP_1X2("s0", "s1")
#define STEP_OF_3                                                                                                             \
    STEP_OF_2 "ldr %[u0], [%[w2]], #4\n\t"                                                                                    \
              "sxtb16 %[t], %[u0]\n\t"                                                                                        \
              "sxtb16 %[u0], %[u0], ror #8\n\t"                                                                               \
              "smlad %[s2], %[even], %[t], %[s2]\n\t"                                                                         \
              "smlad %[s2], %[odd], %[u0], %[s2]\n\t"

/* A function as sums_of_bytes() for 1 to 3 channels. */
#define DEFINE_SUMS_OF_FEW(name, channels, step)                                                                              \
    static HELIA_NN_APART void name(                                                                                          \
        const int8_t *x,                                                                                                      \
        const int8_t *weights,                                                                                                \
        int32_t stride,                                                                                                       \
        int32_t words,                                                                                                        \
        uint32_t offsets,                                                                                                     \
        const int32_t *start,                                                                                                 \
        int32_t *sums)                                                                                                        \
    {                                                                                                                         \
        const int8_t *w0 = weights, *w1 = weights + stride, *w2 = w1 + stride;                                                \
        int32_t s0 = start[0], s1 = channels > 1 ? start[1] : 0, s2 = channels > 2 ? start[2] : 0;                            \
        int32_t n = words;                                                                                                    \
        uint32_t u0, u1, even, odd, t;                                                                                        \
        __asm volatile("b 2f\n"                                                                                               \
                       "1:\n\t" step "sub %[n], #1\n"                                                                         \
                       "2:\n\t"                                                                                               \
                       "tst %[n], #3\n\t"                                                                                     \
                       "bne 1b\n\t"                                                                                           \
                       "cmp %[n], #0\n\t"                                                                                     \
                       "beq 4f\n"                                                                                             \
                       "3:\n\t" step step step step "subs %[n], #4\n\t"                                                      \
                       "bne 3b\n"                                                                                             \
                       "4:\n\t"                                                                                               \
                       : [s0] "+r"(s0),                                                                                       \
                         [s1] "+r"(s1),                                                                                       \
                         [s2] "+r"(s2),                                                                                       \
                         [x] "+r"(x),                                                                                         \
                         [w0] "+r"(w0),                                                                                       \
                         [w1] "+r"(w1),                                                                                       \
                         [w2] "+r"(w2),                                                                                       \
                         [n] "+r"(n),                                                                                         \
                         [u0] "=&r"(u0),                                                                                      \
                         [u1] "=&r"(u1),                                                                                      \
                         [even] "=&r"(even),                                                                                  \
                         [odd] "=&r"(odd),                                                                                    \
                         [t] "=&r"(t)                                                                                         \
                       : [offsets] "r"(offsets)                                                                               \
                       : "cc", "memory");                                                                                     \
        sums[0] = s0;                                                                                                         \
        if (channels > 1)                                                                                                     \
        {                                                                                                                     \
            sums[1] = s1;                                                                                                     \
        }                                                                                                                     \
        if (channels > 2)                                                                                                     \
        {                                                                                                                     \
            sums[2] = s2;                                                                                                     \
        }                                                                                                                     \
    }

DEFINE_SUMS_OF_FEW(sums_of_1, 1, STEP_OF_1)
DEFINE_SUMS_OF_FEW(sums_of_2, 2, STEP_OF_2)
DEFINE_SUMS_OF_FEW(sums_of_3, 3, STEP_OF_3)

#undef UNPACK
#undef STEP_OF_1
#undef STEP_OF_2
#undef STEP_OF_3
#undef DEFINE_SUMS_OF_FEW
#undef STEP_1X2
#undef STEP_1X4

/* Adds the products of one widened row and one row of weights. */
static inline int32_t add_one(const uint32_t *row, const int8_t *weights, int32_t depth, int32_t sum)
{
    for (int32_t i = depth; i > 0; i -= 4)
    {
        const uint32_t word = i >= 4 ? helia_nn_load_word(weights) : tail_of(weights + i, depth);
        sum = helia_nn_smlad(*row++, helia_nn_even_bytes(0, word), sum);
        sum = helia_nn_smlad(*row++, helia_nn_odd_bytes(0, word), sum);
        weights += 4;
    }
    return sum;
}

#endif /* HELIA_NN_SUPPORT_MATMUL_S8_DSP_H */
