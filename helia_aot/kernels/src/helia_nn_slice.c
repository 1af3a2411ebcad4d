/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_block.h"

arm_cmsis_nn_status helia_nn_slice(const void *input,
                                   const void *starts,
                                   const int32_t start_bytes,
                                   const int32_t axes,
                                   const int32_t *extents,
                                   const int32_t *output_extents,
                                   const int32_t element_bytes,
                                   void *output)
{
    if (!helia_nn_block_rule(axes, start_bytes, extents, output_extents))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    int32_t strides[HELIA_NN_BLOCK_AXES], output_strides[HELIA_NN_BLOCK_AXES];
    helia_nn_block_strides(extents, axes, element_bytes, strides);
    helia_nn_block_strides(output_extents, axes, element_bytes, output_strides);
    const uint8_t *from = input;
    for (int32_t axis = 0; axis < axes; axis++)
    {
        const int64_t start = helia_nn_block_start(starts, start_bytes, axis);
        if (start < 0 || start > extents[axis] - output_extents[axis])
        {
            return ARM_CMSIS_NN_ARG_ERROR;
        }
        from += (int32_t)start * strides[axis];
    }
    helia_nn_copy_block(from, strides, output, output_strides, output_extents, axes, element_bytes);
    return ARM_CMSIS_NN_SUCCESS;
}
