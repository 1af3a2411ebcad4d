/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_groups_s8.h"

/* Output positions that are gathered before one matrix product; the scratch size follows from it. */
#define COLUMNS 4

#if defined(HELIA_NN_DSP)

/* Widens `count` times the number that stands for padding. */
static uint32_t *widen_padding(int32_t value, int32_t count, uint32_t *to)
{
    const uint32_t twice = helia_nn_twice(value);
    for (int32_t i = count / 4; i > 0; i--)
    {
        *to++ = twice;
        *to++ = twice;
    }
    return to;
}

/* Widens a patch without dilation straight from the input, whose channels are a multiple of 4; `padding` has the offset. */
static HELIA_NN_APART void widen_patch(const int8_t *input,
                        const cmsis_nn_dims *input_dims,
                        const cmsis_nn_dims *filter_dims,
                        int32_t offset,
                        int32_t padding,
                        int32_t top,
                        int32_t left,
                        uint32_t *to)
{
    const int32_t channels = input_dims->c;
    const int32_t before = helia_nn_clamp(-left, 0, filter_dims->w) * channels;
    const int32_t after =
        helia_nn_clamp(left + filter_dims->w - input_dims->w, 0, filter_dims->w) * channels;
    const int32_t row_bytes = filter_dims->w * channels;
    const int32_t inside = row_bytes - before - after;
    const int8_t *from = input + (top * input_dims->w + left) * channels + before;
    for (int32_t y = top; y < top + filter_dims->h; y++)
    {
        if (y < 0 || y >= input_dims->h || inside <= 0)
        {
            to = widen_padding(padding, row_bytes, to);
        }
        else
        {
            to = widen_padding(padding, before, to);
            helia_nn_widen_row(from, inside, offset, to);
            to = widen_padding(padding, after, to + inside / 2);
        }
        from += input_dims->w * channels;
    }
}

/* Filters that are copied to the stack at most, see patch_in_order(). */
#define FILTER_BYTES 1024

/* Widens a patch without dilation inside the input, whose rows are whole words. */
static HELIA_NN_APART void inside_in_words(
    const int8_t *input, int32_t row_step, int32_t row_bytes, int32_t rows, uint32_t offsets, uint32_t *wide)
{
    for (; rows > 0; rows--, input += row_step)
    {
        wide = helia_nn_widen_words(input, row_bytes >> 2, offsets, wide);
    }
}

/* Widens four bytes in their order. */
static inline void widen_word(uint32_t offsets, const int8_t *from, int16_t *to)
{
    const uint32_t bytes = helia_nn_load_word(from);
    const uint32_t even = helia_nn_even_bytes(offsets, bytes), odd = helia_nn_odd_bytes(offsets, bytes);
    helia_nn_store_word(to, helia_nn_lower_halves(even, odd));
    helia_nn_store_word(to + 2, helia_nn_upper_halves(even, odd));
}

/* Widens a patch without dilation inside the input in its order; its rows have 4 bytes at least. */
static HELIA_NN_APART void inside_in_order(
    const int8_t *input, int32_t row_step, int32_t row_bytes, int32_t rows, uint32_t offsets, uint32_t *wide)
{
    int16_t *to = (int16_t *)wide;
    /* The last word may have some bytes of the one before. */
    const int32_t before_last = (row_bytes - 1) / 4;
    for (; rows > 0; rows--, input += row_step, to += row_bytes)
    {
        const int8_t *from = input;
        int16_t *next = to;
        int32_t words = before_last;
        if ((words & 1) != 0)
        {
            widen_word(offsets, from, next);
            from += 4;
            next += 4;
        }
        for (words >>= 1; words != 0; words--)
        {
            widen_word(offsets, from, next);
            widen_word(offsets, from + 4, next + 4);
            from += 8;
            next += 8;
        }
        widen_word(offsets, input + row_bytes - 4, to + row_bytes - 4);
    }
}

/* Widens `count` bytes in their order; gives where the numbers end. */
static inline int16_t *widen_in_order(const int8_t *from, int32_t count, int32_t offset, int16_t *to)
{
    const uint32_t offsets = helia_nn_twice(offset);
    for (; count >= 4; count -= 4, from += 4, to += 4)
    {
        widen_word(offsets, from, to);
    }
    for (; count > 0; count--)
    {
        *to++ = (int16_t)(*from++ + offset);
    }
    return to;
}

/* Writes `count` times the number that stands for padding; gives where they end. */
static inline int16_t *pad_in_order(int32_t padding, int32_t count, int16_t *to)
{
    for (; count >= 2; count -= 2, to += 2)
    {
        helia_nn_store_word(to, helia_nn_twice(padding));
    }
    if (count > 0)
    {
        *to++ = (int16_t)padding;
    }
    return to;
}

/*
 * Widens a patch without dilation whose rows are no whole words, straight from the input and in its order. Its filters are copies:
 * filled up with zeros to whole words, the inner two bytes of each exchanged, so that they fall apart into pairs of neighbours.
 */
static HELIA_NN_COLD void patch_in_order(const int8_t *input,
                           const cmsis_nn_dims *input_dims,
                           const cmsis_nn_dims *filter_dims,
                           int32_t offset,
                           int32_t padding,
                           int32_t top,
                           int32_t left,
                           uint32_t *wide)
{
    const int32_t channels = input_dims->c;
    const int32_t row_bytes = filter_dims->w * channels;
    const int32_t before = helia_nn_clamp(-left, 0, filter_dims->w) * channels;
    const int32_t after = helia_nn_clamp(left + filter_dims->w - input_dims->w, 0, filter_dims->w) * channels;
    const int8_t *from = input + (top * input_dims->w + left) * channels + before;
    int16_t *to = (int16_t *)wide;
    for (int32_t y = top; y < top + filter_dims->h; y++)
    {
        if (y < 0 || y >= input_dims->h || row_bytes <= before + after)
        {
            to = pad_in_order(padding, row_bytes, to);
        }
        else
        {
            to = pad_in_order(padding, before, to);
            to = widen_in_order(from, row_bytes - before - after, offset, to);
            to = pad_in_order(padding, after, to);
        }
        from += input_dims->w * channels;
    }
}

/* Copies filters for patch_in_order(). */
static void copy_filters(const int8_t *filter, int32_t channels, int32_t depth, int8_t *to)
{
    for (; channels > 0; channels--)
    {
        for (int32_t i = 0; i < depth; i += 4)
        {
            int8_t bytes[4] = {0};
            helia_nn_copy(bytes, filter + i, helia_nn_min(depth - i, 4));
            *to++ = bytes[0];
            *to++ = bytes[2];
            *to++ = bytes[1];
            *to++ = bytes[3];
        }
        filter += depth;
    }
}

/*
 * Two positions at a time: both widened patches together have the size of the scratch, four columns of bytes. Patches that cannot be
 * widened straight from the input are gathered at the end of the memory that they are widened to.
 */
static void convolve(int8_t *scratch,
                     const helia_nn_output_stage *stage,
                     const cmsis_nn_conv_params *params,
                     const cmsis_nn_dims *input_dims,
                     const int8_t *input,
                     const cmsis_nn_dims *filter_dims,
                     const int8_t *filter,
                     const cmsis_nn_dims *output_dims,
                     int8_t *output)
{
    const int32_t depth = filter_dims->w * filter_dims->h * input_dims->c;
    const int32_t whole_words = (depth + 3) & ~3;
    const int32_t channels = output_dims->c;
    const int32_t offset = stage->sums != NULL ? 0 : params->input_offset;
    const int32_t padding = offset - params->input_offset;
    const bool dense = helia_nn_no_dilation(params);
    const bool straight = dense && input_dims->c % 4 == 0;
    const bool in_order = dense && !straight && channels * whole_words <= FILTER_BYTES;
    const int32_t row_bytes = filter_dims->w * input_dims->c, row_step = input_dims->w * input_dims->c;
    const bool quick_inside = dense && row_bytes >= 4 && (in_order || row_bytes % 4 == 0);
    const uint32_t offsets = helia_nn_twice(offset);
    int8_t copies[FILTER_BYTES] __attribute__((aligned(4)));
    uint32_t *const wide[2] = {(uint32_t *)scratch, (uint32_t *)scratch + helia_nn_wide_words(depth)};
    int32_t gathered = 0;
    if (in_order)
    {
        copy_filters(filter, channels, depth, copies);
        filter = copies;
    }
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                const int32_t top = y * params->stride.h - params->padding.h;
                const int32_t left = x * params->stride.w - params->padding.w;
                uint32_t *const to = wide[gathered];
                const bool inside = top >= 0 && left >= 0 && top + filter_dims->h <= input_dims->h &&
                    left + filter_dims->w <= input_dims->w;
                if (inside && quick_inside)
                {
                    (in_order ? inside_in_order : inside_in_words)(
                        input + top * row_step + left * input_dims->c, row_step, row_bytes, filter_dims->h, offsets, to);
                }
                else if (in_order)
                {
                    patch_in_order(input, input_dims, filter_dims, offset, padding, top, left, to);
                }
                else if (straight)
                {
                    widen_patch(input, input_dims, filter_dims, offset, padding, top, left, to);
                }
                else
                {
                    int8_t *const patch = helia_nn_narrow_row(to, depth);
                    helia_nn_gather_patch(input, input_dims, filter_dims, params, top, left, patch);
                    helia_nn_widen_row(patch, depth, offset, to);
                }
                gathered++;
                if (gathered == 2)
                {
                    helia_nn_matmul_wide_s8(wide, 2, filter, channels, in_order ? whole_words : depth, stage, output);
                    output += 2 * channels;
                    gathered = 0;
                }
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
    if (gathered > 0)
    {
        helia_nn_matmul_wide_s8(wide, 1, filter, channels, in_order ? whole_words : depth, stage, output);
    }
}

#else

static void convolve(int8_t *columns,
                     const helia_nn_output_stage *stage,
                     const cmsis_nn_conv_params *params,
                     const cmsis_nn_dims *input_dims,
                     const int8_t *input,
                     const cmsis_nn_dims *filter_dims,
                     const int8_t *filter,
                     const cmsis_nn_dims *output_dims,
                     int8_t *output)
{
    const int32_t depth = filter_dims->w * filter_dims->h * input_dims->c;
    const int32_t column_bytes = helia_nn_column_bytes(input_dims, filter_dims);
    int32_t gathered = 0;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                helia_nn_gather_patch(input,
                                      input_dims,
                                      filter_dims,
                                      params,
                                      y * params->stride.h - params->padding.h,
                                      x * params->stride.w - params->padding.w,
                                      columns + gathered * column_bytes);
                gathered++;
                if (gathered == COLUMNS)
                {
                    helia_nn_matmul_s8(columns, column_bytes, gathered, filter, output_dims->c, depth, stage, output);
                    output += gathered * output_dims->c;
                    gathered = 0;
                }
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
    helia_nn_matmul_s8(columns, column_bytes, gathered, filter, output_dims->c, depth, stage, output);
}

#endif

arm_cmsis_nn_status arm_convolve_s8(const cmsis_nn_context *ctx,
                                    const cmsis_nn_context *weight_sum_ctx,
                                    const cmsis_nn_conv_params *conv_params,
                                    const cmsis_nn_per_channel_quant_params *quant_params,
                                    const cmsis_nn_dims *input_dims,
                                    const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims,
                                    const int8_t *filter_data,
                                    const cmsis_nn_dims *bias_dims,
                                    const int32_t *bias_data,
                                    const cmsis_nn_dims *upscale_dims,
                                    const cmsis_nn_dims *output_dims,
                                    int8_t *output_data)
{
    (void)bias_dims;
    const int32_t groups = filter_dims->c > 0 ? input_dims->c / filter_dims->c : 0;
    if (ctx == NULL || ctx->buf == NULL || groups < 1 || groups * filter_dims->c != input_dims->c ||
        output_dims->c % groups != 0 || !helia_nn_no_upscale(upscale_dims))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_output_stage stage =
        helia_nn_conv_output_stage(weight_sum_ctx,
                                   conv_params,
                                   quant_params,
                                   bias_data,
                                   output_dims->c,
                                   filter_dims->h * filter_dims->w * filter_dims->c);
    int8_t *const scratch = (int8_t *)ctx->buf;
    if (groups > 1)
    {
        helia_nn_convolve_groups_s8(
            &stage, conv_params, input_dims, input_data, filter_dims, filter_data, output_dims, output_data, scratch);
        return ARM_CMSIS_NN_SUCCESS;
    }
    convolve(scratch, &stage, conv_params, input_dims, input_data, filter_dims, filter_data, output_dims, output_data);
    return ARM_CMSIS_NN_SUCCESS;
}
