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
static void widen_patch(const int8_t *input,
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
    const int32_t channels = output_dims->c;
    const int32_t offset = stage->sums != NULL ? 0 : params->input_offset;
    const int32_t padding = offset - params->input_offset;
    const bool straight = input_dims->c % 4 == 0 && helia_nn_no_dilation(params);
    uint32_t *const wide[2] = {(uint32_t *)scratch, (uint32_t *)scratch + helia_nn_wide_words(depth)};
    int32_t gathered = 0;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                const int32_t top = y * params->stride.h - params->padding.h;
                const int32_t left = x * params->stride.w - params->padding.w;
                if (straight)
                {
                    widen_patch(input, input_dims, filter_dims, offset, padding, top, left, wide[gathered]);
                }
                else
                {
                    int8_t *const patch = helia_nn_narrow_row(wide[gathered], depth);
                    helia_nn_gather_patch(input, input_dims, filter_dims, params, top, left, patch);
                    helia_nn_widen_row(patch, depth, offset, wide[gathered]);
                }
                gathered++;
                if (gathered == 2)
                {
                    helia_nn_matmul_wide_s8(wide, 2, filter, channels, depth, stage, output);
                    output += 2 * channels;
                    gathered = 0;
                }
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
    if (gathered > 0)
    {
        helia_nn_matmul_wide_s8(wide, 1, filter, channels, depth, stage, output);
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
