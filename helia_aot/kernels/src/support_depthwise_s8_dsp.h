/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution with ch_mult 1 for cores with the DSP extension: four channels of one pixel at a time. The channels stay in
 * the order of the packed bytes, so that a word of inputs and a word of weights need no rearrangement.
 */
#ifndef HELIA_NN_SUPPORT_DEPTHWISE_S8_DSP_H
#define HELIA_NN_SUPPORT_DEPTHWISE_S8_DSP_H

#include "support_depthwise_s8.h"
#include "support_output_dsp.h"

/* The taps of a pixel that fall inside the input. */
typedef struct
{
    const int8_t *input;   /* Of the first tap, channel 0. */
    const int8_t *weights; /* Likewise. */
    int32_t rows, columns;
    bool short_rows; /* The filter has rows of three neighbouring taps. */
    int32_t input_row_step, weights_row_step; /* Bytes from the end of a row of taps to the next row. */
    int32_t input_step;                       /* Bytes between the taps of a row. */
    int32_t channels;                         /* Bytes between the weights of the taps of a row. */
    uint32_t offsets;                         /* The input offset, twice. */
} tap_window;

/* One tap of four channels; 11 cycles with its two loads. */
#define TAP                                                                                                                   \
    "sxtab16 %[t], %[offsets], %[u]\n\t"                                                                                      \
    "sxtb16 %[r], %[v]\n\t"                                                                                                   \
    "sxtab16 %[u], %[offsets], %[u], ror #8\n\t"                                                                              \
    "sxtb16 %[v], %[v], ror #8\n\t"                                                                                           \
    "smlabb %[s0], %[t], %[r], %[s0]\n\t"                                                                                     \
    "smlatt %[s2], %[t], %[r], %[s2]\n\t"                                                                                     \
    "smlabb %[s1], %[u], %[v], %[s1]\n\t"                                                                                     \
    "smlatt %[s3], %[u], %[v], %[s3]\n\t"

/* A row of two or three neighbouring taps. */
#define ROW_OF_2                                                                                                              \
    "ldr %[u], [%[input]]\n\t"                                                                                                \
    "ldr %[v], [%[weights]]\n\t" TAP "ldr %[u], [%[input], %[step]]\n\t"                                                      \
    "ldr %[v], [%[weights], %[step]]\n\t" TAP

#define ROW_OF_3                                                                                                              \
    ROW_OF_2 "ldr %[u], [%[input], %[step], lsl #1]\n\t"                                                                      \
             "ldr %[v], [%[weights], %[step], lsl #1]\n\t" TAP

#define NEXT_ROW                                                                                                              \
    "ldr %[t], %[row_bytes]\n\t"                                                                                              \
    "add %[weights], %[step]\n\t"                                                                                             \
    "add %[weights], %[weights], %[step], lsl #1\n\t"                                                                         \
    "add %[input], %[t]\n\t"

/* Back from the last of three rows or of two to the first one, four channels on. */
#define BACK_3                                                                                                                \
    "ldr %[t], %[row_bytes]\n\t"                                                                                              \
    "sub %[weights], %[weights], %[step], lsl #1\n\t"                                                                         \
    "sub %[weights], %[weights], %[step], lsl #2\n\t"                                                                         \
    "sub %[input], %[input], %[t], lsl #1\n\t"
#define BACK_2                                                                                                                \
    "ldr %[t], %[row_bytes]\n\t"                                                                                              \
    "sub %[weights], %[step]\n\t"                                                                                             \
    "sub %[weights], %[weights], %[step], lsl #1\n\t"                                                                         \
    "sub %[input], %[t]\n\t"

/* A function for a number of rows and columns of a filter with three columns: `count` channels, a multiple of 4, 4 at least. */
#define DEFINE_TAPS(name, taps)                                                                                               \
    static HELIA_NN_APART void name(const int8_t *input,                                                                      \
                                    const int8_t *weights,                                                                    \
                                    int32_t step,                                                                             \
                                    int32_t input_row_bytes,                                                                  \
                                    uint32_t offsets,                                                                         \
                                    int32_t count,                                                                            \
                                    const int32_t *start,                                                                     \
                                    int32_t *sums)                                                                            \
    {                                                                                                                         \
        int32_t s0, s1, s2, s3;                                                                                               \
        uint32_t u, v, t, r;                                                                                                  \
        const int32_t *first = start;                                                                                         \
        int32_t *to = sums;                                                                                                   \
        int32_t *end = sums + count;                                                                                          \
        int32_t row_bytes = input_row_bytes;                                                                                  \
        __asm volatile("1:\n\t"                                                                                               \
                       "ldr %[t], %[first]\n\t"                                                                               \
                       "ldr %[s0], [%[t]], #4\n\t"                                                                            \
                       "ldr %[s1], [%[t]], #4\n\t"                                                                            \
                       "ldr %[s2], [%[t]], #4\n\t"                                                                            \
                       "ldr %[s3], [%[t]], #4\n\t"                                                                            \
                       "str %[t], %[first]\n\t" taps                                                                          \
                       "ldr %[t], %[to]\n\t"                                                                                  \
                       "ldr %[u], %[end]\n\t"                                                                                 \
                       "str %[s0], [%[t]], #4\n\t"                                                                            \
                       "str %[s1], [%[t]], #4\n\t"                                                                            \
                       "str %[s2], [%[t]], #4\n\t"                                                                            \
                       "str %[s3], [%[t]], #4\n\t"                                                                            \
                       "str %[t], %[to]\n\t"                                                                                  \
                       "add %[input], #4\n\t"                                                                                 \
                       "add %[weights], #4\n\t"                                                                               \
                       "cmp %[t], %[u]\n\t"                                                                                   \
                       "bne 1b\n\t"                                                                                           \
                       : [s0] "=&r"(s0),                                                                                      \
                         [s1] "=&r"(s1),                                                                                      \
                         [s2] "=&r"(s2),                                                                                      \
                         [s3] "=&r"(s3),                                                                                      \
                         [u] "=&r"(u),                                                                                        \
                         [v] "=&r"(v),                                                                                        \
                         [t] "=&r"(t),                                                                                        \
                         [r] "=&r"(r),                                                                                        \
                         [input] "+r"(input),                                                                                 \
                         [weights] "+r"(weights),                                                                             \
                         [first] "+m"(first),                                                                                 \
                         [to] "+m"(to)                                                                                        \
                       : [step] "r"(step), [offsets] "r"(offsets), [row_bytes] "m"(row_bytes), [end] "m"(end)                 \
                       : "cc", "memory");                                                                                     \
    }

DEFINE_TAPS(taps_of_3x3, ROW_OF_3 NEXT_ROW ROW_OF_3 NEXT_ROW ROW_OF_3 BACK_3)
DEFINE_TAPS(taps_of_3x2, ROW_OF_2 NEXT_ROW ROW_OF_2 NEXT_ROW ROW_OF_2 BACK_3)
DEFINE_TAPS(taps_of_2x3, ROW_OF_3 NEXT_ROW ROW_OF_3 BACK_2)
DEFINE_TAPS(taps_of_2x2, ROW_OF_2 NEXT_ROW ROW_OF_2 BACK_2)

/*
 * Adds any number of taps of a row, 1 at least, to `start`: `count` channels, a multiple of 4, 4 at least. The taps are as far apart as
 * their weights; those of an odd number are one and then pairs. `sums` may be `start`.
 */
static HELIA_NN_APART void taps_of_row(const int8_t *input,
                                       const int8_t *weights,
                                       int32_t step,
                                       int32_t taps,
                                       uint32_t offsets,
                                       int32_t count,
                                       const int32_t *start,
                                       int32_t *sums)
{
    int32_t s0, s1, s2, s3, n;
    uint32_t u, v, t, r;
    /* What does not fit into registers. */
    const int32_t *first = start;
    int32_t *to = sums;
    int32_t *end = sums + count;
    int32_t all = taps, back = taps * step - 4;
    __asm volatile("1:\n\t"
                   "ldr %[t], %[first]\n\t"
                   "ldr %[n], %[all]\n\t"
                   "ldr %[s0], [%[t]], #4\n\t"
                   "ldr %[s1], [%[t]], #4\n\t"
                   "ldr %[s2], [%[t]], #4\n\t"
                   "ldr %[s3], [%[t]], #4\n\t"
                   "str %[t], %[first]\n\t"
                   "lsrs %[n], #1\n\t"
                   "bcc 2f\n\t"
                   "ldr %[u], [%[input]]\n\t"
                   "ldr %[v], [%[weights]]\n\t" TAP "add %[input], %[step]\n\t"
                   "add %[weights], %[step]\n\t"
                   "cmp %[n], #0\n"
                   "2:\n\t"
                   "beq 4f\n"
                   "3:\n\t" ROW_OF_2 "add %[input], %[input], %[step], lsl #1\n\t"
                   "add %[weights], %[weights], %[step], lsl #1\n\t"
                   "subs %[n], #1\n\t"
                   "bne 3b\n"
                   "4:\n\t"
                   "ldr %[t], %[to]\n\t"
                   "ldr %[u], %[end]\n\t"
                   "ldr %[v], %[back]\n\t"
                   "str %[s0], [%[t]], #4\n\t"
                   "str %[s1], [%[t]], #4\n\t"
                   "str %[s2], [%[t]], #4\n\t"
                   "str %[s3], [%[t]], #4\n\t"
                   "str %[t], %[to]\n\t"
                   "sub %[input], %[v]\n\t"
                   "sub %[weights], %[v]\n\t"
                   "cmp %[t], %[u]\n\t"
                   "bne 1b\n\t"
                   : [s0] "=&r"(s0),
                     [s1] "=&r"(s1),
                     [s2] "=&r"(s2),
                     [s3] "=&r"(s3),
                     [u] "=&r"(u),
                     [v] "=&r"(v),
                     [t] "=&r"(t),
                     [r] "=&r"(r),
                     [n] "=&r"(n),
                     [input] "+r"(input),
                     [weights] "+r"(weights),
                     [first] "+m"(first),
                     [to] "+m"(to)
                   : [step] "r"(step), [offsets] "r"(offsets), [all] "m"(all), [back] "m"(back), [end] "m"(end)
                   : "cc", "memory");
}

/* Any taps. */
static void taps_of_rows(const tap_window *window, int32_t channel, int32_t count, const int32_t *start, int32_t *sums)
{
    const int8_t *input = window->input + channel;
    const int8_t *weights = window->weights + channel;
    const int32_t channels = window->channels, input_step = window->input_step;
    /* Taps of a dilated row are done one by one. */
    const int32_t together = input_step == channels ? window->columns : 1;
    if (window->rows == 0 || window->columns == 0)
    {
        memcpy(sums, start, (size_t)count * sizeof *sums);
        return;
    }
    for (int32_t row = 0; row < window->rows; row++)
    {
        for (int32_t column = 0; column < window->columns; column += together)
        {
            taps_of_row(input + column * input_step,
                        weights + column * channels,
                        channels,
                        together,
                        window->offsets,
                        count,
                        start,
                        sums);
            start = sums;
        }
        input += window->columns * input_step + window->input_row_step;
        weights += window->columns * channels + window->weights_row_step;
    }
}

#undef TAP
#undef ROW_OF_2
#undef ROW_OF_3
#undef NEXT_ROW
#undef BACK_2
#undef BACK_3
#undef DEFINE_TAPS

static int32_t add_taps_of_1(const tap_window *window, int32_t channel, int32_t sum)
{
    const int32_t offset = (int16_t)window->offsets;
    const int8_t *input = window->input + channel;
    const int8_t *weights = window->weights + channel;
    for (int32_t rows = window->rows; rows > 0; rows--)
    {
        for (int32_t columns = window->columns; columns > 0; columns--)
        {
            sum += (*input + offset) * *weights;
            input += window->input_step;
            weights += window->channels;
        }
        input += window->input_row_step;
        weights += window->weights_row_step;
    }
    return sum;
}

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

/* The sums of a chunk of channels. */
static void sums_of_chunk(const tap_window *window, int32_t channel, int32_t count, const int32_t *start, int32_t *sums)
{
    const int32_t fours = count & ~3;
    const bool known = window->short_rows && (window->rows == 3 || window->rows == 2) &&
                       (window->columns == 3 || window->columns == 2) && fours > 0;
    if (known)
    {
        const int32_t row_bytes = window->input_row_step + window->columns * window->channels;
        (window->rows == 3 ? (window->columns == 3 ? taps_of_3x3 : taps_of_3x2)
                           : (window->columns == 3 ? taps_of_2x3 : taps_of_2x2))(window->input + channel,
                                                                                 window->weights + channel,
                                                                                 window->channels,
                                                                                 row_bytes,
                                                                                 window->offsets,
                                                                                 fours,
                                                                                 start,
                                                                                 sums);
    }
    else if (fours > 0)
    {
        taps_of_rows(window, channel, fours, start, sums);
    }
    for (int32_t i = fours; i < count; i++)
    {
        sums[i] = add_taps_of_1(window, channel + i, start[i]);
    }
}

/*
 * Start values of a chunk of channels for taps that hold the input offset and are left out where they are outside the input: folded sums
 * have the offset for all of them.
 */
static void start_of_chunk(const helia_nn_depthwise_layer *layer, int32_t first, int32_t count, int32_t *start)
{
    const int32_t *const from = layer->sums != NULL ? layer->sums : layer->bias;
    const int32_t taps = layer->sums != NULL ? layer->filter_h * layer->filter_w : 0;
    for (int32_t i = 0; i < count; i++)
    {
        int32_t weights = 0;
        for (int32_t tap = 0; tap < taps; tap++)
        {
            weights += layer->filter[tap * layer->channels + first + i];
        }
        start[i] = (int32_t)((uint32_t)(from != NULL ? from[first + i] : 0) - (uint32_t)(layer->input_offset * weights));
    }
}

/* Some channels of a layer. */
static void chunk_of_layer(const helia_nn_depthwise_layer *layer, int32_t first, int32_t count)
{
    const int32_t channels = layer->channels;
    const int32_t *const multiplier = layer->multiplier + first, *const shift = layer->shift + first;
    int8_t *output = layer->output + first;
    int32_t start[HELIA_NN_CHUNK], sums[HELIA_NN_CHUNK];
    start_of_chunk(layer, first, count, start);
    const helia_nn_output_rule rule = {
        .offset = layer->output_offset,
        .activation = layer->activation,
        .kind = helia_nn_output_kind_of(start, multiplier, shift, true, count, layer->filter_h * layer->filter_w),
    };
    tap_window window = {.input_step = layer->dilation_w * channels,
                         .channels = channels,
                         .short_rows = layer->filter_w == 3 && layer->dilation_w == 1,
                         .offsets = helia_nn_twice(layer->input_offset)};
    for (int32_t y = 0; y < layer->output_h; y++)
    {
        const int32_t top = y * layer->stride_h - layer->pad_h;
        const int32_t y0 = first_tap(top, 1, layer->filter_h);
        window.rows = end_tap(top, 1, layer->filter_h, layer->input_h, y0) - y0;
        for (int32_t x = 0; x < layer->output_w; x++)
        {
            const int32_t left = x * layer->stride_w - layer->pad_w;
            const int32_t x0 = first_tap(left, layer->dilation_w, layer->filter_w);
            const int32_t x1 = end_tap(left, layer->dilation_w, layer->filter_w, layer->input_w, x0);
            window.columns = x1 - x0;
            window.input =
                layer->input + ((top + y0) * layer->input_w + left) * channels + x0 * window.input_step;
            window.input_row_step = layer->input_w * channels - window.columns * window.input_step;
            window.weights = layer->filter + (y0 * layer->filter_w + x0) * channels;
            window.weights_row_step = (layer->filter_w - window.columns) * channels;
            sums_of_chunk(&window, first, count, start, sums);
            helia_nn_outputs(&rule, sums, 1, multiplier, shift, 1, count, output, 0);
            output += channels;
        }
    }
}

/* The whole layer. */
static void layer_by_pixels(const helia_nn_depthwise_layer *layer)
{
    for (int32_t first = 0; first < layer->channels; first += HELIA_NN_CHUNK)
    {
        chunk_of_layer(layer, first, helia_nn_min(layer->channels - first, HELIA_NN_CHUNK));
    }
}

#endif /* HELIA_NN_SUPPORT_DEPTHWISE_S8_DSP_H */
