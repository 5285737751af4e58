/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ways.h - which of several implementations computes a product or a decomposition: our own kernels,
 * OpenBLAS or oneDNN, by rates that were measured on this machine.
 *
 * Measurements are a text: items separated by blanks, "KEY/SIDE:WAY=RATE,WAY=RATE", for example
 *   f32/256:own=61.2,openblas=98.3,onednn=91 lu-f64/48:own=1.1,openblas=1.4
 * Keys of products are f32 f64 c64 c128 bf16 i8, alone or with -page (a matrix has rows of a multiple
 * of 4,096 bytes), -thin-inner, -thin-rows or -thin-columns (that extent is at most WAYS_THIN, and a
 * quarter of the next); their side is the cube root of the number of multiplications. Keys of
 * decompositions are OP-DTYPE; their side is the shorter one of a matrix. Rates are in any unit;
 * larger is faster.
 *
 * Three texts count, each for the keys that it has: cpu_openmp.calibrated (backend-bench calibrate)
 * before cpu_openmp.measured (the probe); and the user's cpu_openmp.ways before both: words WAY or
 * KEY=WAY, where KEY may be the beginning of keys up to a hyphen.
 */
#ifndef PLUGINS_CPU_OPENMP_PROVIDERS_WAYS_H
#define PLUGINS_CPU_OPENMP_PROVIDERS_WAYS_H

#include <collet/plugin.h>

#include "shared/host/util/text.h"

typedef enum way { WAY_OWN, WAY_OPENBLAS, WAY_ONEDNN, WAYS } way;

#define WAYS_THIN 16
#define WAYS_POINTS 12 /* at most, of a key */

/* Another way has to be faster than the usual one by this factor: as the probe measured, each process
 * perhaps anew, so that noise seldom changes the way and with it the last bits of results; and as was
 * calibrated. Both are multiplied for calls that are more than WAYS_NEAR times as large. */
#define WAYS_BETTER 1.15
#define WAYS_BETTER_CALIBRATED 1.05
#define WAYS_FAR 1.15
#define WAYS_NEAR 1.6

/* Products: type and form. Decompositions: op and type. */
enum {
    WAY_F32,
    WAY_F64,
    WAY_C64,
    WAY_C128,
    WAY_REAL_AND_COMPLEX,
    WAY_BF16 = WAY_REAL_AND_COMPLEX,
    WAY_I8,
    WAY_TYPES
};
typedef enum way_form {
    WAY_SQUARE,
    WAY_PAGE,
    WAY_INNER,
    WAY_ROWS,
    WAY_COLUMNS,
    WAY_FORMS
} way_form;
enum { WAY_LU, WAY_SOLVE, WAY_QR, WAY_SVD, WAY_EIGH, WAY_EIG, WAY_CHOLESKY, WAY_DECOMPOSITIONS };

#define WAY_PRODUCT(type, form) ((type)*WAY_FORMS + (int)(form))
#define WAY_DECOMPOSITION(op, type) (WAY_TYPES * WAY_FORMS + (op)*WAY_REAL_AND_COMPLEX + (type))
#define WAY_KEYS WAY_DECOMPOSITION(WAY_DECOMPOSITIONS, 0)

typedef struct way_point {
    double side;
    double rate[WAYS]; /* 0: not measured, or not possible */
} way_point;

typedef struct way_list {
    const char *from;   /* what measured it, for people */
    int32_t calibrated; /* else measured by the probe */
    int32_t count;
    way_point point[WAYS_POINTS];
} way_list;

/* Constant once it is read. */
typedef struct ways {
    int8_t forced[WAY_KEYS]; /* a way that the user chose; -1: none */
    way_list list[WAY_KEYS];
} ways;

/* Reads the three settings; parts that have not the form above are skipped, and logged. */
void ways_read(ways *w, const collet_host *host);

/* The way for a call: the user's, else the fastest at the nearest measured side, else `usual`, which
 * is also taken if it is nearly as fast. *at (may be NULL): what was measured there, or NULL. */
way ways_choose(const ways *w, int key, double side, way usual, const way_point **at);

/* The same for a call that differs from what was measured: WAYS_FAR counts. */
way ways_choose_far(const ways *w, int key, double side, way usual);

/* The form of a product of such extents. `page`: a matrix has rows of a multiple of 4,096 bytes. */
way_form ways_form(int64_t rows, int64_t columns, int64_t inner, int page);

/* "own", "openblas", "onednn" */
const char *ways_name(way w);

/* Writes "KEY/SIDE:" and what was measured, as above. */
void ways_write(text *t, int key, const way_point *point);

/* Writes for people why `chosen` computes a call: "the setting cpu_openmp.ways"; or, from what was
 * measured, "at side 256 the probe measured own 61, openblas 98, onednn 91 GF/s"; or "not measured". */
void ways_explain(text *t, const ways *w, int key, double side, way usual);

#endif
