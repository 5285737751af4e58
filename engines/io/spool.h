/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - a file that gets its name only when it is complete.
 *
 * If the file system allows it, the file has no name until it is complete, so that the kernel removes it however the
 * program ends. Otherwise, and shortly before it gets its name, it is called ".NAME.xxxxxxxx" in the same
 * directory and is locked (flock). Killed programs leave such files without a lock; the next spool for `path` removes
 * them. If a file at `path` is replaced, the new
 * file gets its mode, group and access control list. If another user owns the old file, the new
 * file gets no list, and at most the permissions that umask allows. Writes are buffered. One thread
 * at a time. Errors (COLLET_IO) name the final path and the reason.
 */
#pragma once

#include <collet/collet.h>

typedef struct io_spool io_spool;

/* SCRATCH never gets a name; OUTPUT gets its name by `link` and `rename`; NAMED is an OUTPUT that
 * another library writes, under the name io_spool_temporary. */
#define IO_SPOOL_SCRATCH 0
#define IO_SPOOL_OUTPUT 1
#define IO_SPOOL_NAMED 2

/* Creates an empty file for `path`, in the same directory. Fails if the directory is missing or not
 * writable. */
collet_status io_spool_create(const char *path, int32_t kind, io_spool **out, collet_error *err);

/* Returns COLLET_IO. The text says why no file or directory can be created at `path`; `code` is the
 * errno of the attempt. */
collet_status io_spool_refused(const char *path, int code, collet_error *err);

/* COLLET_INVALID if both paths lead to the same file, so that the output would replace the input.
 * NULL and paths of files that do not exist are allowed. */
collet_status io_spool_check_input(const char *output, const char *input, collet_error *err);

/* For a check before a long computation: COLLET_IO if `replace` is 0 and `path` exists. */
collet_status io_spool_check_output(const char *path, int replace, collet_error *err);

/* Writes at the position, which is 0 at first, and advances the position. A later call may report the error
 * of a write; `flush` does so at the latest. */
collet_status io_spool_write(io_spool *spool, const void *bytes, size_t n, collet_error *err);
collet_status io_spool_seek(io_spool *spool, int64_t position, collet_error *err);

/* Returns the final path, valid until freed. */
const char *io_spool_path(const io_spool *spool);
/* For NAMED: the temporary path, which the file has until `rename`; the text is valid until the spool is
 * freed. The file is locked (flock). */
const char *io_spool_temporary(const io_spool *spool);

int64_t io_spool_position(const io_spool *spool);
int64_t io_spool_size(const io_spool *spool);

/* Writes out the buffer. */
collet_status io_spool_flush(io_spool *spool, collet_error *err);

/* Reads n bytes within the file, after `flush`. */
collet_status io_spool_read(io_spool *spool, int64_t offset, void *bytes, size_t n,
                            collet_error *err);

/* Completes an output in three steps. `link` flushes the file to the device, gives it a temporary
 * name and closes it. `rename` moves it to its final path; with `replace` = 0 it fails if that path
 * exists. `sync` flushes the directory: once for all files in it. `link` may fail: for a set of files
 * call it for all before the first `rename`. */
collet_status io_spool_link(io_spool *spool, collet_error *err);
collet_status io_spool_rename(io_spool *spool, int replace, collet_error *err);
collet_status io_spool_sync(const io_spool *spool, collet_error *err);
/* The steps `rename` and `sync` for a set of files in one directory, in the order of `spools`. The old
 * file at the path of the last spool is removed first, so that the last file never exists next to files
 * of another set. During
 * the call the directory is locked (flock), so that the sets of several programs are not mixed. If
 * the first file cannot get its name, nothing has changed; if a later file cannot, the text says which files were
 * replaced. `replace` = 0: if the last file exists, the call fails and renames nothing.
 */
collet_status io_spool_rename_all(io_spool *const *spools, size_t n, int replace,
                                  collet_error *err);
/* Makes all three steps for one file. */
collet_status io_spool_publish(io_spool *spool, int replace, collet_error *err);

/* Closes and frees; removes a file that was not renamed. NULL is allowed. */
void io_spool_free(io_spool *spool);
