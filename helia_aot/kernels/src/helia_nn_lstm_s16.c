/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#include <string.h>

typedef int16_t helia_nn_lstm_value;
#include "support_lstm_integer.h"
#include "support_matmul_s8.h"
#include "support_requantize_s64.h"

static inline int16_t gate_of(int64_t total, int32_t reduced_multiplier, int32_t shift, int32_t before)
{
    const int32_t scaled = helia_nn_saturate_s16(helia_nn_requantize_s64(total, reduced_multiplier, shift));
    return helia_nn_saturate_s16(scaled + before);
}

/*
 * Multiplies `count` numbers with the rows of one gate and requantises; the results are stored, or added to what is there where
 * `adds` is set.
 */
static __attribute__((noinline)) void multiply_gate(const int16_t *values,
                                                    int32_t count,
                                                    const int8_t *weights,
                                                    const int64_t *bias,
                                                    int32_t rows,
                                                    int32_t multiplier,
                                                    int32_t shift,
                                                    bool adds,
                                                    int16_t *sums)
{
    const int32_t reduced = helia_nn_reduced_multiplier(multiplier);
#if defined(HELIA_NN_DSP)
    int64_t totals[HELIA_NN_SUMS];
    for (int32_t done = 0; done < rows; done += HELIA_NN_SUMS)
    {
        const int32_t now = helia_nn_min(rows - done, HELIA_NN_SUMS);
        for (int32_t r = 0; r < now; r++)
        {
            totals[r] = bias != NULL ? bias[done + r] : 0;
        }
        helia_nn_sums_s16_s8(values, weights + done * count, now, count, totals);
        for (int32_t r = 0; r < now; r++)
        {
            sums[done + r] = gate_of(totals[r], reduced, shift, adds ? sums[done + r] : 0);
        }
    }
#else
    for (int32_t r = 0; r < rows; r += 2)
    {
        /* Two rows share a pass over the numbers; a last one is computed twice over. */
        const int32_t next = helia_nn_min(r + 1, rows - 1);
        int64_t totals[2] = {bias != NULL ? bias[r] : 0, bias != NULL ? bias[next] : 0};
        helia_nn_dots_s16_s8(values, weights + r * count, weights + next * count, count, totals);
        for (int32_t k = r; k <= next; k++)
        {
            sums[k] = gate_of(totals[k - r], reduced, shift, adds ? sums[k] : 0);
        }
    }
#endif
}

arm_cmsis_nn_status helia_nn_lstm_s16(const cmsis_nn_context *ctx,
                                      const helia_nn_lstm_params *params,
                                      const int32_t *gates,
                                      const int16_t *input,
                                      const int8_t *input_weights,
                                      const int64_t *bias,
                                      const int8_t *hidden_weights,
                                      int16_t *hidden,
                                      int16_t *cell,
                                      int16_t *output)
{
    const int32_t inputs = params->inputs, units = params->units;
    if (ctx == NULL || ctx->buf == NULL)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    int16_t *const sums = (int16_t *)ctx->buf;
    for (int32_t batch = 0; batch < params->batches; batch++)
    {
        const int16_t *before = hidden + batch * units;
        for (int32_t step = 0; step < params->steps; step++)
        {
            const int32_t at = helia_nn_lstm_row(params, batch, step);
            for (int32_t g = 0; g < HELIA_NN_LSTM_GATES; g++)
            {
                const int32_t row = g * units;
                multiply_gate(input + at * inputs, inputs, input_weights + row * inputs, bias + row, units, gates[g],
                              gates[HELIA_NN_LSTM_GATES + g], false, sums + row);
                multiply_gate(before, units, hidden_weights + row * units, NULL, units, gates[2 * HELIA_NN_LSTM_GATES + g],
                              gates[3 * HELIA_NN_LSTM_GATES + g], true, sums + row);
            }
            helia_nn_lstm_update(params, sums, cell + batch * units, output + at * units);
            before = output + at * units;
        }
        memmove(hidden + batch * units, before, (size_t)units * sizeof *hidden);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
