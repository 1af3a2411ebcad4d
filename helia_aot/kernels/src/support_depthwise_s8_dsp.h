/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution for cores with the DSP extension: four channels of one pixel at a time. The channels stay in the order of the
 * packed bytes, so that a word of inputs needs no rearrangement.
 *
 * What belongs to four channels is prepared once for all pixels, in a table of groups of words: four start values; for each tap of the
 * filter the even and the odd pair of its weights, see support_dsp.h; four times a multiplier and what helia_nn_rounded_shift()
 * multiplies by.
 */
#ifndef HELIA_NN_SUPPORT_DEPTHWISE_S8_DSP_H
#define HELIA_NN_SUPPORT_DEPTHWISE_S8_DSP_H

#include "support_depthwise_s8.h"
#include "support_output_dsp.h"

/* Words of the groups of a chunk of channels; 64 channels of a 3x3 filter. */
#define TABLE_WORDS 480

/* Channels of a chunk. */
#define MOST_CHANNELS 64

/* Words before the weights of a group, and behind them. */
#define START_WORDS 4
#define QUANT_WORDS 8

static inline int32_t group_words(int32_t taps)
{
    return START_WORDS + 2 * taps + QUANT_WORDS;
}

/* Output channels of a group: those of one input channel, where it has more than one. */
static inline int32_t group_lanes(const helia_nn_depthwise_layer *layer)
{
    return layer->ch_mult == 1 ? 4 : helia_nn_min(layer->ch_mult, 4);
}

/* Bytes of input between groups. A chunk of more than four channels for each input has one input only. */
static inline int32_t group_step(const helia_nn_depthwise_layer *layer)
{
    return layer->ch_mult == 1 ? 4 : layer->ch_mult <= 4 ? 1 : 0;
}

/* The taps of a pixel that fall inside the input. */
typedef struct
{
    const int8_t *input; /* Of the first tap, the first channel of the chunk. */
    int32_t first;       /* Bytes of weights before those of the first tap, in a group. */
    int32_t rows, columns;
    int32_t row_step;    /* Bytes from the end of a row of taps to the next row. */
    int32_t weight_step; /* Likewise, of weights. */
    int32_t back;        /* Bytes from where the function ends to the first tap of the next group. */
} tap_window;

/* What does not change between the pixels of a chunk. */
typedef struct
{
    const int32_t *table, *end;
    int32_t step;      /* Bytes between the taps of a row. */
    int32_t row_bytes; /* Bytes between rows of taps. */
    uint32_t offsets;  /* The input offset, twice. */
    int32_t offset;    /* Of the outputs. */
    int32_t quant;     /* Bytes of a group before its multipliers. */
} tap_layer;

/* One tap of four channels, whose weights are in `t` and `r`. */
#define TAP                                                                                                                   \
    "sxtab16 %[v], %[offsets], %[u]\n\t"                                                                                      \
    "sxtab16 %[u], %[offsets], %[u], ror #8\n\t"                                                                              \
    "smlabb %[s0], %[v], %[t], %[s0]\n\t"                                                                                     \
    "smlatt %[s2], %[v], %[t], %[s2]\n\t"                                                                                     \
    "smlabb %[s1], %[u], %[r], %[s1]\n\t"                                                                                     \
    "smlatt %[s3], %[u], %[r], %[s3]\n\t"

/* Two outputs; `offset` is the output offset. */
#define OUTPUTS(first, second, offset)                                                                                        \
    "ldr %[u], [%[w]], #4\n\t"                                                                                                \
    "ldr %[v], [%[w]], #4\n\t"                                                                                                \
    "ldr %[t], [%[w]], #4\n\t"                                                                                                \
    "ldr %[r], [%[w]], #4\n\t"                                                                                                \
    "lsl %[" first "], #1\n\t"                                                                                                \
    "lsl %[" second "], #1\n\t"                                                                                               \
    "smmulr %[" first "], %[" first "], %[u]\n\t"                                                                             \
    "smmulr %[" second "], %[" second "], %[t]\n\t"                                                                           \
    "add %[" first "], %[" first "], %[" first "], asr #31\n\t"                                                               \
    "add %[" second "], %[" second "], %[" second "], asr #31\n\t"                                                            \
    "smmlar %[" first "], %[" first "], %[v], %[" offset "]\n\t"                                                              \
    "smmlar %[" second "], %[" second "], %[r], %[" offset "]\n\t"                                                            \
    "ssat %[" first "], #8, %[" first "]\n\t"                                                                                 \
    "ssat %[" second "], #8, %[" second "]\n\t"                                                                               \
    "strb %[" first "], [%[to]], #1\n\t"                                                                                      \
    "strb %[" second "], [%[to]], #1\n\t"

/* A tap of a 3x3 filter, counted from the first one inside; `at` are the bytes of its weights. */
#define TAP_OF_3X3(address, at)                                                                                               \
    "ldr %[u], [%[input]" address "]\n\t"                                                                                     \
    "ldr %[t], [%[w], #" at "]\n\t"                                                                                           \
    "ldr %[r], [%[w], #" at " + 4]\n\t" TAP

/* A row of two or three taps. */
#define ROW_OF_2(at) TAP_OF_3X3("", at) TAP_OF_3X3(", %[step]", at " + 8")
#define ROW_OF_3(at) ROW_OF_2(at) TAP_OF_3X3(", %[step], lsl #1", at " + 16")
#define NEXT_ROW                                                                                                              \
    "ldr %[t], %[row_bytes]\n\t"                                                                                              \
    "add %[input], %[t]\n\t"

/*
 * A function for a number of rows and columns of a 3x3 filter: the outputs of one pixel, before the activation. Sums stay below 2^30 and
 * shifts are to the right by 2 at least.
 */
#define DEFINE_TAPS(name, taps)                                                                                               \
    static HELIA_NN_APART void name(const tap_layer *layer, const tap_window *window, int8_t *to)                             \
    {                                                                                                                         \
        /* What does not fit into registers. */                                                                               \
        const int32_t *end = layer->end;                                                                                      \
        int32_t row_bytes = layer->row_bytes, first = window->first, offset = layer->offset;                                  \
        int32_t back = window->back;                                                                                          \
        const int32_t *table = layer->table, *w;                                                                              \
        const int8_t *input = window->input;                                                                                  \
        int32_t s0, s1, s2, s3;                                                                                               \
        uint32_t u, v, t, r;                                                                                                  \
        __asm volatile("1:\n\t"                                                                                               \
                       "ldr %[w], %[first]\n\t"                                                                               \
                       "ldr %[s0], [%[table]], #4\n\t"                                                                        \
                       "ldr %[s1], [%[table]], #4\n\t"                                                                        \
                       "ldr %[s2], [%[table]], #4\n\t"                                                                        \
                       "ldr %[s3], [%[table]], #4\n\t"                                                                        \
                       "add %[w], %[table]\n\t" taps "ldr %[t], %[back]\n\t"                                                  \
                       "add %[w], %[table], #72\n\t"                                                                          \
                       "ldr %[table], %[offset]\n\t"                                                                          \
                       "add %[input], %[t]\n\t" OUTPUTS("s0", "s1", "table") OUTPUTS("s2", "s3", "table")                     \
                       "ldr %[t], %[end]\n\t"                                                                                 \
                       "mov %[table], %[w]\n\t"                                                                               \
                       "cmp %[w], %[t]\n\t"                                                                                   \
                       "bne 1b\n\t"                                                                                           \
                       : [s0] "=&r"(s0),                                                                                      \
                         [s1] "=&r"(s1),                                                                                      \
                         [s2] "=&r"(s2),                                                                                      \
                         [s3] "=&r"(s3),                                                                                      \
                         [u] "=&r"(u),                                                                                        \
                         [v] "=&r"(v),                                                                                        \
                         [t] "=&r"(t),                                                                                        \
                         [r] "=&r"(r),                                                                                        \
                         [w] "=&r"(w),                                                                                        \
                         [table] "+r"(table),                                                                                 \
                         [input] "+r"(input),                                                                                 \
                         [to] "+r"(to)                                                                                        \
                       : [step] "r"(layer->step),                                                                             \
                         [offsets] "r"(layer->offsets),                                                                       \
                         [row_bytes] "m"(row_bytes),                                                                          \
                         [first] "m"(first),                                                                                  \
                         [back] "m"(back),                                                                                    \
                         [offset] "m"(offset),                                                                                \
                         [end] "m"(end)                                                                                       \
                       : "cc", "memory");                                                                                     \
    }

DEFINE_TAPS(taps_of_3x3, ROW_OF_3("0") NEXT_ROW ROW_OF_3("24") NEXT_ROW ROW_OF_3("48"))
DEFINE_TAPS(taps_of_3x2, ROW_OF_2("0") NEXT_ROW ROW_OF_2("24") NEXT_ROW ROW_OF_2("48"))
DEFINE_TAPS(taps_of_2x3, ROW_OF_3("0") NEXT_ROW ROW_OF_3("24"))
DEFINE_TAPS(taps_of_2x2, ROW_OF_2("0") NEXT_ROW ROW_OF_2("24"))

/* A tap of any filter, four inputs or one for all four channels. */
#define TAP_OF_4(address)                                                                                                     \
    "ldr %[u], [%[input]" address "]\n\t"                                                                                     \
    "ldr %[t], [%[w]], #4\n\t"                                                                                                \
    "ldr %[r], [%[w]], #4\n\t" TAP
#define TAP_OF_1(address)                                                                                                     \
    "ldrsb %[u], [%[input]" address "]\n\t"                                                                                   \
    "ldr %[t], [%[w]], #4\n\t"                                                                                                \
    "ldr %[r], [%[w]], #4\n\t"                                                                                                \
    "add %[u], %[offsets]\n\t"                                                                                                \
    "smlabb %[s0], %[u], %[t], %[s0]\n\t"                                                                                     \
    "smlabt %[s2], %[u], %[t], %[s2]\n\t"                                                                                     \
    "smlabb %[s1], %[u], %[r], %[s1]\n\t"                                                                                     \
    "smlabt %[s3], %[u], %[r], %[s3]\n\t"

/* Sums instead of outputs. */
#define SUMS                                                                                                                  \
    "str %[s0], [%[to]], #4\n\t"                                                                                              \
    "str %[s1], [%[to]], #4\n\t"                                                                                              \
    "str %[s2], [%[to]], #4\n\t"                                                                                              \
    "str %[s3], [%[to]], #4\n\t"                                                                                              \
    "add %[w], #32\n\t"

/* A function for one row of taps or more, of one column or more. */
#define DEFINE_WINDOW(name, type, TAP_OF, finish)                                                                             \
    static HELIA_NN_APART void name(const tap_layer *layer, const tap_window *window, type *to)                               \
    {                                                                                                                         \
        /* What does not fit into registers. */                                                                               \
        const int32_t *table = layer->table;                                                                                  \
        const int32_t *end = layer->end;                                                                                      \
        int32_t rows = 0, quant = layer->quant, offset = layer->offset;                                                       \
        const tap_window of = *window;                                                                                        \
        const int8_t *input = of.input;                                                                                       \
        const int32_t *w;                                                                                                     \
        int32_t s0, s1, s2, s3, n;                                                                                            \
        uint32_t u, v, t, r;                                                                                                  \
        __asm volatile("1:\n\t"                                                                                               \
                       "ldr %[w], %[table]\n\t"                                                                               \
                       "ldr %[t], %[first]\n\t"                                                                               \
                       "ldr %[u], %[all_rows]\n\t"                                                                            \
                       "ldr %[s0], [%[w]], #4\n\t"                                                                            \
                       "ldr %[s1], [%[w]], #4\n\t"                                                                            \
                       "ldr %[s2], [%[w]], #4\n\t"                                                                            \
                       "ldr %[s3], [%[w]], #4\n\t"                                                                            \
                       "str %[u], %[rows]\n\t"                                                                                \
                       "add %[w], %[t]\n"                                                                                     \
                       "2:\n\t"                                                                                               \
                       "ldr %[n], %[columns]\n\t"                                                                             \
                       "lsrs %[n], #1\n\t"                                                                                    \
                       "bcc 3f\n\t" TAP_OF("") "add %[input], %[step]\n\t"                                                    \
                       "cmp %[n], #0\n"                                                                                       \
                       "3:\n\t"                                                                                               \
                       "beq 5f\n"                                                                                             \
                       "4:\n\t" TAP_OF("") TAP_OF(", %[step]") "add %[input], %[input], %[step], lsl #1\n\t"                  \
                       "subs %[n], #1\n\t"                                                                                    \
                       "bne 4b\n"                                                                                             \
                       "5:\n\t"                                                                                               \
                       "ldr %[t], %[rows]\n\t"                                                                                \
                       "ldr %[u], %[row_step]\n\t"                                                                            \
                       "ldr %[v], %[weight_step]\n\t"                                                                         \
                       "subs %[t], #1\n\t"                                                                                    \
                       "str %[t], %[rows]\n\t"                                                                                \
                       "beq 6f\n\t"                                                                                           \
                       "add %[input], %[u]\n\t"                                                                               \
                       "add %[w], %[v]\n\t"                                                                                   \
                       "b 2b\n"                                                                                               \
                       "6:\n\t"                                                                                               \
                       "ldr %[w], %[table]\n\t"                                                                               \
                       "ldr %[t], %[quant]\n\t"                                                                               \
                       "ldr %[u], %[back]\n\t"                                                                                \
                       "ldr %[n], %[offset]\n\t"                                                                              \
                       "add %[w], %[t]\n\t"                                                                                   \
                       "add %[input], %[u]\n\t" finish "ldr %[t], %[end]\n\t"                                                 \
                       "str %[w], %[table]\n\t"                                                                               \
                       "cmp %[w], %[t]\n\t"                                                                                   \
                       "bne 1b\n\t"                                                                                           \
                       : [s0] "=&r"(s0),                                                                                      \
                         [s1] "=&r"(s1),                                                                                      \
                         [s2] "=&r"(s2),                                                                                      \
                         [s3] "=&r"(s3),                                                                                      \
                         [u] "=&r"(u),                                                                                        \
                         [v] "=&r"(v),                                                                                        \
                         [t] "=&r"(t),                                                                                        \
                         [r] "=&r"(r),                                                                                        \
                         [n] "=&r"(n),                                                                                        \
                         [w] "=&r"(w),                                                                                        \
                         [input] "+r"(input),                                                                                 \
                         [to] "+r"(to),                                                                                       \
                         [table] "+m"(table),                                                                                 \
                         [rows] "+m"(rows)                                                                                    \
                       : [step] "r"(layer->step),                                                                             \
                         [offsets] "r"(layer->offsets),                                                                       \
                         [first] "m"(of.first),                                                                               \
                         [all_rows] "m"(of.rows),                                                                             \
                         [columns] "m"(of.columns),                                                                           \
                         [row_step] "m"(of.row_step),                                                                         \
                         [weight_step] "m"(of.weight_step),                                                                   \
                         [back] "m"(of.back),                                                                                 \
                         [quant] "m"(quant),                                                                                  \
                         [offset] "m"(offset),                                                                                \
                         [end] "m"(end)                                                                                       \
                       : "cc", "memory");                                                                                     \
    }

DEFINE_WINDOW(outputs_of_window, int8_t, TAP_OF_4, OUTPUTS("s0", "s1", "n") OUTPUTS("s2", "s3", "n"))
DEFINE_WINDOW(sums_of_window, int32_t, TAP_OF_4, SUMS)
DEFINE_WINDOW(sums_of_one_input, int32_t, TAP_OF_1, SUMS)

#undef TAP
#undef OUTPUTS
#undef TAP_OF_3X3
#undef ROW_OF_2
#undef ROW_OF_3
#undef NEXT_ROW
#undef DEFINE_TAPS
#undef TAP_OF_4
#undef TAP_OF_1
#undef SUMS
#undef DEFINE_WINDOW

/* Gives the first tap at or after position 0, at most `taps`. */
static inline int32_t first_tap(int32_t start, int32_t step, int32_t taps)
{
    return start >= 0 ? 0 : helia_nn_min((-start + step - 1) / step, taps);
}

/* Gives one past the last tap before `extent`, at least `first`. */
static inline int32_t end_tap(int32_t start, int32_t step, int32_t taps, int32_t extent, int32_t first)
{
    const int32_t end = start + (taps - 1) * step < extent ? taps : (extent - 1 - start + step) / step;
    return helia_nn_max(end, first);
}

/*
 * Writes the weights of a group, `step` bytes apart and `lanes` of them for each tap; gives the sums of their even and of their odd
 * pairs. Less than 256 weights of a channel add up to 16 bits.
 */
static inline __attribute__((always_inline)) void
fill_weights(const int8_t *weights, int32_t step, int32_t taps, int32_t lanes, int32_t *to, uint32_t sums[2])
{
    uint32_t even = 0, odd = 0;
#pragma GCC unroll 3
    for (; taps > 0; taps--)
    {
        uint32_t bytes = 0;
        memcpy(&bytes, weights, (size_t)lanes);
        to[0] = (int32_t)helia_nn_even_bytes(0, bytes);
        to[1] = (int32_t)helia_nn_odd_bytes(0, bytes);
        even = helia_nn_even_bytes(even, bytes);
        odd = helia_nn_odd_bytes(odd, bytes);
        weights += step;
        to += 2;
    }
    sums[0] = even;
    sums[1] = odd;
}

/*
 * Fills the groups of `count` output channels from `first` on; the last group may have lanes without a channel. The taps hold the input
 * offset and are left out where they are outside the input, so that folded sums, which have the offset for all of them, lose it.
 * Gives whether outputs need no look at their sums.
 */
static HELIA_NN_APART bool fill_table(const helia_nn_depthwise_layer *layer, int32_t first, int32_t count, int32_t *table)
{
    const int32_t *const from = layer->sums != NULL ? layer->sums : layer->bias;
    const int32_t taps = layer->filter_h * layer->filter_w, all = layer->channels * layer->ch_mult;
    const int32_t folded = layer->sums != NULL ? layer->input_offset : 0;
    const int32_t most = group_lanes(layer), quant = START_WORDS + 2 * taps;
    bool quick = true;
    for (; count > 0; count -= most, first += most, table += quant + QUANT_WORDS)
    {
        const int32_t lanes = helia_nn_min(count, most);
        uint32_t pairs[2];
        if (lanes == 4)
        {
            fill_weights(layer->filter + first, all, taps, 4, table + START_WORDS, pairs);
        }
        else
        {
            fill_weights(layer->filter + first, all, taps, lanes, table + START_WORDS, pairs);
        }
        for (int32_t i = 0; i < lanes; i++)
        {
            const int32_t sum = (int16_t)(pairs[i & 1] >> (8 * (i & 2)));
            const int32_t multiplier = layer->multiplier[first + i], shift = layer->shift[first + i];
            const int32_t given = from != NULL ? from[first + i] : 0;
            const int32_t start = (int32_t)((uint32_t)given - (uint32_t)(folded * sum));
            quick = quick && start < 1 << 29 && start > -(1 << 29) && multiplier >= 0 && shift <= -2;
            table[i] = start;
            table[quant + 2 * i] = multiplier;
            table[quant + 2 * i + 1] = helia_nn_shift_power(helia_nn_min(shift, -2));
        }
        for (int32_t i = lanes; i < 4; i++)
        {
            table[i] = table[quant + 2 * i] = table[quant + 2 * i + 1] = 0;
        }
    }
    return quick;
}

/* Sums of a pixel, without the table. */
static HELIA_NN_COLD void sums_of_pixel(
    const helia_nn_depthwise_layer *layer, int32_t first, int32_t count, int32_t top, int32_t left, int32_t *sums)
{
    const int32_t *const from = layer->sums != NULL ? layer->sums : layer->bias;
    const int32_t offset = layer->input_offset, all = layer->channels * layer->ch_mult;
    for (int32_t i = first; i < first + count; i++)
    {
        const int8_t *weight = layer->filter + i;
        int32_t sum = from != NULL ? from[i] : 0;
        for (int32_t y = 0; y < layer->filter_h; y++)
        {
            const int32_t row = top + y * layer->dilation_h;
            for (int32_t x = 0; x < layer->filter_w; x++, weight += all)
            {
                const int32_t column = left + x * layer->dilation_w;
                const bool inside = row >= 0 && row < layer->input_h && column >= 0 && column < layer->input_w;
                const int32_t at = (row * layer->input_w + column) * layer->channels + i / layer->ch_mult;
                /* Folded sums have the offset of all taps. */
                const int32_t value = inside ? layer->input[at] + offset : 0;
                sum += (value - (layer->sums != NULL ? offset : 0)) * *weight;
            }
        }
        *sums++ = sum;
    }
}

/* Writes the outputs of a pixel before the activation. */
typedef void (*pixel_function)(const tap_layer *layer, const tap_window *window, int8_t *to);

/*
 * Gives the function for a window of a chunk whose sums need not be looked at, or NULL where all its taps are outside; the steps of the
 * window are set.
 */
static pixel_function function_of(const helia_nn_depthwise_layer *layer, const tap_layer *constants, tap_window *window)
{
    const int32_t rows = window->rows, columns = window->columns;
    const bool neighbours = layer->filter_h == 3 && layer->filter_w == 3 && layer->dilation_w == 1;
    const int32_t up = (window->rows - 1) * constants->row_bytes;
    const int32_t next_group = group_step(layer);
    window->row_step = constants->row_bytes - columns * constants->step;
    window->weight_step = 8 * (layer->filter_w - columns);
    window->back = next_group - columns * constants->step - up;
    if (neighbours && rows >= 2 && columns >= 2)
    {
        window->back = next_group - up;
        return rows == 3 ? (columns == 3 ? taps_of_3x3 : taps_of_3x2) : (columns == 3 ? taps_of_2x3 : taps_of_2x2);
    }
    return rows > 0 && columns > 0 ? outputs_of_window : NULL;
}

/* A pixel of any constants. */
static HELIA_NN_APART void pixel_by_sums(const helia_nn_depthwise_layer *layer,
                                         const tap_layer *constants,
                                         const tap_window *window,
                                         int32_t first,
                                         int32_t count,
                                         int8_t *output)
{
    const int32_t lanes = group_lanes(layer), groups = (count + lanes - 1) / lanes;
    int32_t sums[MOST_CHANNELS];
    if (window->rows > 0 && window->columns > 0)
    {
        tap_window own = *window;
        own.back = group_step(layer) - own.columns * constants->step - (own.rows - 1) * constants->row_bytes;
        (layer->ch_mult > 1 ? sums_of_one_input : sums_of_window)(constants, &own, sums);
    }
    else
    {
        for (int32_t g = 0; g < groups; g++)
        {
            memcpy(sums + 4 * g, constants->table + g * (constants->quant / 4 + QUANT_WORDS), START_WORDS * sizeof *sums);
        }
    }
    for (int32_t g = 1; g < groups && lanes < 4; g++)
    {
        /* Two or three lanes; the last one is overwritten where there are two. */
        int32_t *const to = sums + g * lanes;
        const int32_t a = sums[4 * g], b = sums[4 * g + 1], c = sums[4 * g + 2];
        to[0] = a;
        to[1] = b;
        to[2] = c;
    }
    helia_nn_checked_row(
        layer->output_offset, sums, layer->multiplier + first, layer->shift + first, 1, count, output);
}

/* Some channels of a layer. */
static void chunk_of_layer(const helia_nn_depthwise_layer *layer, int32_t first, int32_t count)
{
    const int32_t channels = layer->channels, all = channels * layer->ch_mult;
    const int32_t taps = layer->filter_h * layer->filter_w;
    const int32_t reach = (layer->filter_w - 1) * layer->dilation_w;
    const int8_t *const input = layer->input + first / layer->ch_mult;
    int8_t *output = layer->output + first;
    int32_t table[TABLE_WORDS];
    const bool quick = fill_table(layer, first, count, table) && layer->ch_mult == 1;
    const tap_layer constants = {
        .table = table,
        .end = table + (count + group_lanes(layer) - 1) / group_lanes(layer) * group_words(taps),
        .step = layer->dilation_w * channels,
        .row_bytes = layer->dilation_h * layer->input_w * channels,
        .offsets = helia_nn_twice(layer->input_offset),
        .offset = layer->output_offset,
        .quant = 4 * (START_WORDS + 2 * taps),
    };
    tap_window window;
    for (int32_t y = 0; y < layer->output_h; y++)
    {
        const int32_t top = y * layer->stride_h - layer->pad_h;
        const int32_t y0 = first_tap(top, layer->dilation_h, layer->filter_h);
        const int8_t *const row = input + (top + y0 * layer->dilation_h) * layer->input_w * channels;
        int32_t left = -layer->pad_w;
        bool inside = false;
        pixel_function function = NULL;
        window.rows = end_tap(top, layer->dilation_h, layer->filter_h, layer->input_h, y0) - y0;
        for (int32_t x = 0; x < layer->output_w; x++, output += all, left += layer->stride_w)
        {
            const bool before = inside;
            inside = left >= 0 && left + reach < layer->input_w;
            if (before && inside)
            {
                /* The window is the one before, further on. */
                window.input += layer->stride_w * channels;
            }
            else
            {
                const int32_t x0 = first_tap(left, layer->dilation_w, layer->filter_w);
                window.columns = end_tap(left, layer->dilation_w, layer->filter_w, layer->input_w, x0) - x0;
                window.input = row + left * channels + x0 * constants.step;
                window.first = 8 * (y0 * layer->filter_w + x0);
                function = function_of(layer, &constants, &window);
            }
            if (quick && function != NULL)
            {
                function(&constants, &window, output);
            }
            else
            {
                pixel_by_sums(layer, &constants, &window, first, count, output);
            }
        }
    }
}

/* A layer whose filter is too large for a table, or that has too few channels for a word. */
static HELIA_NN_COLD void layer_without_table(const helia_nn_depthwise_layer *layer)
{
    const int32_t all = layer->channels * layer->ch_mult;
    int8_t *output = layer->output;
    for (int32_t y = 0; y < layer->output_h; y++)
    {
        for (int32_t x = 0; x < layer->output_w; x++)
        {
            const int32_t top = y * layer->stride_h - layer->pad_h, left = x * layer->stride_w - layer->pad_w;
            for (int32_t first = 0; first < all; first += MOST_CHANNELS)
            {
                const int32_t count = helia_nn_min(all - first, MOST_CHANNELS);
                int32_t sums[MOST_CHANNELS];
                sums_of_pixel(layer, first, count, top, left, sums);
                helia_nn_checked_row(
                    layer->output_offset, sums, layer->multiplier + first, layer->shift + first, 1, count, output + first);
            }
            output += all;
        }
    }
}

/* The whole layer. Less than four channels at the end are computed with some before them again. */
static void layer_by_pixels(const helia_nn_depthwise_layer *layer)
{
    const int32_t groups = helia_nn_min(TABLE_WORDS / group_words(layer->filter_h * layer->filter_w), MOST_CHANNELS / 4);
    const int32_t most = groups * group_lanes(layer), all = layer->channels * layer->ch_mult;
    if (groups == 0 || (layer->ch_mult == 1 && layer->channels < 4))
    {
        layer_without_table(layer);
    }
    else if (layer->ch_mult > 4)
    {
        for (int32_t channel = 0; channel < layer->channels; channel++)
        {
            for (int32_t at = 0; at < layer->ch_mult; at += most)
            {
                chunk_of_layer(layer, channel * layer->ch_mult + at, helia_nn_min(layer->ch_mult - at, most));
            }
        }
    }
    else
    {
        const int32_t whole = layer->ch_mult == 1 ? all & ~3 : all;
        for (int32_t first = 0; first < whole; first += most)
        {
            chunk_of_layer(layer, first, helia_nn_min(whole - first, most));
        }
        if (whole < all)
        {
            chunk_of_layer(layer, all - 4, 4);
        }
    }
    helia_nn_activate(&layer->activation, layer->output, layer->output_h * layer->output_w * all);
}

#endif /* HELIA_NN_SUPPORT_DEPTHWISE_S8_DSP_H */
