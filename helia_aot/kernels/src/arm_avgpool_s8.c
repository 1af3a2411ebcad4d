/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Average pooling. The mean of the inputs inside the window is rounded to nearest, halves away from zero.
 */
#include "../include/arm_nnfunctions.h"
#include "support_pool_s8.h"

int32_t arm_avgpool_s8_get_buffer_size(const int dim_dst_width, const int ch_src)
{
    (void)dim_dst_width;
    (void)ch_src;
    return 0;
}

int32_t arm_avgpool_s8_get_buffer_size_dsp(const int dim_dst_width, const int ch_src)
{
    return arm_avgpool_s8_get_buffer_size(dim_dst_width, ch_src);
}

int32_t arm_avgpool_s8_get_buffer_size_mve(const int dim_dst_width, const int ch_src)
{
    return arm_avgpool_s8_get_buffer_size(dim_dst_width, ch_src);
}

#if defined(HELIA_NN_MVE)

/* Up to this many inputs a sum of int8 fits into 16 bits. */
#define MOST_16_BIT_INPUTS 255

/* Largest count for which the reciprocal below divides exactly. */
#define LARGEST_RECIPROCAL_COUNT 5000

/*
 * Divides, rounding halves away from zero.
 *
 * With n = |sum| + count/2 and m = ceil(2^32 / count), floor(n * m / 2^32) is floor(n / count) as long as
 * n * (m * count - 2^32) < 2^32; n is at most 128.5 * count and the bracket less than count, so counts below 5781 are exact.
 */
static int32x4_t divide(int32x4_t sum, int32_t count, uint32_t reciprocal)
{
    const int32x4_t magnitude = vaddq_n_s32(vabsq_s32(sum), count / 2);
    const int32x4_t quotient = vreinterpretq_s32_u32(vmulhq_u32(vreinterpretq_u32_s32(magnitude), vdupq_n_u32(reciprocal)));
    return vnegq_m_s32(quotient, quotient, vcmpltq_n_s32(sum, 0));
}

/* Sums of 16 channels, in the order in which byte vectors widen: see the store below. */
typedef struct
{
    int32x4_t lanes[4];
} sums16;

static sums16 add_widened(sums16 sums, int16x8_t even, int16x8_t odd)
{
    sums.lanes[0] = vaddq_s32(sums.lanes[0], vmovlbq_s16(even));
    sums.lanes[1] = vaddq_s32(sums.lanes[1], vmovltq_s16(even));
    sums.lanes[2] = vaddq_s32(sums.lanes[2], vmovlbq_s16(odd));
    sums.lanes[3] = vaddq_s32(sums.lanes[3], vmovltq_s16(odd));
    return sums;
}

static sums16 sum_of_window(const helia_nn_pool_window *window, int32_t channel, int32_t channels, mve_pred16_t valid)
{
    const int32x4_t zero = vdupq_n_s32(0);
    sums16 sums = {{zero, zero, zero, zero}};
    int16x8_t even = vdupq_n_s16(0);
    int16x8_t odd = vdupq_n_s16(0);
    int32_t room = MOST_16_BIT_INPUTS;
    for (int32_t y = 0; y < window->h; y++)
    {
        const int8_t *input = window->input + y * window->row_bytes + channel;
        for (int32_t left = window->w; left > 0;)
        {
            const int32_t now = helia_nn_min(left, room);
            for (int32_t x = 0; x < now; x++)
            {
                const int8x16_t values = vldrbq_z_s8(input, valid);
                even = vaddq_s16(even, vmovlbq_s8(values));
                odd = vaddq_s16(odd, vmovltq_s8(values));
                input += channels;
            }
            left -= now;
            room -= now;
            if (room == 0)
            {
                sums = add_widened(sums, even, odd);
                even = vdupq_n_s16(0);
                odd = vdupq_n_s16(0);
                room = MOST_16_BIT_INPUTS;
            }
        }
    }
    return add_widened(sums, even, odd);
}

/* Writes the means of one window for all channels. */
static void mean_of_window(
    const helia_nn_pool_window *window, int32_t channels, cmsis_nn_activation activation, int8_t *output)
{
    const int32_t count = window->h * window->w;
    const uint32_t reciprocal = count > 1 ? UINT32_MAX / (uint32_t)count + 1u : 0;
    for (int32_t channel = 0; channel < channels; channel += 16)
    {
        const mve_pred16_t valid = vctp8q((uint32_t)(channels - channel));
        sums16 sums = sum_of_window(window, channel, channels, valid);
        if (count > 1)
        {
            for (int32_t i = 0; i < 4; i++)
            {
                sums.lanes[i] = divide(sums.lanes[i], count, reciprocal);
            }
        }
        int16x8_t even = vmovntq_s32(vmovnbq_s32(vuninitializedq_s16(), sums.lanes[0]), sums.lanes[1]);
        int16x8_t odd = vmovntq_s32(vmovnbq_s32(vuninitializedq_s16(), sums.lanes[2]), sums.lanes[3]);
        const int8x16_t all = vmovntq_s16(vmovnbq_s16(vuninitializedq_s8(), even), odd);
        const int8x16_t low = vdupq_n_s8((int8_t)activation.min);
        const int8x16_t high = vdupq_n_s8((int8_t)activation.max);
        vstrbq_p_s8(output + channel, vminq_s8(vmaxq_s8(all, low), high), valid);
    }
}

#endif

#if defined(HELIA_NN_DSP)

/* Inputs whose sum fits into 16 bits. */
#define MOST_16_BIT_INPUTS 256

/* The sums of four channels from `channel` on. */
static void sums_of_window(const helia_nn_pool_window *window, int32_t channel, int32_t channels, int32_t sums[4])
{
    uint32_t even = 0, odd = 0;
    int32_t room = MOST_16_BIT_INPUTS;
    for (int32_t i = 0; i < 4; i++)
    {
        sums[i] = 0;
    }
    for (int32_t y = 0; y < window->h; y++)
    {
        const int8_t *input = window->input + y * window->row_bytes + channel;
        for (int32_t left = window->w; left > 0;)
        {
            const int32_t now = helia_nn_min(left, room);
#pragma GCC unroll 2
            for (int32_t x = 0; x < now; x++)
            {
                const uint32_t word = helia_nn_load_word(input);
                even = helia_nn_even_bytes(even, word);
                odd = helia_nn_odd_bytes(odd, word);
                input += channels;
            }
            left -= now;
            room -= now;
            if (room == 0 || (left == 0 && y == window->h - 1))
            {
                sums[0] += (int16_t)even;
                sums[1] += (int16_t)odd;
                sums[2] += (int32_t)even >> 16;
                sums[3] += (int32_t)odd >> 16;
                even = 0;
                odd = 0;
                room = MOST_16_BIT_INPUTS;
            }
        }
    }
}

#endif

/* As mean_of_window(), one channel at a time and for any count. */
static void mean_of_window_scalar(
    const helia_nn_pool_window *window, int32_t channels, cmsis_nn_activation activation, int8_t *output)
{
    const int32_t count = window->h * window->w;
    int32_t channel = 0;
#if defined(HELIA_NN_DSP)
    for (; channel + 4 <= channels; channel += 4)
    {
        int32_t sums[4];
        sums_of_window(window, channel, channels, sums);
        for (int32_t i = 0; i < 4; i++)
        {
            const int32_t mean = (sums[i] > 0 ? sums[i] + count / 2 : sums[i] - count / 2) / count;
            output[channel + i] = (int8_t)helia_nn_clamp(mean, activation.min, activation.max);
        }
    }
#endif
    for (; channel < channels; channel++)
    {
        int32_t sum = 0;
        for (int32_t y = 0; y < window->h; y++)
        {
            const int8_t *input = window->input + y * window->row_bytes + channel;
            for (int32_t x = 0; x < window->w; x++)
            {
                sum += input[x * channels];
            }
        }
        const int32_t mean = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
        output[channel] = (int8_t)helia_nn_clamp(mean, activation.min, activation.max);
    }
}

arm_cmsis_nn_status arm_avgpool_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params *pool_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data)
{
    (void)ctx;
    if (!helia_nn_pool_rule(pool_params, input_dims, filter_dims, output_dims))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t batch = 0; batch < output_dims->n; batch++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                const helia_nn_pool_window window =
                    helia_nn_pool_window_at(pool_params, input_dims, input_data, filter_dims, y, x);
#if defined(HELIA_NN_MVE)
                if (window.h * window.w <= LARGEST_RECIPROCAL_COUNT)
                {
                    mean_of_window(&window, output_dims->c, pool_params->activation, output_data);
                }
                else
#endif
                {
                    mean_of_window_scalar(&window, output_dims->c, pool_params->activation, output_data);
                }
                output_data += output_dims->c;
            }
        }
        input_data += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
