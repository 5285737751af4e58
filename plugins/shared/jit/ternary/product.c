/* SPDX-License-Identifier: Apache-2.0 */
/* Products of packed weights and tokens, a batch of tokens at a time: one launch prepares the
 * tokens, the next launch multiplies.
 * Tests: conformance/ternary/products.c, tests/opencl/test_opencl_token_batches.c */
#include "shared/jit/linalg/matrices.h"
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"
#include "product_params.h"
#include "shared/jit/texts.h"

static const jit_source take_source =
    JIT_SOURCE("ternary_take", jit_text_linalg_matrices_params, jit_text_linalg_matrices,
               jit_text_ternary_ternary_params, jit_text_ternary_ternary,
               jit_text_ternary_product_params, jit_text_ternary_take);
static const jit_source product_source =
    JIT_SOURCE("ternary_product", jit_text_linalg_matrices_params, jit_text_linalg_matrices,
               jit_text_ternary_ternary_params, jit_text_ternary_ternary,
               jit_text_ternary_product_params, jit_text_ternary_product, jit_text_ternary_thin,
               jit_text_ternary_tiled, jit_text_ternary_tensor);

/* How a call is computed. */
typedef struct plan {
    int linear, real; /* LINEAR, REAL */
    const char *take; /* the kernel that prepares tokens; NULL: x is read directly */
    int64_t tokens;   /* total number of tokens */
    int64_t together; /* number of tokens that are prepared together */
    ternary_taking t;
    ternary_product p;
} plan;

/* Prepared tokens take at most SCRATCH bytes of the workspace, unless a single token is larger. If more than TOGETHER
 * tokens fit, but not all, a multiple of TOGETHER tokens is prepared at a time. */
#define SCRATCH ((uint64_t)64 << 20)
#define TOGETHER 64

/* ---- Planning ---------------------------------------------------------------------------------
 */

static const char *take_of(const collet_kernel_call *call)
{
    const collet_ternary_linear_params *params = call->params;
    collet_dtype x = operand_of(call, 2)->dtype;
    if (call->op == COLLET_OP_TERNARY_LINEAR)
        return params->activations == COLLET_TERNARY_F32       ? "take_f32"
               : params->activations == COLLET_TERNARY_TERNARY ? "take_ternary"
                                                               : "take_quantized";
    if (x == COLLET_U8)
        return "take_packed";
    return x == COLLET_I8 ? "take_codes" : "take_f32";
}

static int is_real(const collet_kernel_call *call)
{
    const collet_ternary_linear_params *params = call->params;
    if (call->op == COLLET_OP_TERNARY_LINEAR)
        return params->activations == COLLET_TERNARY_F32;
    return operand_of(call, 2)->dtype == COLLET_F32;
}

static int vector_of(jit_batch *v, uint32_t k, const collet_operand *o)
{
    v->column[k] = operand_present(o) ? o->strides[0] : 0;
    return operand_present(o);
}

/* The bytes of a prepared token: its numbers and, for i8, a factor and the sum of the numbers. */
static uint64_t token_bytes(const plan *g)
{
    return (uint64_t)g->t.pitch * (g->real ? sizeof(float) : 1) + (g->real ? 0 : 8);
}

static int64_t tokens_together(const plan *g)
{
    uint64_t each = token_bytes(g), fit = (uint64_t)g->tokens;
    if (g->take && each)
        fit = SCRATCH / each;
    if (fit >= (uint64_t)g->tokens)
        return g->tokens;
    fit = fit > TOGETHER ? fit / TOGETHER * TOGETHER : fit;
    return fit ? (int64_t)fit : 1;
}

static void plan_of(plan *g, const collet_kernel_call *call)
{
    const collet_operand *y = operand_of(call, 0), *w = operand_of(call, 1);
    const collet_operand *x = operand_of(call, 2);
    jit_batch *v = &g->p.v;
    g->linear = call->op == COLLET_OP_TERNARY_LINEAR;
    g->real = is_real(call);
    g->take = take_of(call);
    g->p.rows = w->shape[0];
    g->p.bytes = w->shape[1];
    g->p.apart = w->strides[0];
    g->p.first = g->p.q_first = 0;
    g->tokens = g->p.tokens = jit_batch_begin(v, y, y->ndim - 1);
    jit_batch_operand(v, 0, y);
    jit_batch_operand(v, 1, x);
    g->p.with_scale = g->linear && vector_of(v, 3, operand_of(call, 3));
    g->p.with_bias = g->linear && vector_of(v, 4, operand_of(call, 4));
    g->p.relu = g->linear && ((const collet_ternary_linear_params *)call->params)->relu != 0;
    g->t = (ternary_taking){g->tokens, x->shape[x->ndim - 1], 4 * g->p.bytes, 0, *v};
    /* Contiguous f32 tokens need no preparation. */
    if (g->real && g->t.columns == g->t.pitch && jit_contiguous(x)) {
        g->take = NULL;
        g->p.q_first = (int64_t)(x->byte_offset / cpu_dtype_size(x->dtype));
    }
    g->together = tokens_together(g);
}

JIT_ACCEPTS(ternary_product)
{
    plan g;
    (void)device;
    plan_of(&g, call);
    *workspace_bytes = g.take ? (uint64_t)g.together * token_bytes(&g) : 0;
    return COLLET_OK;
}

/* ---- Launches ----------------------------------------------------------------------------------
 */

static void take(jit_sequence *s, const plan *g)
{
    const collet_ternary_linear_params *params = s->call->params;
    jit_launch l;
    jit_launch_begin(&l, &take_source, "", g->take);
    jit_pass_buffer(&l, s->call->workspace);
    jit_pass_operand(&l, operand_of(s->call, 2));
    jit_pass_block(&l, &g->t, sizeof g->t);
    if (g->linear && params->activations == COLLET_TERNARY_TERNARY)
        jit_pass_f32(&l, params->threshold);
    else if (g->linear && params->activations != COLLET_TERNARY_F32)
        jit_pass_f32(&l, params->activations == COLLET_TERNARY_INT4 ? 7.0f : 127.0f);
    jit_sequence_enqueue(s, &l, (uint64_t)g->p.tokens);
}

/* Begins the launch of a kernel that multiplies, and passes the arguments that all these kernels begin with. */
static void begin(jit_launch *l, const collet_kernel_call *call, const plan *g, const char *kernel)
{
    static const char *const options[2][2] = {
        {"-DLINEAR=0 -DREAL=0", "-DLINEAR=0 -DREAL=1"},
        {"-DLINEAR=1 -DREAL=0", "-DLINEAR=1 -DREAL=1"},
    };
    jit_launch_begin(l, &product_source, options[g->linear][g->real], kernel);
    jit_pass_operand(l, operand_of(call, 0));
    jit_pass_operand(l, operand_of(call, 1));
    jit_pass_buffer(l, g->take ? call->workspace : operand_of(call, 2)->buffer);
    for (uint32_t i = 3; i < 5; i++) {
        if (g->linear) {
            jit_pass_operand(l, operand_of(call, i));
        } else {
            jit_pass_buffer(l, NULL);
            jit_pass_i64(l, 0);
        }
    }
    jit_pass_block(l, &g->p, sizeof g->p);
}

static void thin(jit_sequence *s, const plan *g)
{
    const jit_traits *t = s->traits;
    uint64_t team = t->group < THIN_TEAM ? t->group : THIN_TEAM;
    uint64_t few = g->real ? THIN_TOKENS_F32 : THIN_TOKENS;
    uint64_t groups = jit_ceiling((uint64_t)g->p.rows, t->group / team * THIN_ROWS);
    uint64_t tiles = jit_ceiling((uint64_t)g->p.tokens, few);
    jit_launch l;
    begin(&l, s->call, g, g->p.tokens == 1 ? "one" : "few");
    if (g->p.tokens != 1)
        jit_pass_i64(&l, (int64_t)tiles);
    jit_sequence_enqueue(s, &l, groups * tiles);
}

/* Tiles are used if there are at least this many rows and this many tokens. */
#define TILES_FROM 16

static int is_batch(const plan *g)
{
    return !g->real && g->p.tokens >= TILES_FROM && g->p.rows >= TILES_FROM;
}

static void tensor(jit_sequence *s, const plan *g)
{
    uint64_t across = jit_ceiling((uint64_t)g->p.tokens, TENSOR_TOKENS);
    jit_launch l;
    begin(&l, s->call, g, "tensor");
    jit_pass_i64(&l, (int64_t)across);
    jit_sequence_enqueue(s, &l, across * jit_ceiling((uint64_t)g->p.rows, TENSOR_ROWS));
}

static int tiles_fit(const jit_traits *t)
{
    uint64_t across = TILE_ACROSS(t->group), down = t->group / across;
    uint64_t bytes =
        (down * TILED_ROW_PITCH + across * TILED_TOKEN_PITCH) * TILED_SIDE * sizeof(uint32_t);
    return bytes <= t->local_bytes;
}

static void tiled(jit_sequence *s, const plan *g)
{
    const jit_traits *t = s->traits;
    uint64_t across = jit_ceiling((uint64_t)g->p.tokens, TILE_ACROSS(t->group) * TILED_SIDE);
    uint64_t down = jit_ceiling((uint64_t)g->p.rows, t->group / TILE_ACROSS(t->group) * TILED_SIDE);
    jit_launch l;
    begin(&l, s->call, g, "tiled");
    jit_pass_i64(&l, (int64_t)across);
    jit_sequence_enqueue(s, &l, across * down);
}

/* ---- The ops -----------------------------------------------------------------------------------
 */

static void multiply(jit_sequence *s, const plan *g)
{
    const jit_traits *t = s->traits;
    if (is_batch(g) && t->has_tiles && t->group == TENSOR_GROUP)
        tensor(s, g);
    else if (is_batch(g) && tiles_fit(t))
        tiled(s, g);
    else
        thin(s, g);
}

JIT_KERNEL(ternary_product)
{
    jit_sequence s = jit_sequence_of(device, queue, call);
    plan g;
    plan_of(&g, call);
    for (int64_t first = 0; g.p.rows && first < g.tokens; first += g.together) {
        g.t.first = g.p.first = first;
        g.t.tokens = g.p.tokens = g.tokens - first < g.together ? g.tokens - first : g.together;
        if (g.take)
            take(&s, &g);
        multiply(&s, &g);
    }
    return s.status;
}
