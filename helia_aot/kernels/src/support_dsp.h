/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The packed 16-bit instructions of Armv7E-M that compilers have no portable name for, unaligned words, and the two steps of an
 * exact requantisation. internal.h includes this file where HELIA_NN_DSP is set.
 *
 * Four bytes of a word are widened to two pairs of int16: the "even" pair holds bytes 0 and 2, the "odd" pair bytes 1 and 3. Two
 * operands that are split alike need no further packing before SMLAD.
 */
#ifndef HELIA_NN_SUPPORT_DSP_H
#define HELIA_NN_SUPPORT_DSP_H

#include <arm_acle.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Loads a word from any address. */
static inline uint32_t helia_nn_load_word(const void *from)
{
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* Stores a word to any address. */
static inline void helia_nn_store_word(void *to, uint32_t word)
{
    memcpy(to, &word, sizeof word);
}

/* Bytes 0 and 2, each widened and added to its half of `offsets`. */
static inline uint32_t helia_nn_even_bytes(uint32_t offsets, uint32_t bytes)
{
    uint32_t pair;
    if (__builtin_constant_p(offsets) && offsets == 0)
    {
        __asm("sxtb16 %0, %1" : "=r"(pair) : "r"(bytes));
    }
    else
    {
        __asm("sxtab16 %0, %1, %2" : "=r"(pair) : "r"(offsets), "r"(bytes));
    }
    return pair;
}

/* Bytes 1 and 3, each widened and added to its half of `offsets`. */
static inline uint32_t helia_nn_odd_bytes(uint32_t offsets, uint32_t bytes)
{
    uint32_t pair;
    if (__builtin_constant_p(offsets) && offsets == 0)
    {
        __asm("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(bytes));
    }
    else
    {
        __asm("sxtab16 %0, %1, %2, ror #8" : "=r"(pair) : "r"(offsets), "r"(bytes));
    }
    return pair;
}

/* The same number in both halves. */
static inline uint32_t helia_nn_twice(int32_t number)
{
    return (uint32_t)(uint16_t)number * 0x10001u;
}

/* The lower halves of two words, the first one's below. */
static inline uint32_t helia_nn_lower_halves(uint32_t a, uint32_t b)
{
    uint32_t pair;
    __asm("pkhbt %0, %1, %2, lsl #16" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
}

/* The upper halves of two words, the first one's below. */
static inline uint32_t helia_nn_upper_halves(uint32_t a, uint32_t b)
{
    uint32_t pair;
    __asm("pkhtb %0, %2, %1, asr #16" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
}

/* Adds the products of the lower and of the upper halves. */
static inline int32_t helia_nn_smlad(uint32_t a, uint32_t b, int32_t sum)
{
    return __smlad((int16x2_t)a, (int16x2_t)b, sum);
}

/* Adds the product of the lower halves. */
static inline int32_t helia_nn_smlabb(uint32_t a, uint32_t b, int32_t sum)
{
    return __smlabb((int32_t)a, (int32_t)b, sum);
}

/* Adds the product of the upper halves. */
static inline int32_t helia_nn_smlatt(uint32_t a, uint32_t b, int32_t sum)
{
    return __smlatt((int32_t)a, (int32_t)b, sum);
}

/* Adds the products of four int16 numbers in memory order and four bytes. */
static inline int32_t helia_nn_add_4_products(uint32_t first, uint32_t second, uint32_t bytes, int32_t sum)
{
    const uint32_t even = helia_nn_even_bytes(0, bytes);
    const uint32_t odd = helia_nn_odd_bytes(0, bytes);
    sum = helia_nn_smlabb(first, even, sum);
    sum = __smlatb((int32_t)first, (int32_t)odd, sum);
    sum = __smlabt((int32_t)second, (int32_t)even, sum);
    return helia_nn_smlatt(second, odd, sum);
}

/* The larger one of each pair of bytes. */
static inline uint32_t helia_nn_max_bytes(uint32_t a, uint32_t b)
{
    uint32_t larger;
    __asm("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(larger) : "r"(a), "r"(b) : "cc");
    return larger;
}

/* The smaller one of each pair of bytes. */
static inline uint32_t helia_nn_min_bytes(uint32_t a, uint32_t b)
{
    uint32_t smaller;
    __asm("ssub8 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(smaller) : "r"(a), "r"(b) : "cc");
    return smaller;
}

/*
 * Gives the high word of the product, rounded halves up. With a doubled operand that is helia_nn_doubling_high_mult(): the two
 * differ only where doubling overflows.
 */
static inline int32_t helia_nn_smmulr(int32_t a, int32_t b)
{
    int32_t high;
    __asm("smmulr %0, %1, %2" : "=r"(high) : "r"(a), "r"(b));
    return high;
}

/* Gives `sum` + the high word of the product, rounded halves up. */
static inline int32_t helia_nn_smmlar(int32_t a, int32_t b, int32_t sum)
{
    int32_t high;
    __asm("smmlar %0, %1, %2, %3" : "=r"(high) : "r"(a), "r"(b), "r"(sum));
    return high;
}

/* What helia_nn_rounded_shift() multiplies by to shift by `shift`, -31 to -2, that is to the right. */
static inline int32_t helia_nn_shift_power(int32_t shift)
{
    return (int32_t)(UINT32_C(1) << (32 + shift));
}

/*
 * Shifts to the right with rounding, halves away from zero, and adds `add`. A multiplication by 2^32 over the divisor leaves the result
 * in the high word, which is rounded and added in the same instruction.
 */
static inline int32_t helia_nn_rounded_shift(int32_t value, int32_t power, int32_t add)
{
    return helia_nn_smmlar(value + (value >> 31), power, add);
}

/*
 * All but the last bit of a right shift by `shift_less_one` + 1 with rounding, halves away from zero: the caller's shift by one is
 * free in SSAT. `add` is 1, plus twice what is to be added to the result. |value| is at most 2^30.
 */
static inline int32_t helia_nn_halved_shift(int32_t value, int32_t shift_less_one, int32_t add)
{
    return ((value + (value >> 31)) >> shift_less_one) + add;
}

#endif /* HELIA_NN_SUPPORT_DSP_H */
