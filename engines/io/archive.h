/* SPDX-License-Identifier: Apache-2.0 */
/* archive.h - writes spool files into a stored (uncompressed) zip archive, as NumPy's .npz
 * requires. */
#ifndef COLLET_IO_ARCHIVE_H
#define COLLET_IO_ARCHIVE_H

#include "spool.h"

typedef struct collet_archive_member {
    const char *name;   /* ASCII, "com.npy" */
    collet_spool *data; /* flushed */
} collet_archive_member;

/*
 * Writes a whole archive of the members, in their order, into `out`, which is empty. Members and
 * archive may be larger than 4 GiB (ZIP64). The same members give the same bytes: all are dated
 * 1980-01-01. `comment` is that of the archive, ASCII. Nothing is closed. COLLET_IO,
 * COLLET_NO_MEMORY.
 */
collet_status collet_archive_write(collet_spool *out, const collet_archive_member *members,
                                   size_t n, const char *comment, collet_error *err);

#endif
