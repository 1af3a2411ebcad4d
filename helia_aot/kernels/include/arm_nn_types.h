/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Parameter structures and status codes of the neural network kernels.
 *
 * The names and field orders are those of the CMSIS-NN interface in the dialect of ns-cmsis-nn,
 * so that generated code links with either library.
 */
#ifndef ARM_NN_TYPES_H
#define ARM_NN_TYPES_H

#include "helia_nn_symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* The call dialect: the s8 convolutions take `weight_sum_ctx` as second argument. A module checks this macro, because
 * a library of the other dialect would link without a word and then read wrong arguments. */
#define HELIA_NN_DIALECT_NS_CMSIS_NN 1

/* The release of the dialect that is covered (first one with the direct entries), as numbers that `#if` can compare. */
#define HELIA_NN_VERSION_MAJOR 7
#define HELIA_NN_VERSION_MINOR 37
#define HELIA_NN_VERSION_PATCH 0
#define HELIA_NN_VERSION \
    (HELIA_NN_VERSION_MAJOR * 10000 + HELIA_NN_VERSION_MINOR * 100 + HELIA_NN_VERSION_PATCH)

/** Result of a kernel call. */
typedef enum
{
    ARM_CMSIS_NN_SUCCESS = 0,        /**< The output is complete. */
    ARM_CMSIS_NN_ARG_ERROR = -1,     /**< An argument is outside the entry's rule; the output is untouched. */
    ARM_CMSIS_NN_NO_IMPL_ERROR = -2, /**< The entry exists but not for this build. */
    ARM_CMSIS_NN_FAILURE = -3        /**< Any other failure. */
} arm_cmsis_nn_status;

/** A working buffer. */
typedef struct
{
    void *buf;    /**< Start, 4-byte aligned; NULL where an entry needs none. */
    int32_t size; /**< Bytes. */
} cmsis_nn_context;

/** Extents of a tensor, NHWC. */
typedef struct
{
    int32_t n; /**< Batches, or output channels of a convolution filter. */
    int32_t h; /**< Rows. */
    int32_t w; /**< Columns. */
    int32_t c; /**< Channels. */
} cmsis_nn_dims;

/** A pair of horizontal and vertical amounts. */
typedef struct
{
    int32_t w;
    int32_t h;
} cmsis_nn_tile;

/** Output range of a fused activation, in quantised units. */
typedef struct
{
    int32_t min;
    int32_t max;
} cmsis_nn_activation;

/** Requantisation of a whole tensor. */
typedef struct
{
    int32_t multiplier; /**< Q0.31. */
    int32_t shift;      /**< Positive: left before the multiplication; negative: rounding right after it. */
} cmsis_nn_per_tensor_quant_params;

/** Requantisation by output channel. */
typedef struct
{
    int32_t *multiplier; /**< One Q0.31 number for each output channel. */
    int32_t *shift;      /**< One shift for each output channel, sign as in the per-tensor form. */
} cmsis_nn_per_channel_quant_params;

/** Requantisation of either kind. */
typedef struct
{
    int32_t *multiplier;
    int32_t *shift;
    int32_t is_per_channel; /**< 0: one element; else one for each output channel. */
} cmsis_nn_quant_params;

/** Parameters of a convolution. */
typedef struct
{
    int32_t input_offset;  /**< Minus the input zero point, -127..128. */
    int32_t output_offset; /**< The output zero point, -128..127. */
    cmsis_nn_tile stride;
    cmsis_nn_tile padding; /**< Left and top padding. */
    cmsis_nn_tile dilation;
    cmsis_nn_activation activation;
} cmsis_nn_conv_params;

/** Parameters of a depthwise convolution. */
typedef struct
{
    int32_t input_offset;  /**< Minus the input zero point, -127..128. */
    int32_t output_offset; /**< The output zero point, -128..127. */
    int32_t ch_mult;       /**< Output channels for each input channel. */
    cmsis_nn_tile stride;
    cmsis_nn_tile padding; /**< Left and top padding. */
    cmsis_nn_tile dilation;
    cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

/** Parameters of a pooling. */
typedef struct
{
    cmsis_nn_tile stride;
    cmsis_nn_tile padding; /**< Left and top padding. */
    cmsis_nn_activation activation;
} cmsis_nn_pool_params;

/** Parameters of a fully connected layer. */
typedef struct
{
    int32_t input_offset;  /**< Minus the input zero point, -127..128. */
    int32_t filter_offset; /**< Minus the filter zero point; 0 for int8 models. */
    int32_t output_offset; /**< The output zero point, -128..127. */
    cmsis_nn_activation activation;
} cmsis_nn_fc_params;

/** Tables of an int16 softmax, 513 samples each, Q15. */
typedef struct
{
    const int16_t *exp_lut;        /**< exp(x) for x from -10 to 0. */
    const int16_t *one_by_one_lut; /**< 1 / (1 + x) for x from 0 to 1. */
} cmsis_nn_softmax_lut_s16;

/** Bias of an int16 convolution. */
typedef struct
{
    const void *data;         /**< One number for each output channel; NULL for none. */
    const bool is_int32_bias; /**< int32 numbers and an int32 accumulator; else int64 ones. */
} cmsis_nn_bias_data;

/** Element types of helia_nn_cast(). */
typedef enum
{
    HELIA_NN_BOOL = 0,
    HELIA_NN_UINT8 = 1,
    HELIA_NN_INT8 = 2,
    HELIA_NN_INT16 = 3,
    HELIA_NN_INT32 = 4,
    HELIA_NN_UINT32 = 5,
    HELIA_NN_INT64 = 6,
    HELIA_NN_FLOAT32 = 7,
    HELIA_NN_HALF = 8 /**< float16. */
} helia_nn_type;

/** Operations of helia_nn_arithmetic_s32() and, the divisions and the last one, of helia_nn_arithmetic_f32(). */
typedef enum
{
    HELIA_NN_ADD = 0,
    HELIA_NN_SUB = 1,
    HELIA_NN_MUL = 2,
    HELIA_NN_DIV = 3,       /**< Integers: towards zero. */
    HELIA_NN_FLOOR_DIV = 4, /**< Towards minus infinity. */
    HELIA_NN_FLOOR_MOD = 5, /**< The rest of the floor division. */
    HELIA_NN_MAXIMUM = 6,
    HELIA_NN_MINIMUM = 7,
    HELIA_NN_SQUARED_DIFFERENCE = 8
} helia_nn_operation;

/** How two numbers can stand to each other; comparisons take the sum of the orders that give true. */
typedef enum
{
    HELIA_NN_ORDER_LESS = 1,
    HELIA_NN_ORDER_EQUAL = 2,
    HELIA_NN_ORDER_GREATER = 4,
    HELIA_NN_ORDER_NONE = 8 /**< One of them is no number. */
} helia_nn_order;

/** Functions of helia_nn_map_f32() up to HELIA_NN_ROUND, and of helia_nn_elementary_f32(). */
typedef enum
{
    HELIA_NN_NEG = 0,
    HELIA_NN_ABS = 1,
    HELIA_NN_SQUARE = 2,
    HELIA_NN_SQRT = 3,
    HELIA_NN_RSQRT = 4,
    HELIA_NN_FLOOR = 5,
    HELIA_NN_CEIL = 6,
    HELIA_NN_ROUND = 7, /**< Halves to the even neighbour. */
    HELIA_NN_EXP = 8,
    HELIA_NN_LOG = 9,
    HELIA_NN_SIN = 10,
    HELIA_NN_COS = 11,
    HELIA_NN_ELU = 12,
    HELIA_NN_GELU = 13,
    HELIA_NN_GELU_TANH = 14 /**< GELU by its approximation with tanh. */
} helia_nn_function;

/** Reductions of helia_nn_reduce_f32(). */
typedef enum
{
    HELIA_NN_REDUCE_SUM = 0,
    HELIA_NN_REDUCE_MEAN = 1,
    HELIA_NN_REDUCE_MAX = 2,
    HELIA_NN_REDUCE_MIN = 3
} helia_nn_reduction;

/** Parameters of helia_nn_svdf_s8() and helia_nn_svdf_s16(). */
typedef struct
{
    int32_t batches;
    int32_t inputs; /**< Numbers in each batch. */
    int32_t units;  /**< Outputs of each batch. */
    int32_t rank;   /**< Filters of a unit. */
    int32_t memory; /**< Entries that each filter remembers. */
    int32_t input_offset; /**< Minus the input zero point. */
    int32_t state_offset; /**< Minus the zero point of the state. */
    int32_t output_offset; /**< The output zero point. */
    int32_t feature_multiplier;
    int32_t feature_shift;
    int32_t output_multiplier;
    int32_t output_shift;
    cmsis_nn_activation activation;
} helia_nn_svdf_params;

/** Parameters of helia_nn_batch_matmul_*(); float entries read the first two only. */
typedef struct
{
    int32_t adj_x; /**< Whether the left side is [depth, rows]; else [rows, depth]. */
    int32_t adj_y; /**< Whether the right side is [columns, depth]; else [depth, columns]. */
    int32_t lhs_offset; /**< Minus the zero point of the left side. */
    int32_t rhs_offset; /**< Minus the zero point of the right side. */
    int32_t output_offset; /**< The output zero point. */
    cmsis_nn_activation activation;
} helia_nn_bmm_params;

/** Parameters of helia_nn_lstm_s8() and helia_nn_lstm_s16(). */
typedef struct
{
    int32_t batches;
    int32_t steps;
    int32_t inputs;      /**< Numbers of a batch in each step. */
    int32_t units;       /**< Outputs of a batch in each step, and cells. */
    int32_t time_major;  /**< Whether steps come before batches in input and output; else 0. */
    int32_t forget_multiplier; /**< Forget gate times cell to cell. */
    int32_t forget_shift;
    int32_t input_multiplier; /**< Input gate times candidate to cell. */
    int32_t input_shift;
    int32_t output_multiplier; /**< Output gate times tanh of the cell to output. */
    int32_t output_shift;
    int32_t output_offset;    /**< The output zero point. */
    int32_t tanh_multiplier;  /**< Of the cell, as in arm_tanh_s16(). */
    int32_t tanh_left_shift;
    cmsis_nn_activation cell; /**< Limits of the cell. */
} helia_nn_lstm_params;

#endif /* ARM_NN_TYPES_H */
