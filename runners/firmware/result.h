/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What firmware and host exchange through memory: the stimulus header going in, the result struct coming out.
 *
 * The host reads both by these layouts (runners/firmware_result.py); a change of either raises its version.
 * All fields are little-endian 32-bit words, so there is no padding.
 */
#ifndef HELIA_RESULT_H
#define HELIA_RESULT_H

#include <stdint.h>

#define HELIA_STIMULUS_MAGIC 0x534d5448u /* "HTMS" */
#define HELIA_STIMULUS_VERSION 1u
#define HELIA_RESULT_MAGIC 0x53525448u /* "HTRS" */
#define HELIA_RESULT_VERSION 2u

/** Windows that fit the result: an empty one, warm-ups, repeats and the run with callbacks. */
#define HELIA_MAX_WINDOWS 256u

#define HELIA_BUILD_ID_BYTES 20u

/** Head of the stimulus buffer; the inputs follow, each padded to 16 bytes. */
typedef struct
{
    uint32_t magic;
    uint32_t version;
    uint32_t input_bytes;  /**< Bytes after this header. */
    uint32_t warmups;      /**< Runs before the timed ones. */
    uint32_t repeats;      /**< Timed runs, at least 1. */
    uint32_t per_operator; /**< Not 0: one more run with callbacks. */
    uint32_t reserved[2];
} helia_stimulus_header_t;

/** How the firmware ended. */
typedef enum
{
    HELIA_STATUS_OK = 0,
    HELIA_STATUS_RUNNING = 1,       /**< Not ended: this is what a host reads after a hang. */
    HELIA_STATUS_BAD_STIMULUS = 2,  /**< The buffer holds no stimulus for this module. */
    HELIA_STATUS_WRONG_LAYOUT = 3,  /**< The module's inputs or outputs are not those it was linked with. */
    HELIA_STATUS_INIT_FAILED = 4,   /**< `detail` is what init returned. */
    HELIA_STATUS_RUN_FAILED = 5,    /**< `detail` is what run returned, `failed_operator` where. */
    HELIA_STATUS_GUARD_BROKEN = 6,  /**< Someone wrote outside a buffer; `detail` says which guard. */
    HELIA_STATUS_FAULT = 7          /**< A fault; see the registers. */
} helia_status_t;

/** What stands behind `window_cycles` and the markers. */
typedef enum
{
    HELIA_COUNTER_NONE = 0,   /**< The counter does not run: numbers come from outside or not at all. */
    HELIA_COUNTER_CYCCNT = 1, /**< DWT cycle counter. */
    HELIA_COUNTER_TIMER = 2   /**< SysTick, shifted left by 8: a virtual board's stand-in, which is no timing. */
} helia_counter_t;

/** Caches of the core, as `caches` names them. */
#define HELIA_CACHE_INSTRUCTION 1u
#define HELIA_CACHE_DATA 2u

/** Events of the Armv8.1-M performance monitor: instructions, L1D refills, MVE instructions, back-end stalls. */
#define HELIA_EVENTS 4u
#define HELIA_EVENT_NUMBERS {0x0008u, 0x0003u, 0x0200u, 0x0024u}

/** Guards, as `detail` names them. */
typedef enum
{
    HELIA_GUARD_OUTPUTS = 1,
    HELIA_GUARD_STIMULUS = 2,
    HELIA_GUARD_STACK = 3
} helia_guard_t;

/** The result, at symbol `helia_result`. */
typedef struct
{
    uint32_t magic;
    uint32_t version;
    uint32_t size_bytes; /**< sizeof(helia_result_t). */
    uint32_t status;     /**< helia_status_t. */
    int32_t detail;
    int32_t failed_operator; /**< Operator that was running when it ended; -1 for none or not known. */
    uint8_t build_id[HELIA_BUILD_ID_BYTES]; /**< Build id of the running image. */
    uint32_t counter_kind;                  /**< helia_counter_t. */
    uint32_t counter_check; /**< Counts over a loop of HELIA_COUNTER_CHECK_ITERATIONS; 0 if it stood still. */
    uint32_t n_operators;
    uint32_t n_inputs;
    uint32_t n_outputs;
    uint32_t output_bytes;  /**< Bytes at `helia_outputs`. */
    uint32_t outputs_crc32; /**< CRC-32 (as zlib) over these bytes. */
    uint32_t runs;           /**< Completed runs of the model. */
    uint32_t differing_runs; /**< Runs whose outputs were not those of the first one. */
    uint32_t stack_bytes;    /**< Size of the stack. */
    uint32_t stack_used_bytes;
    /* Fault registers, 0 without a fault. */
    uint32_t cfsr;
    uint32_t hfsr;
    uint32_t mmfar;
    uint32_t bfar;
    uint32_t fault_pc; /**< 0 if the core could not stack it. */
    uint32_t fault_lr;
    uint32_t fault_psr;
    uint32_t fault_sp;
    uint32_t n_windows;
    uint32_t window_cycles[HELIA_MAX_WINDOWS]; /**< Counter differences, in order of time. */
    uint32_t window_ticks[HELIA_MAX_WINDOWS];  /**< The same by the second clock: SysTick at core clock, modulo 2^24. */
    uint32_t counter_check_ticks;              /**< `counter_check` by the second clock. */
    uint32_t caches;                           /**< HELIA_CACHE_* bits that are on. */
    uint32_t n_events;                         /**< Entries of `events`; 0 without a performance monitor. */
    uint32_t events[HELIA_EVENTS];             /**< Counts of HELIA_EVENT_NUMBERS over the last run without callbacks. */
} helia_result_t;

#define HELIA_COUNTER_CHECK_ITERATIONS 1000u

#endif /* HELIA_RESULT_H */
