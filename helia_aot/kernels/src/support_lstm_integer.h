/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the integer LSTM kernels share, for the type helia_nn_lstm_value of input, hidden state and output that is defined before.
 */
#ifndef HELIA_NN_SUPPORT_LSTM_INTEGER_H
#define HELIA_NN_SUPPORT_LSTM_INTEGER_H

#include "internal.h"

#define HELIA_NN_LSTM_GATES 4
#define HELIA_NN_LSTM_LOWEST (-(1 << (8 * (int32_t)sizeof(helia_nn_lstm_value) - 1)))

static inline int16_t helia_nn_saturate_s16(int32_t value)
{
#if defined(HELIA_NN_DSP)
    return (int16_t)__ssat(value, 16);
#else
    return (int16_t)helia_nn_clamp(value, INT16_MIN, INT16_MAX);
#endif
}

/* From the sums of the gates to cell and output of one step; the gates are overwritten. */
static void helia_nn_lstm_update(const helia_nn_lstm_params *params, int16_t *gates, int16_t *cell, helia_nn_lstm_value *output)
{
    const int32_t units = params->units;
    int16_t *const input_gate = gates, *const forget_gate = gates + units, *const output_gate = gates + 2 * units;
    int16_t *const candidate = gates + 3 * units;
    (void)arm_logistic_s16(gates, gates, 3 * units, 0, 0);
    (void)arm_tanh_s16(candidate, candidate, units, 0, 0);
#if defined(HELIA_NN_MVE)
    for (int32_t i = 0; i < units; i += 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)(units - i));
        const int32x4_t old = vldrhq_z_s32(cell + i, valid);
        int32x4_t kept = vmulq_s32(vldrhq_z_s32(forget_gate + i, valid), old);
        int32x4_t added = vmulq_s32(vldrhq_z_s32(input_gate + i, valid), vldrhq_z_s32(candidate + i, valid));
        kept = helia_nn_requantize_n_s32x4(kept, params->forget_multiplier, params->forget_shift);
        added = helia_nn_requantize_n_s32x4(added, params->input_multiplier, params->input_shift);
        kept = helia_nn_clamp_s32x4(kept, INT16_MIN, INT16_MAX);
        added = helia_nn_clamp_s32x4(added, INT16_MIN, INT16_MAX);
        const int32x4_t sum = vaddq_s32(kept, added);
        vstrhq_p_s32(cell + i, helia_nn_clamp_s32x4(sum, params->cell.min, params->cell.max), valid);
    }
#else
    for (int32_t i = 0; i < units; i++)
    {
        const int32_t kept = helia_nn_requantize(forget_gate[i] * cell[i], params->forget_multiplier, params->forget_shift);
        const int32_t added = helia_nn_requantize(input_gate[i] * candidate[i], params->input_multiplier, params->input_shift);
        const int32_t sum = helia_nn_saturate_s16(kept) + helia_nn_saturate_s16(added);
        cell[i] = (int16_t)helia_nn_clamp(sum, params->cell.min, params->cell.max);
    }
#endif
    (void)arm_tanh_s16(cell, candidate, units, params->tanh_multiplier, params->tanh_left_shift);
    for (int32_t i = 0; i < units; i++)
    {
        const int32_t scaled =
            helia_nn_requantize(output_gate[i] * candidate[i], params->output_multiplier, params->output_shift);
        output[i] = (helia_nn_lstm_value)helia_nn_clamp(
            scaled + params->output_offset, HELIA_NN_LSTM_LOWEST, -HELIA_NN_LSTM_LOWEST - 1);
    }
}

/* Gives the step's place in input and output, counted in rows. */
static int32_t helia_nn_lstm_row(const helia_nn_lstm_params *params, int32_t batch, int32_t step)
{
    return params->time_major ? step * params->batches + batch : batch * params->steps + step;
}

#endif /* HELIA_NN_SUPPORT_LSTM_INTEGER_H */
