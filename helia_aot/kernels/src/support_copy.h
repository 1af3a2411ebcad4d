/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Copies of short and long runs of bytes.
 */
#ifndef HELIA_NN_SUPPORT_COPY_H
#define HELIA_NN_SUPPORT_COPY_H

#include "internal.h"

#include <string.h>

/* Copies `count` runs of `bytes` bytes that begin every `stride` bytes to one place after the other. */
static inline void helia_nn_copy_runs(const uint8_t *from, int32_t stride, int32_t bytes, int32_t count, uint8_t *to)
{
    if (stride == bytes)
    {
        memcpy(to, from, (size_t)(bytes * count));
        return;
    }
    switch (bytes)
    {
        case 1:
            for (int32_t i = 0; i < count; i++)
            {
                to[i] = *from;
                from += stride;
            }
            return;
        case 2:
            for (int32_t i = 0; i < count; i++)
            {
                memcpy(to + 2 * i, from, 2);
                from += stride;
            }
            return;
        case 4:
            for (int32_t i = 0; i < count; i++)
            {
                memcpy(to + 4 * i, from, 4);
                from += stride;
            }
            return;
        default:
            for (int32_t i = 0; i < count; i++)
            {
                memcpy(to, from, (size_t)bytes);
                to += bytes;
                from += stride;
            }
            return;
    }
}

/* Writes `bytes` bytes of a pattern of 1, 2 or 4 bytes, of which they are a multiple. */
static inline void helia_nn_write_pattern(uint8_t *to, int32_t bytes, int32_t pattern, int32_t pattern_bytes)
{
    if (pattern_bytes == 1)
    {
        memset(to, pattern, (size_t)bytes);
        return;
    }
    for (int32_t i = 0; i < bytes; i += pattern_bytes)
    {
        if (pattern_bytes == 2)
        {
            const int16_t value = (int16_t)pattern;
            memcpy(to + i, &value, sizeof value);
        }
        else
        {
            memcpy(to + i, &pattern, sizeof pattern);
        }
    }
}

#endif /* HELIA_NN_SUPPORT_COPY_H */
