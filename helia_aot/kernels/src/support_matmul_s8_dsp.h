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

/* Four bytes of depth in 20 cycles: the loads stand in two groups, as a load behind another one costs a cycle less. */
#define BLOCK_2X2_STEP                                                                                                        \
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

#define BLOCK_2X2_RUN(steps)                                                                                                  \
    __asm volatile(steps                                                                                                      \
                   : [s00] "+r"(s00),                                                                                         \
                     [s01] "+r"(s01),                                                                                         \
                     [s10] "+r"(s10),                                                                                         \
                     [s11] "+r"(s11),                                                                                         \
                     [x0] "+r"(x0),                                                                                           \
                     [x1] "+r"(x1),                                                                                           \
                     [w0] "+r"(w0),                                                                                           \
                     [w1] "+r"(w1),                                                                                           \
                     [u0] "=&r"(u0),                                                                                          \
                     [u1] "=&r"(u1),                                                                                          \
                     [v0] "=&r"(v0),                                                                                          \
                     [v1] "=&r"(v1),                                                                                          \
                     [t] "=&r"(t)                                                                                             \
                   :                                                                                                          \
                   : "memory")

/* The sums of a block, and where its rows and weights are read next. */
typedef struct
{
    int32_t s00, s01, s10, s11; /* Row, channel. */
    const uint32_t *x0, *x1;
    const int8_t *w0, *w1;
} block_2x2;

/* What is left of a block after its steps of 16 bytes of depth. */
static inline void add_rest(block_2x2 *block, int32_t depth)
{
    int32_t s00 = block->s00, s01 = block->s01, s10 = block->s10, s11 = block->s11;
    const uint32_t *x0 = block->x0, *x1 = block->x1;
    const int8_t *w0 = block->w0, *w1 = block->w1;
    uint32_t u0, u1, v0, v1, t;
#pragma GCC unroll 1
    for (int32_t i = (depth >> 2) & 3; i > 0; i--)
    {
        BLOCK_2X2_RUN(BLOCK_2X2_STEP);
    }
    if ((depth & 3) != 0)
    {
        w0 += depth & 3;
        w1 += depth & 3;
        u0 = tail_of(w0, depth);
        u1 = tail_of(w1, depth);
        const uint32_t even0 = helia_nn_even_bytes(0, u0), odd0 = helia_nn_odd_bytes(0, u0);
        const uint32_t even1 = helia_nn_even_bytes(0, u1), odd1 = helia_nn_odd_bytes(0, u1);
        s00 = helia_nn_smlad(x0[1], odd0, helia_nn_smlad(x0[0], even0, s00));
        s01 = helia_nn_smlad(x0[1], odd1, helia_nn_smlad(x0[0], even1, s01));
        s10 = helia_nn_smlad(x1[1], odd0, helia_nn_smlad(x1[0], even0, s10));
        s11 = helia_nn_smlad(x1[1], odd1, helia_nn_smlad(x1[0], even1, s11));
    }
    *block = (block_2x2){s00, s01, s10, s11, x0, x1, w0, w1};
}

/* The sums of `channels` channels, an even number, for two rows; the sums of the rows alternate. */
static HELIA_NN_APART void sums_of_pair(const uint32_t *row0,
                                        const uint32_t *row1,
                                        const int8_t *weights,
                                        int32_t channels,
                                        int32_t depth,
                                        const int32_t *start,
                                        int32_t *sums)
{
    int32_t *const end = sums + 2 * channels;
    while (sums != end)
    {
        int32_t s00 = start[0], s01 = start[1];
        int32_t s10 = s00, s11 = s01;
        const uint32_t *x0 = row0, *x1 = row1;
        const int8_t *w0 = weights, *w1 = weights + depth;
        uint32_t u0, u1, v0, v1, t;
        for (int32_t i = depth >> 4; i > 0; i--)
        {
            BLOCK_2X2_RUN(BLOCK_2X2_STEP BLOCK_2X2_STEP BLOCK_2X2_STEP BLOCK_2X2_STEP);
        }
        if ((depth & 15) != 0)
        {
            block_2x2 block = {s00, s01, s10, s11, x0, x1, w0, w1};
            add_rest(&block, depth);
            s00 = block.s00;
            s01 = block.s01;
            s10 = block.s10;
            s11 = block.s11;
            w1 = block.w1;
        }
        sums[0] = s00;
        sums[1] = s10;
        sums[2] = s01;
        sums[3] = s11;
        sums += 4;
        start += 2;
        weights = w1;
    }
}

/* sums_of_pair() for a last channel without a partner. */
static void last_of_pair(const uint32_t *row0,
                         const uint32_t *row1,
                         const int8_t *weights,
                         int32_t depth,
                         int32_t start,
                         int32_t sums[2])
{
    int32_t s0 = start, s1 = start;
    for (int32_t i = depth; i > 0; i -= 4)
    {
        const uint32_t word = i >= 4 ? helia_nn_load_word(weights) : tail_of(weights + i, depth);
        const uint32_t even = helia_nn_even_bytes(0, word), odd = helia_nn_odd_bytes(0, word);
        s0 = helia_nn_smlad(row0[1], odd, helia_nn_smlad(row0[0], even, s0));
        s1 = helia_nn_smlad(row1[1], odd, helia_nn_smlad(row1[0], even, s1));
        row0 += 2;
        row1 += 2;
        weights += 4;
    }
    sums[0] = s0;
    sums[1] = s1;
}

/* One row of bytes by four channels, four bytes of depth at a time. */
static inline void row_by_4(const int8_t *x, uint32_t offsets, const int8_t *const w[4], int32_t depth, int32_t sums[4])
{
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    const int8_t *w0 = w[0], *w1 = w[1], *w2 = w[2], *w3 = w[3];
#define STEP(word, x_word)                                                                                                    \
    do                                                                                                                        \
    {                                                                                                                         \
        const uint32_t even = helia_nn_even_bytes(offsets, x_word), odd = helia_nn_odd_bytes(offsets, x_word);                \
        const uint32_t u0 = word(w0), u1 = word(w1), u2 = word(w2), u3 = word(w3);                                            \
        s0 = helia_nn_smlad(odd, helia_nn_odd_bytes(0, u0), helia_nn_smlad(even, helia_nn_even_bytes(0, u0), s0));            \
        s1 = helia_nn_smlad(odd, helia_nn_odd_bytes(0, u1), helia_nn_smlad(even, helia_nn_even_bytes(0, u1), s1));            \
        s2 = helia_nn_smlad(odd, helia_nn_odd_bytes(0, u2), helia_nn_smlad(even, helia_nn_even_bytes(0, u2), s2));            \
        s3 = helia_nn_smlad(odd, helia_nn_odd_bytes(0, u3), helia_nn_smlad(even, helia_nn_even_bytes(0, u3), s3));            \
    } while (0)
    for (int32_t i = depth >> 2; i > 0; i--)
    {
        const uint32_t x_word = helia_nn_load_word(x);
        STEP(helia_nn_load_word, x_word);
        x += 4;
        w0 += 4;
        w1 += 4;
        w2 += 4;
        w3 += 4;
    }
    if ((depth & 3) != 0)
    {
        const int32_t count = depth & 3;
#define TAIL(pointer) tail_of(pointer + count, depth)
        const uint32_t x_word = TAIL(x);
        STEP(TAIL, x_word);
#undef TAIL
    }
#undef STEP
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

#endif /* HELIA_NN_SUPPORT_MATMUL_S8_DSP_H */
