/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl_clblast.c */
#include "shared/jit/linalg/linalg.h"
#include "shared/jit/linalg/matrices.h"
#include "opencl.h"
#include "ways.h"

/* Products with fewer elements of c are left to plugins/shared/jit. */
#define FEW 1024
/* The maximum number of products in a sum of one CLBlast call. CLBlast rounds each addition to
 * the type of c, and longer sums would exceed the error bounds of docs/KERNELS.md. */
#define CHUNK 256

typedef struct matrix {
    cl_mem memory;
    size_t first;
    jit_layout layout;
} matrix;

typedef struct product {
    collet_dtype dtype;
    int64_t rows, columns, inner, count;
    int key; /* for shared/host/util/ways.h; likewise `side` */
    double side;
    matrix c, a, b;
} product;

static int lay_out(matrix *m, const jit_batch *v, uint32_t k, const collet_operand *o, int64_t rows,
                   int64_t columns)
{
    const collet_buffer *buffer = o->buffer;
    uint64_t size = cpu_dtype_size(o->dtype);
    m->memory = buffer ? buffer->memory : NULL; /* NULL: the call is only explained, not run */
    m->first = o->byte_offset / size;
    return o->byte_offset % size == 0 && jit_batch_layout(&m->layout, v, k, rows, columns);
}

const ways_kind opencl_ways = {
    .backend = "opencl",
    .names = {"own", "clblast"},
    .range = {[WAY_CLBLAST] = {.types = 1u << WAY_F32 | 1u << WAY_F64}},
    .types = 1u << WAY_F32 | 1u << WAY_F64,
    .forms =
        1u << WAY_SQUARE | 1u << WAY_INNER | 1u << WAY_ROWS | 1u << WAY_COLUMNS | 1u << WAY_BATCH,
};

static int is_few(const product *p)
{
    return p->rows * p->columns < FEW;
}

/* 1 when CLBlast can compute the call. */
static int describe(product *p, const collet_kernel_call *call)
{
    const collet_operand *c = operand_of(call, 0), *a = operand_of(call, 1);
    const collet_operand *b = operand_of(call, 2);
    jit_batch v;
    p->dtype = c->dtype;
    p->rows = c->shape[c->ndim - 2];
    p->columns = c->shape[c->ndim - 1];
    p->inner = a->shape[a->ndim - 1];
    p->count = jit_batch_begin(&v, c, c->ndim - 2);
    for (uint32_t k = 0; k < 3; k++)
        jit_batch_operand(&v, k, operand_of(call, k));
    p->key = ways_product(ways_type(a->dtype), p->count, p->rows, p->columns, p->inner, &p->side);
    return (c->dtype == COLLET_F32 || c->dtype == COLLET_F64) && a->dtype == c->dtype &&
           p->count > 0 && p->inner > 0 && !is_few(p) &&
           lay_out(&p->c, &v, 0, c, p->rows, p->columns) && !p->c.layout.transposed &&
           lay_out(&p->a, &v, 1, a, p->rows, p->inner) &&
           lay_out(&p->b, &v, 2, b, p->inner, p->columns);
}

static int operation(const matrix *m)
{
    return m->layout.transposed ? CLBLAST_TRANSPOSED : CLBLAST_AS_IS;
}

/* Enqueues the product of `depth` columns of a and rows of b, from `first` on; adds it to c unless first is 0. */
static int multiply(const opencl_blas *blas, const product *p, int64_t first, int64_t depth,
                    cl_command_queue *queue, cl_event *event)
{
    size_t m = (size_t)p->rows, n = (size_t)p->columns, k = (size_t)depth;
    size_t a_leading = (size_t)p->a.layout.leading, b_leading = (size_t)p->b.layout.leading;
    size_t c_leading = (size_t)p->c.layout.leading, count = (size_t)p->count;
    size_t a_step = (size_t)p->a.layout.step, b_step = (size_t)p->b.layout.step;
    size_t c_step = (size_t)p->c.layout.step;
    size_t a_first = p->a.first + (size_t)first * (p->a.layout.transposed ? a_leading : 1);
    size_t b_first = p->b.first + (size_t)first * (p->b.layout.transposed ? 1 : b_leading);
    int a_as = operation(&p->a), b_as = operation(&p->b), more = first > 0;
#define ONE(name, type)                                                                            \
    blas->name(CLBLAST_ROWS, a_as, b_as, m, n, k, (type)1, p->a.memory, a_first, a_leading,        \
               p->b.memory, b_first, b_leading, (type)more, p->c.memory, p->c.first, c_leading,    \
               queue, event)
#define BATCH(name, type)                                                                          \
    blas->name(CLBLAST_ROWS, a_as, b_as, m, n, k, (type)1, p->a.memory, a_first, a_leading,        \
               a_step, p->b.memory, b_first, b_leading, b_step, (type)more, p->c.memory,           \
               p->c.first, c_leading, c_step, count, queue, event)
    if (p->dtype == COLLET_F32)
        return count == 1 ? ONE(Sgemm, float) : BATCH(SgemmStridedBatched, float);
    return count == 1 ? ONE(Dgemm, double) : BATCH(DgemmStridedBatched, double);
#undef ONE
#undef BATCH
}

/* Returns 0, or CLBlast's error. After an error the caller must run another kernel, which overwrites the results of
 * commands that CLBlast has already enqueued. The caller holds the queue's lock. */
static int try_multiply(collet_device *d, collet_queue *q, const product *p)
{
    opencl_command *c = opencl_begin(q, "CLBlast matmul");
    for (int64_t first = 0; first < p->inner; first += CHUNK) {
        int64_t rest = p->inner - first, depth = rest < CHUNK ? rest : CHUNK;
        int code = multiply(&d->blas, p, first, depth, &q->handle, rest > CHUNK ? NULL : &c->event);
        if (code)
            return code;
    }
    if (!c->event) {
        cl_int error = d->cl.EnqueueMarkerWithWaitList(q->handle, 0, NULL, &c->event);
        if (error != CL_SUCCESS)
            return error;
    }
    (void)opencl_commit(q);
    return 0;
}

static int is_short(int code)
{
    return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY;
}

static int is_chosen(const collet_device *d, const product *p)
{
    return ways_choose(d->ways, p->key, p->side, WAY_CLBLAST, NULL) == WAY_CLBLAST;
}

/* Whether CLBlast can be used, if it is chosen. */
static int is_ready(collet_device *d, const product *p)
{
    pthread_mutex_lock(&d->base.lock);
    int asked = d->ways->forced[p->key] == WAY_CLBLAST;
    int ready = opencl_blas_ready(d->base.host, &d->cl, d->id, asked, &d->blas);
    pthread_mutex_unlock(&d->base.lock);
    return ready;
}

static void drop(collet_device *d, int code)
{
    pthread_mutex_lock(&d->base.lock);
    opencl_blas_drop(d->base.host, &d->blas, code);
    pthread_mutex_unlock(&d->base.lock);
}

/* Computes products of f32 and f64 by CLBlast if it is chosen (ways.h) and supports the operands' layout.
 * jit_matmul computes all other products. */
jit_run opencl_matmul;
collet_status opencl_matmul(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    product p;
    if (!describe(&p, call) || !is_chosen(d, &p) || !is_ready(d, &p))
        return jit_matmul(d, q, call);
    collet_status status = jit_check(d, call->err);
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&q->base.lock);
    int code = try_multiply(d, q, &p);
    pthread_mutex_unlock(&q->base.lock);
    if (code && !is_short(code))
        drop(d, code);
    return code ? jit_matmul(d, q, call) : COLLET_OK;
}

void opencl_explain_matmul(collet_device *d, const collet_kernel_call *call, text *out)
{
    product p;
    int possible = describe(&p, call), chosen = possible && is_chosen(d, &p);
    int ready = chosen && is_ready(d, &p);
    pthread_mutex_lock(&d->base.lock);
    if (ready)
        text_add(out, "CLBlast (%s); ", d->blas.text);
    else
        text_add(out, "own kernels; ");
    if (chosen && !ready)
        text_add(out, "CLBlast is %s", d->blas.text);
    pthread_mutex_unlock(&d->base.lock);
    if (is_few(&p))
        text_add(out, "CLBlast is not used for matrices of fewer than %d elements", FEW);
    else if (!possible)
        text_add(out, "CLBlast does not support these dtypes or strides");
    else if (ready || !chosen)
        ways_explain(out, d->ways, p.key, p.side, WAY_CLBLAST);
}
