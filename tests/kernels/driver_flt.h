/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Adapters of the floating-point entries; a part of driver.c. Limits of activations are numbers of type float, as bits.
 */
#include "arm_nnfunctions_flt.h"

static float number_at(const call_t *call, int index)
{
    float number;
    memcpy(&number, call->params + index, sizeof number);
    return number;
}

static cmsis_nn_tile tile_at(const call_t *call, int index)
{
    return (cmsis_nn_tile){call->params[index], call->params[index + 1]};
}

/* Convolution: 12 extents, then stride w h, padding w h, dilation w h, activation min max, weight format.
 * Blobs: input, filter, bias. */
#define CONV_FLT_ADAPTER(entry, suffix)                                                                                       \
    static int32_t run_##entry##_##suffix(const call_t *call)                                                                 \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);                   \
        const cmsis_nn_conv_params_##suffix params = {.stride = tile_at(call, 12),                                            \
                                                      .padding = tile_at(call, 14),                                           \
                                                      .dilation = tile_at(call, 16),                                          \
                                                      .activation = {number_at(call, 18), number_at(call, 19)},               \
                                                      .weight_format = (arm_nn_weight_format)call->params[20]};               \
        return entry##_##suffix(&call->scratch, &params, &input, call->blobs[0], &filter, call->blobs[1], NULL,               \
                                call->blobs[2], &output, call->output);                                                       \
    }

/* Depthwise: 12 extents, then stride w h, padding w h, dilation w h, activation min max, channel multiplier.
 * Blobs: input, filter, bias. */
#define DW_FLT_ADAPTER(suffix)                                                                                                \
    static int32_t run_arm_depthwise_nhwc_conv_##suffix(const call_t *call)                                                   \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);                   \
        const cmsis_nn_dw_conv_params_##suffix params = {.ch_mult = call->params[20],                                         \
                                                         .stride = tile_at(call, 12),                                         \
                                                         .padding = tile_at(call, 14),                                        \
                                                         .dilation = tile_at(call, 16),                                       \
                                                         .activation = {number_at(call, 18), number_at(call, 19)}};           \
        return arm_depthwise_nhwc_conv_##suffix(&call->scratch, &params, &input, call->blobs[0], &filter, call->blobs[1],     \
                                                NULL, call->blobs[2], &output, call->output);                                 \
    }

/* Fully connected: 12 extents, then activation min max, weight format. Blobs: input, filter, bias. */
#define FC_FLT_ADAPTER(suffix)                                                                                                \
    static int32_t run_arm_fully_connected_nhwc_##suffix(const call_t *call)                                                  \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);                   \
        const cmsis_nn_fc_params_##suffix params = {.activation = {number_at(call, 12), number_at(call, 13)},                 \
                                                    .weight_format = (arm_nn_weight_format)call->params[14]};                 \
        return arm_fully_connected_nhwc_##suffix(&call->scratch, &params, &input, call->blobs[0], &filter, call->blobs[1],    \
                                                 NULL, call->blobs[2], &output, call->output);                                \
    }

/* Pooling: 12 extents, then stride w h, padding w h, activation min max. Blobs: input. */
#define POOL_FLT_ADAPTER(entry, suffix)                                                                                       \
    static int32_t run_##entry##_##suffix(const call_t *call)                                                                 \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);                   \
        const cmsis_nn_pool_params_##suffix params = {.stride = tile_at(call, 12),                                            \
                                                      .padding = tile_at(call, 14),                                           \
                                                      .activation = {number_at(call, 16), number_at(call, 17)}};              \
        return entry##_##suffix(&call->scratch, &params, &input, call->blobs[0], &filter, &output, call->output);             \
    }

/* Element-wise: activation min max, elements. Blobs: input 1, input 2. */
#define ELEMENTWISE_FLT_ADAPTER(entry, suffix)                                                                                \
    static int32_t run_##entry##_##suffix(const call_t *call)                                                                 \
    {                                                                                                                         \
        return entry##_##suffix(call->blobs[0], call->blobs[1], call->output, number_at(call, 0), number_at(call, 1),         \
                                call->params[2]);                                                                             \
    }

/* Broadcast: 12 extents (input 1, input 2, output), activation min max. Blobs: input 1, input 2. */
#define BROADCAST_FLT_ADAPTER(entry, suffix)                                                                                  \
    static int32_t run_##entry##_##suffix(const call_t *call)                                                                 \
    {                                                                                                                         \
        const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);                  \
        return entry##_##suffix(call->blobs[0], &input1, call->blobs[1], &input2, call->output, &output,                      \
                                number_at(call, 12), number_at(call, 13));                                                    \
    }

/* The same without limits: 12 extents. */
#define EXTREMUM_FLT_ADAPTER(entry, suffix)                                                                                   \
    static int32_t run_##entry##_##suffix(const call_t *call)                                                                 \
    {                                                                                                                         \
        const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);                  \
        return entry##_##suffix(&call->scratch, call->blobs[0], &input1, call->blobs[1], &input2, call->output, &output);     \
    }

#define PRELU_FLT_ADAPTER(suffix)                                                                                             \
    static int32_t run_arm_prelu_##suffix(const call_t *call)                                                                 \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0), alpha = dims_at(call, 4), output = dims_at(call, 8);                    \
        return arm_prelu_##suffix(&input, call->blobs[0], &alpha, call->blobs[1], &output, call->output);                     \
    }

/* Functions of one element: elements. Blobs: input. */
#define MAP_FLT_ADAPTER(entry, suffix)                                                                                        \
    static int32_t run_##entry##_##suffix(const call_t *call)                                                                 \
    {                                                                                                                         \
        entry##_##suffix(call->blobs[0], call->output, call->params[0]);                                                      \
        return 0;                                                                                                             \
    }

/* Clamp: min max, elements. Softmax: rows, row size. Blobs: input. */
#define UNARY_FLT_ADAPTERS(suffix)                                                                                            \
    static int32_t run_helia_nn_clamp_##suffix(const call_t *call)                                                            \
    {                                                                                                                         \
        helia_nn_clamp_##suffix(call->blobs[0], call->output, number_at(call, 0), number_at(call, 1), call->params[2]);       \
        return 0;                                                                                                             \
    }                                                                                                                         \
    static int32_t run_arm_softmax_##suffix(const call_t *call)                                                               \
    {                                                                                                                         \
        return arm_softmax_##suffix(call->blobs[0], call->params[0], call->params[1], call->output);                          \
    }

/* Functions by number: function, elements. Arithmetic: 12 extents, operation, min max. Comparison: 12 extents, orders. Reduction:
 * as the integer ones, then the operation. Index: 4 extents, axis, whether the largest. Resize: 8 extents. Blobs: input(s); of the
 * resize input, rows, their weights, columns, their weights. */
#define MORE_FLT_ADAPTERS(suffix)                                                                                             \
    static int32_t run_helia_nn_map_##suffix(const call_t *call)                                                              \
    {                                                                                                                         \
        return helia_nn_map_##suffix(call->blobs[0], call->params[0], call->output, call->params[1]);                         \
    }                                                                                                                         \
    static int32_t run_helia_nn_elementary_##suffix(const call_t *call)                                                       \
    {                                                                                                                         \
        return helia_nn_elementary_##suffix(call->blobs[0], call->params[0], call->output, call->params[1]);                  \
    }                                                                                                                         \
    static int32_t run_helia_nn_arithmetic_##suffix(const call_t *call)                                                       \
    {                                                                                                                         \
        const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);                  \
        return helia_nn_arithmetic_##suffix(call->blobs[0], &input1, call->blobs[1], &input2, call->params[12],               \
                                            number_at(call, 13), number_at(call, 14), call->output, &output);                 \
    }                                                                                                                         \
    static int32_t run_helia_nn_compare_##suffix(const call_t *call)                                                          \
    {                                                                                                                         \
        const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);                  \
        return helia_nn_compare_##suffix(call->blobs[0], &input1, call->blobs[1], &input2, call->params[12], call->output,    \
                                         &output);                                                                            \
    }                                                                                                                         \
    static int32_t run_helia_nn_reduce_##suffix(const call_t *call)                                                           \
    {                                                                                                                         \
        const int32_t *p = call->params;                                                                                      \
        return helia_nn_reduce_##suffix(call->blobs[0], p, p + 3, p + 6, p + 9, p[12], call->output);                         \
    }                                                                                                                         \
    static int32_t run_helia_nn_log_softmax_##suffix(const call_t *call)                                                      \
    {                                                                                                                         \
        return helia_nn_log_softmax_##suffix(call->blobs[0], call->params[0], call->params[1], call->output);                 \
    }                                                                                                                         \
    static int32_t run_helia_nn_l2_normalize_##suffix(const call_t *call)                                                     \
    {                                                                                                                         \
        return helia_nn_l2_normalize_##suffix(call->blobs[0], call->params[0], call->params[1], call->output);                \
    }                                                                                                                         \
    static int32_t run_helia_nn_arg_extremum_##suffix(const call_t *call)                                                     \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0);                                                                         \
        return helia_nn_arg_extremum_##suffix(call->blobs[0], &input, call->params[4], call->params[5] != 0, call->output);   \
    }                                                                                                                         \
    static int32_t run_helia_nn_resize_bilinear_##suffix(const call_t *call)                                                  \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0), output = dims_at(call, 4);                                              \
        return helia_nn_resize_bilinear_##suffix(call->blobs[0], &input, call->blobs[1], call->blobs[2], call->blobs[3],      \
                                                 call->blobs[4], call->output, &output);                                      \
    }

/* Half-precision numbers to quantised ones and back: as arm_quantize_f32_s8. */
#define HALF_ADAPTER(entry)                                                                                                   \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        return entry(call->blobs[0], call->output, call->params[0], call->params[1], number_at(call, 2));                     \
    }

#define FLT_ADAPTERS(suffix)                                                                                                  \
    CONV_FLT_ADAPTER(arm_convolve_nhwc, suffix)                                                                               \
    CONV_FLT_ADAPTER(arm_convolve_1x1_nhwc, suffix)                                                                           \
    DW_FLT_ADAPTER(suffix)                                                                                                    \
    FC_FLT_ADAPTER(suffix)                                                                                                    \
    POOL_FLT_ADAPTER(arm_avg_pool, suffix)                                                                                    \
    POOL_FLT_ADAPTER(arm_max_pool, suffix)                                                                                    \
    ELEMENTWISE_FLT_ADAPTER(arm_elementwise_add, suffix)                                                                      \
    ELEMENTWISE_FLT_ADAPTER(arm_elementwise_sub, suffix)                                                                      \
    ELEMENTWISE_FLT_ADAPTER(arm_elementwise_mul, suffix)                                                                      \
    BROADCAST_FLT_ADAPTER(helia_nn_add, suffix)                                                                               \
    BROADCAST_FLT_ADAPTER(helia_nn_sub, suffix)                                                                               \
    BROADCAST_FLT_ADAPTER(helia_nn_mul, suffix)                                                                               \
    EXTREMUM_FLT_ADAPTER(arm_maximum, suffix)                                                                                 \
    EXTREMUM_FLT_ADAPTER(arm_minimum, suffix)                                                                                 \
    PRELU_FLT_ADAPTER(suffix)                                                                                                 \
    MAP_FLT_ADAPTER(helia_nn_logistic, suffix)                                                                                \
    MAP_FLT_ADAPTER(helia_nn_tanh, suffix)                                                                                    \
    MAP_FLT_ADAPTER(helia_nn_hard_swish, suffix)                                                                              \
    UNARY_FLT_ADAPTERS(suffix)                                                                                                \
    MORE_FLT_ADAPTERS(suffix)

#define FLT_ENTRIES(suffix)                                                                                                   \
    ENTRY(arm_convolve_nhwc_##suffix), ENTRY(arm_convolve_1x1_nhwc_##suffix), ENTRY(arm_depthwise_nhwc_conv_##suffix),        \
        ENTRY(arm_fully_connected_nhwc_##suffix), ENTRY(arm_avg_pool_##suffix), ENTRY(arm_max_pool_##suffix),                 \
        ENTRY(arm_elementwise_add_##suffix), ENTRY(arm_elementwise_sub_##suffix), ENTRY(arm_elementwise_mul_##suffix),        \
        ENTRY(helia_nn_add_##suffix), ENTRY(helia_nn_sub_##suffix), ENTRY(helia_nn_mul_##suffix),                             \
        ENTRY(arm_maximum_##suffix), ENTRY(arm_minimum_##suffix), ENTRY(arm_prelu_##suffix),                                  \
        ENTRY(helia_nn_logistic_##suffix), ENTRY(helia_nn_tanh_##suffix), ENTRY(helia_nn_hard_swish_##suffix),                \
        ENTRY(helia_nn_clamp_##suffix), ENTRY(arm_softmax_##suffix), ENTRY(helia_nn_map_##suffix),                            \
        ENTRY(helia_nn_elementary_##suffix), ENTRY(helia_nn_arithmetic_##suffix), ENTRY(helia_nn_compare_##suffix),           \
        ENTRY(helia_nn_reduce_##suffix), ENTRY(helia_nn_log_softmax_##suffix), ENTRY(helia_nn_arg_extremum_##suffix),         \
        ENTRY(helia_nn_resize_bilinear_##suffix), ENTRY(helia_nn_l2_normalize_##suffix)

FLT_ADAPTERS(f32)
#if defined(HELIA_NN_FLOAT16)
FLT_ADAPTERS(f16)
HALF_ADAPTER(helia_nn_quantize_f16_s8)
HALF_ADAPTER(helia_nn_quantize_f16_s16)
HALF_ADAPTER(helia_nn_dequantize_s8_f16)
HALF_ADAPTER(helia_nn_dequantize_s16_f16)
#define ALL_FLT_ENTRIES                                                                                                       \
    FLT_ENTRIES(f32), FLT_ENTRIES(f16), ENTRY(helia_nn_quantize_f16_s8), ENTRY(helia_nn_quantize_f16_s16),                    \
        ENTRY(helia_nn_dequantize_s8_f16), ENTRY(helia_nn_dequantize_s16_f16)
#else
#define ALL_FLT_ENTRIES FLT_ENTRIES(f32)
#endif
