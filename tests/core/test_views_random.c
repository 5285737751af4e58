/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random chains of views against a model: a view is a shape and its list of base elements in C
 * order. Reading, writing, and adding into overlapping views must match the list, in host and in
 * device memory. Seeds are fixed and printed on failure.
 */

#include "common/support.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN
#define BASE 60   /* elements */
#define SHOWN 720 /* maximum number of elements of a view */
#define MAX_AXES 5

typedef struct model {
    int32_t ndim;
    int64_t shape[MAX_AXES];
    int64_t count;
    int element[SHOWN];
    int windows; /* 1: libcore may mistake interleaved strides for overlapping strides */
} model;

static uint64_t random_state;
static int seed;

static int64_t pick(int64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

/* ---- The model --------------------------------------------------------------------------- */

static int64_t count_of(int32_t ndim, const int64_t *shape)
{
    int64_t count = 1;
    for (int32_t i = 0; i < ndim; i++)
        count *= shape[i];
    return count;
}

static void unravel(const model *m, int64_t n, int64_t *index)
{
    for (int32_t i = m->ndim - 1; i >= 0; i--) {
        index[i] = n % m->shape[i];
        n /= m->shape[i];
    }
}

static int at(const model *m, const int64_t *index)
{
    int64_t n = 0;
    for (int32_t i = 0; i < m->ndim; i++)
        n = n * m->shape[i] + index[i];
    return m->element[n];
}

static model model_slice(const model *m, int32_t axis, int64_t start, int64_t count, int64_t step)
{
    model out = *m;
    int64_t index[MAX_AXES];
    out.shape[axis] = count;
    out.count = count_of(out.ndim, out.shape);
    for (int64_t n = 0; n < out.count; n++) {
        unravel(&out, n, index);
        index[axis] = start + index[axis] * step;
        out.element[n] = at(m, index);
    }
    return out;
}

static model model_permute(const model *m, const int32_t *perm)
{
    model out = *m;
    int64_t index[MAX_AXES], from[MAX_AXES];
    for (int32_t i = 0; i < m->ndim; i++)
        out.shape[i] = m->shape[perm[i]];
    for (int64_t n = 0; n < out.count; n++) {
        unravel(&out, n, index);
        for (int32_t i = 0; i < m->ndim; i++)
            from[perm[i]] = index[i];
        out.element[n] = at(m, from);
    }
    return out;
}

static model model_diagonal(const model *m)
{
    model out = *m;
    int64_t index[MAX_AXES];
    int32_t row = m->ndim - 2, column = m->ndim - 1;
    out.ndim = column;
    if (m->shape[column] < m->shape[row])
        out.shape[row] = m->shape[column];
    out.count = count_of(out.ndim, out.shape);
    for (int64_t n = 0; n < out.count; n++) {
        unravel(&out, n, index);
        index[column] = index[row];
        out.element[n] = at(m, index);
    }
    return out;
}

static model model_windows(const model *m, int32_t axis, int64_t length)
{
    model out = *m;
    int64_t index[MAX_AXES];
    out.windows = 1;
    out.shape[axis] -= length - 1;
    out.shape[out.ndim++] = length;
    out.count = count_of(out.ndim, out.shape);
    for (int64_t n = 0; n < out.count && out.count <= SHOWN; n++) {
        unravel(&out, n, index);
        index[axis] += index[m->ndim];
        out.element[n] = at(m, index);
    }
    return out;
}

static model model_broadcast(const model *m, int32_t ndim, const int64_t *shape)
{
    model out = {.ndim = ndim, .count = count_of(ndim, shape), .windows = m->windows};
    int64_t index[MAX_AXES];
    memcpy(out.shape, shape, (size_t)ndim * sizeof *shape);
    for (int64_t n = 0; n < out.count; n++) {
        int32_t lead = ndim - m->ndim;
        unravel(&out, n, index);
        for (int32_t i = lead; i < ndim; i++)
            index[i] = m->shape[i - lead] == 1 ? 0 : index[i];
        out.element[n] = at(m, index + lead);
    }
    return out;
}

static int repeats(const model *m)
{
    int seen[BASE] = {0};
    for (int64_t n = 0; n < m->count; n++)
        if (seen[m->element[n]]++)
            return 1;
    return 0;
}

/* Whether the elements are equally spaced. If so, every reshape is possible without a copy. */
static int equally_spaced(const model *m)
{
    for (int64_t n = 2; n < m->count; n++)
        if (m->element[n] - m->element[n - 1] != m->element[1] - m->element[0])
            return 0;
    return 1;
}

/* ---- Steps: applied to the model and to the array ---------------------------------------- */

static void replace(collet_array **a, collet_array *view)
{
    collet_array_destroy(*a);
    *a = view;
}

static void step_slice(collet_context *cx, collet_array **a, model *m)
{
    if (!m->ndim)
        return;
    int32_t axis = (int32_t)pick(m->ndim);
    int64_t extent = m->shape[axis], start = 0, count = 0, step = pick(9) - 4;
    if (extent && pick(12)) {
        start = pick(extent);
        int64_t remaining = step > 0 ? (extent - 1 - start) / step : step < 0 ? start / -step : 0;
        count = 1 + pick(remaining + 1);
    }
    collet_array *view = NULL;
    assert_ok(cx, collet_array_slice(cx, *a, &view, axis, start, count, step));
    *m = model_slice(m, axis, start, count, step);
    replace(a, view);
}

static void step_permute(collet_context *cx, collet_array **a, model *m)
{
    int32_t perm[MAX_AXES] = {0};
    for (int32_t i = 0; i < m->ndim; i++) {
        int32_t k = (int32_t)pick(i + 1);
        perm[i] = perm[k];
        perm[k] = i;
    }
    collet_array *view = NULL;
    assert_ok(cx, collet_array_permute(cx, *a, &view, perm));
    *m = model_permute(m, perm);
    replace(a, view);
}

static void step_diagonal(collet_context *cx, collet_array **a, model *m)
{
    collet_array *view = NULL;
    collet_status status = collet_array_diagonal(cx, *a, &view);
    if (m->ndim < 2) {
        assert_status(cx, status, COLLET_INVALID);
        return;
    }
    assert_ok(cx, status);
    *m = model_diagonal(m);
    replace(a, view);
}

static void step_windows(collet_context *cx, collet_array **a, model *m)
{
    collet_array *view = NULL;
    int32_t axis = m->ndim ? (int32_t)pick(m->ndim) : 0;
    int64_t extent = m->ndim ? m->shape[axis] : 0, length = pick(extent + 2);
    if (m->ndim == MAX_AXES)
        return;
    if (!m->ndim || length < 1 || length > extent) {
        assert_status(cx, collet_array_windows(cx, *a, &view, axis, length),
                      m->ndim ? COLLET_SHAPE : COLLET_INVALID);
        return;
    }
    model out = model_windows(m, axis, length);
    if (out.count > SHOWN)
        return;
    assert_ok(cx, collet_array_windows(cx, *a, &view, pick(2) ? axis : axis - m->ndim, length));
    *m = out;
    replace(a, view);
}

static void step_broadcast(collet_context *cx, collet_array **a, model *m)
{
    int64_t shape[MAX_AXES];
    int32_t more = (int32_t)pick(2), ndim = m->ndim + more;
    if (ndim > MAX_AXES)
        return;
    for (int32_t i = 0; i < ndim; i++) {
        int64_t have = i < more ? 1 : m->shape[i - more];
        shape[i] = have == 1 ? pick(4) : have;
    }
    if (count_of(ndim, shape) > SHOWN)
        return;
    collet_array *view = NULL;
    assert_ok(cx, collet_array_broadcast(cx, *a, &view, ndim, shape));
    *m = model_broadcast(m, ndim, shape);
    replace(a, view);
}

/* Reshapes the view to random extents with the same product. libcore refuses a reshape that would need a copy. */
static void step_reshape(collet_context *cx, collet_array **a, model *m)
{
    int64_t shape[MAX_AXES], rest = m->count;
    int32_t ndim = (int32_t)pick(MAX_AXES + 1);
    for (int32_t i = 0; i < ndim; i++)
        shape[i] = 1;
    if (!ndim && rest != 1)
        return;
    for (int64_t p = 2; rest > 1; p++)
        for (; rest % p == 0; rest /= p)
            shape[pick(ndim)] *= p;
    if (!m->count)
        shape[pick(ndim)] = 0;
    collet_array *view = NULL;
    collet_status status = collet_array_reshape(cx, *a, &view, ndim, shape);
    if (status == COLLET_SHAPE) {
        assert_true(!equally_spaced(m));
        return;
    }
    assert_ok(cx, status);
    m->ndim = ndim;
    memcpy(m->shape, shape, (size_t)ndim * sizeof *shape);
    replace(a, view);
}

/* ---- Checks ------------------------------------------------------------------------------ */

static void check_read(collet_context *cx, const collet_array *a, const model *m, const float *base)
{
    float got[SHOWN];
    assert_int_equal(collet_array_size(a), m->count);
    assert_int_equal(collet_array_ndim(a), m->ndim);
    assert_memory_equal(collet_array_shape(a), m->shape, (size_t)m->ndim * sizeof *m->shape);
    assert_ok(cx, collet_array_read(cx, a, got, (size_t)m->count * sizeof *got));
    for (int64_t n = 0; n < m->count; n++)
        if (got[n] != base[m->element[n]])
            fail_msg("seed %d: element %d is %g, not %g", seed, (int)n, (double)got[n],
                     (double)base[m->element[n]]);
}

static void check_write(collet_context *cx, collet_array *a, const model *m, float *base)
{
    float fresh[SHOWN];
    for (int64_t n = 0; n < m->count; n++)
        fresh[n] = (float)pick(1000);
    collet_status status = collet_array_write(cx, a, fresh, (size_t)m->count * sizeof *fresh);
    if (repeats(m) || (m->windows && status == COLLET_INVALID)) {
        assert_status(cx, status, COLLET_INVALID);
        return;
    }
    assert_ok(cx, status);
    for (int64_t n = 0; n < m->count; n++)
        base[m->element[n]] = fresh[n];
}

static collet_array *fresh_base(collet_context *cx, model *m, float *base)
{
    static const int64_t shapes[][3] = {{3, 4, 5}, {60, 1, 1}, {2, 30, 1}, {4, 1, 15}};
    collet_array *a = NULL;
    *m = (model){.ndim = 3, .count = BASE};
    memcpy(m->shape, shapes[pick(4)], sizeof *shapes);
    for (int i = 0; i < BASE; i++) {
        m->element[i] = i;
        base[i] = (float)pick(1000);
    }
    assert_ok(cx, collet_array_from(cx, &a, COLLET_F32, 3, m->shape, base));
    return a;
}

static void one_chain(collet_context *cx)
{
    static void (*const steps[])(collet_context *, collet_array **, model *) = {
        step_slice, step_permute,  step_broadcast, step_reshape,
        step_slice, step_diagonal, step_windows};
    model m, whole;
    float base[BASE];
    OWNED(collet_array) *all = fresh_base(cx, &m, base), *a = NULL;
    whole = m;
    assert_ok(cx, collet_array_permute(cx, all, &a, (const int32_t[]){0, 1, 2}));
    for (int64_t left = 1 + pick(6); left; left--) {
        steps[pick(7)](cx, &a, &m);
        check_read(cx, a, &m, base);
        if (!pick(3))
            check_write(cx, a, &m, base);
    }
    check_read(cx, all, &whole, base);
}

/* ---- Overlaps ---------------------------------------------------------------------------- */

/* A view of `shape` anywhere in the base; an input may have a broadcast axis. */
static collet_array *window(collet_context *cx, const collet_array *all, model *m,
                            const int64_t *shape, int may_repeat)
{
    collet_array *a = NULL;
    assert_ok(cx, collet_array_permute(cx, all, &a, (const int32_t[]){0, 1, 2}));
    for (int32_t axis = 0; axis < 3; axis++) {
        collet_array *view = NULL;
        int64_t extent = m->shape[axis],
                max_step = shape[axis] > 1 ? (extent - 1) / (shape[axis] - 1) : 1;
        int64_t step = 1 + pick(max_step), span = step * (shape[axis] - 1),
                start = pick(extent - span);
        int64_t count = may_repeat && !pick(6) ? 1 : shape[axis];
        if (count > 1 && pick(2)) {
            start += span;
            step = -step;
        }
        assert_ok(cx, collet_array_slice(cx, a, &view, axis, start, count, step));
        *m = model_slice(m, axis, start, count, step);
        replace(&a, view);
    }
    if (may_repeat) {
        collet_array *view = NULL;
        assert_ok(cx, collet_array_broadcast(cx, a, &view, 3, shape));
        *m = model_broadcast(m, 3, shape);
        replace(&a, view);
    }
    return a;
}

static void one_sum(collet_context *cx)
{
    float base[BASE], sums[SHOWN];
    model all_model;
    collet_array *all = fresh_base(cx, &all_model, base), *v[3];
    int64_t shape[3];
    model m[3];
    for (int i = 0; i < 3; i++)
        shape[i] = 1 + pick(all_model.shape[i]);
    for (int i = 0; i < 3; i++) {
        m[i] = all_model;
        v[i] = window(cx, all, &m[i], shape, i > 0);
    }
    if (!pick(4)) {
        collet_array_destroy(v[1]);
        assert_ok(cx, collet_array_permute(cx, v[0], &v[1], (const int32_t[]){0, 1, 2}));
        m[1] = m[0];
    }
    assert_ok(cx, collet_op_add(cx, v[0], v[1], v[2]));
    for (int64_t n = 0; n < m[0].count; n++)
        sums[n] = base[m[1].element[n]] + base[m[2].element[n]];
    for (int64_t n = 0; n < m[0].count; n++)
        base[m[0].element[n]] = sums[n];
    check_read(cx, all, &all_model, base);
    for (int i = 0; i < 3; i++)
        collet_array_destroy(v[i]);
    collet_array_destroy(all);
}

static void run(const char *backend, int rounds, void (*one)(collet_context *))
{
    OWNED(collet_runtime) *rt = runtime_with(BOTH, NULL);
    OWNED(collet_context) *cx = context_of(rt);
    assert_ok(cx, collet_set_backend(cx, backend));
    for (seed = 1; seed <= rounds; seed++) {
        random_state = (uint64_t)seed;
        pick(2);
        one(cx);
    }
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, "host"));
    assert_int_equal(stats.current, 0);
}

TEST(chains_on_the_host)
{
    run("cpu_scalar", 3000, one_chain);
}

TEST(chains_on_a_device)
{
    run("remote", 300, one_chain);
}

TEST(sums_on_the_host)
{
    run("cpu_scalar", 4000, one_sum);
}

TEST(sums_on_a_device)
{
    run("remote", 400, one_sum);
}
