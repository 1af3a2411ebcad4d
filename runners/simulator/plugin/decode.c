/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thumb integer encodings, 16 and 32 bits wide; vector and floating point are in decode_vector.c.
 *
 * The functions follow the encoding tree of the Armv8-M Architecture Reference Manual, one function a branch
 * of the tree. `f(first, second)` arguments are the two halfwords.
 */
#include "decode.h"

#include <stddef.h>

const char *const timing_class_name[CLASS_COUNT] = {
#define X(id, name) name,
    TIMING_CLASSES(X)
#undef X
};

#define FLAGS (1u << REGISTER_FLAGS)

static uint32_t bits(uint32_t word, unsigned high, unsigned low)
{
    return (word >> low) & ((1u << (high - low + 1)) - 1u);
}

/* The mask of one core register. PC is never waited for: as a source it is the address itself. */
static uint32_t core(uint32_t number)
{
    return number == REGISTER_PC ? 0 : 1u << number;
}

static unsigned count_registers(uint32_t list)
{
    unsigned count = 0;
    for (; list != 0; list &= list - 1) {
        count++;
    }
    return count;
}

static void set(struct instruction *i, enum timing_class c, uint32_t results, uint32_t sources)
{
    i->timing_class = (uint8_t)c;
    i->core_results = results;
    i->core_sources = sources;
}

static void set_branch(struct instruction *i, uint32_t results, uint32_t sources)
{
    set(i, CLASS_BRANCH, results, sources);
    i->may_branch = true;
}

static void set_load(struct instruction *i, uint32_t target, uint32_t address_registers)
{
    set(i, CLASS_LOAD, core(target), address_registers);
    i->may_branch = target == REGISTER_PC;
}

static void set_store(struct instruction *i, uint32_t source, uint32_t address_registers)
{
    set(i, CLASS_STORE, 0, core(source) | address_registers);
}

static void set_multiple(struct instruction *i, bool load, uint32_t list, uint32_t base, bool write_back)
{
    uint32_t registers = list & 0x7fff;
    set(i, load ? CLASS_LOAD_MULTIPLE : CLASS_STORE_MULTIPLE, load ? registers : 0,
        core(base) | (load ? 0 : registers));
    i->transfers = (uint8_t)count_registers(list);
    i->may_branch = load && bits(list, REGISTER_PC, REGISTER_PC);
    i->core_writebacks = write_back ? core(base) & ~i->core_results : 0;
}

/* ---- 16-bit encodings ---- */

/* 010000: two-register data processing. */
static void decode16_data_processing(struct instruction *i, uint32_t w)
{
    uint32_t d = core(bits(w, 2, 0)), m = core(bits(w, 5, 3));
    switch (bits(w, 9, 6)) {
    case 8: case 10: case 11: /* TST, CMP, CMN */
        set(i, CLASS_ALU, FLAGS, d | m);
        break;
    case 9: case 15: /* RSB #0, MVN */
        set(i, CLASS_ALU, d | FLAGS, m);
        break;
    case 5: case 6: /* ADC, SBC */
        set(i, CLASS_ALU, d | FLAGS, d | m | FLAGS);
        break;
    case 13:
        set(i, CLASS_MULTIPLY, d | FLAGS, d | m);
        break;
    default:
        set(i, CLASS_ALU, d | FLAGS, d | m);
        break;
    }
}

/* 010001: operations on any of the sixteen registers, and branches by register. */
static void decode16_high_registers(struct instruction *i, uint32_t w)
{
    uint32_t number = bits(w, 2, 0) | bits(w, 7, 7) << 3, m = core(bits(w, 6, 3));
    switch (bits(w, 9, 8)) {
    case 0:
        set(i, CLASS_ALU, core(number), core(number) | m);
        i->may_branch = number == REGISTER_PC;
        break;
    case 1:
        set(i, CLASS_ALU, FLAGS, core(number) | m);
        break;
    case 2:
        set(i, CLASS_ALU, core(number), m);
        i->pairable = true;
        i->may_branch = number == REGISTER_PC;
        break;
    default: /* BX, BLX, BXNS, BLXNS */
        set_branch(i, bits(w, 7, 7) ? core(REGISTER_LR) : 0, m);
        i->pairable = true;
        break;
    }
}

/* 000xxx and 001xxx: shift, add, subtract, move, compare with an immediate. */
static void decode16_immediate(struct instruction *i, uint32_t w)
{
    uint32_t low = core(bits(w, 2, 0)), mid = core(bits(w, 5, 3)), third = core(bits(w, 8, 6));
    uint32_t big = core(bits(w, 10, 8));
    if (bits(w, 13, 11) < 3) {
        set(i, CLASS_ALU, low | FLAGS, mid);
    } else if (bits(w, 13, 11) == 3) {
        bool immediate = bits(w, 10, 10);
        set(i, CLASS_ALU, low | FLAGS, mid | (immediate ? 0 : third));
        i->pairable = immediate;
    } else if (bits(w, 12, 11) == 0) { /* MOV */
        set(i, CLASS_ALU, big | FLAGS, 0);
        i->pairable = true;
    } else if (bits(w, 12, 11) == 1) { /* CMP */
        set(i, CLASS_ALU, FLAGS, big);
    } else {
        set(i, CLASS_ALU, big | FLAGS, big);
        i->pairable = true;
    }
}

/* 0101, 011x, 100x: load or store of one register. */
static void decode16_load_store(struct instruction *i, uint32_t w)
{
    uint32_t target = bits(w, 2, 0), base = core(bits(w, 5, 3));
    bool load = bits(w, 11, 11);
    if (bits(w, 15, 12) == 5) {
        load = bits(w, 11, 9) >= 3;
        base |= core(bits(w, 8, 6));
    } else if (bits(w, 15, 12) == 9) {
        target = bits(w, 10, 8);
        base = core(REGISTER_SP);
    }
    if (load) {
        set_load(i, target, base);
    } else {
        set_store(i, target, base);
    }
}

/* 10111111: IT when the low bits are a mask, else a hint. */
static void decode16_it_or_hint(struct instruction *i, uint32_t w)
{
    set(i, bits(w, 3, 0) ? CLASS_IT : CLASS_NOP, 0, 0);
    i->pairable = true;
}

static void decode16_miscellaneous(struct instruction *i, uint32_t w)
{
    uint32_t low = core(bits(w, 2, 0)), mid = core(bits(w, 5, 3)), sp = core(REGISTER_SP);
    if (bits(w, 11, 8) == 0) { /* ADD, SUB SP, #imm */
        set(i, CLASS_ALU, sp, sp);
    } else if (bits(w, 8, 8) == 1 && bits(w, 10, 10) == 0) { /* CBZ, CBNZ */
        set_branch(i, 0, low);
        i->pairable = true;
    } else if (bits(w, 11, 8) == 2) { /* SXTH, SXTB, UXTH, UXTB */
        set(i, CLASS_ALU, low, mid);
        i->pairable = true;
    } else if (bits(w, 10, 9) == 2) { /* PUSH, POP */
        bool pop = bits(w, 11, 11);
        set_multiple(i, pop, bits(w, 7, 0) | bits(w, 8, 8) << (pop ? 15 : 14), REGISTER_SP, true);
    } else if (bits(w, 11, 8) == 10 && bits(w, 7, 6) != 2) { /* REV, REV16, REVSH */
        set(i, CLASS_ALU, low, mid);
    } else if (bits(w, 11, 8) == 14) { /* BKPT */
        set(i, CLASS_SYSTEM, 0, 0);
    } else if (bits(w, 11, 8) == 15) {
        decode16_it_or_hint(i, w);
    } else if (bits(w, 11, 5) == 0x33) { /* CPS */
        set(i, CLASS_SYSTEM, 0, 0);
    }
}

static void decode16(struct instruction *i)
{
    uint32_t w = i->encoding;
    switch (bits(w, 15, 12)) {
    case 0: case 1: case 2: case 3:
        decode16_immediate(i, w);
        break;
    case 4:
        if (bits(w, 11, 11)) {
            set_load(i, bits(w, 10, 8), 0); /* literal */
        } else if (bits(w, 10, 10)) {
            decode16_high_registers(i, w);
        } else {
            decode16_data_processing(i, w);
        }
        break;
    case 5: case 6: case 7: case 8: case 9:
        decode16_load_store(i, w);
        break;
    case 10: /* ADR, ADD Rd, SP, #imm */
        set(i, CLASS_ALU, core(bits(w, 10, 8)), bits(w, 11, 11) ? core(REGISTER_SP) : 0);
        break;
    case 11:
        decode16_miscellaneous(i, w);
        break;
    case 12:
        set_multiple(i, bits(w, 11, 11), bits(w, 7, 0), bits(w, 10, 8), true);
        break;
    case 13:
        if (bits(w, 11, 8) == 15) {
            set(i, CLASS_SYSTEM, 0, 0); /* SVC */
        } else if (bits(w, 11, 8) != 14) {
            set_branch(i, 0, FLAGS);
            i->pairable = true;
        }
        break;
    default: /* 14: B */
        set_branch(i, 0, 0);
        i->pairable = true;
        break;
    }
}

/* ---- 32-bit encodings ---- */

/* 11101000, 11101001 with bit 6 clear: LDM, STM, and CLRM in the hole LDM PC. */
static bool decode32_multiple(struct instruction *i, uint32_t first, uint32_t second)
{
    uint32_t base = bits(first, 3, 0);
    unsigned direction = bits(first, 8, 7);
    if (direction != 1 && direction != 2) {
        return false;
    }
    if (first == 0xe89f) { /* CLRM */
        set(i, CLASS_ALU, second & 0x7fff, 0);
        return true;
    }
    set_multiple(i, bits(first, 4, 4), second, base, bits(first, 5, 5));
    return true;
}

/* 1110100x with bit 6 set and no index bits: exclusive and ordered accesses, table branch, TT. */
static bool decode32_exclusive(struct instruction *i, uint32_t first, uint32_t second)
{
    uint32_t base = core(bits(first, 3, 0)), target = bits(second, 15, 12);
    bool load = bits(first, 4, 4);
    unsigned operation = bits(second, 7, 4);
    if (bits(first, 8, 7) == 0) { /* LDREX, STREX, TT */
        bool test_target = !load && bits(second, 15, 12) == 15;
        if (test_target) {
            set(i, CLASS_SYSTEM, core(bits(second, 11, 8)), base);
        } else if (load) {
            set_load(i, target, base);
        } else {
            set(i, CLASS_STORE, core(bits(second, 11, 8)), base | core(target));
        }
        return true;
    }
    if (load && operation <= 1) { /* TBB, TBH: a load, then a branch */
        set_branch(i, 0, base | core(bits(second, 3, 0)));
        return true;
    }
    bool ordered = operation == 8 || operation == 9 || operation == 10 || operation == 12 ||
                   operation == 13 || operation == 14 || operation == 4 || operation == 5;
    if (!ordered) {
        return false;
    }
    if (load) {
        set_load(i, target, base);
    } else {
        set(i, CLASS_STORE, operation == 8 || operation == 9 || operation == 10 ? 0 : core(bits(second, 3, 0)),
            base | core(target));
    }
    return true;
}

static bool decode32_dual_or_exclusive(struct instruction *i, uint32_t first, uint32_t second)
{
    bool indexed = bits(first, 8, 8), write_back = bits(first, 5, 5);
    if (first == 0xe97f && second == 0xe97f) { /* SG */
        set(i, CLASS_SYSTEM, 0, 0);
        return true;
    }
    if (!indexed && !write_back) {
        return decode32_exclusive(i, first, second);
    }
    uint32_t base = bits(first, 3, 0);
    uint32_t pair = core(bits(second, 15, 12)) | core(bits(second, 11, 8));
    set_multiple(i, bits(first, 4, 4), pair, base, write_back);
    return true;
}

/* EA5x with no plain meaning: conditional select, and shifts of one or two core registers. */
static bool decode32_armv81m_data(struct instruction *i, uint32_t first, uint32_t second)
{
    bool by_register = bits(second, 3, 0) == 13;
    if (!by_register && bits(second, 15, 14) == 2) { /* CSEL, CSINC, CSINV, CSNEG */
        set(i, CLASS_ALU, core(bits(second, 11, 8)),
            core(bits(first, 3, 0)) | core(bits(second, 3, 0)) | FLAGS);
        return true;
    }
    if (!by_register && bits(second, 3, 0) != 15) {
        return false;
    }
    uint32_t amount = by_register ? core(bits(second, 15, 12)) : 0;
    uint32_t shifted = bits(second, 11, 8) == 15
                           ? core(bits(first, 3, 0))
                           : core(bits(first, 3, 1) << 1) | core(bits(second, 11, 9) << 1 | 1);
    set(i, CLASS_SHIFT_LONG, shifted, shifted | amount);
    return true;
}

/* 1110101: data processing, second operand a shifted register. */
static bool decode32_shifted_register(struct instruction *i, uint32_t first, uint32_t second)
{
    unsigned operation = bits(first, 8, 5);
    uint32_t n = bits(first, 3, 0), d = bits(second, 11, 8), m = bits(second, 3, 0);
    bool sets_flags = bits(first, 4, 4);
    unsigned amount = bits(second, 14, 12) << 2 | bits(second, 7, 6);
    if (operation == 2 && sets_flags && (bits(second, 15, 15) || m == 13 || m == 15)) {
        return decode32_armv81m_data(i, first, second);
    }
    if (operation == 5 || operation == 7 || operation == 9 || operation == 12 || operation == 15) {
        return false;
    }
    bool move = (operation == 2 || operation == 3) && n == 15;
    bool compare = d == 15 && sets_flags && (operation == 0 || operation == 4 || operation == 8 || operation == 13);
    bool carry_in = operation == 10 || operation == 11;
    bool shifted = amount != 0 || bits(second, 5, 4) != 0;
    /* LSL #n and the like alone are plain shifts: MOV with a shifted operand and no first operand. */
    enum timing_class c = shifted && !move ? CLASS_ALU_SHIFT : CLASS_ALU;
    set(i, c, (compare ? 0 : core(d)) | (sets_flags ? FLAGS : 0),
        (move ? 0 : core(n)) | core(m) | (carry_in ? FLAGS : 0));
    return true;
}

/* 11110 x 0: data processing with a modified immediate. */
static bool decode32_modified_immediate(struct instruction *i, uint32_t first, uint32_t second)
{
    unsigned operation = bits(first, 8, 5);
    uint32_t n = bits(first, 3, 0), d = bits(second, 11, 8);
    bool sets_flags = bits(first, 4, 4);
    if (operation == 5 || operation == 6 || operation == 7 || operation == 9 || operation == 12 || operation == 15) {
        return false;
    }
    bool compare = d == 15 && sets_flags && (operation == 0 || operation == 4 || operation == 8 || operation == 13);
    bool move = (operation == 2 || operation == 3) && n == 15;
    bool carry_in = operation == 10 || operation == 11;
    set(i, CLASS_ALU, (compare ? 0 : core(d)) | (sets_flags ? FLAGS : 0),
        (move ? 0 : core(n)) | (carry_in ? FLAGS : 0));
    return true;
}

/* 11110 x 1: data processing with a plain immediate. */
static bool decode32_plain_immediate(struct instruction *i, uint32_t first, uint32_t second)
{
    uint32_t n = core(bits(first, 3, 0)), d = core(bits(second, 11, 8));
    switch (bits(first, 8, 4)) {
    case 0: case 10: /* ADDW, SUBW, ADR */
        set(i, CLASS_ALU, d, n);
        return true;
    case 4: /* MOVW */
        set(i, CLASS_ALU, d, 0);
        return true;
    case 12: /* MOVT keeps the low half */
        set(i, CLASS_ALU, d, d);
        return true;
    case 16: case 18: case 24: case 26: /* SSAT, SSAT16, USAT, USAT16 */
        set(i, CLASS_PARALLEL, d | FLAGS, n);
        return true;
    case 20: case 28: /* SBFX, UBFX */
        set(i, CLASS_BITFIELD, d, n);
        return true;
    case 22: /* BFI, BFC */
        set(i, CLASS_ALU, d, d | n);
        return true;
    default:
        return false;
    }
}

/* 11110 0 000x with 11x0 in the second halfword: low-overhead loops and branch future. */
static bool decode32_loop(struct instruction *i, uint32_t first, uint32_t second)
{
    uint32_t lr = core(REGISTER_LR), n = core(bits(first, 3, 0));
    bool start = bits(first, 6, 6) || bits(first, 3, 0) != 15; /* 0xf00f is LE, LETP, LCTP */
    if (bits(second, 13, 13)) {
        if (bits(second, 12, 0) == 1 && bits(first, 10, 7) == 0) { /* DLS, DLSTP, LCTP */
            set(i, CLASS_LOOP_START, start ? lr : 0, start ? n : 0);
            return true;
        }
        return false;
    }
    if (!bits(second, 0, 0) || bits(first, 10, 7) != 0) {
        return false;
    }
    if (start) {
        set(i, CLASS_LOOP_START, lr, n); /* WLS, WLSTP: leaves forward when the count is zero */
        i->may_branch = true;
    } else {
        bool counts = bits(first, 5, 5) == 0;
        set(i, CLASS_LOOP_END, counts ? lr : 0, counts ? lr : 0);
        i->may_branch = true;
    }
    return true;
}

/* 11110 with bit 15 of the second halfword set: branches and control. */
static bool decode32_branch_control(struct instruction *i, uint32_t first, uint32_t second)
{
    unsigned kind = bits(second, 14, 14) << 1 | bits(second, 12, 12);
    if (kind == 3) { /* BL */
        set_branch(i, core(REGISTER_LR), 0);
        return true;
    }
    if (kind == 1) { /* B, 24-bit range */
        set_branch(i, 0, 0);
        return true;
    }
    if (kind == 2) {
        return decode32_loop(i, first, second);
    }
    if (bits(first, 9, 7) != 7) { /* B<cond> */
        set_branch(i, 0, FLAGS);
        return true;
    }
    switch (bits(first, 10, 4)) {
    case 0x38: case 0x39: /* MSR */
        set(i, CLASS_SYSTEM, FLAGS, core(bits(first, 3, 0)));
        return true;
    case 0x3a: /* hints */
        set(i, CLASS_NOP, 0, 0);
        return true;
    case 0x3b: /* CLREX, DSB, DMB, ISB */
        set(i, CLASS_SYSTEM, 0, 0);
        return true;
    case 0x3e: case 0x3f: /* MRS */
        set(i, CLASS_SYSTEM, core(bits(second, 11, 8)), FLAGS);
        return true;
    default:
        return false;
    }
}

/* 1111100: load or store of one register. */
static bool decode32_load_store(struct instruction *i, uint32_t first, uint32_t second)
{
    uint32_t base = bits(first, 3, 0), target = bits(second, 15, 12);
    bool load = bits(first, 4, 4), literal = load && base == 15, long_immediate = bits(first, 7, 7);
    unsigned size = bits(first, 6, 5);
    if (size == 3 || (bits(first, 8, 8) && (!load || size == 2))) {
        return false;
    }
    uint32_t address = core(base);
    bool write_back = false;
    if (!literal && !long_immediate) {
        if (bits(second, 11, 11)) {
            write_back = bits(second, 8, 8);
        } else if (bits(second, 10, 6) == 0) {
            address |= core(bits(second, 3, 0));
        } else {
            return false;
        }
    }
    if (load && target == 15 && size != 2) { /* PLD, PLI: hints */
        set(i, CLASS_NOP, 0, address);
        return true;
    }
    if (load) {
        set_load(i, target, address);
    } else {
        set_store(i, target, address);
    }
    i->core_writebacks = write_back ? core(base) & ~i->core_results : 0;
    return true;
}

/* 11111010: shifts by register, extends, parallel arithmetic, bit reversal. */
static bool decode32_register_data(struct instruction *i, uint32_t first, uint32_t second)
{
    unsigned operation = bits(first, 7, 4), selector = bits(second, 7, 4);
    uint32_t n = bits(first, 3, 0), d = core(bits(second, 11, 8)), m = core(bits(second, 3, 0));
    if (bits(second, 15, 12) != 15) {
        return false;
    }
    if (operation < 8 && selector == 0) { /* LSL, LSR, ASR, ROR by register */
        set(i, CLASS_ALU, d | (bits(first, 4, 4) ? FLAGS : 0), core(n) | m);
        return true;
    }
    if (operation < 6 && selector >= 8) { /* extends, with or without add */
        set(i, n == 15 ? CLASS_ALU : CLASS_EXTEND_ADD, d, core(n) | m);
        return true;
    }
    if (operation >= 8 && selector < 8) { /* SADD8 ... UHSUB16 */
        set(i, CLASS_PARALLEL, d | FLAGS, core(n) | m);
        return true;
    }
    if (operation == 8 && selector < 12) { /* QADD, QDADD, QSUB, QDSUB */
        set(i, CLASS_PARALLEL, d | FLAGS, core(n) | m);
        return true;
    }
    if (operation == 9 && selector < 12) { /* REV, REV16, RBIT, REVSH */
        set(i, CLASS_ALU, d, m);
        return true;
    }
    if (operation == 10 && selector == 8) { /* SEL */
        set(i, CLASS_ALU, d, core(n) | m | FLAGS);
        return true;
    }
    if (operation == 11 && selector == 8) { /* CLZ */
        set(i, CLASS_ALU, d, m);
        return true;
    }
    return false;
}

/* 111110110: multiplies with a 32-bit result. */
static bool decode32_multiply(struct instruction *i, uint32_t first, uint32_t second)
{
    unsigned operation = bits(first, 6, 4);
    uint32_t sources = core(bits(first, 3, 0)) | core(bits(second, 3, 0)) | core(bits(second, 15, 12));
    if (bits(second, 7, 6) != 0) {
        return false;
    }
    bool plain = operation == 0 && bits(second, 5, 5) == 0; /* MUL, MLA, MLS */
    set(i, plain ? CLASS_MULTIPLY : CLASS_MULTIPLY_DUAL, core(bits(second, 11, 8)), sources);
    return true;
}

/* 111110111: multiplies with a 64-bit result, divides. */
static bool decode32_long_multiply(struct instruction *i, uint32_t first, uint32_t second)
{
    unsigned operation = bits(first, 6, 4), selector = bits(second, 7, 4);
    uint32_t sources = core(bits(first, 3, 0)) | core(bits(second, 3, 0));
    uint32_t low = core(bits(second, 15, 12)), high = core(bits(second, 11, 8));
    if (selector == 15 && (operation == 1 || operation == 3)) {
        set(i, CLASS_DIVIDE, high, sources);
        return true;
    }
    bool plain = selector == 0 && operation % 2 == 0;
    bool accumulate = operation >= 4;
    bool dual = (operation == 4 && selector >= 8 && selector < 14) ||
                (operation == 5 && (selector == 12 || selector == 13)) ||
                (operation == 6 && selector == 6);
    if (!plain && !dual) {
        return false;
    }
    set(i, plain || operation == 6 ? CLASS_MULTIPLY : CLASS_MULTIPLY_DUAL, low | high,
        sources | (accumulate ? low | high : 0));
    return true;
}

static bool decode32(struct instruction *i)
{
    uint32_t first = i->encoding >> 16, second = i->encoding & 0xffff;
    if (bits(first, 15, 9) == 0x74) { /* 1110100 */
        return bits(first, 6, 6) ? decode32_dual_or_exclusive(i, first, second)
                                 : decode32_multiple(i, first, second);
    }
    if (bits(first, 15, 9) == 0x75) { /* 1110101 */
        return decode32_shifted_register(i, first, second);
    }
    if (bits(first, 15, 11) == 0x1e) { /* 11110 */
        if (bits(second, 15, 15)) {
            return decode_vector(i) || decode32_branch_control(i, first, second);
        }
        return bits(first, 9, 9) ? decode32_plain_immediate(i, first, second)
                                 : decode32_modified_immediate(i, first, second);
    }
    if (bits(first, 15, 9) == 0x7c) { /* 1111100 */
        return decode32_load_store(i, first, second);
    }
    if (bits(first, 15, 8) == 0xfa) {
        return decode32_register_data(i, first, second);
    }
    if (bits(first, 15, 7) == 0x1f6) {
        return decode32_multiply(i, first, second);
    }
    if (bits(first, 15, 7) == 0x1f7) {
        return decode32_long_multiply(i, first, second);
    }
    return decode_vector(i); /* 111x11: coprocessor space */
}

struct instruction decode_instruction(uint32_t address, uint32_t encoding, unsigned size_bytes)
{
    struct instruction instruction = {
        .address = address, .encoding = encoding, .size_bytes = (uint8_t)size_bytes,
        .timing_class = CLASS_UNKNOWN,
    };
    if (size_bytes == 2) {
        decode16(&instruction);
    } else if (!decode32(&instruction)) {
        instruction.timing_class = CLASS_UNKNOWN;
    }
    return instruction;
}
