/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#include <string.h>

typedef int8_t helia_nn_lstm_value;
#include "support_lstm_integer.h"
#include "support_matmul_s8.h"
#include "support_rows_s8.h"

#if defined(HELIA_NN_MVE)

/* Requantises the sums of some rows, adds what is there where `adds` is set, and stores them. */
static inline void
store_gate(int32x4_t sum, int32_t multiplier, int32_t shift, bool adds, int16_t *sums, mve_pred16_t valid)
{
    sum = helia_nn_clamp_s32x4(helia_nn_requantize_n_s32x4(sum, multiplier, shift), INT16_MIN, INT16_MAX);
    if (adds)
    {
        sum = helia_nn_clamp_s32x4(vaddq_s32(sum, vldrhq_z_s32(sums, valid)), INT16_MIN, INT16_MAX);
    }
    vstrhq_p_s32(sums, sum, valid);
}

#else

/* The sum of one row, requantised, and what is added to it. */
static inline int16_t gate_of(int32_t sum, int32_t multiplier, int32_t shift, int32_t before)
{
    return helia_nn_saturate_s16(helia_nn_saturate_s16(helia_nn_requantize(sum, multiplier, shift)) + before);
}

#endif

/*
 * Multiplies `count` numbers with the rows of one gate and requantises; the results are stored, or added to what is there where
 * `adds` is set. Out of line: the loop over the gates would take its registers.
 */
static __attribute__((noinline)) void multiply_gate(const int8_t *values,
                                                    int32_t count,
                                                    const int8_t *weights,
                                                    const int32_t *starts,
                                                    int32_t rows,
                                                    int32_t multiplier,
                                                    int32_t shift,
                                                    bool adds,
                                                    int16_t *sums)
{
#if defined(HELIA_NN_MVE)
    for (; rows >= 4; rows -= 4)
    {
        const int32x4_t sum = helia_nn_dot_rows_s8(values, weights, count, count, starts);
        store_gate(sum, multiplier, shift, adds, sums, vctp32q(4));
        weights += 4 * count;
        starts += 4;
        sums += 4;
    }
    for (; rows > 0; rows--)
    {
        /* All four lanes read the same row. */
        const int32_t same[4] = {*starts, *starts, *starts, *starts};
        const int32x4_t sum = helia_nn_dot_rows_s8(values, weights, 0, count, same);
        store_gate(sum, multiplier, shift, adds, sums, vctp32q(1));
        weights += count;
        starts++;
        sums++;
    }
#elif defined(HELIA_NN_DSP)
    const int8_t *const bytes[2] = {values, NULL};
    int32_t totals[HELIA_NN_SUMS];
    for (int32_t done = 0; done < rows; done += HELIA_NN_SUMS)
    {
        const int32_t now = helia_nn_min(rows - done, HELIA_NN_SUMS);
        helia_nn_sums_s8(bytes, 1, 0, weights + done * count, now, count, starts + done, totals);
        for (int32_t r = 0; r < now; r++)
        {
            sums[done + r] = gate_of(totals[r], multiplier, shift, adds ? sums[done + r] : 0);
        }
    }
#else
    for (int32_t r = 0; r < rows; r++)
    {
        int32_t sum = starts[r];
        for (int32_t i = 0; i < count; i++)
        {
            sum += values[i] * *weights++;
        }
        sums[r] = gate_of(sum, multiplier, shift, adds ? sums[r] : 0);
    }
#endif
}

arm_cmsis_nn_status helia_nn_lstm_s8(const cmsis_nn_context *ctx,
                                     const helia_nn_lstm_params *params,
                                     const int32_t *gates,
                                     const int8_t *input,
                                     const int8_t *input_weights,
                                     const int32_t *input_sums,
                                     const int8_t *hidden_weights,
                                     const int32_t *hidden_sums,
                                     int8_t *hidden,
                                     int16_t *cell,
                                     int8_t *output)
{
    const int32_t inputs = params->inputs, units = params->units;
    if (ctx == NULL || ctx->buf == NULL)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    int16_t *const sums = (int16_t *)ctx->buf;
    for (int32_t batch = 0; batch < params->batches; batch++)
    {
        const int8_t *before = hidden + batch * units;
        for (int32_t step = 0; step < params->steps; step++)
        {
            const int32_t at = helia_nn_lstm_row(params, batch, step);
            for (int32_t g = 0; g < HELIA_NN_LSTM_GATES; g++)
            {
                const int32_t row = g * units;
                multiply_gate(input + at * inputs, inputs, input_weights + row * inputs, input_sums + row, units, gates[g],
                              gates[HELIA_NN_LSTM_GATES + g], false, sums + row);
                multiply_gate(before, units, hidden_weights + row * units, hidden_sums + row, units,
                              gates[2 * HELIA_NN_LSTM_GATES + g], gates[3 * HELIA_NN_LSTM_GATES + g], true, sums + row);
            }
            helia_nn_lstm_update(params, sums, cell + batch * units, output + at * units);
            before = output + at * units;
        }
        memmove(hidden + batch * units, before, (size_t)units);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
