/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - a file under construction, which gets its name only when it is complete.
 *
 * Where the file system allows it the file has no name until then, so that the kernel removes it
 * whatever ends the program; elsewhere it is ".NAME.xxxxxxxx" beside its final place. Writes are
 * buffered. One thread at a time. Errors (COLLET_IO) name the final path and the reason.
 */
#ifndef COLLET_IO_SPOOL_H
#define COLLET_IO_SPOOL_H

#include <collet/collet.h>

typedef struct collet_spool collet_spool;

/* Scratch never gets a name; output is what `link` and `rename` are for. */
#define COLLET_SPOOL_SCRATCH 0
#define COLLET_SPOOL_OUTPUT 1

/*
 * Makes an empty file that belongs to `path`, in that path's directory. Fails, before anything is
 * written, where that directory is missing or cannot be written to.
 */
collet_status collet_spool_create(const char *path, int32_t kind, collet_spool **out,
                                  collet_error *err);

/* Writes at the position, which is at first 0 and moves along. A write may be reported by a later
 * call, at the latest by `flush`. */
collet_status collet_spool_write(collet_spool *spool, const void *bytes, size_t n,
                                 collet_error *err);
collet_status collet_spool_seek(collet_spool *spool, int64_t position, collet_error *err);

/* The final path, lent. */
const char *collet_spool_path(const collet_spool *spool);

int64_t collet_spool_position(const collet_spool *spool);
int64_t collet_spool_size(const collet_spool *spool);

/* Empties the buffer. */
collet_status collet_spool_flush(collet_spool *spool, collet_error *err);

/* Reads n bytes that lie within the file, after `flush`. */
collet_status collet_spool_read(collet_spool *spool, int64_t offset, void *bytes, size_t n,
                                collet_error *err);

/*
 * Completes an output in two steps, so that a set of files can pass the first, which may fail,
 * before any of them takes the second: `link` flushes to the device, gives the file a temporary
 * name and closes it; `rename` moves it over its final path.
 */
collet_status collet_spool_link(collet_spool *spool, collet_error *err);
collet_status collet_spool_rename(collet_spool *spool, collet_error *err);

/* Closes and frees; a file that was not renamed is gone. NULL is allowed. */
void collet_spool_free(collet_spool *spool);

#endif
