/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_missing_data.c, tests/tools/test_extract_errors.c */
#include "checks.h"

#include "outputs.h"

#include <stdlib.h>
#include <string.h>

/* Returns the field of atoms that is not finite if a row of this buffer is not finite; -1: no such field. */
static int field_of(int32_t buffer)
{
    switch (buffer) {
    case TRAJECTORY_COM:
        return TRAJECTORY_OF_POSITIONS;
    case TRAJECTORY_BUFFER_OF(TRAJECTORY_L, TRAJECTORY_VECTOR):
        return TRAJECTORY_OF_VELOCITIES;
    case TRAJECTORY_BUFFER_OF(TRAJECTORY_TAU, TRAJECTORY_VECTOR):
        return TRAJECTORY_OF_FORCES;
    default:
        return -1;
    }
}

static collet_status reserve(trajectory_checks *c, int64_t n, collet_error *err)
{
    unsigned char *grown;

    if (n <= c->capacity)
        return COLLET_OK;
    grown = realloc(c->bad, (size_t)n);
    if (grown == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "checks: out of memory");
    c->bad = grown;
    c->capacity = n;
    return COLLET_OK;
}

collet_status trajectory_checks_rows(trajectory_checks *c, int32_t buffer, int64_t n,
                                     const double *rows, collet_error *err)
{
    int field = field_of(buffer);
    collet_status status;

    if (field < 0)
        return COLLET_OK;
    status = reserve(c, n, err);
    if (status != COLLET_OK)
        return status;
    if (field == TRAJECTORY_OF_POSITIONS)
        memset(c->bad, 0, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        /* v - v is 0 for a finite number and NaN for infinity or NaN. */
        const double *v = rows + 3 * i;

        if ((v[0] - v[0]) + (v[1] - v[1]) + (v[2] - v[2]) == 0 || c->bad[i])
            continue;
        /* All quantities depend on the positions, so a row is counted only for its positions if they are not finite. */
        if (field == TRAJECTORY_OF_POSITIONS)
            c->bad[i] = 1;
        if (c->n_bad[field]++ == 0)
            c->first_bad[field] = c->n_rows[field] + i;
    }
    c->n_rows[field] += n;
    return COLLET_OK;
}

void trajectory_checks_free(trajectory_checks *c)
{
    free(c->bad);
    memset(c, 0, sizeof *c);
}
