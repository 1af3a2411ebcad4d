/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoder of Thumb, Armv8.1-M and MVE encodings into what a timing model needs to know.
 *
 * One instruction becomes one static record: its timing class, its registers, its number of
 * transfers. Nothing here depends on time or on a core. An encoding without a row becomes
 * CLASS_UNKNOWN and is counted by the caller; it is never guessed.
 */
#ifndef HELIA_DECODE_H
#define HELIA_DECODE_H

#include <stdbool.h>
#include <stdint.h>

/* Every timing class, with the name used in parameter files and reports. */
#define TIMING_CLASSES(X)                                                                          \
    X(UNKNOWN, "unknown")                                                                          \
    X(ALU, "alu")                               /* one-cycle integer operation, move, compare */   \
    X(ALU_SHIFT, "alu_shift")                   /* second operand shifted by a non-zero amount */  \
    X(BITFIELD, "bitfield")                     /* UBFX, SBFX */                                   \
    X(EXTEND_ADD, "extend_add")                 /* UXTAB and relatives */                          \
    X(PARALLEL, "parallel")                     /* SADD16, UHSUB8, ... and saturating QADD, SSAT */\
    X(SHIFT_LONG, "shift_long")                 /* 64-bit and saturating core register shifts */   \
    X(MULTIPLY, "multiply")                     /* MUL, MLA, SMULL, SMLAL, ... */                  \
    X(MULTIPLY_DUAL, "multiply_dual")           /* SMLAD, SMUAD, SMLABB, ... */                    \
    X(DIVIDE, "divide")                                                                            \
    X(LOAD, "load")                                                                                \
    X(LOAD_MULTIPLE, "load_multiple")           /* LDM, POP, LDRD */                               \
    X(STORE, "store")                                                                              \
    X(STORE_MULTIPLE, "store_multiple")         /* STM, PUSH, STRD */                              \
    X(BRANCH, "branch")                                                                            \
    X(LOOP_START, "loop_start")                 /* DLS, WLS, DLSTP, WLSTP, LCTP */                 \
    X(LOOP_END, "loop_end")                     /* LE, LETP */                                     \
    X(IT, "it")                                                                                    \
    X(NOP, "nop")                                                                                  \
    X(SYSTEM, "system")                         /* barriers, special registers, SVC, BKPT */       \
    X(FP_MOVE, "fp_move")                       /* register, immediate */                          \
    X(FP_SIMPLE, "fp_simple")                   /* abs, neg, min, max, select, VINS, VMOVX */      \
    X(FP_FROM_CORE, "fp_from_core")                                                                \
    X(FP_TO_CORE, "fp_to_core")                                                                    \
    X(FP_STATUS, "fp_status")                   /* VMRS, VMSR, system register load and store */   \
    X(FP_ADD, "fp_add")                         /* add, subtract */                                \
    X(FP_MULTIPLY, "fp_multiply")                                                                  \
    X(FP_MAC, "fp_mac")                         /* VMLA: multiply, round, add */                   \
    X(FP_FMA, "fp_fma")                                                                            \
    X(FP_CONVERT, "fp_convert")                                                                    \
    X(FP_COMPARE, "fp_compare")                                                                    \
    X(FP_DIVIDE16, "fp_divide16")               /* divide and square root */                       \
    X(FP_DIVIDE32, "fp_divide32")                                                                  \
    X(FP64_ADD, "fp64_add")                                                                        \
    X(FP64_MULTIPLY, "fp64_multiply")                                                              \
    X(FP64_MAC, "fp64_mac")                                                                        \
    X(FP64_FMA, "fp64_fma")                                                                        \
    X(FP64_DIVIDE, "fp64_divide")                                                                  \
    X(FP_LOAD, "fp_load")                                                                          \
    X(FP_LOAD_MULTIPLE, "fp_load_multiple")                                                        \
    X(FP_STORE, "fp_store")                                                                        \
    X(FP_STORE_MULTIPLE, "fp_store_multiple")                                                      \
    X(MVE_LOAD, "mve_load")                                                                        \
    X(MVE_LOAD_INTERLEAVED, "mve_load_interleaved")                                                \
    X(MVE_GATHER, "mve_gather")                                                                    \
    X(MVE_STORE, "mve_store")                                                                      \
    X(MVE_STORE_INTERLEAVED, "mve_store_interleaved")                                              \
    X(MVE_SCATTER, "mve_scatter")                                                                  \
    X(MVE_INTEGER, "mve_integer")               /* add, logic, min/max, plain shift, VDUP, VREV */ \
    X(MVE_IMMEDIATE, "mve_immediate")           /* VMOV of an immediate */                         \
    X(MVE_SHIFT_ROUND, "mve_shift_round")       /* rounding or saturating shift, carry */          \
    X(MVE_NARROW, "mve_narrow")                                                                    \
    X(MVE_MINMAX8, "mve_minmax8")               /* minimum or maximum across lanes */              \
    X(MVE_MINMAX16, "mve_minmax16")                                                                \
    X(MVE_MINMAX32, "mve_minmax32")                                                                \
    X(MVE_ABAV, "mve_abav")                                                                        \
    X(MVE_REDUCE, "mve_reduce")                 /* VADDV, VADDLV */                                \
    X(MVE_MULTIPLY, "mve_multiply")             /* vector result */                                \
    X(MVE_DOT, "mve_dot")                       /* VMLADAV and relatives: core register result */  \
    X(MVE_FP_ADD, "mve_fp_add")                                                                    \
    X(MVE_FP_MULTIPLY, "mve_fp_multiply")                                                          \
    X(MVE_CONVERT, "mve_convert")                                                                  \
    X(MVE_CONVERT_NARROW, "mve_convert_narrow")                                                    \
    X(MVE_COMPARE, "mve_compare")               /* VCMP, VPT */                                    \
    X(MVE_FROM_LANE, "mve_from_lane")                                                              \
    X(MVE_TO_LANE, "mve_to_lane")                                                                  \
    X(MVE_CONTROL, "mve_control")               /* VCTP, VPST, VPNOT */

enum timing_class {
#define X(id, name) CLASS_##id,
    TIMING_CLASSES(X)
#undef X
    CLASS_COUNT
};

extern const char *const timing_class_name[CLASS_COUNT];

/* Bits of the core register masks beyond r0..r15. */
#define REGISTER_SP 13u
#define REGISTER_LR 14u
#define REGISTER_PC 15u
#define REGISTER_FLAGS 16u /* APSR.NZCVQ */
#define REGISTER_VPR 17u
#define CORE_REGISTER_COUNT 18u
#define VECTOR_REGISTER_COUNT 32u /* s0..s31; q<n> is s<4n>..s<4n+3> */

struct instruction {
    uint32_t address;
    uint32_t encoding; /* first halfword in the high half when 32 bits wide */
    uint8_t size_bytes;
    uint8_t timing_class;
    bool pairable;      /* one of the 16-bit instructions that let a pair issue together */
    bool may_branch;    /* can change the address of the next instruction by itself */
    uint8_t transfers;  /* registers of a multiple load or store, lanes of a gather or scatter */
    uint32_t core_sources;
    uint32_t core_results;    /* available after the latency of the class */
    uint32_t core_writebacks; /* address registers: available after one cycle */
    uint32_t vector_sources;
    uint32_t vector_results;
    uint32_t store_data;     /* vector sources that a store reads late */
    uint32_t gather_offsets; /* vector sources that a gather or scatter reads early */
};

/* Decodes one instruction. `encoding` as in the record; never fails, see CLASS_UNKNOWN. */
struct instruction decode_instruction(uint32_t address, uint32_t encoding, unsigned size_bytes);

/* Decodes from the table of vector and floating-point encodings; false when no row matches. */
bool decode_vector(struct instruction *instruction);

static inline bool class_reads_memory(enum timing_class c)
{
    return c == CLASS_LOAD || c == CLASS_LOAD_MULTIPLE || c == CLASS_FP_LOAD ||
           c == CLASS_FP_LOAD_MULTIPLE || c == CLASS_MVE_LOAD || c == CLASS_MVE_LOAD_INTERLEAVED ||
           c == CLASS_MVE_GATHER;
}

static inline bool class_writes_memory(enum timing_class c)
{
    return c == CLASS_STORE || c == CLASS_STORE_MULTIPLE || c == CLASS_FP_STORE ||
           c == CLASS_FP_STORE_MULTIPLE || c == CLASS_MVE_STORE ||
           c == CLASS_MVE_STORE_INTERLEAVED || c == CLASS_MVE_SCATTER;
}

#endif
