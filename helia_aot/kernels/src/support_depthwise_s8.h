/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the depthwise entries with ch_mult 1 share: the layer as one structure, the portable body, and for Helium the lanes,
 * the padded rows and the requantisation of 16 outputs.
 *
 * Helium bodies work on 16 channels at once. VMULLB and VMULLT give the products of the even and of the odd bytes as 16-bit
 * numbers, and widening such a vector to 32 bits again takes every second lane. The four accumulators of 16 lanes therefore
 * hold the lanes {0, 4, 8, 12}, {2, 6, 10, 14}, {1, 5, 9, 13} and {3, 7, 11, 15}; narrowing with VQMOVNB and VQMOVNT puts
 * them back into memory order. Start values, multipliers and shifts are kept in that order.
 */
#ifndef HELIA_NN_SUPPORT_DEPTHWISE_S8_H
#define HELIA_NN_SUPPORT_DEPTHWISE_S8_H

#include "internal.h"

/* A depthwise layer with ch_mult 1 and one batch. */
typedef struct
{
    const int8_t *input;
    const int8_t *filter;
    int8_t *output;
    const int32_t *sums; /* Folded start values; NULL: use bias and input_offset. */
    const int32_t *bias; /* Or NULL. */
    const int32_t *multiplier;
    const int32_t *shift;
    void *scratch;
    int32_t channels;
    int32_t input_h, input_w;
    int32_t filter_h, filter_w;
    int32_t output_h, output_w;
    int32_t stride_h, stride_w;
    int32_t pad_h, pad_w;
    int32_t dilation_w; /* Along the row; between rows it is 1. */
    int32_t input_offset, output_offset;
    cmsis_nn_activation activation;
#if defined(HELIA_NN_DSP)
    int32_t ch_mult;    /* Other than 1 for the entry of any shape only; then `channels` are those of the input. */
    int32_t dilation_h; /* Likewise. */
#endif
} helia_nn_depthwise_layer;

/*
 * Fills `layer`; gives false, with `layer` undefined, outside the rule of the optimised entries: ch_mult 1, one batch, and no
 * dilation except along a single row with stride 1.
 *
 * A layer of one column is turned into one of one row: the bytes are the same, and rows are what the bodies are good at.
 */
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
                                   int8_t *output_data);

#if defined(HELIA_NN_DSP)

/* Fills `layer` for helia_nn_depthwise_portable(), whose DSP body also takes any ch_mult and dilation; one batch. */
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
                                 int8_t *output_data);

#endif

/* Gives the pixels of an input row with its padding, as far as the outputs of a row reach. */
static inline int32_t helia_nn_depthwise_row_pixels(const helia_nn_depthwise_layer *layer)
{
    return (layer->output_w - 1) * layer->stride_w + (layer->filter_w - 1) * layer->dilation_w + 1;
}

/* Gives how many sets of 16 lanes a row of pixels needs: the channels of 16 bytes repeat after lcm(channels, 16) bytes. */
int32_t helia_nn_depthwise_lane_sets(int32_t channels);

/* Tells whether the planar body takes the layer. */
bool helia_nn_depthwise_planar_rule(const helia_nn_depthwise_layer *layer);

#if !defined(HELIA_NN_MVE)

/* The whole layer in portable C. */
void helia_nn_depthwise_portable(const helia_nn_depthwise_layer *layer);

#else

#define HELIA_NN_LANES 16

/* What 16 lanes need besides their weights, in accumulator order. The weights follow: 16 bytes for each filter tap. */
typedef struct
{
    int32_t start[HELIA_NN_LANES];
    int32_t multiplier[HELIA_NN_LANES];
    int32_t shift[HELIA_NN_LANES];
    int8_t weights[];
} helia_nn_lanes;

/*
 * Fills `lanes`: lane i belongs to channel `first_channel + channel_of_lane[i]`, or `first_channel + i` where that is NULL.
 *
 * Gives true where the quick bodies are exact for these lanes: no weight is -128, so that the sum of two products fits into 16
 * bits; every shift is to the right; and no start value is so large that a part of the sum may overflow, since the quick bodies
 * saturate.
 */
bool helia_nn_prepare_lanes(helia_nn_lanes *lanes,
                            const helia_nn_depthwise_layer *layer,
                            int32_t first_channel,
                            const uint8_t channel_of_lane[HELIA_NN_LANES]);

/* Computes a layer that meets helia_nn_depthwise_planar_rule(). */
void helia_nn_depthwise_planar(const helia_nn_depthwise_layer *layer);

/* Input rows with their padding, in `filter_h` slots that are filled in turn. */
typedef struct
{
    int8_t *slots;
    int32_t slot_bytes;
    int32_t slot_count;
    int32_t next_slot; /* Where the next row goes: the oldest row. */
    int32_t next_row;  /* The next input row, from -pad_h. */
} helia_nn_row_ring;

/* The last steps of 16 outputs, on saturated 16-bit numbers that had `add` added and were then narrowed to unsigned bytes:
 * an unsigned saturating addition of `above` cuts off everything above the maximum, and adding `back` gives the output. */
typedef struct
{
    int32_t add;   /* Output offset minus the activation's minimum, which becomes 0. */
    int32_t above; /* What the activation's range lacks to 256 values. */
    int32_t back;  /* The activation's minimum minus `above`. */
} helia_nn_output_limits;

static inline helia_nn_output_limits helia_nn_output_limits_of(const helia_nn_depthwise_layer *layer)
{
    const int32_t above = 255 - (layer->activation.max - layer->activation.min);
    return (helia_nn_output_limits){
        .add = layer->output_offset - layer->activation.min,
        .above = above,
        .back = layer->activation.min - above,
    };
}

/* One row of output vectors. Tap (y, x) of vector i is at row y of the ring, byte `x * tap_step + i * step`. */
typedef struct
{
    const helia_nn_lanes *lanes;
    const helia_nn_row_ring *ring;
    int32_t row_offset; /* Bytes from the start of a row to tap 0 of vector 0. */
    int32_t filter_w;
    int32_t tap_step;
    int32_t step;
    helia_nn_output_limits limits;
    int8_t *output;
    int32_t output_step; /* Bytes from one output vector to the next. */
    int32_t count;       /* Output vectors. */
    mve_pred16_t stored; /* Bytes of each vector that are written. */
} helia_nn_depthwise_row;

/* Computes a row where helia_nn_prepare_lanes() gave true. */
void helia_nn_depthwise_row_quick(const helia_nn_depthwise_row *row);

/* Computes a row for any weights and shifts. */
void helia_nn_depthwise_row_any(const helia_nn_depthwise_row *row);

static inline helia_nn_row_ring
helia_nn_row_ring_init(const helia_nn_depthwise_layer *layer, int8_t *slots, int32_t slot_bytes)
{
    return (helia_nn_row_ring){slots, slot_bytes, layer->filter_h, 0, -layer->pad_h};
}

/* Gives row `y` of the window, 0 the topmost. */
static inline const int8_t *helia_nn_row_ring_row(const helia_nn_row_ring *ring, int32_t y)
{
    int32_t slot = ring->next_slot + y;
    if (slot >= ring->slot_count)
    {
        slot -= ring->slot_count;
    }
    return ring->slots + slot * ring->slot_bytes;
}

/* Gives the slot for the next row and its input row in `*row`, or NULL when the window of output row `y` is complete. */
static inline int8_t *
helia_nn_row_ring_next(helia_nn_row_ring *ring, const helia_nn_depthwise_layer *layer, int32_t y, int32_t *row)
{
    const int32_t top = y * layer->stride_h - layer->pad_h;
    if (ring->next_row >= top + layer->filter_h)
    {
        return NULL;
    }
    ring->next_row = helia_nn_max(ring->next_row, top);
    int8_t *slot = ring->slots + ring->next_slot * ring->slot_bytes;
    ring->next_slot = ring->next_slot + 1 == ring->slot_count ? 0 : ring->next_slot + 1;
    *row = ring->next_row++;
    return slot;
}

/* Writes `vectors` times 16 bytes and gives where they end. */
static inline int8_t *helia_nn_fill_vectors(int8_t *to, int8x16_t value, int32_t vectors)
{
    for (int32_t i = 0; i < vectors; i++)
    {
        vstrbq_s8(to, value);
        to += HELIA_NN_LANES;
    }
    return to;
}

/* A layer, 16 channels at a time: a slice has 16 bytes for each pixel. */
typedef struct
{
    helia_nn_lanes *lanes;
    bool quick; /* What helia_nn_prepare_lanes() gave. */
    int32_t first_channel;
    int32_t row_pixels;
    int32_t left, inside, right; /* Pixels of a row: padding, input, padding. */
    int8_t *slots;               /* Room for filter_h rows. */
    int32_t slot_bytes;
    mve_pred16_t valid; /* The channels that exist. */
} helia_nn_depthwise_slice;

static inline helia_nn_depthwise_slice helia_nn_depthwise_slice_init(const helia_nn_depthwise_layer *layer)
{
    helia_nn_depthwise_slice slice = {.lanes = layer->scratch, .first_channel = -HELIA_NN_LANES};
    slice.slots = slice.lanes->weights + HELIA_NN_LANES * layer->filter_h * layer->filter_w;
    slice.row_pixels = helia_nn_depthwise_row_pixels(layer);
    slice.left = helia_nn_min(layer->pad_w, slice.row_pixels);
    slice.inside = helia_nn_min(layer->input_w, slice.row_pixels - slice.left);
    slice.right = slice.row_pixels - slice.left - slice.inside;
    slice.slot_bytes = HELIA_NN_LANES * slice.row_pixels;
    return slice;
}

/* Goes on to the next 16 channels; gives false after the last. */
static inline bool helia_nn_depthwise_slice_next(helia_nn_depthwise_slice *slice, const helia_nn_depthwise_layer *layer)
{
    slice->first_channel += HELIA_NN_LANES;
    const int32_t left = layer->channels - slice->first_channel;
    if (left <= 0)
    {
        return false;
    }
    /* Lanes without a channel repeat the last one: their results are not stored, but their weights and shifts count. */
    uint8_t channel_of_lane[HELIA_NN_LANES];
    vstrbq_u8(channel_of_lane, vminq_u8(vidupq_n_u8(0, 1), vdupq_n_u8((uint8_t)(left - 1))));
    slice->valid = vctp8q((uint32_t)left);
    slice->quick = helia_nn_prepare_lanes(
        slice->lanes, layer, slice->first_channel, left < HELIA_NN_LANES ? channel_of_lane : NULL);
    return true;
}

/* Writes a row of the slice, padding included, to `to`; channels that do not exist are 0. */
static inline void helia_nn_depthwise_slice_load(
    const helia_nn_depthwise_slice *slice, const helia_nn_depthwise_layer *layer, int32_t row, int8_t *to)
{
    const int8x16_t padding = vdupq_n_s8((int8_t)-layer->input_offset);
    if (row < 0 || row >= layer->input_h)
    {
        helia_nn_fill_vectors(to, padding, slice->row_pixels);
        return;
    }
    const int32_t channels = layer->channels;
    const int32_t inside = slice->inside;
    const int32_t right = slice->right;
    const mve_pred16_t valid = slice->valid;
    const int8_t *from = layer->input + row * layer->input_w * channels + slice->first_channel;
    to = helia_nn_fill_vectors(to, padding, slice->left);
    if (valid == 0xFFFF)
    {
        for (int32_t i = 0; i < inside; i++)
        {
            vstrbq_s8(to, vldrbq_s8(from));
            to += HELIA_NN_LANES;
            from += channels;
        }
    }
    else
    {
        for (int32_t i = 0; i < inside; i++)
        {
            vstrbq_s8(to, vldrbq_z_s8(from, valid));
            to += HELIA_NN_LANES;
            from += channels;
        }
    }
    helia_nn_fill_vectors(to, padding, right);
}

/* Computes all rows of a slice, for any filter, weights and shifts. */
void helia_nn_depthwise_slice_rows(const helia_nn_depthwise_slice *slice, const helia_nn_depthwise_layer *layer);

#endif /* HELIA_NN_MVE */

#endif /* HELIA_NN_SUPPORT_DEPTHWISE_S8_H */
