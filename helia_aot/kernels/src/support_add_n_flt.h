/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sums of several inputs, for the element type of the support_f32.h or support_f16.h before it; added in single precision.
 */

static arm_cmsis_nn_status add_n(const void *const *inputs, const int32_t count, helia_nn_real *output, const int32_t size)
{
    if (count < 1 || size < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < size; i++)
    {
        float32_t sum = 0.0f;
        for (int32_t k = 0; k < count; k++)
        {
            sum += (float32_t)((const helia_nn_real *)inputs[k])[i];
        }
        output[i] = (helia_nn_real)sum;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
