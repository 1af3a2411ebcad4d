/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Average pooling of one window, for the element type of the support_f32.h or support_f16.h before it.
 */
#ifndef HELIA_NN_SUPPORT_AVERAGE_POOL_FLT_H
#define HELIA_NN_SUPPORT_AVERAGE_POOL_FLT_H

#include "support_pool_flt.h"

/* Writes the averages of one window for all channels. */
static inline void helia_nn_average_of_window(const helia_nn_window *window,
                                              int32_t channels,
                                              helia_nn_activation activation,
                                              helia_nn_real *output)
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

#endif /* HELIA_NN_SUPPORT_AVERAGE_POOL_FLT_H */
