/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Max pooling of one window, for the element type of the support_f32.h or support_f16.h before it.
 */
#ifndef HELIA_NN_SUPPORT_MAX_POOL_FLT_H
#define HELIA_NN_SUPPORT_MAX_POOL_FLT_H

#include "support_pool_flt.h"

/* Writes the maxima of one window for all channels. */
static inline void helia_nn_max_of_window(const helia_nn_window *window,
                                          int32_t channels,
                                          helia_nn_activation activation,
                                          helia_nn_real *output)
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

#endif /* HELIA_NN_SUPPORT_MAX_POOL_FLT_H */
