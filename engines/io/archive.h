/* SPDX-License-Identifier: Apache-2.0 */
/* archive.h - writes spool files into a stored (uncompressed) zip archive, as NumPy's .npz
 * requires. */
#pragma once

#include "spool.h"

typedef struct io_archive_member {
    const char *name; /* ASCII, "com.npy" */
    io_spool *data;   /* flushed */
} io_archive_member;

/* Writes an archive of the members, in their order, into `out`, which must be empty. Members and
 * archive may be larger than 4 GiB (ZIP64). The same members give the same bytes: all have the date
 * 1980-01-01. `comment` is the comment of the archive, ASCII. No file is closed. COLLET_IO,
 * COLLET_NO_MEMORY. */
collet_status io_archive_write(io_spool *out, const io_archive_member *members, size_t n,
                               const char *comment, collet_error *err);
