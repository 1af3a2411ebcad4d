/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The logistic function between samples, as TensorFlow Lite computes it for int16. Sample i is 65536 / (1 + exp(-i / 24)), rounded
 * so that the lines between the samples err least; the numbers are those of its definition, since outputs follow from them.
 */
#ifndef HELIA_NN_SUPPORT_SIGMOID_S16_H
#define HELIA_NN_SUPPORT_SIGMOID_S16_H

#include "internal.h"

#define HELIA_NN_SIGMOID_SAMPLES 256

static const uint16_t helia_nn_sigmoid_samples[HELIA_NN_SIGMOID_SAMPLES] = {
    32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794, 41432, 42064, 42688, 43304,
    43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443, 48964, 49475, 49975, 50464, 50942, 51409, 51865, 52311,
    52745, 53169, 53581, 53983, 54374, 54755, 55125, 55485, 55834, 56174, 56503, 56823, 57133, 57433, 57724, 58007, 58280,
    58544, 58800, 59048, 59288, 59519, 59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110, 61279, 61441, 61599, 61750,
    61896, 62036, 62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990, 63090, 63186, 63279, 63368, 63454, 63536, 63615,
    63691, 63765, 63835, 63903, 63968, 64030, 64090, 64148, 64204, 64257, 64308, 64357, 64405, 64450, 64494, 64536, 64576,
    64614, 64652, 64687, 64721, 64754, 64786, 64816, 64845, 64873, 64900, 64926, 64950, 64974, 64997, 65019, 65039, 65060,
    65079, 65097, 65115, 65132, 65149, 65164, 65179, 65194, 65208, 65221, 65234, 65246, 65258, 65269, 65280, 65291, 65301,
    65310, 65319, 65328, 65337, 65345, 65352, 65360, 65367, 65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420,
    65425, 65429, 65433, 65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474, 65476, 65479,
    65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498, 65500, 65501, 65503, 65504, 65505, 65507, 65508,
    65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516, 65517, 65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522,
    65523, 65523, 65524, 65524, 65525, 65525, 65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529,
    65529, 65530, 65530, 65530, 65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532, 65532, 65532, 65532, 65533,
    65533, 65533, 65533, 65533, 65533, 65533, 65533, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534,
    65535};

/*
 * Gives the logistic function of `magnitude / 2^fraction_bits / 24` in Q16 with `fraction_bits` more bits, for a magnitude whose
 * sample is not the last one.
 */
static inline uint32_t helia_nn_sigmoid_between(uint32_t magnitude, uint32_t fraction_bits)
{
    const uint32_t sample = magnitude >> fraction_bits;
    const uint32_t fraction = magnitude & ((UINT32_C(1) << fraction_bits) - 1);
    const uint32_t low = helia_nn_sigmoid_samples[sample];
    return (low << fraction_bits) + fraction * (helia_nn_sigmoid_samples[sample + 1] - low);
}

/* Brings an input to the scale of the samples. A multiplier of 0 stands for the power of two 2^left_shift. */
static inline int32_t helia_nn_sigmoid_scaled(int32_t value, int32_t multiplier, int32_t left_shift)
{
    if (multiplier == 0)
    {
        return value * (3 << left_shift);
    }
    const int32_t half = left_shift > 0 ? 1 << (left_shift - 1) : 0;
    return (value * multiplier + half) >> left_shift;
}

#if defined(HELIA_NN_MVE)

/* Four lanes of helia_nn_sigmoid_scaled(), widened from int16. */
static inline int32x4_t helia_nn_sigmoid_scaled_s32x4(int32x4_t value, int32_t multiplier, int32_t left_shift)
{
    if (multiplier == 0)
    {
        return vmulq_n_s32(value, 3 << left_shift);
    }
    const int32_t half = left_shift > 0 ? 1 << (left_shift - 1) : 0;
    return vshlq_r_s32(vaddq_n_s32(vmulq_n_s32(value, multiplier), half), -left_shift);
}

/* Four lanes of helia_nn_sigmoid_between(); `highest` where the sample is the last one or beyond. */
static inline int32x4_t helia_nn_sigmoid_between_s32x4(int32x4_t value, int32_t fraction_bits, int32_t highest)
{
    const uint32x4_t magnitude = vreinterpretq_u32_s32(vabsq_s32(value));
    const uint32x4_t sample = vshlq_r_u32(magnitude, -fraction_bits);
    const uint32x4_t inside = vminq_u32(sample, vdupq_n_u32(HELIA_NN_SIGMOID_SAMPLES - 2));
    const uint32x4_t fraction = vandq_u32(magnitude, vdupq_n_u32((UINT32_C(1) << fraction_bits) - 1));
    const uint32x4_t low = vldrhq_gather_shifted_offset_u32(helia_nn_sigmoid_samples, inside);
    const uint32x4_t high = vldrhq_gather_shifted_offset_u32(helia_nn_sigmoid_samples + 1, inside);
    const uint32x4_t between = vaddq_u32(vshlq_r_u32(low, fraction_bits), vmulq_u32(fraction, vsubq_u32(high, low)));
    const mve_pred16_t beyond = vcmpcsq_n_u32(sample, HELIA_NN_SIGMOID_SAMPLES - 1);
    return vpselq_s32(vdupq_n_s32(highest), vreinterpretq_s32_u32(between), beyond);
}

#endif /* HELIA_NN_MVE */

#endif /* HELIA_NN_SUPPORT_SIGMOID_S16_H */
