/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON report. Written with stdio: names are our own and need no escaping. */
#include <inttypes.h>

#include "timing_model.h"

static void write_cache(FILE *file, const char *name, const struct cache *cache)
{
    fprintf(file, "\"%s\": {\"hits\": %" PRIu64 ", \"misses\": %" PRIu64 ", \"evictions\": %" PRIu64 "}", name,
            cache->hits, cache->misses, cache->evictions);
}

static void write_events(const struct timing_model *model, FILE *file)
{
    fprintf(file, "  \"event_columns\": [\"marker\", \"cycles\", \"instructions\", \"stall_data\", \"stall_dcache\", "
                  "\"stall_icache\", \"branch\", \"stall_pipeline\"],\n  \"events\": [");
    for (unsigned i = 0; i < model->event_count; i++) {
        const struct event *e = &model->events[i];
        const struct counters *c = &e->counters;
        fprintf(file,
                "%s\n    [%" PRIu32 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
                ", %" PRIu64 "]",
                i == 0 ? "" : ",", e->marker, c->cycles, c->instructions, c->stall_data, c->stall_dcache,
                c->stall_icache, c->branch, c->stall_pipeline);
    }
    fprintf(file, "\n  ],\n");
}

/* Per event, the cumulative (instructions, cycles) of each class that occurred at all, in `class_names` order. */
static void write_event_classes(const struct timing_model *model, FILE *file)
{
    const char *separator = "";
    fprintf(file, "  \"class_names\": [");
    for (int c = 0; c < CLASS_COUNT; c++) {
        if (model->counters.class_instructions[c] != 0) {
            fprintf(file, "%s\"%s\"", separator, timing_class_name[c]);
            separator = ", ";
        }
    }
    fprintf(file, "],\n  \"event_classes\": [");
    for (unsigned i = 0; i < model->event_count; i++) {
        const struct counters *counters = &model->events[i].counters;
        fprintf(file, "%s\n    [", i == 0 ? "" : ",");
        separator = "";
        for (int c = 0; c < CLASS_COUNT; c++) {
            if (model->counters.class_instructions[c] != 0) {
                fprintf(file, "%s[%" PRIu64 ", %" PRIu64 "]", separator, counters->class_instructions[c],
                        counters->class_cycles[c]);
                separator = ", ";
            }
        }
        fprintf(file, "]");
    }
    fprintf(file, "\n  ],\n");
}

static void write_classes(const struct timing_model *model, FILE *file)
{
    const char *separator = "";
    fprintf(file, "  \"classes\": {");
    for (int c = 0; c < CLASS_COUNT; c++) {
        if (model->counters.class_instructions[c] != 0) {
            fprintf(file, "%s\n    \"%s\": {\"instructions\": %" PRIu64 ", \"cycles\": %" PRIu64 "}", separator,
                    timing_class_name[c], model->counters.class_instructions[c], model->counters.class_cycles[c]);
            separator = ",";
        }
    }
    fprintf(file, "\n  },\n");
}

void timing_model_report(const struct timing_model *model, FILE *file, const struct instruction *const *unknown,
                         unsigned unknown_count)
{
    fprintf(file, "{\n  \"model_version\": %u,\n  \"core\": \"%s\",\n", TIMING_MODEL_VERSION, model->core);
    fprintf(file, "  \"cycles\": %" PRIu64 ",\n  \"instructions\": %" PRIu64 ",\n", model->counters.cycles,
            model->counters.instructions);
    write_events(model, file);
    write_event_classes(model, file);
    write_classes(model, file);
    fprintf(file, "  \"caches\": {");
    write_cache(file, "data", &model->data_cache);
    fprintf(file, ", ");
    write_cache(file, "code", &model->code_cache);
    fprintf(file, "},\n  \"unknown\": %" PRIu64 ",\n  \"unknown_encodings\": [",
            model->counters.class_instructions[CLASS_UNKNOWN]);
    for (unsigned i = 0; i < unknown_count; i++) {
        fprintf(file, "%s\"0x%0*" PRIx32 " at 0x%08" PRIx32 "\"", i == 0 ? "" : ", ", 2 * unknown[i]->size_bytes,
                unknown[i]->encoding, unknown[i]->address);
    }
    fprintf(file, "],\n  \"unmapped_accesses\": %" PRIu64 ",\n  \"exceptions\": %" PRIu64
                  ",\n  \"events_dropped\": %" PRIu64 "\n}\n",
            model->unmapped_accesses, model->exceptions, model->events_dropped);
}
