/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The larger or the smaller of two numbers with broadcasting, for the element type that the including file defines:
 *
 *   ELEMENT      type of an element
 *   PICK         the operation on two numbers, as int32
 *   LANES, VECTOR, LOAD, STORE, REPEAT, VALID, PICK_LANES  the same with Helium
 */
#include "support_broadcast.h"

static void
pick_run(const void *params, const helia_nn_axis *axis, const void *input1, const void *input2, void *output)
{
    (void)params;
    const ELEMENT *a = input1;
    const ELEMENT *b = input2;
    ELEMENT *to = output;
#if defined(HELIA_NN_MVE)
    for (int32_t left = axis->extent; left > 0; left -= LANES)
    {
        const mve_pred16_t valid = VALID((uint32_t)left);
        const VECTOR value1 = axis->stride1 == 0 ? REPEAT(*a) : LOAD(a, valid);
        const VECTOR value2 = axis->stride2 == 0 ? REPEAT(*b) : LOAD(b, valid);
        STORE(to, PICK_LANES(value1, value2), valid);
        a += LANES * axis->stride1;
        b += LANES * axis->stride2;
        to += LANES;
    }
#else
    for (int32_t i = 0; i < axis->extent; i++)
    {
        to[i] = (ELEMENT)PICK(a[i * axis->stride1], b[i * axis->stride2]);
    }
#endif
}
