/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_space_batch.h"

#include <string.h>

arm_cmsis_nn_status helia_nn_batch_to_space(const void *input,
                                            const cmsis_nn_dims *input_dims,
                                            const cmsis_nn_tile *block,
                                            const cmsis_nn_tile *crop,
                                            const int32_t pixel_bytes,
                                            void *output,
                                            const cmsis_nn_dims *output_dims)
{
    if (!helia_nn_blocks_rule(output_dims, input_dims, block) || pixel_bytes < 1 || crop->h < 0 || crop->w < 0 ||
        output_dims->h + crop->h > input_dims->h * block->h || output_dims->w + crop->w > input_dims->w * block->w)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t image = input_dims->h * input_dims->w * pixel_bytes;
    uint8_t *to = output;
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t out_y = 0; out_y < output_dims->h; out_y++)
        {
            const int32_t y = out_y + crop->h;
            for (int32_t out_x = 0; out_x < output_dims->w; out_x++)
            {
                const int32_t x = out_x + crop->w;
                const int32_t batch = (y % block->h * block->w + x % block->w) * output_dims->n + n;
                const int32_t pixel = y / block->h * input_dims->w + x / block->w;
                memcpy(to, (const uint8_t *)input + batch * image + pixel * pixel_bytes, (size_t)pixel_bytes);
                to += pixel_bytes;
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
