/* SPDX-License-Identifier: Apache-2.0 */
/* linalg: dot and matvec.
 * Tests: conformance/linalg/vector.c, tests/opencl/test_opencl_compute_units.c */
#include "linalg.h"

#include "matrices.h"
#include "shared/jit/texts.h"

static const jit_source source = JIT_SOURCE("inner", jit_text_linalg_matrices_params,
                                            jit_text_linalg_matrices, jit_text_linalg_inner);

static const char *inner_options(collet_dtype to, collet_dtype from)
{
    switch (from) {
    case COLLET_F32:
        return to == COLLET_F32 ? "-DTO=f32 -DFROM=f32" : "-DTO=f64 -DFROM=f32";
    case COLLET_C64:
        return "-DTO=c64 -DFROM=c64 -DREALS=2";
    case COLLET_C128:
        return "-DTO=c128 -DFROM=c128 -DREALS=2";
    default:
        return "-DTO=f64 -DFROM=f64";
    }
}

/* Minimum number of products per group and per item, and maximum number of parts of a row. */
#define CHUNK_OF_GROUP 8192
#define CHUNK_OF_ITEM 128
#define PARTS 1024
/* Rows are divided only until there are this many groups. The division depends on the shapes,
 * the strides and the size of a group, but not on the number of compute units, so that results
 * are reproducible. */
#define ENOUGH 512
/* Each row gets a whole group if there are fewer rows than this, or if rows are longer than this
 * and the elements of neighbouring rows are not adjacent in memory. */
#define SHORT 64

typedef struct inner {
    int64_t rows, inner, count, chunk, parts;
    uint64_t groups, across;
    int by_items; /* 1: one item per row; 0: one group per row */
    jit_batch batch;
} inner;

/* Describes a call of matvec or dot. dot has a single row, whose stride is unused. */
static void inner_of(inner *s, const jit_traits *t, const collet_kernel_call *call)
{
    const collet_operand *y = operand_of(call, 0), *a = operand_of(call, 1);
    const collet_operand *x = operand_of(call, 2);
    int32_t axes = y->ndim > 0 ? y->ndim - 1 : 0;
    s->rows = y->ndim > 0 ? y->shape[axes] : 1;
    s->inner = a->shape[a->ndim - 1];
    s->count = jit_batch_begin(&s->batch, y, axes);
    jit_batch_operand(&s->batch, 0, y);
    jit_batch_operand(&s->batch, 1, a);
    jit_batch_operand(&s->batch, 2, x);
    s->by_items = s->rows >= SHORT && (s->batch.row[1] == 1 || s->inner <= SHORT);
    s->across = s->by_items ? jit_ceiling((uint64_t)s->rows, t->group) : (uint64_t)s->rows;
    s->groups = s->across * (uint64_t)s->count;
    int64_t shortest = s->by_items ? CHUNK_OF_ITEM : CHUNK_OF_GROUP;
    int64_t parts = s->inner / shortest, most = s->groups ? ENOUGH / (int64_t)s->groups : 0;
    /* If there is only one group, its rows may have more parts, so that the parts do not become
     * long. */
    most = s->groups == 1 ? PARTS : most;
    parts = parts < most ? parts : most;
    s->parts = parts > 1 ? parts : 1;
    s->chunk = (int64_t)jit_ceiling((uint64_t)s->inner, (uint64_t)s->parts);
    s->groups *= (uint64_t)s->parts;
}

JIT_KERNEL(inner_products)
{
    const collet_operand *y = operand_of(call, 0), *a = operand_of(call, 1);
    jit_sequence launches = jit_sequence_of(device, queue, call);
    const char *options = inner_options(y->dtype, a->dtype);
    jit_launch l;
    inner s;
    inner_of(&s, launches.traits, call);
    jit_launch_begin(&l, &source, options, s.by_items ? "row_per_item" : "row_per_group");
    jit_pass_operands(&l, call, 3);
    jit_pass_buffer(&l, s.parts > 1 ? call->workspace : NULL);
    jit_pass_i64s(&l, s.rows, s.inner, s.chunk, s.parts);
    jit_pass_block(&l, &s.batch, sizeof s.batch);
    if (s.by_items)
        jit_pass_i64(&l, (int64_t)s.across);
    jit_sequence_enqueue(&launches, &l, s.groups);
    if (s.parts == 1)
        return launches.status;
    jit_launch_begin(&l, &source, options, "join");
    jit_pass_operand(&l, y);
    jit_pass_buffer(&l, call->workspace);
    jit_pass_i64s(&l, s.rows, s.parts);
    jit_pass_block(&l, &s.batch, sizeof s.batch);
    jit_sequence_enqueue(&launches, &l, (uint64_t)(s.rows * s.count));
    return launches.status;
}

JIT_ACCEPTS(inner_products)
{
    inner s;
    inner_of(&s, jit_traits_of(device), call);
    /* If the rows are divided, each part has a sum in the workspace: two f64, or four if complex. */
    *workspace_bytes =
        s.parts > 1 ? (uint64_t)(s.rows * s.count * s.parts) * 4 * sizeof(double) : 0;
    return COLLET_OK;
}
