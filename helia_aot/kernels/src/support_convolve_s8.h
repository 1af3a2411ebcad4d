/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the int8 convolution entries share: argument rules, the output stage, and the gathering of input patches.
 */
#ifndef HELIA_NN_SUPPORT_CONVOLVE_S8_H
#define HELIA_NN_SUPPORT_CONVOLVE_S8_H

#include "support_matmul_s8.h"

#include <string.h>

static inline helia_nn_output_stage helia_nn_conv_output_stage(const cmsis_nn_context *weight_sum_ctx,
                                                               const cmsis_nn_conv_params *params,
                                                               const cmsis_nn_per_channel_quant_params *quant,
                                                               const int32_t *bias,
                                                               int32_t channels,
                                                               int32_t depth)
{
    (void)depth;
    return (helia_nn_output_stage){
        .sums = weight_sum_ctx != NULL ? (const int32_t *)weight_sum_ctx->buf : NULL,
        .bias = bias,
        .input_offset = params->input_offset,
        .multiplier = quant->multiplier,
        .shift = quant->shift,
        .per_channel = true,
        .shifts_right = helia_nn_all_negative(quant->shift, channels),
        .output_offset = params->output_offset,
        .activation = params->activation,
#if defined(HELIA_NN_DSP)
        .kind = helia_nn_output_kind_of(
            weight_sum_ctx != NULL && weight_sum_ctx->buf != NULL ? (const int32_t *)weight_sum_ctx->buf : bias,
            quant->multiplier,
            quant->shift,
            true,
            channels,
            depth),
#endif
    };
}

static inline bool helia_nn_no_dilation(const cmsis_nn_conv_params *params)
{
    return params->dilation.w == 1 && params->dilation.h == 1;
}

static inline bool helia_nn_no_padding(const cmsis_nn_conv_params *params)
{
    return params->padding.w == 0 && params->padding.h == 0;
}

/* Upscaling of the input is not part of the library: NULL or all ones. */
static inline bool helia_nn_no_upscale(const cmsis_nn_dims *upscale)
{
    return upscale == NULL || (upscale->w <= 1 && upscale->h <= 1);
}

static inline bool helia_nn_pointwise(const cmsis_nn_conv_params *params,
                                      const cmsis_nn_dims *input,
                                      const cmsis_nn_dims *filter)
{
    return filter->w == 1 && filter->h == 1 && filter->c == input->c && helia_nn_no_padding(params) &&
           helia_nn_no_dilation(params);
}

/* Bytes between two im2col columns, see arm_convolve_s8_get_buffer_size(). */
static inline int32_t helia_nn_column_bytes(const cmsis_nn_dims *input, const cmsis_nn_dims *filter)
{
    return (filter->w * filter->h * input->c + 7) & ~7;
}

/* Copies a few bytes; `count` may be 0. */
static inline void helia_nn_copy(int8_t *target, const int8_t *source, int32_t count)
{
#if defined(HELIA_NN_MVE)
    __asm volatile("wlstp.8 lr, %[count], 2f\n"
                   "1:\n\t"
                   "vldrb.8 q0, [%[source]], #16\n\t"
                   "vstrb.8 q0, [%[target]], #16\n\t"
                   "letp lr, 1b\n"
                   "2:\n\t"
                   : [source] "+r"(source), [target] "+r"(target)
                   : [count] "r"(count)
                   : "q0", "lr", "memory");
#elif defined(HELIA_NN_DSP)
    /* Small C libraries copy byte by byte. */
    for (; count >= 4; count -= 4)
    {
        helia_nn_store_word(target, helia_nn_load_word(source));
        target += 4;
        source += 4;
    }
    for (; count > 0; count--)
    {
        *target++ = *source++;
    }
#else
    memcpy(target, source, (size_t)count);
#endif
}

/* Sets a few bytes; `count` may be 0. */
static inline void helia_nn_fill(int8_t *target, int32_t value, int32_t count)
{
#if defined(HELIA_NN_MVE)
    __asm volatile("wlstp.8 lr, %[count], 2f\n"
                   "1:\n\t"
                   "vstrb.8 %q[vector], [%[target]], #16\n\t"
                   "letp lr, 1b\n"
                   "2:\n\t"
                   : [target] "+r"(target)
                   : [count] "r"(count), [vector] "w"(vdupq_n_s8((int8_t)value))
                   : "lr", "memory");
#elif defined(HELIA_NN_DSP)
    for (; count >= 4; count -= 4)
    {
        helia_nn_store_word(target, (uint8_t)value * 0x01010101u);
        target += 4;
    }
    for (; count > 0; count--)
    {
        *target++ = (int8_t)value;
    }
#else
    memset(target, (int)value, (size_t)count);
#endif
}

/* Copies `rows` rows of `row_bytes` bytes, `row_step` bytes apart, one behind the other. */
static inline void helia_nn_copy_rows(int8_t *target, const int8_t *source, int32_t row_bytes, int32_t row_step, int32_t rows)
{
    for (; rows > 0; rows--)
    {
        helia_nn_copy(target, source, row_bytes);
        target += row_bytes;
        source += row_step;
    }
}

/* helia_nn_gather_patch() without dilation for patches that leave the input. */
static HELIA_NN_COLD void helia_nn_gather_edge_patch(const int8_t *input,
                                                     const cmsis_nn_dims *input_dims,
                                                     const cmsis_nn_dims *filter_dims,
                                                     int32_t zero_point,
                                                     int32_t top,
                                                     int32_t left,
                                                     int8_t *column)
{
    const int32_t channels = input_dims->c;
    const int32_t width = filter_dims->w;
    const int32_t before = helia_nn_clamp(-left, 0, width);
    const int32_t after = helia_nn_clamp(left + width - input_dims->w, 0, width - before);
    const int32_t above = helia_nn_clamp(-top, 0, filter_dims->h);
    const int32_t below = helia_nn_clamp(top + filter_dims->h - input_dims->h, 0, filter_dims->h - above);
    const int32_t inside_bytes = (width - before - after) * channels;
    helia_nn_fill(column, zero_point, above * width * channels);
    column += above * width * channels;
    for (int32_t ky = above; ky < filter_dims->h - below; ky++)
    {
        if (before > 0)
        {
            helia_nn_fill(column, zero_point, before * channels);
            column += before * channels;
        }
        helia_nn_copy(column, input + ((top + ky) * input_dims->w + left + before) * channels, inside_bytes);
        column += inside_bytes;
        if (after > 0)
        {
            helia_nn_fill(column, zero_point, after * channels);
            column += after * channels;
        }
    }
    helia_nn_fill(column, zero_point, below * width * channels);
}

/* helia_nn_gather_patch() with dilation. */
static HELIA_NN_COLD void helia_nn_gather_dilated_patch(const int8_t *input,
                                                        const cmsis_nn_dims *input_dims,
                                                        const cmsis_nn_dims *filter_dims,
                                                        const cmsis_nn_conv_params *params,
                                                        int32_t top,
                                                        int32_t left,
                                                        int8_t *column)
{
    const int32_t channels = input_dims->c;
    for (int32_t ky = 0; ky < filter_dims->h; ky++)
    {
        const int32_t y = top + ky * params->dilation.h;
        for (int32_t kx = 0; kx < filter_dims->w; kx++, column += channels)
        {
            const int32_t x = left + kx * params->dilation.w;
            if (y < 0 || y >= input_dims->h || x < 0 || x >= input_dims->w)
            {
                helia_nn_fill(column, -params->input_offset, channels);
            }
            else
            {
                helia_nn_copy(column, input + (y * input_dims->w + x) * channels, channels);
            }
        }
    }
}

/*
 * Gathers the input patch of one output position into `column`: K_H * K_W * C_IN bytes. Positions outside the input hold the
 * input zero point. `top` and `left` are the patch's first row and column and may be outside.
 */
static inline void helia_nn_gather_patch(const int8_t *input,
                                         const cmsis_nn_dims *input_dims,
                                         const cmsis_nn_dims *filter_dims,
                                         const cmsis_nn_conv_params *params,
                                         int32_t top,
                                         int32_t left,
                                         int8_t *column)
{
    if (!helia_nn_no_dilation(params))
    {
        helia_nn_gather_dilated_patch(input, input_dims, filter_dims, params, top, left, column);
    }
    else if (top >= 0 && left >= 0 && top + filter_dims->h <= input_dims->h && left + filter_dims->w <= input_dims->w)
    {
        const int32_t row_step = input_dims->w * input_dims->c;
        helia_nn_copy_rows(column,
                           input + top * row_step + left * input_dims->c,
                           filter_dims->w * input_dims->c,
                           row_step,
                           filter_dims->h);
    }
    else
    {
        helia_nn_gather_edge_patch(input, input_dims, filter_dims, -params->input_offset, top, left, column);
    }
}

#endif /* HELIA_NN_SUPPORT_CONVOLVE_S8_H */
