/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort, argsort and partition: rows of keys of 32 or 64 bits are sorted. Threads share the rows or,
 * if these are few and long, the parts of each. argsort sorts words whose upper half is a key minus the smallest key,
 * and whose lower half is an index. Where 32 bits of the keys are not enough to distinguish them, the words with
 * equal upper halves are sorted again by the other bits.
 * Tests: conformance/index/sort.c
 */
#include "cpu_openmp/runtime/device.h"

#include <stdatomic.h>

#include "cpu_openmp/runtime/team.h"
#include "kernel_sort.h"
#include "rows.h"
#include "shared/host/index/keys.h"
#include "shared/host/util/counts.h"

#define GRAIN (32 << 10) /* elements per thread, at least */
#define PARTS 128        /* the maximum number of parts of a row */

typedef struct job {
    const sort_width *width; /* sorts the words: keys, or for argsort a key and an index */
    const sort_width *keys;  /* reads and writes the keys */
    index_order order;
    uint32_t op;
    int32_t threads;
    int64_t n, kth;
    int64_t in_step, out_step; /* bytes, along the axis */
    uint64_t size;             /* bytes of an element of the input */
    uint64_t word;             /* bytes of a word */
    int shared;                /* the threads share each row */
    int in_place;              /* rows of the output have room for the keys */
    char *scratch;             /* a row of n words for each thread that sorts rows */
    loop rows;                 /* the first elements of rows: view 0 is the output, view 1 the input */
} job;

/* Elements begin .. end-1. */
typedef struct part {
    int64_t begin, end;
} part;

/* One row. */
typedef struct row {
    const job *job;
    char *out;
    const char *in;
    char *words;
    uint64_t low; /* argsort of 64 bits: the smallest key; else 0 */
    int shift;    /* words hold (key - low) >> shift; 0: words hold all bits of a key */
    int32_t count;
    part parts[PARTS]; /* parts that are not sorted yet */
    part halves[PARTS][2];
    int64_t cut[PARTS + 1]; /* the beginnings of the parts that threads write to the output */
} row;

/* ---- The words of a row ---------------------------------------------------------------------- */

/* Whether a key may be too wide for its half of a word; then words hold its distance from the smallest key. */
static int has_range(const job *j)
{
    return j->size == 8 && j->op == COLLET_OP_ARGSORT;
}

typedef struct range {
    uint64_t low, high; /* keys */
} range;

static range range_of(const row *r, int64_t begin, int64_t end)
{
    const job *j = r->job;
    range all = {UINT64_MAX, 0};
    for (int64_t i = begin; i < end; i++) {
        uint64_t key = index_key_u64(&j->order, index_load(r->in + i * j->in_step, j->size));
        all.low = key < all.low ? key : all.low;
        all.high = key > all.high ? key : all.high;
    }
    return all;
}

/* Chooses the shift so that (key - low) >> shift fits 32 bits. */
static void set_range(row *r, range all)
{
    uint64_t most = all.high - all.low;
    r->low = all.low;
    r->shift = most >> 32 ? 32 - __builtin_clzll(most) : 0;
}

static void read_words(const row *r, int64_t begin, int64_t end)
{
    const job *j = r->job;
    const char *in = r->in + begin * j->in_step;
    if (j->op != COLLET_OP_ARGSORT) {
        j->keys->read(r->words + (uint64_t)begin * j->word, in, j->in_step, j->size, end - begin,
                      &j->order);
        return;
    }
    uint64_t *words = (uint64_t *)(void *)r->words;
    for (int64_t i = begin; i < end; i++, in += j->in_step) {
        uint64_t key = index_key_u64(&j->order, index_load(in, j->size));
        words[i] = (key - r->low) >> r->shift << 32 | (uint64_t)i;
    }
}

/* Sorts words[begin..end), whose upper halves are equal, by the low 32 bits of (key - low). */
static void sort_equal(const row *r, int64_t begin, int64_t end)
{
    const job *j = r->job;
    uint64_t *words = (uint64_t *)(void *)r->words;
    for (int64_t i = begin; i < end; i++) {
        uint64_t index = words[i] & UINT32_MAX;
        const char *at = r->in + (int64_t)index * j->in_step;
        words[i] = (index_key_u64(&j->order, index_load(at, j->size)) - r->low) << 32 | index;
    }
    j->width->sort(words + begin, end - begin, NULL);
}

/* The end of the words with the same upper half as words[i]. */
static int64_t end_of_equal(const uint64_t *words, int64_t i, int64_t n)
{
    uint64_t half = words[i] >> 32;
    while (i < n && words[i] >> 32 == half)
        i++;
    return i;
}

/* Writes the output of words[begin..end). No group of words with equal upper halves crosses begin or end. */
static void write_words(const row *r, int64_t begin, int64_t end)
{
    const job *j = r->job;
    char *out = r->out + begin * j->out_step;
    if (j->op != COLLET_OP_ARGSORT) {
        j->keys->write(out, j->out_step, j->size, r->words + (uint64_t)begin * j->word, end - begin,
                       &j->order);
        return;
    }
    const uint64_t *words = (const uint64_t *)(const void *)r->words;
    for (int64_t i = begin; i < end && r->shift > 0;) {
        int64_t next = end_of_equal(words, i, end);
        if (next - i > 1)
            sort_equal(r, i, next);
        i = next;
    }
    for (int64_t i = begin; i < end; i++, out += j->out_step)
        *(int64_t *)(void *)out = (int64_t)(words[i] & UINT32_MAX);
}

static void sort_words(const row *r, int64_t begin, int64_t end)
{
    const job *j = r->job;
    char *words = r->words + (uint64_t)begin * j->word;
    if (j->op == COLLET_OP_PARTITION)
        j->width->select(words, end - begin, j->kth);
    else
        j->width->sort(words, end - begin, j->in_place ? &j->order : NULL);
}

/* ---- One row on one thread ------------------------------------------------------------------- */

static void sort_row(const row *r)
{
    const job *j = r->job;
    read_words(r, 0, j->n);
    sort_words(r, 0, j->n);
    if (!j->in_place || j->op == COLLET_OP_PARTITION)
        write_words(r, 0, j->n);
}

typedef struct sorter {
    const job *job;
    char *scratch;
} sorter;

static void sort_rows_at(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const sorter *s = context;
    const job *j = s->job;
    for (int64_t i = 0; i < n; i++) {
        row r;
        r.job = j;
        r.out = at[0] + i * step[0];
        r.in = at[1] + i * step[1];
        r.words = j->in_place ? r.out : s->scratch;
        set_range(&r, has_range(j) ? range_of(&r, 0, j->n) : (range){0, 0});
        sort_row(&r);
    }
}

static TEAM_BODY(sort_rows)
{
    const job *j = argument;
    sorter s = {j, j->scratch ? j->scratch + (uint64_t)thread * (uint64_t)j->n * j->word : NULL};
    loop_run(&j->rows, begin, end, sort_rows_at, &s);
}

/* ---- One row on several threads -------------------------------------------------------------- */

typedef struct census {
    const row *row;
    _Atomic uint64_t low, high;
} census;

static TEAM_BODY(find_range)
{
    census *c = argument;
    range some = range_of(c->row, begin, end);
    uint64_t low = c->low, high = c->high;
    while (some.low < low && !atomic_compare_exchange_weak(&c->low, &low, some.low)) {
    }
    while (some.high > high && !atomic_compare_exchange_weak(&c->high, &high, some.high)) {
    }
}

static TEAM_BODY(read_part)
{
    read_words(argument, begin, end);
}

static TEAM_BODY(write_parts)
{
    const row *r = argument;
    write_words(r, r->cut[begin], r->cut[end]);
}

static TEAM_BODY(divide_parts)
{
    row *r = argument;
    const job *j = r->job;
    for (int64_t i = begin; i < end; i++) {
        part p = r->parts[i];
        int64_t cut[2] = {p.end - p.begin, p.end - p.begin};
        if (p.end - p.begin >= GRAIN)
            j->width->divide(r->words + (uint64_t)p.begin * j->word, p.end - p.begin,
                             j->in_place ? &j->order : NULL, cut);
        r->halves[i][0] = (part){p.begin, p.begin + cut[0]};
        r->halves[i][1] = (part){p.begin + cut[1], p.end};
    }
}

static TEAM_BODY(sort_parts)
{
    const row *r = argument;
    for (int64_t i = begin; i < end; i++)
        sort_words(r, r->parts[i].begin, r->parts[i].end);
}

/* Divides the row until there are several parts for each thread. */
static void divide_row(row *r)
{
    const job *j = r->job;
    int large = 1;
    r->count = 1;
    r->parts[0] = (part){0, j->n};
    while (large && r->count < 8 * j->threads && 2 * r->count <= PARTS) {
        int32_t count = r->count;
        team_run(j->threads, count, 1, divide_parts, r);
        r->count = large = 0;
        for (int32_t i = 0; i < 2 * count; i++) {
            part p = r->halves[i / 2][i % 2];
            if (p.begin < p.end)
                r->parts[r->count++] = p;
            large |= p.end - p.begin >= GRAIN;
        }
    }
}

/* Cuts the row into parts, but never between words with equal upper halves. */
static int64_t cut_row(row *r)
{
    const job *j = r->job;
    const uint64_t *words = (const uint64_t *)(const void *)r->words;
    int64_t parts = min_i64(divide_up(j->n, GRAIN), PARTS), each = divide_up(j->n, parts);
    for (int64_t i = 0; i <= parts; i++) {
        int64_t at = min_i64(i * each, j->n);
        at = i > 0 && at < r->cut[i - 1] ? r->cut[i - 1] : at;
        r->cut[i] = i > 0 && i < parts && r->shift > 0 ? end_of_equal(words, at - 1, j->n) : at;
    }
    return parts;
}

static void share_row(const job *j, row *r)
{
    if (has_range(j)) {
        census c = {r, UINT64_MAX, 0};
        team_run(j->threads, j->n, GRAIN, find_range, &c);
        set_range(r, (range){c.low, c.high});
    }
    team_run(j->threads, j->n, GRAIN, read_part, r);
    if (j->op == COLLET_OP_PARTITION) {
        sort_words(r, 0, j->n);
    } else {
        divide_row(r);
        team_run(j->threads, r->count, 1, sort_parts, r);
    }
    if (!j->in_place || j->op == COLLET_OP_PARTITION)
        team_run(j->threads, cut_row(r), 1, write_parts, r);
}

static void share_rows(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const job *j = context;
    for (int64_t i = 0; i < n; i++) {
        row r;
        r.job = j;
        r.out = at[0] + i * step[0];
        r.in = at[1] + i * step[1];
        r.words = j->in_place ? r.out : j->scratch;
        set_range(&r, (range){0, 0});
        share_row(j, &r);
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void job_init(job *j, const collet_device *device, const collet_kernel_call *call)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    const collet_sort_params *sort = call->params;
    const collet_partition_params *partition = call->params;
    int partial = call->op == COLLET_OP_PARTITION, indices = call->op == COLLET_OP_ARGSORT;
    int32_t axis = index_axis(in, partial ? partition->axis : sort->axis);
    j->order = index_order_of(in->dtype, !partial && sort->descending, indices);
    j->op = call->op;
    j->threads = device->threads;
    j->n = in->shape[axis];
    j->kth = partial ? partition->kth : 0;
    j->kth += j->kth < 0 ? j->n : 0;
    j->in_step = cpu_step(in, axis);
    j->out_step = cpu_step(out, axis);
    j->size = cpu_dtype_size(in->dtype);
    index_rows(&j->rows, out, in, axis);
    j->keys = &device->level->sort->width[j->size == 8];
    j->width = &device->level->sort->width[indices || j->size == 8];
    j->word = indices || j->size == 8 ? 8 : 4;
    j->in_place = !indices && j->size == j->word && j->out_step == (int64_t)j->word;
    j->shared = j->threads > 1 && j->rows.count < 4 * (int64_t)j->threads && j->n >= 2 * GRAIN;
    if (!j->shared && j->rows.count < j->threads)
        j->threads = (int32_t)j->rows.count;
    j->scratch = NULL;
}

ACCEPTS(sort)
{
    job j;
    job_init(&j, device, call);
    if (call->op == COLLET_OP_ARGSORT && j.n > UINT32_MAX)
        return device->base.host->fail(call->err, COLLET_REFUSED,
                                       "argsort: the axis has %lld elements; cpu_openmp sorts at "
                                       "most 2^32 - 1 indices",
                                       (long long)j.n);
    uint64_t rows = j.shared ? 1 : (uint64_t)j.threads;
    *workspace_bytes = j.in_place ? 0 : rows * (uint64_t)j.n * j.word;
    return COLLET_OK;
}

KERNEL(sort)
{
    job j;
    job_init(&j, device, call);
    j.scratch = j.in_place ? NULL : call->workspace;
    if (j.n == 0 || j.rows.count == 0)
        return COLLET_OK;
    if (j.shared)
        loop_run(&j.rows, 0, j.rows.count, share_rows, &j);
    else
        team_run(j.threads, j.rows.count, 1 + GRAIN / j.n, sort_rows, &j);
    return COLLET_OK;
}
