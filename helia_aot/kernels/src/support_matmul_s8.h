/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The int8 matrix product with requantisation that convolutions and fully connected layers share.
 */
#ifndef HELIA_NN_SUPPORT_MATMUL_S8_H
#define HELIA_NN_SUPPORT_MATMUL_S8_H

#include "internal.h"

#if defined(HELIA_NN_DSP)
#include "support_output_dsp.h"
#endif

/* From an accumulator to an int8 output. */
typedef struct
{
    const int32_t *sums;       /* Folded start values, one for each channel; NULL: use bias and input_offset. */
    const int32_t *bias;       /* One for each channel, or NULL. */
    int32_t input_offset;      /* Added to each input where `sums` is NULL. */
    const int32_t *multiplier; /* One for each channel, or one in all. */
    const int32_t *shift;      /* As `multiplier`. */
    bool per_channel;          /* How many multipliers and shifts there are. */
    bool shifts_right;         /* Every shift is negative; false is always allowed. */
    int32_t output_offset;
    cmsis_nn_activation activation;
#if defined(HELIA_NN_DSP)
    helia_nn_output_kind kind;
#endif
} helia_nn_output_stage;

/*
 * output[r][c] = requantise(start[c] + sum over k of lhs[r][k] * rhs[c][k])
 *
 * lhs: `rows` rows of `depth` bytes, `lhs_stride` bytes apart (rows may overlap); rhs: `channels` rows of `depth` bytes;
 * output: `rows` rows of `channels` bytes, dense.
 */
void helia_nn_matmul_s8(const int8_t *lhs,
                        int32_t lhs_stride,
                        int32_t rows,
                        const int8_t *rhs,
                        int32_t channels,
                        int32_t depth,
                        const helia_nn_output_stage *stage,
                        int8_t *output);

#if defined(HELIA_NN_DSP)

/* Gives the words of a row that is widened to int16. */
static inline int32_t helia_nn_wide_words(int32_t depth)
{
    return (depth + 3) / 4 * 2;
}

/*
 * Widens words of a row to an even and an odd pair each, see support_dsp.h, and adds `offsets` to both; gives where they end. They may
 * be words that end where the result ends.
 */
static inline uint32_t *helia_nn_widen_words(const int8_t *from, int32_t words, uint32_t offsets, uint32_t *to)
{
    __asm volatile("subs %[words], #4\n\t"
                   "blt 2f\n"
                   "1:\n\t"
                   "ldr r3, [%[from]], #4\n\t"
                   "ldr r5, [%[from]], #4\n\t"
                   "ldr r8, [%[from]], #4\n\t"
                   "ldr r11, [%[from]], #4\n\t"
                   "sxtab16 r4, %[offsets], r3, ror #8\n\t"
                   "sxtab16 r3, %[offsets], r3\n\t"
                   "sxtab16 r6, %[offsets], r5, ror #8\n\t"
                   "sxtab16 r5, %[offsets], r5\n\t"
                   "sxtab16 r10, %[offsets], r8, ror #8\n\t"
                   "sxtab16 r8, %[offsets], r8\n\t"
                   "sxtab16 r12, %[offsets], r11, ror #8\n\t"
                   "sxtab16 r11, %[offsets], r11\n\t"
                   "stmia %[to]!, {r3, r4, r5, r6, r8, r10, r11, r12}\n\t"
                   "subs %[words], #4\n\t"
                   "bge 1b\n"
                   "2:\n\t"
                   "adds %[words], #4\n\t"
                   "ble 4f\n"
                   "3:\n\t"
                   "ldr r3, [%[from]], #4\n\t"
                   "subs %[words], #1\n\t"
                   "sxtab16 r4, %[offsets], r3, ror #8\n\t"
                   "sxtab16 r3, %[offsets], r3\n\t"
                   "stmia %[to]!, {r3, r4}\n\t"
                   "bne 3b\n"
                   "4:\n\t"
                   : [from] "+r"(from), [to] "+r"(to), [words] "+r"(words)
                   : [offsets] "r"(offsets)
                   : "r3", "r4", "r5", "r6", "r8", "r10", "r11", "r12", "cc", "memory");
    return to;
}

/*
 * Widens a row to int16 and adds `offset`: an even and an odd pair for every four bytes, see support_dsp.h. The bytes may be those
 * that end where the result ends, see helia_nn_narrow_row().
 */
void helia_nn_widen_row(const int8_t *from, int32_t depth, int32_t offset, uint32_t *to);

/* Gives where the bytes of a row may lie in the memory that they are widened to. */
static inline int8_t *helia_nn_narrow_row(uint32_t *wide, int32_t depth)
{
    return (int8_t *)(wide + helia_nn_wide_words(depth) / 2);
}

/*
 * helia_nn_matmul_s8() of one widened row or two, which hold the input offset where the stage has no folded sums. The second pointer
 * is not used for one row.
 */
void helia_nn_matmul_wide_s8(uint32_t *const rows[2],
                             int32_t count,
                             const int8_t *rhs,
                             int32_t channels,
                             int32_t depth,
                             const helia_nn_output_stage *stage,
                             int8_t *output);

/* Channels of one call of helia_nn_sums_s8() or helia_nn_sums_s16_s8(), at most. */
#define HELIA_NN_SUMS 32

/*
 * The dot products of one row of `depth` bytes or two with `channels` rows of weights, each added to its start value; NULL stands for
 * zeros. `offset` is added to each byte of the rows. The sums of two rows alternate.
 */
void helia_nn_sums_s8(const int8_t *const bytes[2],
                      int32_t rows,
                      int32_t offset,
                      const int8_t *weights,
                      int32_t channels,
                      int32_t depth,
                      const int32_t *start,
                      int32_t *sums);

/* Numbers of a row for helia_nn_narrow_sums_s16_s8() at most: their sums fit into 32 bits. */
#define HELIA_NN_NARROW_DEPTH 256

/* The dot products of `depth` int16 numbers with at most HELIA_NN_CHUNK rows of weights, each added to its start value. */
void helia_nn_narrow_sums_s16_s8(
    const int16_t *values, const int8_t *weights, int32_t channels, int32_t depth, const int32_t *start, int32_t *sums);

/* Adds the dot products of `depth` int16 numbers with at most HELIA_NN_SUMS rows of weights to `sums`. */
void helia_nn_sums_s16_s8(const int16_t *values, const int8_t *weights, int32_t channels, int32_t depth, int64_t *sums);

#endif

#endif /* HELIA_NN_SUPPORT_MATMUL_S8_H */
