/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the floating-point kernels of both types share. Include support_f32.h or support_f16.h, which fix the element type
 * (helia_nn_real) and its vector (helia_nn_vector), then the algorithms written once for both (support_*_flt.h).
 */
#ifndef HELIA_NN_SUPPORT_FLT_H
#define HELIA_NN_SUPPORT_FLT_H

#include "../include/arm_nnfunctions_flt.h"
#include "internal.h"

#include <string.h>

#if defined(HELIA_NN_MVE) && (__ARM_FEATURE_MVE & 2)
#define HELIA_NN_MVE_FLOAT 1
#endif

/* Gives `value` limited to [low, high]. */
static inline float32_t helia_nn_limit(float32_t value, float32_t low, float32_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Copies a few bytes; `count` may be 0. */
static inline void helia_nn_copy_bytes(void *target, const void *source, int32_t count)
{
#if defined(HELIA_NN_MVE)
    __asm volatile("wlstp.8 lr, %[count], 2f\n"
                   "1:\n\t"
                   "vldrb.8 q0, [%[source]], #16\n\t"
                   "vstrb.8 q0, [%[target]], #16\n\t"
                   "letp lr, 1b\n"
                   "2:\n\t"
                   : [source] "+r"(source), [target] "+r"(target)
                   : [count] "r"(count)
                   : HELIA_NN_PREDICATE "q0", "lr", "memory");
#else
    memcpy(target, source, (size_t)count);
#endif
}

static inline bool helia_nn_positive(const cmsis_nn_dims *dims)
{
    return dims->n > 0 && dims->h > 0 && dims->w > 0 && dims->c > 0;
}

#endif /* HELIA_NN_SUPPORT_FLT_H */
