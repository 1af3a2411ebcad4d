/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the decoder makes of encodings: reads `size encoding` (bytes, hexadecimal) a line, writes
 * `class core_sources core_results core_writebacks vector_sources vector_results store_data gather_offsets
 * transfers pairable may_branch` a line.
 */
#include <inttypes.h>
#include <stdio.h>

#include "decode.h"

int main(void)
{
    unsigned size_bytes;
    uint32_t encoding;
    while (scanf("%u %" SCNx32, &size_bytes, &encoding) == 2) {
        struct instruction i = decode_instruction(0, encoding, size_bytes);
        printf("%s %x %x %x %x %x %x %x %u %d %d\n", timing_class_name[i.timing_class], i.core_sources, i.core_results,
               i.core_writebacks, i.vector_sources, i.vector_results, i.store_data, i.gather_offsets,
               (unsigned)i.transfers, i.pairable, i.may_branch);
    }
    return 0;
}
