/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The depthwise convolution, for the element type of the support_f32.h or support_f16.h before it.
 *
 * The products of an output are added column after column of the filter in every form, so that all forms give the same halves.
 */
#ifndef HELIA_NN_SUPPORT_DEPTHWISE_FLT_H
#define HELIA_NN_SUPPORT_DEPTHWISE_FLT_H

typedef struct
{
    const helia_nn_dw_conv_params *params;
    const cmsis_nn_dims *input;
    const cmsis_nn_dims *filter;
    const cmsis_nn_dims *output;
    const helia_nn_real *kernel;
    const helia_nn_real *bias;
} helia_nn_depthwise;

static inline bool helia_nn_depthwise_rule(const helia_nn_depthwise *layer)
{
    const helia_nn_dw_conv_params *params = layer->params;
    return helia_nn_positive(layer->input) && helia_nn_positive(layer->filter) && helia_nn_positive(layer->output) &&
           layer->input->n == layer->output->n && layer->output->c == layer->input->c * params->ch_mult &&
           layer->filter->c == layer->output->c && params->stride.h > 0 && params->stride.w > 0;
}

/* The taps [first, end) of `taps` that read inside [0, size); tap t reads start + t * dilation. */
typedef struct
{
    int32_t first, end;
} helia_nn_taps;

static inline helia_nn_taps helia_nn_inside(int32_t start, int32_t dilation, int32_t taps, int32_t size)
{
    helia_nn_taps inside = {0, taps};
    while (inside.first < taps && start + inside.first * dilation < 0)
    {
        inside.first++;
    }
    while (inside.end > inside.first && start + (inside.end - 1) * dilation >= size)
    {
        inside.end--;
    }
    return inside;
}

/* The taps of an output pixel that are inside the input: `rows` by `columns` of them, channel 0 of the first at `x` and `w`. */
typedef struct
{
    const helia_nn_real *x;
    const helia_nn_real *w;
    int32_t rows, columns;
    int32_t x_row, x_column; /* Elements from a tap to the one below it and to its right. */
    int32_t w_row, w_column;
} helia_nn_dw_window;

/* `input` is the batch. */
static inline helia_nn_dw_window
helia_nn_dw_window_at(const helia_nn_depthwise *layer, const helia_nn_real *input, int32_t out_y, int32_t out_x)
{
    const helia_nn_dw_conv_params *params = layer->params;
    const int32_t channels = layer->input->c;
    const int32_t top = out_y * params->stride.h - params->padding.h;
    const int32_t left = out_x * params->stride.w - params->padding.w;
    const helia_nn_taps rows = helia_nn_inside(top, params->dilation.h, layer->filter->h, layer->input->h);
    const helia_nn_taps columns = helia_nn_inside(left, params->dilation.w, layer->filter->w, layer->input->w);
    const int32_t y = top + rows.first * params->dilation.h;
    const int32_t x = left + columns.first * params->dilation.w;
    return (helia_nn_dw_window){
        .x = input + (y * layer->input->w + x) * channels,
        .w = layer->kernel + (rows.first * layer->filter->w + columns.first) * layer->output->c,
        .rows = rows.end - rows.first,
        .columns = columns.end - columns.first,
        .x_row = params->dilation.h * layer->input->w * channels,
        .x_column = params->dilation.w * channels,
        .w_row = layer->filter->w * layer->output->c,
        .w_column = layer->output->c,
    };
}

/* One output pixel from channel `first` on, with any channel multiplier. */
static inline void
helia_nn_dw_pixel(const helia_nn_depthwise *layer, const helia_nn_dw_window *window, int32_t first, helia_nn_real *out)
{
    const helia_nn_dw_conv_params *params = layer->params;
    for (int32_t channel = first; channel < layer->output->c; channel++)
    {
        helia_nn_real sum = layer->bias != NULL ? layer->bias[channel] : (helia_nn_real)0;
        for (int32_t column = 0; column < window->columns; column++)
        {
            const helia_nn_real *x = window->x + column * window->x_column + channel / params->ch_mult;
            const helia_nn_real *w = window->w + column * window->w_column + channel;
            for (int32_t row = 0; row < window->rows; row++)
            {
                sum = helia_nn_chain(sum, x[row * window->x_row], w[row * window->w_row]);
            }
        }
        out[channel] =
            (helia_nn_real)helia_nn_limit((float32_t)sum, params->activation.min, params->activation.max);
    }
}

#if defined(HELIA_NN_MVE_FLOAT)

/* Channels that are neighbours: a whole vector, or the last few (`whole` is a constant, `valid` counts for the last few). */
static inline helia_nn_vector helia_nn_load_some(const helia_nn_real *from, bool whole, mve_pred16_t valid)
{
    return whole ? helia_nn_load_whole(from) : helia_nn_load(from, valid);
}

static inline void helia_nn_store_some(helia_nn_real *to, helia_nn_vector value, bool whole, mve_pred16_t valid)
{
    if (whole)
    {
        helia_nn_store_whole(to, value);
    }
    else
    {
        helia_nn_store(to, value, valid);
    }
}

static inline helia_nn_vector
helia_nn_dw_bias(const helia_nn_depthwise *layer, int32_t channel, bool whole, mve_pred16_t valid)
{
    if (layer->bias == NULL)
    {
        return helia_nn_duplicate(0);
    }
    return helia_nn_load_some(layer->bias + channel, whole, valid);
}

static inline helia_nn_vector helia_nn_dw_tap(
    helia_nn_vector sum, const helia_nn_real *x, const helia_nn_real *w, bool whole, mve_pred16_t valid)
{
    return helia_nn_multiply_add(sum, helia_nn_load_some(x, whole, valid), helia_nn_load_some(w, whole, valid));
}

/* As an operand of assembly: it reads from the address on. Unlike a clobber this leaves what else is in memory known. */
#define HELIA_NN_READS(from) "m"(*(const helia_nn_real(*)[])(from))

#define HELIA_NN_ASM_NEXT_TO(v, at, step) HELIA_NN_ASM_LOAD "%q[" v "], [%[" at "]]\n\tadd %[" at "], %[" at "], %[" step "]\n\t"
#define HELIA_NN_ASM_TAP(v, weight) HELIA_NN_ASM_MULTIPLY_ADD "%q[sum], %q[" v "], %q[" weight "]\n\t"

/* Three taps, one below the other; whole vectors. A multiplication follows the loads of the tap after it. */
static inline helia_nn_vector helia_nn_dw_three_taps(
    helia_nn_vector sum, const helia_nn_real *x, const helia_nn_real *w, int32_t x_row, int32_t w_row)
{
    helia_nn_vector v0, v1, w0, w1;
    __asm volatile(HELIA_NN_ASM_NEXT_TO("v0", "x", "x_row") HELIA_NN_ASM_NEXT_TO("w0", "w", "w_row")
                   HELIA_NN_ASM_NEXT_TO("v1", "x", "x_row") HELIA_NN_ASM_TAP("v0", "w0")
                   HELIA_NN_ASM_NEXT_TO("w1", "w", "w_row") HELIA_NN_ASM_LOAD "%q[v0], [%[x]]\n\t"
                   HELIA_NN_ASM_TAP("v1", "w1") HELIA_NN_ASM_LOAD "%q[w0], [%[w]]\n\t" HELIA_NN_ASM_TAP("v0", "w0")
                   : [sum] "+w"(sum), [v0] "=&w"(v0), [v1] "=&w"(v1), [w0] "=&w"(w0), [w1] "=&w"(w1), [x] "+r"(x),
                     [w] "+r"(w)
                   : [x_row] "r"(x_row * (int32_t)sizeof *x), [w_row] "r"(w_row * (int32_t)sizeof *w),
                     HELIA_NN_READS(x), HELIA_NN_READS(w));
    return sum;
}

/* One vector of channels of one output pixel; one output for each channel. */
static inline void helia_nn_dw_vector(
    const helia_nn_depthwise *layer, const helia_nn_dw_window *window, int32_t channel, helia_nn_real *out, bool whole)
{
    const mve_pred16_t valid = helia_nn_first(layer->input->c - channel);
    const helia_nn_real *x = window->x + channel;
    const helia_nn_real *w = window->w + channel;
    helia_nn_vector sum = helia_nn_dw_bias(layer, channel, whole, valid);
    const int32_t x_row = window->x_row;
    const int32_t w_row = window->w_row;
    const int32_t x_column = window->x_column;
    const int32_t w_column = window->w_column;
    if (whole && window->rows == 3)
    {
        for (int32_t columns = window->columns; columns > 0; columns--, x += x_column, w += w_column)
        {
            sum = helia_nn_dw_three_taps(sum, x, w, x_row, w_row);
        }
    }
    else
    {
        for (int32_t columns = window->columns; columns > 0; columns--, x += x_column, w += w_column)
        {
            const helia_nn_real *from = x;
            const helia_nn_real *weight = w;
            for (int32_t rows = window->rows; rows > 0; rows--, from += x_row, weight += w_row)
            {
                sum = helia_nn_dw_tap(sum, from, weight, whole, valid);
            }
        }
    }
    const helia_nn_vector low = helia_nn_duplicate(layer->params->activation.min);
    const helia_nn_vector high = helia_nn_duplicate(layer->params->activation.max);
    helia_nn_store_some(out + channel, helia_nn_limit_vector(sum, low, high), whole, valid);
}

/* The sums of four output pixels, one below the other. */
typedef struct
{
    helia_nn_vector s0, s1, s2, s3;
} helia_nn_dw_sums;

#define HELIA_NN_ASM_NEXT_INPUT HELIA_NN_ASM_LOAD "%q[v], [%[x]]\n\tadd %[x], %[x], %[x_row]\n\t"
#define HELIA_NN_ASM_ADD_TO(sum, weight) HELIA_NN_ASM_MULTIPLY_ADD "%q[" sum "], %q[v], %q[" weight "]\n\t"

/* One column of three weights on six inputs; whole vectors. */
static inline helia_nn_dw_sums helia_nn_dw_column(
    helia_nn_dw_sums sums, const helia_nn_real *x, const helia_nn_real *w, int32_t x_row, int32_t w_row)
{
    helia_nn_vector v, w0, w1, w2;
    __asm volatile(HELIA_NN_ASM_LOAD "%q[w0], [%[w]]\n\t"
                   "add %[w], %[w], %[w_row]\n\t" HELIA_NN_ASM_NEXT_INPUT HELIA_NN_ASM_ADD_TO("s0", "w0")
                   HELIA_NN_ASM_LOAD "%q[w1], [%[w]]\n\t"
                   "add %[w], %[w], %[w_row]\n\t" HELIA_NN_ASM_NEXT_INPUT HELIA_NN_ASM_ADD_TO("s0", "w1")
                   HELIA_NN_ASM_LOAD "%q[w2], [%[w]]\n\t" HELIA_NN_ASM_ADD_TO("s1", "w0") HELIA_NN_ASM_NEXT_INPUT
                   HELIA_NN_ASM_ADD_TO("s0", "w2") HELIA_NN_ASM_ADD_TO("s1", "w1") HELIA_NN_ASM_ADD_TO("s2", "w0")
                   HELIA_NN_ASM_NEXT_INPUT HELIA_NN_ASM_ADD_TO("s1", "w2") HELIA_NN_ASM_ADD_TO("s2", "w1")
                   HELIA_NN_ASM_ADD_TO("s3", "w0") HELIA_NN_ASM_NEXT_INPUT HELIA_NN_ASM_ADD_TO("s2", "w2")
                   HELIA_NN_ASM_ADD_TO("s3", "w1") HELIA_NN_ASM_NEXT_INPUT HELIA_NN_ASM_ADD_TO("s3", "w2")
                   : [s0] "+w"(sums.s0), [s1] "+w"(sums.s1), [s2] "+w"(sums.s2), [s3] "+w"(sums.s3), [v] "=&w"(v),
                     [w0] "=&w"(w0), [w1] "=&w"(w1), [w2] "=&w"(w2), [x] "+r"(x), [w] "+r"(w)
                   : [x_row] "r"(x_row * (int32_t)sizeof *x), [w_row] "r"(w_row * (int32_t)sizeof *w),
                     HELIA_NN_READS(x), HELIA_NN_READS(w));
    return sums;
}

/* helia_nn_dw_column() for the last few channels. */
static inline helia_nn_dw_sums helia_nn_dw_column_of_few(helia_nn_dw_sums sums,
                                                         const helia_nn_real *x,
                                                         const helia_nn_real *w,
                                                         int32_t x_row,
                                                         int32_t w_row,
                                                         mve_pred16_t valid)
{
    for (int32_t row = 0; row < 3; row++)
    {
        const helia_nn_vector weight = helia_nn_load(w + row * w_row, valid);
        const helia_nn_real *from = x + row * x_row;
        sums.s0 = helia_nn_multiply_add(sums.s0, helia_nn_load(from, valid), weight);
        sums.s1 = helia_nn_multiply_add(sums.s1, helia_nn_load(from + x_row, valid), weight);
        sums.s2 = helia_nn_multiply_add(sums.s2, helia_nn_load(from + 2 * x_row, valid), weight);
        sums.s3 = helia_nn_multiply_add(sums.s3, helia_nn_load(from + 3 * x_row, valid), weight);
    }
    return sums;
}

/*
 * One vector of channels of four output pixels one below the other: a filter of three rows, vertical stride and dilation 1, all
 * rows inside. Each of the six input vectors of a column is loaded once and multiplied by up to three weights.
 */
static inline void helia_nn_dw_four_rows(
    const helia_nn_depthwise *layer, const helia_nn_dw_window *window, int32_t channel, helia_nn_real *out, bool whole)
{
    const mve_pred16_t valid = helia_nn_first(layer->input->c - channel);
    const helia_nn_real *x = window->x + channel;
    const helia_nn_real *w = window->w + channel;
    const helia_nn_vector bias = helia_nn_dw_bias(layer, channel, whole, valid);
    helia_nn_dw_sums sums = {bias, bias, bias, bias};
    for (int32_t columns = window->columns; columns > 0; columns--)
    {
        sums = whole ? helia_nn_dw_column(sums, x, w, window->x_row, window->w_row)
                     : helia_nn_dw_column_of_few(sums, x, w, window->x_row, window->w_row, valid);
        x += window->x_column;
        w += window->w_column;
    }
    const helia_nn_vector low = helia_nn_duplicate(layer->params->activation.min);
    const helia_nn_vector high = helia_nn_duplicate(layer->params->activation.max);
    const int32_t out_row = layer->output->w * layer->output->c;
    out += channel;
    helia_nn_store_some(out, helia_nn_limit_vector(sums.s0, low, high), whole, valid);
    helia_nn_store_some(out + out_row, helia_nn_limit_vector(sums.s1, low, high), whole, valid);
    helia_nn_store_some(out + 2 * out_row, helia_nn_limit_vector(sums.s2, low, high), whole, valid);
    helia_nn_store_some(out + 3 * out_row, helia_nn_limit_vector(sums.s3, low, high), whole, valid);
}

/* All vectors of one output pixel, or of four. */
#define HELIA_NN_DW_VECTORS(function)                                                                                         \
    do                                                                                                                        \
    {                                                                                                                         \
        int32_t channel = 0;                                                                                                  \
        for (; channel + HELIA_NN_REALS <= layer->input->c; channel += HELIA_NN_REALS)                                        \
        {                                                                                                                     \
            function(layer, &window, channel, out, true);                                                                     \
        }                                                                                                                     \
        if (channel < layer->input->c)                                                                                        \
        {                                                                                                                     \
            function(layer, &window, channel, out, false);                                                                    \
        }                                                                                                                     \
    } while (0)

/* Row `y` of one batch. */
static inline void
helia_nn_dw_row(const helia_nn_depthwise *layer, const helia_nn_real *input, int32_t y, helia_nn_real *out)
{
    for (int32_t x = 0; x < layer->output->w; x++)
    {
        const helia_nn_dw_window window = helia_nn_dw_window_at(layer, input, y, x);
        if (layer->params->ch_mult == 1)
        {
            HELIA_NN_DW_VECTORS(helia_nn_dw_vector);
        }
        else
        {
            helia_nn_dw_pixel(layer, &window, 0, out);
        }
        out += layer->output->c;
    }
}

/* Rows `y` to `y + 3` of one batch, where helia_nn_dw_four_rows() takes them. */
static inline void
helia_nn_dw_rows(const helia_nn_depthwise *layer, const helia_nn_real *input, int32_t y, helia_nn_real *out)
{
    for (int32_t x = 0; x < layer->output->w; x++)
    {
        const helia_nn_dw_window window = helia_nn_dw_window_at(layer, input, y, x);
        HELIA_NN_DW_VECTORS(helia_nn_dw_four_rows);
        out += layer->output->c;
    }
}

/* Rows of one batch that go four at a time: computed from `*first` on; gives how many, 0 or at least 4. */
static inline int32_t helia_nn_dw_fours(
    const helia_nn_depthwise *layer, const helia_nn_real *input, int32_t *first, helia_nn_real *output)
{
    const helia_nn_dw_conv_params *params = layer->params;
    const int32_t row = layer->output->w * layer->output->c;
    const int32_t last = helia_nn_min(layer->input->h - 6 + params->padding.h, layer->output->h - 4);
    *first = params->padding.h;
    if (params->ch_mult != 1 || layer->filter->h != 3 || params->stride.h != 1 || params->dilation.h != 1 || *first > last)
    {
        return 0;
    }
    for (int32_t y = *first; y < last; y += 4)
    {
        helia_nn_dw_rows(layer, input, y, output + y * row);
    }
    /* The last four may begin with rows that are done: they come out the same. */
    helia_nn_dw_rows(layer, input, last, output + last * row);
    return last + 4 - *first;
}

#else

/* Channels whose sums are kept at the same time. */
#define HELIA_NN_DW_CHANNELS 4

/* As helia_nn_dw_pixel() for the channels from `channel` on, which have a filter each. */
static inline void helia_nn_dw_block(
    const helia_nn_depthwise *layer, const helia_nn_dw_window *window, int32_t channel, helia_nn_real *out)
{
    helia_nn_real sums[HELIA_NN_DW_CHANNELS];
    for (int32_t i = 0; i < HELIA_NN_DW_CHANNELS; i++)
    {
        sums[i] = layer->bias != NULL ? layer->bias[channel + i] : (helia_nn_real)0;
    }
    for (int32_t column = 0; column < window->columns; column++)
    {
        const helia_nn_real *x = window->x + column * window->x_column + channel;
        const helia_nn_real *w = window->w + column * window->w_column + channel;
        for (int32_t row = window->rows; row > 0; row--)
        {
            for (int32_t i = 0; i < HELIA_NN_DW_CHANNELS; i++)
            {
                sums[i] = helia_nn_chain(sums[i], x[i], w[i]);
            }
            x += window->x_row;
            w += window->w_row;
        }
    }
    for (int32_t i = 0; i < HELIA_NN_DW_CHANNELS; i++)
    {
        out[channel + i] = (helia_nn_real)helia_nn_limit(
            (float32_t)sums[i], layer->params->activation.min, layer->params->activation.max);
    }
}

static inline void
helia_nn_dw_row(const helia_nn_depthwise *layer, const helia_nn_real *input, int32_t y, helia_nn_real *out)
{
    for (int32_t x = 0; x < layer->output->w; x++)
    {
        const helia_nn_dw_window window = helia_nn_dw_window_at(layer, input, y, x);
        int32_t channel = 0;
        if (layer->params->ch_mult == 1)
        {
            for (; channel + HELIA_NN_DW_CHANNELS <= layer->output->c; channel += HELIA_NN_DW_CHANNELS)
            {
                helia_nn_dw_block(layer, &window, channel, out);
            }
        }
        helia_nn_dw_pixel(layer, &window, channel, out);
        out += layer->output->c;
    }
}

static inline int32_t helia_nn_dw_fours(
    const helia_nn_depthwise *layer, const helia_nn_real *input, int32_t *first, helia_nn_real *output)
{
    (void)layer;
    (void)input;
    (void)output;
    *first = 0;
    return 0;
}

#endif /* HELIA_NN_MVE_FLOAT */

static inline void helia_nn_depthwise_run(
    const helia_nn_depthwise *layer, const helia_nn_real *input, helia_nn_real *output)
{
    const cmsis_nn_dims *out = layer->output;
    const int32_t row = out->w * out->c;
    for (int32_t batch = 0; batch < out->n; batch++)
    {
        int32_t first;
        const int32_t done = helia_nn_dw_fours(layer, input, &first, output);
        for (int32_t y = 0; y < out->h; y++)
        {
            if (y == first)
            {
                y += done;
            }
            if (y < out->h)
            {
                helia_nn_dw_row(layer, input, y, output + y * row);
            }
        }
        input += layer->input->h * layer->input->w * layer->input->c;
        output += out->h * row;
    }
}

#endif /* HELIA_NN_SUPPORT_DEPTHWISE_FLT_H */
