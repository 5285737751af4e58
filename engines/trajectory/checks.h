/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - finds rows with values that are not finite. */
#ifndef COLLET_EXTRACT_CHECKS_H
#define COLLET_EXTRACT_CHECKS_H

#include <collet/collet.h>

enum { EXTRACT_OF_POSITIONS, EXTRACT_OF_VELOCITIES, EXTRACT_OF_FORCES, EXTRACT_FIELDS };

/* Rows with sums that are not finite, by the field that is not. Initialised with zeros. */
typedef struct extract_checks {
    int64_t n_rows[EXTRACT_FIELDS]; /* checked */
    int64_t n_bad[EXTRACT_FIELDS];
    int64_t first_bad[EXTRACT_FIELDS]; /* row, where n_bad > 0 */
    unsigned char *bad;                /* rows of this block that are not finite already */
    int64_t capacity;
} extract_checks;

/* Checks n rows of a buffer (outputs.h); each block's centres of mass come first.
 * COLLET_NO_MEMORY. */
collet_status extract_checks_rows(extract_checks *checks, int32_t buffer, int64_t n,
                                  const double *rows, collet_error *err);
void extract_checks_free(extract_checks *checks);

#endif
