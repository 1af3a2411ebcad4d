/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The matrix product behind convolutions and fully connected layers, for one element type. Included by support_product_f32.h
 * and support_product_f16.h.
 */
#ifndef HELIA_NN_SUPPORT_PRODUCT_FLT_H
#define HELIA_NN_SUPPORT_PRODUCT_FLT_H

/* Rows that share one pass over the weights. */
#define HELIA_NN_ROWS 4

/* What is the same for all rows. */
typedef struct
{
    const helia_nn_real *weights; /* [channels][depth], or packed in blocks of HELIA_NN_REALS channels. */
    const helia_nn_real *bias;    /* One for each channel, or NULL. */
    int32_t depth;
    int32_t channels;
    bool packed;
    helia_nn_activation activation;
} helia_nn_product;

/* The weight of product `k` of a channel is at helia_nn_weights()[k * helia_nn_weight_step()]. */
static inline const helia_nn_real *helia_nn_weights(const helia_nn_product *product, int32_t channel)
{
    if (!product->packed)
    {
        return product->weights + channel * product->depth;
    }
    const int32_t block = channel / HELIA_NN_REALS;
    return product->weights + block * HELIA_NN_REALS * product->depth + channel % HELIA_NN_REALS;
}

static inline int32_t helia_nn_weight_step(const helia_nn_product *product)
{
    return product->packed ? HELIA_NN_REALS : 1;
}

static inline float32_t helia_nn_bias(const helia_nn_product *product, int32_t channel)
{
    return product->bias != NULL ? (float32_t)product->bias[channel] : 0.0f;
}

#endif /* HELIA_NN_SUPPORT_PRODUCT_FLT_H */
