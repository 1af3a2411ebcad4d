/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layers over int16 numbers with int8 weights and 64-bit accumulators.
 */
#ifndef HELIA_NN_SUPPORT_FULLY_CONNECTED_S16_H
#define HELIA_NN_SUPPORT_FULLY_CONNECTED_S16_H

#include "support_matmul_s8.h"
#include "support_mve_s16.h"
#include "support_requantize_s64.h"

/* One row of outputs; `step` is 1 where every output has its multiplier and shift, else 0. */
static inline void helia_nn_fully_connected_row_s16(const cmsis_nn_activation *activation,
                                                    const int32_t *multiplier,
                                                    const int32_t *shift,
                                                    int32_t step,
                                                    const int16_t *input,
                                                    int32_t depth,
                                                    const int8_t *weights,
                                                    const int64_t *bias,
                                                    int32_t channels,
                                                    int16_t *output)
{
#if defined(HELIA_NN_MVE)
    helia_nn_output_s16 stage = {multiplier, shift, step, bias, *activation, false};
    stage.narrow = helia_nn_narrow_s16(&stage, channels, depth);
    helia_nn_row_s16(&stage, input, weights, depth, channels, output);
#elif defined(HELIA_NN_DSP)
    int64_t sums[HELIA_NN_SUMS];
    for (int32_t done = 0; done < channels; done += HELIA_NN_SUMS)
    {
        const int32_t now = helia_nn_min(channels - done, HELIA_NN_SUMS);
        for (int32_t c = 0; c < now; c++)
        {
            sums[c] = bias != NULL ? bias[done + c] : 0;
        }
        helia_nn_sums_s16_s8(input, weights + done * depth, now, depth, sums);
        for (int32_t c = 0; c < now; c++)
        {
            const int32_t reduced = helia_nn_reduced_multiplier(multiplier[(done + c) * step]);
            const int32_t scaled = helia_nn_requantize_s64(sums[c], reduced, shift[(done + c) * step]);
            output[done + c] = (int16_t)helia_nn_clamp(scaled, activation->min, activation->max);
        }
    }
#else
    for (int32_t c = 0; c < channels; c += 2)
    {
        /* An odd last output is computed twice over. */
        const int32_t next = helia_nn_min(c + 1, channels - 1);
        int64_t sums[2] = {0, 0};
        helia_nn_dots_s16_s8(input, weights + c * depth, weights + next * depth, depth, sums);
        for (int32_t k = 0; k <= next - c; k++)
        {
            const int64_t sum = sums[k] + (bias != NULL ? bias[c + k] : 0);
            const int32_t reduced = helia_nn_reduced_multiplier(multiplier[(c + k) * step]);
            const int32_t scaled = helia_nn_requantize_s64(sum, reduced, shift[(c + k) * step]);
            output[c + k] = (int16_t)helia_nn_clamp(scaled, activation->min, activation->max);
        }
    }
#endif
}

#endif /* HELIA_NN_SUPPORT_FULLY_CONNECTED_S16_H */
