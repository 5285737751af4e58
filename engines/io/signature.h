/* SPDX-License-Identifier: Apache-2.0 */
/* signature.h - recognises files of other formats that users pass by mistake. */
#ifndef ENGINES_IO_SIGNATURE_H
#define ENGINES_IO_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

/* The type of a file that begins with these n bytes, or else has such a name, and what to do with it,
 * to end a message "it looks like ..."; NULL: unknown. Static text. */
const char *io_signature_describe(const char *path, const uint8_t *bytes, size_t n);

/* 1 if the content of files with such a name looks like a format that they do not have. */
int io_signature_misleads(const char *path);

#endif
