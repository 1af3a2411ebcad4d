/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"
#include "support_pool_flt.h"

/* Writes the maxima of one window for all channels. */
static void max_of_window(
    const helia_nn_window *window, int32_t channels, helia_nn_activation activation, helia_nn_real *output)
{
#if defined(HELIA_NN_MVE_FLOAT)
    for (int32_t channel = 0; channel < channels; channel += HELIA_NN_REALS)
    {
        const mve_pred16_t valid = helia_nn_first(channels - channel);
        const helia_nn_real *row = window->input + channel;
        helia_nn_vector largest = helia_nn_load(row, valid);
        for (int32_t y = 0; y < window->h; y++)
        {
            const helia_nn_real *input = row;
            for (int32_t x = 0; x < window->w; x++)
            {
                largest = helia_nn_larger(largest, helia_nn_load(input, valid));
                input += channels;
            }
            row += window->row;
        }
        const helia_nn_vector low = helia_nn_duplicate(activation.min);
        helia_nn_store(output + channel, helia_nn_limit_vector(largest, low, helia_nn_duplicate(activation.max)), valid);
    }
#else
    for (int32_t channel = 0; channel < channels; channel++)
    {
        helia_nn_real largest = window->input[channel];
        for (int32_t y = 0; y < window->h; y++)
        {
            const helia_nn_real *input = window->input + y * window->row + channel;
            for (int32_t x = 0; x < window->w; x++)
            {
                largest = input[x * channels] > largest ? input[x * channels] : largest;
            }
        }
        output[channel] = (helia_nn_real)helia_nn_limit((float32_t)largest, activation.min, activation.max);
    }
#endif
}

arm_cmsis_nn_status arm_max_pool_f32(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params_f32 *pool_params,
    const cmsis_nn_dims *input_dims,
    const float32_t *src,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    float32_t *dst)
{
    (void)ctx;
    if (!helia_nn_windows_rule(pool_params, input_dims, filter_dims, output_dims))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t batch = 0; batch < output_dims->n; batch++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                const helia_nn_window window = helia_nn_window_at(pool_params, input_dims, src, filter_dims, y, x);
                max_of_window(&window, output_dims->c, pool_params->activation, dst);
                dst += output_dims->c;
            }
        }
        src += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
