/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory.c */
#include "rows.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct column {
    int used;
    size_t width;     /* numbers of a row */
    double *pending;  /* rows appended and not taken yet */
    int64_t first;    /* rows that were taken: the pending rows begin here */
    int64_t n;        /* number of pending rows */
    int64_t capacity; /* rows */
    double *taken;
    int64_t taken_capacity;
} column;

struct trajectory_rows {
    pthread_mutex_t lock; /* guards the columns' pending rows */
    column columns[TRAJECTORY_MAX_OUTPUTS];
    const double *addresses[TRAJECTORY_MAX_OUTPUTS];
    collet_trajectory_batch batch;
};

collet_status trajectory_rows_create(const char *const left_out[TRAJECTORY_MAX_OUTPUTS],
                                     trajectory_extent extent, trajectory_rows **out,
                                     collet_error *err)
{
    trajectory_rows *r = *out = calloc(1, sizeof *r);

    if (r == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "rows: out of memory");
    pthread_mutex_init(&r->lock, NULL);
    r->batch.struct_size = sizeof r->batch;
    r->batch.columns = r->addresses;
    for (size_t i = 0; i < trajectory_output_count; i++) {
        r->columns[i].used = left_out[i] == NULL;
        r->columns[i].width = (size_t)trajectory_output_width(&trajectory_outputs[i], extent);
    }
    return COLLET_OK;
}

void trajectory_rows_free(trajectory_rows *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < trajectory_output_count; i++) {
        free(r->columns[i].pending);
        free(r->columns[i].taken);
    }
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* Makes space for n more rows. Doubling keeps the cost of many small pieces low. */
static collet_status reserve(double **rows, int64_t *capacity, int64_t n, size_t width,
                             collet_error *err)
{
    int64_t enough = *capacity * 2 > n ? *capacity * 2 : n;
    size_t bytes;
    double *grown = NULL;

    if (n <= *capacity)
        return COLLET_OK;
    if (!__builtin_mul_overflow((size_t)enough, width * sizeof **rows, &bytes))
        grown = realloc(*rows, bytes);
    if (grown == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "rows: no memory for %lld frames", (long long)n);
    *rows = grown;
    *capacity = enough;
    return COLLET_OK;
}

static collet_status append(column *c, int64_t n, const double *values, collet_error *err)
{
    collet_status status;

    if (c->first > 0)
        memmove(c->pending, c->pending + (size_t)c->first * c->width,
                (size_t)c->n * c->width * sizeof *values);
    c->first = 0;
    status = reserve(&c->pending, &c->capacity, c->n + n, c->width, err);
    if (status != COLLET_OK)
        return status;
    memcpy(c->pending + (size_t)c->n * c->width, values, (size_t)n * c->width * sizeof *values);
    c->n += n;
    return COLLET_OK;
}

collet_status trajectory_rows_put(void *rows, size_t output, int64_t n, const double *values,
                                  collet_error *err)
{
    trajectory_rows *r = rows;
    collet_status status;

    pthread_mutex_lock(&r->lock);
    status = append(&r->columns[output], n, values, err);
    pthread_mutex_unlock(&r->lock);
    return status;
}

int64_t trajectory_rows_ready(trajectory_rows *r)
{
    int64_t ready = INT64_MAX;

    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < trajectory_output_count; i++)
        if (r->columns[i].used && r->columns[i].n < ready)
            ready = r->columns[i].n;
    pthread_mutex_unlock(&r->lock);
    return ready;
}

static void take(column *c, int64_t n)
{
    memcpy(c->taken, c->pending + (size_t)c->first * c->width,
           (size_t)n * c->width * sizeof *c->taken);
    c->first += n;
    c->n -= n;
}

collet_status trajectory_rows_take(trajectory_rows *r, int64_t n,
                                   const collet_trajectory_batch **out, collet_error *err)
{
    collet_status status = COLLET_OK;

    *out = NULL;
    for (size_t i = 0; status == COLLET_OK && i < trajectory_output_count; i++) {
        column *c = &r->columns[i];

        if (c->used)
            status = reserve(&c->taken, &c->taken_capacity, n, c->width, err);
        r->addresses[i] = c->taken;
    }
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < trajectory_output_count; i++)
        if (r->columns[i].used)
            take(&r->columns[i], n);
    pthread_mutex_unlock(&r->lock);
    r->batch.first_row += r->batch.n_rows;
    r->batch.n_rows = n;
    *out = &r->batch;
    return COLLET_OK;
}
