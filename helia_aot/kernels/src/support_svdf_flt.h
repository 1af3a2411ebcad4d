/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * SVDF for the element type of the support_product_*.h before it.
 */
#ifndef HELIA_NN_SUPPORT_SVDF_FLT_H
#define HELIA_NN_SUPPORT_SVDF_FLT_H

/* `features` has the weights of the features; `seen` has room for one number of each filter. */
static inline void helia_nn_svdf(const helia_nn_svdf_params_flt *params,
                                 const helia_nn_product *features,
                                 const helia_nn_activation *activation,
                                 const helia_nn_real *input,
                                 const helia_nn_real *weights_time,
                                 const helia_nn_real *bias,
                                 helia_nn_real *state,
                                 helia_nn_real *output,
                                 helia_nn_real *seen)
{
    const int32_t memory = params->memory, filters = params->units * params->rank;
    /* All memories move back by one entry; the last entry of each is overwritten below. */
    memmove(state, state + 1, (size_t)(params->batches * filters * memory - 1) * sizeof *state);
    for (int32_t n = 0; n < params->batches; n++)
    {
        const helia_nn_real *const rows[HELIA_NN_ROWS] = {input, input, input, input};
        const helia_nn_real *weights = weights_time;
        helia_nn_product_rows(features, rows, 1, seen);
        for (int32_t unit = 0; unit < params->units; unit++)
        {
            float32_t sum = bias != NULL ? (float32_t)bias[unit] : 0.0f;
            for (int32_t r = 0; r < params->rank; r++)
            {
                state[memory - 1] = seen[unit * params->rank + r];
                for (int32_t i = 0; i < memory; i++)
                {
                    sum += (float32_t)*state++ * (float32_t)*weights++;
                }
            }
            *output++ = (helia_nn_real)helia_nn_limit(sum, (float32_t)activation->min, (float32_t)activation->max);
        }
        input += params->inputs;
    }
}

#endif /* HELIA_NN_SUPPORT_SVDF_FLT_H */
