/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QEMU side of the timing plugin: callbacks in, model calls out.
 *
 * QEMU announces an instruction before it runs and its memory accesses while it runs, so an instruction is
 * accounted for when the next one is announced; then its accesses and its successor are known.
 *
 * Arguments: params=<file> output=<file> markers=<hex base> marker_count=<n>. A store into
 * [markers, markers + 4 * marker_count) is an event.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin_api.h"
#include "timing_model.h"

#define RECORD_BUCKETS 65536u
#define MAX_UNKNOWN 32u

PLUGIN_EXPORT int qemu_plugin_version = 1;

/* One instruction at one address. Records live as long as the run: QEMU may translate code again. */
struct record {
    struct instruction instruction;
    struct record *next;
};

static struct timing_model model;
static struct record *records[RECORD_BUCKETS];
static const struct instruction *in_flight;
static const struct instruction *unknown[MAX_UNKNOWN];
static unsigned unknown_count;
static char *output_path;
static plugin_copy_insn_data copy_insn_data; /* NULL where QEMU returns a pointer instead */

/*
 * QEMU 9 dropped API 1. Nothing we use changed between 1 and 2, so under such a QEMU, known by a function that
 * came with API 2, the plugin declares 2. QEMU reads the variable after loading, so a constructor is in time.
 */
__attribute__((constructor)) static void choose_api_version(void)
{
    if (dlsym(RTLD_DEFAULT, "qemu_plugin_num_vcpus") != NULL) {
        qemu_plugin_version = 2;
    }
}

static const struct instruction *record_of(uint32_t address, uint32_t encoding, unsigned size_bytes)
{
    struct record **bucket = &records[address >> 1 & (RECORD_BUCKETS - 1)];
    for (struct record *r = *bucket; r != NULL; r = r->next) {
        const struct instruction *i = &r->instruction;
        if (i->address == address && i->encoding == encoding && i->size_bytes == size_bytes) {
            return i;
        }
    }
    struct record *r = malloc(sizeof *r);
    if (r == NULL) {
        fprintf(stderr, "helia timing plugin: out of memory\n");
        abort();
    }
    r->instruction = decode_instruction(address, encoding, size_bytes);
    if (!model.classes[r->instruction.timing_class].present) {
        r->instruction.timing_class = CLASS_UNKNOWN; /* not an instruction of this core */
    }
    r->next = *bucket;
    *bucket = r;
    return &r->instruction;
}

static void note_unknown(const struct instruction *instruction)
{
    for (unsigned i = 0; i < unknown_count; i++) {
        if (unknown[i] == instruction) {
            return;
        }
    }
    if (unknown_count < MAX_UNKNOWN) {
        unknown[unknown_count++] = instruction;
    }
}

static void on_execute(unsigned int vcpu, void *userdata)
{
    const struct instruction *instruction = userdata;
    (void)vcpu;
    if (in_flight != NULL) {
        timing_model_retire(&model, in_flight, instruction->address);
    }
    in_flight = instruction;
    if (instruction->timing_class == CLASS_UNKNOWN) {
        note_unknown(instruction);
    }
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    (void)vcpu;
    (void)userdata;
    timing_model_access(&model, (uint32_t)address, 1u << qemu_plugin_mem_size_shift(info),
                        qemu_plugin_mem_is_store(info));
}

/*
 * Size and encoding of an instruction. The first halfword decides the size: QEMU's own may be two bytes too long
 * where translation looked at the next instruction, which it does at the end of a page.
 */
static unsigned read_encoding(const struct qemu_plugin_insn *insn, uint32_t *encoding)
{
    uint8_t b[4] = {0};
    size_t available = qemu_plugin_insn_size(insn) < sizeof b ? qemu_plugin_insn_size(insn) : sizeof b;
    if (copy_insn_data != NULL) {
        copy_insn_data(insn, b, available);
    } else {
        memcpy(b, qemu_plugin_insn_data(insn), available);
    }
    uint32_t first = (uint32_t)b[0] | (uint32_t)b[1] << 8;
    uint32_t second = (uint32_t)b[2] | (uint32_t)b[3] << 8;
    bool wide = first >> 11 >= 0x1d;
    *encoding = wide ? first << 16 | second : first;
    return wide ? 4 : 2;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t n = 0; n < qemu_plugin_tb_n_insns(tb); n++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, n);
        uint32_t encoding;
        unsigned size_bytes = read_encoding(insn, &encoding);
        const struct instruction *instruction =
            record_of((uint32_t)qemu_plugin_insn_vaddr(insn), encoding, size_bytes);
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_execute, QEMU_PLUGIN_CB_NO_REGS, (void *)instruction);
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    }
}

/* Writes beside the output and renames, so a reader never sees half a report. */
static void on_exit_write_report(qemu_plugin_id_t id, void *userdata)
{
    char partial[4096];
    (void)id;
    (void)userdata;
    if (in_flight != NULL) {
        timing_model_retire(&model, in_flight, in_flight->address + in_flight->size_bytes);
        in_flight = NULL;
    }
    snprintf(partial, sizeof partial, "%s.partial", output_path);
    FILE *file = fopen(partial, "w");
    if (file == NULL) {
        fprintf(stderr, "helia timing plugin: cannot write %s\n", partial);
        return;
    }
    timing_model_report(&model, file, unknown, unknown_count);
    if (fclose(file) != 0 || rename(partial, output_path) != 0) {
        fprintf(stderr, "helia timing plugin: cannot write %s\n", output_path);
    }
}

static const char *argument(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') {
            return argv[i] + length + 1;
        }
    }
    fprintf(stderr, "helia timing plugin: argument %s= is missing\n", name);
    return NULL;
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    const char *params = argument(argc, argv, "params"), *output = argument(argc, argv, "output");
    const char *markers = argument(argc, argv, "markers"), *count = argument(argc, argv, "marker_count");
    char error[512];
    if (params == NULL || output == NULL || markers == NULL || count == NULL) {
        return -1;
    }
    if (strcmp(info->target_name, "arm") != 0) {
        fprintf(stderr, "helia timing plugin: target is %s, need arm\n", info->target_name);
        return -1;
    }
    if (info->version.cur >= 3) {
        copy_insn_data = (plugin_copy_insn_data)dlsym(RTLD_DEFAULT, "qemu_plugin_insn_data");
    }
    if (!timing_model_load(&model, params, error, sizeof error)) {
        fprintf(stderr, "helia timing plugin: %s\n", error);
        return -1;
    }
    output_path = strdup(output);
    model.marker_base = (uint32_t)strtoul(markers, NULL, 16);
    model.marker_end = model.marker_base + 4 * (uint32_t)strtoul(count, NULL, 10);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_atexit_cb(id, on_exit_write_report, NULL);
    return 0;
}
