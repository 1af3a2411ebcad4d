/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_s8.h"

typedef int8_t helia_nn_transpose_value;
#include "support_transpose_conv.h"

typedef struct
{
    helia_nn_output_stage stage; /* sums of the first phase */
    const int8_t *weights;
    int32_t channels;
    int32_t size; /* weights of one tap */
} layer;

static void multiply(const void *how, const helia_nn_transpose_pixels *pixels, const int8_t *column, int8_t *output)
{
    const layer *const of = (const layer *)how;
    helia_nn_output_stage stage = of->stage;
    const int8_t *const weights = of->weights + pixels->taps * of->size;
    stage.sums += pixels->phase * of->channels;
    helia_nn_matmul_s8(column, pixels->depth, 1, weights, of->channels, pixels->depth, &stage, output);
}

/* The stage of all phases: its sums are those of the first one. */
static helia_nn_output_stage output_stage(const cmsis_nn_conv_params *params,
                                          const cmsis_nn_per_channel_quant_params *quant,
                                          const cmsis_nn_dims *filter_dims,
                                          const int32_t *sums,
                                          int32_t channels)
{
    const int32_t depth = filter_dims->h * filter_dims->w * filter_dims->c;
    const cmsis_nn_context first = {(void *)(uintptr_t)sums, 0};
    helia_nn_output_stage stage = helia_nn_conv_output_stage(&first, params, quant, NULL, channels, depth);
#if defined(HELIA_NN_DSP)
    for (int32_t phase = 1; phase < params->stride.h * params->stride.w; phase++)
    {
        const helia_nn_output_kind kind =
            helia_nn_output_kind_of(sums + phase * channels, quant->multiplier, quant->shift, true, channels, depth);
        stage.kind = kind < stage.kind ? kind : stage.kind; /* The one that assumes less. */
    }
#endif
    return stage;
}

arm_cmsis_nn_status helia_nn_transpose_conv_s8(const cmsis_nn_context *ctx,
                                               const cmsis_nn_conv_params *conv_params,
                                               const cmsis_nn_per_channel_quant_params *quant_params,
                                               const cmsis_nn_dims *input_dims,
                                               const int8_t *input_data,
                                               const cmsis_nn_dims *filter_dims,
                                               const int8_t *filter_data,
                                               const int32_t *weight_sums,
                                               const cmsis_nn_dims *output_dims,
                                               int8_t *output_data)
{
    const cmsis_nn_tile stride = conv_params->stride;
    if (ctx == NULL || ctx->buf == NULL || weight_sums == NULL || filter_dims->c != input_dims->c || stride.w < 1 ||
        stride.h < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const layer how = {
        .stage = output_stage(conv_params, quant_params, filter_dims, weight_sums, output_dims->c),
        .weights = filter_data,
        .channels = output_dims->c,
        .size = output_dims->c * input_dims->c,
    };
    helia_nn_transpose_conv(stride,
                            conv_params->padding,
                            input_dims,
                            input_data,
                            (int8_t)-conv_params->input_offset,
                            filter_dims,
                            output_dims,
                            output_data,
                            (int8_t *)ctx->buf,
                            multiply,
                            &how);
    return ARM_CMSIS_NN_SUCCESS;
}
