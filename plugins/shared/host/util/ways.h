/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ways.h - chooses which of several implementations (ways) computes a call: a backend's own kernels or a
 * library. The choice is based on rates that were measured on this machine.
 *
 * Measurements are a text: items separated by blanks, "KEY/SIDE:WAY=RATE,WAY=RATE", for example
 *   f32/256:own=61.2,openblas=98.3,onednn=91 lu-f64/48:own=1.1,openblas=1.4
 * KEY names an op, a dtype and a form; SIDE is the size of the problem.
 * Matrix products: KEY is the dtype (f32 f64 c64 c128 bf16 i8 f16), optionally followed by -thin-inner,
 * -thin-rows or -thin-columns (the named extent is at most WAYS_THIN and at most a quarter of the next larger
 * extent) or by -batch (several products in one call). For f32 and f64, all but -batch may be followed by
 * -page: rows of a matrix are a multiple of WAYS_PAGE bytes apart. SIDE is the cube root of the number of
 * multiplications of one product.
 * Other ops: KEY is OP-DTYPE, or OP-DTYPE-batch for several matrices or transforms in one call. For a
 * decomposition, SIDE is the shorter side of a matrix; for a transform, SIDE is its number of elements. For
 * transforms of real numbers DTYPE is real.
 * Rates are in 10^9 operations per second.
 *
 * Three settings of a backend are used. NAME.ways, set by the user, takes precedence; it consists of words WAY or
 * KEY=WAY, separated by blanks, tabs or commas, where KEY may be a key or its beginning up to a hyphen.
 * Next is NAME.calibrated, written by `backend-bench calibrate`. It is used if one of its SIDEs is near the SIDE of
 * the call, or nearer to it than the SIDEs of NAME.measured. Last is NAME.measured, written by the probe.
 */
#pragma once

#include <collet/plugin.h>

#include "shared/host/util/text.h"

/* A way is an implementation, given as the index of its name in ways_kind; 0 is the backend's own kernels. */
typedef int way;
enum { WAY_OWN, WAYS_MAX = 3 };

#define WAYS_THIN 16
#define WAYS_PAGE 2048 /* elements of a column then share few sets of a cache */
#define WAYS_POINTS 12 /* the most measured sides per key */

/* A call uses another implementation than the default only if it is faster by this factor. WAYS_BETTER is for rates
 * that the probe measured. These rates differ from process to process; the factor makes it rare that noise changes the
 * implementation, and so the last bits of results. WAYS_BETTER_CALIBRATED is for rates of a calibration. Both are
 * multiplied by WAYS_FAR if the side of the call is more than WAYS_NEAR times the measured side, or if the rates were
 * measured for another form of product. */
#define WAYS_BETTER 1.15
#define WAYS_BETTER_CALIBRATED 1.05
#define WAYS_FAR 1.15
#define WAYS_NEAR 1.6

/* The parts of a key. For products they are the type and the form; for other ops the op, the type, and whether a call
 * has several matrices or transforms.
 */
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
    WAY_PAGE, /* WAY_PAGE + one of the first four forms: rows are a multiple of WAYS_PAGE bytes apart */
    WAY_FORMS = WAY_PAGE + WAY_BATCH
} way_form;
enum { WAY_LU, WAY_SOLVE, WAY_QR, WAY_SVD, WAY_EIGH, WAY_EIG, WAY_CHOLESKY, WAY_FFT, WAY_OPS };

#define WAY_PRODUCT(type, form) ((type)*WAY_FORMS + (int)(form))
#define WAY_OP(op, type, batch)                                                                    \
    (WAY_TYPES * WAY_FORMS + ((op)*WAY_REAL_AND_COMPLEX + (type)) * 2 + (batch))
#define WAY_KEYS WAY_OP(WAY_OPS, 0, 0)

/* The calls that an implementation computes. types: bits 1 << WAY_F32 ... of the types of products. real, complex:
 * bits 1 << WAY_LU ... of the other ops for real and for complex numbers. */
typedef struct way_range {
    uint32_t types, real, complex;
} way_range;

/* The implementations of a backend, and the keys for which it has more than one implementation. */
typedef struct ways_kind {
    const char *backend;
    const char *names[WAYS_MAX + 1]; /* the first is "own"; ends with NULL */
    way_range range[WAYS_MAX];       /* unused for "own", which computes everything */
    int32_t measured;                /* the probe measures: the backend has the setting NAME.measured */
    uint32_t types, forms, ops;      /* bits. If forms has WAY_BATCH, keys of the other ops have -batch too */
} ways_kind;

typedef struct way_point {
    double side;
    double rate[WAYS_MAX]; /* 0: not measured, or not possible */
    int32_t calibrated;    /* 1: from a calibration; 0: measured by the probe */
} way_point;

typedef struct way_list {
    int32_t count;
    way_point point[WAYS_POINTS];
} way_list;

#define WAY_NOT_FORCED (-1)
#define WAY_IMPOSSIBLE(w)                                                                          \
    (-2 - (w)) /* the user chose w, but w does not compute the key; applied twice, it returns w */

/* Constant once it is read. */
typedef struct ways {
    const ways_kind *kind;
    int8_t forced[WAY_KEYS]; /* the user's choice, WAY_NOT_FORCED or WAY_IMPOSSIBLE(choice) */
    way_list measured[WAY_KEYS], calibrated[WAY_KEYS];
} ways;

/* Reads the three settings. Skips and logs items that are malformed, and implementations that do not compute a key.
 * calibrated 0: ignores NAME.calibrated, which was measured on another device. */
void ways_read(ways *w, const collet_host *host, const ways_kind *kind, int calibrated);

/* Returns the implementation for a call: the user's choice (`usual` if that is impossible); else the fastest at the
 * nearest measured side, unless `usual` is nearly as fast. Without measurements the result is `usual`. If nothing
 * was measured for the key with -page, the rates of the key without -page are used. Sets *at (`at` may be NULL) to the
 * rates that were used, or NULL. */
way ways_choose(const ways *w, int key, double side, way usual, const way_point **at);

/* The form of a product with these extents. page: rows of a matrix are a multiple of WAYS_PAGE bytes apart. */
way_form ways_form(int64_t rows, int64_t columns, int64_t inner, int page);

/* The constant WAY_F32 ... for the dtype of a product's factors, or of the matrices of another op. */
int ways_type(collet_dtype dtype);

/* The key and the side of `count` products in one call, for devices, where the form -page is not used. */
int ways_product(int type, int64_t count, int64_t rows, int64_t columns, int64_t inner,
                 double *side);

/* Writes a measurement as "KEY/SIDE:WAY=RATE,WAY=RATE". */
void ways_write(text *t, const ways_kind *kind, int key, const way_point *point);

/* Writes, for people, why this implementation computes a call: "chosen by the setting cpu_openmp.ways"; or "own is the
 * default; f32 was not measured here"; or "the probe measured for f32 at side 256: own 61, openblas 98 GF/s", and
 * whether the default is kept although another implementation is faster. */
void ways_explain(text *t, const ways *w, int key, double side, way usual);
