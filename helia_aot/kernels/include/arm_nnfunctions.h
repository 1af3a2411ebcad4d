/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Prototypes of the neural network kernels: integer entries in the ns-cmsis-nn dialect, and entries of our own (helia_nn_*).
 *
 * Numerics are those of TensorFlow Lite Micro, bit for bit, in the portable and in the Helium (MVE) bodies: int32 accumulation,
 * saturating rounding doubling high multiplication, then a rounding right shift with ties away from zero.
 */
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include "arm_nn_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------------------------------
 * Convolution
 *
 * Layout NHWC; filter [C_OUT, K_H, K_W, C_IN]; one multiplier and shift for each output channel.
 *
 * Weight sums. `weight_sum_ctx` may be NULL or hold a NULL `buf`: then the accumulator of output channel c starts from
 * `bias_data[c]` (0 if `bias_data` is NULL) and `input_offset` is added to every input. Otherwise `buf` holds one int32 for
 * each output channel, `bias[c] + input_offset * sum(filter[c])`, as arm_convolve_weight_sum() computes it; `bias_data` is
 * ignored then, the accumulator starts from that number and takes raw inputs. Both forms give the same output.
 *
 * All entries return ARM_CMSIS_NN_ARG_ERROR, and write nothing, for arguments outside their rule.
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Convolution of any shape: stride, dilation, padding, batch. Output and accumulation are exact (double rounding).
 *
 * Where the input has a multiple of the filter's channels, output channels are in as many groups, each of which reads its own part
 * of the input channels.
 *
 * @param ctx          Scratch of arm_convolve_s8_get_buffer_size() bytes, 4-byte aligned.
 * @param upscale_dims NULL, or extents {1, 1, 1, 1}: input upscaling is not supported (ARM_CMSIS_NN_ARG_ERROR).
 */
arm_cmsis_nn_status arm_convolve_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *upscale_dims,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Direct entry for first layers: 1 to 3 input channels.
 *
 * Rule: input channels 1..3 and equal to the filter's, dilation 1, K_W*C_IN <= 16, K_H*K_W*C_IN <= 48, C_OUT a multiple of 4.
 * @param ctx Unused, may hold a NULL buffer. About 4 KB of stack hold patches and sums with MVE, 500 bytes without.
 */
arm_cmsis_nn_status arm_convolve_s8_small_cin(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *upscale_dims,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Direct entry for 3x3 filters over 16 channels.
 *
 * Rule: filter 3x3, 16 input channels equal to the filter's, stride 1, dilation 1.
 * @param ctx Unused, may hold a NULL buffer.
 */
arm_cmsis_nn_status arm_convolve_s8_3x3_c16_s1(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *upscale_dims,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Pointwise convolution with any stride.
 *
 * Rule: filter 1x1, no padding, dilation 1, C_IN equal to the filter's.
 * @param ctx Unused, may hold a NULL buffer.
 */
arm_cmsis_nn_status arm_convolve_1x1_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Pointwise convolution with stride 1.
 *
 * Rule: filter 1x1, stride 1, no padding, dilation 1, C_IN equal to the filter's.
 * @param ctx Unused, may hold a NULL buffer.
 */
arm_cmsis_nn_status arm_convolve_1x1_s8_fast(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Convolution along one row.
 *
 * Rule: input, filter and output height 1, no vertical padding, K_W dilation 1, (stride_w * C_IN) a multiple of 4, C_IN equal to
 * the filter's.
 * @param ctx Scratch of arm_convolve_1_x_n_s8_get_buffer_size() bytes.
 */
arm_cmsis_nn_status arm_convolve_1_x_n_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Convolution whose output is one pixel.
 *
 * Rule: output 1x1, C_IN equal to the filter's, and (stride_w * C_IN) a multiple of 4.
 * @param ctx Scratch of arm_convolve_s8_get_buffer_size() bytes.
 */
arm_cmsis_nn_status arm_convolve_1x1_out_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Gives the scratch bytes of arm_convolve_s8(): four im2col columns, 4 * round_up(K_W * K_H * C_IN, 8).
 */
int32_t arm_convolve_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);

/**
 * Gives the same number as arm_convolve_s8_get_buffer_size(), on every host.
 */
int32_t arm_convolve_s8_get_buffer_size_mve(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);

/**
 * Gives 0: arm_convolve_1x1_s8_fast() needs no scratch.
 */
int32_t arm_convolve_1x1_s8_fast_get_buffer_size(const cmsis_nn_dims *input_dims);

/**
 * Gives the scratch bytes of arm_convolve_1_x_n_s8(), the rule of arm_convolve_s8().
 */
int32_t arm_convolve_1_x_n_s8_get_buffer_size(
    const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims);

/**
 * Gives the bytes of a weight-sum buffer: 4 for each output channel.
 */
int32_t arm_convolve_s8_get_weights_sum_size(const cmsis_nn_dims *output_dims);

/**
 * Computes the weight sums of a convolution: `bias[c] + lhs_offset * sum(rhs[c])` for each of `output_dims->c` channels.
 *
 * @param vector_sum_buf Output, `output_dims->c` numbers.
 * @param rhs            Filter, [C_OUT, K_H, K_W, C_IN] by `filter_dims`.
 * @param lhs_offset     The convolution's input offset.
 * @param bias_data      Bias or NULL.
 */
arm_cmsis_nn_status arm_convolve_weight_sum(
    int32_t *vector_sum_buf,
    const int8_t *rhs,
    const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    const int32_t lhs_offset,
    const int32_t *bias_data);

/* --------------------------------------------------------------------------------------------------------------
 * Depthwise convolution
 *
 * Filter [1, K_H, K_W, C_OUT]; C_OUT = C_IN * ch_mult. Weight sums as for the convolutions, with
 * `sum(filter[:, :, c])`.
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Depthwise convolution of any shape: channel multiplier, stride, dilation, padding, batch.
 *
 * @param ctx Unused, may hold a NULL buffer.
 */
arm_cmsis_nn_status arm_depthwise_conv_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Depthwise 3x3 convolution for cores without Helium.
 *
 * Rule: ch_mult 1, one batch, dilation 1, top and left padding at most 1.
 * @param ctx Unused, may hold a NULL buffer.
 */
arm_cmsis_nn_status arm_depthwise_conv_3x3_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Depthwise convolution with ch_mult 1, one batch and no dilation; a layer whose input, filter and output have one row, with
 * stride 1 and no vertical padding, may be dilated. This is the rule of all `_opt` entries, called the general rule below.
 *
 * @param ctx Scratch of arm_depthwise_conv_s8_opt_get_buffer_size() bytes, 4-byte aligned. As for all `_opt` entries it may hold
 *            a NULL buffer in builds without Helium.
 */
arm_cmsis_nn_status arm_depthwise_conv_s8_opt(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Direct depthwise entry, 16 channels at a time.
 *
 * Rule: the general one, filter 3x3, dilation 1.
 * @param ctx Scratch of 336 + 48 * row_pixels bytes, 4-byte aligned; row_pixels = (W_OUT - 1) * stride_w + 3.
 */
arm_cmsis_nn_status arm_depthwise_conv_s8_opt_3x3(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Direct depthwise entry.
 *
 * Rule: the general one, filter 3x3, 64 channels, stride 1, padding at most 1, dilation 1.
 * @param ctx As for arm_depthwise_conv_s8_opt_3x3().
 */
arm_cmsis_nn_status arm_depthwise_conv_s8_opt_3x3_c64_s1(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Direct depthwise entry for channel counts that leave vector lanes empty: a row of pixels is computed as one run of bytes.
 *
 * Rule: arm_depthwise_conv_s8_opt_planar_supported().
 * @param ctx Scratch, 4-byte aligned, of sets * (192 + 16 * K_H * K_W) + K_H * (row_pixels * C + 16) bytes, with
 *            row_pixels = (W_OUT - 1) + (K_W - 1) * dilation_w + 1 and
 *            sets = min(C / gcd(C, 16), ceil(W_OUT * C / 16)); a layer of one column counts as one of one row.
 */
arm_cmsis_nn_status arm_depthwise_conv_s8_opt_planar(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Direct depthwise entry, 16 channels at a time, any filter.
 *
 * Rule: the general one.
 * @param ctx Scratch of 192 + 16 * K_H * K_W + 16 * K_H * row_pixels bytes, 4-byte aligned, with
 *            row_pixels = (W_OUT - 1) * stride_w + (K_W - 1) * dilation_w + 1; a layer of one column counts as one of one row.
 */
arm_cmsis_nn_status arm_depthwise_conv_s8_opt_channelwise(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Tells whether arm_depthwise_conv_s8_opt_planar() takes these shapes: the general rule, horizontal stride 1, C not a multiple
 * of 16, C / gcd(C, 16) at most 16, and W_OUT * C at least 16. A layer of one column (input, filter and output width 1, no
 * horizontal padding) counts as one of one row.
 */
bool arm_depthwise_conv_s8_opt_planar_supported(
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims);

/**
 * Gives the scratch bytes of arm_depthwise_conv_s8_opt(); 0 in builds without Helium.
 */
int32_t arm_depthwise_conv_s8_opt_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);

/**
 * Computes the weight sums of a depthwise convolution: `bias[c] + lhs_offset * sum(rhs[:, :, c])` for each channel.
 *
 * @param vector_sum_buf Output, `output_dims->c` numbers.
 * @param scratch_buf    Unused, may be NULL.
 * @param rhs            Filter, [1, K_H, K_W, C_OUT] by `filter_dims`.
 * @param lhs_offset     The convolution's input offset.
 * @param bias_data      Bias or NULL.
 */
arm_cmsis_nn_status arm_depthwise_convolve_weight_sum(
    int32_t *vector_sum_buf,
    int8_t *scratch_buf,
    const int8_t *rhs,
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    const int32_t lhs_offset,
    const int32_t *bias_data);

/* --------------------------------------------------------------------------------------------------------------
 * Fully connected
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Fully connected layer, one multiplier and shift for all outputs.
 *
 * `input_dims->n` rows of `filter_dims->n` inputs; filter [C_OUT, filter_dims->n] with C_OUT = `output_dims->c`.
 * @param ctx NULL `buf`: bias and input offset are applied here. Else `buf` holds the weight sums of arm_vector_sum_s8(), and
 *            `bias_data` is ignored; `filter_offset` must be 0 then (ARM_CMSIS_NN_ARG_ERROR).
 */
arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_fc_params *fc_params,
    const cmsis_nn_per_tensor_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Fully connected layer with one multiplier and shift for each output channel; else as arm_fully_connected_s8().
 */
arm_cmsis_nn_status arm_fully_connected_per_channel_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_fc_params *fc_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Gives the bytes of the weight-sum buffer that a caller passes to builds with Helium: 4 for each output channel
 * (`filter_dims->c`); 0 in other builds, which take the bias.
 */
int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims);

/**
 * Gives the number of builds with Helium, on every host.
 */
int32_t arm_fully_connected_s8_get_buffer_size_mve(const cmsis_nn_dims *filter_dims);

/**
 * Computes the weight sums of a fully connected layer, for each of `vector_rows` rows of `vector_cols` weights:
 * `bias[r] + lhs_offset * (sum(row r) + vector_cols * rhs_offset)`.
 *
 * @param bias_data Bias or NULL.
 */
arm_cmsis_nn_status arm_vector_sum_s8(
    int32_t *vector_sum_buf,
    const int32_t vector_cols,
    const int32_t vector_rows,
    const int8_t *vector_data,
    const int32_t lhs_offset,
    const int32_t rhs_offset,
    const int32_t *bias_data);

/* --------------------------------------------------------------------------------------------------------------
 * Pooling
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Average pooling; padding is not counted; the mean is rounded half away from zero.
 *
 * Rule, for both poolings: batches and channels are the same in input and output, and every window holds at least one input.
 * @param ctx Unused, may hold a NULL buffer.
 */
arm_cmsis_nn_status arm_avgpool_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params *pool_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/**
 * Gives 0: arm_avgpool_s8() needs no scratch.
 */
int32_t arm_avgpool_s8_get_buffer_size(const int dim_dst_width, const int ch_src);

/**
 * Gives the same number as arm_avgpool_s8_get_buffer_size(), on every host.
 */
int32_t arm_avgpool_s8_get_buffer_size_mve(const int dim_dst_width, const int ch_src);

/**
 * Gives the same number as arm_avgpool_s8_get_buffer_size(), on every host.
 */
int32_t arm_avgpool_s8_get_buffer_size_dsp(const int dim_dst_width, const int ch_src);

/**
 * Maximum pooling.
 *
 * @param ctx Unused, may hold a NULL buffer.
 */
arm_cmsis_nn_status arm_max_pool_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_pool_params *pool_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data);

/* --------------------------------------------------------------------------------------------------------------
 * Elementwise, activation, data movement
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Adds two runs of `block_size` numbers with rescaling, as TensorFlow Lite does it: both inputs are shifted left by `left_shift`
 * (20 there) and brought to a common scale, and the sum is brought to the output's scale.
 */
arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *input_1_vect,
    const int8_t *input_2_vect,
    const int32_t input_1_offset,
    const int32_t input_1_mult,
    const int32_t input_1_shift,
    const int32_t input_2_offset,
    const int32_t input_2_mult,
    const int32_t input_2_shift,
    const int32_t left_shift,
    int8_t *output,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max,
    const int32_t block_size);

/**
 * Adds two tensors as arm_elementwise_add_s8(); extents of 1 broadcast, axis by axis.
 *
 * Rule: each extent of the output is the larger one of the inputs'; an input's extent is that or 1.
 */
arm_cmsis_nn_status arm_add_s8(
    const int8_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int8_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input1_mult,
    const int32_t input1_shift,
    const int32_t input2_offset,
    const int32_t input2_mult,
    const int32_t input2_shift,
    const int32_t left_shift,
    int8_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max);

/**
 * Softmax along rows, int8 in and out (output scale 1/256, zero point -128).
 *
 * @param mult     Q0.31 multiplier of `beta * input_scale * 2^26`.
 * @param shift    Left shift that belongs to `mult`.
 * @param diff_min Smallest difference to the row's maximum that still counts.
 */
void arm_softmax_s8(
    const int8_t *input,
    const int32_t num_rows,
    const int32_t row_size,
    const int32_t mult,
    const int32_t shift,
    const int32_t diff_min,
    int8_t *output);

/**
 * Copies `total_size` bytes; nothing is done when both pointers are equal.
 */
void arm_reshape_s8(const int8_t *input, int8_t *output, const uint32_t total_size);

/* --------------------------------------------------------------------------------------------------------------
 * Elementwise operations of int8 and int16 numbers
 *
 * Extents of 1 broadcast, axis by axis: each extent of the output is the larger one of the inputs'; an input's extent is that
 * or 1, else the entry returns ARM_CMSIS_NN_ARG_ERROR.
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Adds two tensors as arm_add_s8(); `left_shift` is 15 in TensorFlow Lite.
 */
arm_cmsis_nn_status arm_add_s16(
    const int16_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int16_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input1_mult,
    const int32_t input1_shift,
    const int32_t input2_offset,
    const int32_t input2_mult,
    const int32_t input2_shift,
    const int32_t left_shift,
    int16_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max);

/**
 * Subtracts the second tensor from the first one; otherwise as arm_add_s8().
 */
arm_cmsis_nn_status arm_sub_s8(
    const int8_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int8_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input1_mult,
    const int32_t input1_shift,
    const int32_t input2_offset,
    const int32_t input2_mult,
    const int32_t input2_shift,
    const int32_t left_shift,
    int8_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max);

/**
 * Subtracts the second tensor from the first one; otherwise as arm_add_s16().
 */
arm_cmsis_nn_status arm_sub_s16(
    const int16_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int16_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input1_mult,
    const int32_t input1_shift,
    const int32_t input2_offset,
    const int32_t input2_mult,
    const int32_t input2_shift,
    const int32_t left_shift,
    int16_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max);

/**
 * Multiplies two tensors: (x1 + offset1) * (x2 + offset2), requantised.
 */
arm_cmsis_nn_status arm_mul_s8(
    const int8_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int8_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input2_offset,
    int8_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max);

/**
 * Multiplies two tensors as arm_mul_s8(); the offsets are 0 in TensorFlow Lite.
 */
arm_cmsis_nn_status arm_mul_s16(
    const int16_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int16_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input2_offset,
    int16_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max);

/**
 * The larger number of each pair. `ctx` is unused.
 */
arm_cmsis_nn_status arm_maximum_s8(
    const cmsis_nn_context *ctx,
    const int8_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const int8_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    int8_t *output_data,
    const cmsis_nn_dims *output_dims);

/**
 * The larger number of each pair. `ctx` is unused.
 */
arm_cmsis_nn_status arm_maximum_s16(
    const cmsis_nn_context *ctx,
    const int16_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const int16_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    int16_t *output_data,
    const cmsis_nn_dims *output_dims);

/**
 * The smaller number of each pair. `ctx` is unused.
 */
arm_cmsis_nn_status arm_minimum_s8(
    const cmsis_nn_context *ctx,
    const int8_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const int8_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    int8_t *output_data,
    const cmsis_nn_dims *output_dims);

/**
 * The smaller number of each pair. `ctx` is unused.
 */
arm_cmsis_nn_status arm_minimum_s16(
    const cmsis_nn_context *ctx,
    const int16_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const int16_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    int16_t *output_data,
    const cmsis_nn_dims *output_dims);

/**
 * PReLU: inputs from zero on are requantised; negative ones are multiplied by their slope `alpha` first.
 */
arm_cmsis_nn_status arm_prelu_s8(
    const cmsis_nn_dims *input_dims,
    const int8_t *input,
    const cmsis_nn_dims *alpha_dims,
    const int8_t *alpha,
    const int32_t input_offset,
    const int32_t alpha_offset,
    const int32_t output_offset,
    const int32_t output_multiplier_identity,
    const int32_t output_shift_identity,
    const int32_t output_multiplier_alpha,
    const int32_t output_shift_alpha,
    const cmsis_nn_dims *output_dims,
    int8_t *output);

/**
 * PReLU of int16 numbers with int8 slopes; otherwise as arm_prelu_s8().
 */
arm_cmsis_nn_status helia_nn_prelu_s16(
    const cmsis_nn_dims *input_dims,
    const int16_t *input,
    const cmsis_nn_dims *alpha_dims,
    const int8_t *alpha,
    const int32_t input_offset,
    const int32_t alpha_offset,
    const int32_t output_offset,
    const int32_t output_multiplier_identity,
    const int32_t output_shift_identity,
    const int32_t output_multiplier_alpha,
    const int32_t output_shift_alpha,
    const cmsis_nn_dims *output_dims,
    int16_t *output);

/* --------------------------------------------------------------------------------------------------------------
 * Activations
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Replaces each number by an entry of a table of 256: entry (uint8_t)x stands for x. Input and output may be the same.
 */
arm_cmsis_nn_status helia_nn_lookup_s8(const int8_t *input, const int8_t *table, int8_t *output, const int32_t count);

/**
 * Requantises `x - input_offset`, adds `output_offset` and limits to [act_min, act_max].
 */
arm_cmsis_nn_status arm_relu_generic_s16(const int16_t *input,
                                         const int32_t input_offset,
                                         const int32_t output_offset,
                                         const int32_t output_multiplier,
                                         const int32_t output_shift,
                                         const int32_t act_min,
                                         const int32_t act_max,
                                         int16_t *output,
                                         const int32_t output_size);

/**
 * Requantises `x - input_offset` by the identity factor from zero on, by the factor with the slope below; a negative slope has a
 * negative multiplier.
 */
arm_cmsis_nn_status arm_leaky_relu_s16(const int16_t *input,
                                       const int32_t input_offset,
                                       const int32_t output_offset,
                                       const int32_t output_multiplier_alpha,
                                       const int32_t output_shift_alpha,
                                       const int32_t output_multiplier_identity,
                                       const int32_t output_shift_identity,
                                       int16_t *output,
                                       const int32_t output_size);

/**
 * Logistic function of int16 numbers; the output is in Q15. A multiplier of 0 stands for inputs in Q12 times 2^`input_left_shift`.
 */
arm_cmsis_nn_status arm_logistic_s16(const int16_t *input,
                                     int16_t *output,
                                     const int32_t input_size,
                                     int32_t input_multiplier,
                                     int32_t input_left_shift);

/**
 * Hyperbolic tangent of int16 numbers; parameters as of arm_logistic_s16().
 */
arm_cmsis_nn_status arm_tanh_s16(const int16_t *input,
                                 int16_t *output,
                                 const int32_t input_size,
                                 int32_t input_multiplier,
                                 int32_t input_left_shift);

/**
 * Magnitude of `x + input_offset`, requantised where `needs_rescale` says so.
 */
arm_cmsis_nn_status arm_abs_s16(
    const int16_t *input,
    const int32_t input_offset,
    int16_t *output,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const bool needs_rescale,
    const int32_t out_activation_min,
    const int32_t out_activation_max,
    const int32_t block_size);

/**
 * As arm_softmax_s8() with int16 output (scale 1/65536, zero point -32768).
 */
void arm_softmax_s8_s16(
    const int8_t *input,
    const int32_t num_rows,
    const int32_t row_size,
    const int32_t mult,
    const int32_t shift,
    const int32_t diff_min,
    int16_t *output);

/**
 * Softmax along rows of int16 numbers, output in Q15.
 *
 * @param mult  Q0.31 multiplier of `beta * input_scale * 6553.5`.
 * @param shift Shift that belongs to `mult`.
 */
arm_cmsis_nn_status arm_softmax_s16(
    const int16_t *input,
    const int32_t num_rows,
    const int32_t row_size,
    const int32_t mult,
    const int32_t shift,
    const cmsis_nn_softmax_lut_s16 *softmax_params,
    int16_t *output);

/* --------------------------------------------------------------------------------------------------------------
 * Between scales and types
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Rounds `x / scale` to nearest, halves away from zero, and adds the zero point, within int8. Not a number gives the zero point.
 */
arm_cmsis_nn_status arm_quantize_f32_s8(const float *input, int8_t *output, int32_t size, int32_t zero_point, float scale);

/**
 * As arm_quantize_f32_s8(), within int16.
 */
arm_cmsis_nn_status arm_quantize_f32_s16(const float *input, int16_t *output, int32_t size, int32_t zero_point, float scale);

/**
 * Gives `scale * (x - zero_point)`.
 */
arm_cmsis_nn_status arm_dequantize_s8_f32(const int8_t *input, float *output, int32_t size, int32_t zero_point, float scale);

/**
 * Gives `scale * (x - zero_point)`.
 */
arm_cmsis_nn_status arm_dequantize_s16_f32(const int16_t *input, float *output, int32_t size, int32_t zero_point, float scale);

/**
 * Gives `scale * (x - zero_point)`.
 */
arm_cmsis_nn_status helia_nn_dequantize_u8_f32(const uint8_t *input, float *output, int32_t size, int32_t zero_point, float scale);

/**
 * Requantises `x - input_zeropoint` and adds the output zero point.
 */
arm_cmsis_nn_status arm_requantize_s8_s8(
    const int8_t *input,
    int8_t *output,
    int32_t size,
    int32_t effective_scale_multiplier,
    int32_t effective_scale_shift,
    int32_t input_zeropoint,
    int32_t output_zeropoint);

/**
 * Requantises `x - input_zeropoint` and adds the output zero point.
 */
arm_cmsis_nn_status arm_requantize_s16_s16(
    const int16_t *input,
    int16_t *output,
    int32_t size,
    int32_t effective_scale_multiplier,
    int32_t effective_scale_shift,
    int32_t input_zeropoint,
    int32_t output_zeropoint);

/**
 * Requantises between types.
 *
 * Rule: bits are 8, 16, 32, or -8 for uint8. An int32 output is not limited.
 */
arm_cmsis_nn_status helia_nn_requantize_mixed(const void *input,
                                              const int32_t input_bits,
                                              void *output,
                                              const int32_t output_bits,
                                              const int32_t size,
                                              const int32_t multiplier,
                                              const int32_t shift,
                                              const int32_t input_zero_point,
                                              const int32_t output_zero_point);

/**
 * Converts elements as C does; a float goes towards zero and, beyond 64 bits, to the nearest one; not a number becomes 0. Types are
 * those of helia_nn_type.
 */
arm_cmsis_nn_status helia_nn_cast(
    const void *input, const int32_t input_type, void *output, const int32_t output_type, const int32_t count);

/* --------------------------------------------------------------------------------------------------------------
 * Data movement, for elements of any type
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Copies runs of `run_bytes` bytes to one place after the other.
 *
 * Rule: 1 to 8 axes, outermost first.
 * @param input_offset Bytes from `input` to the first run.
 * @param strides      Bytes from one run to the next along each axis; may be 0 or negative.
 */
arm_cmsis_nn_status helia_nn_copy_strided(const void *input,
                                          const int32_t input_offset,
                                          const int32_t run_bytes,
                                          const int32_t axes,
                                          const int32_t *extents,
                                          const int32_t *strides,
                                          void *output);

/**
 * Copies rows whose places in the input are listed, and fills what has none.
 *
 * Rule: 1 to 8 axes; `pattern_bytes` is 1, 2 or 4.
 * @param map       For each axis but the last one byte offset for each position; then pairs of byte offset and length, the
 *                  segments of a row. INT32_MIN in the place of an offset asks for the pattern.
 * @param extents   Positions of each axis; of the last one the number of segments.
 * @param row_bytes Bytes of all segments together.
 */
arm_cmsis_nn_status helia_nn_copy_mapped(const void *input,
                                         const int32_t *map,
                                         const int32_t axes,
                                         const int32_t *extents,
                                         const int32_t row_bytes,
                                         const int32_t pattern,
                                         const int32_t pattern_bytes,
                                         void *output);

/**
 * Writes a run of each input in turn, `runs` times.
 */
arm_cmsis_nn_status helia_nn_concatenate(const void *const *inputs,
                                         const int32_t *run_bytes,
                                         const int32_t count,
                                         const int32_t runs,
                                         void *output);

/**
 * Reads a run for each output in turn, `runs` times.
 */
arm_cmsis_nn_status helia_nn_split(const void *input,
                                   const int32_t *run_bytes,
                                   const int32_t count,
                                   const int32_t runs,
                                   void *const *outputs);

/**
 * Writes `bytes` bytes of a pattern, of which they are a multiple.
 *
 * Rule: `pattern_bytes` is 1, 2 or 4.
 */
arm_cmsis_nn_status helia_nn_fill_pattern(void *output, const int32_t bytes, const int32_t pattern, const int32_t pattern_bytes);

/**
 * Copies runs that indices name: `count` of `extent` runs, for each of `outer` groups; each batch has its indices.
 *
 * Rule: every index is in [0, extent).
 */
arm_cmsis_nn_status helia_nn_gather(const void *input,
                                    const int32_t *indices,
                                    const int32_t batches,
                                    const int32_t outer,
                                    const int32_t extent,
                                    const int32_t count,
                                    const int32_t run_bytes,
                                    void *output);

/**
 * Copies runs that positions along the first `depth` dimensions name, `depth` indices for each of `count` runs. Not in ns-cmsis-nn.
 *
 * Rule: every index is in [0, extent) of its dimension.
 */
arm_cmsis_nn_status helia_nn_gather_nd(const void *input,
                                       const int32_t *indices,
                                       const int32_t count,
                                       const int32_t depth,
                                       const int32_t *extents,
                                       const int32_t run_bytes,
                                       void *output);

/**
 * Copies a tensor and then an update over a part of it. Not in ns-cmsis-nn.
 *
 * Rule: 1 to 8 axes, the update nowhere larger than the tensor.
 *
 * @param starts      Where the part starts along each axis; numbers outside are moved to where the update fits.
 * @param start_bytes Bytes of each start: 4 or 8.
 */
arm_cmsis_nn_status helia_nn_update_slice(const void *input,
                                          const void *update,
                                          const void *starts,
                                          const int32_t start_bytes,
                                          const int32_t axes,
                                          const int32_t *extents,
                                          const int32_t *update_extents,
                                          const int32_t element_bytes,
                                          void *output);

/**
 * Copies the part of a tensor that starts where numbers say. Not in ns-cmsis-nn.
 *
 * Rule: 1 to 8 axes, the part lies inside.
 *
 * @param start_bytes Bytes of each start: 4 or 8.
 */
arm_cmsis_nn_status helia_nn_slice(const void *input,
                                   const void *starts,
                                   const int32_t start_bytes,
                                   const int32_t axes,
                                   const int32_t *extents,
                                   const int32_t *output_extents,
                                   const int32_t element_bytes,
                                   void *output);

/**
 * Gives the extents to which two lists of extents, aligned at their ends, are broadcast. Not in ns-cmsis-nn.
 *
 * Rule: two extents are equal, or one of them is 1. The output has as many as the longer list.
 *
 * @param extent_bytes Bytes of each extent: 4 or 8.
 */
arm_cmsis_nn_status helia_nn_broadcast_extents(const void *input1,
                                               const int32_t count1,
                                               const void *input2,
                                               const int32_t count2,
                                               const int32_t extent_bytes,
                                               void *output);

/**
 * Cuts images, padded with bytes `fill` above and on the left as far as `padding` says and otherwise as far as the output
 * asks, into blocks; each place of a block becomes an image of the batch. Channels of the dimensions are not looked at.
 *
 * Rule: `output_dims->n` is the number of images times the places of a block.
 */
arm_cmsis_nn_status helia_nn_space_to_batch(const void *input,
                                            const cmsis_nn_dims *input_dims,
                                            const cmsis_nn_tile *block,
                                            const cmsis_nn_tile *padding,
                                            const int32_t pixel_bytes,
                                            const int32_t fill,
                                            void *output,
                                            const cmsis_nn_dims *output_dims);

/**
 * Puts images together from blocks, without `crop` rows above and columns on the left, and as far as the output goes.
 *
 * Rule: `input_dims->n` is the number of images times the places of a block.
 */
arm_cmsis_nn_status helia_nn_batch_to_space(const void *input,
                                            const cmsis_nn_dims *input_dims,
                                            const cmsis_nn_tile *block,
                                            const cmsis_nn_tile *crop,
                                            const int32_t pixel_bytes,
                                            void *output,
                                            const cmsis_nn_dims *output_dims);

/**
 * Resizes images.
 *
 * @param rows    For each output row the input rows above and below it and the weight of the lower one in 1/1024.
 * @param columns The same for columns.
 */
arm_cmsis_nn_status helia_nn_resize_bilinear_s8(const int8_t *input,
                                                const cmsis_nn_dims *input_dims,
                                                const int32_t *rows,
                                                const int32_t *columns,
                                                int8_t *output,
                                                const cmsis_nn_dims *output_dims);

/* --------------------------------------------------------------------------------------------------------------
 * Reductions
 *
 * Three kept and three reduced axes with their steps in elements; unused ones have the extent 1. The kept axes give the order of
 * the outputs.
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Requantises each sum plus `sum_offset` and adds `output_offset`.
 */
arm_cmsis_nn_status helia_nn_reduce_sum_s8(
    const int8_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const int32_t sum_offset,
    const int32_t multiplier,
    const int32_t shift,
    const int32_t output_offset,
    int8_t *output);

/**
 * Requantises each sum plus `sum_offset` and adds `output_offset`.
 */
arm_cmsis_nn_status helia_nn_reduce_sum_s16(
    const int16_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const int32_t sum_offset,
    const int32_t multiplier,
    const int32_t shift,
    const int32_t output_offset,
    int16_t *output);

/**
 * The largest or the smallest number behind each output.
 */
arm_cmsis_nn_status helia_nn_reduce_extremum_s8(
    const int8_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const bool largest,
    int8_t *output);

/**
 * The largest or the smallest number behind each output.
 */
arm_cmsis_nn_status helia_nn_reduce_extremum_s16(
    const int16_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const bool largest,
    int16_t *output);

/**
 * Index of the first largest number along an axis (0..3 for n, h, w, c).
 */
arm_cmsis_nn_status arm_argmax_s8(
    const int8_t *input_data, const cmsis_nn_dims *input_dims, const int32_t axis, int32_t *output_data);

/**
 * Index of the first largest number along an axis (0..3 for n, h, w, c).
 */
arm_cmsis_nn_status arm_argmax_s16(
    const int16_t *input_data, const cmsis_nn_dims *input_dims, const int32_t axis, int32_t *output_data);

/**
 * Index of the first smallest number along an axis (0..3 for n, h, w, c).
 */
arm_cmsis_nn_status arm_argmin_s8(
    const int8_t *input_data, const cmsis_nn_dims *input_dims, const int32_t axis, int32_t *output_data);

/**
 * Index of the first smallest number along an axis (0..3 for n, h, w, c).
 */
arm_cmsis_nn_status arm_argmin_s16(
    const int16_t *input_data, const cmsis_nn_dims *input_dims, const int32_t axis, int32_t *output_data);

/* --------------------------------------------------------------------------------------------------------------
 * Layers over int16 numbers with int8 weights
 *
 * The zero points are 0. Accumulators have 64 bits and are requantised with the multiplier rounded to 16 bits. `ctx` is unused.
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Convolution of any shape; a filter with fewer channels than the input makes groups. An int32 bias means an int32 accumulator and
 * the requantisation of the int8 entries.
 */
arm_cmsis_nn_status arm_convolve_s16(const cmsis_nn_context *ctx,
                                     const cmsis_nn_conv_params *conv_params,
                                     const cmsis_nn_per_channel_quant_params *quant_params,
                                     const cmsis_nn_dims *input_dims,
                                     const int16_t *input_data,
                                     const cmsis_nn_dims *filter_dims,
                                     const int8_t *filter_data,
                                     const cmsis_nn_dims *bias_dims,
                                     const cmsis_nn_bias_data *bias_data,
                                     const cmsis_nn_dims *output_dims,
                                     int16_t *output_data);

/**
 * Gives 0: arm_convolve_s16() needs no scratch.
 */
int32_t arm_convolve_s16_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);

/**
 * Depthwise convolution of any shape.
 */
arm_cmsis_nn_status arm_depthwise_conv_s16(const cmsis_nn_context *ctx,
                                           const cmsis_nn_dw_conv_params *dw_conv_params,
                                           const cmsis_nn_per_channel_quant_params *quant_params,
                                           const cmsis_nn_dims *input_dims,
                                           const int16_t *input_data,
                                           const cmsis_nn_dims *filter_dims,
                                           const int8_t *filter_data,
                                           const cmsis_nn_dims *bias_dims,
                                           const int64_t *bias_data,
                                           const cmsis_nn_dims *output_dims,
                                           int16_t *output_data);

/**
 * Fully connected layer, one multiplier for all outputs.
 */
arm_cmsis_nn_status arm_fully_connected_s16(const cmsis_nn_context *ctx,
                           const cmsis_nn_fc_params *fc_params,
                           const cmsis_nn_per_tensor_quant_params *quant_params,
                           const cmsis_nn_dims *input_dims,
                           const int16_t *input_data,
                           const cmsis_nn_dims *filter_dims,
                           const int8_t *filter_data,
                           const cmsis_nn_dims *bias_dims,
                           const int64_t *bias_data,
                           const cmsis_nn_dims *output_dims,
                           int16_t *output_data);

/**
 * Fully connected layer, one multiplier for each output.
 */
arm_cmsis_nn_status arm_fully_connected_per_channel_s16(const cmsis_nn_context *ctx,
                           const cmsis_nn_fc_params *fc_params,
                           const cmsis_nn_per_channel_quant_params *quant_params,
                           const cmsis_nn_dims *input_dims,
                           const int16_t *input_data,
                           const cmsis_nn_dims *filter_dims,
                           const int8_t *kernel,
                           const cmsis_nn_dims *bias_dims,
                           const int64_t *bias_data,
                           const cmsis_nn_dims *output_dims,
                           int16_t *output_data);

/**
 * Gives 0: arm_fully_connected_s16() needs no scratch.
 */
int32_t arm_fully_connected_s16_get_buffer_size(const cmsis_nn_dims *filter_dims);

/**
 * Gives 0: arm_fully_connected_per_channel_s16() needs no scratch.
 */
int32_t arm_fully_connected_per_channel_s16_get_buffer_size(const cmsis_nn_dims *filter_dims);

/**
 * Average pooling as arm_avgpool_s8().
 */
arm_cmsis_nn_status arm_avgpool_s16(const cmsis_nn_context *ctx,
                                   const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims,
                                   const int16_t *input_data,
                                   const cmsis_nn_dims *filter_dims,
                                   const cmsis_nn_dims *output_dims,
                                   int16_t *output_data);

/**
 * Gives 0: arm_avgpool_s16() needs no scratch.
 */
int32_t arm_avgpool_s16_get_buffer_size(const int dim_dst_width, const int ch_src);

/**
 * Max pooling as arm_max_pool_s8().
 */
arm_cmsis_nn_status arm_max_pool_s16(const cmsis_nn_context *ctx,
                                   const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims,
                                   const int16_t *src,
                                   const cmsis_nn_dims *filter_dims,
                                   const cmsis_nn_dims *output_dims,
                                   int16_t *dst);

/* --------------------------------------------------------------------------------------------------------------
 * More element-wise operations
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * The square of the difference of two tensors; arguments as arm_sub_s8(). The squares are not rescaled before the output.
 */
arm_cmsis_nn_status arm_squared_difference_s8(const int8_t *input1_data,
                               const cmsis_nn_dims *input1_dims,
                               const int8_t *input2_data,
                               const cmsis_nn_dims *input2_dims,
                               const int32_t input1_offset,
                               const int32_t input1_mult,
                               const int32_t input1_shift,
                               const int32_t input2_offset,
                               const int32_t input2_mult,
                               const int32_t input2_shift,
                               const int32_t left_shift,
                               int8_t *output_data,
                               const cmsis_nn_dims *output_dims,
                               const int32_t out_offset,
                               const int32_t out_mult,
                               const int32_t out_shift,
                               const int32_t out_activation_min,
                               const int32_t out_activation_max);

/** As arm_squared_difference_s8(). */
arm_cmsis_nn_status arm_squared_difference_s16(const int16_t *input1_data,
                               const cmsis_nn_dims *input1_dims,
                               const int16_t *input2_data,
                               const cmsis_nn_dims *input2_dims,
                               const int32_t input1_offset,
                               const int32_t input1_mult,
                               const int32_t input1_shift,
                               const int32_t input2_offset,
                               const int32_t input2_mult,
                               const int32_t input2_shift,
                               const int32_t left_shift,
                               int16_t *output_data,
                               const cmsis_nn_dims *output_dims,
                               const int32_t out_offset,
                               const int32_t out_mult,
                               const int32_t out_shift,
                               const int32_t out_activation_min,
                               const int32_t out_activation_max);

/**
 * Quotient of two tensors, each broadcast to the output's shape; arguments as arm_mul_s8().
 *
 * Division by zero gives the end of the range on the numerator's side, the output's offset for 0 / 0. Not in ns-cmsis-nn.
 */
arm_cmsis_nn_status helia_nn_div_s8(const int8_t *input1_data,
                               const cmsis_nn_dims *input1_dims,
                               const int8_t *input2_data,
                               const cmsis_nn_dims *input2_dims,
                               const int32_t input1_offset,
                               const int32_t input2_offset,
                               int8_t *output_data,
                               const cmsis_nn_dims *output_dims,
                               const int32_t out_offset,
                               const int32_t out_mult,
                               const int32_t out_shift,
                               const int32_t out_activation_min,
                               const int32_t out_activation_max);

/**
 * Arithmetic of int32 tensors, each broadcast to the output's shape. Results wrap, then are limited. Not in ns-cmsis-nn.
 *
 * @param operation Of helia_nn_operation. A division with a zero anywhere in its second input is an ARG_ERROR.
 */
arm_cmsis_nn_status helia_nn_arithmetic_s32(const int32_t *input1_data,
                               const cmsis_nn_dims *input1_dims,
                               const int32_t *input2_data,
                               const cmsis_nn_dims *input2_dims,
                               const int32_t operation,
                               const int32_t low,
                               const int32_t high,
                               int32_t *output_data,
                               const cmsis_nn_dims *output_dims);

/**
 * Compares two tensors, each broadcast to the output's shape, after bringing both to one scale as arm_add_s8() does.
 *
 * @param orders Sum of the helia_nn_order that give true. Not in ns-cmsis-nn.
 */
arm_cmsis_nn_status helia_nn_compare_s8(const int8_t *input1_data,
                               const cmsis_nn_dims *input1_dims,
                               const int8_t *input2_data,
                               const cmsis_nn_dims *input2_dims,
                               const int32_t input1_offset,
                               const int32_t input1_mult,
                               const int32_t input1_shift,
                               const int32_t input2_offset,
                               const int32_t input2_mult,
                               const int32_t input2_shift,
                               const int32_t left_shift,
                               const int32_t orders,
                               bool *output_data,
                               const cmsis_nn_dims *output_dims);

/** As helia_nn_compare_s8(), of plain numbers. */
arm_cmsis_nn_status helia_nn_compare_s32(const int32_t *input1_data,
                               const cmsis_nn_dims *input1_dims,
                               const int32_t *input2_data,
                               const cmsis_nn_dims *input2_dims,
                               const int32_t orders,
                               bool *output_data,
                               const cmsis_nn_dims *output_dims);

/** As helia_nn_compare_s32(). Not in ns-cmsis-nn. */
arm_cmsis_nn_status helia_nn_compare_s64(const int64_t *input1_data,
                               const cmsis_nn_dims *input1_dims,
                               const int64_t *input2_data,
                               const cmsis_nn_dims *input2_dims,
                               const int32_t orders,
                               bool *output_data,
                               const cmsis_nn_dims *output_dims);

/**
 * The larger or the smaller of two numbers. Not in ns-cmsis-nn.
 */
arm_cmsis_nn_status helia_nn_extremum_s64(const int64_t *input1_data,
                                          const cmsis_nn_dims *input1_dims,
                                          const int64_t *input2_data,
                                          const cmsis_nn_dims *input2_dims,
                                          const bool largest,
                                          int64_t *output_data,
                                          const cmsis_nn_dims *output_dims);

/**
 * Takes each element from the first input where the condition holds, else from the second; all are broadcast to the output's shape.
 * Not in ns-cmsis-nn.
 */
arm_cmsis_nn_status helia_nn_select(const bool *condition,
                               const cmsis_nn_dims *condition_dims,
                               const void *input1_data,
                               const cmsis_nn_dims *input1_dims,
                               const void *input2_data,
                               const cmsis_nn_dims *input2_dims,
                               const int32_t element_bytes,
                               void *output_data,
                               const cmsis_nn_dims *output_dims);

/**
 * Logarithm of the softmax along rows; the output has the scale 16/256 and the zero point 127. Not in ns-cmsis-nn.
 *
 * @param mult     With `shift` and `diff_min` as in arm_softmax_s8().
 */
arm_cmsis_nn_status helia_nn_log_softmax_s8(const int8_t *input,
                               const int32_t num_rows,
                               const int32_t row_size,
                               const int32_t mult,
                               const int32_t shift,
                               const int32_t diff_min,
                               int8_t *output);

/**
 * Fully connected layer whose weights have an offset too. Not in ns-cmsis-nn.
 *
 * @param bias May be NULL.
 */
arm_cmsis_nn_status helia_nn_fully_connected_offsets_s8(const cmsis_nn_fc_params *fc_params,
                                                        const cmsis_nn_per_tensor_quant_params *quant_params,
                                                        const cmsis_nn_dims *input_dims,
                                                        const int8_t *input,
                                                        const cmsis_nn_dims *filter_dims,
                                                        const int8_t *filter,
                                                        const int32_t *bias,
                                                        int8_t *output);

/**
 * Fully connected layer over int16 numbers with 32-bit accumulators, which wrap. Not in ns-cmsis-nn.
 *
 * @param bias May be NULL.
 */
arm_cmsis_nn_status helia_nn_fully_connected_s16_s32(const cmsis_nn_fc_params *fc_params,
                                                     const cmsis_nn_per_channel_quant_params *quant_params,
                                                     const cmsis_nn_dims *input_dims,
                                                     const int16_t *input,
                                                     const cmsis_nn_dims *filter_dims,
                                                     const int8_t *filter,
                                                     const int32_t *bias,
                                                     int16_t *output);

/**
 * Sum of `count` inputs of one scale, taken in steps of 2^-19 and wrapping beyond 4096 steps of the inputs. Not in ns-cmsis-nn.
 *
 * @param input_offset Minus the zero point of the inputs; it is added once more than there are inputs, as in TensorFlow Lite Micro.
 */
arm_cmsis_nn_status helia_nn_add_n_s8(const void *const *inputs,
                                      const int32_t count,
                                      const int32_t input_offset,
                                      const int32_t multiplier,
                                      const int32_t shift,
                                      const int32_t output_offset,
                                      int8_t *output,
                                      const int32_t size);

/**
 * Running sums along the middle one of three dimensions; the numbers are those of helia_nn_add_n_s8(). Not in ns-cmsis-nn.
 *
 * @param exclusive Whether an output leaves its own input out.
 * @param reverse   Whether the sums run from the end.
 */
arm_cmsis_nn_status helia_nn_cumulative_sum_s8(const int8_t *input,
                                               const int32_t outer,
                                               const int32_t extent,
                                               const int32_t inner,
                                               const bool exclusive,
                                               const bool reverse,
                                               const int32_t input_offset,
                                               const int32_t multiplier,
                                               const int32_t shift,
                                               const int32_t output_offset,
                                               int8_t *output);

/**
 * Divides each row by its length; the output has the scale 1/128 and the zero point 0. Not in ns-cmsis-nn.
 *
 * Rule: the squares of a row, without `zero_point`, add up to less than 2^31: 33,026 elements always do.
 */
arm_cmsis_nn_status helia_nn_l2_normalize_s8(const int8_t *input,
                               const int32_t zero_point,
                               const int32_t num_rows,
                               const int32_t row_size,
                               int8_t *output);

/**
 * Reciprocal square root by a table of outputs.
 *
 * @param lut The output, without its offset, for each of the 32768 numbers from 0 on; numbers below 0 count as 0.
 */
arm_cmsis_nn_status arm_rsqrt_s16_per_op(const int16_t *input,
                               const int32_t input_offset,
                               int16_t *output,
                               const int32_t out_offset,
                               const int32_t out_activation_min,
                               const int32_t out_activation_max,
                               const int32_t block_size,
                               const int16_t *lut);

/**
 * Reciprocal square root by a table of roots, which are brought to the output's scale.
 *
 * @param needs_rescale Whether to rescale the roots.
 * @param lut           The root for each of the 32768 numbers from 0 on; numbers below 0 count as 0, whose root is not rescaled.
 */
arm_cmsis_nn_status arm_rsqrt_s16_universal(const int16_t *input,
                               const int32_t input_offset,
                               int16_t *output,
                               const int32_t out_offset,
                               const int32_t out_mult,
                               const int32_t out_shift,
                               const bool needs_rescale,
                               const int32_t out_activation_min,
                               const int32_t out_activation_max,
                               const int32_t block_size,
                               const int32_t *lut);

/**
 * x * min(max(x + 3, 0), 6) / 6 in the 16-bit arithmetic of TensorFlow Lite.
 *
 * @param output_multiplier_fp  From the input with 7 more bits to the output, Q15.
 * @param output_multiplier_exp Its power of two, 0 at most.
 * @param relu_multiplier_fp    From the input with 7 more bits to a third in Q15, Q15.
 * @param relu_multiplier_exp   Its power of two.
 */
arm_cmsis_nn_status arm_hard_swish_compat_s8(const int8_t *input,
                               const int32_t input_offset,
                               const int32_t output_offset,
                               const int32_t output_multiplier_fp,
                               const int32_t output_multiplier_exp,
                               const int32_t relu_multiplier_fp,
                               const int32_t relu_multiplier_exp,
                               int8_t *output,
                               const int32_t output_size);

/**
 * x * min(max(x + 3, 0), 6) / 6 in 32-bit arithmetic, rounded by the one rescaling at the end.
 *
 * @param relu_q3  3 in the input's scale with `prescale` more bits.
 * @param relu_q6  6 in the same scale.
 * @param prescale Extra bits of the input, 0..15; the product of x and `relu_q6` must fit 32 bits.
 */
arm_cmsis_nn_status arm_hard_swish_precise_s8(const int8_t *input,
                               const int32_t input_offset,
                               const int32_t output_offset,
                               const int32_t output_multiplier,
                               const int32_t output_shift,
                               const int32_t relu_q3,
                               const int32_t relu_q6,
                               const int32_t prescale,
                               int8_t *output,
                               const int32_t output_size);

/* --------------------------------------------------------------------------------------------------------------
 * Transpose convolution and SVDF
 * ----------------------------------------------------------------------------------------------------------- */

/**
 * Transpose convolution; `padding` is what is cut off above and on the left. Dilation is not read.
 *
 * The phase of an output is (row + padding) modulo the stride, and so for columns. The taps k = phase, phase + stride, ... of the
 * filter reach the outputs of a phase, in an axis that has none one tap with zero weights.
 *
 * @param ctx         Scratch for the most taps of a phase times C_IN numbers.
 * @param filter_data For each phase of the rows, for each phase of the columns: [C_OUT, taps, taps, C_IN], taps from the last one to
 *                    the first, which is the order of the inputs that they meet.
 * @param weight_sums For each phase one number for each output channel: bias plus input_offset times the sum of its weights.
 */
arm_cmsis_nn_status helia_nn_transpose_conv_s8(const cmsis_nn_context *ctx,
                                               const cmsis_nn_conv_params *conv_params,
                                               const cmsis_nn_per_channel_quant_params *quant_params,
                                               const cmsis_nn_dims *input_dims,
                                               const int8_t *input_data,
                                               const cmsis_nn_dims *filter_dims,
                                               const int8_t *filter_data,
                                               const int32_t *weight_sums,
                                               const cmsis_nn_dims *output_dims,
                                               int8_t *output_data);

/**
 * As helia_nn_transpose_conv_s8() for int16 numbers; requantisation as in arm_convolve_s16() with an int64 bias.
 */
arm_cmsis_nn_status helia_nn_transpose_conv_s16(const cmsis_nn_context *ctx,
                                                const cmsis_nn_conv_params *conv_params,
                                                const cmsis_nn_per_channel_quant_params *quant_params,
                                                const cmsis_nn_dims *input_dims,
                                                const int16_t *input_data,
                                                const cmsis_nn_dims *filter_dims,
                                                const int8_t *filter_data,
                                                const int64_t *bias_data,
                                                const cmsis_nn_dims *output_dims,
                                                int16_t *output_data);

/**
 * SVDF with an int8 state, which the call moves on by one entry.
 *
 * @param weights_time [filters, memory].
 * @param state        [batches, filters, memory], kept from call to call.
 */
arm_cmsis_nn_status helia_nn_svdf_s8(const helia_nn_svdf_params *params,
                                      const int8_t *input,
                                      const int8_t *weights_feature,
                                      const int8_t *weights_time,
                                      const int32_t *bias,
                                      int8_t *state,
                                      int8_t *output);

/**
 * SVDF with an int16 state; otherwise as helia_nn_svdf_s8().
 */
arm_cmsis_nn_status helia_nn_svdf_s16(const helia_nn_svdf_params *params,
                                      const int8_t *input,
                                      const int8_t *weights_feature,
                                      const int16_t *weights_time,
                                      const int32_t *bias,
                                      int16_t *state,
                                      int8_t *output);

/**
 * LSTM over a sequence, with int8 numbers and an int16 cell. Not in ns-cmsis-nn, whose LSTM starts every call from zeros: there the
 * output of the last step is not read as the state of the first step of the next call.
 *
 * Gates are in the order input, forget, output, candidate. The sum of a gate is the requantised product with the input (Q3.12)
 * plus the requantised product with the hidden state.
 *
 * @param ctx            Scratch for 4 * units int16 numbers.
 * @param gates          int32 numbers, four of each: multipliers and shifts of the input's products, then those of the hidden
 *                       state's.
 * @param input_weights  [4, units, inputs].
 * @param input_sums     [4, units]: bias minus the input zero point times the sum of a row's weights.
 * @param hidden_weights [4, units, units].
 * @param hidden_sums    [4, units]: the same of the hidden state, without a bias.
 * @param hidden         [batches, units], kept from call to call; quantised as the output.
 * @param cell           [batches, units], kept from call to call; its scale is a power of two.
 */
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
                                     int8_t *output);

/**
 * LSTM over int16 numbers; otherwise as helia_nn_lstm_s8(), with products requantised as in arm_fully_connected_s16().
 *
 * @param bias [4, units].
 */
arm_cmsis_nn_status helia_nn_lstm_s16(const cmsis_nn_context *ctx,
                                      const helia_nn_lstm_params *params,
                                      const int32_t *gates,
                                      const int16_t *input,
                                      const int8_t *input_weights,
                                      const int64_t *bias,
                                      const int8_t *hidden_weights,
                                      int16_t *hidden,
                                      int16_t *cell,
                                      int16_t *output);

/**
 * Matrix products of two tensors, batch by batch; w and c of the extents are the matrices, n and h the batches, which are 1 where a
 * side is the same for all batches of the output. Not in ns-cmsis-nn: its entries take a right side that is [columns, depth] only,
 * so that another operator would have to swap one that is computed.
 *
 * @param ctx Scratch: columns int32 numbers, then columns * depth bytes unless adj_y, then rows * depth bytes if adj_x;
 *            both counts of bytes are multiples of four.
 */
arm_cmsis_nn_status helia_nn_batch_matmul_s8(const cmsis_nn_context *ctx,
                                             const helia_nn_bmm_params *params,
                                             const cmsis_nn_per_tensor_quant_params *quant_params,
                                             const cmsis_nn_dims *lhs_dims,
                                             const int8_t *lhs,
                                             const cmsis_nn_dims *rhs_dims,
                                             const int8_t *rhs,
                                             const cmsis_nn_dims *output_dims,
                                             int8_t *output);

/**
 * As helia_nn_batch_matmul_s8() for int16 numbers with zero point 0; requantisation as in arm_convolve_s16() with an int64 bias. The
 * scratch holds the swapped sides only, with an even count of numbers each.
 */
arm_cmsis_nn_status helia_nn_batch_matmul_s16(const cmsis_nn_context *ctx,
                                              const helia_nn_bmm_params *params,
                                              const cmsis_nn_per_tensor_quant_params *quant_params,
                                              const cmsis_nn_dims *lhs_dims,
                                              const int16_t *lhs,
                                              const cmsis_nn_dims *rhs_dims,
                                              const int16_t *rhs,
                                              const cmsis_nn_dims *output_dims,
                                              int16_t *output);

#ifdef __cplusplus
}
#endif

#endif /* ARM_NNFUNCTIONS_H */
