/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_pool_s8.h"

/* Writes the maxima of one window for all channels. */
static void max_of_window(
    const helia_nn_pool_window *window, int32_t channels, cmsis_nn_activation activation, int8_t *output)
{
#if defined(HELIA_NN_MVE)
    const int8x16_t low = vdupq_n_s8((int8_t)activation.min);
    const int8x16_t high = vdupq_n_s8((int8_t)activation.max);
    for (int32_t channel = 0; channel < channels; channel += 16)
    {
        const mve_pred16_t valid = vctp8q((uint32_t)(channels - channel));
        const int8_t *row = window->input + channel;
        int8x16_t largest = vdupq_n_s8(INT8_MIN);
        for (int32_t y = 0; y < window->h; y++)
        {
            const int8_t *input = row;
            for (int32_t x = 0; x < window->w; x++)
            {
                largest = vmaxq_s8(largest, vldrbq_z_s8(input, valid));
                input += channels;
            }
            row += window->row_bytes;
        }
        vstrbq_p_s8(output + channel, vminq_s8(vmaxq_s8(largest, low), high), valid);
    }
#else
    int32_t channel = 0;
#if defined(HELIA_NN_DSP)
    const uint32_t low = (uint8_t)activation.min * 0x01010101u;
    const uint32_t high = (uint8_t)activation.max * 0x01010101u;
    for (; channel + 4 <= channels; channel += 4)
    {
        uint32_t largest = low;
        for (int32_t y = 0; y < window->h; y++)
        {
            const int8_t *input = window->input + y * window->row_bytes + channel;
            for (int32_t x = 0; x < window->w; x++)
            {
                largest = helia_nn_max_bytes(largest, helia_nn_load_word(input));
                input += channels;
            }
        }
        helia_nn_store_word(output + channel, helia_nn_min_bytes(largest, high));
    }
#endif
    for (; channel < channels; channel++)
    {
        int32_t largest = INT8_MIN;
        for (int32_t y = 0; y < window->h; y++)
        {
            const int8_t *input = window->input + y * window->row_bytes + channel;
            for (int32_t x = 0; x < window->w; x++)
            {
                largest = helia_nn_max(largest, input[x * channels]);
            }
        }
        output[channel] = (int8_t)helia_nn_clamp(largest, activation.min, activation.max);
    }
#endif
}

arm_cmsis_nn_status arm_max_pool_s8(
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
                max_of_window(&window, output_dims->c, pool_params->activation, output_data);
                output_data += output_dims->c;
            }
        }
        input_data += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
