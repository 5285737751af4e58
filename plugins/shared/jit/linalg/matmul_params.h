/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of matmul.dev and update.dev. */
#ifndef COLLET_JIT_LINALG_MATMUL_PARAMS_H
#define COLLET_JIT_LINALG_MATMUL_PARAMS_H

/* Depth of a tile of a or b: the number of products that one pair of tiles adds to an element of c. */
#define TILE_DEEP 16
/* Rows and columns of c per item of `update`, for real and for complex numbers. */
#define UPDATE_BLOCK 4
#define UPDATE_BLOCK_COMPLEX 2
/* The local memory that a group of `update` needs, in real numbers: its tiles; their rows are padded by one complex
 * number. */
#define UPDATE_LOCAL(group)                                                                        \
    (TILE_DEEP * ((TILE_ACROSS(group) + (group) / TILE_ACROSS(group)) * UPDATE_BLOCK + 4))

#endif
