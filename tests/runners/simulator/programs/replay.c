/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds data accesses straight into the timing model: `replay params` reads `load|store address size` a line, runs
 * one word-wide LDR.W or STR.W from address 0 for each and writes the report to standard output.
 */
#include <inttypes.h>
#include <string.h>

#include "timing_model.h"

static struct timing_model model;

int main(int argc, char **argv)
{
    char kind[8], error[256];
    uint32_t address;
    unsigned size_bytes;
    if (argc != 2 || !timing_model_load(&model, argv[1], error, sizeof error)) {
        fprintf(stderr, "%s\n", argc == 2 ? error : "usage: replay params");
        return 1;
    }
    struct instruction load = decode_instruction(0, 0xf8d11000, 4), store = decode_instruction(0, 0xf8c11000, 4);
    while (scanf("%7s %" SCNx32 " %u", kind, &address, &size_bytes) == 3) {
        bool stores = strcmp(kind, "store") == 0;
        timing_model_access(&model, address, size_bytes, stores);
        timing_model_retire(&model, stores ? &store : &load, 4);
    }
    timing_model_report(&model, stdout, NULL, 0);
    return 0;
}
