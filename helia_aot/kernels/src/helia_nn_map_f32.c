/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"
#include "support_map_flt.h"

arm_cmsis_nn_status helia_nn_map_f32(
    const float32_t *input, const int32_t function, float32_t *output, const int32_t size)
{
    switch (function)
    {
        case HELIA_NN_NEG:
            negative_elements(input, output, size);
            break;
        case HELIA_NN_ABS:
            absolute_elements(input, output, size);
            break;
        case HELIA_NN_SQUARE:
            square_elements(input, output, size);
            break;
        case HELIA_NN_SQRT:
            root_elements(input, output, size);
            break;
        case HELIA_NN_RSQRT:
            inverse_root_elements(input, output, size);
            break;
        case HELIA_NN_FLOOR:
            floor_elements(input, output, size);
            break;
        case HELIA_NN_CEIL:
            ceil_elements(input, output, size);
            break;
        case HELIA_NN_ROUND:
            round_elements(input, output, size);
            break;
        default:
            return ARM_CMSIS_NN_ARG_ERROR;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
