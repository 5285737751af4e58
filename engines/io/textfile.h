/* SPDX-License-Identifier: Apache-2.0 */
/* textfile.h - writes a small file atomically. */
#ifndef COLLET_IO_TEXTFILE_H
#define COLLET_IO_TEXTFILE_H

#include <collet/collet.h>

/*
 * Writes `length` bytes to `path`: into a temporary file in its directory, flushed, then renamed
 * over `path`. COLLET_IO with the path and the reason; `path` is then unchanged. Any thread.
 */
collet_status collet_textfile_write(const char *path, const void *text, size_t length,
                                    collet_error *err);

#endif
