/* SPDX-License-Identifier: Apache-2.0 */
/* Calls collet_explain for every op with extents around the limit, without allocating memory for them. Shape rules and
 * plans of kernels must not overflow, which the undefined-behaviour sanitizer detects. */
#include "bench/ops/cases.h"
#include "common/support.h"

static const int64_t extents[] = {(int64_t)1 << 62, (int64_t)1 << 60, (int64_t)1 << 56,
                                  (int64_t)1 << 53, (int64_t)1 << 52, (int64_t)1 << 40,
                                  (int64_t)1 << 32, (int64_t)1 << 26};
static const char *const dtypes[] = {"f32", "f64", "f16", "u8", "i64", "c128", "bool"};

/* Sets shape number `index` with `count` extents. Either one or two extents are large, or one extent is large and the
 * next is 0, or one extent is 0 and all others are large. Returns 0 if there are no more shapes. */
static int shape_at(int32_t count, int32_t index, int64_t large, int64_t *shape)
{
    int32_t pairs = count * count;
    if (index >= pairs + 2 * count)
        return 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t k = index - pairs, at = k < count ? k : k - count;
        if (index < pairs)
            shape[i] = i == index / count || i == index % count ? large : 1;
        else if (k < count)
            shape[i] = i == at ? large : i == (at + 1) % count ? 0 : 1;
        else
            shape[i] = i == at ? 0 : large;
    }
    return 1;
}

/* Explains a call with this shape. Returns 1 if arrays of the shape can exist. */
static int explained(world *w, const bench_case *row, const char *shape, const char *axis,
                     const char *dtype)
{
    char text[4096];
    collet_array *arrays[COLLET_MAX_OPERANDS] = {NULL};
    const bench_options options = {.shape = shape, .axis = axis};
    bench_layout l;
    collet_error err;
    collet_status status = bench_layout_make(&l, w->rt, row, &options, dtype, &err);
    if (status != COLLET_OK)
        return 0;
    for (uint32_t i = 0; i < l.count && status == COLLET_OK; i++) {
        const bench_operand *o = &l.operands[i];
        if (o->make != '-')
            status = collet_array_create(w->cx, &arrays[i], o->dtype, o->ndim, o->shape);
    }
    int made = status == COLLET_OK;
    if (made && collet_explain(w->cx, l.op.id, text, sizeof text, arrays,
                               (const collet_array *const *)arrays + l.op.n_out,
                               l.op.params_size ? &l.params : NULL) != COLLET_OK)
        fail_msg("%s %s %s: %s", row->name, shape, dtype, collet_last_error(w->cx));
    for (uint32_t i = 0; i < l.count; i++)
        collet_array_destroy(arrays[i]);
    return made;
}

/* The number of calls. */
static long explain_all(world *w, const bench_case *row, int32_t axes, const char *axis)
{
    int64_t shape[BENCH_EXTENTS_MAX];
    char text[BENCH_SHAPE_TEXT];
    long count = 0;
    for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
        for (int32_t k = 0; shape_at(axes, k, extents[e], shape); k++)
            for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
                count += explained(w, row, bench_shape_text(axes, shape, text), axis, dtypes[d]);
    return count;
}

TEST(every_op)
{
    bench_case row;
    bench_shape usual;
    long count = 0;
    OWNED(world) w = open_world(OPENMP_PLUGIN ":" SCALAR_PLUGIN, NULL, "cpu_openmp,cpu_scalar");
    for (size_t i = 0; bench_case_at(w.rt, i, &row); i++) {
        if (!bench_shape_parse(row.shape, &usual))
            continue;
        count += explain_all(&w, &row, usual.count, NULL);
        if (usual.count <= 2) {
            count += explain_all(&w, &row, 2, "0");
            count += explain_all(&w, &row, 2, "1");
            count += explain_all(&w, &row, 3, "1");
        }
    }
    print_message("%ld calls explained\n", count);
    assert_true(count > 1000);
}
