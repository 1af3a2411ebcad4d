/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution with stride 1 along the row and few channels: 16 lanes are 16 bytes of a row, whatever pixel they
 * belong to, so that no lane is wasted. The channels of the lanes repeat after lcm(channels, 16) bytes; each of these lane
 * patterns has its own weights, start values, multipliers and shifts.
 */
#include "support_depthwise_3x3_s8.h"

#if defined(HELIA_NN_MVE)

/* The columns of a window are `tap_step` bytes apart, in r11; r12 is the column's address. Steps of vectors and of outputs are
 * the same. */
#define FIRST(q, row) "vldrb.u8 " #q ", [" #row "]\n"
#define FIRST_KEEP(q, row) FIRST(q, row)
#define FIRST_AGAIN(q, row) FIRST(q, row)
#define SECOND(q, row) "add r12, " #row ", r11\n" SECOND_AGAIN(q, row)
#define SECOND_KEEP(q, row) SECOND(q, row)
#define SECOND_AGAIN(q, row) "vldrb.u8 " #q ", [r12]\n"
#define THIRD(q, row) THIRD_KEEP(q, row) "add " #row ", " #row ", r5\n"
#define THIRD_KEEP(q, row) "add r12, r12, r11\n" "vldrb.u8 " #q ", [r12]\n"
#define THIRD_AGAIN(q, row) "vldrb.u8 " #q ", [r12]\n" "add " #row ", " #row ", r5\n"
#define STORE(q) "vpst\n" "vstrbt.8 " #q ", [r4]\n" "add r4, r4, r5\n"

HELIA_NN_DEFINE_3X3_ROW(row_3x3)
#include "support_depthwise_3x3_undef.h"

typedef struct
{
    int32_t sets;
    int32_t lanes_bytes;
    uint32_t quick; /* Bit s: helia_nn_prepare_lanes() gave true for set s. */
    uint8_t *lanes;
} lane_sets;

static const helia_nn_lanes *set_lanes(const lane_sets *sets, int32_t set)
{
    return (const helia_nn_lanes *)(void *)(sets->lanes + set * sets->lanes_bytes);
}

static lane_sets prepare_sets(const helia_nn_depthwise_layer *layer)
{
    const int32_t vectors = (layer->output_w * layer->channels + HELIA_NN_LANES - 1) / HELIA_NN_LANES;
    lane_sets sets = {
        .sets = helia_nn_min(helia_nn_depthwise_lane_sets(layer->channels), vectors),
        .lanes_bytes = (int32_t)sizeof(helia_nn_lanes) + HELIA_NN_LANES * layer->filter_h * layer->filter_w,
        .quick = 0,
        .lanes = layer->scratch,
    };
    int32_t channel = 0;
    for (int32_t set = 0; set < sets.sets; set++)
    {
        uint8_t channel_of_lane[HELIA_NN_LANES];
        for (int32_t i = 0; i < HELIA_NN_LANES; i++)
        {
            channel_of_lane[i] = (uint8_t)channel;
            channel = channel + 1 == layer->channels ? 0 : channel + 1;
        }
        helia_nn_lanes *lanes = (helia_nn_lanes *)(void *)(sets.lanes + set * sets.lanes_bytes);
        if (helia_nn_prepare_lanes(lanes, layer, 0, channel_of_lane))
        {
            sets.quick |= UINT32_C(1) << set;
        }
    }
    return sets;
}

/* Completes the window of output row `y` with whole rows, padding written out. */
static void load_rows(helia_nn_row_ring *ring, const helia_nn_depthwise_layer *layer, int32_t y, int32_t row_pixels)
{
    const int8x16_t padding = vdupq_n_s8((int8_t)-layer->input_offset);
    const int32_t left = helia_nn_min(layer->pad_w, row_pixels);
    const int32_t inside_bytes = helia_nn_min(layer->input_w, row_pixels - left) * layer->channels;
    const int32_t row_bytes = row_pixels * layer->channels;
    int32_t row;
    int8_t *to;
    while ((to = helia_nn_row_ring_next(ring, layer, y, &row)) != NULL)
    {
        if (row < 0 || row >= layer->input_h)
        {
            helia_nn_fill_vectors(to, padding, (row_bytes + HELIA_NN_LANES - 1) / HELIA_NN_LANES);
            continue;
        }
        /* Each step may write up to 15 bytes too many, which the next one overwrites; a slot has room for the last. */
        const int8_t *from = layer->input + row * layer->input_w * layer->channels;
        const int32_t left_bytes = left * layer->channels;
        helia_nn_fill_vectors(to, padding, (left_bytes + HELIA_NN_LANES - 1) / HELIA_NN_LANES);
        to += left_bytes;
        int8_t *copied = to;
        for (int32_t i = inside_bytes / HELIA_NN_LANES; i > 0; i--)
        {
            vstrbq_s8(copied, vldrbq_s8(from));
            copied += HELIA_NN_LANES;
            from += HELIA_NN_LANES;
        }
        vstrbq_s8(copied, vldrbq_z_s8(from, vctp8q((uint32_t)(inside_bytes % HELIA_NN_LANES))));
        to += inside_bytes;
        const int32_t right_bytes = row_bytes - left_bytes - inside_bytes;
        helia_nn_fill_vectors(to, padding, (right_bytes + HELIA_NN_LANES - 1) / HELIA_NN_LANES);
    }
}

static void compute_vectors(helia_nn_depthwise_row *row, const lane_sets *sets, int32_t set, bool filter_3x3)
{
    row->lanes = set_lanes(sets, set);
    if (((sets->quick >> set) & 1) == 0)
    {
        helia_nn_depthwise_row_any(row);
    }
    else if (filter_3x3)
    {
        const helia_nn_3x3_row arguments = {
            .rows = {helia_nn_row_ring_row(row->ring, 0) + row->row_offset,
                     helia_nn_row_ring_row(row->ring, 1) + row->row_offset,
                     helia_nn_row_ring_row(row->ring, 2) + row->row_offset},
            .middle_weights = row->lanes->weights + 4 * HELIA_NN_LANES,
            .output = row->output,
            .output_step = row->output_step,
            .count = row->count,
            .tap_step = row->tap_step,
            .limits = row->limits,
            .stored = row->stored,
        };
        row_3x3(&arguments);
    }
    else
    {
        helia_nn_depthwise_row_quick(row);
    }
}

void helia_nn_depthwise_planar(const helia_nn_depthwise_layer *layer)
{
    const lane_sets sets = prepare_sets(layer);
    const int32_t row_pixels = helia_nn_depthwise_row_pixels(layer);
    int8_t *slots = (int8_t *)sets.lanes + sets.sets * sets.lanes_bytes;
    helia_nn_row_ring ring = helia_nn_row_ring_init(layer, slots, row_pixels * layer->channels + HELIA_NN_LANES);

    const bool filter_3x3 = layer->filter_h == 3 && layer->filter_w == 3;
    const int32_t output_bytes = layer->output_w * layer->channels;
    const int32_t full = output_bytes / HELIA_NN_LANES;
    helia_nn_depthwise_row row = {
        .ring = &ring,
        .filter_w = layer->filter_w,
        .tap_step = layer->channels * layer->dilation_w,
        .step = HELIA_NN_LANES * sets.sets,
        .limits = helia_nn_output_limits_of(layer),
        .output_step = HELIA_NN_LANES * sets.sets,
    };
    for (int32_t y = 0; y < layer->output_h; y++)
    {
        int8_t *output = layer->output + y * output_bytes;
        load_rows(&ring, layer, y, row_pixels);
        row.stored = (mve_pred16_t)0xFFFF;
        for (int32_t set = 0; set < helia_nn_min(sets.sets, full); set++)
        {
            row.row_offset = HELIA_NN_LANES * set;
            row.output = output + row.row_offset;
            row.count = (full - set + sets.sets - 1) / sets.sets;
            compute_vectors(&row, &sets, set, filter_3x3);
        }
        if (output_bytes > full * HELIA_NN_LANES)
        {
            row.row_offset = HELIA_NN_LANES * full;
            row.output = output + row.row_offset;
            row.count = 1;
            row.stored = vctp8q((uint32_t)(output_bytes - row.row_offset));
            compute_vectors(&row, &sets, full % sets.sets, filter_3x3);
        }
    }
}

#endif
