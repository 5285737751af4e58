/* SPDX-License-Identifier: Apache-2.0 */
/* ternary_runs.h - shared by the tests of collet-ternary. Every function fails the test instead of
 * returning an error. */
#ifndef TESTS_TOOLS_TERNARY_RUNS_H
#define TESTS_TOOLS_TERNARY_RUNS_H

#include "io_files.h"
#include "npz_reader.h"
#include "ternary/output.h"
#include "tool_run.h"

#include <collet/collet.h>

/* 1 with a sanitizer, which uses additional memory and delays the release of freed memory. */
#define WATCHED (ADDRESS_SANITIZER || THREAD_SANITIZER)

/* Writes DIRECTORY/NAME as a C-ordered .npy file; columns < 0: with one axis. `descr` is a NumPy
 * type such as "<f4"; its last character is the element size in bytes. `data` NULL: a sparse file
 * of zeros. */
void ternary_npy(const char *directory, const char *name, const char *descr, int64_t rows,
                 int64_t columns, const void *data);

/* Like ternary_npy, with any shape such as "(2, 3, 4)", of `elements` elements. */
void ternary_npy_shaped(const char *directory, const char *name, const char *descr,
                        const char *shape, int64_t elements, const void *data);

/* Writes DIRECTORY/NAME as a GGUF file of one tensor "w" of that type. */
void ternary_write_gguf(const char *directory, const char *name, uint32_t type, int64_t rows,
                        int64_t columns, const void *data, size_t bytes);

/* Writes DIRECTORY/NAME as a .t2 file of one layer with these bytes as rows and no other data;
 * fills in the rest of *layer. */
void ternary_write_t2(const char *directory, const char *name, ternary_t2_layer *layer,
                      const void *rows, size_t bytes);

/* Runs collet-ternary in `directory`, with -q if `quiet`. */
tool_result ternary_tool(const char *directory, int quiet, const char *const *args);
#define TERNARY(directory, ...) ternary_tool(directory, 1, (const char *const[]){__VA_ARGS__, NULL})

/* Like ternary_tool; the run must succeed and print nothing. */
void ternary_run_ok(const char *directory, const char *const *args);
#define RUN_OK(directory, ...) ternary_run_ok(directory, (const char *const[]){__VA_ARGS__, NULL})

/* Reads DIRECTORY/NAME; freeing *bytes frees its data. */
npy_array ternary_load(const char *directory, const char *name, io_bytes *bytes);

/* Fails unless DIRECTORY/NAME has these axes, this dtype and these bytes. */
void ternary_expect(const char *directory, const char *name, const char *descr, int64_t rows,
                    int64_t columns, const void *data);

/* 1 if the backend is usable and has the ternary kernels. */
int ternary_backend(const char *name);

#endif
