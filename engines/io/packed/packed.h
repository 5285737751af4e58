/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - files packed by gzip, bzip2 or xz.
 *
 * Readers access a file at any position. Therefore a packed file is unpacked once, into a temporary file without a name
 * in the directory $TMPDIR, or /tmp. The process keeps that file while somebody uses it. All functions may be called
 * on any thread.
 */
#pragma once

#include "poll.h"

#include <collet/collet.h>

typedef struct io_packed io_packed;

/* Unpacks the open file `fd`, unless the process has unpacked it before. *out is NULL, with COLLET_OK, if the file is
 * not packed; else the caller releases it. `path` is for messages. `poll` may be NULL. If the file has several packed
 * parts one after the other, as bgzip writes them, all are unpacked. COLLET_FORMAT if the file is damaged or ends
 * early, or needs a library that Collet was built without; COLLET_IO if the file cannot be read or the temporary file
 * cannot be written; COLLET_NO_MEMORY, COLLET_CANCELLED. */
collet_status io_packed_open(int fd, const char *path, const io_poll *poll, io_packed **out,
                             collet_error *err);

/* The same for a path. A path that cannot be opened counts as not packed: the code that reads it reports the
 * error. */
collet_status io_packed_open_path(const char *path, const io_poll *poll, io_packed **out,
                                  collet_error *err);

/* Returns the file with the unpacked bytes and their number. The last `release` closes it. */
int io_packed_file(const io_packed *packed, int64_t *size);

/* NULL is allowed. */
void io_packed_release(io_packed *packed);
