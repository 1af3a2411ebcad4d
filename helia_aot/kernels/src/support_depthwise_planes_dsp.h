/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise 3x3 convolution with stride 1 for cores with the DSP extension: tiles of four channels are widened to int16 and taken apart into planes,
 * so that SMLAD multiplies two taps of one row.
 *
 * A plane is stored column by column; each word holds two neighbouring pixels of a row. Three weights w0, w1, w2 of a filter row make
 * the words (w0, w1) and (w1, w2). An output at an even column of the plane takes the pixels of a word A and the lower one of the next
 * word B, one at an odd column the upper one of A and both of B: either way one SMLAD and one product of halves. Going down a column,
 * each pair of words is loaded once and added to the three outputs that it belongs to.
 */
#ifndef HELIA_NN_SUPPORT_DEPTHWISE_PLANES_DSP_H
#define HELIA_NN_SUPPORT_DEPTHWISE_PLANES_DSP_H

#include "support_depthwise_s8.h"
#include "support_output_dsp.h"

/* Words of a column, and columns of a plane. The assembly has the bytes of a column as a number. */
#define PLANE_ROWS 17
#define PLANE_COLUMNS 7
#define PLANE_WORDS (PLANE_ROWS * PLANE_COLUMNS)
#define PLANE_COLUMN_BYTES "68"

/* Outputs of a column at most; a multiple of 3, as they are computed by threes. */
#define COLUMN_OUTPUTS 15

/* Sums of a channel, with one word more for each column. */
#define SUM_WORDS ((COLUMN_OUTPUTS + 1) * (2 * PLANE_COLUMNS - 2))

/* One channel: the words of its three filter rows, and what makes outputs of its sums. */
typedef struct
{
    uint32_t weights[6];
    int32_t start, multiplier, shift;
    bool quick; /* see quick_outputs() */
} plane_channel;

/* The pixels of a tile, for one group of channels. */
typedef struct
{
    int32_t top, left;    /* Of the input, may be outside. */
    int32_t rows, words;  /* Of the planes. */
    const int8_t *input;  /* The first channel of the group. */
    uint32_t offsets;     /* Added to each pixel, twice. */
    uint32_t padding;     /* Four pixels outside the input. */
} plane_tile;

/* The same channel of two neighbours, for four channels whose words lie `step` words apart. */
static inline void pair_channels(uint32_t offsets, uint32_t u, uint32_t v, uint32_t *to, int32_t step)
{
    const uint32_t even_u = helia_nn_even_bytes(offsets, u), even_v = helia_nn_even_bytes(offsets, v);
    const uint32_t odd_u = helia_nn_odd_bytes(offsets, u), odd_v = helia_nn_odd_bytes(offsets, v);
    to[0] = helia_nn_lower_halves(even_u, even_v);
    to[step] = helia_nn_lower_halves(odd_u, odd_v);
    to[2 * step] = helia_nn_upper_halves(even_u, even_v);
    to[3 * step] = helia_nn_upper_halves(odd_u, odd_v);
}

/* A column of words where both pixels are inside the input, `step` bytes apart; `rows` of them. */
static void load_pairs(
    uint32_t offsets, const int8_t *from, int32_t step, int32_t row_bytes, int32_t rows, uint32_t *to)
{
#pragma GCC unroll 2
    for (; rows > 0; rows--)
    {
        const uint32_t u = helia_nn_load_word(from), v = helia_nn_load_word(from + step);
        pair_channels(offsets, u, v, to++, PLANE_WORDS);
        from += row_bytes;
    }
}

/* A column of words where one pixel is outside the input: the second one, or the first one where `padded_first` is set. */
static void load_edge(uint32_t offsets,
                      const int8_t *from,
                      bool padded_first,
                      uint32_t padding,
                      int32_t row_bytes,
                      int32_t rows,
                      uint32_t *to)
{
    for (; rows > 0; rows--)
    {
        const uint32_t pixel = helia_nn_load_word(from);
        pair_channels(offsets, padded_first ? padding : pixel, padded_first ? pixel : padding, to++, PLANE_WORDS);
        from += row_bytes;
    }
}

/* Some rows of a column of words outside the input. */
static void load_padding(const plane_tile *tile, int32_t rows, uint32_t *to)
{
    for (; rows > 0; rows--)
    {
        pair_channels(tile->offsets, tile->padding, tile->padding, to++, PLANE_WORDS);
    }
}

static void load_planes(const helia_nn_depthwise_layer *layer, const plane_tile *tile, uint32_t *planes)
{
    const int32_t channels = layer->channels, width = layer->input_w;
    const int32_t row_bytes = width * channels;
    const int32_t above = helia_nn_clamp(-tile->top, 0, tile->rows);
    const int32_t inside = helia_nn_clamp(layer->input_h - tile->top, above, tile->rows) - above;
    const int8_t *from = tile->input + (tile->top + above) * row_bytes + tile->left * channels;
    int32_t x = tile->left;
    for (int32_t word = 0; word < tile->words; word++, planes += PLANE_ROWS)
    {
        uint32_t *const to = planes + above;
        load_padding(tile, above, planes);
        if (x >= 0 && x + 1 < width)
        {
            load_pairs(tile->offsets, from, channels, row_bytes, inside, to);
        }
        else if (x == -1 || x == width - 1)
        {
            load_edge(tile->offsets, x < 0 ? from + channels : from, x < 0, tile->padding, row_bytes, inside, to);
        }
        else
        {
            load_padding(tile, inside, to);
        }
        load_padding(tile, tile->rows - above - inside, to + inside);
        x += 2;
        from += 2 * channels;
    }
}

/* The next row's two words. */
#define LOAD_ROW                                                                                                              \
    "ldr %[a], [%[from]], #4\n\t"                                                                                             \
    "ldr %[b], [%[from], #" PLANE_COLUMN_BYTES " - 4]\n\t"

/* Adds the products of a filter row to a sum, or sets the sum to them. */
#define EVEN_MORE(sum, w01, w12)                                                                                              \
    "smlad %[" sum "], %[a], %[" w01 "], %[" sum "]\n\t"                                                                      \
    "smlabt %[" sum "], %[b], %[" w12 "], %[" sum "]\n\t"
#define EVEN_FIRST(sum, w01, w12)                                                                                             \
    "smuad %[" sum "], %[a], %[" w01 "]\n\t"                                                                                  \
    "smlabt %[" sum "], %[b], %[" w12 "], %[" sum "]\n\t"
#define ODD_MORE(sum, w01, w12)                                                                                               \
    "smlatb %[" sum "], %[a], %[" w01 "], %[" sum "]\n\t"                                                                     \
    "smlad %[" sum "], %[b], %[" w12 "], %[" sum "]\n\t"
#define ODD_FIRST(sum, w01, w12)                                                                                              \
    "smultb %[" sum "], %[a], %[" w01 "]\n\t"                                                                                 \
    "smlad %[" sum "], %[b], %[" w12 "], %[" sum "]\n\t"

#define LOAD_WEIGHTS                                                                                                          \
    "ldr %[w0], [%[w5]]\n\t"                                                                                                  \
    "ldr %[w1], [%[w5], #4]\n\t"                                                                                              \
    "ldr %[w2], [%[w5], #8]\n\t"                                                                                              \
    "ldr %[w3], [%[w5], #12]\n\t"                                                                                             \
    "ldr %[w4], [%[w5], #16]\n\t"                                                                                             \
    "ldr %[w5], [%[w5], #20]\n\t"

/* A row that completes the first sum; the sum before it is stored where the core would wait for the loads. */
#define STEP(MORE, FIRST, before, first, second, third)                                                                       \
    LOAD_ROW "str %[" before "], [%[to]], #4\n\t" MORE(first, "w4", "w5") MORE(second, "w2", "w3") FIRST(third, "w0", "w1")

/* To the next column; the first word of its sums is overwritten. */
#define START_COLUMN                                                                                                          \
    "ldr %[from], %[column]\n\t"                                                                                              \
    "ldr %[a], %[bytes]\n\t"                                                                                                 \
    "add %[end], %[to], %[a]\n\t"

/* All outputs of a column with stride 1, by threes. */
#define COLUMN(label, MORE, FIRST)                                                                                            \
    LOAD_ROW FIRST("s0", "w0", "w1") LOAD_ROW MORE("s0", "w2", "w3") FIRST("s1", "w0", "w1") label                             \
        ":\n\t" STEP(MORE, FIRST, "s2", "s0", "s1", "s2") STEP(MORE, FIRST, "s0", "s1", "s2", "s0")                           \
            STEP(MORE, FIRST, "s1", "s2", "s0", "s1") "cmp %[to], %[end]\n\t"                                                 \
                                                      "bne " label "b\n\t"                                                   \
                                                      "str %[s2], [%[to]], #4\n\t"

/* Ends the loop behind the last column. */
#define COUNT_COLUMN                                                                                                          \
    "ldr %[a], %[columns]\n\t"                                                                                               \
    "subs %[a], #1\n\t"                                                                                                      \
    "str %[a], %[columns]\n\t"                                                                                               \
    "beq 9f\n\t"

/* Goes on to the word column after the one that was begun with. */
#define NEXT_WORDS                                                                                                            \
    "ldr %[a], %[column]\n\t"                                                                                                \
    "add %[a], #" PLANE_COLUMN_BYTES "\n\t"                                                                                  \
    "str %[a], %[column]\n\t"

/*
 * A function for the sums of a plane, column by column, `pitch` - 1 of each behind a word without meaning. `pitch` - 1 is a multiple of
 * 3, and `pitch` + 1 rows are read.
 */
#define DEFINE_PLANE(name, code)                                                                                              \
    static HELIA_NN_APART void name(                                                                                          \
        const uint32_t *plane, const uint32_t *weights, int32_t pitch, int32_t count, int32_t *to)                            \
    {                                                                                                                         \
        const uint32_t *column = plane, *from;                                                                                \
        int32_t columns = count, bytes = 4 * (pitch - 1);                                                                     \
        int32_t s0, s1, s2;                                                                                                   \
        uint32_t a, b, w0, w1, w2, w3, w4;                                                                                    \
        int32_t *end;                                                                                                         \
        __asm volatile(LOAD_WEIGHTS "mov %[s2], #0\n"                                                                         \
                                    "0:\n\t" code "b 0b\n"                                                                   \
                                    "9:\n\t"                                                                                 \
                       : [s0] "=&r"(s0),                                                                                      \
                         [s1] "=&r"(s1),                                                                                      \
                         [s2] "=&r"(s2),                                                                                      \
                         [a] "=&r"(a),                                                                                        \
                         [b] "=&r"(b),                                                                                        \
                         [w0] "=&r"(w0),                                                                                      \
                         [w1] "=&r"(w1),                                                                                      \
                         [w2] "=&r"(w2),                                                                                      \
                         [w3] "=&r"(w3),                                                                                      \
                         [w4] "=&r"(w4),                                                                                      \
                         [w5] "+r"(weights),                                                                                  \
                         [from] "=&r"(from),                                                                                  \
                         [to] "+r"(to),                                                                                       \
                         [end] "=&r"(end),                                                                                    \
                         [column] "+m"(column),                                                                               \
                         [columns] "+m"(columns)                                                                              \
                       : [bytes] "m"(bytes)                                                                                   \
                       : "cc", "memory");                                                                                     \
    }

DEFINE_PLANE(sums_of_plane,
             START_COLUMN COLUMN("1", EVEN_MORE, EVEN_FIRST) COUNT_COLUMN START_COLUMN COLUMN("2", ODD_MORE, ODD_FIRST)
                 COUNT_COLUMN NEXT_WORDS)

#undef LOAD_ROW
#undef EVEN_MORE
#undef EVEN_FIRST
#undef ODD_MORE
#undef ODD_FIRST
#undef LOAD_WEIGHTS
#undef STEP
#undef START_COLUMN
#undef COLUMN
#undef COUNT_COLUMN
#undef NEXT_WORDS
#undef DEFINE_PLANE

/* An output from the double of a sum without its start; see quick_outputs(). */
#define OUTPUT(sum)                                                                                                           \
    "add %[" sum "], %[start], %[" sum "], lsl #1\n\t"                                                                       \
    "smmulr %[" sum "], %[" sum "], %[multiplier]\n\t"                                                                       \
    "add %[" sum "], %[" sum "], %[" sum "], asr #31\n\t"                                                                    \
    "smmlar %[" sum "], %[" sum "], %[power], %[offset]\n\t"                                                                 \
    "ssat %[" sum "], #8, %[" sum "]\n\t"

/*
 * Outputs of a channel before the activation, from sums as sums_of_plane() leaves them. `row_bytes` lie between the outputs of a
 * column, `pixel_bytes` between columns. Shifts as helia_nn_rounded_shift().
 */
static HELIA_NN_APART void quick_outputs(const plane_channel *channel,
                                         int32_t offset,
                                         const int32_t *sums,
                                         int32_t pitch,
                                         int32_t rows,
                                         int32_t columns,
                                         int8_t *output,
                                         int32_t row_bytes,
                                         int32_t pixel_bytes)
{
    const int32_t start = 2 * channel->start, multiplier = channel->multiplier;
    const int32_t power = helia_nn_shift_power(channel->shift);
    const int32_t two_rows = 2 * row_bytes, three_rows = 3 * row_bytes;
    /* What does not fit into registers. */
    int32_t threes = rows / 3, rest = rows % 3, next_column = pixel_bytes - rows * row_bytes, next_sums = 4 * (pitch - rows);
    int32_t s0, s1, s2, count;
    const int32_t *from = sums + 1;
    int8_t *to = output;
    __asm volatile("0:\n\t"
                   "ldr %[count], %[threes]\n\t"
                   "cmp %[count], #0\n\t"
                   "beq 2f\n"
                   "1:\n\t"
                   "ldr %[s0], [%[from]], #4\n\t"
                   "ldr %[s1], [%[from]], #4\n\t"
                   "ldr %[s2], [%[from]], #4\n\t" OUTPUT("s0") OUTPUT("s1") OUTPUT("s2") "strb %[s0], [%[to]]\n\t"
                   "strb %[s1], [%[to], %[row]]\n\t"
                   "strb %[s2], [%[to], %[two_rows]]\n\t"
                   "add %[to], %[three_rows]\n\t"
                   "subs %[count], #1\n\t"
                   "bne 1b\n"
                   "2:\n\t"
                   "ldr %[count], %[rest]\n\t"
                   "ldr %[s1], %[next_sums]\n\t"
                   "ldr %[s2], %[next_column]\n\t"
                   "cmp %[count], #0\n\t"
                   "beq 4f\n"
                   "3:\n\t"
                   "ldr %[s0], [%[from]], #4\n\t" OUTPUT("s0") "strb %[s0], [%[to]]\n\t"
                   "add %[to], %[row]\n\t"
                   "subs %[count], #1\n\t"
                   "bne 3b\n"
                   "4:\n\t"
                   "add %[from], %[s1]\n\t"
                   "add %[to], %[s2]\n\t"
                   "subs %[columns], #1\n\t"
                   "bne 0b\n\t"
                   : [s0] "=&r"(s0),
                     [s1] "=&r"(s1),
                     [s2] "=&r"(s2),
                     [count] "=&r"(count),
                     [from] "+r"(from),
                     [to] "+r"(to),
                     [columns] "+r"(columns)
                   : [row] "r"(row_bytes),
                     [two_rows] "r"(two_rows),
                     [three_rows] "r"(three_rows),
                     [start] "r"(start),
                     [multiplier] "r"(multiplier),
                     [power] "r"(power),
                     [offset] "r"(offset),
                     [threes] "m"(threes),
                     [rest] "m"(rest),
                     [next_column] "m"(next_column),
                     [next_sums] "m"(next_sums)
                   : "cc", "memory");
}

#undef OUTPUT

/* The same for any start, multiplier and shift. */
static HELIA_NN_COLD void any_outputs(const plane_channel *channel,
                                      int32_t offset,
                                      const int32_t *sums,
                                      int32_t pitch,
                                      int32_t rows,
                                      int32_t columns,
                                      int8_t *output,
                                      int32_t row_bytes,
                                      int32_t pixel_bytes)
{
    for (; columns > 0; columns--, sums += pitch, output += pixel_bytes)
    {
        for (int32_t i = 0; i < rows; i++)
        {
            const int32_t scaled =
                helia_nn_requantize(channel->start + sums[1 + i], channel->multiplier, channel->shift);
            output[i * row_bytes] = (int8_t)helia_nn_clamp(scaled + offset, INT8_MIN, INT8_MAX);
        }
    }
}

/* One channel of a tile. */
static void channel_of_tile(const helia_nn_depthwise_layer *layer,
                            const plane_channel *channel,
                            const uint32_t *plane,
                            int32_t rows,
                            int32_t columns,
                            int8_t *output)
{
    const int32_t pitch = 1 + (rows + 2) / 3 * 3;
    int32_t sums[SUM_WORDS];
    sums_of_plane(plane, channel->weights, pitch, columns, sums);
    (channel->quick ? quick_outputs : any_outputs)(channel,
                                                   layer->output_offset,
                                                   sums,
                                                   pitch,
                                                   rows,
                                                   columns,
                                                   output,
                                                   layer->output_w * layer->channels,
                                                   layer->channels);
}

/* Four channels from `first` on. */
static void prepare_channels(const helia_nn_depthwise_layer *layer, int32_t first, plane_channel channels[4])
{
    const int32_t *const start = layer->sums != NULL ? layer->sums : layer->bias;
    const int8_t *weights = layer->filter + first;
    const int32_t step = (int32_t)(sizeof *channels / sizeof *channels->weights);
    for (int32_t y = 0; y < 3; y++, weights += 3 * layer->channels)
    {
        const uint32_t w0 = helia_nn_load_word(weights), w1 = helia_nn_load_word(weights + layer->channels);
        const uint32_t w2 = helia_nn_load_word(weights + 2 * layer->channels);
        pair_channels(0, w0, w1, channels->weights + 2 * y, step);
        pair_channels(0, w1, w2, channels->weights + 2 * y + 1, step);
    }
    for (int32_t i = 0; i < 4; i++)
    {
        plane_channel *const channel = channels + i;
        channel->start = start != NULL ? start[first + i] : 0;
        channel->multiplier = layer->multiplier[first + i];
        channel->shift = layer->shift[first + i];
        const bool small = channel->start < 1 << 29 && channel->start > -(1 << 29);
        channel->quick = small && channel->multiplier >= 0 && channel->shift <= -2;
    }
}

/* Whether layer_in_planes() takes the layer: its shape, and outputs enough to make up for the planes. */
static bool planes_rule(const helia_nn_depthwise_layer *layer)
{
    return layer->filter_h == 3 && layer->filter_w == 3 && layer->dilation_h == 1 && layer->dilation_w == 1 &&
           layer->ch_mult == 1 && layer->channels >= 4 && layer->stride_h == 1 && layer->stride_w == 1 &&
           layer->output_h >= 5 && layer->output_h * layer->output_w >= 64;
}

/* The whole layer. A last group of less than four channels computes some of the group before it again. */
static void layer_in_planes(const helia_nn_depthwise_layer *layer)
{
    const int32_t tiles = (layer->output_h + COLUMN_OUTPUTS - 1) / COLUMN_OUTPUTS;
    /* Tiles of about the same height, by threes. */
    const int32_t tile_rows = ((layer->output_h + tiles - 1) / tiles + 2) / 3 * 3;
    const int32_t tile_columns = 2 * PLANE_COLUMNS - 2;
    uint32_t planes[4 * PLANE_WORDS];
    plane_channel channels[4];
    plane_tile tile = {
        .offsets = helia_nn_twice(layer->sums != NULL ? 0 : layer->input_offset),
        .padding = (uint8_t)-layer->input_offset * UINT32_C(0x01010101),
    };
    for (int32_t next = 0; next < layer->channels; next += 4)
    {
        const int32_t first = helia_nn_min(next, layer->channels - 4);
        prepare_channels(layer, first, channels);
        tile.input = layer->input + first;
        for (int32_t y = 0; y < layer->output_h; y += tile_rows)
        {
            const int32_t rows = helia_nn_min(layer->output_h - y, tile_rows);
            tile.top = y - layer->pad_h;
            tile.rows = rows + 2;
            for (int32_t x = 0; x < layer->output_w; x += tile_columns)
            {
                const int32_t columns = helia_nn_min(layer->output_w - x, tile_columns);
                tile.left = x - layer->pad_w;
                tile.words = (columns + 3) / 2;
                load_planes(layer, &tile, planes);
                for (int32_t i = 0; i < 4; i++)
                {
                    channel_of_tile(layer,
                                    channels + i,
                                    planes + i * PLANE_WORDS,
                                    rows,
                                    columns,
                                    layer->output + (y * layer->output_w + x) * layer->channels + first + i);
                }
            }
        }
    }
    helia_nn_activate(&layer->activation, layer->output, layer->output_h * layer->output_w * layer->channels);
}

#endif /* HELIA_NN_SUPPORT_DEPTHWISE_PLANES_DSP_H */
