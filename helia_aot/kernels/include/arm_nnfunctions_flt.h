/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Prototypes of the floating-point kernels, float32 (*_f32) and float16 (*_f16), in the dialect of ns-cmsis-nn.
 *
 * Numerics. Portable f32 bodies start a sum from the bias and add the products in ascending order of the filter's taps (row,
 * column, channel; depthwise: column, row), each product and each sum rounded unless the compiler may contract them. Helium
 * f32 bodies use fused multiply-adds; with packed weights and in depthwise convolutions they keep that order, with the standard
 * layout they keep four partial sums (product k in sum k % 4), added as (s0 + s1) + (s2 + s3), then the bias. So both differ
 * from each other and from other libraries by rounding only.
 *
 * f16 matrix products (convolutions but depthwise, and fully connected layers), portable and Helium alike:
 *   standard layout: within each block of 32 products eight half-precision partial sums (product k in sum k % 8, fused
 *     multiply-adds); at the end of a block the sums are added in single precision to four partial sums (sums 2i, then
 *     2i + 1 to number i); at the end (s0 + s1) + (s2 + s3), plus the bias, rounded once to half precision.
 *   packed layout: one chain of half-precision fused multiply-adds for each output, from the bias on in ascending order.
 * f16 depthwise convolutions add in one half-precision chain, from the bias on, column after column of the filter. Average
 * pools and softmax of both types compute in single precision.
 *
 * Layout NHWC, filters [C_OUT, K_H, K_W, C_IN], depthwise [1, K_H, K_W, C_OUT]. A bias may be NULL. Every entry that gives a
 * status returns ARM_CMSIS_NN_ARG_ERROR, and writes nothing, for arguments outside its rule.
 */
#ifndef ARM_NNFUNCTIONS_FLT_H
#define ARM_NNFUNCTIONS_FLT_H

#include "arm_nn_types_flt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Convolution of any stride, dilation, padding and batch. Where the input has a multiple of the filter's channels, output
 * channels are in as many groups, each of which reads its own part of the input channels; their weights are not packed.
 * @param ctx Scratch of 4 * K_H * K_W * C_IN elements, aligned to an element. */
arm_cmsis_nn_status arm_convolve_nhwc_f32(
    const cmsis_nn_context *ctx,
    const cmsis_nn_conv_params_f32 *conv_params,
    const cmsis_nn_dims *input_dims,
    const float32_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const float32_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const float32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    float32_t *output_data);

/** Convolution with a 1x1 filter, any stride, without padding. @param ctx Unused. */
arm_cmsis_nn_status arm_convolve_1x1_nhwc_f32(
    const cmsis_nn_context *ctx,
    const cmsis_nn_conv_params_f32 *conv_params,
    const cmsis_nn_dims *input_dims,
    const float32_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const float32_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const float32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    float32_t *output_data);

/** Depthwise convolution of any shape. @param ctx Unused. */
arm_cmsis_nn_status arm_depthwise_nhwc_conv_f32(
    const cmsis_nn_context *ctx,
    const cmsis_nn_dw_conv_params_f32 *dw_conv_params,
    const cmsis_nn_dims *input_dims,
    const float32_t *input,
    const cmsis_nn_dims *filter_dims,
    const float32_t *kernel,
    const cmsis_nn_dims *bias_dims,
    const float32_t *bias,
    const cmsis_nn_dims *output_dims,
    float32_t *output);

/** Fully connected layer: `input_dims->n` rows of `filter_dims->n` elements, `output_dims->c` outputs each.
 * @param ctx Unused. */
arm_cmsis_nn_status arm_fully_connected_nhwc_f32(
    const cmsis_nn_context *ctx,
    const cmsis_nn_fc_params_f32 *fc_params,
    const cmsis_nn_dims *input_dims,
    const float32_t *input,
    const cmsis_nn_dims *filter_dims,
    const float32_t *kernel,
    const cmsis_nn_dims *bias_dims,
    const float32_t *bias,
    const cmsis_nn_dims *output_dims,
    float32_t *output);

/** Average of the part of each window that lies in the input. @param ctx Unused. */
arm_cmsis_nn_status arm_avg_pool_f32(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params_f32 *pool_params,
    const cmsis_nn_dims *input_dims,
    const float32_t *src,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    float32_t *dst);

/** Largest element of the part of each window that lies in the input. @param ctx Unused. */
arm_cmsis_nn_status arm_max_pool_f32(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params_f32 *pool_params,
    const cmsis_nn_dims *input_dims,
    const float32_t *src,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    float32_t *dst);

/** Sum of two equal shapes, clamped. */
arm_cmsis_nn_status arm_elementwise_add_f32(
    const float32_t *input_1_vect,
    const float32_t *input_2_vect,
    float32_t *output,
    float32_t out_activation_min,
    float32_t out_activation_max,
    int32_t block_size);

/** Difference of two equal shapes, clamped. */
arm_cmsis_nn_status arm_elementwise_sub_f32(
    const float32_t *input_1_vect,
    const float32_t *input_2_vect,
    float32_t *output,
    float32_t out_activation_min,
    float32_t out_activation_max,
    int32_t block_size);

/** Product of two equal shapes, clamped. */
arm_cmsis_nn_status arm_elementwise_mul_f32(
    const float32_t *input_1_vect,
    const float32_t *input_2_vect,
    float32_t *output,
    float32_t out_activation_min,
    float32_t out_activation_max,
    int32_t block_size);

/** Sum of two tensors of up to four dimensions, each broadcast to the output's shape; clamped. Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_add_f32(
    const float32_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float32_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float32_t *output_data,
    const cmsis_nn_dims *output_dims,
    float32_t out_activation_min,
    float32_t out_activation_max);

/** Difference, as helia_nn_add_f32(). */
arm_cmsis_nn_status helia_nn_sub_f32(
    const float32_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float32_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float32_t *output_data,
    const cmsis_nn_dims *output_dims,
    float32_t out_activation_min,
    float32_t out_activation_max);

/** Product, as helia_nn_add_f32(). */
arm_cmsis_nn_status helia_nn_mul_f32(
    const float32_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float32_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float32_t *output_data,
    const cmsis_nn_dims *output_dims,
    float32_t out_activation_min,
    float32_t out_activation_max);

/** Larger of two tensors of up to four dimensions, each broadcast to the output's shape. @param ctx Unused. */
arm_cmsis_nn_status arm_maximum_f32(
    const cmsis_nn_context *ctx,
    const float32_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float32_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float32_t *output_data,
    const cmsis_nn_dims *output_dims);

/** Smaller, as arm_maximum_f32(). */
arm_cmsis_nn_status arm_minimum_f32(
    const cmsis_nn_context *ctx,
    const float32_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float32_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float32_t *output_data,
    const cmsis_nn_dims *output_dims);

/** Elements below zero times `alpha`, which is broadcast to the output's shape. */
arm_cmsis_nn_status arm_prelu_f32(
    const cmsis_nn_dims *input_dims,
    const float32_t *input,
    const cmsis_nn_dims *alpha_dims,
    const float32_t *alpha,
    const cmsis_nn_dims *output_dims,
    float32_t *output);

/** 1 / (1 + e^-x), computed in single precision; input and output may be the same. Not in ns-cmsis-nn. */
void helia_nn_logistic_f32(const float32_t *input, float32_t *output, int32_t size);

/** Hyperbolic tangent, as helia_nn_logistic_f32(). */
void helia_nn_tanh_f32(const float32_t *input, float32_t *output, int32_t size);

/** x * min(max(x + 3, 0), 6) / 6, as helia_nn_logistic_f32(). */
void helia_nn_hard_swish_f32(const float32_t *input, float32_t *output, int32_t size);

/** Limits each element to [min, max]; input and output may be the same. Not in ns-cmsis-nn. */
void helia_nn_clamp_f32(const float32_t *input, float32_t *output, float32_t min, float32_t max, int32_t size);

/** Softmax along rows, beta 1; computed in single precision. Input and output may be the same. */
arm_cmsis_nn_status arm_softmax_f32(const float32_t *input, int32_t num_rows, int32_t row_size, float32_t *output);

/** Applies one of the functions up to HELIA_NN_ROUND of helia_nn_function to each element; computed in single precision. Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_map_f32(const float32_t *input, const int32_t function, float32_t *output, const int32_t size);

/** Applies one of the functions from HELIA_NN_EXP on; sine and cosine need |x| below 1e4. Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_elementary_f32(const float32_t *input, const int32_t function, float32_t *output, const int32_t size);

/**
 * Division, floor division, its rest or squared difference of two tensors of up to four dimensions, each broadcast to the output.
 *
 * @param operation Of helia_nn_operation. Division by zero gives an infinity or no number, limited to [low, high].
 */
arm_cmsis_nn_status helia_nn_arithmetic_f32(
    const float32_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const float32_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t operation,
    const float32_t low,
    const float32_t high,
    float32_t *output_data,
    const cmsis_nn_dims *output_dims);

/** Compares as helia_nn_compare_s32(); nothing but HELIA_NN_ORDER_NONE holds for what is no number. */
arm_cmsis_nn_status helia_nn_compare_f32(
    const float32_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const float32_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t orders,
    bool *output_data,
    const cmsis_nn_dims *output_dims);

/** Reduces over axes as helia_nn_reduce_sum_s8(); sums are kept in single precision. @param operation Of helia_nn_reduction. */
arm_cmsis_nn_status helia_nn_reduce_f32(
    const float32_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const int32_t operation,
    float32_t *output);

/** Logarithm of the softmax along rows; computed in single precision. Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_log_softmax_f32(
    const float32_t *input, const int32_t num_rows, const int32_t row_size, float32_t *output);

/** Softmax along rows of which the differences are multiplied by `beta`; computed in single precision. Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_softmax_beta_f32(
    const float32_t *input, const int32_t num_rows, const int32_t row_size, const float32_t beta, float32_t *output);

/** Each row divided by its length, or by 1e-6 if it is shorter; computed in single precision. Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_l2_normalize_f32(
    const float32_t *input, const int32_t num_rows, const int32_t row_size, float32_t *output);

/** Sum of `count` inputs, added in order and in single precision. Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_add_n_f32(
    const void *const *inputs, const int32_t count, float32_t *output, const int32_t size);

/**
 * Running sums along the middle one of three dimensions, added in single precision. Not in ns-cmsis-nn.
 *
 * @param exclusive Whether an output leaves its own input out.
 * @param reverse   Whether the sums run from the end.
 */
arm_cmsis_nn_status helia_nn_cumulative_sum_f32(
    const float32_t *input,
    const int32_t outer,
    const int32_t extent,
    const int32_t inner,
    const bool exclusive,
    const bool reverse,
    float32_t *output);

/**
 * Rows that indices name, dequantized. Not in ns-cmsis-nn.
 *
 * Rule: every index is in [0, rows).
 */
arm_cmsis_nn_status helia_nn_embedding_s8_f32(
    const int8_t *input,
    const int32_t *indices,
    const int32_t rows,
    const int32_t count,
    const int32_t row_size,
    const float32_t scale,
    float32_t *output);

/** Root of the mean square of the part of each window that lies in the input. Not in ns-cmsis-nn. @param ctx Unused. */
arm_cmsis_nn_status helia_nn_l2_pool_f32(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params_f32 *pool_params,
    const cmsis_nn_dims *input_dims,
    const float32_t *src,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    float32_t *dst);

/** Index of the first extremum along an axis, as arm_argmax_s8(). Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_arg_extremum_f32(
    const float32_t *input_data, const cmsis_nn_dims *input_dims, const int32_t axis, const bool largest, int32_t *output_data);

/**
 * Resizes images, interpolating in single precision. Not in ns-cmsis-nn.
 *
 * @param rows        For each output row the input rows before and after it; `columns` likewise.
 * @param row_weights For each output row the weight of the row after; `column_weights` likewise.
 */
arm_cmsis_nn_status helia_nn_resize_bilinear_f32(
    const float32_t *input,
    const cmsis_nn_dims *input_dims,
    const int32_t *rows,
    const float32_t *row_weights,
    const int32_t *columns,
    const float32_t *column_weights,
    float32_t *output,
    const cmsis_nn_dims *output_dims);

/**
 * LSTM over a sequence. Not in ns-cmsis-nn, whose LSTM starts every call from zeros: there the output of the last step is not read
 * as the state of the first step of the next call.
 *
 * Gates are in the order input, forget, output, candidate.
 *
 * @param ctx            Scratch for 8 * units numbers.
 * @param input_weights  [4, units, inputs].
 * @param bias           [4, units].
 * @param hidden_weights [4, units, units].
 * @param hidden         [batches, units], kept from call to call.
 * @param cell           [batches, units], kept from call to call.
 */
arm_cmsis_nn_status helia_nn_lstm_f32(const cmsis_nn_context *ctx,
                                      const helia_nn_lstm_params_flt *params,
                                      const float32_t *input,
                                      const float32_t *input_weights,
                                      const float32_t *bias,
                                      const float32_t *hidden_weights,
                                      float32_t *hidden,
                                      float32_t *cell,
                                      float32_t *output);

/**
 * Matrix products of two tensors, as helia_nn_batch_matmul_s8() of arm_nnfunctions.h; the products of a row are added up as in
 * arm_fully_connected_nhwc_f32().
 *
 * @param ctx Scratch: columns * depth numbers unless adj_y, then rows * depth numbers if adj_x.
 */
arm_cmsis_nn_status helia_nn_batch_matmul_f32(const cmsis_nn_context *ctx,
                                              const helia_nn_bmm_params *params,
                                              const cmsis_nn_dims *lhs_dims,
                                              const float32_t *lhs,
                                              const cmsis_nn_dims *rhs_dims,
                                              const float32_t *rhs,
                                              const cmsis_nn_dims *output_dims,
                                              float32_t *output);

/**
 * Transpose convolution, as helia_nn_transpose_conv_s8() of arm_nnfunctions.h, which tells the order of the weights. Dilation and
 * weight format are not read.
 */
arm_cmsis_nn_status helia_nn_transpose_conv_f32(const cmsis_nn_context *ctx,
                                                const cmsis_nn_conv_params_f32 *conv_params,
                                                const cmsis_nn_dims *input_dims,
                                                const float32_t *input,
                                                const cmsis_nn_dims *filter_dims,
                                                const float32_t *filter,
                                                const float32_t *bias,
                                                const cmsis_nn_dims *output_dims,
                                                float32_t *output);

/**
 * SVDF; the state moves on by one entry.
 *
 * @param ctx          Scratch for units * rank numbers.
 * @param weights_time [filters, memory].
 * @param state        [batches, filters, memory], kept from call to call.
 */
arm_cmsis_nn_status helia_nn_svdf_f32(const cmsis_nn_context *ctx,
                                      const helia_nn_svdf_params_flt *params,
                                      const cmsis_nn_activation_f32 *activation,
                                      const float32_t *input,
                                      const float32_t *weights_feature,
                                      const float32_t *weights_time,
                                      const float32_t *bias,
                                      float32_t *state,
                                      float32_t *output);

/**
 * Fully connected layer with int4 weights that are scaled by blocks along a row. Not in ns-cmsis-nn. Computed in single precision.
 *
 * @param weights [channels, depth] with two weights in a byte, the low half first.
 * @param scales  [channels, depth / block].
 */
arm_cmsis_nn_status helia_nn_fully_connected_blockwise_f32(const helia_nn_blockwise_params *params,
                                                           const cmsis_nn_activation_f32 *activation,
                                                           const float32_t *input,
                                                           const int8_t *weights,
                                                           const float32_t *scales,
                                                           const float32_t *bias,
                                                           float32_t *output);

#if defined(HELIA_NN_FLOAT16)

/** Convolution of any stride, dilation, padding and batch; the filter's channels are the input's.
 * @param ctx Scratch of 4 * K_H * K_W * C_IN elements, aligned to an element. */
arm_cmsis_nn_status arm_convolve_nhwc_f16(
    const cmsis_nn_context *ctx,
    const cmsis_nn_conv_params_f16 *conv_params,
    const cmsis_nn_dims *input_dims,
    const float16_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const float16_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const float16_t *bias_data,
    const cmsis_nn_dims *output_dims,
    float16_t *output_data);

/** Convolution with a 1x1 filter, any stride, without padding. @param ctx Unused. */
arm_cmsis_nn_status arm_convolve_1x1_nhwc_f16(
    const cmsis_nn_context *ctx,
    const cmsis_nn_conv_params_f16 *conv_params,
    const cmsis_nn_dims *input_dims,
    const float16_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const float16_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const float16_t *bias_data,
    const cmsis_nn_dims *output_dims,
    float16_t *output_data);

/** Depthwise convolution of any shape. @param ctx Unused. */
arm_cmsis_nn_status arm_depthwise_nhwc_conv_f16(
    const cmsis_nn_context *ctx,
    const cmsis_nn_dw_conv_params_f16 *dw_conv_params,
    const cmsis_nn_dims *input_dims,
    const float16_t *input,
    const cmsis_nn_dims *filter_dims,
    const float16_t *kernel,
    const cmsis_nn_dims *bias_dims,
    const float16_t *bias,
    const cmsis_nn_dims *output_dims,
    float16_t *output);

/** Fully connected layer: `input_dims->n` rows of `filter_dims->n` elements, `output_dims->c` outputs each.
 * @param ctx Unused. */
arm_cmsis_nn_status arm_fully_connected_nhwc_f16(
    const cmsis_nn_context *ctx,
    const cmsis_nn_fc_params_f16 *fc_params,
    const cmsis_nn_dims *input_dims,
    const float16_t *input,
    const cmsis_nn_dims *filter_dims,
    const float16_t *kernel,
    const cmsis_nn_dims *bias_dims,
    const float16_t *bias,
    const cmsis_nn_dims *output_dims,
    float16_t *output);

/** Average of the part of each window that lies in the input. @param ctx Unused. */
arm_cmsis_nn_status arm_avg_pool_f16(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params_f16 *pool_params,
    const cmsis_nn_dims *input_dims,
    const float16_t *src,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    float16_t *dst);

/** Largest element of the part of each window that lies in the input. @param ctx Unused. */
arm_cmsis_nn_status arm_max_pool_f16(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params_f16 *pool_params,
    const cmsis_nn_dims *input_dims,
    const float16_t *src,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    float16_t *dst);

/** Sum of two equal shapes, clamped. */
arm_cmsis_nn_status arm_elementwise_add_f16(
    const float16_t *input_1_vect,
    const float16_t *input_2_vect,
    float16_t *output,
    float16_t out_activation_min,
    float16_t out_activation_max,
    int32_t block_size);

/** Difference of two equal shapes, clamped. */
arm_cmsis_nn_status arm_elementwise_sub_f16(
    const float16_t *input_1_vect,
    const float16_t *input_2_vect,
    float16_t *output,
    float16_t out_activation_min,
    float16_t out_activation_max,
    int32_t block_size);

/** Product of two equal shapes, clamped. */
arm_cmsis_nn_status arm_elementwise_mul_f16(
    const float16_t *input_1_vect,
    const float16_t *input_2_vect,
    float16_t *output,
    float16_t out_activation_min,
    float16_t out_activation_max,
    int32_t block_size);

/** Sum of two tensors of up to four dimensions, each broadcast to the output's shape; clamped. Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_add_f16(
    const float16_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float16_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float16_t *output_data,
    const cmsis_nn_dims *output_dims,
    float16_t out_activation_min,
    float16_t out_activation_max);

/** Difference, as helia_nn_add_f16(). */
arm_cmsis_nn_status helia_nn_sub_f16(
    const float16_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float16_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float16_t *output_data,
    const cmsis_nn_dims *output_dims,
    float16_t out_activation_min,
    float16_t out_activation_max);

/** Product, as helia_nn_add_f16(). */
arm_cmsis_nn_status helia_nn_mul_f16(
    const float16_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float16_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float16_t *output_data,
    const cmsis_nn_dims *output_dims,
    float16_t out_activation_min,
    float16_t out_activation_max);

/** Larger of two tensors of up to four dimensions, each broadcast to the output's shape. @param ctx Unused. */
arm_cmsis_nn_status arm_maximum_f16(
    const cmsis_nn_context *ctx,
    const float16_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float16_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float16_t *output_data,
    const cmsis_nn_dims *output_dims);

/** Smaller, as arm_maximum_f16(). */
arm_cmsis_nn_status arm_minimum_f16(
    const cmsis_nn_context *ctx,
    const float16_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float16_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float16_t *output_data,
    const cmsis_nn_dims *output_dims);

/** Elements below zero times `alpha`, which is broadcast to the output's shape. */
arm_cmsis_nn_status arm_prelu_f16(
    const cmsis_nn_dims *input_dims,
    const float16_t *input,
    const cmsis_nn_dims *alpha_dims,
    const float16_t *alpha,
    const cmsis_nn_dims *output_dims,
    float16_t *output);

/** 1 / (1 + e^-x), computed in single precision; input and output may be the same. Not in ns-cmsis-nn. */
void helia_nn_logistic_f16(const float16_t *input, float16_t *output, int32_t size);

/** Hyperbolic tangent, as helia_nn_logistic_f16(). */
void helia_nn_tanh_f16(const float16_t *input, float16_t *output, int32_t size);

/** x * min(max(x + 3, 0), 6) / 6, as helia_nn_logistic_f16(). */
void helia_nn_hard_swish_f16(const float16_t *input, float16_t *output, int32_t size);

/** Limits each element to [min, max]; input and output may be the same. Not in ns-cmsis-nn. */
void helia_nn_clamp_f16(const float16_t *input, float16_t *output, float16_t min, float16_t max, int32_t size);

/** Softmax along rows, beta 1; computed in single precision. Input and output may be the same. */
arm_cmsis_nn_status arm_softmax_f16(const float16_t *input, int32_t num_rows, int32_t row_size, float16_t *output);

/** As helia_nn_map_f32(). */
arm_cmsis_nn_status helia_nn_map_f16(const float16_t *input, const int32_t function, float16_t *output, const int32_t size);

/** As helia_nn_elementary_f32(). */
arm_cmsis_nn_status helia_nn_elementary_f16(const float16_t *input, const int32_t function, float16_t *output, const int32_t size);

/**
 * As helia_nn_arithmetic_f32().
 *
 * @param operation Of helia_nn_operation. Division by zero gives an infinity or no number, limited to [low, high].
 */
arm_cmsis_nn_status helia_nn_arithmetic_f16(
    const float16_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const float16_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t operation,
    const float16_t low,
    const float16_t high,
    float16_t *output_data,
    const cmsis_nn_dims *output_dims);

/** As helia_nn_compare_f32(). */
arm_cmsis_nn_status helia_nn_compare_f16(
    const float16_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const float16_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t orders,
    bool *output_data,
    const cmsis_nn_dims *output_dims);

/** As helia_nn_reduce_f32(). @param operation Of helia_nn_reduction. */
arm_cmsis_nn_status helia_nn_reduce_f16(
    const float16_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const int32_t operation,
    float16_t *output);

/** As helia_nn_softmax_beta_f32(). */
arm_cmsis_nn_status helia_nn_softmax_beta_f16(
    const float16_t *input, const int32_t num_rows, const int32_t row_size, const float32_t beta, float16_t *output);

/** As helia_nn_l2_normalize_f32(). */
arm_cmsis_nn_status helia_nn_l2_normalize_f16(
    const float16_t *input, const int32_t num_rows, const int32_t row_size, float16_t *output);

/** As helia_nn_add_n_f32(). */
arm_cmsis_nn_status helia_nn_add_n_f16(
    const void *const *inputs, const int32_t count, float16_t *output, const int32_t size);

/** As helia_nn_cumulative_sum_f32(). */
arm_cmsis_nn_status helia_nn_cumulative_sum_f16(
    const float16_t *input,
    const int32_t outer,
    const int32_t extent,
    const int32_t inner,
    const bool exclusive,
    const bool reverse,
    float16_t *output);

/** As helia_nn_embedding_s8_f32(), rounded once more. */
arm_cmsis_nn_status helia_nn_embedding_s8_f16(
    const int8_t *input,
    const int32_t *indices,
    const int32_t rows,
    const int32_t count,
    const int32_t row_size,
    const float32_t scale,
    float16_t *output);

/** As helia_nn_l2_pool_f32(). */
arm_cmsis_nn_status helia_nn_l2_pool_f16(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params_f16 *pool_params,
    const cmsis_nn_dims *input_dims,
    const float16_t *src,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    float16_t *dst);

/** As helia_nn_log_softmax_f32(). */
arm_cmsis_nn_status helia_nn_log_softmax_f16(
    const float16_t *input, const int32_t num_rows, const int32_t row_size, float16_t *output);

/** As helia_nn_arg_extremum_f32(). */
arm_cmsis_nn_status helia_nn_arg_extremum_f16(
    const float16_t *input_data, const cmsis_nn_dims *input_dims, const int32_t axis, const bool largest, int32_t *output_data);

/**
 * As helia_nn_resize_bilinear_f32().
 *
 * @param rows        For each output row the input rows before and after it; `columns` likewise.
 * @param row_weights For each output row the weight of the row after; `column_weights` likewise.
 */
arm_cmsis_nn_status helia_nn_resize_bilinear_f16(
    const float16_t *input,
    const cmsis_nn_dims *input_dims,
    const int32_t *rows,
    const float32_t *row_weights,
    const int32_t *columns,
    const float32_t *column_weights,
    float16_t *output,
    const cmsis_nn_dims *output_dims);

/** As arm_quantize_f32_s8(); not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_quantize_f16_s8(
    const float16_t *input, int8_t *output, int32_t size, int32_t zero_point, float32_t scale);

/** As arm_dequantize_s8_f32(), rounded once more. Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_dequantize_s8_f16(
    const int8_t *input, float16_t *output, int32_t size, int32_t zero_point, float32_t scale);

/** As arm_quantize_f32_s16(); not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_quantize_f16_s16(
    const float16_t *input, int16_t *output, int32_t size, int32_t zero_point, float32_t scale);

/** As arm_dequantize_s16_f32(), rounded once more. Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_dequantize_s16_f16(
    const int16_t *input, float16_t *output, int32_t size, int32_t zero_point, float32_t scale);

/** LSTM over a sequence, as helia_nn_lstm_f32(); products, gates and cells are rounded to half precision. */
arm_cmsis_nn_status helia_nn_lstm_f16(const cmsis_nn_context *ctx,
                                      const helia_nn_lstm_params_flt *params,
                                      const float16_t *input,
                                      const float16_t *input_weights,
                                      const float16_t *bias,
                                      const float16_t *hidden_weights,
                                      float16_t *hidden,
                                      float16_t *cell,
                                      float16_t *output);

/**
 * Matrix products of two tensors, as helia_nn_batch_matmul_f32(); additions as in arm_fully_connected_nhwc_f16() with the standard
 * layout. Counts of numbers in the scratch are even.
 */
arm_cmsis_nn_status helia_nn_batch_matmul_f16(const cmsis_nn_context *ctx,
                                              const helia_nn_bmm_params *params,
                                              const cmsis_nn_dims *lhs_dims,
                                              const float16_t *lhs,
                                              const cmsis_nn_dims *rhs_dims,
                                              const float16_t *rhs,
                                              const cmsis_nn_dims *output_dims,
                                              float16_t *output);

/** As helia_nn_transpose_conv_f32(); additions as in arm_convolve_nhwc_f16() with the standard layout. */
arm_cmsis_nn_status helia_nn_transpose_conv_f16(const cmsis_nn_context *ctx,
                                                const cmsis_nn_conv_params_f16 *conv_params,
                                                const cmsis_nn_dims *input_dims,
                                                const float16_t *input,
                                                const cmsis_nn_dims *filter_dims,
                                                const float16_t *filter,
                                                const float16_t *bias,
                                                const cmsis_nn_dims *output_dims,
                                                float16_t *output);

/** As helia_nn_svdf_f32(); features and state are half precision, the sums over the memory single precision. */
arm_cmsis_nn_status helia_nn_svdf_f16(const cmsis_nn_context *ctx,
                                      const helia_nn_svdf_params_flt *params,
                                      const cmsis_nn_activation_f16 *activation,
                                      const float16_t *input,
                                      const float16_t *weights_feature,
                                      const float16_t *weights_time,
                                      const float16_t *bias,
                                      float16_t *state,
                                      float16_t *output);

/** As helia_nn_fully_connected_blockwise_f32(), with input, bias and output in half precision. */
arm_cmsis_nn_status helia_nn_fully_connected_blockwise_f16(const helia_nn_blockwise_params *params,
                                                           const cmsis_nn_activation_f16 *activation,
                                                           const float16_t *input,
                                                           const int8_t *weights,
                                                           const float32_t *scales,
                                                           const float16_t *bias,
                                                           float16_t *output);

#endif /* HELIA_NN_FLOAT16 */

#ifdef __cplusplus
}
#endif

#endif /* ARM_NNFUNCTIONS_FLT_H */
