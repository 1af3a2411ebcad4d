/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Running sums, for the element type of the support_f32.h or support_f16.h before it; added in single precision.
 */

static arm_cmsis_nn_status cumulative_sum(const helia_nn_real *input,
                                          const int32_t outer,
                                          const int32_t extent,
                                          const int32_t inner,
                                          const bool exclusive,
                                          const bool reverse,
                                          helia_nn_real *output)
{
    if (outer < 1 || extent < 1 || inner < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t first = reverse ? (extent - 1) * inner : 0, step = reverse ? -inner : inner;
    for (int32_t i = 0; i < outer * inner; i++)
    {
        int32_t at = i / inner * extent * inner + i % inner + first;
        float32_t sum = 0.0f;
        for (int32_t k = 0; k < extent; k++)
        {
            const float32_t with = sum + (float32_t)input[at];
            output[at] = (helia_nn_real)(exclusive ? sum : with);
            sum = with;
            at += step;
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
