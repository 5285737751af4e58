/* SPDX-License-Identifier: Apache-2.0 */
#include "linalg.h"

#include "matrices.h"
#include "shared/jit/texts.h"

/* ---- matmul ---------------------------------------------------------------------------------- */

static const char *const matmul_texts[] = {jit_text_linalg_matrices, jit_text_linalg_product,
                                           jit_text_linalg_matmul, NULL};
static const jit_source matmul_source = {"matmul", matmul_texts};
static const char *const panels_texts[] = {jit_text_linalg_matrices, jit_text_linalg_product,
                                           jit_text_linalg_panels, NULL};
static const jit_source panels_source = {"panels", panels_texts};

/* Elements of c a matrix below which an item has one, and products of an element; on CPUs all
 * products of a matrix. */
#define FEW 1024
#define SHALLOW 8
#define FEW_PRODUCTS 2048
#define SMALL_BLOCK 4
#define LARGE_BLOCK 8
#define TILE_DEEP 16 /* DEEP of matmul.dev */

/* Of panels.dev: rows and bytes of a row that a group has, and its local memory. */
#define PANELS_TALL 96
#define PANELS_WIDE 512
#define PANELS_BYTES ((uint64_t)192 << 10)

#define MATMUL_OPTION(to, from, block) "-DTO=" #to " -DFROM=" #from " -DBLOCK=" #block
#define MATMUL_OPTIONS(block)                                                                      \
    {                                                                                              \
        [COLLET_F32] = {[COLLET_F32] = MATMUL_OPTION(f32, f32, block),                             \
                        [COLLET_F16] = MATMUL_OPTION(f32, f16, block),                             \
                        [COLLET_BF16] = MATMUL_OPTION(f32, bf16, block)},                          \
        [COLLET_F64] = {[COLLET_F64] = MATMUL_OPTION(f64, f64, block)},                            \
        [COLLET_F16] = {[COLLET_F16] = MATMUL_OPTION(f16, f16, block)},                            \
        [COLLET_BF16] = {[COLLET_BF16] = MATMUL_OPTION(bf16, bf16, block)},                        \
        [COLLET_I32] = {[COLLET_I8] = MATMUL_OPTION(i32, i8, block)},                              \
    }
typedef const char *matmul_table[COLLET_DTYPE_COUNT][COLLET_DTYPE_COUNT];
static const matmul_table matmul_options[] = {MATMUL_OPTIONS(4), MATMUL_OPTIONS(8)};

typedef struct product {
    int64_t rows, columns, inner, count; /* of `count` matrices */
    jit_batch batch;
} product;

static void product_of(product *p, const collet_kernel_call *call)
{
    const collet_operand *c = jit_operand(call, 0), *a = jit_operand(call, 1);
    p->rows = c->shape[c->ndim - 2];
    p->columns = c->shape[c->ndim - 1];
    p->inner = a->shape[a->ndim - 1];
    p->count = jit_batch_begin(&p->batch, c, c->ndim - 2);
    for (uint32_t k = 0; k < 3; k++)
        jit_batch_operand(&p->batch, k, jit_operand(call, k));
}

/* Items of a tile of `tiled` along c's rows; the kernel has the same steps. */
static uint64_t tile_across(const jit_traits *t)
{
    return t->group >= 256 ? 16 : t->group >= 64 ? 8 : t->group >= 16 ? 4 : t->group >= 4 ? 2 : 1;
}

/* Groups of `tiled` with tiles of `block` elements a side an item. */
static uint64_t tiles(const jit_traits *t, const product *p, uint64_t block, uint64_t *across,
                      uint64_t *down)
{
    uint64_t items = tile_across(t);
    *across = jit_ceiling((uint64_t)p->columns, items * block);
    *down = jit_ceiling((uint64_t)p->rows, t->group / items * block);
    return *across * *down * (uint64_t)p->count;
}

/* Whether such tiles of a and b fit in local memory, in the type that they are computed with. */
static int tiles_fit(const jit_traits *t, collet_dtype from, uint64_t block)
{
    uint64_t items = tile_across(t), size = from == COLLET_F64 ? 8 : 4;
    return TILE_DEEP * ((items + t->group / items) * block + 2) * size <= t->local_bytes;
}

/* Which kernel, and where groups have a tile of c each, how these lie. */
typedef struct choice {
    const jit_source *source;
    const char *kernel;
    uint64_t groups, across, down;
    int large;
} choice;

static choice choose(const jit_traits *t, const product *p, collet_dtype from)
{
    choice c = {.source = &matmul_source, .kernel = "tiled"};
    uint64_t elements = (uint64_t)(p->rows * p->columns);
    int panels = t->is_cpu && t->local_bytes >= PANELS_BYTES;
    int few = panels ? p->columns < SMALL_BLOCK || elements * (uint64_t)p->inner < FEW_PRODUCTS
                     : elements < FEW;
    if (few || p->inner < SHALLOW) {
        c.kernel = "direct";
        c.groups = jit_groups(t, elements * (uint64_t)p->count);
    } else if (panels) {
        c.source = &panels_source;
        c.kernel = "panels";
        c.across = jit_ceiling((uint64_t)p->columns,
                               PANELS_WIDE / (from == COLLET_F64 ? sizeof(double) : sizeof(float)));
        c.down = jit_ceiling((uint64_t)p->rows, PANELS_TALL);
        c.groups = c.across * c.down * (uint64_t)p->count;
    } else {
        c.groups = tiles(t, p, LARGE_BLOCK, &c.across, &c.down);
        /* Small tiles while large ones leave units idle. */
        c.large =
            !t->is_cpu && c.groups >= 2 * (uint64_t)t->units && tiles_fit(t, from, LARGE_BLOCK);
        if (!c.large)
            c.groups = tiles(t, p, SMALL_BLOCK, &c.across, &c.down);
    }
    return c;
}

collet_status jit_matmul(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    const jit_traits *t = jit_traits_of(device);
    collet_dtype to = jit_operand(call, 0)->dtype, from = jit_operand(call, 1)->dtype;
    jit_launch l;
    product p;
    product_of(&p, call);
    choice c = choose(t, &p, from);
    jit_launch_begin(&l, c.source, matmul_options[c.large][to][from], c.kernel);
    for (uint32_t k = 0; k < 3; k++)
        jit_pass_operand(&l, jit_operand(call, k));
    jit_pass_i64(&l, p.rows);
    jit_pass_i64(&l, p.columns);
    jit_pass_i64(&l, p.inner);
    jit_pass_block(&l, &p.batch, sizeof p.batch);
    if (c.across) {
        jit_pass_i64(&l, (int64_t)c.across);
        jit_pass_i64(&l, (int64_t)c.down);
    } else {
        jit_pass_i64(&l, p.rows * p.columns * p.count);
    }
    return jit_enqueue(device, queue, &l, c.groups, call->err);
}

/* ---- dot and matvec -------------------------------------------------------------------------- */

static const char *const inner_texts[] = {jit_text_linalg_matrices, jit_text_linalg_inner, NULL};
static const jit_source inner_source = {"inner", inner_texts};

static const char *inner_options(collet_dtype to, collet_dtype from)
{
    static const char *const options[] = {"-DTO=f32 -DFROM=f32", "-DTO=f64 -DFROM=f32",
                                          "-DTO=f64 -DFROM=f64"};
    return options[to == COLLET_F32 ? 0 : from == COLLET_F32 ? 1 : 2];
}

/* Products that a group or item has at least, and parts of a row at most. */
#define CHUNK_ALONG 8192
#define CHUNK_BESIDE 128
#define PARTS 1024
/* Groups beyond which rows are not cut: of the shape alone, so that sums are the same anywhere. */
#define ENOUGH 512
/* Longer rows are worth a group of their own; on CPUs: are not worth a strip. */
#define SHORT 64
#define SHORT_SERIAL 4
/* STRIP of inner.dev, rows that are worth one, and elements that are worth a group of their own. */
#define STRIP 128
#define STRIP_LEAST 16
#define PER_GROUP 32768

typedef struct inner {
    int64_t rows, inner, count, chunk, parts;
    uint64_t groups, across;
    int64_t strip;        /* rows that are beside each other */
    int64_t units, share; /* of CPUs: what items have, and how many of these a group */
    int beside;
    jit_batch batch;
} inner;

/* Items that work by themselves, on what would be a group's elsewhere. */
static void share_units(inner *s, const jit_traits *t)
{
    uint64_t each = (uint64_t)(s->chunk < PER_GROUP ? s->chunk : PER_GROUP);
    each = each * (uint64_t)(s->beside ? s->strip : 1) + 1;
    uint64_t worth = jit_ceiling(PER_GROUP, each);
    uint64_t even = jit_ceiling(s->groups, 8 * (uint64_t)t->units);
    s->units = (int64_t)s->groups;
    s->share = (int64_t)(worth < even ? worth : even);
    s->groups = s->share ? jit_ceiling(s->groups, (uint64_t)s->share) : 0;
}

/* CPUs take eight rows of adjacent elements at a time. */
static int is_by_eight(const inner *s, const jit_traits *t)
{
    return t->is_cpu && t->has_f64 && s->inner > SHORT_SERIAL && s->batch.row[1] > 1 &&
           s->batch.column[1] == 1 && s->batch.column[2] == 1;
}

/* Rows of a strip, or as many as items of a group. */
static int64_t strip_of(const inner *s, const jit_traits *t, int by_eight)
{
    int64_t worth = PER_GROUP / 8 / (s->inner + 1) * 8;
    if (!t->is_cpu)
        return t->group;
    return !by_eight || worth > STRIP ? STRIP : worth < 8 ? 8 : worth;
}

/* matvec; dot has one row, whose stride nobody asks for. */
static void inner_of(inner *s, const jit_traits *t, const collet_kernel_call *call)
{
    const collet_operand *y = jit_operand(call, 0), *a = jit_operand(call, 1);
    const collet_operand *x = jit_operand(call, 2);
    int32_t axes = y->ndim > 0 ? y->ndim - 1 : 0;
    s->rows = y->ndim > 0 ? y->shape[axes] : 1;
    s->inner = a->shape[a->ndim - 1];
    s->count = jit_batch_begin(&s->batch, y, axes);
    jit_batch_operand(&s->batch, 0, y);
    jit_batch_operand(&s->batch, 1, a);
    jit_batch_operand(&s->batch, 2, x);
    int64_t least = t->is_cpu ? STRIP_LEAST : SHORT, longest = t->is_cpu ? SHORT_SERIAL : SHORT;
    int by_eight = is_by_eight(s, t);
    s->strip = strip_of(s, t, by_eight);
    s->beside = s->rows >= least && (by_eight || s->batch.row[1] == 1 || s->inner <= longest);
    s->across = s->beside ? jit_ceiling((uint64_t)s->rows, (uint64_t)s->strip) : (uint64_t)s->rows;
    s->groups = s->across * (uint64_t)s->count;
    int64_t shortest = s->beside && !by_eight ? CHUNK_BESIDE : CHUNK_ALONG;
    int64_t parts = s->inner / shortest, most = s->groups ? ENOUGH / (int64_t)s->groups : 0;
    /* A single row may have more parts than that, so that none grows long. */
    most = s->groups == 1 ? PARTS : most;
    parts = parts < most ? parts : most;
    s->parts = parts > 1 ? parts : 1;
    s->chunk = (int64_t)jit_ceiling((uint64_t)s->inner, (uint64_t)s->parts);
    s->groups *= (uint64_t)s->parts;
    if (t->is_cpu)
        share_units(s, t);
}

static collet_status inner_products(collet_device *device, collet_queue *queue,
                                    const collet_kernel_call *call)
{
    const collet_operand *y = jit_operand(call, 0), *a = jit_operand(call, 1);
    const jit_traits *t = jit_traits_of(device);
    const char *options = inner_options(y->dtype, a->dtype);
    jit_launch l;
    inner s;
    inner_of(&s, t, call);
    jit_launch_begin(&l, &inner_source, options, s.beside ? "beside" : "along");
    l.alone = t->is_cpu;
    for (uint32_t k = 0; k < 3; k++)
        jit_pass_operand(&l, jit_operand(call, k));
    jit_pass_buffer(&l, s.parts > 1 ? call->workspace : NULL);
    jit_pass_i64(&l, s.rows);
    jit_pass_i64(&l, s.inner);
    jit_pass_i64(&l, s.chunk);
    jit_pass_i64(&l, s.parts);
    jit_pass_block(&l, &s.batch, sizeof s.batch);
    if (s.beside)
        jit_pass_i64(&l, (int64_t)s.across);
    if (t->is_cpu) {
        if (s.beside)
            jit_pass_i64(&l, s.strip);
        jit_pass_i64(&l, s.units);
        jit_pass_i64(&l, s.share);
    }
    collet_status status = jit_enqueue(device, queue, &l, s.groups, call->err);
    if (status != COLLET_OK || s.parts == 1)
        return status;
    jit_launch_begin(&l, &inner_source, options, "join");
    jit_pass_operand(&l, y);
    jit_pass_buffer(&l, call->workspace);
    jit_pass_i64(&l, s.rows * s.count);
    jit_pass_i64(&l, s.rows);
    jit_pass_i64(&l, s.parts);
    jit_pass_block(&l, &s.batch, sizeof s.batch);
    return jit_after_first(
        jit_enqueue(device, queue, &l, jit_groups(t, (uint64_t)(s.rows * s.count)), call->err));
}

static uint64_t inner_workspace(collet_device *device, const collet_kernel_call *call)
{
    inner s;
    inner_of(&s, jit_traits_of(device), call);
    /* Rows that are cut are few. */
    return s.parts > 1 ? (uint64_t)(s.rows * s.count * s.parts) * 2 * sizeof(double) : 0;
}

collet_status jit_dot(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    return inner_products(device, queue, call);
}

uint64_t jit_dot_workspace(collet_device *device, const collet_kernel_call *call)
{
    return inner_workspace(device, call);
}

collet_status jit_matvec(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    return inner_products(device, queue, call);
}

uint64_t jit_matvec_workspace(collet_device *device, const collet_kernel_call *call)
{
    return inner_workspace(device, call);
}
