/* SPDX-License-Identifier: Apache-2.0 */
/* Packed weights by tokens, some at a time: a launch that makes them ready, and one that
 * multiplies. */
#include "shared/jit/linalg/matrices.h"
#include "ternary.h"
#include "shared/jit/texts.h"

static const char *const take_texts[] = {jit_text_linalg_matrices, jit_text_ternary_ternary,
                                         jit_text_ternary_take, NULL};
static const jit_source take_source = {"ternary_take", take_texts};
static const char *const product_texts[] = {
    jit_text_linalg_matrices, jit_text_ternary_ternary,
    jit_text_ternary_vectors, jit_text_ternary_product,
    jit_text_ternary_serial,  jit_text_ternary_match,
    jit_text_ternary_thin,    jit_text_ternary_tiled,
    jit_text_ternary_tensor,  NULL,
};
static const jit_source product_source = {"ternary_product", product_texts};

/* As ternary_take.dev has it. */
typedef struct taking {
    int64_t tokens, columns, pitch, first;
    jit_batch v;
} taking;

/* As ternary_product.dev has it. */
typedef struct product {
    int64_t rows, tokens, bytes, apart, first, q_first;
    int32_t with_scale, with_bias, relu, as_is;
    jit_batch v;
} product;

/* A call: what meets the weights, and how. */
typedef struct plan {
    int linear, real; /* LINEAR, REAL */
    const char *take; /* the kernel that makes tokens ready; NULL: x is read as it is */
    int64_t tokens;   /* in all */
    int64_t together; /* that are ready at a time */
    taking t;
    product p;
} plan;

/* Scratch that tokens take at most, if one takes no more; and what a number of them is a multiple
 * of, if it is that large. */
#define CPU_SCRATCH ((uint64_t)16 << 20)
#define SCRATCH ((uint64_t)64 << 20)
#define TOGETHER 64

/* ---- What a call is ----------------------------------------------------------------------------
 */

static const char *take_of(const collet_kernel_call *call)
{
    const collet_ternary_linear_params *params = call->params;
    collet_dtype x = jit_operand(call, 2)->dtype;
    if (call->op == COLLET_OP_TERNARY_LINEAR)
        return params->activations == COLLET_TERNARY_INT8      ? "take_int8"
               : params->activations == COLLET_TERNARY_TERNARY ? "take_ternary"
                                                               : "take_f32";
    if (x == COLLET_U8)
        return "take_packed";
    return x == COLLET_I8 ? "take_codes" : "take_f32";
}

/* Whether products read x where it is. On processors, for which a launch more costs more than what
 * it spares the other: they wake their threads for each. */
static int is_ready(const jit_traits *t, const plan *g, const collet_operand *x)
{
    int even = g->t.columns == g->t.pitch;
    if (x->dtype == COLLET_U8)
        return t->is_cpu != 0;
    if (!even || (g->linear && !g->real))
        return 0;
    return t->is_cpu ? g->t.v.column[1] == 1 : g->real && jit_contiguous(x);
}

static int is_real(const collet_kernel_call *call)
{
    const collet_ternary_linear_params *params = call->params;
    if (call->op == COLLET_OP_TERNARY_LINEAR)
        return params->activations == COLLET_TERNARY_F32;
    return jit_operand(call, 2)->dtype == COLLET_F32;
}

static int vector_of(jit_batch *v, uint32_t k, const collet_operand *o)
{
    v->column[k] = jit_present(o) ? o->strides[0] : 0;
    return jit_present(o);
}

/* The numbers of a token, and, of i8, a factor and their sum. */
static uint64_t token_bytes(const plan *g)
{
    return (uint64_t)g->t.pitch * (g->real ? sizeof(float) : 1) + (g->real ? 0 : 8);
}

static int64_t tokens_together(const jit_traits *t, const plan *g)
{
    uint64_t each = token_bytes(g), fit = (uint64_t)g->tokens;
    if (g->take && each)
        fit = (t->is_cpu ? CPU_SCRATCH : SCRATCH) / each;
    if (fit >= (uint64_t)g->tokens)
        return g->tokens;
    fit = fit > TOGETHER ? fit / TOGETHER * TOGETHER : fit;
    return fit ? (int64_t)fit : 1;
}

static void plan_of(plan *g, const jit_traits *t, const collet_kernel_call *call)
{
    const collet_operand *y = jit_operand(call, 0), *w = jit_operand(call, 1);
    const collet_operand *x = jit_operand(call, 2);
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
    g->p.with_scale = g->linear && vector_of(v, 3, jit_operand(call, 3));
    g->p.with_bias = g->linear && vector_of(v, 4, jit_operand(call, 4));
    g->p.relu = g->linear && ((const collet_ternary_linear_params *)call->params)->relu != 0;
    g->t = (taking){g->tokens, x->shape[x->ndim - 1], 4 * g->p.bytes, 0, *v};
    g->p.as_is = is_ready(t, g, x);
    if (g->p.as_is) {
        g->take = NULL;
        g->p.q_first = (int64_t)(x->byte_offset / jit_dtype_size(x->dtype));
    }
    g->together = tokens_together(t, g);
}

static uint64_t workspace(collet_device *device, const collet_kernel_call *call)
{
    plan g;
    plan_of(&g, jit_traits_of(device), call);
    return g.take ? (uint64_t)g.together * token_bytes(&g) : 0;
}

/* ---- Launches ----------------------------------------------------------------------------------
 */

static collet_status take(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call, const plan *g)
{
    const collet_ternary_linear_params *params = call->params;
    jit_launch l;
    jit_launch_begin(&l, &take_source, "", g->take);
    l.alone = jit_traits_of(device)->is_cpu;
    jit_pass_buffer(&l, call->workspace);
    jit_pass_operand(&l, jit_operand(call, 2));
    jit_pass_block(&l, &g->t, sizeof g->t);
    if (g->linear && params->activations == COLLET_TERNARY_TERNARY)
        jit_pass_f32(&l, params->threshold);
    return jit_enqueue(device, queue, &l, (uint64_t)g->p.tokens, call->err);
}

/* What all kernels that multiply begin with. */
static void begin(jit_launch *l, const collet_kernel_call *call, const plan *g, const char *kernel)
{
    static const char *const options[2][2] = {
        {"-DLINEAR=0 -DREAL=0", "-DLINEAR=0 -DREAL=1"},
        {"-DLINEAR=1 -DREAL=0", "-DLINEAR=1 -DREAL=1"},
    };
    jit_launch_begin(l, &product_source, options[g->linear][g->real], kernel);
    jit_pass_operand(l, jit_operand(call, 0));
    jit_pass_operand(l, jit_operand(call, 1));
    jit_pass_buffer(l, g->take ? call->workspace : jit_operand(call, 2)->buffer);
    for (uint32_t i = 3; i < 5; i++) {
        if (g->linear) {
            jit_pass_operand(l, jit_operand(call, i));
        } else {
            jit_pass_buffer(l, NULL);
            jit_pass_i64(l, 0);
        }
    }
    jit_pass_block(l, &g->p, sizeof g->p);
}

/* Bytes of packed rows, once for each token, that are worth a group of a processor; tokens it has
 * at most, a multiple of SIDE of ternary_serial.dev. */
#define STRIP_WORTH 65536
#define STRIP_TOKENS 64

static collet_status on_processor(collet_device *device, collet_queue *queue,
                                  const collet_kernel_call *call, const plan *g)
{
    const jit_traits *t = jit_traits_of(device);
    jit_launch l;
    uint64_t rows = (uint64_t)g->p.rows, tokens = (uint64_t)g->p.tokens, wide = STRIP_TOKENS;
    uint64_t across = jit_ceiling(tokens, wide), most = tokens < wide ? tokens : wide;
    uint64_t worth = jit_ceiling(STRIP_WORTH, ((uint64_t)g->p.bytes + 1) * (most + 1));
    uint64_t even = jit_ceiling(rows * across, 8 * (uint64_t)t->units * (across ? across : 1));
    uint64_t tall = even < worth ? worth : even;
    int packed = !g->linear && jit_operand(call, 2)->dtype == COLLET_U8;
    begin(&l, call, g, packed ? "match" : "multiply");
    l.alone = 1;
    jit_pass_i64(&l, (int64_t)tall);
    jit_pass_i64(&l, (int64_t)wide);
    jit_pass_i64(&l, (int64_t)across);
    return jit_enqueue(device, queue, &l, jit_ceiling(rows, tall) * across, call->err);
}

/* Of ternary_thin.dev. */
#define TEAM 32
#define ROWS 2
#define FEW 4
#define FEW_REAL 2

static collet_status thin(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call, const plan *g)
{
    const jit_traits *t = jit_traits_of(device);
    uint64_t team = t->group < TEAM ? t->group : TEAM, few = g->real ? FEW_REAL : FEW;
    uint64_t groups = jit_ceiling((uint64_t)g->p.rows, t->group / team * ROWS);
    uint64_t tiles = jit_ceiling((uint64_t)g->p.tokens, few);
    jit_launch l;
    begin(&l, call, g, g->p.tokens == 1 ? "one" : "few");
    if (g->p.tokens != 1)
        jit_pass_i64(&l, (int64_t)tiles);
    return jit_enqueue(device, queue, &l, groups * tiles, call->err);
}

/* Of ternary_tiled.dev: items along tokens, tokens and rows an item, words of a row and of a token
 * in a tile; and the rows and tokens that are worth tiles. */
#define SIDE 4
#define W_WORDS 9
#define Q_WORDS 33
#define TILES_FROM 16

static uint64_t across_of(const jit_traits *t)
{
    return t->group >= 256 ? 16 : t->group >= 64 ? 8 : t->group >= 16 ? 4 : t->group >= 4 ? 2 : 1;
}

/* Of ternary_tensor.dev: the group that it is for, its rows and tokens. */
#define TENSOR_GROUP 256
#define TENSOR_ROWS 128
#define TENSOR_TOKENS 64

static int is_batch(const plan *g)
{
    return !g->real && g->p.tokens >= TILES_FROM && g->p.rows >= TILES_FROM;
}

static collet_status tensor(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call, const plan *g)
{
    uint64_t across = jit_ceiling((uint64_t)g->p.tokens, TENSOR_TOKENS);
    jit_launch l;
    begin(&l, call, g, "tensor");
    jit_pass_i64(&l, (int64_t)across);
    return jit_enqueue(device, queue, &l, across * jit_ceiling((uint64_t)g->p.rows, TENSOR_ROWS),
                       call->err);
}

static int tiles_fit(const jit_traits *t)
{
    uint64_t across = across_of(t), down = t->group / across;
    uint64_t bytes = (down * W_WORDS + across * Q_WORDS) * SIDE * sizeof(uint32_t);
    return bytes <= t->local_bytes;
}

static collet_status tiled(collet_device *device, collet_queue *queue,
                           const collet_kernel_call *call, const plan *g)
{
    const jit_traits *t = jit_traits_of(device);
    uint64_t across = jit_ceiling((uint64_t)g->p.tokens, across_of(t) * SIDE);
    uint64_t down = jit_ceiling((uint64_t)g->p.rows, t->group / across_of(t) * SIDE);
    jit_launch l;
    begin(&l, call, g, "tiled");
    jit_pass_i64(&l, (int64_t)across);
    return jit_enqueue(device, queue, &l, across * down, call->err);
}

/* ---- The ops -----------------------------------------------------------------------------------
 */

static collet_status multiply(collet_device *device, collet_queue *queue,
                              const collet_kernel_call *call, const plan *g)
{
    const jit_traits *t = jit_traits_of(device);
    if (t->is_cpu)
        return on_processor(device, queue, call, g);
    if (is_batch(g) && t->has_tiles && t->group == TENSOR_GROUP)
        return tensor(device, queue, call, g);
    return is_batch(g) && tiles_fit(t) ? tiled(device, queue, call, g)
                                       : thin(device, queue, call, g);
}

static collet_status run(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    collet_status status = COLLET_OK;
    plan g;
    plan_of(&g, jit_traits_of(device), call);
    if (!g.p.rows)
        return COLLET_OK;
    for (int64_t first = 0; first < g.tokens && status == COLLET_OK; first += g.together) {
        int64_t left = g.tokens - first;
        g.t.first = g.p.first = first;
        g.t.tokens = g.p.tokens = left < g.together ? left : g.together;
        if (g.take)
            status = take(device, queue, call, &g);
        if (first)
            status = jit_after_first(status);
        if (status == COLLET_OK)
            status = multiply(device, queue, call, &g);
        if (first || g.take)
            status = jit_after_first(status);
    }
    return status;
}

collet_status jit_ternary_matmul(collet_device *device, collet_queue *queue,
                                 const collet_kernel_call *call)
{
    return run(device, queue, call);
}

uint64_t jit_ternary_matmul_workspace(collet_device *device, const collet_kernel_call *call)
{
    return workspace(device, call);
}

collet_status jit_ternary_linear(collet_device *device, collet_queue *queue,
                                 const collet_kernel_call *call)
{
    return run(device, queue, call);
}

uint64_t jit_ternary_linear_workspace(collet_device *device, const collet_kernel_call *call)
{
    return workspace(device, call);
}
