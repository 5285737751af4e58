/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - finds rows, one for each body of each frame, with values that are not finite. */
#pragma once

#include <collet/collet.h>

enum { TRAJECTORY_OF_POSITIONS, TRAJECTORY_OF_VELOCITIES, TRAJECTORY_OF_FORCES, TRAJECTORY_FIELDS };

/* Counts the rows with sums that are not finite, for each field that causes this. Initialise with zeros. */
typedef struct trajectory_checks {
    int64_t n_rows[TRAJECTORY_FIELDS]; /* rows checked */
    int64_t n_bad[TRAJECTORY_FIELDS];
    int64_t first_bad[TRAJECTORY_FIELDS]; /* first row that is not finite, if n_bad > 0 */
    unsigned char *bad; /* 1 for each row of this block already counted as not finite */
    int64_t capacity;
} trajectory_checks;

/* Checks n rows of a buffer (outputs.h). In each block, check the centres of mass before other buffers.
 * COLLET_NO_MEMORY. */
collet_status trajectory_checks_rows(trajectory_checks *checks, int32_t buffer, int64_t n,
                                     const double *rows, collet_error *err);
void trajectory_checks_free(trajectory_checks *checks);
