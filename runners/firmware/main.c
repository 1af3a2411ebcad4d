/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Measures one module: init, warm-ups, timed runs without callbacks, then one run with a callback for each operator.
 *
 * Every run starts from a fresh copy of the inputs, because a module may reuse their storage. The outputs of the first
 * run are kept; each later run must repeat them.
 */
#include <string.h>

#include "counters.h"
#include "firmware.h"

#define CRC32_POLYNOMIAL 0xedb88320u /* reflected, as in zlib */

#define INPUT_ALIGNMENT 16u

/* The build id note that the linker writes: three words, the name "GNU", the id. */
extern const uint32_t helia_build_id_note[];

helia_result_t helia_result HELIA_HARNESS;

static volatile int32_t running_operator;
static uint32_t crc_table[256] HELIA_HARNESS;

int32_t helia_running_operator(void)
{
    return running_operator;
}

__attribute__((always_inline)) static inline void mark(uint32_t k)
{
    __asm volatile("dsb" ::: "memory");
    helia_markers[k] = TIMING_COUNTER;
    __asm volatile("" ::: "memory");
}

__attribute__((noreturn)) static void end(helia_status_t status, int32_t detail)
{
    helia_result.stack_used_bytes = helia_stack_used_bytes();
    helia_result.detail = detail;
    helia_result.status = (uint32_t)status;
    helia_done();
}

/* A loop of known length by both clocks: a counter that stands still, or runs at another rate, shows here. */
static void start_counter(void)
{
    enable_counters();
    const uint32_t ticks = second_clock();
    const uint32_t start = TIMING_COUNTER;
    for (uint32_t i = 0; i < HELIA_COUNTER_CHECK_ITERATIONS; i++)
    {
        __asm volatile("nop");
    }
    helia_result.counter_check = TIMING_COUNTER - start;
    helia_result.counter_check_ticks = (second_clock() - ticks) & SYST_MAX;
    helia_result.counter_kind = helia_result.counter_check != 0u ? HELIA_COUNTER : HELIA_COUNTER_NONE;
}

static void begin_result(void)
{
    memset(&helia_result, 0, sizeof(helia_result));
    helia_result.magic = HELIA_RESULT_MAGIC;
    helia_result.version = HELIA_RESULT_VERSION;
    helia_result.size_bytes = sizeof(helia_result);
    helia_result.status = HELIA_STATUS_RUNNING;
    helia_result.failed_operator = -1;
    helia_result.n_operators = helia_n_operators;
    helia_result.n_inputs = helia_n_inputs;
    helia_result.n_outputs = helia_n_outputs;
    helia_result.output_bytes = helia_total_output_bytes;
    helia_result.stack_bytes = helia_stack_size_bytes();
    const uint32_t name_bytes = (helia_build_id_note[0] + 3u) & ~3u;
    memcpy(helia_result.build_id, (const uint8_t *)&helia_build_id_note[3] + name_bytes, HELIA_BUILD_ID_BYTES);
    running_operator = -1;
}

static const helia_stimulus_header_t *checked_stimulus(void)
{
    const helia_stimulus_header_t *header = (const helia_stimulus_header_t *)helia_stimulus;
    if (header->magic != HELIA_STIMULUS_MAGIC || header->version != HELIA_STIMULUS_VERSION ||
        header->input_bytes != helia_total_input_bytes || header->repeats == 0u ||
        header->warmups + header->repeats + 2u > HELIA_MAX_WINDOWS)
    {
        end(HELIA_STATUS_BAD_STIMULUS, (int32_t)header->input_bytes);
    }
    return header;
}

static void build_crc_table(void)
{
    for (uint32_t byte = 0; byte < 256u; byte++)
    {
        uint32_t value = byte;
        for (uint32_t bit = 0; bit < 8u; bit++)
        {
            value = (value & 1u) != 0u ? (value >> 1) ^ CRC32_POLYNOMIAL : value >> 1;
        }
        crc_table[byte] = value;
    }
}

static uint32_t crc32(const uint8_t *data, uint32_t size_bytes)
{
    uint32_t state = 0xffffffffu;
    for (uint32_t i = 0; i < size_bytes; i++)
    {
        state = crc_table[(state ^ data[i]) & 0xffu] ^ (state >> 8);
    }
    return ~state;
}

static void load_inputs(void)
{
    const uint8_t *source = helia_stimulus + sizeof(helia_stimulus_header_t);
    for (uint32_t i = 0; i < helia_n_inputs; i++)
    {
        memcpy(helia_module_input(i), source, helia_input_bytes[i]);
        source += (helia_input_bytes[i] + INPUT_ALIGNMENT - 1u) & ~(INPUT_ALIGNMENT - 1u);
    }
}

static void keep_outputs(void)
{
    uint8_t *destination = helia_outputs;
    for (uint32_t i = 0; i < helia_n_outputs; i++)
    {
        memcpy(destination, helia_module_output(i), helia_output_bytes[i]);
        destination += helia_output_bytes[i];
    }
    helia_result.outputs_crc32 = crc32(helia_outputs, helia_total_output_bytes);
}

static bool outputs_repeat(void)
{
    const uint8_t *expected = helia_outputs;
    for (uint32_t i = 0; i < helia_n_outputs; i++)
    {
        if (memcmp(expected, helia_module_output(i), helia_output_bytes[i]) != 0)
        {
            return false;
        }
        expected += helia_output_bytes[i];
    }
    return true;
}

static void on_operator(int32_t op, bool started)
{
    if (!started)
    {
        mark(HELIA_MARK_OPERATOR_END(op));
        return;
    }
    if (op < 0) /* not the operator that the schedule has here */
    {
        end(HELIA_STATUS_WRONG_LAYOUT, op);
    }
    running_operator = op;
    mark(HELIA_MARK_OPERATOR_START(op));
}

/* `ticks` is the second clock's reading from before the window. */
static void record_window(uint32_t ticks)
{
    helia_result.window_ticks[helia_result.n_windows] = (second_clock() - ticks) & SYST_MAX;
    helia_result.window_cycles[helia_result.n_windows] =
        helia_markers[HELIA_MARK_WINDOW_CLOSE] - helia_markers[HELIA_MARK_WINDOW_OPEN];
    helia_result.n_windows++;
}

/* The cost of a window itself, which the host subtracts from the others. */
static void measure_empty_window(void)
{
    const uint32_t ticks = second_clock();
    mark(HELIA_MARK_WINDOW_OPEN);
    mark(HELIA_MARK_WINDOW_CLOSE);
    record_window(ticks);
}

static void run_once(helia_on_operator_t callback)
{
    load_inputs();
    if (callback == NULL) /* the callbacks' own instructions are not the model's */
    {
        start_events();
    }
    const uint32_t ticks = second_clock();
    mark(HELIA_MARK_WINDOW_OPEN);
    const int32_t status = helia_module_run(callback);
    mark(HELIA_MARK_WINDOW_CLOSE);
    record_window(ticks);
    if (callback == NULL)
    {
        stop_events(&helia_result);
    }
    if (status != 0)
    {
        if (callback == NULL) /* again, to learn which operator it is */
        {
            load_inputs();
            (void)helia_module_run(on_operator);
        }
        helia_result.failed_operator = running_operator;
        end(HELIA_STATUS_RUN_FAILED, status);
    }
    running_operator = -1;
    if (helia_result.runs == 0u)
    {
        keep_outputs();
    }
    else if (!outputs_repeat())
    {
        helia_result.differing_runs++;
    }
    helia_result.runs++;
}

static void set_guards(void)
{
    for (uint32_t i = 0; i < HELIA_GUARD_WORDS; i++)
    {
        helia_outputs_guard_before[i] = HELIA_GUARD_VALUE;
        helia_outputs_guard_after[i] = HELIA_GUARD_VALUE;
    }
}

static void check_guards(uint32_t stimulus_crc32)
{
    for (uint32_t i = 0; i < HELIA_GUARD_WORDS; i++)
    {
        if (helia_outputs_guard_before[i] != HELIA_GUARD_VALUE || helia_outputs_guard_after[i] != HELIA_GUARD_VALUE)
        {
            end(HELIA_STATUS_GUARD_BROKEN, HELIA_GUARD_OUTPUTS);
        }
    }
    if (crc32(helia_outputs, helia_total_output_bytes) != helia_result.outputs_crc32)
    {
        end(HELIA_STATUS_GUARD_BROKEN, HELIA_GUARD_OUTPUTS);
    }
    if (crc32(helia_stimulus, helia_stimulus_bytes) != stimulus_crc32)
    {
        end(HELIA_STATUS_GUARD_BROKEN, HELIA_GUARD_STIMULUS);
    }
    if (!helia_stack_guard_intact())
    {
        end(HELIA_STATUS_GUARD_BROKEN, HELIA_GUARD_STACK);
    }
}

int main(void)
{
    begin_result();
    helia_result.caches = helia_caches_on();
    start_counter();
    build_crc_table();
    const helia_stimulus_header_t *settings = checked_stimulus();
    const uint32_t stimulus_crc32 = crc32(helia_stimulus, helia_stimulus_bytes);
    set_guards();
    const int32_t status = helia_module_init();
    if (status != 0)
    {
        end(HELIA_STATUS_INIT_FAILED, status);
    }
    if (!helia_module_layout_matches())
    {
        end(HELIA_STATUS_WRONG_LAYOUT, -1);
    }
    measure_empty_window();
    for (uint32_t i = 0; i < settings->warmups + settings->repeats; i++)
    {
        run_once(NULL);
    }
    if (settings->per_operator != 0u)
    {
        run_once(on_operator);
    }
    check_guards(stimulus_crc32);
    end(HELIA_STATUS_OK, 0);
}
