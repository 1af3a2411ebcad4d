/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In-order timing model: parameters in, one call an executed instruction, cycle counts out.
 *
 * The model knows nothing of QEMU. All numbers come from a parameter file (runners/simulator/timing.py
 * writes it); all state lives in `struct timing_model`, so the same calls give the same counts.
 */
#ifndef HELIA_TIMING_MODEL_H
#define HELIA_TIMING_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "decode.h"

/* Raise when the same image may cost a different number of cycles; mirrored by timing.py. */
#define TIMING_MODEL_VERSION 1

#define MAX_REGIONS 16
#define MAX_ACCESSED_LINES 40
#define MAX_EVENTS 65536

enum pipeline {
    PIPELINE_CORE, /* no unit of its own: only the issue stage limits it */
    PIPELINE_CONTROL,
    PIPELINE_LOAD_STORE,
    PIPELINE_INTEGER,
    PIPELINE_FLOAT,
    PIPELINE_COUNT
};

struct class_parameters {
    bool present;
    unsigned issue_cycles;     /* cycles until the next instruction may issue */
    unsigned latency_cycles;   /* cycles from issue until a dependent instruction may issue */
    enum pipeline pipeline;
    unsigned pipeline_cycles;  /* cycles the pipeline stays taken: 2 beats of a vector instruction */
    unsigned store_forward_cycles; /* how much earlier a store may take the result */
};

enum region_kind { REGION_TCM, REGION_CACHED, REGION_UNCACHED };

struct region {
    char name[32];
    uint32_t base;
    uint32_t size_bytes;
    enum region_kind kind;
    unsigned read_fill_cycles, write_fill_cycles, eviction_cycles; /* cached: a line */
    unsigned read_wait_cycles, write_wait_cycles;                  /* uncached: an access */
    unsigned buffer_bytes; /* uncached: reads inside the last `buffer_bytes` line are free; 0 is none */
    uint32_t buffered_data, buffered_code; /* line numbers + 1 */
};

struct cache {
    unsigned size_bytes, ways, line_bytes; /* size 0: no cache */
    unsigned line_shift;
    uint32_t set_mask;
    uint32_t *lines; /* [set][way], most recently used first: line number << 2 | dirty << 1 | valid */
    uint64_t hits, misses, evictions;
};

struct core_parameters {
    unsigned dual_issue;
    unsigned branch_taken_cycles;
    unsigned loop_end_first_cycles;
    unsigned exception_entry_cycles;
    unsigned load_bubble_cycles;
    unsigned words_per_cycle;
    unsigned multiple_overhead_cycles;
    unsigned gather_elements_per_cycle;
    unsigned gather_offset_cycles;
    unsigned unaligned_cycles;
};

/* Totals since the start; an event stores a copy. */
struct counters {
    uint64_t cycles, instructions;
    uint64_t stall_data, stall_dcache, stall_icache, branch, stall_pipeline;
    uint64_t class_instructions[CLASS_COUNT], class_cycles[CLASS_COUNT];
};

struct event {
    uint32_t marker;
    struct counters counters;
};

struct timing_model {
    char core[32];
    struct core_parameters parameters;
    struct class_parameters classes[CLASS_COUNT];
    struct region regions[MAX_REGIONS];
    unsigned region_count;
    struct cache data_cache, code_cache;
    uint32_t marker_base, marker_end;

    /* Scoreboard: the cycle at which a value or a unit is free. */
    uint64_t now;
    uint64_t core_ready[CORE_REGISTER_COUNT];
    uint64_t vector_ready[VECTOR_REGISTER_COUNT];
    uint64_t store_ready[VECTOR_REGISTER_COUNT];
    uint64_t pipeline_free[PIPELINE_COUNT];
    uint64_t load_bubble_end;
    /* The first instruction of a possible pair, NULL when the next one must issue alone. */
    const struct instruction *pair_first;
    uint64_t pair_cycle;
    uint32_t loop_end_address; /* of the loop the core knows; 1 when it knows none */
    uint32_t fetched_line;     /* last line of code looked up, + 1 */

    /* Accesses of the instruction in flight to memories that can cost, merged to lines or 8-byte units. */
    struct {
        struct region *region;
        uint32_t address; /* of the line or unit */
        bool store;
    } accessed[MAX_ACCESSED_LINES];
    unsigned accessed_count;
    bool accessed_any;
    uint32_t accessed_first, accessed_last; /* lowest and highest byte */
    struct region *last_region;             /* of the last look-up, tried first by the next */
    uint32_t marker; /* marker written by it, + 1 */

    struct counters counters;
    struct event *events;
    unsigned event_count;
    uint64_t events_dropped;
    uint64_t unmapped_accesses;
    uint64_t exceptions;
};

/* Reads a parameter file. Returns false and writes the reason to `error` when it is not usable. */
bool timing_model_load(struct timing_model *model, const char *path, char *error, size_t error_size);

/* Notes one memory access of the instruction that is executing. */
void timing_model_access(struct timing_model *model, uint32_t address, unsigned size_bytes, bool store);

/*
 * Accounts for one executed instruction, after its accesses were noted.
 * `next_address` is where the core went on; it tells taken branches and exceptions.
 */
void timing_model_retire(struct timing_model *model, const struct instruction *instruction, uint32_t next_address);

/* Writes the report. */
void timing_model_report(const struct timing_model *model, FILE *file, const struct instruction *const *unknown,
                         unsigned unknown_count);

#endif
