/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_dot_s8.h"

#include <string.h>

#define LOWEST (-(1 << (8 * (int32_t)sizeof(int8_t) - 1)))

arm_cmsis_nn_status helia_nn_svdf_s8(const helia_nn_svdf_params *params,
                                      const int8_t *input,
                                      const int8_t *weights_feature,
                                      const int8_t *weights_time,
                                      const int32_t *bias,
                                      int8_t *state,
                                      int8_t *output)
{
    const int32_t memory = params->memory;
    const int32_t filters = params->units * params->rank;
    /* All memories move back by one entry; the last entry of each is overwritten below. */
    memmove(state, state + 1, (size_t)(params->batches * filters * memory - 1) * sizeof *state);
    for (int32_t n = 0; n < params->batches; n++)
    {
        for (int32_t unit = 0; unit < params->units; unit++)
        {
            int32_t sum = bias != NULL ? bias[unit] : 0;
            for (int32_t r = 0; r < params->rank; r++)
            {
                const int32_t filter = unit * params->rank + r;
                int8_t *const entries = state + (n * filters + filter) * memory;
                const int32_t seen = helia_nn_dot_s8(
                    input, params->input_offset, weights_feature + filter * params->inputs, params->inputs);
                const int32_t scaled = helia_nn_requantize(seen, params->feature_multiplier, params->feature_shift);
                entries[memory - 1] = (int8_t)(helia_nn_clamp(scaled, LOWEST, -LOWEST - 1) - params->state_offset);
                sum += helia_nn_dot_s8(entries, params->state_offset, weights_time + filter * memory, memory);
            }
            const int32_t scaled = helia_nn_requantize(sum, params->output_multiplier, params->output_shift);
            *output++ = (int8_t)helia_nn_clamp(
                scaled + params->output_offset, params->activation.min, params->activation.max);
        }
        input += params->inputs;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
