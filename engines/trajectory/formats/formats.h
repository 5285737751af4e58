/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h - the list of all formats; what messages and help say of them comes from their rows. */
#ifndef COLLET_IO_FORMATS_H
#define COLLET_IO_FORMATS_H

#include "trajectory_format.h"

/* In the order in which they are tried: the row of NAME is collet_NAME_format. */
#define COLLET_TRAJECTORY_FORMATS(X)                                                               \
    X(trr)                                                                                         \
    X(xtc)                                                                                         \
    X(gro)

#define COLLET_DECLARE(name) extern const collet_trajectory_format collet_##name##_format;
COLLET_TRAJECTORY_FORMATS(COLLET_DECLARE)
#undef COLLET_DECLARE

/* All rows; NULL ends them. */
extern const collet_trajectory_format *const collet_trajectory_formats[];

typedef enum collet_holds { COLLET_HOLDS_TOPOLOGY, COLLET_HOLDS_FRAMES } collet_holds;

/* Whether files of the format can have it. */
int collet_trajectory_format_holds(const collet_trajectory_format *format, collet_holds what);

/* The first format with `what` that recognises the first n bytes of a file; NULL: none. */
const collet_trajectory_format *collet_trajectory_formats_find(collet_holds what,
                                                               const uint8_t *bytes, size_t n);

/* The first format of text with a topology. */
const collet_trajectory_format *collet_trajectory_formats_text(void);

/* What a file that begins so is, by a format here or elsewhere, for "it looks like ..."; NULL:
 * unknown. */
const char *collet_trajectory_formats_describe(const uint8_t *bytes, size_t n);

/* COLLET_FORMAT: "path: is not a trajectory (.trr, .xtc or .gro) by its content; it looks like". */
collet_status collet_trajectory_formats_refuse(collet_holds what, const char *path,
                                               const uint8_t *bytes, size_t n, collet_error *err);

#endif
