/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Adapters of the integer entries besides the int8 layers; part of driver.c. Comments name a case's numbers and blobs in order.
 */

/* Arithmetic: as arm_add_s8. */
#define ADD_LIKE_ADAPTER(entry)                                                                                               \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);                  \
        const int32_t *p = call->params + 12;                                                                                 \
        return entry(call->blobs[0], &input1, call->blobs[1], &input2, p[0], p[1], p[2], p[3], p[4], p[5], p[6],              \
                     call->output, &output, p[7], p[8], p[9], p[10], p[11]);                                                  \
    }

ADD_LIKE_ADAPTER(arm_add_s16)
ADD_LIKE_ADAPTER(arm_sub_s8)
ADD_LIKE_ADAPTER(arm_sub_s16)
ADD_LIKE_ADAPTER(arm_squared_difference_s8)
ADD_LIKE_ADAPTER(arm_squared_difference_s16)

/* Multiplication: 12 extents, offsets of the inputs, offset, multiplier, shift of the output, activation min max. */
#define MUL_ADAPTER(entry)                                                                                                    \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);                  \
        const int32_t *p = call->params + 12;                                                                                 \
        return entry(call->blobs[0], &input1, call->blobs[1], &input2, p[0], p[1], call->output, &output, p[2], p[3], p[4],   \
                     p[5], p[6]);                                                                                             \
    }

MUL_ADAPTER(arm_mul_s8)
MUL_ADAPTER(arm_mul_s16)
MUL_ADAPTER(helia_nn_div_s8)

/* Larger or smaller number: 12 extents. */
#define PICK_ADAPTER(entry)                                                                                                   \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);                  \
        return entry(&call->scratch, call->blobs[0], &input1, call->blobs[1], &input2, call->output, &output);                \
    }

PICK_ADAPTER(arm_maximum_s8)
PICK_ADAPTER(arm_maximum_s16)
PICK_ADAPTER(arm_minimum_s8)
PICK_ADAPTER(arm_minimum_s16)

/* int32 arithmetic: 12 extents, operation, limits. */
static int32_t run_helia_nn_arithmetic_s32(const call_t *call)
{
    const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);
    const int32_t *p = call->params + 12;
    return helia_nn_arithmetic_s32(call->blobs[0], &input1, call->blobs[1], &input2, p[0], p[1], p[2], call->output, &output);
}

/* Comparison: 12 extents, offset, multiplier, shift of both inputs, left shift, orders; plain numbers: 12 extents, orders. */
static int32_t run_helia_nn_compare_s8(const call_t *call)
{
    const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);
    const int32_t *p = call->params + 12;
    return helia_nn_compare_s8(call->blobs[0], &input1, call->blobs[1], &input2, p[0], p[1], p[2], p[3], p[4], p[5], p[6],
                               p[7], call->output, &output);
}

#define COMPARE_ADAPTER(entry)                                                                                                \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);                  \
        return entry(call->blobs[0], &input1, call->blobs[1], &input2, call->params[12], call->output, &output);              \
    }

COMPARE_ADAPTER(helia_nn_compare_s32)

/* Selection: 16 extents (condition, inputs, output), bytes of an element. Blobs: condition, inputs. */
static int32_t run_helia_nn_select(const call_t *call)
{
    const cmsis_nn_dims condition = dims_at(call, 0), input1 = dims_at(call, 4), input2 = dims_at(call, 8);
    const cmsis_nn_dims output = dims_at(call, 12);
    return helia_nn_select(call->blobs[0], &condition, call->blobs[1], &input1, call->blobs[2], &input2, call->params[16],
                           call->output, &output);
}

/* Reciprocal root: offsets, limits, count; universal: offsets, multiplier, shift, whether to rescale, limits, count.
 * Blobs: input, table. */
static int32_t run_arm_rsqrt_s16_per_op(const call_t *call)
{
    const int32_t *p = call->params;
    return arm_rsqrt_s16_per_op(call->blobs[0], p[0], call->output, p[1], p[2], p[3], p[4], call->blobs[1]);
}

static int32_t run_arm_rsqrt_s16_universal(const call_t *call)
{
    const int32_t *p = call->params;
    return arm_rsqrt_s16_universal(call->blobs[0], p[0], call->output, p[1], p[2], p[3], p[4] != 0, p[5], p[6], p[7],
                                   call->blobs[1]);
}

/* Hard swish: offsets, both factors, count; precise: offsets, factor, three, six, extra bits, count. */
static int32_t run_arm_hard_swish_compat_s8(const call_t *call)
{
    const int32_t *p = call->params;
    return arm_hard_swish_compat_s8(call->blobs[0], p[0], p[1], p[2], p[3], p[4], p[5], call->output, p[6]);
}

static int32_t run_arm_hard_swish_precise_s8(const call_t *call)
{
    const int32_t *p = call->params;
    return arm_hard_swish_precise_s8(call->blobs[0], p[0], p[1], p[2], p[3], p[4], p[5], p[6], call->output, p[7]);
}

/* Logarithm of the softmax: rows, row size, multiplier, shift, smallest difference. */
static int32_t run_helia_nn_log_softmax_s8(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_log_softmax_s8(call->blobs[0], p[0], p[1], p[2], p[3], p[4], call->output);
}

/* L2 normalisation: zero point, rows, row size. */
static int32_t run_helia_nn_l2_normalize_s8(const call_t *call)
{
    return helia_nn_l2_normalize_s8(call->blobs[0], call->params[0], call->params[1], call->params[2], call->output);
}

/* PReLU: 12 extents (input, slopes, output), three offsets, identity multiplier and shift, slope multiplier and shift. */
#define PRELU_ADAPTER(entry)                                                                                                  \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0), slopes = dims_at(call, 4), output = dims_at(call, 8);                   \
        const int32_t *p = call->params + 12;                                                                                 \
        return entry(&input, call->blobs[0], &slopes, call->blobs[1], p[0], p[1], p[2], p[3], p[4], p[5], p[6], &output,      \
                     call->output);                                                                                           \
    }

PRELU_ADAPTER(arm_prelu_s8)
PRELU_ADAPTER(helia_nn_prelu_s16)

/* Table: count. Blobs: input, table. */
static int32_t run_helia_nn_lookup_s8(const call_t *call)
{
    return helia_nn_lookup_s8(call->blobs[0], call->blobs[1], call->output, call->params[0]);
}

/* ReLU: offsets, multiplier, shift, limits, count. */
static int32_t run_arm_relu_generic_s16(const call_t *call)
{
    const int32_t *p = call->params;
    return arm_relu_generic_s16(call->blobs[0], p[0], p[1], p[2], p[3], p[4], p[5], call->output, p[6]);
}

/* Leaky ReLU: offsets, slope multiplier and shift, identity multiplier and shift, count. */
static int32_t run_arm_leaky_relu_s16(const call_t *call)
{
    const int32_t *p = call->params;
    return arm_leaky_relu_s16(call->blobs[0], p[0], p[1], p[2], p[3], p[4], p[5], call->output, p[6]);
}

/* Logistic and tanh: count, multiplier, left shift. */
static int32_t run_arm_logistic_s16(const call_t *call)
{
    return arm_logistic_s16(call->blobs[0], call->output, call->params[0], call->params[1], call->params[2]);
}

static int32_t run_arm_tanh_s16(const call_t *call)
{
    return arm_tanh_s16(call->blobs[0], call->output, call->params[0], call->params[1], call->params[2]);
}

/* Magnitude: offsets, multiplier, shift, whether to rescale, limits, count. */
static int32_t run_arm_abs_s16(const call_t *call)
{
    const int32_t *p = call->params;
    return arm_abs_s16(call->blobs[0], p[0], call->output, p[1], p[2], p[3], p[4] != 0, p[5], p[6], p[7]);
}

/* Softmax: as arm_softmax_s8; int16: rows, row size, multiplier, shift. Blobs: input, both tables. */
static int32_t run_arm_softmax_s8_s16(const call_t *call)
{
    const int32_t *p = call->params;
    arm_softmax_s8_s16(call->blobs[0], p[0], p[1], p[2], p[3], p[4], call->output);
    return 0;
}

static int32_t run_arm_softmax_s16(const call_t *call)
{
    const int32_t *p = call->params;
    const cmsis_nn_softmax_lut_s16 tables = {call->blobs[1], call->blobs[2]};
    return arm_softmax_s16(call->blobs[0], p[0], p[1], p[2], p[3], &tables, call->output);
}

/* Real numbers: count, zero point, the bits of the scale. */
#define REAL_ADAPTER(entry)                                                                                                   \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        float scale;                                                                                                          \
        memcpy(&scale, call->params + 2, sizeof scale);                                                                       \
        return entry(call->blobs[0], call->output, call->params[0], call->params[1], scale);                                  \
    }

REAL_ADAPTER(arm_quantize_f32_s8)
REAL_ADAPTER(arm_quantize_f32_s16)
REAL_ADAPTER(arm_dequantize_s8_f32)
REAL_ADAPTER(arm_dequantize_s16_f32)
REAL_ADAPTER(helia_nn_dequantize_u8_f32)

/* Requantisation: count, multiplier, shift, zero points; mixed: bits of both types before. */
#define REQUANTIZE_ADAPTER(entry)                                                                                             \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const int32_t *p = call->params;                                                                                      \
        return entry(call->blobs[0], call->output, p[0], p[1], p[2], p[3], p[4]);                                             \
    }

REQUANTIZE_ADAPTER(arm_requantize_s8_s8)
REQUANTIZE_ADAPTER(arm_requantize_s16_s16)

static int32_t run_helia_nn_requantize_mixed(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_requantize_mixed(call->blobs[0], p[0], call->output, p[1], p[2], p[3], p[4], p[5], p[6]);
}

/* Cast: types, count. */
static int32_t run_helia_nn_cast(const call_t *call)
{
    return helia_nn_cast(call->blobs[0], call->params[0], call->output, call->params[1], call->params[2]);
}

/* Strided copy: offset, run bytes, axes. Blobs: input, extents, strides. */
static int32_t run_helia_nn_copy_strided(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_copy_strided(call->blobs[0], p[0], p[1], p[2], call->blobs[1], call->blobs[2], call->output);
}

/* Mapped copy: axes, row bytes, pattern, pattern bytes. Blobs: input, map, extents. */
static int32_t run_helia_nn_copy_mapped(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_copy_mapped(call->blobs[0], call->blobs[1], p[0], call->blobs[2], p[1], p[2], p[3], call->output);
}

/* Concatenation: count, runs, bytes of each run. Blobs: inputs. */
static int32_t run_helia_nn_concatenate(const call_t *call)
{
    return helia_nn_concatenate(call->blobs, call->params + 2, call->params[0], call->params[1], call->output);
}

/* Split: count, runs, bytes of each run. Blobs: input. The outputs lie one after the other. */
static int32_t run_helia_nn_split(const call_t *call)
{
    const int32_t *p = call->params;
    void *outputs[MAX_BLOBS];
    uint8_t *at = call->output;
    for (int32_t i = 0; i < p[0]; i++)
    {
        outputs[i] = at;
        at += p[1] * p[2 + i];
    }
    return helia_nn_split(call->blobs[0], p + 2, p[0], p[1], outputs);
}

/* Gather: batches, outer, extent, count, run bytes. Blobs: input, indices. */
static int32_t run_helia_nn_gather(const call_t *call)
{
    const int32_t *p = call->params;
    return helia_nn_gather(call->blobs[0], call->blobs[1], p[0], p[1], p[2], p[3], p[4], call->output);
}

/* Images to places of blocks: 8 extents (input, output), block, padding (height, width), pixel bytes, fill. Blobs: input. */
static int32_t run_helia_nn_space_to_batch(const call_t *call)
{
    const int32_t *p = call->params;
    const cmsis_nn_dims input = dims_at(call, 0), output = dims_at(call, 4);
    const cmsis_nn_tile block = {.h = p[8], .w = p[9]}, padding = {.h = p[10], .w = p[11]};
    return helia_nn_space_to_batch(call->blobs[0], &input, &block, &padding, p[12], p[13], call->output, &output);
}

/* Places of blocks to images: 8 extents (input, output), block, crop (height, width), pixel bytes. Blobs: input. */
static int32_t run_helia_nn_batch_to_space(const call_t *call)
{
    const int32_t *p = call->params;
    const cmsis_nn_dims input = dims_at(call, 0), output = dims_at(call, 4);
    const cmsis_nn_tile block = {.h = p[8], .w = p[9]}, crop = {.h = p[10], .w = p[11]};
    return helia_nn_batch_to_space(call->blobs[0], &input, &block, &crop, p[12], call->output, &output);
}

/* Fill: bytes, pattern, pattern bytes. */
static int32_t run_helia_nn_fill_pattern(const call_t *call)
{
    return helia_nn_fill_pattern(call->output, call->params[0], call->params[1], call->params[2]);
}

/* Bilinear resize: 8 extents (input, output). Blobs: input, rows, columns. */
static int32_t run_helia_nn_resize_bilinear_s8(const call_t *call)
{
    const cmsis_nn_dims input = dims_at(call, 0), output = dims_at(call, 4);
    return helia_nn_resize_bilinear_s8(call->blobs[0], &input, call->blobs[1], call->blobs[2], call->output, &output);
}

/* Reductions: kept extents and strides, reduced extents and strides (3 each), then sum offset, multiplier, shift, output offset,
 * or whether the largest is wanted. */
#define REDUCE_ADAPTERS(suffix)                                                                                               \
    static int32_t run_helia_nn_reduce_sum_##suffix(const call_t *call)                                                       \
    {                                                                                                                         \
        const int32_t *p = call->params;                                                                                      \
        return helia_nn_reduce_sum_##suffix(call->blobs[0], p, p + 3, p + 6, p + 9, p[12], p[13], p[14], p[15],               \
                                            call->output);                                                                    \
    }                                                                                                                         \
    static int32_t run_helia_nn_reduce_extremum_##suffix(const call_t *call)                                                  \
    {                                                                                                                         \
        const int32_t *p = call->params;                                                                                      \
        return helia_nn_reduce_extremum_##suffix(call->blobs[0], p, p + 3, p + 6, p + 9, p[12] != 0, call->output);           \
    }

REDUCE_ADAPTERS(s8)
REDUCE_ADAPTERS(s16)

/* Index of an extremum: 4 extents, axis. */
#define ARG_ADAPTER(entry)                                                                                                    \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0);                                                                         \
        return entry(call->blobs[0], &input, call->params[4], call->output);                                                  \
    }

ARG_ADAPTER(arm_argmax_s8)
ARG_ADAPTER(arm_argmax_s16)
ARG_ADAPTER(arm_argmin_s8)
ARG_ADAPTER(arm_argmin_s16)

/* int16 layers: as the int8 ones; a convolution's last number says whether the bias is int32. */
static int32_t run_arm_convolve_s16(const call_t *call)
{
    const conv_call_t c = conv_call(call);
    const cmsis_nn_bias_data bias = {call->blobs[2], call->params[22] != 0};
    return arm_convolve_s16(&call->scratch, &c.params, &c.quant, &c.input, call->blobs[0], &c.filter, call->blobs[1], &c.bias,
                            &bias, &c.output, call->output);
}

DW_ADAPTER(arm_depthwise_conv_s16)

static int32_t run_arm_fully_connected_s16(const call_t *call)
{
    const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);
    const cmsis_nn_dims bias = {1, 1, 1, output.c};
    const cmsis_nn_fc_params params = fc_params(call);
    const cmsis_nn_per_tensor_quant_params quant = {call->params[17], call->params[18]};
    return arm_fully_connected_s16(&call->scratch, &params, &quant, &input, call->blobs[0], &filter, call->blobs[1], &bias,
                                   call->blobs[2], &output, call->output);
}

static int32_t run_arm_fully_connected_per_channel_s16(const call_t *call)
{
    const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);
    const cmsis_nn_dims bias = {1, 1, 1, output.c};
    const cmsis_nn_fc_params params = fc_params(call);
    const cmsis_nn_per_channel_quant_params quant = {(int32_t *)call->blobs[4], (int32_t *)call->blobs[5]};
    return arm_fully_connected_per_channel_s16(&call->scratch, &params, &quant, &input, call->blobs[0], &filter,
                                               call->blobs[1], &bias, call->blobs[2], &output, call->output);
}

POOL_ADAPTER(arm_avgpool_s16)
POOL_ADAPTER(arm_max_pool_s16)

/* Transpose convolution: as a convolution; the sums have one row for each phase. */
static int32_t run_helia_nn_transpose_conv_s8(const call_t *call)
{
    const conv_call_t c = conv_call(call);
    return helia_nn_transpose_conv_s8(&call->scratch, &c.params, &c.quant, &c.input, call->blobs[0], &c.filter, call->blobs[1],
                                      call->blobs[3], &c.output, call->output);
}

static int32_t run_helia_nn_transpose_conv_s16(const call_t *call)
{
    const conv_call_t c = conv_call(call);
    return helia_nn_transpose_conv_s16(&call->scratch, &c.params, &c.quant, &c.input, call->blobs[0], &c.filter,
                                       call->blobs[1], call->blobs[2], &c.output, call->output);
}

/* SVDF: batches, inputs, units, rank, memory, offsets of input, state and output, feature multiplier and shift, output multiplier
 * and shift, activation min max. Blobs: input, feature weights, time weights, bias, state before. The output is followed by the
 * state after. */
#define SVDF_ADAPTER(suffix, type)                                                                                            \
    static int32_t run_helia_nn_svdf_##suffix(const call_t *call)                                                             \
    {                                                                                                                         \
        const int32_t *p = call->params;                                                                                      \
        const helia_nn_svdf_params params = {p[0], p[1], p[2],  p[3],  p[4],  p[5],           p[6],                           \
                                             p[7], p[8], p[9], p[10], p[11], {p[12], p[13]}};                                 \
        int8_t *const output = call->output;                                                                                  \
        const int32_t outputs = (p[0] * p[2] + 3) / 4 * 4;                                                                    \
        memset(output, 0, (size_t)outputs);                                                                                   \
        type *const state = (type *)(void *)(output + outputs);                                                               \
        memcpy(state, call->blobs[4], (size_t)(p[0] * p[2] * p[3] * p[4]) * sizeof(type));                                    \
        return helia_nn_svdf_##suffix(&params, call->blobs[0], call->blobs[1], call->blobs[2], call->blobs[3], state, output); \
    }

SVDF_ADAPTER(s8, int8_t)
SVDF_ADAPTER(s16, int16_t)

#define INTEGER_ENTRIES                                                                                                       \
    ENTRY(arm_add_s16), ENTRY(arm_sub_s8), ENTRY(arm_sub_s16), ENTRY(arm_mul_s8), ENTRY(arm_mul_s16),                         \
        ENTRY(arm_maximum_s8), ENTRY(arm_maximum_s16), ENTRY(arm_minimum_s8), ENTRY(arm_minimum_s16), ENTRY(arm_prelu_s8),    \
        ENTRY(helia_nn_prelu_s16), ENTRY(helia_nn_lookup_s8), ENTRY(arm_relu_generic_s16), ENTRY(arm_leaky_relu_s16),         \
        ENTRY(arm_logistic_s16), ENTRY(arm_tanh_s16), ENTRY(arm_abs_s16), ENTRY(arm_softmax_s8_s16), ENTRY(arm_softmax_s16),  \
        ENTRY(arm_quantize_f32_s8), ENTRY(arm_quantize_f32_s16), ENTRY(arm_dequantize_s8_f32), ENTRY(arm_dequantize_s16_f32), \
        ENTRY(helia_nn_dequantize_u8_f32), ENTRY(arm_requantize_s8_s8), ENTRY(arm_requantize_s16_s16),                        \
        ENTRY(helia_nn_requantize_mixed), ENTRY(helia_nn_cast), ENTRY(helia_nn_copy_strided), ENTRY(helia_nn_copy_mapped),    \
        ENTRY(helia_nn_concatenate), ENTRY(helia_nn_split), ENTRY(helia_nn_gather), ENTRY(helia_nn_fill_pattern),                     \
        ENTRY(helia_nn_space_to_batch), ENTRY(helia_nn_batch_to_space),                                                          \
        ENTRY(helia_nn_resize_bilinear_s8), ENTRY(helia_nn_reduce_sum_s8), ENTRY(helia_nn_reduce_sum_s16),                    \
        ENTRY(helia_nn_reduce_extremum_s8), ENTRY(helia_nn_reduce_extremum_s16), ENTRY(arm_argmax_s8), ENTRY(arm_argmax_s16), \
        ENTRY(arm_argmin_s8), ENTRY(arm_argmin_s16), ENTRY(arm_convolve_s16), ENTRY(arm_depthwise_conv_s16),                  \
        ENTRY(arm_fully_connected_s16), ENTRY(arm_fully_connected_per_channel_s16), ENTRY(arm_avgpool_s16),                   \
        ENTRY(arm_max_pool_s16), ENTRY(helia_nn_transpose_conv_s8), ENTRY(helia_nn_transpose_conv_s16),                       \
        ENTRY(helia_nn_svdf_s8), ENTRY(helia_nn_svdf_s16), ENTRY(arm_squared_difference_s8),                                  \
        ENTRY(arm_squared_difference_s16), ENTRY(helia_nn_div_s8), ENTRY(helia_nn_arithmetic_s32),                            \
        ENTRY(helia_nn_compare_s8), ENTRY(helia_nn_compare_s32), ENTRY(helia_nn_select), ENTRY(arm_rsqrt_s16_per_op),         \
        ENTRY(arm_rsqrt_s16_universal), ENTRY(arm_hard_swish_compat_s8), ENTRY(arm_hard_swish_precise_s8),     \
        ENTRY(helia_nn_log_softmax_s8), ENTRY(helia_nn_l2_normalize_s8)
