/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From sums of int16 numbers and int8 weights to int16 outputs with the DSP extension: helia_nn_requantize_s64() with constants that are
 * prepared once for all pixels. Sums of 256 products of 2^22 at most leave room for a start value in 32 bits.
 */
#ifndef HELIA_NN_SUPPORT_OUTPUT_S16_DSP_H
#define HELIA_NN_SUPPORT_OUTPUT_S16_DSP_H

#include "support_requantize_s64.h"

/* Products of a prepared sum, and prepared channels, at most. */
#define HELIA_NN_PREPARED_PRODUCTS 256
#define HELIA_NN_PREPARED_CHANNELS 64

/* What makes outputs of the sums of some channels. */
typedef struct
{
    int32_t start[HELIA_NN_PREPARED_CHANNELS];
    int32_t factor[HELIA_NN_PREPARED_CHANNELS]; /* Of the high word of a product, */
    int32_t shift[HELIA_NN_PREPARED_CHANNELS];  /* which is shifted to the right by so much and, with rounding, by one. */
    bool quick;                                 /* Otherwise the constants do not allow it, and nothing else is to be used. */
} helia_nn_prepared_s16;

/*
 * Prepares a channel. Dividing a product by 2^n, with n 33 at most, is dividing its 2^(33 - n) fold by 2^33; and what is lost with the
 * lower word of a product does not matter to a rounding of halves up.
 */
static inline void
helia_nn_prepare_s16(helia_nn_prepared_s16 *prepared, int32_t at, int64_t start, int32_t multiplier, int32_t shift)
{
    const int32_t right = 15 - shift;
    const bool quick = start < 1 << 30 && start > -(1 << 30) && right >= 17;
    prepared->quick = prepared->quick && quick;
    prepared->start[at] = (int32_t)start;
    prepared->factor[at] = quick ? helia_nn_reduced_multiplier(multiplier) * (1 << helia_nn_max(33 - right, 0)) : 0;
    prepared->shift[at] = helia_nn_max(right - 33, 0);
}

/* The outputs of `count` prepared channels from `at` on. */
static inline void helia_nn_prepared_outputs_s16(const helia_nn_prepared_s16 *prepared,
                                                 int32_t at,
                                                 int32_t count,
                                                 const int32_t *sums,
                                                 const cmsis_nn_activation *activation,
                                                 int16_t *output)
{
    const int32_t *const factor = prepared->factor + at, *const shift = prepared->shift + at;
    const int32_t low = activation->min, high = activation->max;
    for (int32_t i = 0; i < count; i++)
    {
        const int32_t word = (int32_t)(((int64_t)sums[i] * factor[i]) >> 32);
        output[i] = (int16_t)helia_nn_clamp(((word >> shift[i]) + 1) >> 1, low, high);
    }
}

#endif /* HELIA_NN_SUPPORT_OUTPUT_S16_DSP_H */
