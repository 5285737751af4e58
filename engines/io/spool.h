/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - a file that gets its name only when it is complete.
 *
 * Where the file system allows it the file is unnamed until then, so that the kernel removes it
 * however the program ends; elsewhere, and shortly before it gets its name, it is
 * ".NAME.xxxxxxxx" in the same directory, locked (flock), so that the next spool for `path` removes
 * those that killed programs have left. It gets mode, group and access control list of an old file
 * at `path`; of another user's no list, and of the mode what umask leaves. Writes are buffered. One
 * thread at a time. Errors (COLLET_IO) name the final path and the reason.
 */
#ifndef ENGINES_IO_SPOOL_H
#define ENGINES_IO_SPOOL_H

#include <collet/collet.h>

typedef struct io_spool io_spool;

/* SCRATCH never gets a name; OUTPUT gets one by `link` and `rename`; NAMED is an OUTPUT that
 * another library writes, at `io_spool_temporary`. */
#define IO_SPOOL_SCRATCH 0
#define IO_SPOOL_OUTPUT 1
#define IO_SPOOL_NAMED 2

/*
 * Creates an empty file for `path`, in its directory. Fails when that directory is missing or not
 * writable.
 */
collet_status io_spool_create(const char *path, int32_t kind, io_spool **out, collet_error *err);

/* COLLET_IO with the reason, from errno, why no file or directory can be created at `path`. */
collet_status io_spool_refused(const char *path, int code, collet_error *err);

/* COLLET_INVALID if both are one file, by whatever names, so that the output would replace what is
 * read. NULL and names of no file are allowed. */
collet_status io_spool_check_input(const char *output, const char *input, collet_error *err);

/* Writes at the position, at first 0, and advances it. A later call may report the error of a
 * write, `flush` at the latest. */
collet_status io_spool_write(io_spool *spool, const void *bytes, size_t n, collet_error *err);
collet_status io_spool_seek(io_spool *spool, int64_t position, collet_error *err);

/* The final path, valid until freed. */
const char *io_spool_path(const io_spool *spool);
/* Of NAMED, the path that it has until `rename`, valid until freed. The file is locked (flock). */
const char *io_spool_temporary(const io_spool *spool);

int64_t io_spool_position(const io_spool *spool);
int64_t io_spool_size(const io_spool *spool);

/* Writes out the buffer. */
collet_status io_spool_flush(io_spool *spool, collet_error *err);

/* Reads n bytes within the file, after `flush`. */
collet_status io_spool_read(io_spool *spool, int64_t offset, void *bytes, size_t n,
                            collet_error *err);

/*
 * Completes an output in three steps, so that all files of a set can pass the first, which may
 * fail, before any takes the second: `link` flushes to the device, gives the file a temporary name
 * and closes it; `rename` moves it over its final path; `sync` flushes the directory, once for all
 * files in it.
 */
collet_status io_spool_link(io_spool *spool, collet_error *err);
collet_status io_spool_rename(io_spool *spool, collet_error *err);
collet_status io_spool_sync(const io_spool *spool, collet_error *err);
/*
 * The last two steps for the files of a set, all in one directory, in their order. The old file of
 * the last one goes first, so that it is there only beside those that it belongs to. The directory
 * is locked (flock) meanwhile, so that sets of several programs are not mixed. Where a file cannot
 * get its name after others, the text says which are in place; where the first cannot, nothing has
 * changed. Without `replace` the last file must not exist, and nothing is renamed.
 */
collet_status io_spool_rename_all(io_spool *const *spools, size_t n, int replace,
                                  collet_error *err);
/* The three steps, for a file that is no part of a set. */
collet_status io_spool_publish(io_spool *spool, collet_error *err);

/* Closes and frees; removes a file that was not renamed. NULL is allowed. */
void io_spool_free(io_spool *spool);

#endif
