/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Root of the mean square of one window, for the element type of the support_f32.h or support_f16.h before it.
 */
#include "support_functions_f32.h"
#include "support_pool_flt.h"

/* Writes the roots of one window for all channels; computed in single precision. */
static inline void helia_nn_root_mean_square_of_window(const helia_nn_window *window,
                                                       int32_t channels,
                                                       helia_nn_activation activation,
                                                       helia_nn_real *output)
{
    const float32_t count = (float32_t)(window->h * window->w);
    for (int32_t channel = 0; channel < channels; channel++)
    {
        float32_t squares = 0.0f;
        for (int32_t y = 0; y < window->h; y++)
        {
            const helia_nn_real *input = window->input + y * window->row + channel;
            for (int32_t x = 0; x < window->w; x++)
            {
                const float32_t value = (float32_t)input[x * channels];
                squares += value * value;
            }
        }
        const float32_t root = helia_nn_root(squares / count);
        output[channel] = (helia_nn_real)helia_nn_limit(root, activation.min, activation.max);
    }
}
