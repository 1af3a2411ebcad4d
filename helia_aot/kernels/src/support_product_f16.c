/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f16.h"

#if defined(HELIA_NN_FLOAT16)

#if defined(HELIA_NN_MVE_FLOAT)

/*
 * One product of each of four rows: the weights are in `v`, the elements in a, b, c, d. The loads fill the second cycle of the
 * multiplications; NEXT_* fetch what the next product needs, its weights to another register.
 */
#define HELIA_NN_ASM_PRODUCT(v, NEXT_W, NEXT_A, NEXT_B, NEXT_C, NEXT_D)                                                       \
    "vfma.f16 %q[s0], %q[" v "], %[a]\n\t" NEXT_W "vfma.f16 %q[s1], %q[" v "], %[b]\n\t" NEXT_A                               \
    "vfma.f16 %q[s2], %q[" v "], %[c]\n\t" NEXT_B NEXT_C "vfma.f16 %q[s3], %q[" v "], %[d]\n\t" NEXT_D

#define HELIA_NN_ASM_WEIGHTS(v) "vldrh.16 %q[" v "], [%[w]], #16\n\t"
#define HELIA_NN_ASM_A "ldrh %[a], [%[x0]], #2\n\t"
#define HELIA_NN_ASM_B "ldrh %[b], [%[x1]], #2\n\t"
#define HELIA_NN_ASM_C "ldrh %[c], [%[x2]], #2\n\t"
#define HELIA_NN_ASM_D "ldrh %[d], [%[x3]], #2\n\t"
#define HELIA_NN_ASM_PRODUCT_AND_NEXT(v, next)                                                                                \
    HELIA_NN_ASM_PRODUCT(v, HELIA_NN_ASM_WEIGHTS(next), HELIA_NN_ASM_A, HELIA_NN_ASM_B, HELIA_NN_ASM_C, HELIA_NN_ASM_D)

/* Packed weights: channels are the lanes, four rows a pass, one half-precision chain for each output. */
static void packed_rows(
    const helia_nn_product *product, const float16_t *const rows[HELIA_NN_ROWS], int32_t count, float16_t *out)
{
    const float16x8_t low = vdupq_n_f16(product->activation.min);
    const float16x8_t high = vdupq_n_f16(product->activation.max);
    const int32_t channels = product->channels;
    const float16_t *w = product->weights;
    /* Rows from `count` on give the outputs of the last row once more. */
    float16_t *const out1 = out + helia_nn_min(1, count - 1) * channels;
    float16_t *const out2 = out + helia_nn_min(2, count - 1) * channels;
    float16_t *const out3 = out + helia_nn_min(3, count - 1) * channels;
    for (int32_t channel = 0; channel < channels; channel += HELIA_NN_REALS)
    {
        const float16_t *x0 = rows[0], *x1 = rows[1], *x2 = rows[2], *x3 = rows[3];
        float16x8_t s0 = vdupq_n_f16(0);
        if (product->bias != NULL)
        {
            s0 = channels - channel < HELIA_NN_REALS
                     ? vldrhq_z_f16(product->bias + channel, helia_nn_first(channels - channel))
                     : vldrhq_f16(product->bias + channel);
        }
        float16x8_t s1 = s0, s2 = s0, s3 = s0, v, u;
        int32_t a, b, c, d;
        /* Two products a pass; the last one or two come after the loop. */
        __asm volatile(HELIA_NN_ASM_WEIGHTS("v") HELIA_NN_ASM_A HELIA_NN_ASM_B HELIA_NN_ASM_C HELIA_NN_ASM_D
                       "wls lr, %[pairs], 2f\n"
                       "1:\n\t" HELIA_NN_ASM_PRODUCT_AND_NEXT("v", "u") HELIA_NN_ASM_PRODUCT_AND_NEXT("u", "v") "le lr, 1b\n"
                       "2:\n\t"
                       "cbnz %[odd], 3f\n\t" HELIA_NN_ASM_PRODUCT_AND_NEXT("v", "u") HELIA_NN_ASM_PRODUCT("u", "", "", "", "", "")
                       "b 4f\n"
                       "3:\n\t" HELIA_NN_ASM_PRODUCT("v", "", "", "", "", "")
                       "4:\n\t"
                       : [s0] "+w"(s0), [s1] "+w"(s1), [s2] "+w"(s2), [s3] "+w"(s3), [v] "=&w"(v), [u] "=&w"(u),
                         [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [w] "+r"(w), [a] "=&r"(a),
                         [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
                       : [pairs] "r"((uint32_t)(product->depth - 1) / 2), [odd] "l"((uint32_t)product->depth % 2)
                       : "lr", "memory");
        s0 = helia_nn_limit_vector(s0, low, high);
        s1 = helia_nn_limit_vector(s1, low, high);
        s2 = helia_nn_limit_vector(s2, low, high);
        s3 = helia_nn_limit_vector(s3, low, high);
        if (channels - channel >= HELIA_NN_REALS)
        {
            vstrhq_f16(out + channel, s0);
            vstrhq_f16(out1 + channel, s1);
            vstrhq_f16(out2 + channel, s2);
            vstrhq_f16(out3 + channel, s3);
        }
        else
        {
            const mve_pred16_t valid = helia_nn_first(channels - channel);
            vstrhq_p_f16(out + channel, s0, valid);
            vstrhq_p_f16(out1 + channel, s1, valid);
            vstrhq_p_f16(out2 + channel, s2, valid);
            vstrhq_p_f16(out3 + channel, s3, valid);
        }
    }
}

/* Eight products of two channels, added to half-precision sums h0 and h1 by `op`. */
#define HELIA_NN_ASM_EIGHT(op)                                                                                                \
    "vldrh.16 %q[t], [%[x]], #16\n\t"                                                                                         \
    "vldrh.16 %q[v], [%[w0]], #16\n\t" op " %q[h0], %q[t], %q[v]\n\t"                                                         \
    "vldrh.16 %q[v], [%[w1]], #16\n\t" op " %q[h1], %q[t], %q[v]\n\t"

/* Adds the half-precision sums to the single-precision ones. */
#define HELIA_NN_ASM_FOLD                                                                                                     \
    HELIA_NN_ASM_WIDEN_EVEN("%q[t]", "%q[h0]")                                                                                \
    HELIA_NN_ASM_WIDEN_EVEN("%q[v]", "%q[h1]")                                                                                \
    "vadd.f32 %q[s0], %q[s0], %q[t]\n\t"                                                                                      \
    "vadd.f32 %q[s1], %q[s1], %q[v]\n\t"                                                                                      \
    HELIA_NN_ASM_WIDEN_ODD("%q[t]", "%q[h0]")                                                                                 \
    HELIA_NN_ASM_WIDEN_ODD("%q[v]", "%q[h1]")                                                                                 \
    "vadd.f32 %q[s0], %q[s0], %q[t]\n\t"                                                                                      \
    "vadd.f32 %q[s1], %q[s1], %q[v]\n\t"

/* Stores the single-precision partial sums of two channels. */
static inline void two_channels(const float16_t *x, const float16_t *w0, const float16_t *w1, int32_t depth, float32_t *lanes)
{
    float32x4_t s0 = vdupq_n_f32(0.0f);
    float32x4_t s1 = s0;
    float16x8_t h0, h1, t, v;
    __asm volatile(HELIA_NN_ASM_NAMES
                   "wls lr, %[blocks], 2f\n"
                   "1:\n\t" HELIA_NN_ASM_EIGHT("vmul.f16") HELIA_NN_ASM_EIGHT("vfma.f16") HELIA_NN_ASM_EIGHT("vfma.f16")
                       HELIA_NN_ASM_EIGHT("vfma.f16") HELIA_NN_ASM_FOLD "le lr, 1b\n"
                   "2:\n\t"
                   "cbz %[rest], 4f\n\t"
                   "vmov.i32 %q[h0], #0\n\t"
                   "vmov.i32 %q[h1], #0\n\t"
                   "dlstp.16 lr, %[rest]\n"
                   "3:\n\t" HELIA_NN_ASM_EIGHT("vfma.f16") "letp lr, 3b\n\t" HELIA_NN_ASM_FOLD "4:\n\t"
                   : [s0] "+w"(s0), [s1] "+w"(s1), [h0] "=&w"(h0), [h1] "=&w"(h1), [t] "=&w"(t), [v] "=&w"(v), [x] "+r"(x),
                     [w0] "+r"(w0), [w1] "+r"(w1)
                   : [blocks] "r"((uint32_t)depth / 32), [rest] "l"((uint32_t)depth % 32)
                   : HELIA_NN_PREDICATE "lr", "memory");
    vst1q_f32(lanes, s0);
    vst1q_f32(lanes + 4, s1);
}

/* Standard layout: products are the lanes, two channels a pass, four channels at a time for all rows. */
static void standard_rows(
    const helia_nn_product *product, const float16_t *const rows[HELIA_NN_ROWS], int32_t count, float16_t *out)
{
    const float32x4_t low = vdupq_n_f32(product->activation.min);
    const float32x4_t high = vdupq_n_f32(product->activation.max);
    const int32_t depth = product->depth;
    const int32_t channels = product->channels;
    for (int32_t channel = 0; channel < channels; channel += 4)
    {
        const int32_t last = channels - 1 - channel;
        const mve_pred16_t valid = vctp32q((uint32_t)(last + 1));
        const float16_t *w0 = product->weights + channel * depth;
        const float16_t *w1 = w0 + helia_nn_min(last, 1) * depth;
        const float16_t *w2 = w0 + helia_nn_min(last, 2) * depth;
        const float16_t *w3 = w0 + helia_nn_min(last, 3) * depth;
        float32x4_t bias = vdupq_n_f32(0.0f);
        if (product->bias != NULL)
        {
            bias = helia_nn_load_wide(product->bias + channel, valid);
        }
        for (int32_t row = 0; row < count; row++)
        {
            float32_t lanes[16];
            two_channels(rows[row], w0, w1, depth, lanes);
            two_channels(rows[row], w2, w3, depth, lanes + 8);
            /* Lane j of part i is lane i of sum j. */
            const float32x4x4_t parts = vld4q_f32(lanes);
            float32x4_t value = vaddq_f32(vaddq_f32(parts.val[0], parts.val[1]), vaddq_f32(parts.val[2], parts.val[3]));
            value = vaddq_f32(value, bias);
            value = vminnmq_f32(vmaxnmq_f32(value, low), high);
            helia_nn_store_narrow(out + row * channels + channel, value, valid);
        }
    }
}

void helia_nn_product_rows_f16(
    const helia_nn_product *product, const helia_nn_real *const rows[HELIA_NN_ROWS], int32_t count, helia_nn_real *out)
{
    if (product->packed)
    {
        packed_rows(product, rows, count, out);
    }
    else
    {
        standard_rows(product, rows, count, out);
    }
}

#else

/* Blockwise: eight half-precision partial sums for 32 products, then four in single precision. */
static float32_t blockwise_sum(const float16_t *x, const float16_t *w, int32_t depth)
{
    float32_t sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int32_t start = 0; start < depth; start += 32)
    {
        float16_t halves[8] = {0};
        const int32_t end = helia_nn_min(start + 32, depth);
        for (int32_t k = start; k < end; k++)
        {
            halves[k % 8] = helia_nn_chain(halves[k % 8], x[k], w[k]);
        }
        for (int32_t i = 0; i < 4; i++)
        {
            sums[i] = sums[i] + (float32_t)halves[2 * i];
            sums[i] = sums[i] + (float32_t)halves[2 * i + 1];
        }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static float16_t chain_sum(const helia_nn_product *product, const float16_t *x, int32_t channel)
{
    const float16_t *w = helia_nn_weights(product, channel);
    float16_t sum = (float16_t)helia_nn_bias(product, channel);
    for (int32_t k = 0; k < product->depth; k++)
    {
        sum = helia_nn_chain(sum, x[k], w[k * HELIA_NN_REALS]);
    }
    return sum;
}

void helia_nn_product_rows_f16(
    const helia_nn_product *product, const helia_nn_real *const rows[HELIA_NN_ROWS], int32_t count, helia_nn_real *out)
{
    for (int32_t row = 0; row < count; row++)
    {
        for (int32_t channel = 0; channel < product->channels; channel++)
        {
            const float32_t sum = product->packed ? (float32_t)chain_sum(product, rows[row], channel)
                                                  : blockwise_sum(rows[row], helia_nn_weights(product, channel),
                                                                  product->depth) +
                                                        helia_nn_bias(product, channel);
            *out++ = (float16_t)helia_nn_limit(sum, product->activation.min, product->activation.max);
        }
    }
}

#endif /* HELIA_NN_MVE_FLOAT */

#endif /* HELIA_NN_FLOAT16 */
