/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ways.h - which of several implementations computes a call: a backend's own kernels or a library,
 * by rates that were measured on this machine.
 *
 * Measurements are a text: items separated by blanks, "KEY/SIDE:WAY=RATE,WAY=RATE", for example
 *   f32/256:own=61.2,openblas=98.3,onednn=91 lu-f64/48:own=1.1,openblas=1.4
 * Keys of products are f32 f64 c64 c128 bf16 i8 f16, alone or with -thin-inner, -thin-rows,
 * -thin-columns (that extent is at most WAYS_THIN, and a quarter of the next) or -batch (several
 * products in one call); of f32 and f64 all but the last with -page, too (a matrix has rows of a
 * multiple of WAYS_PAGE bytes). Their side is the cube root of the number of multiplications of one
 * product. Keys of other ops are OP-DTYPE, or OP-DTYPE-batch for
 * several matrices or transforms in one call; the side of a decomposition is the shorter one of a
 * matrix, that of a transform its number of elements. For a transform of real numbers DTYPE is real.
 * Rates are in 10^9 operations a second.
 *
 * Three settings of a backend count: NAME.measured (the probe); NAME.calibrated (backend-bench
 * calibrate), before it where its side is near the call's or the nearer one; and the user's NAME.ways
 * before both: words WAY or KEY=WAY, separated by blanks, tabs or commas, where KEY may be the beginning
 * of keys up to a hyphen.
 */
#ifndef PLUGINS_SHARED_HOST_UTIL_WAYS_H
#define PLUGINS_SHARED_HOST_UTIL_WAYS_H

#include <collet/plugin.h>

#include "shared/host/util/text.h"

/* A way is the index of its name in ways_kind; 0 are the backend's own kernels. */
typedef int way;
enum { WAY_OWN, WAYS_MAX = 3 };

#define WAYS_THIN 16
#define WAYS_PAGE 2048 /* elements of a column then share a few lines of a cache */
#define WAYS_POINTS 12 /* at most, of a key in a text */

/* A call takes another way than the default only if that way is faster by this factor. WAYS_BETTER holds
 * for rates that the probe measured: each process may measure other rates, and with this factor noise
 * seldom changes the way, and with it the last bits of results. WAYS_BETTER_CALIBRATED holds for rates of a
 * calibration. Both are multiplied by WAYS_FAR if the side of the call is more than WAYS_NEAR times the
 * side of those rates, or if they are rates of another form of product. */
#define WAYS_BETTER 1.15
#define WAYS_BETTER_CALIBRATED 1.05
#define WAYS_FAR 1.15
#define WAYS_NEAR 1.6

/* Products: type and form. Other ops: op, type, and whether a call has several. */
enum {
    WAY_F32,
    WAY_F64,
    WAY_C64,
    WAY_C128,
    WAY_REAL_AND_COMPLEX,
    WAY_BF16 = WAY_REAL_AND_COMPLEX,
    WAY_I8,
    WAY_F16,
    WAY_TYPES
};
typedef enum way_form {
    WAY_SQUARE,
    WAY_INNER,
    WAY_ROWS,
    WAY_COLUMNS,
    WAY_BATCH,
    WAY_PAGE, /* the first four, with such rows */
    WAY_FORMS = WAY_PAGE + WAY_BATCH
} way_form;
enum { WAY_LU, WAY_SOLVE, WAY_QR, WAY_SVD, WAY_EIGH, WAY_EIG, WAY_CHOLESKY, WAY_FFT, WAY_OPS };

#define WAY_PRODUCT(type, form) ((type)*WAY_FORMS + (int)(form))
#define WAY_OP(op, type, batch)                                                                    \
    (WAY_TYPES * WAY_FORMS + ((op)*WAY_REAL_AND_COMPLEX + (type)) * 2 + (batch))
#define WAY_KEYS WAY_OP(WAY_OPS, 0, 0)

/* What a way computes: products of types, ops of real and of complex numbers; bits 1 << WAY_F32 ... */
typedef struct way_range {
    uint32_t types, real, complex;
} way_range;

/* The ways of a backend, and the keys for which it has more than one. */
typedef struct ways_kind {
    const char *backend;
    const char *names[WAYS_MAX + 1]; /* the first is "own"; NULL ends them */
    way_range range[WAYS_MAX];       /* unused for "own", which has no limits */
    int32_t measured;                /* by the probe: the backend has the setting NAME.measured */
    uint32_t types, forms, ops;      /* products; with WAY_BATCH the ops have -batch, too */
} ways_kind;

typedef struct way_point {
    double side;
    double rate[WAYS_MAX]; /* 0: not measured, or not possible */
    int32_t calibrated;    /* else measured by the probe */
} way_point;

typedef struct way_list {
    int32_t count;
    way_point point[WAYS_POINTS];
} way_list;

#define WAY_NOT_FORCED (-1)
#define WAY_IMPOSSIBLE(w)                                                                          \
    (-2 - (w)) /* and back: the user chose w, which does not compute the key */

/* Constant once it is read. */
typedef struct ways {
    const ways_kind *kind;
    int8_t forced[WAY_KEYS]; /* a way that the user chose, or one of the above */
    way_list measured[WAY_KEYS], calibrated[WAY_KEYS];
} ways;

/* Reads the three settings; parts that have not the form above are skipped, and logged, as are ways that
 * do not compute a key. `calibrated` 0: not what was calibrated, which is about another device. */
void ways_read(ways *w, const collet_host *host, const ways_kind *kind, int calibrated);

/* The way for a call: the user's (`usual` if that is impossible), else the fastest at the nearest
 * measured side, else `usual`, which is also taken if it is nearly as fast. What was not measured with
 * -page is compared without. *at (may be NULL): what was measured there, or NULL. */
way ways_choose(const ways *w, int key, double side, way usual, const way_point **at);

/* The form of a product of such extents. `page`: a matrix has rows of a multiple of WAYS_PAGE bytes. */
way_form ways_form(int64_t rows, int64_t columns, int64_t inner, int page);

/* WAY_F32 ... of the factors of a product, or of another op's matrices. */
int ways_type(collet_dtype dtype);

/* The key and the side of `count` products that a device computes in one call: lengths of rows do not
 * matter there. */
int ways_product(int type, int64_t count, int64_t rows, int64_t columns, int64_t inner,
                 double *side);

/* Writes "KEY/SIDE:" and what was measured, as above. */
void ways_write(text *t, const ways_kind *kind, int key, const way_point *point);

/* Writes for people why the chosen way computes a call: "chosen by the setting cpu_openmp.ways"; or,
 * from what was measured, "the probe measured for f32 at side 256: own 61, openblas 98 GF/s", and
 * whether the default stays though another is faster; or "own is the default; f32 was not measured
 * here". */
void ways_explain(text *t, const ways *w, int key, double side, way usual);

#endif
