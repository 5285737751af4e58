/* SPDX-License-Identifier: Apache-2.0 */
/* extract_runs.h - shared by the tests of collet-extract. Every function fails the test instead of
 * returning an error. */
#ifndef TESTS_TOOLS_EXTRACT_RUNS_H
#define TESTS_TOOLS_EXTRACT_RUNS_H

#include "io_files.h"
#include "npz_reader.h"
#include "tool_run.h"

#define WATER COLLET_TEST_DATA "/md/water/"
#define PEPTIDE COLLET_TEST_DATA "/md/peptide/"

/* The keys that collet-extract computes by default, and the keys that it computes only by name. */
#define EXTRACT_KEYS 48
#define EXTRACT_ALL_KEYS 49
extern const char *const extract_keys[EXTRACT_ALL_KEYS];

/* An .npz file, read completely, and copies of the arrays requested so far. */
typedef struct npz {
    io_bytes bytes;
    double *arrays[EXTRACT_ALL_KEYS];
} npz;

npz npz_open(const char *path);
void npz_close(npz *archive);
#define npz_end npz_close
#define OWNED_NPZ OWNED(npz)

/* An f64 array by key, valid until npz_close; sets *rows to its number of rows and *count to its
 * size; either may be NULL. */
const double *npz_f64(npz *archive, const char *key, int64_t *rows, size_t *count);
int npz_has(const npz *archive, const char *key);

/* Runs collet-extract -q in `directory`, output out.npz, expects status 0 and reads the output.
 * Warnings are allowed. */
npz extract(const char *directory, const char *const *args);
#define EXTRACT(directory, ...) extract(directory, (const char *const[]){__VA_ARGS__, NULL})

/* The meta file of the last run. */
cJSON *extract_meta(const char *directory);
/* A member by a path of keys separated by '/'. */
const cJSON *meta_at(const cJSON *meta, const char *path);

/* Writes `copies` concatenated copies of the file `from` to the new file `to`. */
void repeat_file(const char *from, const char *to, int copies);

/* 1 if the backend is usable on this machine and in this build. */
int backend_usable(const char *name);

#endif
