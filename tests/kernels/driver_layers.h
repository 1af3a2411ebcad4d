/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Adapters of recurrent layers and of products of two computed tensors; part of driver.c. Comments name a case's numbers and blobs
 * in order.
 */

/* Copies a state behind the output, where the entry changes it; gives its place and moves `at` on. */
static void *state_at(uint8_t **at, const void *before, int32_t bytes)
{
    void *const place = *at;
    memcpy(place, before, (size_t)bytes);
    *at += bytes;
    return place;
}

/* LSTM: the fields of helia_nn_lstm_params, then 16 numbers of the gates. Blobs: input, input weights, input sums (int8) or bias
 * (int16), hidden weights, hidden sums (int8), hidden state, cell. The output is followed by the states after; each is a multiple
 * of four bytes. */
static helia_nn_lstm_params lstm_params(const call_t *call)
{
    const int32_t *p = call->params;
    return (helia_nn_lstm_params){p[0],  p[1],  p[2], p[3],  p[4],  p[5],           p[6],          p[7], p[8],
                                  p[9], p[10], p[11], p[12], p[13], {p[14], p[15]}};
}

static int32_t run_helia_nn_lstm_s8(const call_t *call)
{
    const helia_nn_lstm_params params = lstm_params(call);
    uint8_t *at = (uint8_t *)call->output + params.batches * params.steps * params.units;
    int8_t *const hidden = state_at(&at, call->blobs[5], params.batches * params.units);
    int16_t *const cell = state_at(&at, call->blobs[6], params.batches * params.units * 2);
    return helia_nn_lstm_s8(&call->scratch, &params, call->params + 16, call->blobs[0], call->blobs[1], call->blobs[2],
                            call->blobs[3], call->blobs[4], hidden, cell, call->output);
}

static int32_t run_helia_nn_lstm_s16(const call_t *call)
{
    const helia_nn_lstm_params params = lstm_params(call);
    uint8_t *at = (uint8_t *)call->output + params.batches * params.steps * params.units * 2;
    int16_t *const hidden = state_at(&at, call->blobs[4], params.batches * params.units * 2);
    int16_t *const cell = state_at(&at, call->blobs[5], params.batches * params.units * 2);
    return helia_nn_lstm_s16(&call->scratch, &params, call->params + 16, call->blobs[0], call->blobs[1], call->blobs[2],
                             call->blobs[3], hidden, cell, call->output);
}

/* Batches, steps, inputs, units, time major, cell limit. Blobs: input, input weights, bias, hidden weights, hidden state, cell.
 * The output is followed by the states after. */
#define LSTM_FLT_ADAPTER(suffix, type)                                                                                        \
    static int32_t run_helia_nn_lstm_##suffix(const call_t *call)                                                             \
    {                                                                                                                         \
        const int32_t *p = call->params;                                                                                      \
        const helia_nn_lstm_params_flt params = {p[0], p[1], p[2], p[3], p[4], number_at(call, 5)};                           \
        const int32_t bytes = p[0] * p[3] * (int32_t)sizeof(type);                                                            \
        uint8_t *at = (uint8_t *)call->output + bytes * p[1];                                                                 \
        type *const hidden = state_at(&at, call->blobs[4], bytes);                                                            \
        type *const cell = state_at(&at, call->blobs[5], bytes);                                                              \
        return helia_nn_lstm_##suffix(&call->scratch, &params, call->blobs[0], call->blobs[1], call->blobs[2],                \
                                      call->blobs[3], hidden, cell, call->output);                                            \
    }

LSTM_FLT_ADAPTER(f32, float32_t)

/* Matrix products: 12 extents (left side, right side, output), then the fields of helia_nn_bmm_params, multiplier, shift. Blobs:
 * left side, right side. */
static helia_nn_bmm_params bmm_params(const call_t *call)
{
    const int32_t *p = call->params + 12;
    return (helia_nn_bmm_params){p[0], p[1], p[2], p[3], p[4], {p[5], p[6]}};
}

#define BMM_ADAPTER(suffix)                                                                                                   \
    static int32_t run_helia_nn_batch_matmul_##suffix(const call_t *call)                                                     \
    {                                                                                                                         \
        const cmsis_nn_dims lhs = dims_at(call, 0), rhs = dims_at(call, 4), output = dims_at(call, 8);                        \
        const helia_nn_bmm_params params = bmm_params(call);                                                                  \
        const cmsis_nn_per_tensor_quant_params quant = {call->params[19], call->params[20]};                                  \
        return helia_nn_batch_matmul_##suffix(&call->scratch, &params, &quant, &lhs, call->blobs[0], &rhs, call->blobs[1],    \
                                              &output, call->output);                                                         \
    }

BMM_ADAPTER(s8)
BMM_ADAPTER(s16)

#define BMM_FLT_ADAPTER(suffix)                                                                                               \
    static int32_t run_helia_nn_batch_matmul_##suffix(const call_t *call)                                                     \
    {                                                                                                                         \
        const cmsis_nn_dims lhs = dims_at(call, 0), rhs = dims_at(call, 4), output = dims_at(call, 8);                        \
        const helia_nn_bmm_params params = bmm_params(call);                                                                  \
        return helia_nn_batch_matmul_##suffix(&call->scratch, &params, &lhs, call->blobs[0], &rhs, call->blobs[1], &output,   \
                                              call->output);                                                                  \
    }

BMM_FLT_ADAPTER(f32)

/* Transpose convolution: as a float convolution. */
#define TRANSPOSE_CONV_FLT_ADAPTER(suffix)                                                                                    \
    static int32_t run_helia_nn_transpose_conv_##suffix(const call_t *call)                                                   \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);                   \
        const cmsis_nn_conv_params_##suffix params = {.stride = tile_at(call, 12),                                            \
                                                      .padding = tile_at(call, 14),                                           \
                                                      .activation = {number_at(call, 18), number_at(call, 19)}};              \
        return helia_nn_transpose_conv_##suffix(&call->scratch, &params, &input, call->blobs[0], &filter, call->blobs[1],     \
                                                call->blobs[2], &output, call->output);                                       \
    }

/* SVDF: the fields of helia_nn_svdf_params_flt, activation min max. Blobs: input, feature weights, time weights, bias, state before.
 * The output is followed by the state after. */
#define SVDF_FLT_ADAPTER(suffix, type)                                                                                        \
    static int32_t run_helia_nn_svdf_##suffix(const call_t *call)                                                             \
    {                                                                                                                         \
        const int32_t *p = call->params;                                                                                      \
        const helia_nn_svdf_params_flt params = {p[0], p[1], p[2], p[3], p[4]};                                               \
        const cmsis_nn_activation_##suffix limits = {number_at(call, 5), number_at(call, 6)};                                 \
        uint8_t *at = (uint8_t *)call->output + p[0] * p[2] * (int32_t)sizeof(type);                                          \
        type *const state = state_at(&at, call->blobs[4], p[0] * p[2] * p[3] * p[4] * (int32_t)sizeof(type));                 \
        return helia_nn_svdf_##suffix(&call->scratch, &params, &limits, call->blobs[0], call->blobs[1], call->blobs[2],       \
                                      call->blobs[3], state, call->output);                                                   \
    }

TRANSPOSE_CONV_FLT_ADAPTER(f32)
SVDF_FLT_ADAPTER(f32, float32_t)

/* Weights scaled by blocks: the fields of helia_nn_blockwise_params, activation min max. Blobs: input, weights, scales, bias. */
#define BLOCKWISE_ADAPTER(suffix)                                                                                             \
    static int32_t run_helia_nn_fully_connected_blockwise_##suffix(const call_t *call)                                        \
    {                                                                                                                         \
        const int32_t *p = call->params;                                                                                      \
        const helia_nn_blockwise_params params = {p[0], p[1], p[2], p[3]};                                                    \
        const cmsis_nn_activation_##suffix limits = {number_at(call, 4), number_at(call, 5)};                                 \
        return helia_nn_fully_connected_blockwise_##suffix(&params, &limits, call->blobs[0], call->blobs[1], call->blobs[2],  \
                                                           call->blobs[3], call->output);                                     \
    }

BLOCKWISE_ADAPTER(f32)

#if defined(HELIA_NN_FLOAT16)
LSTM_FLT_ADAPTER(f16, float16_t)
BMM_FLT_ADAPTER(f16)
TRANSPOSE_CONV_FLT_ADAPTER(f16)
SVDF_FLT_ADAPTER(f16, float16_t)
BLOCKWISE_ADAPTER(f16)
#define HALF_LAYER_ENTRIES                                                                                                    \
    ENTRY(helia_nn_lstm_f16), ENTRY(helia_nn_batch_matmul_f16), ENTRY(helia_nn_transpose_conv_f16),                           \
        ENTRY(helia_nn_svdf_f16), ENTRY(helia_nn_fully_connected_blockwise_f16),
#else
#define HALF_LAYER_ENTRIES
#endif

#define LAYER_ENTRIES                                                                                                         \
    HALF_LAYER_ENTRIES ENTRY(helia_nn_lstm_s8), ENTRY(helia_nn_lstm_s16), ENTRY(helia_nn_lstm_f32),                           \
        ENTRY(helia_nn_batch_matmul_s8), ENTRY(helia_nn_batch_matmul_s16), ENTRY(helia_nn_batch_matmul_f32), \
        ENTRY(helia_nn_transpose_conv_f32), ENTRY(helia_nn_svdf_f32), ENTRY(helia_nn_fully_connected_blockwise_f32)
