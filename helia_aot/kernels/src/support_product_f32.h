/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The f32 matrix product.
 */
#ifndef HELIA_NN_SUPPORT_PRODUCT_F32_H
#define HELIA_NN_SUPPORT_PRODUCT_F32_H

#include "support_f32.h"


#include "support_product_flt.h"

/* Writes the outputs of `count` rows (1 to 4), one row after the other; rows from `count` on repeat one that is valid. */
void helia_nn_product_rows_f32(
    const helia_nn_product *product, const helia_nn_real *const rows[HELIA_NN_ROWS], int32_t count, helia_nn_real *out);

#define helia_nn_product_rows helia_nn_product_rows_f32

#endif /* HELIA_NN_SUPPORT_PRODUCT_F32_H */
