/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#define ELEMENT float16_t
#define IS_BETTER(a, b) ((a) > (b))
#include "support_arg_extremum.h"
#undef IS_BETTER
#define IS_BETTER(a, b) ((a) < (b))
#define arg_extremum arg_smallest
#include "support_arg_extremum.h"
#undef arg_extremum

arm_cmsis_nn_status helia_nn_arg_extremum_f16(
    const float16_t *input_data, const cmsis_nn_dims *input_dims, const int32_t axis, const bool largest, int32_t *output_data)
{
    return largest ? arg_extremum(input_data, input_dims, axis, output_data)
                   : arg_smallest(input_data, input_dims, axis, output_data);
}

#endif /* HELIA_NN_FLOAT16 */
