/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of QEMU's TCG plugin interface that the timing plugin uses.
 *
 * Distributions do not ship QEMU's own header, so the few names are declared here. Written from the
 * interface's public documentation; API versions 1 (QEMU 6 to 8) and 2 or later (QEMU 9 on) are covered.
 */
#ifndef HELIA_QEMU_PLUGIN_API_H
#define HELIA_QEMU_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

/* What QEMU tells a plugin about itself; `version.cur` is the newest API it speaks. */
typedef struct {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus;
        int max_vcpus;
    } system;
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };

typedef void (*plugin_translate_callback)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*plugin_execute_callback)(unsigned int vcpu, void *userdata);
typedef void (*plugin_memory_callback)(unsigned int vcpu, qemu_plugin_meminfo_t, uint64_t vaddr,
                                       void *userdata);
typedef void (*plugin_exit_callback)(qemu_plugin_id_t, void *userdata);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, plugin_translate_callback);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, plugin_execute_callback,
                                            enum qemu_plugin_cb_flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, plugin_memory_callback,
                                      enum qemu_plugin_cb_flags, enum qemu_plugin_mem_rw,
                                      void *userdata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, plugin_exit_callback, void *userdata);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);

/* API 1 and 2 return a pointer to the bytes; API 3 and later copy them. Same symbol, two types. */
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
typedef size_t (*plugin_copy_insn_data)(const struct qemu_plugin_insn *, void *to, size_t length);

#endif
