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

/* Fills `layer`, whatever the rule of an entry. */
static inline void fill_layer(helia_nn_depthwise_layer *layer,
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
#if defined(HELIA_NN_DSP)
        .ch_mult = dw_conv_params->ch_mult,
        .dilation_h = dilation.h,
#endif
    };
    if (layer->input_w == 1 && layer->filter_w == 1 && layer->output_w == 1 && layer->pad_w == 0 && !dilated)
    {
        turn_column_into_row(layer);
    }
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
    fill_layer(layer, ctx, weight_sum_ctx, dw_conv_params, quant_params, input_dims, input_data, filter_dims, filter_data,
               bias_data, output_dims, output_data);
    return true;
}

#if defined(HELIA_NN_DSP)

void helia_nn_depthwise_layer_of(helia_nn_depthwise_layer *layer,
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
    fill_layer(layer, ctx, weight_sum_ctx, dw_conv_params, quant_params, input_dims, input_data, filter_dims, filter_data,
               bias_data, output_dims, output_data);
}

#endif

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

#if defined(HELIA_NN_DSP)
#include "support_depthwise_planes_dsp.h"
#include "support_depthwise_s8_dsp.h"

void helia_nn_depthwise_portable(const helia_nn_depthwise_layer *layer)
{
    if (planes_rule(layer))
    {
        layer_in_planes(layer);
    }
    else
    {
        layer_by_pixels(layer);
    }
}

#elif !defined(HELIA_NN_MVE)

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

/* Start values up to here leave room for the products of 65536 taps. */
#define LARGEST_QUICK_START (1u << 30)

/* Gives the largest magnitude of 16 numbers. */
static uint32_t largest_magnitude(const int32_t *numbers)
{
    uint32_t largest = 0;
    for (int32_t k = 0; k < HELIA_NN_LANES; k += 4)
    {
        largest = vmaxavq_s32(largest, vldrwq_s32(numbers + k));
    }
    return largest;
}

/* Copies 16 numbers into accumulator order and gives the largest of every fourth. VLD4 separates every fourth word. */
static inline int32x4_t copy_numbers(int32_t *to, const int32_t *from)
{
    const int32x4x4_t numbers = vld4q_s32(from);
    vstrwq_s32(to, numbers.val[0]);
    vstrwq_s32(to + 4, numbers.val[2]);
    vstrwq_s32(to + 8, numbers.val[1]);
    vstrwq_s32(to + 12, numbers.val[3]);
    return vmaxq_s32(vmaxq_s32(numbers.val[0], numbers.val[1]), vmaxq_s32(numbers.val[2], numbers.val[3]));
}

/* As copy_numbers(), of the numbers that `at` selects; byte i is for lane i. */
static int32x4_t gather_numbers(int32_t *to, const int32_t *from, uint32x4_t at)
{
    int32x4_t largest = vdupq_n_s32(INT32_MIN);
    for (int32_t k = 0; k < 4; k++)
    {
        const uint32x4_t index = vandq_u32(vshlq_r_u32(at, -8 * first_lane[k]), vdupq_n_u32(0xFF));
        const int32x4_t numbers = vldrwq_gather_shifted_offset_s32(from, index);
        vstrwq_s32(to + 4 * k, numbers);
        largest = vmaxq_s32(largest, numbers);
    }
    return largest;
}

bool helia_nn_prepare_lanes(helia_nn_lanes *lanes,
                            const helia_nn_depthwise_layer *layer,
                            int32_t first_channel,
                            const uint8_t channel_of_lane[HELIA_NN_LANES])
{
    const int32_t taps = layer->filter_h * layer->filter_w;
    const int32_t channels = layer->channels;
    const int8_t *filter = layer->filter + first_channel;
    const int32_t *multiplier = layer->multiplier + first_channel;
    const int32_t *shift = layer->shift + first_channel;
    const int32_t *start = layer->sums != NULL ? layer->sums : layer->bias;
    int8_t *weights = lanes->weights;
    int8x16_t smallest_weight = vdupq_n_s8(0);
    int32x4_t largest_shift;
    if (start == NULL)
    {
        for (int32_t k = 0; k < HELIA_NN_LANES; k += 4)
        {
            vstrwq_s32(lanes->start + k, vdupq_n_s32(0));
        }
    }
    if (channel_of_lane == NULL)
    {
        for (int32_t tap = 0; tap < taps; tap++)
        {
            const int8x16_t tap_weights = vldrbq_s8(filter);
            vstrbq_s8(weights, tap_weights);
            smallest_weight = vminq_s8(smallest_weight, tap_weights);
            weights += HELIA_NN_LANES;
            filter += channels;
        }
        if (start != NULL)
        {
            copy_numbers(lanes->start, start + first_channel);
        }
        copy_numbers(lanes->multiplier, multiplier);
        largest_shift = copy_numbers(lanes->shift, shift);
    }
    else
    {
        const uint8x16_t at = vldrbq_u8(channel_of_lane);
        for (int32_t tap = 0; tap < taps; tap++)
        {
            const int8x16_t tap_weights = vldrbq_gather_offset_s8(filter, at);
            vstrbq_s8(weights, tap_weights);
            smallest_weight = vminq_s8(smallest_weight, tap_weights);
            weights += HELIA_NN_LANES;
            filter += channels;
        }
        const uint32x4_t at_bytes = vreinterpretq_u32_u8(at);
        if (start != NULL)
        {
            gather_numbers(lanes->start, start + first_channel, at_bytes);
        }
        gather_numbers(lanes->multiplier, multiplier, at_bytes);
        largest_shift = gather_numbers(lanes->shift, shift, at_bytes);
    }
    if (layer->sums == NULL)
    {
        add_offset_times_weights(lanes, taps, layer->input_offset);
    }
    return vminvq_s8(INT8_MAX, smallest_weight) > INT8_MIN && vmaxvq_s32(INT32_MIN, largest_shift) < 0 &&
           largest_magnitude(lanes->start) <= LARGEST_QUICK_START && taps < 65536;
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

/* The arguments of a row, at the offsets that the assembly reads. */
typedef struct
{
    const helia_nn_lanes *lanes;   /* 0 */
    int8_t *output;                /* 4 */
    const int8_t *top;             /* 8: the window's first row. */
    const int8_t *first;           /* 12: the ring's first slot. */
    const int8_t *end;             /* 16: one past its last. */
    int32_t slot_bytes;            /* 20 */
    int32_t filter_h;              /* 24 */
    int32_t pairs;                 /* 28: pairs of taps in a filter row. */
    int32_t odd;                   /* 32: 1 if a tap is left over, else 0. */
    int32_t tap_step;              /* 36 */
    int32_t step;                  /* 40 */
    int32_t output_step;           /* 44 */
    helia_nn_output_limits limits; /* 48, 52, 56 */
    int32_t count;                 /* 60: output vectors left, at least 1. */
    int32_t row_offset;            /* 64 */
    uint32_t stored;               /* 68 */
} quick_row;

_Static_assert(offsetof(quick_row, limits) == 48 && offsetof(quick_row, stored) == 68, "read by assembly");
_Static_assert(sizeof(helia_nn_lanes) == 192, "read by assembly");

/*
 * Computes a row; see support_depthwise_3x3_s8.h for how products are added up and why this is assembly.
 *
 * q0..q3 are the accumulators; r1 input, r2 weights, r3 lanes, r4 output, r5 row of the ring, r6 = 1, r7 = 2^15, r8 filter rows
 * left, r9 row offset, r10 slot bytes, r11 tap step, lr loops.
 */
static void compute_quick_row(quick_row *arguments)
{
    register quick_row *pointer __asm("r0") = arguments;
    __asm volatile("vmrs r12, p0\n"
                   "push {r4-r12, lr}\n"
                   "ldrd r3, r4, [r0]\n"
                   "ldr r11, [r0, #36]\n"
                   "ldrd r9, r12, [r0, #64]\n"
                   "vmsr p0, r12\n"
                   "mov r6, #1\n"
                   "mov r7, #32768\n"
                   "1:\n" /* An output vector. */
                   "ldr r5, [r0, #8]\n"
                   "vldrw.u32 q0, [r3]\n"
                   "ldrd r10, r8, [r0, #20]\n"
                   "vldrw.u32 q1, [r3, #16]\n"
                   "add r2, r3, #192\n"
                   "vldrw.u32 q2, [r3, #32]\n"
                   "vldrw.u32 q3, [r3, #48]\n"
                   "2:\n" /* A filter row. */
                   "ldrd lr, r12, [r0, #28]\n"
                   "add r1, r5, r9\n"
                   "cmp r12, #0\n"
                   "beq 3f\n"
                   "vldrb.u8 q4, [r1]\n" /* The tap that is left over. */
                   "vldrb.u8 q5, [r2], #16\n"
                   "vmullb.s8 q6, q4, q5\n"
                   "add r1, r1, r11\n"
                   "vmullt.s8 q4, q4, q5\n"
                   "vmovlb.s16 q7, q6\n"
                   "vqdmlah.s32 q1, q6, r7\n"
                   "vmovlb.s16 q5, q4\n"
                   "vmla.s32 q0, q7, r6\n"
                   "vadd.i32 q2, q2, q5\n"
                   "vqdmlah.s32 q3, q4, r7\n"
                   "3:\n"
                   "wls lr, lr, 5f\n"
                   "4:\n" /* A pair of taps. */
                   "vldrb.u8 q4, [r1]\n"
                   "add r1, r1, r11\n"
                   "vldrb.u8 q6, [r2], #16\n"
                   "vmullb.s8 q5, q4, q6\n"
                   "vldrb.u8 q7, [r2], #16\n"
                   "vmullt.s8 q4, q4, q6\n"
                   "vldrb.u8 q6, [r1]\n"
                   "vmullb.s8 q6, q6, q7\n"
                   "vadd.i16 q5, q5, q6\n"
                   "vldrb.u8 q6, [r1]\n"
                   "vmullt.s8 q6, q6, q7\n"
                   "vmovlb.s16 q7, q5\n"
                   "vqdmlah.s32 q1, q5, r7\n"
                   "vadd.i16 q4, q4, q6\n"
                   "add r1, r1, r11\n"
                   "vmla.s32 q0, q7, r6\n"
                   "vmovlb.s16 q6, q4\n"
                   "vqdmlah.s32 q3, q4, r7\n"
                   "vadd.i32 q2, q2, q6\n"
                   "le lr, 4b\n"
                   "5:\n"
                   "ldrd r12, lr, [r0, #12]\n"
                   "add r5, r5, r10\n"
                   "cmp r5, lr\n"
                   "it hs\n"
                   "movhs r5, r12\n"
                   "subs r8, r8, #1\n"
                   "bne 2b\n"
                   /* Requantisation: VQRDMULH, then VQDMLAH with 1, which adds the high half of the doubled product with 1, the
                    * sign, so that the rounding shift takes ties away from zero. */
                   "vldrw.u32 q4, [r3, #64]\n"
                   "vqrdmulh.s32 q0, q0, q4\n"
                   "vldrw.u32 q5, [r3, #80]\n"
                   "vqrdmulh.s32 q1, q1, q5\n"
                   "vldrw.u32 q6, [r3, #96]\n"
                   "vqdmlah.s32 q0, q0, r6\n"
                   "vldrw.u32 q4, [r3, #128]\n"
                   "vqdmlah.s32 q1, q1, r6\n"
                   "vrshl.s32 q0, q0, q4\n"
                   "vldrw.u32 q5, [r3, #144]\n"
                   "vqrdmulh.s32 q2, q2, q6\n"
                   "vrshl.s32 q1, q1, q5\n"
                   "vldrw.u32 q7, [r3, #112]\n"
                   "vqrdmulh.s32 q3, q3, q7\n"
                   "vqmovnb.s32 q0, q0\n"
                   "vqdmlah.s32 q2, q2, r6\n"
                   "ldrd r8, r12, [r0, #48]\n"
                   "vldrw.u32 q4, [r3, #160]\n"
                   "vqmovnt.s32 q0, q1\n"
                   "vqdmlah.s32 q3, q3, r6\n"
                   "vldrw.u32 q5, [r3, #176]\n"
                   "vrshl.s32 q2, q2, q4\n"
                   "ldrd r10, lr, [r0, #56]\n"
                   "vrshl.s32 q3, q3, q5\n"
                   "vqadd.s16 q0, q0, r8\n"
                   "vqmovnb.s32 q2, q2\n"
                   "subs lr, lr, #1\n"
                   "vqmovunb.s16 q0, q0\n"
                   "str lr, [r0, #60]\n"
                   "vqmovnt.s32 q2, q3\n"
                   "ldrd r1, r2, [r0, #40]\n"
                   "vqadd.s16 q2, q2, r8\n"
                   "add r9, r9, r1\n"
                   "vqmovunt.s16 q0, q2\n"
                   "vqadd.u8 q0, q0, r12\n"
                   "vadd.i8 q0, q0, r10\n"
                   "vpst\n"
                   "vstrbt.8 q0, [r4]\n"
                   "add r4, r4, r2\n"
                   "bne 1b\n"
                   "pop {r4-r12, lr}\n"
                   "vmsr p0, r12\n"
                   : "+r"(pointer)
                   :
                   : "r1", "r2", "r3", "r12", "cc", "memory", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7");
}

void helia_nn_depthwise_row_quick(const helia_nn_depthwise_row *row)
{
    const helia_nn_row_ring *ring = row->ring;
    quick_row arguments = {
        .lanes = row->lanes,
        .output = row->output,
        .top = helia_nn_row_ring_row(ring, 0),
        .first = ring->slots,
        .end = ring->slots + ring->slot_count * ring->slot_bytes,
        .slot_bytes = ring->slot_bytes,
        .filter_h = ring->slot_count,
        .pairs = row->filter_w / 2,
        .odd = row->filter_w % 2,
        .tap_step = row->tap_step,
        .step = row->step,
        .output_step = row->output_step,
        .limits = row->limits,
        .count = row->count,
        .row_offset = row->row_offset,
        .stored = row->stored,
    };
    compute_quick_row(&arguments);
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

void helia_nn_depthwise_slice_rows(const helia_nn_depthwise_slice *slice, const helia_nn_depthwise_layer *layer)
{
    helia_nn_row_ring ring = helia_nn_row_ring_init(layer, slice->slots, slice->slot_bytes);
    helia_nn_depthwise_row row = {
        .lanes = slice->lanes,
        .ring = &ring,
        .filter_w = layer->filter_w,
        .tap_step = HELIA_NN_LANES * layer->dilation_w,
        .step = HELIA_NN_LANES * layer->stride_w,
        .limits = helia_nn_output_limits_of(layer),
        .output = layer->output + slice->first_channel,
        .output_step = layer->channels,
        .count = layer->output_w,
        .stored = slice->valid,
    };
    for (int32_t y = 0; y < layer->output_h; y++)
    {
        int32_t input_row;
        int8_t *slot;
        while ((slot = helia_nn_row_ring_next(&ring, layer, y, &input_row)) != NULL)
        {
            helia_nn_depthwise_slice_load(slice, layer, input_row, slot);
        }
        if (slice->quick)
        {
            helia_nn_depthwise_row_quick(&row);
        }
        else
        {
            helia_nn_depthwise_row_any(&row);
        }
        row.output += layer->output_w * layer->channels;
    }
}

#endif
