/* SPDX-License-Identifier: Apache-2.0 */
/* recognise.h - the format of a file, and what messages and help say of it, from the rows of the
 * formats. */
#ifndef ENGINES_TRAJECTORY_READING_RECOGNISE_H
#define ENGINES_TRAJECTORY_READING_RECOGNISE_H

#include "trajectory/formats/trajectory_format.h"

/* All rows; NULL ends them. */
extern const trajectory_format *const trajectory_formats[];

typedef enum trajectory_holds {
    TRAJECTORY_HOLDS_TOPOLOGY,
    TRAJECTORY_HOLDS_FRAMES
} trajectory_holds;

/* Whether files of the format can have it. */
int trajectory_format_holds(const trajectory_format *format, trajectory_holds what);

/* The first format with `what` that recognises the first n bytes of a file; NULL: none. */
const trajectory_format *trajectory_formats_find(trajectory_holds what, const uint8_t *bytes,
                                                 size_t n);

/* The first format of text with a topology. */
const trajectory_format *trajectory_formats_text(void);

/* What a file that begins so is, by a format here or elsewhere, for "it looks like ..."; NULL:
 * unknown. */
const char *trajectory_formats_describe(const uint8_t *bytes, size_t n);

/* COLLET_FORMAT: "path: is not a trajectory (.trr, .xtc or .gro) by its content; it looks like". */
collet_status trajectory_formats_refuse(trajectory_holds what, const char *path,
                                        const uint8_t *bytes, size_t n, collet_error *err);

#endif
