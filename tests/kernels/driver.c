/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Runs kernel test cases from one binary stream and writes one binary stream of results; see harness.py for the format.
 *
 * Every case runs twice with different bytes in all memory around and inside the buffers that the entry must not depend on: an
 * overrun shows in the guards, a read of memory that the entry does not own shows as two different outputs.
 */
#include "arm_nnfunctions.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(DRIVER_HOST)
#include <stdio.h>
#include <stdlib.h>
#endif

#define MAX_BLOBS 8
#define GUARD_BYTES 64
#define NAME_BYTES 64

/* Status of a case whose entry is not linked in; no kernel returns it. */
#define STATUS_UNKNOWN_ENTRY 1000

/* Problem bits of a result. */
#define PROBLEM_OUTPUT_GUARD 1
#define PROBLEM_SCRATCH_GUARD 2
#define PROBLEM_INPUT_CHANGED 4
#define PROBLEM_UNSTABLE 8

typedef struct
{
    const int32_t *params;
    const void *blobs[MAX_BLOBS]; /* NULL where the case has none. */
    cmsis_nn_context scratch;
    void *output;
} call_t;

typedef int32_t (*adapter_t)(const call_t *call);

/* ---- adapters: from a case's numbers to the entry's arguments ------------------------------------------------------------ */

static cmsis_nn_dims dims_at(const call_t *call, int index)
{
    const int32_t *p = call->params + index;
    return (cmsis_nn_dims){p[0], p[1], p[2], p[3]};
}

/* Convolution: 12 extents (input, filter, output), then input offset, output offset, stride w h, padding w h, dilation w h,
 * activation min max. Blobs: input, filter, bias, weight sums, multipliers, shifts. */
typedef struct
{
    cmsis_nn_dims input, filter, output, bias;
    cmsis_nn_conv_params params;
    cmsis_nn_per_channel_quant_params quant;
    cmsis_nn_context sums;
} conv_call_t;

static conv_call_t conv_call(const call_t *call)
{
    const int32_t *p = call->params + 12;
    conv_call_t conv = {.input = dims_at(call, 0), .filter = dims_at(call, 4), .output = dims_at(call, 8)};
    conv.bias = (cmsis_nn_dims){1, 1, 1, conv.output.c};
    conv.params = (cmsis_nn_conv_params){p[0], p[1], {p[2], p[3]}, {p[4], p[5]}, {p[6], p[7]}, {p[8], p[9]}};
    conv.sums = (cmsis_nn_context){(void *)call->blobs[3], conv.output.c * 4};
    conv.quant = (cmsis_nn_per_channel_quant_params){(int32_t *)call->blobs[4], (int32_t *)call->blobs[5]};
    return conv;
}

#define GENERAL_CONV_ADAPTER(entry)                                                                                           \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const conv_call_t c = conv_call(call);                                                                                \
        return entry(&call->scratch, &c.sums, &c.params, &c.quant, &c.input, call->blobs[0], &c.filter, call->blobs[1],       \
                     &c.bias, call->blobs[2], NULL, &c.output, call->output);                                                 \
    }

#define CONV_ADAPTER(entry)                                                                                                   \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const conv_call_t c = conv_call(call);                                                                                \
        return entry(&call->scratch, &c.sums, &c.params, &c.quant, &c.input, call->blobs[0], &c.filter, call->blobs[1],       \
                     &c.bias, call->blobs[2], &c.output, call->output);                                                       \
    }

GENERAL_CONV_ADAPTER(arm_convolve_s8)
GENERAL_CONV_ADAPTER(arm_convolve_s8_small_cin)
GENERAL_CONV_ADAPTER(arm_convolve_s8_3x3_c16_s1)
CONV_ADAPTER(arm_convolve_1x1_s8)
CONV_ADAPTER(arm_convolve_1x1_s8_fast)
CONV_ADAPTER(arm_convolve_1_x_n_s8)
CONV_ADAPTER(arm_convolve_1x1_out_s8)

/* Depthwise: as a convolution, then the channel multiplier. */
static cmsis_nn_dw_conv_params dw_params(const call_t *call)
{
    const int32_t *p = call->params + 12;
    return (cmsis_nn_dw_conv_params){p[0], p[1], p[10], {p[2], p[3]}, {p[4], p[5]}, {p[6], p[7]}, {p[8], p[9]}};
}

#define DW_ADAPTER(entry)                                                                                                     \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const conv_call_t c = conv_call(call);                                                                                \
        const cmsis_nn_dw_conv_params params = dw_params(call);                                                               \
        return entry(&call->scratch, &params, &c.quant, &c.input, call->blobs[0], &c.filter, call->blobs[1], &c.bias,         \
                     call->blobs[2], &c.output, call->output);                                                                \
    }

#define DW_OPT_ADAPTER(entry)                                                                                                 \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const conv_call_t c = conv_call(call);                                                                                \
        const cmsis_nn_dw_conv_params params = dw_params(call);                                                               \
        return entry(&call->scratch, &c.sums, &params, &c.quant, &c.input, call->blobs[0], &c.filter, call->blobs[1],         \
                     &c.bias, call->blobs[2], &c.output, call->output);                                                       \
    }

DW_ADAPTER(arm_depthwise_conv_s8)
DW_ADAPTER(arm_depthwise_conv_3x3_s8)
DW_OPT_ADAPTER(arm_depthwise_conv_s8_opt)
DW_OPT_ADAPTER(arm_depthwise_conv_s8_opt_3x3)
DW_OPT_ADAPTER(arm_depthwise_conv_s8_opt_3x3_c64_s1)
DW_OPT_ADAPTER(arm_depthwise_conv_s8_opt_planar)
DW_OPT_ADAPTER(arm_depthwise_conv_s8_opt_channelwise)

static int32_t run_arm_depthwise_conv_s8_opt_planar_supported(const call_t *call)
{
    const conv_call_t c = conv_call(call);
    const cmsis_nn_dw_conv_params params = dw_params(call);
    const int32_t answer = arm_depthwise_conv_s8_opt_planar_supported(&params, &c.input, &c.filter, &c.output);
    memcpy(call->output, &answer, sizeof answer);
    return 0;
}

/* Fully connected: 12 extents, then input offset, filter offset, output offset, activation min max, multiplier, shift.
 * Blobs: input, filter, bias, weight sums, multipliers, shifts (the last two for the per-channel entry). */
static cmsis_nn_fc_params fc_params(const call_t *call)
{
    const int32_t *p = call->params + 12;
    return (cmsis_nn_fc_params){p[0], p[1], p[2], {p[3], p[4]}};
}

static int32_t run_arm_fully_connected_s8(const call_t *call)
{
    const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);
    const cmsis_nn_dims bias = {1, 1, 1, output.c};
    const cmsis_nn_fc_params params = fc_params(call);
    const cmsis_nn_per_tensor_quant_params quant = {call->params[17], call->params[18]};
    const cmsis_nn_context sums = {(void *)call->blobs[3], output.c * 4};
    return arm_fully_connected_s8(&sums, &params, &quant, &input, call->blobs[0], &filter, call->blobs[1], &bias,
                                  call->blobs[2], &output, call->output);
}

static int32_t run_arm_fully_connected_per_channel_s8(const call_t *call)
{
    const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);
    const cmsis_nn_dims bias = {1, 1, 1, output.c};
    const cmsis_nn_fc_params params = fc_params(call);
    const cmsis_nn_per_channel_quant_params quant = {(int32_t *)call->blobs[4], (int32_t *)call->blobs[5]};
    const cmsis_nn_context sums = {(void *)call->blobs[3], output.c * 4};
    return arm_fully_connected_per_channel_s8(&sums, &params, &quant, &input, call->blobs[0], &filter, call->blobs[1],
                                              &bias, call->blobs[2], &output, call->output);
}

/* Pooling: 12 extents, then stride w h, padding w h, activation min max. Blobs: input. */
#define POOL_ADAPTER(entry)                                                                                                   \
    static int32_t run_##entry(const call_t *call)                                                                            \
    {                                                                                                                         \
        const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);                   \
        const int32_t *p = call->params + 12;                                                                                 \
        const cmsis_nn_pool_params params = {{p[0], p[1]}, {p[2], p[3]}, {p[4], p[5]}};                                       \
        return entry(&call->scratch, &params, &input, call->blobs[0], &filter, &output, call->output);                        \
    }

POOL_ADAPTER(arm_avgpool_s8)
POOL_ADAPTER(arm_max_pool_s8)

/* Add: 12 extents (input 1, input 2, output), then offset, multiplier, shift of input 1 and of input 2, left shift, offset,
 * multiplier, shift of the output, activation min max. Blobs: input 1, input 2. */
static int32_t run_arm_add_s8(const call_t *call)
{
    const cmsis_nn_dims input1 = dims_at(call, 0), input2 = dims_at(call, 4), output = dims_at(call, 8);
    const int32_t *p = call->params + 12;
    return arm_add_s8(call->blobs[0], &input1, call->blobs[1], &input2, p[0], p[1], p[2], p[3], p[4], p[5], p[6], call->output,
                      &output, p[7], p[8], p[9], p[10], p[11]);
}

/* Elementwise add: offset, multiplier, shift of input 1 and of input 2, left shift, offset, multiplier, shift of the output,
 * activation min max, count. Blobs: input 1, input 2. */
static int32_t run_arm_elementwise_add_s8(const call_t *call)
{
    const int32_t *p = call->params;
    return arm_elementwise_add_s8(call->blobs[0], call->blobs[1], p[0], p[1], p[2], p[3], p[4], p[5], p[6], call->output, p[7],
                                  p[8], p[9], p[10], p[11], p[12]);
}

/* Softmax: rows, row size, multiplier, shift, smallest difference. Blobs: input. */
static int32_t run_arm_softmax_s8(const call_t *call)
{
    const int32_t *p = call->params;
    arm_softmax_s8(call->blobs[0], p[0], p[1], p[2], p[3], p[4], call->output);
    return 0;
}

/* Reshape: bytes. Blobs: input. */
static int32_t run_arm_reshape_s8(const call_t *call)
{
    arm_reshape_s8(call->blobs[0], call->output, (uint32_t)call->params[0]);
    return 0;
}

/* Weight sums of a convolution: 12 extents, input offset. Blobs: filter, bias. */
static int32_t run_arm_convolve_weight_sum(const call_t *call)
{
    const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);
    return arm_convolve_weight_sum(call->output, call->blobs[0], &input, &filter, &output, call->params[12], call->blobs[1]);
}

/* Weight sums of a depthwise convolution: as a convolution's. */
static int32_t run_arm_depthwise_convolve_weight_sum(const call_t *call)
{
    const cmsis_nn_dims input = dims_at(call, 0), filter = dims_at(call, 4), output = dims_at(call, 8);
    const cmsis_nn_dw_conv_params params = {.ch_mult = output.c / input.c};
    return arm_depthwise_convolve_weight_sum(call->output, NULL, call->blobs[0], &params, &input, &filter, &output,
                                             call->params[12], call->blobs[1]);
}

/* Weight sums of a fully connected layer: columns, rows, input offset, filter offset. Blobs: filter, bias. */
static int32_t run_arm_vector_sum_s8(const call_t *call)
{
    const int32_t *p = call->params;
    return arm_vector_sum_s8(call->output, p[0], p[1], call->blobs[0], p[2], p[3], call->blobs[1]);
}

/* Buffer sizes of the convolutions: as a convolution case. Output: one int32 for each size entry, in the order below. */
static int32_t run_convolve_buffer_sizes(const call_t *call)
{
    const conv_call_t c = conv_call(call);
    const int32_t sizes[] = {
        arm_convolve_s8_get_buffer_size(&c.input, &c.filter),
        arm_convolve_s8_get_buffer_size_mve(&c.input, &c.filter),
        arm_convolve_1x1_s8_fast_get_buffer_size(&c.input),
        arm_convolve_1_x_n_s8_get_buffer_size(&c.params, &c.input, &c.filter, &c.output),
        arm_convolve_s8_get_weights_sum_size(&c.output),
    };
    memcpy(call->output, sizes, sizeof sizes);
    return 0;
}

/* Buffer sizes of the other families: as a depthwise case. */
static int32_t run_other_buffer_sizes(const call_t *call)
{
    const conv_call_t c = conv_call(call);
    const int32_t sizes[] = {
        arm_depthwise_conv_s8_opt_get_buffer_size(&c.input, &c.filter),
        arm_fully_connected_s8_get_buffer_size(&c.filter),
        arm_fully_connected_s8_get_buffer_size_mve(&c.filter),
        arm_avgpool_s8_get_buffer_size((int)c.output.w, (int)c.input.c),
        arm_avgpool_s8_get_buffer_size_mve((int)c.output.w, (int)c.input.c),
        arm_avgpool_s8_get_buffer_size_dsp((int)c.output.w, (int)c.input.c),
    };
    memcpy(call->output, sizes, sizeof sizes);
    return 0;
}

#include "driver_flt.h"
#include "driver_integer.h"
#include "driver_layers.h"
#include "driver_sums.h"

#define ENTRY(name)          \
    {                        \
        #name, run_##name    \
    }

static const struct
{
    const char *name;
    adapter_t run;
} entries[] = {
    ENTRY(arm_convolve_s8),
    ENTRY(arm_convolve_s8_small_cin),
    ENTRY(arm_convolve_s8_3x3_c16_s1),
    ENTRY(arm_convolve_1x1_s8),
    ENTRY(arm_convolve_1x1_s8_fast),
    ENTRY(arm_convolve_1_x_n_s8),
    ENTRY(arm_convolve_1x1_out_s8),
    ENTRY(arm_convolve_weight_sum),
    ENTRY(convolve_buffer_sizes),
    ENTRY(arm_depthwise_conv_s8),
    ENTRY(arm_depthwise_conv_3x3_s8),
    ENTRY(arm_depthwise_conv_s8_opt),
    ENTRY(arm_depthwise_conv_s8_opt_3x3),
    ENTRY(arm_depthwise_conv_s8_opt_3x3_c64_s1),
    ENTRY(arm_depthwise_conv_s8_opt_planar),
    ENTRY(arm_depthwise_conv_s8_opt_channelwise),
    ENTRY(arm_depthwise_conv_s8_opt_planar_supported),
    ENTRY(arm_depthwise_convolve_weight_sum),
    ENTRY(other_buffer_sizes),
    ENTRY(arm_fully_connected_s8),
    ENTRY(arm_fully_connected_per_channel_s8),
    ENTRY(arm_vector_sum_s8),
    ENTRY(arm_avgpool_s8),
    ENTRY(arm_max_pool_s8),
    ENTRY(arm_add_s8),
    ENTRY(arm_elementwise_add_s8),
    ENTRY(arm_softmax_s8),
    ENTRY(arm_reshape_s8),
    ALL_SUM_ENTRIES,
    ALL_FLT_ENTRIES,
    INTEGER_ENTRIES,
    LAYER_ENTRIES,
};

/* ---- memory and files: host and target ----------------------------------------------------------------------------------- */

#if defined(DRIVER_HOST)

/* Blocks of exactly the asked size, so that the address sanitiser sees every overrun. */
static void *allocate(size_t bytes)
{
    void *block = malloc(bytes > 0 ? bytes : 1);
    if (block == NULL)
    {
        abort();
    }
    return block;
}

static void release(void *block)
{
    free(block);
}

static FILE *result_file;

static void write_bytes(const void *data, size_t bytes)
{
    if (fwrite(data, 1, bytes, result_file) != bytes)
    {
        abort();
    }
}

#else

#ifndef DRIVER_ARENA_BYTES
#define DRIVER_ARENA_BYTES (384 * 1024)
#endif

/* A stack of blocks: released in reverse order of allocation. */
static uint8_t arena[DRIVER_ARENA_BYTES] __attribute__((aligned(16)));
static size_t arena_used;

static void finish(int32_t reason);

static void *allocate(size_t bytes)
{
    const size_t rounded = (bytes + 15u) & ~(size_t)15u;
    if (arena_used + rounded > sizeof arena)
    {
        finish(2);
    }
    void *block = arena + arena_used;
    arena_used += rounded;
    return block;
}

static void release(void *block)
{
    arena_used = (size_t)((uint8_t *)block - arena);
}

static int32_t semihost(int32_t operation, const void *argument)
{
    register int32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static int32_t result_file;

static void finish(int32_t reason)
{
    const uint32_t block[2] = {0x20026u /* application exit */, (uint32_t)reason};
    semihost(0x20 /* SYS_EXIT_EXTENDED */, block);
    for (;;)
    {
    }
}

static uint8_t pending[4096];
static size_t pending_bytes;

static void flush(void)
{
    const uint32_t block[3] = {(uint32_t)result_file, (uint32_t)(uintptr_t)pending, pending_bytes};
    if (pending_bytes > 0 && semihost(0x05 /* SYS_WRITE */, block) != 0)
    {
        finish(3);
    }
    pending_bytes = 0;
}

/* Collected: each semihosting call stops the emulator. */
static void write_bytes(const void *data, size_t bytes)
{
    const uint8_t *source = data;
    for (size_t i = 0; i < bytes; i++)
    {
        pending[pending_bytes++] = source[i];
        if (pending_bytes == sizeof pending)
        {
            flush();
        }
    }
}

#endif

/* ---- markers for the timing plugin --------------------------------------------------------------------------------------- */

#if defined(DRIVER_MARKERS)
volatile uint32_t helia_markers[DRIVER_MARKERS];
#define MARK(index) ((index) >= 0 ? (void)(helia_markers[(index)] = 1u) : (void)0)
#else
#define MARK(index) ((void)(index))
#endif

/* ---- running a case ------------------------------------------------------------------------------------------------------ */

typedef struct
{
    const char *name;
    const int32_t *params;
    int32_t blob_count;
    int32_t blob_bytes[MAX_BLOBS];
    const uint8_t *blob_data[MAX_BLOBS];
    int32_t output_bytes;
    int32_t scratch_bytes;
} case_t;

typedef struct
{
    uint8_t *start; /* The block, with a guard on both sides of the payload. */
    uint8_t *data;
    size_t bytes;
    uint8_t fill;
} guarded_t;

static guarded_t guarded_allocate(size_t bytes, uint8_t fill)
{
    guarded_t block = {.start = allocate(bytes + 2 * GUARD_BYTES), .bytes = bytes, .fill = fill};
    block.data = block.start + GUARD_BYTES;
    memset(block.start, fill, bytes + 2 * GUARD_BYTES);
    return block;
}

static int guards_intact(const guarded_t *block)
{
    for (size_t i = 0; i < GUARD_BYTES; i++)
    {
        if (block->start[i] != block->fill || block->data[block->bytes + i] != block->fill)
        {
            return 0;
        }
    }
    return 1;
}

static adapter_t find_entry(const char *name)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
    {
        if (strcmp(entries[i].name, name) == 0)
        {
            return entries[i].run;
        }
    }
    return NULL;
}

/* A copy of a blob. On the host it ends where the block ends; on the target the bytes around it are `fill`. */
static void *blob_copy(const uint8_t *data, size_t bytes, uint8_t fill, void **block)
{
#if defined(DRIVER_HOST)
    (void)fill;
    uint8_t *copy = allocate(bytes);
    *block = copy;
#else
    uint8_t *start = allocate(bytes + 2 * GUARD_BYTES);
    memset(start, fill, bytes + 2 * GUARD_BYTES);
    uint8_t *copy = start + GUARD_BYTES;
    *block = start;
#endif
    memcpy(copy, data, bytes);
    return copy;
}

/* Runs the case once; gives its status, sets problem bits and leaves the output in `output`. */
static int32_t run_once(const case_t *test, adapter_t run, uint8_t fill, guarded_t *output, uint32_t *problems, int marker)
{
    call_t call = {.params = test->params, .output = output->data};
    void *blocks[MAX_BLOBS] = {NULL};
    for (int32_t i = 0; i < test->blob_count; i++)
    {
        if (test->blob_bytes[i] > 0)
        {
            call.blobs[i] = blob_copy(test->blob_data[i], (size_t)test->blob_bytes[i], fill, &blocks[i]);
        }
    }
    guarded_t scratch = guarded_allocate((size_t)test->scratch_bytes, (uint8_t)~fill);
    call.scratch.buf = test->scratch_bytes > 0 ? scratch.data : NULL;
    call.scratch.size = test->scratch_bytes;

    MARK(marker);
    const int32_t status = run(&call);
    MARK(marker < 0 ? marker : marker + 1);

    *problems |= guards_intact(output) ? 0u : PROBLEM_OUTPUT_GUARD;
    *problems |= guards_intact(&scratch) ? 0u : PROBLEM_SCRATCH_GUARD;
    for (int32_t i = 0; i < test->blob_count; i++)
    {
        if (call.blobs[i] != NULL && memcmp(call.blobs[i], test->blob_data[i], (size_t)test->blob_bytes[i]) != 0)
        {
            *problems |= PROBLEM_INPUT_CHANGED;
        }
    }
    release(scratch.start);
    for (int32_t i = test->blob_count - 1; i >= 0; i--)
    {
        if (blocks[i] != NULL)
        {
            release(blocks[i]);
        }
    }
    return status;
}

static void run_case(const case_t *test, int marker)
{
    const adapter_t run = find_entry(test->name);
    guarded_t first = guarded_allocate((size_t)test->output_bytes, 0x5A);
    guarded_t second = guarded_allocate((size_t)test->output_bytes, 0xA5);
    uint32_t problems = 0;
    int32_t status = STATUS_UNKNOWN_ENTRY;
    if (run != NULL)
    {
        status = run_once(test, run, 0x7F, &first, &problems, marker);
        const int32_t again = run_once(test, run, 0x80, &second, &problems, -1);
        const int same = memcmp(first.data, second.data, first.bytes) == 0;
        /* After success both outputs are equal; after an error both must still be untouched. */
        int untouched = 1;
        for (size_t i = 0; i < first.bytes; i++)
        {
            untouched = untouched && first.data[i] == first.fill && second.data[i] == second.fill;
        }
        if (again != status || (status == 0 ? !same : !untouched))
        {
            problems |= PROBLEM_UNSTABLE;
        }
    }
    const int32_t header[3] = {status, (int32_t)problems, test->output_bytes};
    write_bytes(header, sizeof header);
    write_bytes(first.data, first.bytes);
    release(second.start);
    release(first.start);
}

static const uint8_t *read_case(const uint8_t *at, case_t *test)
{
    test->name = (const char *)at;
    const int32_t *words = (const int32_t *)(at + NAME_BYTES);
    const int32_t param_count = words[0];
    test->output_bytes = words[1];
    test->scratch_bytes = words[2];
    test->blob_count = words[3];
    test->params = words + 4;
    const int32_t *sizes = words + 4 + param_count;
    at = (const uint8_t *)(sizes + test->blob_count);
    for (int32_t i = 0; i < test->blob_count; i++)
    {
        test->blob_bytes[i] = sizes[i];
        test->blob_data[i] = at;
        at += ((uint32_t)sizes[i] + 3u) & ~3u;
    }
    return at;
}

static void run_stream(const uint8_t *stream)
{
    int32_t count;
    memcpy(&count, stream, sizeof count);
    const uint8_t *at = stream + 4;
    for (int32_t i = 0; i < count; i++)
    {
        case_t test;
        at = read_case(at, &test);
        run_case(&test, (int)(2 + 2 * i));
    }
}

#if defined(DRIVER_HOST)

int main(int argc, char **argv)
{
    if (argc != 3)
    {
        return 2;
    }
    FILE *file = fopen(argv[1], "rb");
    result_file = fopen(argv[2], "wb");
    if (file == NULL || result_file == NULL || fseek(file, 0, SEEK_END) != 0)
    {
        return 2;
    }
    const size_t bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *stream = allocate(bytes);
    if (fread(stream, 1, bytes, file) != bytes)
    {
        return 2;
    }
    fclose(file);
    run_stream(stream);
    release(stream);
    return fclose(result_file) == 0 ? 0 : 2;
}

#else

extern uint32_t driver_stack_top[], driver_bss_start[], driver_bss_end[];

void Reset_Handler(void);

static void fault_handler(void)
{
    finish(4);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))driver_stack_top, Reset_Handler, fault_handler, fault_handler, fault_handler, fault_handler,
    fault_handler,                    fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
    fault_handler,                    fault_handler, fault_handler, fault_handler,
};

__attribute__((noinline)) static void driver_main(void)
{
    for (uint32_t *p = driver_bss_start; p < driver_bss_end; p++)
    {
        *p = 0;
    }
    static const char name[] = "results.bin";
    const uint32_t block[3] = {(uint32_t)(uintptr_t)name, 5 /* "wb" */, sizeof name - 1};
    result_file = semihost(0x01 /* SYS_OPEN */, block);
    if (result_file < 0)
    {
        finish(3);
    }
    run_stream((const uint8_t *)DRIVER_CASES);
    flush();
    const uint32_t close_block[1] = {(uint32_t)result_file};
    semihost(0x02 /* SYS_CLOSE */, close_block);
    finish(0);
}

__attribute__((naked)) void Reset_Handler(void)
{
    /* Floating point and vector registers on before any compiled code may use them. On cores with low-overhead loops the
     * loop cache is switched on too (CCR.LOB). */
    __asm volatile("ldr r0, =0xE000ED88\n"
                   "ldr r1, [r0]\n"
                   "orr r1, r1, #0xF00000\n"
                   "str r1, [r0]\n"
#if defined(__ARM_FEATURE_MVE)
                   "ldr r0, =0xE000ED14\n"
                   "ldr r1, [r0]\n"
                   "orr r1, r1, #0x80000\n"
                   "str r1, [r0]\n"
#endif
                   "dsb\n"
                   "isb\n"
                   "b %c0\n"
                   ".ltorg\n" ::"i"(driver_main));
}

#endif
