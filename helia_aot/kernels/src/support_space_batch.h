/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Images cut into blocks, of which each place is an image of its own in the batch.
 */
#ifndef HELIA_NN_SUPPORT_SPACE_BATCH_H
#define HELIA_NN_SUPPORT_SPACE_BATCH_H

#include "internal.h"

/* What an image of the batch of places holds: the pixels at (y, x) of the blocks of `image`. */
typedef struct
{
    int32_t image, y, x;
} helia_nn_block_place;

/* Places come before images in the order of the batch. */
static inline helia_nn_block_place helia_nn_place_in_block(int32_t batch, int32_t images, const cmsis_nn_tile *block)
{
    const int32_t place = batch / images;
    return (helia_nn_block_place){.image = batch % images, .y = place / block->w, .x = place % block->w};
}

/* Tells whether each image has one image for every place of a block. */
static inline bool
helia_nn_blocks_rule(const cmsis_nn_dims *whole, const cmsis_nn_dims *places, const cmsis_nn_tile *block)
{
    return whole->n > 0 && block->h > 0 && block->w > 0 && places->n == whole->n * block->h * block->w;
}

#endif /* HELIA_NN_SUPPORT_SPACE_BATCH_H */
