/* SPDX-License-Identifier: Apache-2.0 */
/* textfile.h - a small file that is there whole or not at all. */
#ifndef COLLET_IO_TEXTFILE_H
#define COLLET_IO_TEXTFILE_H

#include <collet/collet.h>

/*
 * Writes `length` bytes to `path`: into a file beside it, flushed, then renamed over `path`.
 * COLLET_IO with the path and the reason; `path` is then as it was before. Any thread.
 */
collet_status collet_textfile_write(const char *path, const void *text, size_t length,
                                    collet_error *err);

#endif
