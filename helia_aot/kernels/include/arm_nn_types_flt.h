/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Element types and parameter structures of the floating-point kernels, in the dialect of ns-cmsis-nn.
 *
 * float16_t exists where the compiler has IEEE half precision; HELIA_NN_FLOAT16 tells. Cores without half-precision
 * arithmetic (Cortex-M4) have no *_f16 entries.
 */
#ifndef ARM_NN_TYPES_FLT_H
#define ARM_NN_TYPES_FLT_H

#include "arm_nn_types.h"

typedef float float32_t;

#if defined(__ARM_FP16_FORMAT_IEEE)
typedef __fp16 float16_t; /* as in arm_mve.h */
#define HELIA_NN_FLOAT16 1
#elif defined(__FLT16_MAX__)
typedef _Float16 float16_t;
#define HELIA_NN_FLOAT16 1
#endif

/** How the weights of a matrix product lie in memory; N outputs, K products for each. */
typedef enum
{
    ARM_NN_WEIGHT_FORMAT_STANDARD = 0,   /**< [N][K]. */
    ARM_NN_WEIGHT_FORMAT_NT_N_PACKED = 1 /**< [N / B][K][B], the last block padded with zeros; B is 4 (f32) or 8 (f16). */
} arm_nn_weight_format;

#define HELIA_NN_PARAMETERS(suffix, real)                                                                                     \
    /** Output range of a fused activation. */                                                                                \
    typedef struct                                                                                                            \
    {                                                                                                                         \
        real min;                                                                                                             \
        real max;                                                                                                             \
    } cmsis_nn_activation_##suffix;                                                                                           \
                                                                                                                              \
    /** Parameters of a convolution; `padding` is that on the left and on top. */                                             \
    typedef struct                                                                                                            \
    {                                                                                                                         \
        cmsis_nn_tile stride;                                                                                                 \
        cmsis_nn_tile padding;                                                                                                \
        cmsis_nn_tile dilation;                                                                                               \
        cmsis_nn_activation_##suffix activation;                                                                              \
        arm_nn_weight_format weight_format;                                                                                   \
    } cmsis_nn_conv_params_##suffix;                                                                                          \
                                                                                                                              \
    /** Parameters of a depthwise convolution; `ch_mult` outputs for each input channel. */                                   \
    typedef struct                                                                                                            \
    {                                                                                                                         \
        int32_t ch_mult;                                                                                                      \
        cmsis_nn_tile stride;                                                                                                 \
        cmsis_nn_tile padding;                                                                                                \
        cmsis_nn_tile dilation;                                                                                               \
        cmsis_nn_activation_##suffix activation;                                                                              \
    } cmsis_nn_dw_conv_params_##suffix;                                                                                       \
                                                                                                                              \
    /** Parameters of a pooling. */                                                                                           \
    typedef struct                                                                                                            \
    {                                                                                                                         \
        cmsis_nn_tile stride;                                                                                                 \
        cmsis_nn_tile padding;                                                                                                \
        cmsis_nn_activation_##suffix activation;                                                                              \
    } cmsis_nn_pool_params_##suffix;                                                                                          \
                                                                                                                              \
    /** Parameters of a fully connected layer. */                                                                             \
    typedef struct                                                                                                            \
    {                                                                                                                         \
        cmsis_nn_activation_##suffix activation;                                                                              \
        arm_nn_weight_format weight_format;                                                                                   \
    } cmsis_nn_fc_params_##suffix;

HELIA_NN_PARAMETERS(f32, float32_t)

#if defined(HELIA_NN_FLOAT16)
HELIA_NN_PARAMETERS(f16, float16_t)
#endif

#undef HELIA_NN_PARAMETERS

/** Parameters of helia_nn_fully_connected_blockwise_*(). */
typedef struct
{
    int32_t rows;     /**< Rows of input and output. */
    int32_t depth;    /**< Numbers in a row of the input; a multiple of the block. */
    int32_t channels; /**< Numbers in a row of the output. */
    int32_t block;    /**< Weights that share a scale; a multiple of eight. */
} helia_nn_blockwise_params;

/** Parameters of helia_nn_lstm_f32() and helia_nn_lstm_f16(). */
typedef struct
{
    int32_t batches;
    int32_t steps;
    int32_t inputs;      /**< Numbers of a batch in each step. */
    int32_t units;       /**< Outputs of a batch in each step, and cells. */
    int32_t time_major;  /**< Whether steps come before batches in input and output; else 0. */
    float32_t cell_clip; /**< Limit of a cell's magnitude; 0 for none. */
} helia_nn_lstm_params_flt;

/** Parameters of helia_nn_svdf_f32() and helia_nn_svdf_f16(). */
typedef struct
{
    int32_t batches;
    int32_t inputs; /**< Numbers in each batch. */
    int32_t units;  /**< Outputs of each batch. */
    int32_t rank;   /**< Filters of a unit. */
    int32_t memory; /**< Entries that each filter remembers. */
} helia_nn_svdf_params_flt;

#endif /* ARM_NN_TYPES_FLT_H */
