/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_depthwise_s8.h"

static void turn_column_into_row(helia_nn_depthwise_layer *layer)
{
    layer->input_w = layer->input_h;
    layer->filter_w = layer->filter_h;
    layer->output_w = layer->output_h;
    layer->stride_w = layer->stride_h;
    layer->pad_w = layer->pad_h;
    layer->input_h = 1;
    layer->filter_h = 1;
    layer->output_h = 1;
    layer->stride_h = 1;
    layer->pad_h = 0;
}

bool helia_nn_depthwise_layer_init(helia_nn_depthwise_layer *layer,
                                   const cmsis_nn_context *ctx,
                                   const cmsis_nn_context *weight_sum_ctx,
                                   const cmsis_nn_dw_conv_params *dw_conv_params,
                                   const cmsis_nn_per_channel_quant_params *quant_params,
                                   const cmsis_nn_dims *input_dims,
                                   const int8_t *input_data,
                                   const cmsis_nn_dims *filter_dims,
                                   const int8_t *filter_data,
                                   const int32_t *bias_data,
                                   const cmsis_nn_dims *output_dims,
                                   int8_t *output_data)
{
    const cmsis_nn_tile stride = dw_conv_params->stride;
    const cmsis_nn_tile padding = dw_conv_params->padding;
    const cmsis_nn_tile dilation = dw_conv_params->dilation;
    const bool dilated = dilation.h != 1 || dilation.w != 1;
    const bool row = input_dims->h == 1 && filter_dims->h == 1 && output_dims->h == 1 && padding.h == 0 && stride.h == 1 &&
                     stride.w == 1;
    if (dw_conv_params->ch_mult != 1 || input_dims->n != 1 || output_dims->n != 1 || input_dims->c != output_dims->c ||
        input_dims->c != filter_dims->c || (dilated && !row))
    {
        return false;
    }
    *layer = (helia_nn_depthwise_layer){
        .input = input_data,
        .filter = filter_data,
        .output = output_data,
        .sums = weight_sum_ctx != NULL ? weight_sum_ctx->buf : NULL,
        .bias = bias_data,
        .multiplier = quant_params->multiplier,
        .shift = quant_params->shift,
        .scratch = ctx != NULL ? ctx->buf : NULL,
        .channels = input_dims->c,
        .input_h = input_dims->h,
        .input_w = input_dims->w,
        .filter_h = filter_dims->h,
        .filter_w = filter_dims->w,
        .output_h = output_dims->h,
        .output_w = output_dims->w,
        .stride_h = stride.h,
        .stride_w = stride.w,
        .pad_h = padding.h,
        .pad_w = padding.w,
        .dilation_w = dilation.w,
        .input_offset = dw_conv_params->input_offset,
        .output_offset = dw_conv_params->output_offset,
        .activation = dw_conv_params->activation,
    };
    if (layer->input_w == 1 && layer->filter_w == 1 && layer->output_w == 1 && layer->pad_w == 0 && !dilated)
    {
        turn_column_into_row(layer);
    }
    return true;
}

int32_t helia_nn_depthwise_lane_sets(int32_t channels)
{
    int32_t sets = channels;
    for (int32_t factor = 1; factor < 16 && sets % 2 == 0; factor *= 2)
    {
        sets /= 2;
    }
    return sets;
}

bool helia_nn_depthwise_planar_rule(const helia_nn_depthwise_layer *layer)
{
    return layer->stride_w == 1 && layer->channels % 16 != 0 && helia_nn_depthwise_lane_sets(layer->channels) <= 16 &&
           layer->output_w * layer->channels >= 16;
}

#if !defined(HELIA_NN_MVE)

/* Accumulates one output; a tap outside the input counts as `padding`. */
static int32_t accumulate(
    const helia_nn_depthwise_layer *layer, int32_t out_y, int32_t out_x, int32_t channel, int32_t offset, int32_t padding)
{
    int32_t sum = 0;
    for (int32_t y = 0; y < layer->filter_h; y++)
    {
        const int32_t in_y = out_y * layer->stride_h - layer->pad_h + y;
        for (int32_t x = 0; x < layer->filter_w; x++)
        {
            const int32_t in_x = out_x * layer->stride_w - layer->pad_w + x * layer->dilation_w;
            const bool inside = in_y >= 0 && in_y < layer->input_h && in_x >= 0 && in_x < layer->input_w;
            const int32_t at = (in_y * layer->input_w + in_x) * layer->channels + channel;
            const int32_t value = inside ? layer->input[at] + offset : padding;
            sum += value * layer->filter[(y * layer->filter_w + x) * layer->channels + channel];
        }
    }
    return sum;
}

void helia_nn_depthwise_portable(const helia_nn_depthwise_layer *layer)
{
    const int32_t *start = layer->sums != NULL ? layer->sums : layer->bias;
    const int32_t offset = layer->sums != NULL ? 0 : layer->input_offset;
    const int32_t padding = layer->sums != NULL ? -layer->input_offset : 0;
    int8_t *output = layer->output;
    for (int32_t y = 0; y < layer->output_h; y++)
    {
        for (int32_t x = 0; x < layer->output_w; x++)
        {
            for (int32_t channel = 0; channel < layer->channels; channel++)
            {
                const int32_t sum =
                    (start != NULL ? start[channel] : 0) + accumulate(layer, y, x, channel, offset, padding);
                const int32_t scaled = helia_nn_requantize(sum, layer->multiplier[channel], layer->shift[channel]);
                *output++ = (int8_t)helia_nn_clamp(
                    scaled + layer->output_offset, layer->activation.min, layer->activation.max);
            }
        }
    }
}

#else

/* Accumulator k has the lanes {first, first + 4, first + 8, first + 12} with this `first`. */
static const int8_t first_lane[4] = {0, 2, 1, 3};

/* Adds input_offset times the weights' sum to the start values, where no folded sums are given. */
static void add_offset_times_weights(helia_nn_lanes *lanes, int32_t taps, int32_t input_offset)
{
    for (int32_t k = 0; k < 4; k++)
    {
        int32x4_t sum = vdupq_n_s32(0);
        for (int32_t tap = 0; tap < taps; tap++)
        {
            const int32x4_t words = vreinterpretq_s32_s8(vldrbq_s8(lanes->weights + tap * HELIA_NN_LANES));
            sum = vaddq_s32(sum, vshrq_n_s32(vshlq_r_s32(words, 24 - 8 * first_lane[k]), 24));
        }
        const int32x4_t start = vldrwq_s32(lanes->start + 4 * k);
        vstrwq_s32(lanes->start + 4 * k, vmlaq_n_s32(start, sum, input_offset));
    }
}

bool helia_nn_prepare_lanes(helia_nn_lanes *lanes,
                            const helia_nn_depthwise_layer *layer,
                            int32_t first_channel,
                            const uint8_t channel_of_lane[HELIA_NN_LANES])
{
    const int32_t taps = layer->filter_h * layer->filter_w;
    const uint8x16_t channels = vldrbq_u8(channel_of_lane);
    const int8_t *filter = layer->filter + first_channel;
    int8x16_t smallest_weight = vdupq_n_s8(0);
    for (int32_t tap = 0; tap < taps; tap++)
    {
        const int8x16_t weights = vldrbq_gather_offset_s8(filter, channels);
        vstrbq_s8(lanes->weights + tap * HELIA_NN_LANES, weights);
        smallest_weight = vminq_s8(smallest_weight, weights);
        filter += layer->channels;
    }

    const int32_t *start = layer->sums != NULL ? layer->sums : layer->bias;
    int32x4_t largest_shift = vdupq_n_s32(-31);
    for (int32_t k = 0; k < 4; k++)
    {
        const uint32x4_t words = vreinterpretq_u32_u8(channels);
        const uint32x4_t at = vandq_u32(vshlq_r_u32(words, -8 * first_lane[k]), vdupq_n_u32(0xFF));
        const int32x4_t shift = vldrwq_gather_shifted_offset_s32(layer->shift + first_channel, at);
        const int32x4_t multiplier = vldrwq_gather_shifted_offset_s32(layer->multiplier + first_channel, at);
        const int32x4_t zero = vdupq_n_s32(0);
        vstrwq_s32(lanes->start + 4 * k,
                   start != NULL ? vldrwq_gather_shifted_offset_s32(start + first_channel, at) : zero);
        vstrwq_s32(lanes->multiplier + 4 * k, multiplier);
        vstrwq_s32(lanes->shift + 4 * k, shift);
        largest_shift = vmaxq_s32(largest_shift, shift);
    }
    if (layer->sums == NULL)
    {
        add_offset_times_weights(lanes, taps, layer->input_offset);
    }
    return vminvq_s8(INT8_MAX, smallest_weight) > INT8_MIN && vmaxvq_s32(INT32_MIN, largest_shift) < 0;
}

/* The four accumulators of 16 lanes, in the order of the header. */
typedef struct
{
    int32x4_t lanes0, lanes2, lanes1, lanes3;
} sums16;

static inline sums16 start_sums(const helia_nn_lanes *lanes)
{
    return (sums16){vldrwq_s32(lanes->start), vldrwq_s32(lanes->start + 4), vldrwq_s32(lanes->start + 8),
                    vldrwq_s32(lanes->start + 12)};
}

/* Narrows requantised sums to 16 outputs in memory order. */
static inline int8x16_t narrow(const sums16 *sums, helia_nn_output_limits limits)
{
    const int16x8_t none = vuninitializedq_s16();
    const int16x8_t even = vqaddq_n_s16(vqmovntq_s32(vqmovnbq_s32(none, sums->lanes0), sums->lanes2), (int16_t)limits.add);
    const int16x8_t odd = vqaddq_n_s16(vqmovntq_s32(vqmovnbq_s32(none, sums->lanes1), sums->lanes3), (int16_t)limits.add);
    uint8x16_t all = vqmovuntq_s16(vqmovunbq_s16(vuninitializedq_u8(), even), odd);
    all = vqaddq_n_u8(all, (uint8_t)limits.above);
    return vreinterpretq_s8_u8(vaddq_n_u8(all, (uint8_t)limits.back));
}

/* Adds products to the sums, one tap of 16 lanes. */
static inline void add_tap(sums16 *sums, int8x16_t input, int8x16_t weights)
{
    const int16x8_t even = vmullbq_int_s8(input, weights);
    sums->lanes0 = vaddq_s32(sums->lanes0, vmovlbq_s16(even));
    sums->lanes2 = vaddq_s32(sums->lanes2, vmovltq_s16(even));
    const int16x8_t odd = vmulltq_int_s8(input, weights);
    sums->lanes1 = vaddq_s32(sums->lanes1, vmovlbq_s16(odd));
    sums->lanes3 = vaddq_s32(sums->lanes3, vmovltq_s16(odd));
}

/*
 * Adds `pairs` (at least 1) pairs of taps, with the sum of two products in 16 bits; see support_depthwise_3x3_s8.h for the
 * steps. In assembly, because the second input of a pair has to be loaded twice for want of a ninth vector register.
 */
static inline void
add_pairs(sums16 *sums, const int8_t **input, const int8_t **weights, int32_t tap_step, int32_t pairs)
{
    int8x16_t x0, x1, w0, w1;
    __asm volatile("dls lr, %[pairs]\n"
                   "1:\n"
                   "vldrb.u8 %q[x0], [%[input]]\n"
                   "add %[input], %[input], %[step]\n"
                   "vldrb.u8 %q[w0], [%[weights]], #16\n"
                   "vmullb.s8 %q[x1], %q[x0], %q[w0]\n"
                   "vldrb.u8 %q[w1], [%[weights]], #16\n"
                   "vmullt.s8 %q[x0], %q[x0], %q[w0]\n"
                   "vldrb.u8 %q[w0], [%[input]]\n"
                   "vmullb.s8 %q[w0], %q[w0], %q[w1]\n"
                   "vadd.i16 %q[x1], %q[x1], %q[w0]\n"
                   "vldrb.u8 %q[w0], [%[input]]\n"
                   "vmullt.s8 %q[w0], %q[w0], %q[w1]\n"
                   "vmovlb.s16 %q[w1], %q[x1]\n"
                   "vqdmlah.s32 %q[lanes2], %q[x1], %[high]\n"
                   "vadd.i16 %q[x0], %q[x0], %q[w0]\n"
                   "add %[input], %[input], %[step]\n"
                   "vmla.s32 %q[lanes0], %q[w1], %[one]\n"
                   "vmovlb.s16 %q[w0], %q[x0]\n"
                   "vqdmlah.s32 %q[lanes3], %q[x0], %[high]\n"
                   "vadd.i32 %q[lanes1], %q[lanes1], %q[w0]\n"
                   "le lr, 1b\n"
                   : [lanes0] "+w"(sums->lanes0), [lanes1] "+w"(sums->lanes1), [lanes2] "+w"(sums->lanes2),
                     [lanes3] "+w"(sums->lanes3), [x0] "=&w"(x0), [x1] "=&w"(x1), [w0] "=&w"(w0), [w1] "=&w"(w1),
                     [input] "+r"(*input), [weights] "+r"(*weights)
                   : [pairs] "r"(pairs), [step] "r"(tap_step), [high] "r"(1 << 15), [one] "r"(1)
                   : "lr", "memory");
}

/*
 * Requantises sums whose shifts are all to the right: VQRDMULH, then VQDMLAH with 1, which adds the high half of the doubled
 * product with 1, the sign, so that the rounding shift VRSHL takes ties away from zero. In assembly, because compilers keep
 * the multipliers and shifts of a loop in stack slots.
 */
static inline void requantize_right(sums16 *sums, const helia_nn_lanes *lanes)
{
    int32x4_t t0, t1, t2, t3;
    __asm volatile("vldrw.u32 %q[t0], [%[lanes], #64]\n"
                   "vqrdmulh.s32 %q[lanes0], %q[lanes0], %q[t0]\n"
                   "vldrw.u32 %q[t1], [%[lanes], #80]\n"
                   "vqrdmulh.s32 %q[lanes2], %q[lanes2], %q[t1]\n"
                   "vldrw.u32 %q[t2], [%[lanes], #96]\n"
                   "vqrdmulh.s32 %q[lanes1], %q[lanes1], %q[t2]\n"
                   "vldrw.u32 %q[t3], [%[lanes], #112]\n"
                   "vqrdmulh.s32 %q[lanes3], %q[lanes3], %q[t3]\n"
                   "vldrw.u32 %q[t0], [%[lanes], #128]\n"
                   "vqdmlah.s32 %q[lanes0], %q[lanes0], %[one]\n"
                   "vldrw.u32 %q[t1], [%[lanes], #144]\n"
                   "vqdmlah.s32 %q[lanes2], %q[lanes2], %[one]\n"
                   "vrshl.s32 %q[lanes0], %q[lanes0], %q[t0]\n"
                   "vldrw.u32 %q[t2], [%[lanes], #160]\n"
                   "vqdmlah.s32 %q[lanes1], %q[lanes1], %[one]\n"
                   "vrshl.s32 %q[lanes2], %q[lanes2], %q[t1]\n"
                   "vldrw.u32 %q[t3], [%[lanes], #176]\n"
                   "vqdmlah.s32 %q[lanes3], %q[lanes3], %[one]\n"
                   "vrshl.s32 %q[lanes1], %q[lanes1], %q[t2]\n"
                   "vrshl.s32 %q[lanes3], %q[lanes3], %q[t3]\n"
                   : [lanes0] "+w"(sums->lanes0), [lanes1] "+w"(sums->lanes1), [lanes2] "+w"(sums->lanes2),
                     [lanes3] "+w"(sums->lanes3), [t0] "=&w"(t0), [t1] "=&w"(t1), [t2] "=&w"(t2), [t3] "=&w"(t3)
                   : [lanes] "r"(lanes), [one] "r"(1), "m"(*lanes));
}

void helia_nn_depthwise_row_quick(const helia_nn_depthwise_row *row)
{
    const helia_nn_lanes *lanes = row->lanes;
    const int32_t pairs = row->filter_w >> 1;
    int32_t offset = row->row_offset;
    int8_t *output = row->output;
    for (int32_t i = 0; i < row->count; i++)
    {
        sums16 sums = start_sums(lanes);
        const int8_t *weights = lanes->weights;
        for (int32_t y = 0; y < row->ring->slot_count; y++)
        {
            const int8_t *input = helia_nn_row_ring_row(row->ring, y) + offset;
            if (pairs > 0)
            {
                add_pairs(&sums, &input, &weights, row->tap_step, pairs);
            }
            if (row->filter_w & 1)
            {
                add_tap(&sums, vldrbq_s8(input), vldrbq_s8(weights));
                weights += HELIA_NN_LANES;
            }
        }
        requantize_right(&sums, lanes);
        vstrbq_p_s8(output, narrow(&sums, row->limits), row->stored);
        output += row->output_step;
        offset += row->step;
    }
}

void helia_nn_depthwise_row_any(const helia_nn_depthwise_row *row)
{
    const helia_nn_lanes *lanes = row->lanes;
    int32_t offset = row->row_offset;
    int8_t *output = row->output;
    for (int32_t i = 0; i < row->count; i++)
    {
        sums16 sums = start_sums(lanes);
        const int8_t *weights = lanes->weights;
        for (int32_t y = 0; y < row->ring->slot_count; y++)
        {
            const int8_t *input = helia_nn_row_ring_row(row->ring, y) + offset;
            for (int32_t x = row->filter_w; x > 0; x--)
            {
                add_tap(&sums, vldrbq_s8(input), vldrbq_s8(weights));
                input += row->tap_step;
                weights += HELIA_NN_LANES;
            }
        }
        const int32_t *m = lanes->multiplier;
        const int32_t *s = lanes->shift;
        sums.lanes0 = helia_nn_requantize_s32x4(sums.lanes0, vldrwq_s32(m), vldrwq_s32(s));
        sums.lanes2 = helia_nn_requantize_s32x4(sums.lanes2, vldrwq_s32(m + 4), vldrwq_s32(s + 4));
        sums.lanes1 = helia_nn_requantize_s32x4(sums.lanes1, vldrwq_s32(m + 8), vldrwq_s32(s + 8));
        sums.lanes3 = helia_nn_requantize_s32x4(sums.lanes3, vldrwq_s32(m + 12), vldrwq_s32(s + 12));
        vstrbq_p_s8(output, narrow(&sums, row->limits), row->stored);
        output += row->output_step;
        offset += row->step;
    }
}

#endif
