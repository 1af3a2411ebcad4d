/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_space_batch.h"

#include <string.h>

arm_cmsis_nn_status helia_nn_space_to_batch(const void *input,
                                            const cmsis_nn_dims *input_dims,
                                            const cmsis_nn_tile *block,
                                            const cmsis_nn_tile *padding,
                                            const int32_t pixel_bytes,
                                            const int32_t fill,
                                            void *output,
                                            const cmsis_nn_dims *output_dims)
{
    if (!helia_nn_blocks_rule(input_dims, output_dims, block) || pixel_bytes < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    uint8_t *to = output;
    for (int32_t batch = 0; batch < output_dims->n; batch++)
    {
        const helia_nn_block_place place = helia_nn_place_in_block(batch, input_dims->n, block);
        const uint8_t *image = (const uint8_t *)input + place.image * input_dims->h * input_dims->w * pixel_bytes;
        for (int32_t out_y = 0; out_y < output_dims->h; out_y++)
        {
            const int32_t y = out_y * block->h + place.y - padding->h;
            for (int32_t out_x = 0; out_x < output_dims->w; out_x++)
            {
                const int32_t x = out_x * block->w + place.x - padding->w;
                if (y < 0 || y >= input_dims->h || x < 0 || x >= input_dims->w)
                {
                    memset(to, (int)fill, (size_t)pixel_bytes);
                }
                else
                {
                    memcpy(to, image + (y * input_dims->w + x) * pixel_bytes, (size_t)pixel_bytes);
                }
                to += pixel_bytes;
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
