/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Prototypes of the neural network kernels: int8 entries in the ns-cmsis-nn dialect.
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
 * @param ctx Unused, may hold a NULL buffer; about 400 bytes of stack hold patches.
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
 * Gives the bytes of the weight-sum buffer: 4 for each output channel (`filter_dims->c`).
 */
int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims);

/**
 * Gives the same number as arm_fully_connected_s8_get_buffer_size(), on every host.
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

#ifdef __cplusplus
}
#endif

#endif /* ARM_NNFUNCTIONS_H */
