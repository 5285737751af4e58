/* SPDX-License-Identifier: Apache-2.0 */
/* recognise.h - finds the format of a file, and builds messages about formats from the table of formats. */
#pragma once

#include "trajectory/formats/trajectory_format.h"

/* All rows, then NULL. */
extern const trajectory_format *const trajectory_formats[];

typedef enum trajectory_holds {
    TRAJECTORY_HOLDS_TOPOLOGY,
    TRAJECTORY_HOLDS_FRAMES
} trajectory_holds;

/* 1 if files of the format can hold `what`. */
int trajectory_format_holds(const trajectory_format *format, trajectory_holds what);

/* Returns the first format that can hold `what` and recognises the first n bytes of a file; NULL: none.
 * `path` is used only to exclude files that look like one of these formats but are of another format
 * (io_signature_misleads). */
const trajectory_format *trajectory_formats_find(trajectory_holds what, const char *path,
                                                 const uint8_t *bytes, size_t n);

/* Returns the kind of a file that begins with these bytes or has such a name, for "it looks like ...". This library
 * may be unable to read files of this kind. NULL: unknown. */
const char *trajectory_formats_describe(const char *path, const uint8_t *bytes, size_t n);

/* Returns COLLET_FORMAT with a text like "path: the content is not a trajectory (.trr, .xtc or .gro); it looks like
 * ...". */
collet_status trajectory_formats_refuse(trajectory_holds what, const char *path,
                                        const uint8_t *bytes, size_t n, collet_error *err);
