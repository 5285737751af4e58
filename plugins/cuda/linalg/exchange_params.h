/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernels of cusolver.dev. */
#ifndef COLLET_CUDA_LINALG_EXCHANGE_PARAMS_H
#define COLLET_CUDA_LINALG_EXCHANGE_PARAMS_H

/* Offsets into the workspace (`matrix`: or into an output), in bytes, and the extents that are copied. */
typedef struct exchange {
    i64 count;          /* matrices */
    i64 m, n;           /* extents of the part that is copied or checked */
    i64 groups;         /* groups of a launch, per matrix */
    i64 matrix, pitch;  /* the first element of cuSOLVER's matrices; elements between matrices */
    i64 down, across;   /* elements between rows, between columns */
    i64 parts, partial; /* largest magnitudes, real, `parts` per matrix */
    i64 scales;         /* real, one per matrix: the scale factor; 0: not finite */
    i64 states;         /* i32, one per matrix: 0: valid; else the results become NaN */
    i64 infos;          /* i32, one per matrix: cuSOLVER's info */
    i64 extra;          /* TYPE or i32: signs, pivots or flags of columns that are not finite; u64:
                           addresses of the matrices */
    i64 extra_pitch;
    i32 operand; /* index in the batch */
    i32 flags;
    i32 top;    /* scaled magnitudes have exponents of -top to top */
    i32 pivots; /* the pivots that check_pivots checks: CHECK_... */
    jit_batch operands;
} exchange;

/* Rows and columns of a tile, which one group copies. */
#define EXCHANGE_TILE 32

/* Values of `pivots`. */
#define CHECK_CHOLESKY 0
#define CHECK_LU 1
#define CHECK_SOLVE 2

/* Flags. */
#define EXCHANGE_HERMITIAN                                                                         \
    1                    /* only the lower triangle is copied, and only the real parts of its diagonal */
#define EXCHANGE_RAW 2   /* not scaled */
#define EXCHANGE_NOTED 4 /* columns that are not finite are flagged in `extra` and zeroed */
#define EXCHANGE_LOWER 8
#define EXCHANGE_UPPER 16
#define EXCHANGE_UNIT 32
#define EXCHANGE_SCALED 64       /* the result is proportional to the matrix */
#define EXCHANGE_SCALED_BACK 128 /* the result is proportional to the inverse of the matrix */
#define EXCHANGE_SIGN_ROWS 256   /* rows are multiplied by the conjugates of the signs in `extra` */
#define EXCHANGE_SIGN_COLUMNS 512 /* columns are multiplied by the signs in `extra` */
#define EXCHANGE_CONJUGATED 1024

#endif
