/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_copy.h"

#define MOST_AXES 8
#define FILLED INT32_MIN /* In the place of an offset: nothing is copied here. */

arm_cmsis_nn_status helia_nn_copy_mapped(const void *input,
                                         const int32_t *map,
                                         const int32_t axes,
                                         const int32_t *extents,
                                         const int32_t row_bytes,
                                         const int32_t pattern,
                                         const int32_t pattern_bytes,
                                         void *output)
{
    if (axes < 1 || axes > MOST_AXES || (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t inner = axes - 1;
    int32_t position[MOST_AXES] = {0};
    const int32_t *columns[MOST_AXES]; /* The offsets along each axis; of the innermost one the segments. */
    for (int32_t axis = 0; axis < axes; axis++)
    {
        columns[axis] = map;
        map += extents[axis];
    }
    uint8_t *to = output;
    for (;;)
    {
        const uint8_t *from = input;
        bool filled = false;
        for (int32_t axis = 0; axis < inner; axis++)
        {
            const int32_t offset = columns[axis][position[axis]];
            filled = filled || offset == FILLED;
            from += offset == FILLED ? 0 : offset;
        }
        if (filled)
        {
            helia_nn_write_pattern(to, row_bytes, pattern, pattern_bytes);
            to += row_bytes;
        }
        for (int32_t i = 0; i < extents[inner] && !filled; i++)
        {
            const int32_t offset = columns[inner][2 * i];
            const int32_t bytes = columns[inner][2 * i + 1];
            if (offset == FILLED)
            {
                helia_nn_write_pattern(to, bytes, pattern, pattern_bytes);
            }
            else
            {
                memcpy(to, from + offset, (size_t)bytes);
            }
            to += bytes;
        }
        int32_t axis = inner - 1;
        for (; axis >= 0; axis--)
        {
            if (++position[axis] < extents[axis])
            {
                break;
            }
            position[axis] = 0;
        }
        if (axis < 0)
        {
            return ARM_CMSIS_NN_SUCCESS;
        }
    }
}
