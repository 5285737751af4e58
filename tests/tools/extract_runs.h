/* SPDX-License-Identifier: Apache-2.0 */
/* extract_runs.h - what the tests of collet-extract share. Every function fails the test instead of
 * returning an error. */
#ifndef EXTRACT_RUNS_H
#define EXTRACT_RUNS_H

#include "io_files.h"
#include "npz_reader.h"
#include "tool_run.h"

#include <cjson/cJSON.h>

#define WATER COLLET_TEST_DATA "/md/water/"
#define PEPTIDE COLLET_TEST_DATA "/md/peptide/"

/* Number of keys that the issue lists. */
#define EXTRACT_KEYS 47
extern const char *const extract_keys[EXTRACT_KEYS];

/* An .npz that was read whole, with its arrays as they are asked for. */
typedef struct npz {
    io_bytes bytes;
    double *arrays[EXTRACT_KEYS];
} npz;

npz npz_open(const char *path);
void npz_close(npz *archive);

/* One of the keys, f64; its number of rows goes to *rows and its size to *count, which may be NULL.
 * Lent until npz_close. */
const double *npz_f64(npz *archive, const char *key, int64_t *rows, size_t *count);
int npz_has(const npz *archive, const char *key);

/* Runs collet-extract with -q, status 0 expected, in `directory`, output out.npz, and reads it.
 * Warnings are allowed. */
npz extract(const char *directory, const char *const *args);
#define EXTRACT(directory, ...) extract(directory, (const char *const[]){__VA_ARGS__, NULL})

/* The meta file of such a run. */
cJSON *extract_meta(const char *directory);
/* A member by a path of keys separated by '/'. */
const cJSON *meta_at(const cJSON *meta, const char *path);

/* `copies` of the file `from` after each other in the new file `to`. */
void repeat_file(const char *from, const char *to, int copies);

/* 1 when the backend can be used on this machine and build. */
int backend_usable(const char *name);

#endif
