/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Windows of the poolings, for the element type of the support_f32.h or support_f16.h before it.
 */
#ifndef HELIA_NN_SUPPORT_POOL_FLT_H
#define HELIA_NN_SUPPORT_POOL_FLT_H

/* The inputs of one output pixel: `h` rows of `w` pixels, padding left out. */
typedef struct
{
    const helia_nn_real *input; /* First pixel of the first row. */
    int32_t h, w;               /* At least 1. */
    int32_t row;                /* Elements from one row to the next. */
} helia_nn_window;

/* Tells whether the windows along one axis all hold at least one input. */
static inline bool helia_nn_window_rule(int32_t input, int32_t filter, int32_t output, int32_t stride, int32_t padding)
{
    return stride > 0 && padding < filter && (output - 1) * stride - padding < input;
}

static inline bool helia_nn_windows_rule(const helia_nn_pool_params *params,
                                         const cmsis_nn_dims *input,
                                         const cmsis_nn_dims *filter,
                                         const cmsis_nn_dims *output)
{
    return helia_nn_positive(input) && helia_nn_positive(output) && input->n == output->n && input->c == output->c &&
           helia_nn_window_rule(input->h, filter->h, output->h, params->stride.h, params->padding.h) &&
           helia_nn_window_rule(input->w, filter->w, output->w, params->stride.w, params->padding.w);
}

static inline helia_nn_window helia_nn_window_at(const helia_nn_pool_params *params,
                                                 const cmsis_nn_dims *input_dims,
                                                 const helia_nn_real *input,
                                                 const cmsis_nn_dims *filter_dims,
                                                 int32_t out_y,
                                                 int32_t out_x)
{
    const int32_t top = out_y * params->stride.h - params->padding.h;
    const int32_t left = out_x * params->stride.w - params->padding.w;
    const int32_t y = helia_nn_max(top, 0);
    const int32_t x = helia_nn_max(left, 0);
    return (helia_nn_window){
        .input = input + (y * input_dims->w + x) * input_dims->c,
        .h = helia_nn_min(top + filter_dims->h, input_dims->h) - y,
        .w = helia_nn_min(left + filter_dims->w, input_dims->w) - x,
        .row = input_dims->w * input_dims->c,
    };
}

/* Reduces the inputs of one window for all channels. */
typedef void (*helia_nn_window_reducer)(const helia_nn_window *window,
                                        int32_t channels,
                                        helia_nn_activation activation,
                                        helia_nn_real *output);

/* Reduces every window of every batch; ARM_CMSIS_NN_ARG_ERROR where one would hold no input. */
static inline arm_cmsis_nn_status helia_nn_pool(const helia_nn_pool_params *params,
                                                const cmsis_nn_dims *input_dims,
                                                const helia_nn_real *input,
                                                const cmsis_nn_dims *filter_dims,
                                                const cmsis_nn_dims *output_dims,
                                                helia_nn_real *output,
                                                helia_nn_window_reducer reduce)
{
    if (!helia_nn_windows_rule(params, input_dims, filter_dims, output_dims))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t batch = 0; batch < output_dims->n; batch++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                const helia_nn_window window = helia_nn_window_at(params, input_dims, input, filter_dims, y, x);
                reduce(&window, output_dims->c, params->activation, output);
                output += output_dims->c;
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_SUPPORT_POOL_FLT_H */
