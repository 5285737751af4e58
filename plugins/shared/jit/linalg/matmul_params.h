/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of matmul.dev and update.dev. */
#ifndef COLLET_JIT_LINALG_MATMUL_PARAMS_H
#define COLLET_JIT_LINALG_MATMUL_PARAMS_H

/* Products of an element of c that a tile of a and b has. */
#define TILE_DEEP 16
/* Rows and columns of c that an item of `update` has. */
#define UPDATE_BLOCK 4

#endif
