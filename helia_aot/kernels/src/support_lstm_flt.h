/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * LSTM over a sequence, for the element type of the support_product_*.h before it.
 */
#ifndef HELIA_NN_SUPPORT_LSTM_FLT_H
#define HELIA_NN_SUPPORT_LSTM_FLT_H

#include "support_unary_flt.h"

#define HELIA_NN_LSTM_GATES 4

/* The products of one row with all gates. */
static inline void helia_nn_lstm_products(const helia_nn_product *product, const helia_nn_real *row, helia_nn_real *sums)
{
    const helia_nn_real *const rows[HELIA_NN_ROWS] = {row, row, row, row};
    helia_nn_product_rows(product, rows, 1, sums);
}

/* From the sums of the gates to cell and output of one step; the gates are overwritten. */
static inline void helia_nn_lstm_update(
    int32_t units, float32_t cell_clip, helia_nn_real *gates, helia_nn_real *cell, helia_nn_real *output)
{
    helia_nn_real *const candidate = gates + 3 * units;
    helia_nn_logistic_elements(gates, gates, 3 * units);
    helia_nn_tanh_elements(candidate, candidate, units);
    for (int32_t i = 0; i < units; i++)
    {
        const float32_t kept = (float32_t)gates[units + i] * (float32_t)cell[i];
        const float32_t value = kept + (float32_t)gates[i] * (float32_t)candidate[i];
        cell[i] = (helia_nn_real)(cell_clip > 0.0f ? helia_nn_limit(value, -cell_clip, cell_clip) : value);
    }
    helia_nn_tanh_elements(cell, candidate, units);
    for (int32_t i = 0; i < units; i++)
    {
        output[i] = (helia_nn_real)((float32_t)candidate[i] * (float32_t)gates[2 * units + i]);
    }
}

/* Runs the sequence; `sums` has room for 8 * units numbers. */
static inline void helia_nn_lstm(const helia_nn_lstm_params_flt *params,
                                 const helia_nn_product *seen,
                                 const helia_nn_product *kept,
                                 const helia_nn_real *input,
                                 helia_nn_real *hidden,
                                 helia_nn_real *cell,
                                 helia_nn_real *output,
                                 helia_nn_real *sums)
{
    const int32_t units = params->units, gates = HELIA_NN_LSTM_GATES * units;
    for (int32_t batch = 0; batch < params->batches; batch++)
    {
        const helia_nn_real *before = hidden + batch * units;
        for (int32_t step = 0; step < params->steps; step++)
        {
            const int32_t at = params->time_major ? step * params->batches + batch : batch * params->steps + step;
            helia_nn_lstm_products(seen, input + at * params->inputs, sums);
            helia_nn_lstm_products(kept, before, sums + gates);
            for (int32_t i = 0; i < gates; i++)
            {
                sums[i] = (helia_nn_real)((float32_t)sums[i] + (float32_t)sums[gates + i]);
            }
            helia_nn_lstm_update(units, params->cell_clip, sums, cell + batch * units, output + at * units);
            before = output + at * units;
        }
        memmove(hidden + batch * units, before, (size_t)units * sizeof *hidden);
    }
}

#endif /* HELIA_NN_SUPPORT_LSTM_FLT_H */
