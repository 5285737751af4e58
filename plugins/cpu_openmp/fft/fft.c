/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/fft/fft.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "cpu_openmp/runtime/device.h"

#include <math.h>
#include <stdlib.h>

#include "cpu_openmp/runtime/team.h"
#include "cpu_openmp/util/real.h"
#include "shared/host/util/counts.h"
#include "shared/host/fft/passes.h"
#include "shared/host/fft/shift.h"
#include "shared/host/util/plan_cache.h"
#include "kernel_fft.h"

/* The number of rows: the largest divisor of n that is not above its square root. */
static int64_t fft_split_rows(int64_t n)
{
    int64_t rows = (int64_t)sqrt((double)n);
    while (rows > 1 && n % rows != 0)
        rows--;
    return rows > 0 ? rows : 1;
}

static void set(void *table, int wide, int64_t at, double x)
{
    real_store((char *)table + at * (wide ? 8 : 4), wide, x);
}

static int make_factors(fft_split *s, int wide, int32_t lanes)
{
    uint64_t size = wide ? 8 : 4;
    int64_t groups = divide_up(s->columns, lanes);
    uint64_t start = 2 * (uint64_t)(groups * s->rows) * size;
    uint64_t step = 2 * (uint64_t)(s->rows * lanes) * size;
    s->start = malloc(start);
    s->step = aligned_alloc(64, (step + 63) / 64 * 64);
    if (!s->start || !s->step)
        return 0;
    s->bytes += start + step;
    for (int64_t k = 0; k < s->rows; k++) {
        double root[2];
        for (int64_t g = 0; g < groups; g++) {
            fft_root(g * lanes * k, s->n, root);
            set(s->start, wide, 2 * (g * s->rows + k), root[0]);
            set(s->start, wide, 2 * (g * s->rows + k) + 1, root[1]);
        }
        for (int32_t l = 0; l < lanes; l++) {
            fft_root(l * k % s->n, s->n, root);
            set(s->step, wide, 2 * k * lanes + l, root[0]);
            set(s->step, wide, (2 * k + 1) * lanes + l, root[1]);
        }
    }
    return 1;
}

static void fft_split_clear(fft_split *s)
{
    fft_line_clear(&s->column_line);
    fft_line_clear(&s->row_line);
    free(s->start);
    free(s->step);
    s->start = s->step = NULL;
}

/* n has no prime factor above FFT_PRIME_MAX. Returns 0 if out of memory; then nothing is left to free. */
static int fft_split_make(fft_split *s, int64_t n, int wide, int32_t lanes)
{
    *s = (fft_split){.n = n, .rows = fft_split_rows(n)};
    s->columns = n / s->rows;
    if (fft_line_make(&s->column_line, s->rows, wide, 1) &&
        fft_line_make(&s->row_line, s->columns, wide, 1) && make_factors(s, wide, lanes)) {
        s->bytes += s->column_line.bytes + s->row_line.bytes;
        return 1;
    }
    fft_split_clear(s);
    return 0;
}

KERNEL(copy); /* array/move.c */

/* Limit of the two buffers of a group of lines. GROUP_BYTES fit into one L2 cache. GROUPS_BYTES: limit for calls with
 * at least GROUPS_MIN groups, which several cores compute. */
#define GROUP_BYTES (512 << 10)
#define GROUPS_BYTES (4 << 20)
#define GROUPS_MIN 8

/* Largest size of a box, a part of the array in which all passes run before the next box begins (boxes_of). Fewer than
 * BOXES_MIN boxes cannot be divided well among threads, so they are not used. */
#define BOX_BYTES (2 << 20)
#define BOXES_MIN 16

/* Only lines of at least SPLIT_MIN elements are split, into at least SPLIT_ROWS_MIN rows. */
#define SPLIT_MIN 256
#define SPLIT_ROWS_MIN 8

/* Minimum number of elements per thread. */
#define GRAIN 16384

/* How the lines of a pass are computed: a function of its extents and type. */
typedef struct strategy {
    const fft_functions *kernels;
    int32_t lanes;         /* lines that are computed at a time; 1 for a single short line */
    int64_t length, inner; /* elements of the complex line, and of its convolution */
    int32_t split;         /* 1: lines are split, one after another; 0: groups of whole lines */
    int64_t rows, columns; /* extents of the matrix into which a line is split */
    uint64_t half;         /* bytes of one of a thread's two buffers */
    uint64_t work, line;   /* bytes of the split matrix, and of the line between its steps */
} strategy;

typedef struct line_plan {
    cached_plan head;
    fft_axis axis;
    fft_split split;
} line_plan;

/* Steps of kernel_fft.h. */
typedef enum long_step { LOAD, JOIN, CHIRP, SPECTRUM, UNCHIRP, STORE, SPLIT } long_step;

/* A line that is split. */
typedef struct long_line {
    const collet_device *device;
    const fft_pass *pass;
    const strategy *w;
    const line_plan *plan;
    long_step step;
    fft_ends ends;
    fft_span in, out; /* input and output of the current step */
    fft_span z;       /* the line between the steps, as pairs (real, imaginary) */
    char *work, *buffers;
} long_line;

static int is_halved(const fft_pass *p)
{
    return fft_is_halved(p->n, p->kind != FFT_COMPLEX);
}

static strategy strategy_of(const collet_device *device, const fft_pass *p)
{
    strategy w = {.kernels = &device->level->fft->of[p->wide]};
    w.length = is_halved(p) ? p->n / 2 : p->n;
    w.inner = fft_form_of(w.length).inner;
    w.rows = w.inner >= SPLIT_MIN ? fft_split_rows(w.inner) : 1;
    w.columns = w.rows > 1 ? w.inner / w.rows : w.inner;
    w.lanes = w.kernels->lanes;
    int64_t lanes = w.lanes, pairs = fft_pairs(w.length, w.inner);
    uint64_t part = p->wide ? 8 : 4, pair = 2 * part * (uint64_t)lanes;
    uint64_t limit = p->lines >= GROUPS_MIN * lanes ? GROUPS_BYTES : GROUP_BYTES;
    int fits = 2 * (uint64_t)p->n * pair <= limit;
    w.split = w.rows >= SPLIT_ROWS_MIN && (!fits || 2 * p->lines <= lanes);
    w.half = (uint64_t)(w.split ? w.columns : pairs) * pair;
    if (w.split) {
        w.work = (uint64_t)(divide_up(w.rows, lanes) * w.columns) * pair;
        w.line = (2 * part * (uint64_t)w.inner + 63) / 64 * 64;
    } else if (p->lines == 1) {
        w.lanes = 1;
    }
    return w;
}

static uint64_t bytes_of(const collet_device *device, const strategy *w)
{
    return 2 * w->half * (uint64_t)device->threads + w->work + w->line;
}

ACCEPTS(fft)
{
    fft_pass passes[FFT_AXES_MAX];
    int32_t count = fft_passes_of(call, FFT_BYTES, passes);
    uint64_t most = 0;
    for (int32_t i = 0; i < count; i++) {
        strategy w = strategy_of(device, &passes[i]);
        uint64_t bytes = bytes_of(device, &w);
        most = bytes > most ? bytes : most;
    }
    *workspace_bytes = fft_temporary(call) + most;
    return COLLET_OK;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static void destroy(cached_plan *plan)
{
    line_plan *p = (line_plan *)plan;
    fft_axis_clear(&p->axis);
    fft_split_clear(&p->split);
    free(p);
}

enum { KEY_LENGTH, KEY_REAL, KEY_WIDE, KEY_SPLIT, KEY_LANES };

static cached_plan *make(const plan_key *key, void *context)
{
    line_plan *p = calloc(1, sizeof *p);
    int64_t n = key->word[KEY_LENGTH];
    int real = (int)key->word[KEY_REAL], wide = (int)key->word[KEY_WIDE];
    int split = (int)key->word[KEY_SPLIT];
    (void)context;
    if (!p)
        return NULL;
    p->head.destroy = destroy;
    if (!fft_axis_make(&p->axis, n, real, wide, !split)) {
        free(p);
        return NULL;
    }
    if (split &&
        !fft_split_make(&p->split, p->axis.line.form.inner, wide, (int32_t)key->word[KEY_LANES])) {
        destroy(&p->head);
        return NULL;
    }
    p->head.bytes = p->axis.bytes + p->split.bytes;
    return &p->head;
}

static line_plan *take(collet_device *device, const fft_pass *p, const strategy *w)
{
    plan_key key = {.words = 0};
    plan_key_add(&key, p->n);
    plan_key_add(&key, p->kind != FFT_COMPLEX);
    plan_key_add(&key, p->wide);
    plan_key_add(&key, w->split);
    plan_key_add(&key, w->kernels->lanes);
    return (line_plan *)plan_cache_take(device->base.plans, &key, make, NULL);
}

/* ---- Groups of whole lines ------------------------------------------------------------------- */

/* A pass whose lines are not split, and its buffers. */
typedef struct grouped {
    const fft_pass *pass;
    const strategy *w;
    const line_plan *plan;
} grouped;

/* `cold`: the lines are not in the caches, so each group prefetches the next group. */
static void run_lines(const grouped *all, int cold, char *buffers, int64_t begin, int64_t end)
{
    const fft_pass *p = all->pass;
    int64_t lanes = all->w->lanes;
    fft_group g = {
        .axis = &all->plan->axis, .kind = p->kind, .inverse = p->inverse, .scale = p->scale};
    if (cold && p->ndim > 0) {
        int in_place = p->from.buffer == p->to.buffer && p->from.first == p->to.first;
        g.in.ahead = lanes * p->from.other[p->ndim - 1];
        g.out.ahead = in_place ? 0 : lanes * p->to.other[p->ndim - 1];
    }
    for (int64_t i = begin; i < end; i += lanes) {
        g.lanes = (int32_t)min_i64(lanes, end - i);
        fft_pass_lines(p, i, g.lanes, &g);
        (lanes > 1 ? all->w->kernels->group : all->w->kernels->single)(&g, buffers,
                                                                       buffers + all->w->half);
    }
}

/* Runs all passes in one box after another, or all groups of a single pass. */
typedef struct boxed {
    grouped part[FFT_AXES_MAX];
    int32_t count;
    int64_t lines[FFT_AXES_MAX]; /* lines of a box in each pass; if there is only one pass, lines of a group */
    uint64_t bytes;              /* bytes of a thread's buffers */
    char *buffers;
} boxed;

static TEAM_BODY(run_boxes)
{
    const boxed *b = argument;
    for (int64_t i = begin; i < end; i++) {
        for (int32_t k = 0; k < b->count; k++) {
            int64_t last = (i + 1) * b->lines[k], all = b->part[k].pass->lines;
            run_lines(&b->part[k], k == 0, b->buffers + (uint64_t)thread * b->bytes,
                      i * b->lines[k], min_i64(last, all));
        }
    }
}

/* ---- Long lines ------------------------------------------------------------------------------ */

static TEAM_BODY(run_columns)
{
    const long_line *l = argument;
    char *a = l->buffers + 2 * (uint64_t)thread * l->w->half;
    for (int64_t i = begin; i < end; i++)
        l->w->kernels->columns(&l->plan->split, &l->ends, &l->in, i * l->w->kernels->lanes, l->work,
                               a, a + l->w->half);
}

static TEAM_BODY(run_rows)
{
    const long_line *l = argument;
    char *b = l->buffers + 2 * (uint64_t)thread * l->w->half;
    for (int64_t i = begin; i < end; i++)
        l->w->kernels->rows(&l->plan->split, &l->ends, &l->out, i * l->w->kernels->lanes, l->work,
                            b);
}

static void transform(long_line *l, const fft_span *in, const fft_span *out, fft_ends ends)
{
    int64_t lanes = l->w->kernels->lanes;
    l->in = *in;
    l->out = *out;
    l->ends = ends;
    team_run(l->device->threads, divide_up(l->w->columns, lanes), GRAIN / (lanes * l->w->rows) + 1,
             run_columns, l);
    team_run(l->device->threads, divide_up(l->w->rows, lanes), GRAIN / (lanes * l->w->columns) + 1,
             run_rows, l);
}

/* Computes elements begin .. end-1 of a step that is not a transform. */
static TEAM_BODY(run_step)
{
    const long_line *l = argument;
    const fft_functions *k = l->w->kernels;
    const fft_axis *axis = &l->plan->axis;
    const fft_ends *e = &l->ends;
    switch (l->step) {
    case LOAD:
        k->load(l->z.at, &l->in, l->w->length, e->real_in, e->exchanged_in,
                l->pass->kind == FFT_FROM_HALF, begin, end);
        break;
    case JOIN:
        k->join(axis, l->z.at, &l->in, begin, end);
        break;
    case CHIRP:
        k->chirp(&axis->line, l->z.at, begin, end);
        break;
    case SPECTRUM:
        k->spectrum(&axis->line, l->z.at, begin, end);
        break;
    case UNCHIRP:
        k->unchirp(&axis->line, l->z.at, begin, end);
        break;
    case STORE:
        k->store(&l->out, l->z.at, e->real_out, e->exchanged_out, e->scale, begin, end);
        break;
    case SPLIT:
        k->split(axis, &l->out, &l->in, begin, end);
        break;
    }
}

static void each(long_line *l, int64_t count, long_step step)
{
    l->step = step;
    team_run(l->device->threads, count, GRAIN, run_step, l);
}

/* Transforms or convolves the line in its own memory. */
static void transform_here(long_line *l)
{
    const fft_ends plain = {.scale = 1.0};
    if (l->w->inner == l->w->length) {
        transform(l, &l->z, &l->z, plain);
        return;
    }
    each(l, l->w->inner, CHIRP);
    transform(l, &l->z, &l->z, plain);
    each(l, l->w->inner, SPECTRUM);
    transform(l, &l->z, &l->z, plain);
    each(l, l->w->length, UNCHIRP);
}

/* Transforms one line. The split steps read the input and write the output directly if that side needs no other
 * step. Else the line goes through z. */
static void run_long(long_line *l, const fft_group *g)
{
    const fft_pass *p = l->pass;
    int halved = is_halved(p), smooth = l->w->inner == l->w->length;
    fft_span in = {g->in.at[0], g->in.step, g->in.part};
    fft_span out = {g->out.at[0], g->out.step, g->out.part}, end = out;
    fft_ends ends = {.real_in = p->kind == FFT_TO_HALF && !halved,
                     .real_out = p->kind == FFT_FROM_HALF && !halved,
                     .exchanged_in = p->inverse,
                     .exchanged_out = p->inverse,
                     .scale = p->scale};
    if (halved && p->kind == FFT_TO_HALF)
        in = (fft_span){in.at, 2 * in.step, in.step};
    if (halved && p->kind == FFT_FROM_HALF)
        end = (fft_span){out.at, 2 * out.step, out.step};
    int straight_in = smooth && p->kind != FFT_FROM_HALF;
    int straight_out = smooth && (p->kind != FFT_TO_HALF || halved);
    if (straight_in && straight_out) {
        transform(l, &in, &end, ends);
    } else {
        l->in = in;
        l->ends = ends;
        if (halved && p->kind == FFT_FROM_HALF)
            each(l, l->w->length / 2 + 1, JOIN);
        else
            each(l, l->w->length, LOAD);
        transform_here(l);
        l->out = end;
        l->ends = ends;
        each(l, p->kind == FFT_TO_HALF && !halved ? p->to.length : l->w->length, STORE);
    }
    if (halved && p->kind == FFT_TO_HALF) {
        l->in = l->out = out;
        each(l, l->w->length / 2 + 1, SPLIT);
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* A pass, its strategy and its plan. */
typedef struct step {
    fft_pass pass;
    strategy w;
    line_plan *plan;
} step;

static void run_cut(const collet_device *device, const step *s, char *memory)
{
    const fft_pass *p = &s->pass;
    long_line l = {.device = device, .pass = p, .w = &s->w, .plan = s->plan, .work = memory};
    l.z = (fft_span){memory + s->w.work, p->wide ? 16 : 8, p->wide ? 8 : 4};
    l.buffers = memory + s->w.work + s->w.line;
    for (int64_t i = 0; i < p->lines; i++) {
        fft_group g;
        fft_pass_lines(p, i, 1, &g);
        run_long(&l, &g);
    }
}

static void run_whole(const collet_device *device, const step *s, int32_t count, int64_t boxes,
                      char *memory)
{
    boxed b = {.count = count, .buffers = memory};
    int64_t elements = 0;
    for (int32_t k = 0; k < count; k++) {
        b.part[k] = (grouped){&s[k].pass, &s[k].w, s[k].plan};
        b.lines[k] = boxes ? s[k].pass.lines / boxes : s[k].w.lanes;
        b.bytes = 2 * s[k].w.half > b.bytes ? 2 * s[k].w.half : b.bytes;
        elements += b.lines[k] * s[k].w.length;
    }
    if (!boxes)
        boxes = divide_up(s->pass.lines, s->w.lanes);
    team_run(device->threads, boxes, GRAIN / elements + 1, run_boxes, &b);
}

/*
 * The number of boxes that can be computed in turn: all `count` passes run in one box before the next box begins, so
 * that a pass finds the output of the previous pass in the caches. 0: there are no boxes. The number depends on the
 * call alone, so the results do not depend on the number of threads.
 */
static int64_t boxes_of(const step *s, int32_t count)
{
    int64_t boxes = 1, size = s->pass.wide ? 16 : 8;
    int32_t outer = s->pass.ndim - (count - 1);
    for (int32_t k = 0; k < outer; k++)
        boxes *= s->pass.shape[k];
    for (int32_t i = 0; i < count; i++) {
        const fft_pass *p = &s[i].pass;
        if (s[i].w.split || p->ndim != s->pass.ndim || p->lines == 0 ||
            p->lines / boxes * p->n * size > BOX_BYTES)
            return 0;
        for (int32_t k = 0; i > 0 && k < outer; k++)
            if (p->shape[k] != s->pass.shape[k] || p->from.other[k] != s[i - 1].pass.to.other[k])
                return 0;
    }
    return boxes < BOXES_MIN ? 0 : boxes;
}

/* Runs passes [0, count) in as few sweeps over memory as possible. */
static void run_steps(const collet_device *device, const step *s, int32_t count, char *memory)
{
    for (int32_t i = 0, next; i < count; i = next) {
        next = i + 1;
        if (s[i].w.split) {
            run_cut(device, &s[i], memory);
            continue;
        }
        int64_t boxes = 0;
        for (int32_t end = count; end > i + 1 && next == i + 1; end--) {
            boxes = boxes_of(s + i, end - i);
            next = boxes ? end : next;
        }
        run_whole(device, &s[i], next - i, boxes, memory);
    }
}

KERNEL(fft)
{
    fft_pass passes[FFT_AXES_MAX];
    step steps[FFT_AXES_MAX];
    int32_t count = fft_passes_of(call, FFT_BYTES, passes), made = 0;
    for (; made < count; made++) {
        step *s = &steps[made];
        s->pass = passes[made];
        s->w = strategy_of(device, &s->pass);
        s->plan = take(device, &s->pass, &s->w);
        if (!s->plan)
            break;
    }
    if (made == count)
        run_steps(device, steps, count, (char *)call->workspace + fft_temporary(call));
    for (int32_t i = 0; i < made; i++)
        plan_cache_give(device->base.plans, &steps[i].plan->head);
    if (made < count) {
        return device->base.host->fail(call->err, COLLET_REFUSED,
                                       "out of memory for a transform of length %lld",
                                       (long long)passes[made].n);
    }
    return COLLET_OK;
}

KERNEL(fftshift)
{
    return cpu_fft_shift(device, queue, call, host_copy);
}
