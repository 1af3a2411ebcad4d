/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_s8.h"

/* The longest patch of the entry's rule: three vectors. */
#define MAX_DEPTH 48

#if defined(HELIA_NN_MVE)

#include "support_patches_s8.h"

/* Output positions that are gathered before one matrix product, and all their patches: 32 of the longest. */
#define POSITIONS HELIA_NN_PATCHES
#define PATCH_BYTES (32 * MAX_DEPTH)

/*
 * Gathers a patch; writes up to 15 bytes past its end, all 0.
 *
 * One vector holds a row of the patch. Lanes outside the input are loaded as 0 and get the zero point by OR, so positions at the
 * left and right edge cost as much as others.
 */
static HELIA_NN_COLD void gather(const int8_t *input,
                                 const cmsis_nn_dims *input_dims,
                                 const cmsis_nn_dims *filter_dims,
                                 const cmsis_nn_conv_params *params,
                                 int32_t top,
                                 int32_t left,
                                 int8_t *target)
{
    const int32_t channels = input_dims->c;
    const int32_t row_bytes = filter_dims->w * channels;
    const int32_t row_step = input_dims->w * channels;
    const int32_t before = helia_nn_max(-left * channels, 0);
    const int32_t end = helia_nn_max((input_dims->w - left) * channels, 0);
    const mve_pred16_t inside =
        (mve_pred16_t)(vctp8q((uint32_t)helia_nn_min(end, row_bytes)) & ~vctp8q((uint32_t)before));
    const int8x16_t zero = vdupq_n_s8(0);
    const int8x16_t padding =
        vpselq_s8(vdupq_n_s8((int8_t)-params->input_offset), zero, vctp8q((uint32_t)row_bytes));
    const int8x16_t edge = vpselq_s8(zero, padding, inside);
    int32_t row = 0;
    for (; row < filter_dims->h && top + row < 0; row++, target += row_bytes)
    {
        vst1q_s8(target, padding);
    }
    const int32_t stop = helia_nn_min(filter_dims->h, input_dims->h - top);
    if (row < stop)
    {
        const int8_t *source = input + (top + row) * row_step + left * channels;
        __asm volatile("vmsr p0, %[inside]\n\t"
                       "wls lr, %[rows], 2f\n"
                       "1:\n\t"
                       "vpst\n\t"
                       "vldrbt.8 q0, [%[source]]\n\t"
                       "add %[source], %[row_step]\n\t"
                       "vorr q0, q0, %q[edge]\n\t"
                       "vstrb.8 q0, [%[target]]\n\t"
                       "add %[target], %[row_bytes]\n\t"
                       "le lr, 1b\n"
                       "2:\n\t"
                       : [source] "+r"(source), [target] "+r"(target)
                       : [row_step] "r"(row_step),
                         [row_bytes] "r"(row_bytes),
                         [rows] "r"(stop - row),
                         [inside] "r"(inside),
                         [edge] "w"(edge)
                       : HELIA_NN_PREDICATE "q0", "lr", "memory");
        row = stop;
    }
    for (; row < filter_dims->h; row++, target += row_bytes)
    {
        vst1q_s8(target, padding);
    }
}

/*
 * The same for `count` patches inside the input, `position_step` bytes apart, the first one's first byte at `source`. Row by row
 * over all patches; what a vector holds beyond its row is 0 and, but behind the last row, overwritten by the next one.
 */
static void gather_inside(const int8_t *source,
                          int32_t row_step,
                          int32_t row_bytes,
                          int32_t rows,
                          int32_t position_step,
                          int32_t count,
                          int8_t *target,
                          int32_t patch_step)
{
    for (; rows > 0; rows--, source += row_step, target += row_bytes)
    {
        const int8_t *from = source;
        int8_t *to = target;
        __asm volatile("vctp.8 %[row_bytes]\n\t"
                       "dls lr, %[count]\n"
                       "1:\n\t"
                       "vpstt\n\t"
                       "vldrbt.8 q0, [%[from]]\n\t"
                       "vstrbt.8 q0, [%[to]]\n\t"
                       "add %[from], %[position_step]\n\t"
                       "add %[to], %[patch_step]\n\t"
                       "le lr, 1b\n\t"
                       : [from] "+r"(from), [to] "+r"(to)
                       : [position_step] "r"(position_step),
                         [patch_step] "r"(patch_step),
                         [row_bytes] "r"(row_bytes),
                         [count] "r"(count)
                       : HELIA_NN_PREDICATE "q0", "lr", "memory");
    }
}

static void multiply(const helia_nn_output_stage *stage,
                     const int8_t *patches,
                     int32_t patch_step,
                     int32_t count,
                     const int8_t *filter,
                     int32_t channels,
                     int32_t depth,
                     int8_t *output)
{
    (void)patch_step;
    helia_nn_multiply_patches(stage, patches, count, filter, channels, depth, output);
}

#else

#define POSITIONS 8
#define PATCH_BYTES (POSITIONS * MAX_DEPTH)

#define gather helia_nn_gather_patch

static void gather_inside(const int8_t *source,
                          int32_t row_step,
                          int32_t row_bytes,
                          int32_t rows,
                          int32_t position_step,
                          int32_t count,
                          int8_t *target,
                          int32_t patch_step)
{
    for (; count > 0; count--, source += position_step, target += patch_step)
    {
        helia_nn_copy_rows(target, source, row_bytes, row_step, rows);
    }
}

static void multiply(const helia_nn_output_stage *stage,
                     const int8_t *patches,
                     int32_t patch_step,
                     int32_t count,
                     const int8_t *filter,
                     int32_t channels,
                     int32_t depth,
                     int8_t *output)
{
    helia_nn_matmul_s8(patches, patch_step, count, filter, channels, depth, stage, output);
}

#endif

arm_cmsis_nn_status arm_convolve_s8_small_cin(const cmsis_nn_context *ctx,
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
    (void)ctx;
    (void)bias_dims;
    const int32_t row_bytes = filter_dims->w * input_dims->c;
    const int32_t depth = filter_dims->h * row_bytes;
    if (input_dims->c < 1 || input_dims->c > 3 || filter_dims->c != input_dims->c ||
        !helia_nn_no_dilation(conv_params) || !helia_nn_no_upscale(upscale_dims) || row_bytes > 16 || depth > MAX_DEPTH ||
        output_dims->c <= 0 || output_dims->c % 4 != 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_output_stage stage =
        helia_nn_conv_output_stage(weight_sum_ctx, conv_params, quant_params, bias_data, output_dims->c, depth);
    /* Patches are multiplied in whole vectors, and the last row of one is gathered as a whole vector. */
    int8_t patches[PATCH_BYTES + 16] __attribute__((aligned(16)));
    const int32_t patch_step = (depth + 15) & -16;
    const int32_t positions = helia_nn_min(POSITIONS, (int32_t)((uint32_t)PATCH_BYTES / (uint32_t)patch_step));
    const int32_t row_step = input_dims->w * input_dims->c;
    const int32_t stride = conv_params->stride.w;
    const int32_t position_step = stride * input_dims->c;
    const int32_t last_left = input_dims->w - filter_dims->w;
    int32_t filled = 0;
    int32_t to_do = input_dims->n * output_dims->h * output_dims->w;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            const int32_t top = y * conv_params->stride.h - conv_params->padding.h;
            const bool rows_inside = top >= 0 && top + filter_dims->h <= input_dims->h;
            int32_t left = -conv_params->padding.w;
            int32_t offset = top * row_step + left * input_dims->c;
            for (int32_t x = 0; x < output_dims->w;)
            {
                int8_t *const target = patches + filled * patch_step;
                int32_t count = 1;
                if (rows_inside && left >= 0 && left <= last_left)
                {
                    count = helia_nn_min(helia_nn_min(positions - filled, output_dims->w - x),
                                         stride == 1 ? last_left - left + 1 : (last_left - left) / stride + 1);
                    gather_inside(
                        input_data + offset, row_step, row_bytes, filter_dims->h, position_step, count, target, patch_step);
                }
                else
                {
                    gather(input_data, input_dims, filter_dims, conv_params, top, left, target);
                }
                x += count;
                left += count * stride;
                offset += count * position_step;
                filled += count;
                to_do -= count;
                if (filled == positions || to_do == 0)
                {
                    multiply(&stage, patches, patch_step, filled, filter_data, output_dims->c, depth, output_data);
                    output_data += filled * output_dims->c;
                    filled = 0;
                }
            }
        }
        input_data += input_dims->h * row_step;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
