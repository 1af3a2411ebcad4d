/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_block.h"

arm_cmsis_nn_status helia_nn_update_slice(const void *input,
                                          const void *update,
                                          const void *starts,
                                          const int32_t start_bytes,
                                          const int32_t axes,
                                          const int32_t *extents,
                                          const int32_t *update_extents,
                                          const int32_t element_bytes,
                                          void *output)
{
    if (!helia_nn_block_rule(axes, start_bytes, extents, update_extents))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    int32_t strides[HELIA_NN_BLOCK_AXES], update_strides[HELIA_NN_BLOCK_AXES];
    const int32_t bytes = helia_nn_block_strides(extents, axes, element_bytes, strides);
    helia_nn_block_strides(update_extents, axes, element_bytes, update_strides);
    uint8_t *to = output;
    for (int32_t axis = 0; axis < axes; axis++)
    {
        const int64_t start = helia_nn_block_start(starts, start_bytes, axis);
        const int32_t last = extents[axis] - update_extents[axis];
        to += (start < 0 ? 0 : start > last ? last : (int32_t)start) * strides[axis];
    }
    memcpy(output, input, (size_t)bytes);
    helia_nn_copy_block(update, update_strides, to, strides, update_extents, axes, element_bytes);
    return ARM_CMSIS_NN_SUCCESS;
}
