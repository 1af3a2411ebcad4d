/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Adapters of sums, running sums, root mean squares, of what indices name, and of weights with an offset.
 */

/* Sum of several inputs, all blobs: count, size, input offset, multiplier, shift, output offset. */
static int32_t run_helia_nn_add_n_s8(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_add_n_s8(call->blobs, p[0], p[2], p[3], p[4], p[5], call->output, p[1]);
}

/* Running sum: outer, extent, inner, exclusive, reverse, input offset, multiplier, shift, output offset. */
static int32_t run_helia_nn_cumulative_sum_s8(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_cumulative_sum_s8(call->blobs[0], p[0], p[1], p[2], p[3] != 0, p[4] != 0, p[5], p[6], p[7], p[8],
                                      call->output);
}

/* Gather by positions: count, depth, run bytes. Blobs: input, indices, extents. */
static int32_t run_helia_nn_gather_nd(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_gather_nd(call->blobs[0], call->blobs[1], p[0], p[1], call->blobs[2], p[2], call->output);
}

/* Update of a part: start bytes, axes, element bytes. Blobs: input, update, starts, extents, extents of the update. */
static int32_t run_helia_nn_update_slice(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_update_slice(call->blobs[0], call->blobs[1], call->blobs[2], p[0], p[1], call->blobs[3], call->blobs[4],
                                 p[2], call->output);
}

/* Part of a tensor: start bytes, axes, element bytes. Blobs: input, starts, extents, extents of the part. */
static int32_t run_helia_nn_slice(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_slice(call->blobs[0], call->blobs[1], p[0], p[1], call->blobs[2], call->blobs[3], p[2], call->output);
}

/* Extents of a broadcast: counts, extent bytes. Blobs: both lists. */
static int32_t run_helia_nn_broadcast_extents(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_broadcast_extents(call->blobs[0], p[0], call->blobs[1], p[1], p[2], call->output);
}

/* Pairs of int64: 12 extents (input 1, input 2, output), orders or whether the largest. Blobs: input 1, input 2. */
static int32_t run_helia_nn_compare_s64(const call_t *call)
{
    const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);
    return helia_nn_compare_s64(call->blobs[0], &input1, call->blobs[1], &input2, call->params[12], call->output, &output);
}

static int32_t run_helia_nn_extremum_s64(const call_t *call)
{
    const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);
    return helia_nn_extremum_s64(call->blobs[0], &input1, call->blobs[1], &input2, call->params[12] != 0, call->output,
                                 &output);
}

/* Weights with an offset: rows, depth, channels, three offsets, activation min max, multiplier, shift. Blobs: input, filter, bias. */
static int32_t run_helia_nn_fully_connected_offsets_s8(const call_t *call)
{
    const int32_t *p = call->params;
    const cmsis_nn_dims input = {p[0], 1, 1, p[1]}, filter = {p[1], 1, 1, p[2]};
    const cmsis_nn_fc_params params = {
        .input_offset = p[3], .filter_offset = p[4], .output_offset = p[5], .activation = {p[6], p[7]}};
    const cmsis_nn_per_tensor_quant_params quant = {p[8], p[9]};
    return helia_nn_fully_connected_offsets_s8(&params, &quant, &input, call->blobs[0], &filter, call->blobs[1], call->blobs[2],
                                               call->output);
}

/* 32-bit accumulators: rows, depth, channels, activation min max. Blobs: input, filter, bias, multipliers, shifts. */
static int32_t run_helia_nn_fully_connected_s16_s32(const call_t *call)
{
    const int32_t *p = call->params;
    const cmsis_nn_dims input = {p[0], 1, 1, p[1]}, filter = {p[1], 1, 1, p[2]};
    const cmsis_nn_fc_params params = {.activation = {p[3], p[4]}};
    const cmsis_nn_per_channel_quant_params quant = {(int32_t *)call->blobs[3], (int32_t *)call->blobs[4]};
    return helia_nn_fully_connected_s16_s32(&params, &quant, &input, call->blobs[0], &filter, call->blobs[1], call->blobs[2],
                                            call->output);
}

/* Sum: count, size. Running sum: outer, extent, inner, exclusive, reverse.
 * Embedding: rows, count, row size, scale. Softmax: rows, row size, beta. */
#define SUM_FLT_ADAPTERS(suffix)                                                                                              \
    static int32_t run_helia_nn_add_n_##suffix(const call_t *call)                                                            \
    {                                                                                                                         \
        return helia_nn_add_n_##suffix(call->blobs, call->params[0], call->output, call->params[1]);                          \
    }                                                                                                                         \
    static int32_t run_helia_nn_cumulative_sum_##suffix(const call_t *call)                                                   \
    {                                                                                                                         \
        const int32_t *p = call->params;                                                                                      \
        return helia_nn_cumulative_sum_##suffix(call->blobs[0], p[0], p[1], p[2], p[3] != 0, p[4] != 0, call->output);        \
    }                                                                                                                         \
    static int32_t run_helia_nn_embedding_s8_##suffix(const call_t *call)                                                     \
    {                                                                                                                         \
        const int32_t *p = call->params;                                                                                      \
        return helia_nn_embedding_s8_##suffix(call->blobs[0], call->blobs[1], p[0], p[1], p[2], number_at(call, 3),           \
                                              call->output);                                                                  \
    }                                                                                                                         \
    static int32_t run_helia_nn_softmax_beta_##suffix(const call_t *call)                                                     \
    {                                                                                                                         \
        return helia_nn_softmax_beta_##suffix(call->blobs[0], call->params[0], call->params[1], number_at(call, 2),           \
                                              call->output);                                                                  \
    }                                                                                                                         \
    POOL_FLT_ADAPTER(helia_nn_l2_pool, suffix)

#define SUM_FLT_ENTRIES(suffix)                                                                                               \
    ENTRY(helia_nn_add_n_##suffix), ENTRY(helia_nn_cumulative_sum_##suffix), ENTRY(helia_nn_embedding_s8_##suffix),           \
        ENTRY(helia_nn_l2_pool_##suffix), ENTRY(helia_nn_softmax_beta_##suffix)

SUM_FLT_ADAPTERS(f32)
#if defined(HELIA_NN_FLOAT16)
SUM_FLT_ADAPTERS(f16)
#define ALL_SUM_FLT_ENTRIES SUM_FLT_ENTRIES(f32), SUM_FLT_ENTRIES(f16)
#else
#define ALL_SUM_FLT_ENTRIES SUM_FLT_ENTRIES(f32)
#endif

#define ALL_SUM_ENTRIES                                                                                                       \
    ENTRY(helia_nn_add_n_s8), ENTRY(helia_nn_cumulative_sum_s8), ENTRY(helia_nn_gather_nd), ENTRY(helia_nn_update_slice),     \
        ENTRY(helia_nn_slice), ENTRY(helia_nn_broadcast_extents), ENTRY(helia_nn_compare_s64),                                \
        ENTRY(helia_nn_extremum_s64), ENTRY(helia_nn_fully_connected_offsets_s8),                                             \
        ENTRY(helia_nn_fully_connected_s16_s32),                                                                              \
        ALL_SUM_FLT_ENTRIES
