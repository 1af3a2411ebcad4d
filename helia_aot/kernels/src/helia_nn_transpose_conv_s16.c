/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_requantize_s64.h"

typedef int16_t helia_nn_transpose_value;
#include "support_transpose_conv.h"

typedef struct
{
    const cmsis_nn_conv_params *params;
    const cmsis_nn_per_channel_quant_params *quant;
    const int64_t *bias;
    const int8_t *weights;
    int32_t channels;
    int32_t size; /* weights of one tap */
} layer;

static void multiply(const void *how, const helia_nn_transpose_pixels *pixels, const int16_t *column, int16_t *output)
{
    const layer *const of = (const layer *)how;
    const int32_t depth = pixels->depth;
    /* Pixels outside are zeros: whole rows of them are left out. */
    const int8_t *const weights = of->weights + pixels->taps * of->size + pixels->first;
    for (int32_t c = 0; c < of->channels; c += 2)
    {
        /* Two channels share a pass over the column; a last one is computed twice over. */
        const int32_t next = helia_nn_min(c + 1, of->channels - 1);
        int64_t sums[2] = {of->bias != NULL ? of->bias[c] : 0, of->bias != NULL ? of->bias[next] : 0};
        helia_nn_dots_s16_s8(
            column + pixels->first, weights + c * depth, weights + next * depth, pixels->count, sums);
        for (int32_t k = c; k <= next; k++)
        {
            const int32_t multiplier = helia_nn_reduced_multiplier(of->quant->multiplier[k]);
            const int32_t scaled = helia_nn_requantize_s64(sums[k - c], multiplier, of->quant->shift[k]);
            *output++ = (int16_t)helia_nn_clamp(
                scaled + of->params->output_offset, of->params->activation.min, of->params->activation.max);
        }
    }
}

arm_cmsis_nn_status helia_nn_transpose_conv_s16(const cmsis_nn_context *ctx,
                                                const cmsis_nn_conv_params *conv_params,
                                                const cmsis_nn_per_channel_quant_params *quant_params,
                                                const cmsis_nn_dims *input_dims,
                                                const int16_t *input_data,
                                                const cmsis_nn_dims *filter_dims,
                                                const int8_t *filter_data,
                                                const int64_t *bias_data,
                                                const cmsis_nn_dims *output_dims,
                                                int16_t *output_data)
{
    const cmsis_nn_tile stride = conv_params->stride;
    if (ctx == NULL || ctx->buf == NULL || filter_dims->c != input_dims->c || stride.w < 1 || stride.h < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const layer how = {
        conv_params, quant_params, bias_data, filter_data, output_dims->c, output_dims->c * input_dims->c};
    helia_nn_transpose_conv(stride,
                            conv_params->padding,
                            input_dims,
                            input_data,
                            0,
                            filter_dims,
                            output_dims,
                            output_data,
                            (int16_t *)ctx->buf,
                            multiply,
                            &how);
    return ARM_CMSIS_NN_SUCCESS;
}
