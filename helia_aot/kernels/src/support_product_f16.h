/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The f16 matrix product.
 */
#ifndef HELIA_NN_SUPPORT_PRODUCT_F16_H
#define HELIA_NN_SUPPORT_PRODUCT_F16_H

#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)
#include "support_product_flt.h"

/* Writes the outputs of `count` rows (1 to 4), one row after the other; rows from `count` on repeat one that is valid. */
void helia_nn_product_rows_f16(
    const helia_nn_product *product, const helia_nn_real *const rows[HELIA_NN_ROWS], int32_t count, helia_nn_real *out);

#define helia_nn_product_rows helia_nn_product_rows_f16

#endif /* HELIA_NN_FLOAT16 */
#endif /* HELIA_NN_SUPPORT_PRODUCT_F16_H */
