/* SPDX-License-Identifier: Apache-2.0 */
/* signature.h - recognises files of other formats that users pass by mistake. */
#ifndef ENGINES_IO_SIGNATURE_H
#define ENGINES_IO_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

/* The type of a file that begins with these n bytes and what to do with it, to end a message "it
 * looks like ..."; NULL: unknown. Static text. */
const char *io_signature_describe(const uint8_t *bytes, size_t n);

#endif
