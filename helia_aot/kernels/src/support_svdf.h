/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * SVDF with int8 inputs and outputs, for the type helia_nn_svdf_value of the state and of the weights over time that is defined before,
 * and its dot product helia_nn_svdf_dot().
 */
#ifndef HELIA_NN_SUPPORT_SVDF_H
#define HELIA_NN_SUPPORT_SVDF_H

#include "support_dot_s8.h"

#include <string.h>

#if defined(HELIA_NN_DSP)
#include "support_matmul_s8.h"
#endif

#define HELIA_NN_SVDF_LOWEST (-(1 << (8 * (int32_t)sizeof(helia_nn_svdf_value) - 1)))

/* Moves `count` entries back by one; there is one more behind them. */
static inline void helia_nn_svdf_move_back(helia_nn_svdf_value *state, int32_t count)
{
#if defined(HELIA_NN_DSP)
    /* memmove() of newlib moves single bytes where source and target are not aligned alike. */
    const int32_t step = 16 / (int32_t)sizeof *state, word = step / 4;
    for (; count >= step; count -= step)
    {
        const uint32_t a = helia_nn_load_word(state + 1), b = helia_nn_load_word(state + word + 1);
        const uint32_t c = helia_nn_load_word(state + 2 * word + 1), d = helia_nn_load_word(state + 3 * word + 1);
        helia_nn_store_word(state, a);
        helia_nn_store_word(state + word, b);
        helia_nn_store_word(state + 2 * word, c);
        helia_nn_store_word(state + 3 * word, d);
        state += step;
    }
#endif
    memmove(state, state + 1, (size_t)count * sizeof *state);
}

/* The entry for the sum of a filter over the inputs. */
static inline helia_nn_svdf_value helia_nn_svdf_entry(const helia_nn_svdf_params *params, int32_t sum)
{
    const int32_t scaled = helia_nn_requantize(sum, params->feature_multiplier, params->feature_shift);
    return (helia_nn_svdf_value)(helia_nn_clamp(scaled, HELIA_NN_SVDF_LOWEST, -HELIA_NN_SVDF_LOWEST - 1) -
                                 params->state_offset);
}

/* Sets the last entry of each filter of a batch. Out of line: the loop over the units would take its registers. */
static __attribute__((noinline)) void helia_nn_svdf_features(const helia_nn_svdf_params *params,
                                                             const int8_t *input,
                                                             const int8_t *weights,
                                                             helia_nn_svdf_value *state)
{
    /* No store to the state can change a copy. */
    const helia_nn_svdf_params own = *params;
    const int32_t inputs = params->inputs, memory = params->memory;
    helia_nn_svdf_value *last = state + memory - 1;
    int32_t filters = params->units * params->rank;
#if defined(HELIA_NN_DSP)
    const int8_t *const bytes[2] = {input, NULL};
    int32_t sums[HELIA_NN_SUMS];
    for (; filters > 0; filters -= HELIA_NN_SUMS)
    {
        const int32_t now = helia_nn_min(filters, HELIA_NN_SUMS);
        helia_nn_sums_s8(bytes, 1, params->input_offset, weights, now, inputs, NULL, sums);
        for (int32_t i = 0; i < now; i++, last += memory)
        {
            *last = helia_nn_svdf_entry(&own, sums[i]);
        }
        weights += now * inputs;
    }
#else
    for (; filters > 0; filters--, last += memory)
    {
        *last = helia_nn_svdf_entry(&own, helia_nn_dot_s8(input, params->input_offset, weights, inputs));
        weights += inputs;
    }
#endif
}

static inline arm_cmsis_nn_status helia_nn_svdf(const helia_nn_svdf_params *params,
                                                const int8_t *input,
                                                const int8_t *weights_feature,
                                                const helia_nn_svdf_value *weights_time,
                                                const int32_t *bias,
                                                helia_nn_svdf_value *state,
                                                int8_t *output)
{
    const helia_nn_svdf_params own = *params;
    /* The memories of a unit lie one behind the other, and so do their weights. */
    const int32_t products = params->rank * params->memory;
    /* All memories move back by one entry; the last entry of each is overwritten below. */
    helia_nn_svdf_move_back(state, params->batches * params->units * products - 1);
    for (int32_t n = 0; n < params->batches; n++)
    {
        const helia_nn_svdf_value *weights = weights_time;
        helia_nn_svdf_features(params, input, weights_feature, state);
        for (int32_t unit = 0; unit < own.units; unit++)
        {
            const int32_t sum = (bias != NULL ? bias[unit] : 0) +
                                helia_nn_svdf_dot(state, own.state_offset, weights, products);
            const int32_t scaled = helia_nn_requantize(sum, own.output_multiplier, own.output_shift);
            *output++ = (int8_t)helia_nn_clamp(
                scaled + own.output_offset, own.activation.min, own.activation.max);
            state += products;
            weights += products;
        }
        input += own.inputs;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_SUPPORT_SVDF_H */
