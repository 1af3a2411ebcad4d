/* SPDX-License-Identifier: Apache-2.0 */
#include "timing_model.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* Uncached memories, and fetches of a core without a code cache, are accessed in units of this many bytes. */
#define UNIT_SHIFT 3u

static struct region *find_region(struct timing_model *model, uint32_t address)
{
    struct region *region = model->last_region;
    if (region != NULL && address - region->base < region->size_bytes) {
        return region;
    }
    for (unsigned i = 0; i < model->region_count; i++) {
        region = &model->regions[i];
        if (address - region->base < region->size_bytes) {
            model->last_region = region;
            return region;
        }
    }
    return NULL;
}

/* Looks a line up and makes it the most recently used. Returns true on a hit; sets `*evicted_dirty`. */
static bool cache_touch(struct cache *cache, uint32_t line, bool store, bool *evicted_dirty)
{
    uint32_t *set = cache->lines + (size_t)(line & cache->set_mask) * cache->ways;
    unsigned way = 0;
    while (way < cache->ways && (!(set[way] & 1u) || set[way] >> 2 != line)) {
        way++;
    }
    bool hit = way < cache->ways;
    uint32_t entry;
    *evicted_dirty = false;
    if (hit) {
        entry = set[way];
        cache->hits++;
    } else {
        way = cache->ways - 1;
        *evicted_dirty = (set[way] & 3u) == 3u;
        entry = line << 2 | 1u;
        cache->misses++;
        cache->evictions += *evicted_dirty;
    }
    memmove(set + 1, set, way * sizeof *set);
    set[0] = entry | (store ? 2u : 0u);
    return hit;
}

static unsigned cached_access_cycles(struct cache *cache, const struct region *region, uint32_t address, bool store)
{
    bool evicted_dirty;
    if (cache_touch(cache, address >> cache->line_shift, store, &evicted_dirty)) {
        return 0;
    }
    unsigned fill = store ? region->write_fill_cycles : region->read_fill_cycles;
    return fill + (evicted_dirty ? region->eviction_cycles : 0);
}

static unsigned uncached_read_cycles(struct region *region, uint32_t address, uint32_t *buffered)
{
    if (region->buffer_bytes != 0) {
        uint32_t line = address / region->buffer_bytes + 1;
        if (*buffered == line) {
            return 0;
        }
        *buffered = line;
    }
    return region->read_wait_cycles;
}

static unsigned data_cycles(struct timing_model *model)
{
    unsigned cycles = 0;
    for (unsigned i = 0; i < model->accessed_count; i++) {
        struct region *region = model->accessed[i].region;
        uint32_t address = model->accessed[i].address;
        bool store = model->accessed[i].store;
        if (region->kind == REGION_CACHED) {
            cycles += cached_access_cycles(&model->data_cache, region, address, store);
        } else if (store) {
            cycles += region->write_wait_cycles;
        } else {
            cycles += uncached_read_cycles(region, address, &region->buffered_data);
        }
    }
    return cycles;
}

static unsigned fetch_line_cycles(struct timing_model *model, uint32_t address)
{
    struct region *region = find_region(model, address);
    if (region == NULL || region->kind == REGION_TCM) {
        return 0;
    }
    if (region->kind == REGION_CACHED) {
        return cached_access_cycles(&model->code_cache, region, address, false);
    }
    return uncached_read_cycles(region, address, &region->buffered_code);
}

/* Instruction fetch works in lines: it costs only where execution enters another one. */
static unsigned fetch_cycles(struct timing_model *model, const struct instruction *instruction)
{
    unsigned shift = model->code_cache.size_bytes != 0 ? model->code_cache.line_shift : UNIT_SHIFT;
    uint32_t first = instruction->address >> shift;
    uint32_t last = (instruction->address + instruction->size_bytes - 1) >> shift;
    unsigned cycles = 0;
    if (first + 1 != model->fetched_line) {
        cycles += fetch_line_cycles(model, first << shift);
    }
    if (last != first) {
        cycles += fetch_line_cycles(model, last << shift);
    }
    model->fetched_line = last + 1;
    return cycles;
}

static void add_access(struct timing_model *model, struct region *region, uint32_t address, bool store)
{
    for (unsigned i = model->accessed_count; i-- > 0;) {
        if (model->accessed[i].address == address && model->accessed[i].store == store) {
            return;
        }
    }
    if (model->accessed_count < MAX_ACCESSED_LINES) {
        model->accessed[model->accessed_count].region = region;
        model->accessed[model->accessed_count].address = address;
        model->accessed[model->accessed_count].store = store;
        model->accessed_count++;
    }
}

void timing_model_access(struct timing_model *model, uint32_t address, unsigned size_bytes, bool store)
{
    uint32_t last = address + size_bytes - 1;
    if (store && address >= model->marker_base && address < model->marker_end) {
        model->marker = (address - model->marker_base) / 4 + 1;
        return;
    }
    if (!model->accessed_any || address < model->accessed_first) {
        model->accessed_first = address;
    }
    if (!model->accessed_any || last > model->accessed_last) {
        model->accessed_last = last;
    }
    model->accessed_any = true;
    struct region *region = find_region(model, address);
    if (region == NULL) {
        model->unmapped_accesses++;
    } else if (region->kind != REGION_TCM) {
        unsigned shift = region->kind == REGION_CACHED ? model->data_cache.line_shift : UNIT_SHIFT;
        for (uint32_t unit = address >> shift; unit <= last >> shift; unit++) {
            add_access(model, region, unit << shift, store);
        }
    }
}

/* ---- scoreboard ---- */

static uint64_t latest(const uint64_t *ready, uint32_t registers, uint64_t floor)
{
    for (; registers != 0; registers &= registers - 1) {
        uint64_t cycle = ready[__builtin_ctz(registers)];
        if (cycle > floor) {
            floor = cycle;
        }
    }
    return floor;
}

static void mark_ready(uint64_t *ready, uint32_t registers, uint64_t cycle)
{
    for (; registers != 0; registers &= registers - 1) {
        ready[__builtin_ctz(registers)] = cycle;
    }
}

static uint64_t operands_ready(const struct timing_model *model, const struct instruction *i, uint64_t floor)
{
    uint64_t cycle = latest(model->core_ready, i->core_sources, floor);
    cycle = latest(model->vector_ready, i->vector_sources, cycle);
    cycle = latest(model->store_ready, i->store_data, cycle);
    if (i->gather_offsets != 0) {
        uint64_t offsets = latest(model->vector_ready, i->gather_offsets, 0);
        if (offsets != 0 && offsets + model->parameters.gather_offset_cycles > cycle) {
            cycle = offsets + model->parameters.gather_offset_cycles;
        }
    }
    return cycle;
}

/*
 * Whether `second` may issue in the cycle of the 16-bit instruction before it: one of the two is of the
 * pairable kinds, and `second` neither reads nor overwrites a register of the first.
 */
static bool may_pair(const struct timing_model *model, const struct instruction *second)
{
    const struct instruction *first = model->pair_first;
    if (first == NULL || second->size_bytes != 2 || !(first->pairable || second->pairable) ||
        model->now != model->pair_cycle + 1) {
        return false;
    }
    uint32_t written = first->core_results | first->core_writebacks;
    uint32_t overwritten = (second->core_results | second->core_writebacks) & ~(1u << REGISTER_FLAGS);
    return (written & (second->core_sources | overwritten)) == 0 &&
           operands_ready(model, second, model->pair_cycle) == model->pair_cycle;
}

static bool accesses_memory(enum timing_class c)
{
    return class_reads_memory(c) || class_writes_memory(c);
}

/* Cycles the issue stage is taken; more than the class's own for multiple, gather and scatter accesses. */
static unsigned issue_cycles(const struct timing_model *model, const struct instruction *i)
{
    const struct core_parameters *core = &model->parameters;
    switch (i->timing_class) {
    case CLASS_LOAD_MULTIPLE: case CLASS_STORE_MULTIPLE:
    case CLASS_FP_LOAD_MULTIPLE: case CLASS_FP_STORE_MULTIPLE: {
        unsigned cycles =
            (i->transfers + core->words_per_cycle - 1) / core->words_per_cycle + core->multiple_overhead_cycles;
        return cycles != 0 ? cycles : 1;
    }
    case CLASS_MVE_GATHER: case CLASS_MVE_SCATTER:
        return (i->transfers + core->gather_elements_per_cycle - 1) / core->gather_elements_per_cycle - 1;
    default:
        return model->classes[i->timing_class].issue_cycles;
    }
}

/* Whether a contiguous access touches one word more than an aligned one of its length would. */
static bool unaligned(const struct timing_model *model, enum timing_class c)
{
    bool contiguous = c == CLASS_LOAD || c == CLASS_STORE || c == CLASS_FP_LOAD || c == CLASS_FP_STORE ||
                      c == CLASS_MVE_LOAD || c == CLASS_MVE_STORE;
    uint32_t words = (model->accessed_last >> 2) - (model->accessed_first >> 2) + 1;
    uint32_t bytes = model->accessed_last - model->accessed_first + 1;
    return contiguous && words > (bytes + 3) / 4;
}

static bool multiple(enum timing_class c)
{
    return c == CLASS_LOAD_MULTIPLE || c == CLASS_STORE_MULTIPLE || c == CLASS_FP_LOAD_MULTIPLE ||
           c == CLASS_FP_STORE_MULTIPLE;
}

/* Waits for operands, for the pipeline, and for a load in front; returns the cycle of issue. */
static uint64_t issue_cycle(struct timing_model *model, const struct instruction *i)
{
    const struct class_parameters *parameters = &model->classes[i->timing_class];
    uint64_t ready = operands_ready(model, i, model->now);
    if (model->load_bubble_end > ready && !accesses_memory(i->timing_class)) {
        ready = model->load_bubble_end;
    }
    model->counters.stall_data += ready - model->now;
    uint64_t free = parameters->pipeline != PIPELINE_CORE ? model->pipeline_free[parameters->pipeline] : 0;
    if (free > ready) {
        model->counters.stall_pipeline += free - ready;
        ready = free;
    }
    return ready;
}

static void write_results(struct timing_model *model, const struct instruction *i, uint64_t issued, uint64_t done)
{
    const struct class_parameters *parameters = &model->classes[i->timing_class];
    uint64_t ready = done + parameters->latency_cycles;
    mark_ready(model->core_ready, i->core_results, ready);
    mark_ready(model->core_ready, i->core_writebacks, issued + 1);
    mark_ready(model->vector_ready, i->vector_results, ready);
    mark_ready(model->store_ready, i->vector_results, ready - parameters->store_forward_cycles);
}

/* The loop end is free while the core knows the loop; the first pass costs a branch and teaches it. */
static void retire_loop_end(struct timing_model *model, const struct instruction *i, bool taken)
{
    if (!taken) {
        model->loop_end_address = 1;
        return;
    }
    if (model->loop_end_address != i->address) {
        model->loop_end_address = i->address;
        model->now += model->parameters.loop_end_first_cycles;
        model->counters.branch += model->parameters.loop_end_first_cycles;
    }
}

static void retire_discontinuity(struct timing_model *model, const struct instruction *i)
{
    const struct core_parameters *core = &model->parameters;
    unsigned cycles = i->may_branch ? core->branch_taken_cycles - 1 : core->exception_entry_cycles;
    model->exceptions += !i->may_branch;
    model->now += cycles;
    model->counters.branch += cycles;
    model->pair_first = NULL;
}

static void issue_instruction(struct timing_model *model, const struct instruction *i)
{
    const struct class_parameters *parameters = &model->classes[i->timing_class];
    bool paired = model->parameters.dual_issue && may_pair(model, i);
    uint64_t issued = paired ? model->pair_cycle : issue_cycle(model, i);
    unsigned stall = 0, issue = issue_cycles(model, i);
    if (model->accessed_any) {
        stall = data_cycles(model);
        model->counters.stall_dcache += stall;
        if (unaligned(model, i->timing_class)) {
            stall += model->parameters.unaligned_cycles;
            model->counters.stall_pipeline += model->parameters.unaligned_cycles;
        }
    }
    uint64_t last = issued + stall + (issue > 1 ? issue - 1 : 0);
    write_results(model, i, issued, last);
    if (parameters->pipeline != PIPELINE_CORE) {
        model->pipeline_free[parameters->pipeline] = last + parameters->pipeline_cycles;
    }
    uint64_t next = issued + issue + stall;
    model->now = next > model->now ? next : model->now;
    if (class_reads_memory(i->timing_class) && !multiple(i->timing_class)) {
        model->load_bubble_end = model->now + model->parameters.load_bubble_cycles;
    }
    bool may_lead = !paired && i->size_bytes == 2 && issue == 1 && stall == 0;
    model->pair_first = may_lead ? i : NULL;
    model->pair_cycle = issued;
}

/* The cycle at which every beat in flight is done: what a marker reports. */
static uint64_t drained(const struct timing_model *model)
{
    uint64_t cycle = model->now;
    for (unsigned p = 0; p < PIPELINE_COUNT; p++) {
        if (model->pipeline_free[p] > cycle) {
            cycle = model->pipeline_free[p];
        }
    }
    return cycle;
}

static void record_event(struct timing_model *model, uint32_t marker)
{
    if (model->event_count == MAX_EVENTS) {
        model->events_dropped++;
        return;
    }
    if ((model->event_count & (model->event_count - 1)) == 0) { /* grow at each power of two */
        size_t capacity = model->event_count == 0 ? 1 : 2 * (size_t)model->event_count;
        struct event *grown = realloc(model->events, capacity * sizeof *grown);
        if (grown == NULL) {
            model->events_dropped++;
            return;
        }
        model->events = grown;
    }
    struct event *event = &model->events[model->event_count++];
    event->marker = marker;
    event->counters = model->counters;
    event->counters.cycles = drained(model);
}

static void forget_accesses(struct timing_model *model)
{
    model->accessed_count = 0;
    model->accessed_any = false;
    model->marker = 0;
}

void timing_model_retire(struct timing_model *model, const struct instruction *i, uint32_t next_address)
{
    if (model->marker != 0) { /* a marker is not part of the program: it costs nothing */
        record_event(model, model->marker - 1);
        forget_accesses(model);
        return;
    }
    uint64_t before = model->now;
    bool taken = next_address != i->address + i->size_bytes;
    unsigned fetch = fetch_cycles(model, i);
    model->now += fetch;
    model->counters.stall_icache += fetch;
    if (i->timing_class == CLASS_LOOP_END) {
        retire_loop_end(model, i, taken);
    } else {
        issue_instruction(model, i);
        if (taken) {
            retire_discontinuity(model, i);
        }
    }
    forget_accesses(model);
    model->counters.cycles = model->now;
    model->counters.instructions++;
    model->counters.class_instructions[i->timing_class]++;
    model->counters.class_cycles[i->timing_class] += model->now - before;
}
