/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

arm_cmsis_nn_status arm_convolve_weight_sum(int32_t *vector_sum_buf,
                                            const int8_t *rhs,
                                            const cmsis_nn_dims *input_dims,
                                            const cmsis_nn_dims *filter_dims,
                                            const cmsis_nn_dims *output_dims,
                                            const int32_t lhs_offset,
                                            const int32_t *bias_data)
{
    (void)input_dims;
    const int32_t depth = filter_dims->h * filter_dims->w * filter_dims->c;
    return arm_vector_sum_s8(vector_sum_buf, depth, output_dims->c, rhs, lhs_offset, 0, bias_data);
}
