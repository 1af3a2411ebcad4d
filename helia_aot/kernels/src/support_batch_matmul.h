/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products of two computed tensors, batch by batch, for the type helia_nn_bmm_value that is defined before.
 */
#ifndef HELIA_NN_SUPPORT_BATCH_MATMUL_H
#define HELIA_NN_SUPPORT_BATCH_MATMUL_H

#include "internal.h"

/* The matrices of a product: `rows` rows of the left side, `columns` of the right side, `depth` products for each. */
typedef struct
{
    int32_t rows;
    int32_t columns;
    int32_t depth;
    int32_t batches[2]; /* of the output */
    bool swap_left;     /* whether the left side is [depth, rows] */
    bool swap_right;    /* whether the right side is [depth, columns] */
} helia_nn_bmm_shape;

/* Gives whether the extents fit each other; the batches of either side may be 1. */
static inline bool helia_nn_bmm_shape_of(const helia_nn_bmm_params *params,
                                         const cmsis_nn_dims *lhs,
                                         const cmsis_nn_dims *rhs,
                                         const cmsis_nn_dims *output,
                                         helia_nn_bmm_shape *shape)
{
    shape->swap_left = params->adj_x != 0;
    shape->swap_right = params->adj_y == 0;
    shape->rows = shape->swap_left ? lhs->c : lhs->w;
    shape->depth = shape->swap_left ? lhs->w : lhs->c;
    shape->columns = shape->swap_right ? rhs->c : rhs->w;
    shape->batches[0] = output->n;
    shape->batches[1] = output->h;
    return shape->depth == (shape->swap_right ? rhs->w : rhs->c) && output->w == shape->rows && output->c == shape->columns &&
           (lhs->n == 1 || lhs->n == output->n) && (lhs->h == 1 || lhs->h == output->h) &&
           (rhs->n == 1 || rhs->n == output->n) && (rhs->h == 1 || rhs->h == output->h);
}

/* Elements of a swapped matrix, rounded up so that what follows it starts at a word. */
static inline int32_t helia_nn_bmm_swapped_size(int32_t elements)
{
    const int32_t word = 4 / (int32_t)sizeof(helia_nn_bmm_value) > 1 ? 4 / (int32_t)sizeof(helia_nn_bmm_value) : 1;
    return (elements + word - 1) / word * word;
}

/* Swaps the dimensions of a matrix. */
static inline void
helia_nn_bmm_swap(const helia_nn_bmm_value *source, int32_t rows, int32_t columns, helia_nn_bmm_value *target)
{
    for (int32_t c = 0; c < columns; c++)
    {
        for (int32_t r = 0; r < rows; r++)
        {
            *target++ = source[r * columns + c];
        }
    }
}

/* Writes one batch: `left` is [rows, depth], `right` is [columns, depth]. */
typedef void (*helia_nn_bmm_multiply)(const void *how,
                                      const helia_nn_bmm_shape *shape,
                                      const helia_nn_bmm_value *left,
                                      const helia_nn_bmm_value *right,
                                      helia_nn_bmm_value *output);

/* Gives the matrix of a batch, swapped into `room` where `swap` is set and it is not there yet. */
static inline const helia_nn_bmm_value *helia_nn_bmm_matrix(const helia_nn_bmm_value *matrix,
                                                            bool swap,
                                                            int32_t rows,
                                                            int32_t columns,
                                                            const helia_nn_bmm_value **swapped,
                                                            helia_nn_bmm_value *room)
{
    if (!swap)
    {
        return matrix;
    }
    if (*swapped != matrix)
    {
        helia_nn_bmm_swap(matrix, rows, columns, room);
        *swapped = matrix;
    }
    return room;
}

/* Goes through the batches of the output. */
static inline void helia_nn_bmm(const helia_nn_bmm_shape *shape,
                                const cmsis_nn_dims *lhs_dims,
                                const helia_nn_bmm_value *lhs,
                                const cmsis_nn_dims *rhs_dims,
                                const helia_nn_bmm_value *rhs,
                                helia_nn_bmm_value *output,
                                helia_nn_bmm_value *room,
                                helia_nn_bmm_multiply multiply,
                                const void *how)
{
    helia_nn_bmm_value *const right_room = room;
    helia_nn_bmm_value *const left_room =
        room + (shape->swap_right ? helia_nn_bmm_swapped_size(shape->columns * shape->depth) : 0);
    const helia_nn_bmm_value *swapped_left = NULL, *swapped_right = NULL;
    for (int32_t n = 0; n < shape->batches[0]; n++)
    {
        for (int32_t h = 0; h < shape->batches[1]; h++)
        {
            const int32_t l = (lhs_dims->n == 1 ? 0 : n) * lhs_dims->h + (lhs_dims->h == 1 ? 0 : h);
            const int32_t r = (rhs_dims->n == 1 ? 0 : n) * rhs_dims->h + (rhs_dims->h == 1 ? 0 : h);
            const helia_nn_bmm_value *const left = helia_nn_bmm_matrix(
                lhs + l * shape->rows * shape->depth, shape->swap_left, shape->depth, shape->rows, &swapped_left, left_room);
            const helia_nn_bmm_value *const right = helia_nn_bmm_matrix(rhs + r * shape->columns * shape->depth,
                                                                        shape->swap_right,
                                                                        shape->depth,
                                                                        shape->columns,
                                                                        &swapped_right,
                                                                        right_room);
            multiply(how, shape, left, right, output);
            output += shape->rows * shape->columns;
        }
    }
}

#endif /* HELIA_NN_SUPPORT_BATCH_MATMUL_H */
