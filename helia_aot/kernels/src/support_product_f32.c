/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_product_f32.h"

#if defined(HELIA_NN_MVE_FLOAT)

/*
 * Two products of each of four rows: the weights of both are in v and u, the elements of rows 0 and 1 in a, b and c, d. The loads
 * fill the second cycle of the multiplications; NEXT_* fetch what the next two products need.
 */
#define HELIA_NN_ASM_TWO_PRODUCTS(NEXT_V, NEXT_AB, NEXT_CD, NEXT_U)                                                           \
    "vfma.f32 %q[s0], %q[v], %[a]\n\t"                                                                                        \
    "vfma.f32 %q[s1], %q[v], %[c]\n\t"                                                                                        \
    "vfma.f32 %q[s0], %q[u], %[b]\n\t"                                                                                        \
    "ldrd %[a], %[b], [%[x2]], #8\n\t"                                                                                        \
    "vfma.f32 %q[s1], %q[u], %[d]\n\t"                                                                                        \
    "ldrd %[c], %[d], [%[x3]], #8\n\t"                                                                                        \
    "vfma.f32 %q[s2], %q[v], %[a]\n\t"                                                                                        \
    "vfma.f32 %q[s3], %q[v], %[c]\n\t" NEXT_V "vfma.f32 %q[s2], %q[u], %[b]\n\t" NEXT_AB                                      \
    "vfma.f32 %q[s3], %q[u], %[d]\n\t" NEXT_CD NEXT_U

#define HELIA_NN_ASM_WEIGHTS(v) "vldrw.32 %q[" v "], [%[w]], #16\n\t"
#define HELIA_NN_ASM_AB "ldrd %[a], %[b], [%[x0]], #8\n\t"
#define HELIA_NN_ASM_CD "ldrd %[c], %[d], [%[x1]], #8\n\t"

/* Packed weights: channels are the lanes, four rows a pass. */
static void packed_rows(
    const helia_nn_product *product, const float32_t *const rows[HELIA_NN_ROWS], int32_t count, float32_t *out)
{
    const float32x4_t low = vdupq_n_f32(product->activation.min);
    const float32x4_t high = vdupq_n_f32(product->activation.max);
    const int32_t channels = product->channels;
    const float32_t *w = product->weights;
    /* Rows from `count` on give the outputs of the last row once more. */
    float32_t *const out1 = out + helia_nn_min(1, count - 1) * channels;
    float32_t *const out2 = out + helia_nn_min(2, count - 1) * channels;
    float32_t *const out3 = out + helia_nn_min(3, count - 1) * channels;
    for (int32_t channel = 0; channel < channels; channel += HELIA_NN_REALS)
    {
        const float32_t *x0 = rows[0], *x1 = rows[1], *x2 = rows[2], *x3 = rows[3];
        float32x4_t s0 = vdupq_n_f32(0.0f);
        if (product->bias != NULL)
        {
            s0 = channels - channel < HELIA_NN_REALS
                     ? vldrwq_z_f32(product->bias + channel, helia_nn_first(channels - channel))
                     : vldrwq_f32(product->bias + channel);
        }
        float32x4_t s1 = s0, s2 = s0, s3 = s0, v, u;
        int32_t a, b, c, d;
        __asm volatile("cbz %[pairs], 3f\n\t" HELIA_NN_ASM_AB HELIA_NN_ASM_CD HELIA_NN_ASM_WEIGHTS("v") HELIA_NN_ASM_WEIGHTS("u")
                       "sub lr, %[pairs], #1\n\t"
                       "wls lr, lr, 2f\n"
                       "1:\n\t" HELIA_NN_ASM_TWO_PRODUCTS(HELIA_NN_ASM_WEIGHTS("v"), HELIA_NN_ASM_AB, HELIA_NN_ASM_CD,
                                                          HELIA_NN_ASM_WEIGHTS("u")) "le lr, 1b\n"
                       "2:\n\t" HELIA_NN_ASM_TWO_PRODUCTS("", "", "", "")
                       "3:\n\t"
                       "cbz %[odd], 4f\n\t" HELIA_NN_ASM_WEIGHTS("v")
                       "ldr %[a], [%[x0]]\n\t"
                       "ldr %[b], [%[x1]]\n\t"
                       "ldr %[c], [%[x2]]\n\t"
                       "ldr %[d], [%[x3]]\n\t"
                       "vfma.f32 %q[s0], %q[v], %[a]\n\t"
                       "vfma.f32 %q[s1], %q[v], %[b]\n\t"
                       "vfma.f32 %q[s2], %q[v], %[c]\n\t"
                       "vfma.f32 %q[s3], %q[v], %[d]\n"
                       "4:\n\t"
                       : [s0] "+w"(s0), [s1] "+w"(s1), [s2] "+w"(s2), [s3] "+w"(s3), [v] "=&w"(v), [u] "=&w"(u),
                         [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [w] "+r"(w), [a] "=&r"(a),
                         [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
                       : [pairs] "l"((uint32_t)product->depth / 2), [odd] "l"((uint32_t)product->depth % 2)
                       : "lr", "memory");
        s0 = helia_nn_limit_vector(s0, low, high);
        s1 = helia_nn_limit_vector(s1, low, high);
        s2 = helia_nn_limit_vector(s2, low, high);
        s3 = helia_nn_limit_vector(s3, low, high);
        if (channels - channel >= HELIA_NN_REALS)
        {
            vstrwq_f32(out + channel, s0);
            vstrwq_f32(out1 + channel, s1);
            vstrwq_f32(out2 + channel, s2);
            vstrwq_f32(out3 + channel, s3);
        }
        else
        {
            const mve_pred16_t valid = helia_nn_first(channels - channel);
            vstrwq_p_f32(out + channel, s0, valid);
            vstrwq_p_f32(out1 + channel, s1, valid);
            vstrwq_p_f32(out2 + channel, s2, valid);
            vstrwq_p_f32(out3 + channel, s3, valid);
        }
    }
}

/* Standard layout: products are the lanes, four channels a pass for all rows. */
static void standard_rows(
    const helia_nn_product *product, const float32_t *const rows[HELIA_NN_ROWS], int32_t count, float32_t *out)
{
    const float32x4_t low = vdupq_n_f32(product->activation.min);
    const float32x4_t high = vdupq_n_f32(product->activation.max);
    const int32_t depth = product->depth;
    const int32_t channels = product->channels;
    for (int32_t channel = 0; channel < channels; channel += 4)
    {
        const int32_t last = channels - 1 - channel;
        const mve_pred16_t valid = vctp32q((uint32_t)(last + 1));
        const float32_t *start0 = product->weights + channel * depth;
        const float32_t *start1 = start0 + helia_nn_min(last, 1) * depth;
        const float32_t *start2 = start0 + helia_nn_min(last, 2) * depth;
        const float32_t *start3 = start0 + helia_nn_min(last, 3) * depth;
        float32x4_t bias = vdupq_n_f32(0.0f);
        if (product->bias != NULL)
        {
            bias = vldrwq_z_f32(product->bias + channel, valid);
        }
        for (int32_t row = 0; row < count; row++)
        {
            const float32_t *x = rows[row], *w0 = start0, *w1 = start1, *w2 = start2, *w3 = start3;
            float32x4_t s0 = vdupq_n_f32(0.0f);
            float32x4_t s1 = s0, s2 = s0, s3 = s0, v, u, t;
            __asm volatile("wlstp.32 lr, %[depth], 2f\n"
                           "1:\n\t"
                           "vldrw.32 %q[t], [%[x]], #16\n\t"
                           "vldrw.32 %q[v], [%[w0]], #16\n\t"
                           "vldrw.32 %q[u], [%[w1]], #16\n\t"
                           "vfma.f32 %q[s0], %q[t], %q[v]\n\t"
                           "vldrw.32 %q[v], [%[w2]], #16\n\t"
                           "vfma.f32 %q[s1], %q[t], %q[u]\n\t"
                           "vldrw.32 %q[u], [%[w3]], #16\n\t"
                           "vfma.f32 %q[s2], %q[t], %q[v]\n\t"
                           "vfma.f32 %q[s3], %q[t], %q[u]\n\t"
                           "letp lr, 1b\n"
                           "2:\n\t"
                           : [s0] "+w"(s0), [s1] "+w"(s1), [s2] "+w"(s2), [s3] "+w"(s3), [v] "=&w"(v), [u] "=&w"(u),
                             [t] "=&w"(t), [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3)
                           : [depth] "r"(depth)
                           : HELIA_NN_PREDICATE "lr", "memory");
            float32_t lanes[16];
            vst1q_f32(lanes, s0);
            vst1q_f32(lanes + 4, s1);
            vst1q_f32(lanes + 8, s2);
            vst1q_f32(lanes + 12, s3);
            /* Lane j of part i is lane i of sum j. */
            const float32x4x4_t parts = vld4q_f32(lanes);
            float32x4_t value = vaddq_f32(vaddq_f32(parts.val[0], parts.val[1]), vaddq_f32(parts.val[2], parts.val[3]));
            value = vaddq_f32(value, bias);
            vstrwq_p_f32(out + row * channels + channel, helia_nn_limit_vector(value, low, high), valid);
        }
    }
}

void helia_nn_product_rows_f32(
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

/* Channels of a block: each element of a row is loaded once for all of them. */
#define BLOCK 4

/* The outputs of `count` rows and BLOCK channels; inlined so that `count` and the distances of the weights become known. */
static inline __attribute__((always_inline)) void block_of_rows(const helia_nn_product *product,
                                                                const helia_nn_real *const rows[HELIA_NN_ROWS],
                                                                int32_t count,
                                                                int32_t channel,
                                                                bool packed,
                                                                helia_nn_real *out)
{
    const float32_t *w = helia_nn_weights(product, channel);
    const int32_t step = packed ? HELIA_NN_REALS : 1, next = packed ? 1 : product->depth;
    float32_t sums[2][BLOCK];
    for (int32_t row = 0; row < count; row++)
    {
        for (int32_t i = 0; i < BLOCK; i++)
        {
            sums[row][i] = helia_nn_bias(product, channel + i);
        }
    }
    for (int32_t k = 0; k < product->depth; k++, w += step)
    {
        const float32_t weights[BLOCK] = {w[0], w[next], w[2 * next], w[3 * next]};
        for (int32_t row = 0; row < count; row++)
        {
            const float32_t x = rows[row][k];
            for (int32_t i = 0; i < BLOCK; i++)
            {
                sums[row][i] += x * weights[i];
            }
        }
    }
    for (int32_t row = 0; row < count; row++)
    {
        for (int32_t i = 0; i < BLOCK; i++)
        {
            out[row * product->channels + i] =
                helia_nn_limit(sums[row][i], product->activation.min, product->activation.max);
        }
    }
}

static void one_row(
    const helia_nn_product *product, const helia_nn_real *const rows[HELIA_NN_ROWS], int32_t channel, helia_nn_real *out)
{
    if (product->packed)
    {
        block_of_rows(product, rows, 1, channel, true, out);
    }
    else
    {
        block_of_rows(product, rows, 1, channel, false, out);
    }
}

static void two_rows(
    const helia_nn_product *product, const helia_nn_real *const rows[HELIA_NN_ROWS], int32_t channel, helia_nn_real *out)
{
    if (product->packed)
    {
        block_of_rows(product, rows, 2, channel, true, out);
    }
    else
    {
        block_of_rows(product, rows, 2, channel, false, out);
    }
}

static float32_t one_output(const helia_nn_product *product, const helia_nn_real *row, int32_t channel)
{
    const float32_t *w = helia_nn_weights(product, channel);
    const int32_t step = helia_nn_weight_step(product);
    float32_t sum = helia_nn_bias(product, channel);
    for (int32_t k = 0; k < product->depth; k++)
    {
        sum += row[k] * w[k * step];
    }
    return helia_nn_limit(sum, product->activation.min, product->activation.max);
}

void helia_nn_product_rows_f32(
    const helia_nn_product *product, const helia_nn_real *const rows[HELIA_NN_ROWS], int32_t count, helia_nn_real *out)
{
    for (int32_t row = 0; row < count; row += 2)
    {
        const bool pair = row + 1 < count;
        int32_t channel = 0;
        for (; channel + BLOCK <= product->channels; channel += BLOCK)
        {
            (pair ? two_rows : one_row)(product, rows + row, channel, out + channel);
        }
        for (; channel < product->channels; channel++)
        {
            out[channel] = one_output(product, rows[row], channel);
            if (pair)
            {
                out[product->channels + channel] = one_output(product, rows[row + 1], channel);
            }
        }
        out += 2 * product->channels;
    }
}

#endif /* HELIA_NN_MVE_FLOAT */
