/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_add_s8.h"

#if defined(HELIA_NN_DSP)
#include "support_add_s8_dsp.h"
#endif

#if defined(HELIA_NN_MVE)

/* What the assembly below reads, in this order. */
typedef struct
{
    const int8_t *input1;     /* 0 */
    const int8_t *input2;     /* 4 */
    int8_t *output;           /* 8 */
    int32_t offset1;          /* 12: shifted left by left_shift. */
    int32_t offset2;          /* 16: shifted left by left_shift. */
    int32_t multiplier1;      /* 20 */
    int32_t multiplier2;      /* 24 */
    int32_t rounds2;          /* 28: 1 where shift2 is not 0. */
    int32_t shift2;           /* 32 */
    int32_t multiplier;       /* 36 */
    int32_t rounds;           /* 40: 1 */
    int32_t shift;            /* 44 */
    int32_t offset;           /* 48 */
    int32_t count;            /* 52: groups of 8 numbers, at least 1. */
    int32_t power;            /* 56: 2^left_shift */
    int32_t min, max;         /* 60, 64 */
} group_arguments;

_Static_assert(offsetof(group_arguments, max) == 64, "read by assembly");

/*
 * The first part of 8 sums (START) and, between it, the last part of the 8 sums before (END). The order lets consecutive
 * instructions use different pipelines of the core.
 */
#define GROUP_START(START, END)        \
    START("vldrb.s32 q0, [r0], #4\n")  \
    START("vmlas.s32 q0, q5, r3\n")    \
    START("vldrb.s32 q1, [r1], #4\n")  \
    START("vmlas.s32 q1, q5, r4\n")    \
    END("vadd.i32 q4, q3, r12\n")      \
    START("vqrdmulh.s32 q1, q1, r6\n") \
    START("vldrb.s32 q3, [r1], #4\n")  \
    START("vqdmlah.s32 q1, q1, r7\n")  \
    END("vmax.s32 q4, q4, q6\n")       \
    START("vqrdmulh.s32 q0, q0, r5\n") \
    START("vrshl.s32 q1, r8\n")        \
    START("vmlas.s32 q3, q5, r4\n")    \
    START("vadd.i32 q0, q0, q1\n")     \
    START("vqrdmulh.s32 q0, q0, r9\n") \
    START("vldrb.s32 q1, [r0], #4\n")  \
    START("vqdmlah.s32 q0, q0, r10\n") \
    END("vmin.s32 q4, q4, q7\n")       \
    START("vqrdmulh.s32 q3, q3, r6\n") \
    START("vrshl.s32 q0, r11\n")       \
    START("vqdmlah.s32 q3, q3, r7\n")  \
    START("vadd.i32 q0, q0, r12\n")    \
    START("vmlas.s32 q1, q5, r3\n")    \
    START("vmax.s32 q0, q0, q6\n")     \
    START("vqrdmulh.s32 q1, q1, r5\n") \
    START("vrshl.s32 q3, r8\n")        \
    END("vstrb.32 q2, [r2], #4\n")     \
    START("vadd.i32 q3, q1, q3\n")     \
    START("vqrdmulh.s32 q3, q3, r9\n") \
    START("vmin.s32 q2, q0, q7\n")     \
    START("vqdmlah.s32 q3, q3, r10\n") \
    END("vstrb.32 q4, [r2], #4\n")

/* The rest of 8 sums. */
#define GROUP_REST        \
    "vrshl.s32 q3, r11\n"

#define ASSEMBLE(text) text
#define LEAVE_OUT(text)

/* Adds groups of 8 numbers where input 1 is not shifted (the one of the larger scale never is) and the sum is, in four cycles a
 * number; the four chains of a group fill the gaps of each other. */
static void add_groups(const group_arguments *arguments)
{
    register const group_arguments *pointer __asm("r0") = arguments;
    __asm volatile("push {r4-r11}\n"
                   "ldrd r1, r2, [r0, #56]\n"
                   "vdup.32 q5, r1\n"
                   "ldr r1, [r0, #64]\n"
                   "vdup.32 q6, r2\n"
                   "ldr lr, [r0, #52]\n"
                   "vdup.32 q7, r1\n"
                   "ldmia r0, {r0-r12}\n"
                   "dls lr, lr\n"
                   GROUP_START(ASSEMBLE, LEAVE_OUT)
                   "b 2f\n"
                   "1:\n"
                   GROUP_START(ASSEMBLE, ASSEMBLE)
                   "2:\n"
                   GROUP_REST
                   "le lr, 1b\n"
                   GROUP_START(LEAVE_OUT, ASSEMBLE)
                   "pop {r4-r11}\n"
                   : "+r"(pointer)
                   :
                   : "r1", "r2", "r3", "r12", "lr", "cc", "memory", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7");
}

/* Adds as many groups of 8 numbers as there are; gives how many numbers that was. */
static int32_t
add_whole_groups(const helia_nn_add_params *params, const int8_t *input1, const int8_t *input2, int8_t *output, int32_t count)
{
    const helia_nn_scale *scale1 = &params->input1;
    const helia_nn_scale *scale2 = &params->input2;
    if (scale1->shift != 0)
    {
        const helia_nn_scale *scale = scale1;
        scale1 = scale2;
        scale2 = scale;
        const int8_t *input = input1;
        input1 = input2;
        input2 = input;
    }
    if (scale1->shift != 0 || params->output.shift == 0 || count < 8)
    {
        return 0;
    }
    const group_arguments arguments = {
        .input1 = input1,
        .input2 = input2,
        .output = output,
        .offset1 = (int32_t)((uint32_t)scale1->offset << params->left_shift),
        .offset2 = (int32_t)((uint32_t)scale2->offset << params->left_shift),
        .multiplier1 = scale1->multiplier,
        .multiplier2 = scale2->multiplier,
        .rounds2 = scale2->shift < 0 ? 1 : 0,
        .shift2 = scale2->shift,
        .multiplier = params->output.multiplier,
        .rounds = 1,
        .shift = params->output.shift,
        .offset = params->output.offset,
        .count = count / 8,
        .power = 1 << params->left_shift,
        .min = params->activation_min,
        .max = params->activation_max,
    };
    add_groups(&arguments);
    return count & ~7;
}

#endif

void helia_nn_add_vectors(
    const helia_nn_add_params *params, const int8_t *input1, const int8_t *input2, int8_t *output, int32_t count)
{
#if defined(HELIA_NN_MVE)
    if (helia_nn_add_shifts_right(params))
    {
        const helia_nn_add_params p = *params;
        const int32x4_t power = vdupq_n_s32(1 << p.left_shift);
        for (int32_t i = add_whole_groups(params, input1, input2, output, count); i < count; i += 4)
        {
            const mve_pred16_t valid = vctp32q((uint32_t)(count - i));
            const int32x4_t value1 = helia_nn_add_rescale_s32x4(&p, &p.input1, vldrbq_z_s32(input1 + i, valid), power);
            const int32x4_t value2 = helia_nn_add_rescale_s32x4(&p, &p.input2, vldrbq_z_s32(input2 + i, valid), power);
            vstrbq_p_s32(output + i, helia_nn_add_finish_s32x4(&p, vaddq_s32(value1, value2)), valid);
        }
        return;
    }
#elif defined(HELIA_NN_DSP)
    if (add_is_quick(params))
    {
        add_blocks(params, input1, input2, output, count);
        return;
    }
#endif
    for (int32_t i = 0; i < count; i++)
    {
        output[i] = helia_nn_add_finish(params,
                                        helia_nn_add_rescale(params, &params->input1, input1[i]) +
                                            helia_nn_add_rescale(params, &params->input2, input2[i]));
    }
}
