/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/fft/fft.c */
#include "fft.h"

#include <stdio.h>
#include <string.h>

#include "shared/host/fft/passes.h"
#include "shared/host/fft/plan.h"
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/tables.h"
#include "shared/jit/runtime/types.h"
#include "shared/jit/texts.h"
#include "stage_params.h"

/*
 * How a transform of one length is computed on a device: its stages and their table.
 *
 * A stage is a self-sorting pass (Stockham) with a radix of up to a few thousand. A group computes the transforms
 * of as many columns as fit into local memory, by passes of small radices. A line that fits there needs one stage. A
 * length with a prime factor above FFT_PRIME_MAX (shared/host/fft/plan.h) uses Bluestein's algorithm, which runs
 * the stages for the length of the convolution twice.
 */

#define FFT_STAGES_MAX 12

typedef struct fft_stage_plan {
    int64_t radix;  /* the length of the stage's transforms */
    int64_t stride; /* the product of the radices of earlier stages */
    int32_t passes;
    int32_t small[FFT_RADICES];
    int64_t roots; /* offset in the table: exp(-2 pi i k / radix), k < radix */
} fft_stage_plan;

/* The plan for a length and type. Offsets in the table count its pairs {re, im}. */
typedef struct fft_stages {
    int64_t n, inner; /* as in fft_line */
    int32_t wide;     /* f64, else f32 */
    int32_t count;    /* stages for length `inner` */
    fft_stage_plan stage[FFT_STAGES_MAX];
    /* exp(-2 pi i e / inner) is coarse[e >> fine_bits] * fine[e & (1 << fine_bits) - 1]. These tables exist only if
     * there are several stages. */
    int32_t fine_bits;
    int64_t fine, coarse;
    int64_t chirp, spectrum; /* offsets of the tables of fft_line; only if inner != n */
    int64_t pairs;           /* size of the table */
} fft_stages;

#define FACTORS_MAX 64

/* Elements that a group holds in local memory on this device, a power of two. */
static int32_t fft_capacity(const jit_traits *t, int wide)
{
    /* Local memory holds two buffers of real and imaginary parts, and the data of the columns. */
    uint64_t each = wide ? 32 : 16, others = 4 * FFT_TILE * sizeof(int64_t);
    int32_t capacity = wide ? 1024 : 2048;
    while (capacity > 256 && (uint64_t)capacity * each + others > t->local_bytes)
        capacity /= 2;
    return capacity;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* The prime factors, descending, of a number without factors above FFT_PRIME_MAX. */
static int32_t factors_of(int64_t n, int32_t factor[FACTORS_MAX])
{
    int32_t count = 0;
    for (int32_t p = FFT_PRIME_MAX; p >= 2; p--)
        for (; n % p == 0; n /= p)
            factor[count++] = p;
    return count;
}

/* Distributes the factors over `stages` products: each factor goes to the smallest product. Returns 0 if a product
 * exceeds `most`. */
static int share(const int32_t *factor, int32_t count, int32_t stages, int64_t most,
                 int64_t product[FFT_STAGES_MAX])
{
    for (int32_t i = 0; i < stages; i++)
        product[i] = 1;
    for (int32_t i = 0; i < count; i++) {
        int64_t *smallest = product;
        for (int32_t j = 1; j < stages; j++)
            smallest = product[j] < *smallest ? &product[j] : smallest;
        *smallest *= factor[i];
        if (*smallest > most)
            return 0;
    }
    return 1;
}

static int32_t fewest(const int32_t *factor, int32_t count, int64_t most,
                      int64_t product[FFT_STAGES_MAX])
{
    int32_t stages = 2;
    while (stages < FFT_STAGES_MAX && !share(factor, count, stages, most, product))
        stages++;
    return stages;
}

/* Splits the radix of a stage into passes: powers of two up to 8, nearly equal and as few as possible, then odd primes.
 */
static void split_radix(fft_stage_plan *p)
{
    int64_t n = p->radix;
    int32_t twos = 0;
    for (; n % 2 == 0; n /= 2)
        twos++;
    for (int32_t left = (twos + 2) / 3; left > 0; left--) {
        int32_t bits = (twos + left - 1) / left;
        p->small[p->passes++] = 1 << bits;
        twos -= bits;
    }
    for (int32_t prime = 3; n > 1; prime += 2)
        for (; n % prime == 0; n /= prime)
            p->small[p->passes++] = prime;
}

/* Chooses the radices of the stages so that a group can have eight adjacent columns, unless that needs another stage.
 */
static int32_t radices_of(int64_t n, int64_t capacity, int64_t radix[FFT_STAGES_MAX])
{
    int32_t factor[FACTORS_MAX];
    int64_t wider[FFT_STAGES_MAX];
    if (n <= capacity) {
        radix[0] = n;
        return 1;
    }
    int32_t count = factors_of(n, factor);
    int32_t stages = fewest(factor, count, capacity / 8, radix);
    int32_t fewer = fewest(factor, count, capacity / 4, wider);
    if (fewer < stages)
        memcpy(radix, wider, sizeof wider);
    return fewer < stages ? fewer : stages;
}

static void place_steps(fft_stages *s)
{
    while ((int64_t)1 << 2 * s->fine_bits < s->inner)
        s->fine_bits++;
    s->fine = s->pairs;
    s->coarse = s->fine + ((int64_t)1 << s->fine_bits);
    s->pairs = s->coarse + (s->inner >> s->fine_bits) + 1;
}

/* n >= 1 */
static void fft_stages_of(fft_stages *s, const jit_traits *t, int64_t n, int wide)
{
    int64_t radix[FFT_STAGES_MAX], stride = 1;
    memset(s, 0, sizeof *s);
    s->n = n;
    s->wide = wide;
    s->inner = fft_form_of(n).inner;
    s->count = radices_of(s->inner, fft_capacity(t, wide), radix);
    for (int32_t i = 0; i < s->count; i++) {
        fft_stage_plan *p = &s->stage[i];
        p->radix = radix[i];
        p->stride = stride;
        p->roots = s->pairs;
        stride *= radix[i];
        s->pairs += radix[i];
        split_radix(p);
    }
    if (s->count > 1)
        place_steps(s);
    if (s->inner != s->n) {
        s->chirp = s->pairs;
        s->spectrum = s->chirp + s->n;
        s->pairs = s->spectrum + s->inner;
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static void set_number(void *bytes, const fft_stages *s, int64_t at, double value)
{
    if (s->wide)
        ((double *)bytes)[at] = value;
    else
        ((float *)bytes)[at] = (float)value;
}

static void set_root(void *bytes, const fft_stages *s, int64_t at, int64_t k, int64_t n)
{
    double root[2];
    fft_root(k, n, root);
    set_number(bytes, s, 2 * at, root[0]);
    set_number(bytes, s, 2 * at + 1, root[1]);
}

static int set_chirp(char *bytes, const fft_stages *s)
{
    fft_line line;
    uint64_t pair = s->wide ? 16 : 8;
    if (!fft_line_make_chirp(&line, s->n, s->inner, s->wide))
        return 0;
    memcpy(bytes + (uint64_t)s->chirp * pair, line.chirp, (uint64_t)s->n * pair);
    memcpy(bytes + (uint64_t)s->spectrum * pair, line.spectrum, (uint64_t)s->inner * pair);
    fft_line_clear(&line);
    return 1;
}

/* Fills the table, computed in f64 and rounded once. A jit_table_fill whose argument is an fft_stages. */
static int fft_stages_fill(void *bytes, const void *stages)
{
    const fft_stages *s = stages;
    for (int32_t i = 0; i < s->count; i++)
        for (int64_t k = 0; k < s->stage[i].radix; k++)
            set_root(bytes, s, s->stage[i].roots + k, k, s->stage[i].radix);
    if (s->count > 1) {
        for (int64_t k = 0; k < (int64_t)1 << s->fine_bits; k++)
            set_root(bytes, s, s->fine + k, k, s->inner);
        for (int64_t k = 0; k <= s->inner >> s->fine_bits; k++)
            set_root(bytes, s, s->coarse + k, (k << s->fine_bits) % s->inner, s->inner);
    }
    return s->inner == s->n || set_chirp(bytes, s);
}

static const jit_source source =
    JIT_SOURCE("fft", jit_text_fft_stage_params, jit_text_fft_butterflies, jit_text_fft_fft);

/* Limit of the scratch for the lines of a launch, unless one line exceeds it. */
#define SCRATCH ((int64_t)256 << 20)

/* ---- Passes ---------------------------------------------------------------------------------- */

/* Merges axes that are contiguous on both sides; the lines of a merged axis are adjacent. */
static void join_others(fft_pass *p)
{
    int64_t *in = p->from.other, *out = p->to.other;
    int32_t last = 0;
    for (int32_t i = 1; i < p->ndim; i++) {
        int64_t extent = p->shape[i];
        int inside = in[last] == extent * in[i] && out[last] == extent * out[i];
        last += !inside;
        p->shape[last] = inside ? p->shape[last] * extent : extent;
        in[last] = in[i];
        out[last] = out[i];
    }
    p->ndim = p->ndim ? last + 1 : 0;
}

static int32_t passes_of(const collet_kernel_call *call, fft_pass passes[FFT_AXES_MAX])
{
    int32_t count = fft_passes_of(call, FFT_ELEMENTS, passes);
    for (int32_t i = 0; i < count; i++)
        join_others(&passes[i]);
    return count;
}

/* ---- Scratch --------------------------------------------------------------------------------- */

/* The number of launches of a pass. A convolution transforms forward and back, which doubles the number. */
static int32_t launches_of(const fft_stages *s)
{
    return s->inner == s->n ? s->count : 2 * s->count;
}

static int64_t pair_bytes(const fft_stages *s)
{
    return s->wide ? 16 : 8;
}

/* Lines per launch. */
static int64_t lines_together(const fft_stages *s, const fft_pass *p)
{
    int64_t fit = SCRATCH / (s->inner * pair_bytes(s));
    if (launches_of(s) == 1 || fit > p->lines)
        return p->lines;
    return fit > 0 ? fit : 1;
}

/* Bytes of an array between stages. */
static uint64_t scratch_bytes(const fft_stages *s, const fft_pass *p)
{
    return (uint64_t)(lines_together(s, p) * s->inner * pair_bytes(s));
}

/* The number of arrays between stages: one if there are two launches; two, used alternately, if there are more. */
static uint64_t scratch_arrays(const fft_stages *s)
{
    int32_t between = launches_of(s) - 1;
    return (uint64_t)(between < 2 ? between : 2);
}

JIT_ACCEPTS(fft)
{
    const jit_traits *t = jit_traits_of(device);
    fft_pass passes[FFT_AXES_MAX];
    fft_stages s;
    uint64_t most = 0;
    int32_t count = passes_of(call, passes);
    for (int32_t i = 0; i < count; i++) {
        fft_stages_of(&s, t, passes[i].n, passes[i].wide);
        uint64_t bytes = scratch_bytes(&s, &passes[i]) * scratch_arrays(&s);
        most = bytes > most ? bytes : most;
    }
    *workspace_bytes = count ? fft_temporary(call) + most : 0;
    return COLLET_OK;
}

/* ---- Launches -------------------------------------------------------------------------------- */

typedef struct run {
    jit_sequence s;
    const jit_table *table;
    const fft_stages *stages;
    const fft_pass *pass;
    int across; /* adjacent columns belong to adjacent lines */
    char options[96];
} run;

/* Sets the number of columns per group: as many as fit, or fewer if compute units would be idle.
 * It is not reduced below eight for idle compute units if adjacent items read or write adjacent
 * columns. Returns the number of groups. */
static uint64_t set_columns(fft_stage_params *g, const jit_traits *t, int wide)
{
    int32_t bits = 0, capacity = fft_capacity(t, wide);
    int32_t min_bits = g->flags & IN_ALONG && g->flags & OUT_ALONG ? 0 : 3;
    while (2 << bits <= FFT_TILE && g->radix << (bits + 1) <= capacity)
        bits++;
    while (bits > 0 && ((int64_t)1 << (bits - 1) >= g->all_columns ||
                        (bits > min_bits && (g->all_columns >> bits) < 2 * (int64_t)t->units)))
        bits--;
    g->tile_bits = bits;
    return jit_ceiling((uint64_t)g->all_columns, (uint64_t)1 << bits);
}

static void set_view(fft_stage_params *g, const fft_pass *p)
{
    g->outer = p->ndim;
    memcpy(g->extent, p->shape, (size_t)p->ndim * sizeof *p->shape);
    memcpy(g->in_other, p->from.other, (size_t)p->ndim * sizeof *p->shape);
    memcpy(g->out_other, p->to.other, (size_t)p->ndim * sizeof *p->shape);
}

static void set_table(fft_stage_params *g, const fft_stages *s, const fft_stage_plan *plan)
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
    g->fine_bits = s->fine_bits;
    g->chirp = s->chirp;
    g->spectrum = s->spectrum;
}

/* The flags of launch i of a pass: the extra steps when it reads and writes. */
static int32_t flags_of(const run *r, int32_t i, const fft_stage_params *g)
{
    const fft_stages *s = r->stages;
    int32_t count = launches_of(s), flags = 0;
    if (i == 0)
        flags |= (r->pass->kind == FFT_TO_HALF ? IN_REAL : 0) |
                 (r->pass->kind == FFT_FROM_HALF ? IN_HALF : 0) |
                 (r->pass->inverse ? IN_SWAPPED : 0) | (s->inner != s->n ? IN_CHIRP : 0);
    if (i == count - 1)
        flags |= (r->pass->kind == FFT_FROM_HALF ? OUT_REAL : 0) |
                 (r->pass->inverse ? OUT_SWAPPED : 0) | (s->inner != s->n ? OUT_CHIRP : 0);
    else if (i == s->count - 1)
        flags |= OUT_SPECTRUM;
    if (g->stride * g->radix != s->inner)
        flags |= OUT_TURNED;
    if (!(flags & (IN_REAL | IN_HALF | IN_CHIRP)))
        flags |= IN_PLAIN;
    if (!(flags & (OUT_REAL | OUT_SPECTRUM | OUT_CHIRP | OUT_TURNED)) &&
        (i < count - 1 || r->pass->to.length == s->inner))
        flags |= OUT_PLAIN;
    if (r->across)
        return flags | LINES_FIRST;
    return flags | (g->columns == 1 ? IN_ALONG : 0) | (g->stride == 1 ? OUT_ALONG : 0);
}

static void pass_scale(jit_launch *l, const fft_stages *s, double scale)
{
    if (s->wide)
        jit_pass_f64(l, scale);
    else
        jit_pass_f32(l, (float)scale);
}

/* Sets the source and the target of launch i: operands for the first source and the last target, else scratch. */
static void set_sides(fft_stage_params *g, const run *r, int32_t i)
{
    const fft_stages *s = r->stages;
    const fft_pass *p = r->pass;
    int begins = i == 0, ends = i == launches_of(s) - 1;
    g->in_length = begins ? s->n : s->inner;
    g->out_length = ends ? p->to.length : s->inner;
    g->in_step = begins ? p->from.step : r->across ? g->lines : 1;
    g->out_step = ends ? p->to.step : r->across ? g->lines : 1;
    g->in_line = begins ? 0 : r->across ? 1 : s->inner;
    g->out_line = ends ? 0 : r->across ? 1 : s->inner;
}

/* ---- One launch ------------------------------------------------------------------------------ */

static void pass_sides(jit_launch *l, const run *r, int32_t i)
{
    const fft_stages *s = r->stages;
    const fft_pass *p = r->pass;
    int begins = i == 0, ends = i == launches_of(s) - 1;
    int64_t scratch = (int64_t)fft_temporary(r->s.call) / pair_bytes(s);
    int64_t array = (int64_t)scratch_bytes(s, p) / pair_bytes(s);
    int64_t second = scratch_arrays(s) == 2 ? array : 0;
    int64_t in_first = begins ? p->from.first : scratch + (i % 2 ? 0 : second);
    int64_t out_first = ends ? p->to.first : scratch + (i % 2 ? second : 0);
    jit_pass_buffer(l, ends ? p->to.buffer : r->s.call->workspace);
    jit_pass_i64(l, (ends && p->kind == FFT_FROM_HALF ? 1 : 2) * out_first);
    jit_pass_buffer(l, begins ? p->from.buffer : r->s.call->workspace);
    jit_pass_i64(l, (begins && p->kind == FFT_TO_HALF ? 1 : 2) * in_first);
    jit_pass_buffer(l, r->table->buffer);
}

/* Enqueues launch i for `lines` lines from `first` on. */
static void launch(run *r, int32_t i, int64_t first, int64_t lines)
{
    const fft_stages *s = r->stages;
    fft_stage_params g = {.lines = lines, .first = first, .n = s->n};
    jit_launch l;
    set_view(&g, r->pass);
    set_table(&g, s, &s->stage[i % s->count]);
    set_sides(&g, r, i);
    g.flags = flags_of(r, i, &g);
    uint64_t groups = set_columns(&g, r->s.traits, s->wide);
    jit_launch_begin(&l, &source, r->options, "fft_stage");
    pass_sides(&l, r, i);
    pass_scale(&l, s, i == launches_of(s) - 1 ? r->pass->scale : 1.0);
    jit_pass_block(&l, &g, sizeof g);
    jit_sequence_enqueue(&r->s, &l, groups);
}

static int is_adjacent(int64_t step)
{
    return step == 1 || step == -1;
}

static void run_pass(run *r)
{
    const fft_pass *p = r->pass;
    int64_t together = lines_together(r->stages, p);
    r->across = p->lines > 1 && !is_adjacent(p->to.step) && !is_adjacent(p->from.step);
    for (int64_t first = 0; first < p->lines; first += together) {
        int64_t left = p->lines - first;
        for (int32_t i = 0; i < launches_of(r->stages); i++)
            launch(r, i, first, left < together ? left : together);
    }
}

static void take_table(run *r, const fft_stages *s, jit_table **table)
{
    plan_key key = {.words = 0};
    plan_key_add(&key, s->n);
    plan_key_add(&key, s->wide);
    r->s.status =
        jit_table_take(r->s.device, r->s.queue, &key, (uint64_t)s->pairs * (uint64_t)pair_bytes(s),
                       fft_stages_fill, s, table, r->s.call->err);
}

JIT_KERNEL(fft)
{
    fft_pass passes[FFT_AXES_MAX];
    fft_stages stages[FFT_AXES_MAX];
    jit_table *tables[FFT_AXES_MAX] = {NULL};
    int32_t count = passes_of(call, passes);
    int wide = count && passes[0].wide;
    run r = {.s = jit_sequence_of(device, queue, call)};
    (void)snprintf(r.options, sizeof r.options, "-DREAL=%s -DCOMPLEX=%s -DCAPACITY=%d",
                   wide ? "f64" : "f32", wide ? "c128" : "c64",
                   (int)fft_capacity(r.s.traits, wide));
    for (int32_t i = 0; i < count && r.s.status == COLLET_OK; i++) {
        fft_stages_of(&stages[i], r.s.traits, passes[i].n, passes[i].wide);
        take_table(&r, &stages[i], &tables[i]);
    }
    for (int32_t i = 0; i < count && r.s.status == COLLET_OK; i++) {
        r.pass = &passes[i];
        r.stages = &stages[i];
        r.table = tables[i];
        run_pass(&r);
    }
    for (int32_t i = 0; i < count; i++)
        if (tables[i])
            jit_table_give(tables[i]);
    return r.s.status;
}
