/* SPDX-License-Identifier: Apache-2.0 */
#include "fft.h"

#include <stdio.h>
#include <string.h>

#include "fft_stages.h"
#include "tables.h"
#include "texts.h"

static const char *const texts[] = {device_text_fft_stage, device_text_fft, device_text_fft_lanes,
                                    NULL};
static const device_source source = {"fft", texts};

#define AXES_MAX 3
#define TILE 128 /* of fft.dev */
/* Scratch that the lines of a launch take at most, if one line takes no more: what a processor has
 * in its cache; and lines enough for any other device. */
#define CPU_SCRATCH ((int64_t)1 << 21)
#define SCRATCH ((int64_t)256 << 20)

/* ---- One axis -------------------------------------------------------------------------------- */

/* A view of all numbers on one side of a pass. */
typedef struct side {
    void *buffer;
    int64_t first; /* elements, as are the strides */
    const int64_t *shape;
    int64_t strides[COLLET_MAX_DIMS];
    int real;
} side;

/* All lines along one axis. */
typedef struct pass {
    side from, to;
    int32_t axis, inverse;
    int half;  /* `from` has half spectra of lines whose last axis becomes real */
    int64_t n; /* the length; of a half spectrum the real one */
    double scale;
    int64_t lines;
    int32_t outer; /* axes that it does not run along, the smallest steps in the output last */
    int64_t extent[COLLET_MAX_DIMS], in_other[COLLET_MAX_DIMS], out_other[COLLET_MAX_DIMS];
} pass;

/* The `stage` of fft_stage.dev. */
typedef struct stage {
    int64_t lines, first;
    int64_t columns, all_columns;
    int64_t stride;
    int64_t in_step, out_step;
    int64_t in_line, out_line;
    int64_t in_length, out_length;
    int64_t n;
    int64_t roots, fine, coarse, steps, chirp, spectrum;
    int64_t extent[7], in_other[7], out_other[7];
    int32_t outer, fine_bits;
    int32_t radix, tile_bits;
    int32_t flags, passes;
    int32_t small[FFT_RADICES_MAX];
    int64_t tiles, each, run;
    int64_t in_lane, out_lane;
} stage;

enum {
    LINES_FIRST = 1,
    IN_ALONG = 2,
    OUT_ALONG = 4,
    IN_REAL = 8,
    IN_HALF = 16,
    IN_SWAPPED = 32,
    IN_CHIRP = 64,
    OUT_TURNED = 128,
    OUT_SPECTRUM = 256,
    OUT_CHIRP = 512,
    OUT_SWAPPED = 1024,
    OUT_REAL = 2048,
    IN_PLAIN = 4096,
    OUT_PLAIN = 8192,
    OF_COLUMNS = 16384
};

static int is_complex(collet_dtype dtype)
{
    return dtype == COLLET_C64 || dtype == COLLET_C128;
}

static int is_wide(const collet_operand *o)
{
    return o->dtype == COLLET_C128 || o->dtype == COLLET_F64;
}

static uint64_t magnitude(int64_t step)
{
    return step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
}

static side side_of(const collet_operand *o)
{
    side s = {.buffer = o->buffer, .shape = o->shape, .real = !is_complex(o->dtype)};
    s.first = (int64_t)(o->byte_offset / device_dtype_size(o->dtype));
    memcpy(s.strides, o->strides, (size_t)o->ndim * sizeof *s.strides);
    return s;
}

/* A dense array at the front of the workspace with the input's shape. */
static side temporary_of(const collet_kernel_call *call)
{
    const collet_operand *in = device_operand(call, 1);
    side s = {.buffer = call->workspace, .shape = in->shape};
    int64_t step = 1;
    for (int32_t i = in->ndim - 1; i >= 0; i--) {
        s.strides[i] = step;
        step *= in->shape[i];
    }
    return s;
}

static void add_other(pass *p, int64_t extent, int64_t in, int64_t out)
{
    int32_t i = p->outer++;
    for (; i > 0 && magnitude(p->out_other[i - 1]) < magnitude(out); i--) {
        p->extent[i] = p->extent[i - 1];
        p->in_other[i] = p->in_other[i - 1];
        p->out_other[i] = p->out_other[i - 1];
    }
    p->extent[i] = extent;
    p->in_other[i] = in;
    p->out_other[i] = out;
    p->lines *= extent;
}

/*
 * The passes of a call in their order, as on the CPUs: the last axis first, and last where it makes
 * the numbers real, which begins in the workspace. None when there is nothing to compute.
 */
static int32_t passes_of(const collet_kernel_call *call, pass passes[AXES_MAX])
{
    const collet_fft_params *params = call->params;
    const collet_operand *out = device_operand(call, 0), *in = device_operand(call, 1);
    int32_t count = (int32_t)params->axes, last = out->ndim - 1;
    int from_half = !is_complex(out->dtype);
    double scale = 1.0;
    for (int32_t i = 0; i < out->ndim; i++)
        if (out->shape[i] == 0)
            return 0;
    for (int32_t i = 0; i < count; i++)
        scale *= params->inverse ? (double)out->shape[last - i] : 1.0;
    for (int32_t i = 0; i < count; i++) {
        pass *p = &passes[i];
        *p = (pass){.inverse = params->inverse != 0, .lines = 1};
        p->axis = from_half ? last - (count - 1) + i : last - i;
        p->half = from_half && p->axis == last;
        p->from = i == 0 ? side_of(in) : from_half ? temporary_of(call) : side_of(out);
        p->to = from_half && !p->half ? temporary_of(call) : side_of(out);
        p->n = p->from.real ? in->shape[p->axis] : p->to.shape[p->axis];
        p->scale = i == count - 1 ? 1.0 / scale : 1.0;
        for (int32_t k = 0; k < out->ndim; k++)
            if (k != p->axis && p->to.shape[k] != 1)
                add_other(p, p->to.shape[k], p->from.strides[k], p->to.strides[k]);
    }
    return count;
}

/* ---- Scratch --------------------------------------------------------------------------------- */

/* Launches of a pass: a convolution goes there and back. */
static int32_t launches_of(const fft_stages *s)
{
    return s->inner == s->n ? s->count : 2 * s->count;
}

static int64_t pair_bytes(const fft_stages *s)
{
    return s->wide ? 16 : 8;
}

/* Lines that go through the stages together. */
static int64_t lines_together(const device_traits *t, const fft_stages *s, const pass *p)
{
    int64_t fit = (t->is_cpu ? CPU_SCRATCH : SCRATCH) / (s->inner * pair_bytes(s));
    if (launches_of(s) == 1 || fit > p->lines)
        return p->lines;
    return fit > 0 ? fit : 1;
}

/* Bytes of each of the two arrays between stages, of which two launches have one. */
static uint64_t scratch_bytes(const device_traits *t, const fft_stages *s, const pass *p)
{
    return (uint64_t)(lines_together(t, s, p) * s->inner * pair_bytes(s));
}

static uint64_t temporary_bytes(const collet_kernel_call *call)
{
    const collet_fft_params *params = call->params;
    const collet_operand *in = device_operand(call, 1);
    if (is_complex(device_operand(call, 0)->dtype) || params->axes == 1)
        return 0;
    return (uint64_t)device_count(in) * device_dtype_size(in->dtype);
}

uint64_t device_fft_workspace(collet_device *device, const collet_kernel_call *call)
{
    const device_traits *t = device_traits_of(device);
    pass passes[AXES_MAX];
    fft_stages s;
    uint64_t most = 0;
    int32_t count = passes_of(call, passes);
    for (int32_t i = 0; i < count; i++) {
        fft_stages_of(&s, t, passes[i].n, is_wide(device_operand(call, 1)));
        int32_t arrays = launches_of(&s) - 1;
        uint64_t bytes = scratch_bytes(t, &s, &passes[i]) * (uint64_t)(arrays > 2 ? 2 : arrays);
        most = bytes > most ? bytes : most;
    }
    return count ? temporary_bytes(call) + most : 0;
}

/* ---- Launches -------------------------------------------------------------------------------- */

typedef struct run {
    collet_device *device;
    collet_queue *queue;
    const collet_kernel_call *call;
    const device_table *table;
    const fft_stages *stages;
    const pass *pass;
    int across; /* lines lie side by side, not their elements */
    char options[96];
    int launched;
} run;

/* Columns of a group: as many as fit, fewer where that keeps processors without one, and eight
 * where neighbouring columns are neighbours in memory. */
static int32_t tile_bits_of(const device_traits *t, const stage *s, int32_t room)
{
    int32_t bits = 0;
    int32_t least = s->flags & IN_ALONG && s->flags & OUT_ALONG ? 0 : 3;
    while (2 << bits <= TILE && s->radix << (bits + 1) <= room)
        bits++;
    while (bits > 0 && ((int64_t)1 << (bits - 1) >= s->all_columns ||
                        (bits > least && (s->all_columns >> bits) < 2 * (int64_t)t->units)))
        bits--;
    return bits;
}

/* Elements that a group of a processor has at least, if others have work too. */
#define CPU_ELEMENTS 16384

/* Lines from line to line of which the numbers are equally far apart: all, those of the innermost
 * axis, or, where tiles of them would have few lines, any. */
static int64_t run_of_lines(const pass *p, const stage *g, int32_t lanes)
{
    int64_t inner = p->outer > 1 ? p->extent[p->outer - 1] : g->lines;
    int whole = g->first % inner == 0 && g->lines % inner == 0;
    return whole && (inner % lanes == 0 || inner >= 4 * lanes) ? inner : g->lines;
}

/* The tiles of a launch on a processor. */
static void set_tiles(stage *g, const device_traits *t, const pass *p, int32_t lanes)
{
    int64_t inner = p->outer ? p->extent[p->outer - 1] : 1;
    if (g->flags & OF_COLUMNS) {
        g->run = g->stride == 1 ? g->columns : g->stride;
        g->in_lane = g->in_step;
        g->out_lane = g->out_step * (g->stride == 1 ? g->radix : 1);
    } else {
        int even;
        g->run = run_of_lines(p, g, lanes);
        even = p->outer < 2 || g->first % inner + g->run <= inner;
        g->in_lane = g->in_line ? g->in_line : even && p->outer ? p->in_other[p->outer - 1] : 0;
        g->out_lane = g->out_line ? g->out_line : even && p->outer ? p->out_other[p->outer - 1] : 0;
    }
    g->tiles = g->all_columns / g->run * (int64_t)device_ceiling((uint64_t)g->run, (uint64_t)lanes);
    g->each = 1;
    while (g->radix * lanes * g->each < CPU_ELEMENTS && g->tiles / g->each > 8 * (int64_t)t->units)
        g->each *= 2;
}

static void set_view(stage *g, const pass *p)
{
    g->outer = p->outer;
    memcpy(g->extent, p->extent, sizeof g->extent);
    memcpy(g->in_other, p->in_other, sizeof g->in_other);
    memcpy(g->out_other, p->out_other, sizeof g->out_other);
}

static void set_table(stage *g, const fft_stages *s, const fft_stage_plan *plan)
{
    g->radix = (int32_t)plan->radix;
    g->stride = plan->stride;
    g->columns = s->inner / plan->radix;
    g->all_columns = g->lines * g->columns;
    g->passes = plan->passes;
    memcpy(g->small, plan->small, sizeof g->small);
    g->roots = plan->roots;
    g->fine = s->fine;
    g->coarse = s->coarse;
    g->steps = s->steps;
    g->fine_bits = s->fine_bits;
    g->chirp = s->chirp;
    g->spectrum = s->spectrum;
}

/* What launch `i` of a pass does to the numbers that it reads and writes. */
static int32_t flags_of(const run *r, int32_t i, const stage *g)
{
    const fft_stages *s = r->stages;
    int32_t count = launches_of(s), flags = 0;
    if (i == 0)
        flags |= (r->pass->from.real ? IN_REAL : 0) | (r->pass->half ? IN_HALF : 0) |
                 (r->pass->inverse ? IN_SWAPPED : 0) | (s->inner != s->n ? IN_CHIRP : 0);
    if (i == count - 1)
        flags |= (r->pass->to.real ? OUT_REAL : 0) | (r->pass->inverse ? OUT_SWAPPED : 0) |
                 (s->inner != s->n ? OUT_CHIRP : 0);
    else if (i == s->count - 1)
        flags |= OUT_SPECTRUM;
    if (g->stride * g->radix != s->inner)
        flags |= OUT_TURNED;
    if (!(flags & (IN_REAL | IN_HALF | IN_CHIRP)))
        flags |= IN_PLAIN;
    /* Processors turn whole vectors. */
    if (!(flags & (OUT_REAL | OUT_SPECTRUM | OUT_CHIRP | (s->lanes ? 0 : OUT_TURNED))) &&
        (i < count - 1 || r->pass->to.shape[r->pass->axis] == s->inner))
        flags |= OUT_PLAIN;
    if (s->lanes)
        return flags | (!r->across && s->count > 1 ? OF_COLUMNS : 0);
    if (r->across)
        return flags | LINES_FIRST;
    return flags | (g->columns == 1 ? IN_ALONG : 0) | (g->stride == 1 ? OUT_ALONG : 0);
}

static void pass_scale(device_launch *l, const fft_stages *s, double scale)
{
    if (s->wide)
        device_pass_f64(l, scale);
    else
        device_pass_f32(l, (float)scale);
}

/* Launch `i` for `lines` lines from `first` on. */
static collet_status launch(run *r, int32_t i, int64_t first, int64_t lines)
{
    const device_traits *t = device_traits_of(r->device);
    const fft_stages *s = r->stages;
    const pass *p = r->pass;
    int32_t count = launches_of(s), ends = i == count - 1;
    int64_t scratch = (int64_t)(temporary_bytes(r->call) / (uint64_t)pair_bytes(s));
    int64_t array = (int64_t)scratch_bytes(t, s, p) / pair_bytes(s);
    stage g = {.lines = lines, .first = first, .n = s->n};
    device_launch l;
    set_view(&g, p);
    set_table(&g, s, &s->stage[i % s->count]);
    g.flags = flags_of(r, i, &g);
    if (!t->is_cpu)
        g.tile_bits = tile_bits_of(t, &g, fft_room(t, s->wide));
    g.in_length = i == 0 ? s->n : s->inner;
    g.out_length = ends ? p->to.shape[p->axis] : s->inner;
    g.in_step = i == 0 ? p->from.strides[p->axis] : r->across ? lines : 1;
    g.out_step = ends ? p->to.strides[p->axis] : r->across ? lines : 1;
    g.in_line = i == 0 ? 0 : r->across ? 1 : s->inner;
    g.out_line = ends ? 0 : r->across ? 1 : s->inner;
    if (t->is_cpu)
        set_tiles(&g, t, p, s->lanes);
    int64_t in_first = i == 0 ? p->from.first : scratch + (i % 2 ? 0 : array);
    int64_t out_first = ends ? p->to.first : scratch + (i % 2 ? array : 0);
    device_launch_begin(&l, &source, r->options, t->is_cpu ? "fft_lanes" : "fft_stage");
    l.alone = t->is_cpu;
    device_pass_buffer(&l, ends ? p->to.buffer : r->call->workspace);
    device_pass_i64(&l, ends && p->to.real ? out_first : 2 * out_first);
    device_pass_buffer(&l, i == 0 ? p->from.buffer : r->call->workspace);
    device_pass_i64(&l, i == 0 && p->from.real ? in_first : 2 * in_first);
    device_pass_buffer(&l, r->table->buffer);
    pass_scale(&l, s, ends ? p->scale : 1.0);
    device_pass_block(&l, &g, sizeof g);
    collet_status status = device_enqueue(
        r->device, r->queue, &l,
        t->is_cpu ? device_ceiling((uint64_t)g.tiles, (uint64_t)g.each)
                  : device_ceiling((uint64_t)g.all_columns, (uint64_t)1 << g.tile_bits),
        r->call->err);
    if (r->launched)
        return device_after_first(status);
    r->launched = status == COLLET_OK;
    return status;
}

static collet_status run_pass(run *r)
{
    const pass *p = r->pass;
    const device_traits *t = device_traits_of(r->device);
    int64_t together = lines_together(t, r->stages, p);
    collet_status status = COLLET_OK;
    r->across = p->lines > 1 && magnitude(p->to.strides[p->axis]) != 1 &&
                magnitude(p->from.strides[p->axis]) != 1;
    for (int64_t first = 0; first < p->lines && status == COLLET_OK; first += together) {
        int64_t left = p->lines - first;
        for (int32_t i = 0; i < launches_of(r->stages) && status == COLLET_OK; i++)
            status = launch(r, i, first, left < together ? left : together);
    }
    return status;
}

static collet_status take_table(run *r, const fft_stages *s, device_table **table)
{
    plan_key key = {.words = 0};
    plan_key_add(&key, s->n);
    plan_key_add(&key, s->wide);
    return device_table_take(r->device, r->queue, &key,
                             (uint64_t)s->pairs * (uint64_t)pair_bytes(s), fft_stages_fill, s,
                             table, r->call->err);
}

collet_status device_fft(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    const device_traits *t = device_traits_of(device);
    pass passes[AXES_MAX];
    fft_stages stages[AXES_MAX];
    device_table *tables[AXES_MAX] = {NULL};
    int wide = is_wide(device_operand(call, 1));
    int32_t count = passes_of(call, passes);
    run r = {.device = device, .queue = queue, .call = call};
    collet_status status = COLLET_OK;
    (void)snprintf(r.options, sizeof r.options, "-DREAL=%s -DCOMPLEX=%s -DROOM=%d",
                   wide ? "f64" : "f32", wide ? "c128" : "c64", (int)fft_room(t, wide));
    for (int32_t i = 0; i < count && status == COLLET_OK; i++) {
        fft_stages_of(&stages[i], t, passes[i].n, wide);
        status = take_table(&r, &stages[i], &tables[i]);
    }
    for (int32_t i = 0; i < count && status == COLLET_OK; i++) {
        r.pass = &passes[i];
        r.stages = &stages[i];
        r.table = tables[i];
        status = run_pass(&r);
    }
    for (int32_t i = 0; i < count; i++)
        if (tables[i])
            device_table_give(tables[i]);
    return status;
}
