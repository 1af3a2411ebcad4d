/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layers with int4 weights that are scaled by blocks, for the element type of the support_f32.h or support_f16.h
 * before it; computed in single precision.
 */
#ifndef HELIA_NN_SUPPORT_BLOCKWISE_FLT_H
#define HELIA_NN_SUPPORT_BLOCKWISE_FLT_H

/* The numbers of a byte, the low half first, which is the even one. */
static inline float32_t helia_nn_low_half(int8_t byte)
{
    return (float32_t)((int8_t)(uint8_t)((uint32_t)(uint8_t)byte << 4) >> 4);
}

static inline float32_t helia_nn_high_half(int8_t byte)
{
    return (float32_t)(byte >> 4);
}

/* The product of one row with the weights of one output: `blocks` blocks of `size` numbers, a multiple of eight. */
static inline float32_t helia_nn_dot_blocks(
    const helia_nn_real *row, const int8_t *weights, const float32_t *scales, int32_t blocks, int32_t size)
{
#if defined(HELIA_NN_MVE_FLOAT) && HELIA_NN_REALS == 4
    float32x4_t total = vdupq_n_f32(0.0f);
    for (; blocks > 0; blocks--)
    {
        float32x4_t even = vdupq_n_f32(0.0f), odd = even;
        for (int32_t i = size / 8; i > 0; i--)
        {
            const int32x4_t bytes = vldrbq_s32(weights);
            const float32x4x2_t values = vld2q_f32(row);
            /* Shifted to the top, the low half is a fraction with 28 bits. */
            even = vfmaq_f32(even, values.val[0], vcvtq_n_f32_s32(vshlq_n_s32(bytes, 28), 28));
            odd = vfmaq_f32(odd, values.val[1], vcvtq_f32_s32(vshrq_n_s32(bytes, 4)));
            weights += 4;
            row += 8;
        }
        total = vfmaq_n_f32(total, vaddq_f32(even, odd), *scales++);
    }
    return (vgetq_lane_f32(total, 0) + vgetq_lane_f32(total, 1)) + (vgetq_lane_f32(total, 2) + vgetq_lane_f32(total, 3));
#else
    float32_t total = 0.0f;
    for (; blocks > 0; blocks--)
    {
        float32_t sum = 0.0f;
        for (int32_t i = 0; i < size; i += 2, weights++)
        {
            sum += (float32_t)row[i] * helia_nn_low_half(*weights) + (float32_t)row[i + 1] * helia_nn_high_half(*weights);
        }
        total += *scales++ * sum;
        row += size;
    }
    return total;
#endif
}

static inline bool helia_nn_blockwise_rule(const helia_nn_blockwise_params *params)
{
    return params->block > 0 && params->block % 8 == 0 && params->depth % params->block == 0;
}

static inline void helia_nn_blockwise(const helia_nn_blockwise_params *params,
                                      const helia_nn_activation *activation,
                                      const helia_nn_real *input,
                                      const int8_t *weights,
                                      const float32_t *scales,
                                      const helia_nn_real *bias,
                                      helia_nn_real *output)
{
    const int32_t depth = params->depth, blocks = depth / params->block;
    for (int32_t row = 0; row < params->rows; row++)
    {
        for (int32_t c = 0; c < params->channels; c++)
        {
            const float32_t start = bias != NULL ? (float32_t)bias[c] : 0.0f;
            const float32_t sum =
                start + helia_nn_dot_blocks(input, weights + c * (depth / 2), scales + c * blocks, blocks, params->block);
            *output++ = (helia_nn_real)helia_nn_limit(sum, (float32_t)activation->min, (float32_t)activation->max);
        }
        input += depth;
    }
}

#endif /* HELIA_NN_SUPPORT_BLOCKWISE_FLT_H */
