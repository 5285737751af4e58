/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linalg.h - the linalg family on devices: rows for a backend's table of kernels. Run and workspace
 * functions as in plugin.h.
 */
#ifndef PLUGINS_SHARED_JIT_LINALG_LINALG_H
#define PLUGINS_SHARED_JIT_LINALG_LINALG_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_matmul;
jit_run jit_inner_products; /* dot, matvec */
jit_accepts jit_inner_products_accepts;
jit_run jit_cholesky, jit_lu, jit_solve, jit_qr, jit_eigh, jit_svd;
jit_accepts jit_cholesky_accepts, jit_lu_accepts, jit_solve_accepts;
jit_accepts jit_qr_accepts, jit_eigh_accepts, jit_svd_accepts;

/* A matmul row with a backend's function `matmul`, jit_matmul or another. */
#define JIT_MATMUL_ROW(run, ...) COLLET_ROW(MATMUL, JIT_SIG(__VA_ARGS__), run, NULL)
#define JIT_MATMUL_ROWS(run)                                                                       \
    JIT_MATMUL_ROW(run, F, F, F), JIT_MATMUL_ROW(run, D, D, D), JIT_MATMUL_ROW(run, H, H, H),      \
        JIT_MATMUL_ROW(run, F, H, H), JIT_MATMUL_ROW(run, B, B, B), JIT_MATMUL_ROW(run, F, B, B),  \
        JIT_MATMUL_ROW(run, I32, I8, I8)

#define JIT_LINALG_ROWS(matmul)                                                                    \
    JIT_MATMUL_ROWS(matmul), JIT_ROW_ACCEPTS(DOT, inner_products, F, F, F),                        \
        JIT_ROW_ACCEPTS(DOT, inner_products, D, D, D),                                             \
        JIT_ROW_ACCEPTS(DOT, inner_products, D, F, F),                                             \
        JIT_ROW_ACCEPTS(MATVEC, inner_products, F, F, F),                                          \
        JIT_ROW_ACCEPTS(MATVEC, inner_products, D, D, D)

/* by(NAME): a backend's function, or JIT_OWN. */
#define JIT_DECOMPOSITION_ROWS(by)                                                                 \
    JIT_ROW_BY(CHOLESKY, by(cholesky), F, I32, F), JIT_ROW_BY(CHOLESKY, by(cholesky), D, I32, D),  \
        JIT_ROW_BY(LU, by(lu), I32, F, F, I32, F), JIT_ROW_BY(LU, by(lu), I32, D, D, I32, D),      \
        JIT_ROW_BY(SOLVE, by(solve), F, I32, F, F), JIT_ROW_BY(SOLVE, by(solve), D, I32, D, D),    \
        JIT_ROW_BY(QR, by(qr), F, F, F), JIT_ROW_BY(QR, by(qr), D, D, D),                          \
        JIT_ROW_BY(EIGH, by(eigh), F, F, I32, F), JIT_ROW_BY(EIGH, by(eigh), D, D, I32, D),        \
        JIT_ROW_BY(SVD, by(svd), F, F, F, I32, F), JIT_ROW_BY(SVD, by(svd), D, D, D, I32, D)

#endif
