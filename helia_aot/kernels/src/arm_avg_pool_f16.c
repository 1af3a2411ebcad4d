/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_pool_flt.h"

/* Writes the averages of one window for all channels. */
static void average_of_window(
    const helia_nn_window *window, int32_t channels, helia_nn_activation activation, helia_nn_real *output)
{
    const float32_t count = (float32_t)(window->h * window->w);
#if defined(HELIA_NN_MVE_FLOAT)
    const helia_nn_vector low = helia_nn_duplicate(activation.min);
    const helia_nn_vector high = helia_nn_duplicate(activation.max);
    for (int32_t channel = 0; channel < channels; channel += HELIA_NN_REALS)
    {
        const mve_pred16_t valid = helia_nn_first(channels - channel);
        const helia_nn_real *row = window->input + channel;
        helia_nn_lane_sums sums = helia_nn_no_sums();
        for (int32_t y = 0; y < window->h; y++)
        {
            const helia_nn_real *input = row;
            for (int32_t x = 0; x < window->w; x++)
            {
                sums = helia_nn_add_to_sums(sums, helia_nn_load(input, valid));
                input += channels;
            }
            row += window->row;
        }
        const helia_nn_vector average = helia_nn_scaled_sums(sums, 1.0f / count);
        helia_nn_store(output + channel, helia_nn_limit_vector(average, low, high), valid);
    }
#else
    for (int32_t channel = 0; channel < channels; channel++)
    {
        float32_t sum = 0.0f;
        for (int32_t y = 0; y < window->h; y++)
        {
            const helia_nn_real *input = window->input + y * window->row + channel;
            for (int32_t x = 0; x < window->w; x++)
            {
                sum += (float32_t)input[x * channels];
            }
        }
        output[channel] = (helia_nn_real)helia_nn_limit(sum * (1.0f / count), activation.min, activation.max);
    }
#endif
}

arm_cmsis_nn_status arm_avg_pool_f16(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params_f16 *pool_params,
    const cmsis_nn_dims *input_dims,
    const float16_t *src,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    float16_t *dst)
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
                average_of_window(&window, output_dims->c, pool_params->activation, dst);
                dst += output_dims->c;
            }
        }
        src += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_FLOAT16 */
