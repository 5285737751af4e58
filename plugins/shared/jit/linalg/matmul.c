/* SPDX-License-Identifier: Apache-2.0 */
/* linalg: matmul.
 * Tests: conformance/linalg/linalg.c */
#include "linalg.h"

#include "matrices.h"
#include "matmul_params.h"
#include "shared/jit/texts.h"

static const jit_source source =
    JIT_SOURCE("matmul", jit_text_linalg_matrices_params, jit_text_linalg_matrices,
               jit_text_linalg_matmul_params, jit_text_linalg_matmul);

/* One item computes one element of c if a matrix has fewer than FEW elements, or if the element
 * is a sum of fewer than SHALLOW products. */
#define FEW 1024
#define SHALLOW 8
/* Rows and columns of c per item; half as many for complex numbers. */
#define SMALL_BLOCK 4
#define LARGE_BLOCK 8

#define MATMUL_OPTION(to, from, block) "-DTO=" #to " -DFROM=" #from " -DBLOCK=" #block
#define MATMUL_OPTIONS(block, half)                                                                \
    {                                                                                              \
        [COLLET_F32] = {[COLLET_F32] = MATMUL_OPTION(f32, f32, block),                             \
                        [COLLET_F16] = MATMUL_OPTION(f32, f16, block),                             \
                        [COLLET_BF16] = MATMUL_OPTION(f32, bf16, block)},                          \
        [COLLET_F64] = {[COLLET_F64] = MATMUL_OPTION(f64, f64, block)},                            \
        [COLLET_F16] = {[COLLET_F16] = MATMUL_OPTION(f16, f16, block)},                            \
        [COLLET_BF16] = {[COLLET_BF16] = MATMUL_OPTION(bf16, bf16, block)},                        \
        [COLLET_I32] = {[COLLET_I8] = MATMUL_OPTION(i32, i8, block)},                              \
        [COLLET_C64] = {[COLLET_C64] = "-DREALS=2 -DPART=f32 " MATMUL_OPTION(c64, c64, half)},     \
        [COLLET_C128] = {[COLLET_C128] = "-DREALS=2 -DPART=f64 " MATMUL_OPTION(c128, c128, half)}, \
    }
typedef const char *matmul_table[COLLET_DTYPE_COUNT][COLLET_DTYPE_COUNT];
static const matmul_table matmul_options[] = {MATMUL_OPTIONS(4, 2), MATMUL_OPTIONS(8, 4)};

typedef struct product {
    int64_t rows, columns, inner, count; /* over `count` matrices */
    jit_batch batch;
} product;

static void product_of(product *p, const collet_kernel_call *call)
{
    const collet_operand *c = operand_of(call, 0), *a = operand_of(call, 1);
    p->rows = c->shape[c->ndim - 2];
    p->columns = c->shape[c->ndim - 1];
    p->inner = a->shape[a->ndim - 1];
    p->count = jit_batch_begin(&p->batch, c, c->ndim - 2);
    for (uint32_t k = 0; k < 3; k++)
        jit_batch_operand(&p->batch, k, operand_of(call, k));
}

/* The number of groups of the kernel `tiled` if each item computes `block` x `block` elements. */
static uint64_t tiles(const jit_traits *t, const product *p, uint64_t block, uint64_t *across,
                      uint64_t *down)
{
    uint64_t items = TILE_ACROSS(t->group);
    *across = jit_ceiling((uint64_t)p->columns, items * block);
    *down = jit_ceiling((uint64_t)p->rows, t->group / items * block);
    return *across * *down * (uint64_t)p->count;
}

/* Whether the tiles of a and b, in the type of the computation, fit in local memory if each item computes `block` x
 * `block` elements. */
static int tiles_fit(const jit_traits *t, collet_dtype from, uint64_t block)
{
    uint64_t items = TILE_ACROSS(t->group);
    uint64_t size = cpu_dtype_size(from) > sizeof(float) ? cpu_dtype_size(from) : sizeof(float);
    return TILE_DEEP * ((items + t->group / items) * block + 2) * size <= t->local_bytes;
}

/* The chosen kernel and, if it is `tiled`, the grid of its tiles. */
typedef struct choice {
    const char *kernel;
    uint64_t groups, across, down;
    int large;
} choice;

static choice choose(const jit_traits *t, const product *p, collet_dtype from)
{
    choice c = {.kernel = "tiled"};
    uint64_t elements = (uint64_t)(p->rows * p->columns);
    if (elements < FEW || p->inner < SHALLOW) {
        c.kernel = "direct";
        c.groups = jit_groups(t, elements * (uint64_t)p->count);
        return c;
    }
    uint64_t parts = part_of(from) == from ? 1 : 2;
    /* Uses small tiles if large ones would leave compute units idle or do not fit. */
    c.groups = tiles(t, p, LARGE_BLOCK / parts, &c.across, &c.down);
    c.large = c.groups >= 2 * (uint64_t)t->units && tiles_fit(t, from, LARGE_BLOCK / parts);
    if (!c.large)
        c.groups = tiles(t, p, SMALL_BLOCK / parts, &c.across, &c.down);
    return c;
}

JIT_KERNEL(matmul)
{
    const jit_traits *t = jit_traits_of(device);
    collet_dtype to = operand_of(call, 0)->dtype, from = operand_of(call, 1)->dtype;
    jit_launch l;
    product p;
    product_of(&p, call);
    choice c = choose(t, &p, from);
    jit_launch_begin(&l, &source, matmul_options[c.large][to][from], c.kernel);
    jit_pass_operands(&l, call, 3);
    jit_pass_i64s(&l, p.rows, p.columns, p.inner);
    jit_pass_block(&l, &p.batch, sizeof p.batch);
    if (c.across) {
        jit_pass_i64s(&l, (int64_t)c.across, (int64_t)c.down);
    } else {
        jit_pass_i64(&l, p.rows * p.columns * p.count);
    }
    return jit_enqueue(device, queue, &l, c.groups, call->err);
}
