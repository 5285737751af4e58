/* SPDX-License-Identifier: Apache-2.0 */
#include "fft.h"

#include <stdio.h>
#include <string.h>

#include "shared/host/fft/plan.h"
#include "convolution.h"
#include "pass.h"
#include "stage.h"
#include "stages.h"
#include "shared/jit/runtime/tables.h"
#include "shared/jit/texts.h"

static const char *const texts[] = {jit_text_fft_stage,  jit_text_fft_fft,   jit_text_fft_lanes,
                                    jit_text_fft_halves, jit_text_fft_tiles, NULL};
static const jit_source source = {"fft", texts};

#define TILE 128 /* of fft.dev */
/* Scratch that the lines of a launch take at most, if one line takes no more: what a processor has
 * in its cache; and lines enough for any other device. */
#define CPU_SCRATCH ((int64_t)1 << 21)
#define SCRATCH ((int64_t)256 << 20)

/* ---- Plans ----------------------------------------------------------------------------------- */

/* On processors real lines go through transforms of their pairs, whose half spectra are made in
 * local memory or by a launch of their own. */
static int is_halved(const jit_traits *t, const fft_pass *p)
{
    int next = p->from.strides[p->axis] == 1 && p->to.strides[p->axis] == 1;
    return t->is_cpu && (p->from.real || p->half) && p->n % 2 == 0 && fft_is_smooth(p->n) &&
           (next || p->n / 2 <= fft_room(t, p->wide));
}

static void plan(fft_stages *s, const jit_traits *t, const fft_pass *p)
{
    fft_stages_of(s, t, p->n, p->wide, is_halved(t, p));
}

/* Whether half spectra have a launch of their own, the first or the last. */
static int has_halves(const fft_stages *s)
{
    return s->real && s->count > 1;
}

/* ---- Scratch --------------------------------------------------------------------------------- */

/* Launches of a pass: a convolution goes there and back. */
static int32_t launches_of(const fft_stages *s)
{
    if (fft_is_convolved(s))
        return 2 * s->count - 1;
    return (s->inner == s->n ? s->count : 2 * s->count) + has_halves(s);
}

static int64_t pair_bytes(const fft_stages *s)
{
    return s->wide ? 16 : 8;
}

/* Elements of a line in scratch. */
static int64_t line_elements(const fft_stages *s)
{
    return s->rows.count ? s->rows.count * s->rows.pitch : s->inner;
}

/* Lines that go through the stages together. */
static int64_t lines_together(const jit_traits *t, const fft_stages *s, const fft_pass *p)
{
    int64_t fit = (t->is_cpu ? CPU_SCRATCH : SCRATCH) / (line_elements(s) * pair_bytes(s));
    if (launches_of(s) == 1 || fit > p->lines)
        return p->lines;
    return fit > 0 ? fit : 1;
}

/* Bytes of an array between stages. */
static uint64_t scratch_bytes(const jit_traits *t, const fft_stages *s, const fft_pass *p)
{
    return (uint64_t)(lines_together(t, s, p) * line_elements(s) * pair_bytes(s));
}

/* Such arrays: two in turn, of which two launches have one. */
static uint64_t scratch_arrays(const fft_stages *s)
{
    int32_t between = launches_of(s) - 1, most = fft_is_convolved(s) ? 1 : 2;
    return (uint64_t)(between < most ? between : most);
}

uint64_t jit_fft_workspace(collet_device *device, const collet_kernel_call *call)
{
    const jit_traits *t = jit_traits_of(device);
    fft_pass passes[FFT_AXES_MAX];
    fft_stages s;
    uint64_t most = 0;
    int32_t count = fft_passes_of(call, passes);
    for (int32_t i = 0; i < count; i++) {
        plan(&s, t, &passes[i]);
        uint64_t bytes = scratch_bytes(t, &s, &passes[i]) * scratch_arrays(&s);
        most = bytes > most ? bytes : most;
    }
    return count ? fft_temporary_bytes(call) + most : 0;
}

/* ---- Launches -------------------------------------------------------------------------------- */

typedef struct run {
    collet_device *device;
    collet_queue *queue;
    const collet_kernel_call *call;
    const jit_table *table;
    const fft_stages *stages;
    const fft_pass *pass;
    int across; /* lines lie side by side, not their elements */
    char options[96];
    int launched;
} run;

/* Columns of a group: as many as fit, fewer where that keeps processors without one, and eight
 * where neighbouring columns are neighbours in memory. The groups. */
static uint64_t set_columns(fft_stage *g, const jit_traits *t, int wide)
{
    int32_t bits = 0, room = fft_room(t, wide);
    int32_t least = g->flags & IN_ALONG && g->flags & OUT_ALONG ? 0 : 3;
    while (2 << bits <= TILE && g->radix << (bits + 1) <= room)
        bits++;
    while (bits > 0 && ((int64_t)1 << (bits - 1) >= g->all_columns ||
                        (bits > least && (g->all_columns >> bits) < 2 * (int64_t)t->units)))
        bits--;
    g->tile_bits = bits;
    return jit_ceiling((uint64_t)g->all_columns, (uint64_t)1 << bits);
}

/* Elements that a group of a processor has at least, if others have work too. */
#define CPU_ELEMENTS 16384

/* Lines from line to line of which the numbers are equally far apart: all, those of the innermost
 * axis, or, where tiles of them would have few lines, any. */
static int64_t run_of_lines(const fft_pass *p, const fft_stage *g, int32_t lanes)
{
    int64_t inner = p->outer > 1 ? p->extent[p->outer - 1] : g->lines;
    int whole = g->first % inner == 0 && g->lines % inner == 0;
    return whole && (inner % lanes == 0 || inner >= 4 * lanes) ? inner : g->lines;
}

/* Elements from which on a launch asks for the lines of each next tile: they are not in the second
 * cache, and no prefetcher follows lines that are far apart. */
#define CPU_COLD ((int64_t)1 << 17)

/* Vectors between the buffers of a group, so that elements a power of two apart are in as many sets
 * of a cache as can be. */
#define APART 16 /* of fft_lanes.dev */

/* The buffers of a group. The compiler of PoCL 3.1 may crash where their places are constants. */
static void set_buffers(fft_stage *g)
{
    g->buffer[0] = 0;
    g->buffer[1] = 2 * (g->radix + 1) + APART;
}

/* The tiles of a launch on a processor. The groups. */
static uint64_t set_tiles(fft_stage *g, const jit_traits *t, const fft_pass *p, int32_t lanes)
{
    int64_t inner = p->outer ? p->extent[p->outer - 1] : 1;
    if (g->flags & IN_PLACE) {
        g->in_lane = g->in_step;
        g->out_lane = g->out_step;
    } else if (g->flags & OF_COLUMNS) {
        g->run = g->stride == 1 ? g->columns : g->stride;
        g->in_lane = g->in_step;
        g->out_lane = g->out_step * (g->stride == 1 ? g->radix : 1);
    } else {
        int even;
        g->run = g->spectra ? g->lines : run_of_lines(p, g, lanes);
        even = p->outer < 2 || g->first % inner + g->run <= inner;
        g->in_lane = g->in_line ? g->in_line : even && p->outer ? p->in_other[p->outer - 1] : 0;
        g->out_lane = g->out_line ? g->out_line : even && p->outer ? p->out_other[p->outer - 1] : 0;
    }
    if (g->all_columns * g->radix >= CPU_COLD) {
        int scratch = g->in_line && g->out_line && g->flags & (IN_PLACE | CONVOLVED);
        int in_place = !g->in_line && !g->out_line && p->from.buffer == p->to.buffer;
        g->in_ahead = lanes * g->in_lane;
        g->out_ahead = in_place || scratch ? 0 : lanes * g->out_lane;
    }
    g->tiles = g->all_columns / g->run * (int64_t)jit_ceiling((uint64_t)g->run, (uint64_t)lanes);
    g->each = 1;
    while (g->radix * lanes * g->each < CPU_ELEMENTS && g->tiles / g->each > 8 * (int64_t)t->units)
        g->each *= 2;
    return jit_ceiling((uint64_t)g->tiles, (uint64_t)g->each);
}

static void set_view(fft_stage *g, const fft_pass *p)
{
    g->outer = p->outer;
    memcpy(g->extent, p->extent, sizeof g->extent);
    memcpy(g->in_other, p->in_other, sizeof g->in_other);
    memcpy(g->out_other, p->out_other, sizeof g->out_other);
}

static void set_table(fft_stage *g, const fft_stages *s, const fft_stage_plan *plan)
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
    g->steps = plan->steps;
    g->halves = s->halves;
    g->fine_bits = s->fine_bits;
    g->chirp = s->chirp;
    g->spectrum = s->spectrum;
}

/* What launch `i` of a pass does to the numbers that it reads and writes. */
static int32_t flags_of(const run *r, int32_t i, const fft_stage *g)
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

/* The same of a launch between pairs of real numbers and half spectra. */
static int32_t flags_of_pairs(const run *r, int32_t i, const fft_stage *g)
{
    const fft_stages *s = r->stages;
    int32_t flags = IN_PLAIN | OUT_PLAIN | (s->count > 1 ? OF_COLUMNS : 0);
    if (r->pass->half && i == launches_of(s) - 1)
        flags |= OUT_SWAPPED;
    if (s->count == 1)
        flags |= r->pass->half ? IN_JOINED : OUT_SPLIT;
    return flags | (g->stride * g->radix != s->inner ? OUT_TURNED : 0);
}

static void pass_scale(jit_launch *l, const fft_stages *s, double scale)
{
    if (s->wide)
        jit_pass_f64(l, scale);
    else
        jit_pass_f32(l, (float)scale);
}

/* Where launch `i` reads and writes: operands at the ends of a pass, else scratch. */
static void set_sides(fft_stage *g, const run *r, int32_t i)
{
    const fft_stages *s = r->stages;
    const fft_pass *p = r->pass;
    int begins = i == 0, ends = i == launches_of(s) - 1;
    g->in_length = begins ? s->n : s->inner;
    g->out_length = ends ? p->to.shape[p->axis] : s->inner;
    g->in_step = begins ? p->from.strides[p->axis] : r->across ? g->lines : 1;
    g->out_step = ends ? p->to.strides[p->axis] : r->across ? g->lines : 1;
    g->in_line = begins ? 0 : r->across ? 1 : line_elements(s);
    g->out_line = ends ? 0 : r->across ? 1 : line_elements(s);
    g->in_unit = begins && p->from.real ? 1 : 2;
    g->out_unit = ends && p->to.real ? 1 : 2;
    g->in_part = g->out_part = 1;
    if (s->real && g->in_unit == 1) {
        g->in_part = g->in_step;
        g->in_step *= 2;
    }
    if (s->real && g->out_unit == 1) {
        g->out_part = g->out_step;
        g->out_step *= 2;
    }
}

/* Rows of elements that a tile reads and writes. */
static void set_rows(fft_stage *g)
{
    g->in_row = g->in_step * g->columns;
    g->out_row = g->out_step * g->stride;
    g->skip = g->stride;
    g->in_rows = g->radix + (g->flags & IN_JOINED ? 1 : 0);
    g->out_rows = g->radix + (g->flags & OUT_SPLIT ? 1 : 0);
}

/* Half spectra: what there is of them is written as it is, and read where they are columns. */
static void set_halves(fft_stage *g)
{
    if (g->flags & IN_HALF && g->columns == 1) {
        g->flags |= IN_PLAIN;
        g->in_rows = (int32_t)(g->n / 2 + 1);
    }
    if (!(g->flags & OUT_REAL) && (g->columns == 1 || g->flags & OF_COLUMNS)) {
        g->flags |= OUT_PLAIN;
        g->out_rows = (int32_t)jit_ceiling((uint64_t)g->out_length, (uint64_t)g->columns);
    }
}

/* ---- Launches of a convolution (fft_convolution.h) ------------------------------------------- */

static int32_t flags_of_convolved(const run *r, int32_t i)
{
    const fft_pass *p = r->pass;
    int32_t middle = r->stages->count - 1;
    int32_t flags =
        i == middle ? CONVOLVED : IN_PLACE | OF_COLUMNS | (i < middle ? OUT_TURNED : IN_TURNED);
    if (i == 0)
        flags |= IN_CHIRP | (p->from.real ? IN_REAL : 0) | (p->half ? IN_HALF : 0) |
                 (p->inverse ? IN_SWAPPED : 0);
    if (i == 2 * middle)
        flags |= OUT_CHIRP | (p->to.real ? OUT_REAL : 0) | (p->inverse ? OUT_SWAPPED : 0);
    return flags | (flags & (IN_REAL | IN_HALF) ? 0 : IN_PLAIN) |
           (flags & OUT_REAL ? 0 : OUT_PLAIN);
}

/* A stage whose columns stay in their places. Rows of scratch hold runs of them. */
static void set_columns_in_place(fft_stage *g, const fft_rows *rows, int begins, int ends)
{
    int64_t runs = g->columns / rows->length, block = g->radix * runs * rows->pitch;
    g->run = rows->length;
    g->skip = g->columns;
    g->chirped = rows->chirped;
    g->in_row = begins ? g->in_step * g->columns : runs * rows->pitch;
    g->in_run = begins ? g->in_step * rows->length : rows->pitch;
    g->in_block = begins ? 0 : block;
    g->out_row = ends ? g->out_step * g->columns : runs * rows->pitch;
    g->out_run = ends ? g->out_step * rows->length : rows->pitch;
    g->out_block = ends ? 0 : block;
}

static void set_convolved(fft_stage *g, const run *r, int32_t i)
{
    const fft_stages *s = r->stages;
    int32_t middle = s->count - 1;
    int begins = i == 0, ends = i == 2 * middle;
    g->columns = s->inner / (g->stride * g->radix);
    g->in_length = begins ? s->n : g->columns * g->radix;
    g->out_length = ends ? r->pass->to.shape[r->pass->axis] : g->columns * g->radix;
    if (i == middle) {
        g->in_row = g->in_step;
        g->out_row = g->out_step;
        g->skip = 1;
        if (middle) {
            g->lines *= s->rows.count;
            g->in_line = g->out_line = s->rows.pitch;
            g->spectra = s->rows.count / s->lanes;
        }
    } else {
        set_columns_in_place(g, &s->rows, begins, ends);
    }
    g->in_rows = (int32_t)jit_ceiling((uint64_t)g->in_length, (uint64_t)g->columns);
    g->out_rows = (int32_t)jit_ceiling((uint64_t)g->out_length, (uint64_t)g->columns);
}

/* ---- One launch ------------------------------------------------------------------------------ */

static void pass_sides(jit_launch *l, const run *r, int32_t i, const fft_stage *g)
{
    const fft_stages *s = r->stages;
    const fft_pass *p = r->pass;
    int begins = i == 0, ends = i == launches_of(s) - 1;
    int64_t scratch = (int64_t)fft_temporary_bytes(r->call) / pair_bytes(s);
    int64_t array = (int64_t)scratch_bytes(jit_traits_of(r->device), s, p) / pair_bytes(s);
    int64_t second = scratch_arrays(s) == 2 ? array : 0;
    int64_t in_first = begins ? p->from.first : scratch + (i % 2 ? 0 : second);
    int64_t out_first = ends ? p->to.first : scratch + (i % 2 ? second : 0);
    jit_pass_buffer(l, ends ? p->to.buffer : r->call->workspace);
    jit_pass_i64(l, g->out_unit * out_first);
    jit_pass_buffer(l, begins ? p->from.buffer : r->call->workspace);
    jit_pass_i64(l, g->in_unit * in_first);
    jit_pass_buffer(l, r->table->buffer);
}

/* Places of a half spectrum, and their mirror images, that a group has. */
#define HALVES_EACH 4096

/* Launch `i` for `lines` lines from `first` on. */
static collet_status launch(run *r, int32_t i, int64_t first, int64_t lines)
{
    const jit_traits *t = jit_traits_of(r->device);
    const fft_stages *s = r->stages;
    int convolved = fft_is_convolved(s);
    int32_t number = i - (has_halves(s) && r->pass->half);
    int halves = number < 0 || (has_halves(s) && number == s->count);
    if (convolved && number >= s->count)
        number = 2 * s->count - 2 - number;
    fft_stage g = {.lines = lines, .first = first, .n = s->n, .each = HALVES_EACH};
    jit_launch l;
    uint64_t groups;
    set_view(&g, r->pass);
    set_table(&g, s, &s->stage[halves ? 0 : number % s->count]);
    set_sides(&g, r, i);
    jit_launch_begin(&l, &source, r->options,
                     halves      ? "fft_halves"
                     : t->is_cpu ? "fft_lanes"
                                 : "fft_stage");
    l.alone = t->is_cpu;
    pass_sides(&l, r, i, &g);
    if (halves) {
        g.flags = number < 0 ? IN_JOINED : OUT_SPLIT;
        groups = (uint64_t)lines * jit_ceiling((uint64_t)g.n / 2 + 1, HALVES_EACH);
    } else {
        g.flags = convolved ? flags_of_convolved(r, i)
                  : s->real ? flags_of_pairs(r, i, &g)
                            : flags_of(r, i, &g);
        if (convolved)
            set_convolved(&g, r, i);
        else
            set_rows(&g);
        if (t->is_cpu && !s->real)
            set_halves(&g);
        g.steps = g.flags & OF_COLUMNS ? g.steps : 0;
        set_buffers(&g);
        groups = t->is_cpu ? set_tiles(&g, t, r->pass, s->lanes) : set_columns(&g, t, s->wide);
        pass_scale(&l, s, i == launches_of(s) - 1 ? r->pass->scale : 1.0);
    }
    jit_pass_block(&l, &g, sizeof g);
    collet_status status = jit_enqueue(r->device, r->queue, &l, groups, r->call->err);
    if (r->launched)
        return jit_after_first(status);
    r->launched = status == COLLET_OK;
    return status;
}

static collet_status run_pass(run *r)
{
    const fft_pass *p = r->pass;
    const jit_traits *t = jit_traits_of(r->device);
    int64_t together = lines_together(t, r->stages, p);
    collet_status status = COLLET_OK;
    r->across = p->lines > 1 && !fft_is_convolved(r->stages) &&
                fft_magnitude(p->to.strides[p->axis]) != 1 &&
                fft_magnitude(p->from.strides[p->axis]) != 1;
    for (int64_t first = 0; first < p->lines && status == COLLET_OK; first += together) {
        int64_t left = p->lines - first;
        for (int32_t i = 0; i < launches_of(r->stages) && status == COLLET_OK; i++)
            status = launch(r, i, first, left < together ? left : together);
    }
    return status;
}

static collet_status take_table(run *r, const fft_stages *s, jit_table **table)
{
    plan_key key = {.words = 0};
    plan_key_add(&key, s->n);
    plan_key_add(&key, s->wide);
    plan_key_add(&key, s->real);
    return jit_table_take(r->device, r->queue, &key, (uint64_t)s->pairs * (uint64_t)pair_bytes(s),
                          fft_stages_fill, s, table, r->call->err);
}

collet_status jit_fft(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    const jit_traits *t = jit_traits_of(device);
    fft_pass passes[FFT_AXES_MAX];
    fft_stages stages[FFT_AXES_MAX];
    jit_table *tables[FFT_AXES_MAX] = {NULL};
    int32_t count = fft_passes_of(call, passes);
    int wide = count && passes[0].wide;
    run r = {.device = device, .queue = queue, .call = call};
    collet_status status = COLLET_OK;
    (void)snprintf(r.options, sizeof r.options, "-DREAL=%s -DCOMPLEX=%s -DROOM=%d",
                   wide ? "f64" : "f32", wide ? "c128" : "c64", (int)fft_room(t, wide));
    for (int32_t i = 0; i < count && status == COLLET_OK; i++) {
        plan(&stages[i], t, &passes[i]);
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
            jit_table_give(tables[i]);
    return status;
}
