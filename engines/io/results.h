/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - named arrays of 64-bit floats that grow by rows, and arrays of texts. The arrays are written as NumPy
 * files, or by a function that reads the rows back. The memory does not depend on the number of rows.
 *
 * The number of rows need not be known before `link`. Rows go to spool files in the output's directory. These files
 * have no names if the file system allows that: a killed run then leaves no files behind. Only `rename` gives the
 * output its final name, after `link` has written and flushed everything.
 *
 *     io_results_create("out.npz", IO_RESULTS_NPZ, &results, err)
 *     io_results_add(results, "com", 1, (int64_t[]){3}, &com, err)
 *     io_results_append(results, com, n_rows, rows, err)     as often as needed
 *     io_results_link(results, err)
 *     io_results_rename(results, NULL, 1, err)
 *     io_results_free(results)                                always; discards if not renamed
 *
 * One thread at a time.
 */
#pragma once

#include "io/spool.h"

typedef struct io_results io_results;

#define IO_RESULTS_NPZ 0       /* one file: a stored (not deflated) zip of KEY.npy */
#define IO_RESULTS_DIRECTORY 1 /* a directory of KEY.npy files; created if missing */

/* A function that writes all arrays into one file of another format. */
typedef struct io_results_writer {
    int32_t spool; /* IO_SPOOL_OUTPUT, or IO_SPOOL_NAMED */
    /* Called by `link`, when all rows are known: writes the file. */
    collet_status (*write)(void *user, io_results *results, io_spool *file, collet_error *err);
    void *user;
} io_results_writer;

#define IO_RESULTS_KEY 64 /* bytes of a key with its NUL */
#define IO_RESULTS_DIMS 3

/* Prepares an output at `path`. Fails at once when the output's directory is missing or not writable (COLLET_IO, the
 * text names the directory), or when `path` is a directory for NPZ or a file for DIRECTORY. An existing file is
 * unchanged until `rename`. */
collet_status io_results_create(const char *path, int32_t form, io_results **out,
                                collet_error *err);
/* Like io_results_create, but `writer`, which is copied, writes the file at `path`. */
collet_status io_results_create_file(const char *path, const io_results_writer *writer,
                                     io_results **out, collet_error *err);

/*
 * Adds an array with rows of the shape shape[0..ndim), ndim <= IO_RESULTS_DIMS; ndim 0: one number per row. `key` is
 * a file name of fewer than IO_RESULTS_KEY bytes, unique. *column identifies the array for `append`. Arrays without
 * rows are written with 0 rows.
 */
collet_status io_results_add(io_results *results, const char *key, int32_t ndim,
                             const int64_t *shape, int32_t *column, collet_error *err);

/* Adds an array of n texts, as NumPy loads it without pickle. A byte that is not UTF-8 becomes
 * '?'. */
collet_status io_results_add_texts(io_results *results, const char *key, int64_t n,
                                   const char *const *texts, collet_error *err);

/* Appends n_rows rows, contiguous and row-major. COLLET_IO when they cannot be written, with the
 * file and the reason (disk full); only `free` may follow. */
collet_status io_results_append(io_results *results, int32_t column, int64_t n_rows,
                                const double *rows, collet_error *err);

/* For a writer: io_results_rows returns the number of rows of an array; io_results_read reads its n rows
 * from `first` on. */
int64_t io_results_rows(const io_results *results, int32_t column);
collet_status io_results_read(io_results *results, int32_t column, int64_t first, int64_t n,
                              double *rows, collet_error *err);

/* Completes the output under temporary names. Call it once. An NPZ needs disk space for its data a
 * second time. On an error nothing has changed. */
collet_status io_results_link(io_results *results, collet_error *err);

#define IO_RESULTS_ID 17
/* Returns a hash of all keys and rows, valid in `write` and after io_results_link. The comment of an NPZ file is this
 * hash. */
const char *io_results_id(const io_results *results);

/* Gives the output its final name, and then gives `last`, a linked file in the same directory, its final name, by
 * io_spool_rename_all. `last` may be NULL. */
collet_status io_results_rename(io_results *results, io_spool *last, int replace,
                                collet_error *err);

/* Frees the results. Without a successful `rename`, everything written is removed. NULL is allowed. */
void io_results_free(io_results *results);

/* Continues a hash by n bytes; `hash` is the hash of the bytes before, 0 at the beginning.
 * Different contents have different hashes, except by chance; the hash does not protect from
 * forgery. */
uint64_t io_hash_bytes(uint64_t hash, const void *bytes, size_t n);
