/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of the parameter file: one fact a line, words separated by blanks. timing.py writes it.
 *
 *   model_version N          core NAME              <core parameter> N
 *   class NAME ISSUE LATENCY PIPELINE PIPELINE_CYCLES STORE_FORWARD
 *   cache data|code SIZE WAYS LINE
 *   region NAME BASE SIZE tcm|cached|uncached READ_FILL WRITE_FILL EVICTION READ_WAIT WRITE_WAIT BUFFER
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "timing_model.h"

static const char *const pipeline_name[PIPELINE_COUNT] = {"core", "control", "load_store", "integer", "float"};

static const struct {
    const char *name;
    size_t offset;
} core_parameter[] = {
#define P(name) {#name, offsetof(struct core_parameters, name)}
    P(dual_issue), P(branch_taken_cycles), P(loop_end_first_cycles), P(exception_entry_cycles),
    P(load_bubble_cycles), P(words_per_cycle), P(multiple_overhead_cycles), P(gather_elements_per_cycle),
    P(gather_offset_cycles), P(unaligned_cycles),
#undef P
};

static int index_of(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static bool read_class(struct timing_model *model, const char *line)
{
    char name[48], pipeline[48];
    struct class_parameters c = {.present = true};
    if (sscanf(line, "class %47s %u %u %47s %u %u", name, &c.issue_cycles, &c.latency_cycles, pipeline,
               &c.pipeline_cycles, &c.store_forward_cycles) != 6) {
        return false;
    }
    int which = index_of(name, timing_class_name, CLASS_COUNT);
    int pipe = index_of(pipeline, pipeline_name, PIPELINE_COUNT);
    if (which < 0 || pipe < 0 || c.store_forward_cycles > c.latency_cycles) {
        return false;
    }
    c.pipeline = (enum pipeline)pipe;
    model->classes[which] = c;
    return true;
}

static bool is_power_of_two(unsigned n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static bool read_cache(struct timing_model *model, const char *line)
{
    char which[16];
    unsigned size, ways, line_bytes;
    if (sscanf(line, "cache %15s %u %u %u", which, &size, &ways, &line_bytes) != 4) {
        return false;
    }
    struct cache *cache = strcmp(which, "data") == 0 ? &model->data_cache
                        : strcmp(which, "code") == 0 ? &model->code_cache : NULL;
    if (cache == NULL || ways == 0 || !is_power_of_two(line_bytes) || !is_power_of_two(size / (ways * line_bytes)) ||
        size % (ways * line_bytes) != 0) {
        return false;
    }
    cache->size_bytes = size;
    cache->ways = ways;
    cache->line_bytes = line_bytes;
    cache->line_shift = (unsigned)__builtin_ctz(line_bytes);
    cache->set_mask = size / (ways * line_bytes) - 1;
    cache->lines = calloc(size / line_bytes, sizeof *cache->lines);
    return cache->lines != NULL;
}

static bool read_region(struct timing_model *model, const char *line)
{
    char kind[16];
    struct region r = {0};
    if (model->region_count == MAX_REGIONS ||
        sscanf(line, "region %31s %x %u %15s %u %u %u %u %u %u", r.name, &r.base, &r.size_bytes, kind,
               &r.read_fill_cycles, &r.write_fill_cycles, &r.eviction_cycles, &r.read_wait_cycles,
               &r.write_wait_cycles, &r.buffer_bytes) != 10) {
        return false;
    }
    static const char *const kinds[] = {"tcm", "cached", "uncached"};
    int which = index_of(kind, kinds, 3);
    if (which < 0) {
        return false;
    }
    r.kind = (enum region_kind)which;
    model->regions[model->region_count++] = r;
    return true;
}

static bool read_core_parameter(struct timing_model *model, const char *line, uint32_t *seen)
{
    char name[48];
    unsigned value;
    if (sscanf(line, "%47s %u", name, &value) != 2) {
        return false;
    }
    for (size_t i = 0; i < sizeof core_parameter / sizeof core_parameter[0]; i++) {
        if (strcmp(name, core_parameter[i].name) == 0) {
            memcpy((char *)&model->parameters + core_parameter[i].offset, &value, sizeof value);
            *seen |= 1u << i;
            return true;
        }
    }
    return false;
}

static bool read_line(struct timing_model *model, const char *line, uint32_t *seen, unsigned *version)
{
    if (strncmp(line, "class ", 6) == 0) {
        return read_class(model, line);
    }
    if (strncmp(line, "cache ", 6) == 0) {
        return read_cache(model, line);
    }
    if (strncmp(line, "region ", 7) == 0) {
        return read_region(model, line);
    }
    if (strncmp(line, "core ", 5) == 0) {
        return sscanf(line, "core %31s", model->core) == 1;
    }
    if (strncmp(line, "model_version ", 14) == 0) {
        return sscanf(line, "model_version %u", version) == 1;
    }
    return read_core_parameter(model, line, seen);
}

static bool check_complete(const struct timing_model *model, uint32_t seen, unsigned version, char *error, size_t size)
{
    if (version != TIMING_MODEL_VERSION) {
        snprintf(error, size, "model_version is %u, this plugin has %u", version, TIMING_MODEL_VERSION);
        return false;
    }
    for (size_t i = 0; i < sizeof core_parameter / sizeof core_parameter[0]; i++) {
        if (!(seen >> i & 1u)) {
            snprintf(error, size, "parameter %s is missing", core_parameter[i].name);
            return false;
        }
    }
    if (!model->classes[CLASS_UNKNOWN].present) {
        snprintf(error, size, "class unknown is missing");
        return false;
    }
    for (unsigned i = 0; i < model->region_count; i++) {
        bool cached = model->regions[i].kind == REGION_CACHED;
        if (cached && (model->data_cache.size_bytes == 0 || model->code_cache.size_bytes == 0)) {
            snprintf(error, size, "region %s is cached, but a cache is missing", model->regions[i].name);
            return false;
        }
    }
    if (model->parameters.words_per_cycle == 0 || model->parameters.gather_elements_per_cycle == 0 ||
        model->parameters.branch_taken_cycles == 0) {
        snprintf(error, size, "words_per_cycle, gather_elements_per_cycle and branch_taken_cycles must be 1 or more");
        return false;
    }
    return true;
}

bool timing_model_load(struct timing_model *model, const char *path, char *error, size_t error_size)
{
    char line[256];
    uint32_t seen = 0;
    unsigned version = 0, number = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        snprintf(error, error_size, "cannot open %s", path);
        return false;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        number++;
        if (line[0] != '\n' && line[0] != '#' && !read_line(model, line, &seen, &version)) {
            snprintf(error, error_size, "%s:%u: not understood: %s", path, number, line);
            fclose(file);
            return false;
        }
    }
    fclose(file);
    model->loop_end_address = 1;
    return check_complete(model, seen, version, error, error_size);
}
