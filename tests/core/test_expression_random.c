/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs, evaluated by the op `evaluate` and by single ops. Both must give the same bits, for all dtypes,
 * broadcast inputs, negative strides, outputs that are or overlap inputs, empty arrays. Scalars of `evaluate` are
 * passed to the single ops as arrays without axes. A device may add in a different order: on a device, sums of
 * floating-point numbers must agree within a tolerance.
 *
 *     test_expression_random [SEED [COUNT [DEVICE PLUGINS]]]    exit code 77: DEVICE is not available
 */
#include <fenv.h>

#include "common/evaluate.h"
#include "common/fixture.h"
#include "expression/evaluate.h"
#include "op/elementwise.h"
#include "op/program.h"

enum { INPUTS = 10, OUTPUTS = 5, VALUES = 90 };

static uint64_t state_of_random;
static const char *on_device, *plugins;

static uint32_t below(uint32_t n)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state_of_random >> 33) % n);
}

/* ---- Arrays ------------------------------------------------------------------------------ */

typedef struct view {
    collet_array *whole, *array;
    void *bytes; /* contents of `whole` before an evaluation */
    size_t size;
} view;

static double any_number(void)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN,
                                     1,   -1,   1e30,     -1e-30,    65504};
    uint32_t kind = below(8);
    return kind == 0   ? special[below(10)]
           : kind == 1 ? (double)below(2000) * 0.25 - 250.0
                       : (double)below(1000000) / 1e5 - 5.0;
}

static void fill(void *bytes, collet_dtype d, size_t n)
{
    size_t size = collet_dtype_size(d);
    for (size_t i = 0; i < n * size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)below(256);
    for (size_t i = 0; i < n * size; i++)
        if (d == COLLET_BOOL)
            ((unsigned char *)bytes)[i] &= 1;
    for (size_t i = 0; i < n; i++)
        if (d == COLLET_F32)
            ((float *)bytes)[i] = (float)any_number();
        else if (d == COLLET_F64)
            ((double *)bytes)[i] = any_number();
        else if (d == COLLET_C64)
            ((collet_c64 *)bytes)[i] = (collet_c64){(float)any_number(), (float)any_number()};
        else if (d == COLLET_C128)
            ((collet_c128 *)bytes)[i] = (collet_c128){any_number(), any_number()};
        else if (size == 8 && below(2))
            ((int64_t *)bytes)[i] = (int64_t)below(200) - 100;
}

/* A view of a larger array. The view has this shape, and steps of 1, 2, -1 or -2. */
static view make_view(collet_dtype d, int32_t ndim, const int64_t *shape)
{
    int64_t larger[COLLET_MAX_DIMS];
    view v;
    size_t n = 1;
    for (int32_t i = 0; i < ndim; i++) {
        larger[i] = shape[i] * 2 + 1;
        n *= (size_t)larger[i];
    }
    v.size = n * collet_dtype_size(d);
    v.bytes = malloc(v.size);
    fill(v.bytes, d, n);
    assert_ok(cx, collet_array_from(cx, &v.whole, d, ndim, larger, v.bytes));
    v.array = v.whole;
    for (int32_t i = 0; i < ndim; i++) {
        static const int64_t steps[] = {1, 2, -1, -2};
        int64_t step = steps[below(4)];
        collet_array *next;
        assert_ok(cx, collet_array_slice(cx, v.array, &next, i, step > 0 ? 0 : larger[i] - 1,
                                         shape[i], step));
        if (v.array != v.whole)
            collet_array_destroy(v.array);
        v.array = next;
    }
    return v;
}

static void free_view(view *v)
{
    if (v->array != v->whole)
        collet_array_destroy(v->array);
    collet_array_destroy(v->whole);
    free(v->bytes);
}

/* ---- Graphs ------------------------------------------------------------------------------ */

typedef struct typed {
    uint32_t id;
    collet_dtype dtype;
    program_shape shape;
} typed;

typedef struct sample {
    collet_expression *e;
    typed values[VALUES + 4 * VALUES];
    uint32_t count, inputs, outputs;
    collet_dtype dtypes[INPUTS];
    int number[INPUTS]; /* 1: `evaluate` gets this input as a scalar */
    uint32_t reduce;    /* or COLLET_NO_OP */
    int rows;           /* 1: some functions reduce rows */
} sample;

#define GOOD(call) assert_int_equal(call, COLLET_OK)

static int is_complex(collet_dtype d)
{
    return d == COLLET_C64 || d == COLLET_C128;
}

static uint32_t converted(sample *s, typed v, collet_dtype d)
{
    uint32_t id = v.id;
    if (v.dtype == d)
        return id;
    if (is_complex(v.dtype) && !is_complex(d) && d != COLLET_BOOL)
        GOOD(collet_expression_apply(s->e, &id, below(2) ? COLLET_OP_REAL : COLLET_OP_IMAG, &id, 1,
                                     NULL));
    GOOD(collet_expression_convert(s->e, &id, id, d, NULL));
    return id;
}

/* Picks a value. It prefers values that were added last, so that graphs are deep. */
static typed pick(const sample *s)
{
    uint32_t back = below(4) ? below(4) : below(s->count);
    return s->values[back < s->count ? s->count - 1 - back : 0];
}

static const uint32_t reductions[] = {
    COLLET_OP_SUM, COLLET_OP_PROD, COLLET_OP_MEAN, COLLET_OP_VAR,           COLLET_OP_STD,    COLLET_OP_MIN,
    COLLET_OP_MAX, COLLET_OP_ANY,  COLLET_OP_ALL,  COLLET_OP_COUNT_NONZERO, COLLET_OP_ARGMIN, COLLET_OP_ARGMAX};

static void add_function(sample *s)
{
    const elementwise *e = elementwise_at(below(75));
    collet_dtype d = 1 + (collet_dtype)below(COLLET_DTYPE_COUNT - 1);
    uint32_t in[3], id;
    program_shape shape = PROGRAM_NARROW;
    if (!e || !elementwise_result(e, d))
        return;
    for (uint32_t i = 0; i < e->inputs; i++) {
        typed v = pick(s);
        in[i] = converted(s, v, elementwise_operand(e, d, i));
        shape = v.shape > shape ? v.shape : shape;
    }
    GOOD(collet_expression_apply(s->e, &id, e->op, in, e->inputs, NULL));
    s->values[s->count++] = (typed){id, elementwise_result(e, d), shape};
}

/* Adds a reduction of rows. */
static void add_reduction(sample *s)
{
    typed v = pick(s);
    uint32_t id, op = reductions[below(sizeof reductions / sizeof *reductions)];
    collet_dtype d = program_reduced(op, v.dtype, COLLET_DTYPE_NONE);
    if (!d || v.shape != PROGRAM_FULL)
        return;
    GOOD(collet_expression_reduce_rows(s->e, &id, op, v.id, below(2) ? 0.5 : 0.0, NULL));
    s->values[s->count++] = (typed){id, d, PROGRAM_NARROW};
}

/* Adds an op whose operands have different dtypes, or an op with one weak scalar as an operand. */
static void add_mixed(sample *s)
{
    static const uint32_t ops[] = {COLLET_OP_ADD, COLLET_OP_SUB, COLLET_OP_MUL};
    typed a = pick(s), b = pick(s);
    uint32_t id;
    collet_dtype d = collet_dtype_promote(a.dtype, b.dtype);
    if (d == COLLET_BOOL)
        return;
    GOOD(collet_expression_apply(s->e, &id, ops[below(3)], (uint32_t[]){a.id, b.id}, 2, NULL));
    if (below(2)) {
        const collet_scalar weak = {.value.i64 = below(9), .dtype = COLLET_I64};
        uint32_t number;
        GOOD(collet_expression_constant(s->e, &number, &weak, 1, NULL));
        GOOD(collet_expression_apply(s->e, &id, COLLET_OP_ADD, (uint32_t[]){number, id}, 2, NULL));
    }
    s->values[s->count++] = (typed){id, d, a.shape > b.shape ? a.shape : b.shape};
}

/* Converts v to a dtype that the graph's reduction accepts; chooses the reduction on the first call. */
static uint32_t reducible(sample *s, typed v)
{
    if (!s->reduce)
        s->reduce = reductions[below(sizeof reductions / sizeof *reductions)];
    int taken = program_reduced(s->reduce, v.dtype, COLLET_DTYPE_NONE) != COLLET_DTYPE_NONE;
    return converted(s, v, taken && below(4) ? v.dtype : below(2) ? COLLET_F32 : COLLET_F64);
}

static uint32_t size_of(const sample *s, uint32_t id)
{
    GOOD(collet_expression_apply(s->e, &id, COLLET_OP_ABS, &id, 1, NULL));
    GOOD(collet_expression_convert(s->e, &id, id, COLLET_F64, NULL));
    return id;
}

/* `sizes` 1: the graph's reductions are over absolute values. */
static void make_graph(sample *s, uint64_t seed, int sizes)
{
    state_of_random = seed * 0x9e3779b97f4a7c15u;
    (void)below(2);
    uint32_t functions = 1 + below(below(3) ? 12 : 60);
    *s = (sample){.inputs = 1 + below(below(4) ? 4 : INPUTS), .outputs = 1 + below(OUTPUTS)};
    s->rows = seed % 4 == 3;
    GOOD(collet_expression_create(&s->e, NULL));
    for (uint32_t i = 0; i < s->inputs; i++) {
        s->dtypes[i] = 1 + (collet_dtype)below(COLLET_DTYPE_COUNT - 1);
        s->number[i] =
            i && below(4) == 0 && s->dtypes[i] != COLLET_F16 && s->dtypes[i] != COLLET_BF16;
        s->number[i] &= !s->rows; /* a number and an array without axes differ in the shape of results */
        GOOD(collet_expression_input(s->e, &s->values[i].id, NULL,
                                     s->number[i] ? s->dtypes[i] : COLLET_DTYPE_NONE, NULL));
        s->values[i].dtype = s->dtypes[i];
        s->values[i].shape = PROGRAM_FULL;
        s->count++;
    }
    for (uint32_t tries = 0; s->count < s->inputs + functions && tries < 2000; tries++)
        if (s->rows && below(5) == 0)
            add_reduction(s);
        else if (below(4))
            add_function(s);
        else
            add_mixed(s);
    int reduced = below(5) == 0;
    for (uint32_t k = 0; k < s->outputs; k++) {
        typed v = k ? pick(s) : s->values[s->count - 1];
        uint32_t id = reduced ? reducible(s, v) : v.id;
        GOOD(collet_expression_output(s->e, sizes ? size_of(s, id) : id, NULL));
    }
    if (reduced) {
        const int32_t last = -1;
        GOOD(collet_expression_reduce(s->e, s->reduce, below(2) ? &last : NULL, 1,
                                      (int32_t)below(2), 0, NULL));
    }
}

/* ---- Comparison -------------------------------------------------------------------------- */

/* NaNs are equal. */
static void settle(void *bytes, collet_dtype d, size_t n)
{
    size_t parts = is_complex(d) ? 2 * n : n;
    for (size_t i = 0; i < parts; i++)
        if (d == COLLET_F32 || d == COLLET_C64) {
            float *x = (float *)bytes + i;
            *x = isnan(*x) ? NAN : *x;
        } else if (d == COLLET_F64 || d == COLLET_C128) {
            double *x = (double *)bytes + i;
            *x = isnan(*x) ? (double)NAN : *x;
        } else if (d == COLLET_F16 || d == COLLET_BF16) {
            uint16_t *x = (uint16_t *)bytes + i, infinity = d == COLLET_F16 ? 0x7c00 : 0x7f80;
            *x = (*x & 0x7fff) > infinity ? 0x7fff : *x;
        }
}

typedef struct trial {
    view in[INPUTS], out[OUTPUTS];
    collet_array *outs[OUTPUTS];
    const collet_array *ins[INPUTS];
    collet_scalar numbers[INPUTS];
    unsigned char *got[OUTPUTS];
} trial;

static void write_inputs(const sample *s, const trial *t)
{
    for (uint32_t i = 0; i < s->inputs; i++)
        assert_ok(cx, collet_array_write(cx, t->in[i].whole, t->in[i].bytes, t->in[i].size));
}

static void scalar_reduction(const sample *s, const trial *t)
{
    if (s->reduce && !collet_array_ndim(t->ins[0])) /* no axis to reduce */
        GOOD(collet_expression_reduce(s->e, s->reduce, NULL, 0, 0, 0, NULL));
}

/* Converts n elements of the dtype of `a` to complex numbers. */
static collet_c128 *numbers_of(const collet_array *a, const void *bytes, size_t n)
{
    const int64_t shape = (int64_t)n;
    collet_c128 *numbers = malloc(n * sizeof *numbers + 1);
    collet_array *from, *to;
    assert_ok(cx, collet_array_from(cx, &from, collet_array_dtype(a), 1, &shape, bytes));
    assert_ok(cx, collet_array_create(cx, &to, COLLET_C128, 1, &shape));
    assert_ok(cx, collet_op_copy(cx, to, from));
    assert_ok(cx, collet_array_read(cx, to, numbers, n * sizeof *numbers));
    collet_array_destroy(from);
    collet_array_destroy(to);
    return numbers;
}

/* The sums of the absolute values of the elements. */
static double *sizes_of(const trial *t, uint64_t seed, uint32_t output, size_t n)
{
    sample s;
    collet_array *outs[OUTPUTS];
    double *sizes = malloc(n * sizeof *sizes + 1);
    make_graph(&s, seed, 1);
    scalar_reduction(&s, t);
    write_inputs(&s, t);
    for (uint32_t k = 0; k < s.outputs; k++)
        assert_ok(cx, collet_array_create(cx, &outs[k], COLLET_F64, collet_array_ndim(t->outs[k]),
                                          collet_array_shape(t->outs[k])));
    assert_ok(cx, expression_evaluate(cx, s.e, outs, t->ins, NULL, 1));
    assert_ok(cx, collet_array_read(cx, outs[output], sizes, n * sizeof *sizes));
    for (uint32_t k = 0; k < s.outputs; k++)
        collet_array_destroy(outs[k]);
    collet_expression_destroy(s.e);
    return sizes;
}

static int near(double a, double b, double epsilon, double size)
{
    return a == b || (isnan(a) && isnan(b)) || isnan(size) || size > 1e300 ||
           fabs(a - b) <= 2 * epsilon * fabs(a) + 1e-15 * size;
}

/* Whether two results of output k differ only as much as a different order of summation can explain. */
static int same_sums(const sample *s, const trial *t, uint32_t k, const void *other, size_t n,
                     uint64_t seed)
{
    static const double epsilons[COLLET_DTYPE_COUNT] = {
        [COLLET_F16] = 0x1p-11, [COLLET_BF16] = 0x1p-8, [COLLET_F32] = 0x1p-24,
        [COLLET_F64] = 0x1p-53, [COLLET_C64] = 0x1p-24, [COLLET_C128] = 0x1p-53};
    double epsilon = epsilons[collet_array_dtype(t->outs[k])];
    int same =
        on_device && epsilon > 0 && (s->reduce == COLLET_OP_SUM || s->reduce == COLLET_OP_MEAN);
    if (!same)
        return 0;
    collet_c128 *a = numbers_of(t->outs[k], t->got[k], n), *b = numbers_of(t->outs[k], other, n);
    double *sizes = sizes_of(t, seed, k, n);
    for (size_t i = 0; i < n; i++)
        same &=
            near(a[i].re, b[i].re, epsilon, sizes[i]) && near(a[i].im, b[i].im, epsilon, sizes[i]);
    free(a);
    free(b);
    free(sizes);
    return same;
}

static void run_once(const sample *s, trial *t, int by_steps, uint64_t seed)
{
    write_inputs(s, t);
    const collet_array *ins[INPUTS];
    for (uint32_t i = 0; i < s->inputs; i++)
        ins[i] = s->number[i] && !by_steps ? NULL : t->ins[i];
    collet_status status = expression_evaluate(cx, s->e, t->outs, ins, t->numbers, by_steps);
    if (status != COLLET_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, collet_last_error(cx));
    for (uint32_t k = 0; k < s->outputs; k++) {
        const collet_array *a = t->outs[k];
        size_t n = (size_t)collet_array_size(a),
               size = n * collet_dtype_size(collet_array_dtype(a));
        unsigned char *bytes = malloc(size + 16);
        assert_ok(cx, collet_array_read(cx, a, bytes, size));
        settle(bytes, collet_array_dtype(a), n);
        if (!by_steps)
            t->got[k] = bytes;
        int same =
            !by_steps || !memcmp(bytes, t->got[k], size) || same_sums(s, t, k, bytes, n, seed);
        for (size_t i = 0; !same && i < size; i++)
            if (bytes[i] != t->got[k][i])
                fail_msg("seed %llu: output %u, %s, byte %zu of %zu: %02x and %02x",
                         (unsigned long long)seed, k, collet_dtype_name(collet_array_dtype(a)), i,
                         size, t->got[k][i], bytes[i]);
        if (by_steps)
            free(bytes);
    }
}

/* Converts a number to a dtype that scalar arguments may have. */
static collet_scalar widened(const void *bytes, collet_dtype d)
{
    collet_scalar s = {.dtype = d}, wide = {.dtype = COLLET_I64};
    memcpy(s.value.bytes, bytes, collet_dtype_size(d));
    switch (d) {
#define WIDEN(NAME, name, TO, to)                                                                  \
    case COLLET_##NAME:                                                                            \
        wide.dtype = COLLET_##TO;                                                                  \
        wide.value.to = s.value.name;                                                              \
        return wide;
        WIDEN(I8, i8, I64, i64)
        WIDEN(U8, u8, I64, i64)
        WIDEN(I16, i16, I64, i64)
        WIDEN(U16, u16, U64, u64)
        WIDEN(I32, i32, I64, i64)
        WIDEN(U32, u32, U64, u64)
        WIDEN(F32, f32, F64, f64)
    case COLLET_C64:
        wide.dtype = COLLET_C128;
        wide.value.c128 = (collet_c128){s.value.c64.re, s.value.c64.im};
        return wide;
    default:
        return s;
    }
}

static void make_inputs(const sample *s, trial *t, collet_array_spec *specs)
{
    static const int64_t extents[] = {1, 2, 3, 5, 7, 300, 0, 4};
    /* The order in which rows of 8 to 16 elements are added depends on the number of rows, which is smaller for an input
     * that is broadcast. */
    static const int64_t lengths[] = {1, 2, 3, 7, 17, 33, 130, 1000};
    int64_t base[COLLET_MAX_DIMS];
    int32_t ndim = (int32_t)below(4);
    for (int32_t i = 0; i < ndim; i++)
        base[i] = extents[below(i ? 5 + (below(6) == 0) : 8)];
    if (s->rows)
        base[ndim ? ndim - 1 : ndim++] = lengths[below(sizeof lengths / sizeof *lengths)];
    for (uint32_t i = 0; i < s->inputs; i++) {
        int32_t skip = i && below(2) ? (int32_t)below((uint32_t)ndim + 1) : 0;
        if (s->number[i])
            skip = ndim;
        specs[i] = (collet_array_spec){.dtype = s->dtypes[i], .ndim = ndim - skip};
        for (int32_t k = 0; k < ndim - skip; k++)
            specs[i].shape[k] = i && below(4) == 0 ? 1 : base[skip + k];
        t->in[i] = make_view(specs[i].dtype, specs[i].ndim, specs[i].shape);
        t->numbers[i] = widened(t->in[i].bytes, s->dtypes[i]);
        t->ins[i] = t->in[i].array;
    }
}

/* May make output k an input of the same dtype and shape, or that input reversed. */
static int alias(const sample *s, trial *t, uint32_t k, const collet_array_spec *out)
{
    for (uint32_t i = 0; below(2) && i < s->inputs; i++) {
        if (s->number[i])
            continue;
        const collet_array *a = t->ins[i];
        int taken = 0;
        for (uint32_t o = 0; o < k; o++)
            taken |= collet_array_dtype(t->outs[o]) == out->dtype; /* outputs must not overlap */
        if (taken || collet_array_dtype(a) != out->dtype || collet_array_ndim(a) != out->ndim ||
            memcmp(collet_array_shape(a), out->shape, (size_t)out->ndim * sizeof(int64_t)) != 0)
            continue;
        int64_t n = out->ndim ? out->shape[0] : 0;
        if (!n || below(2))
            assert_ok(cx, collet_array_reshape(cx, a, &t->out[k].array, out->ndim, out->shape));
        else
            assert_ok(cx, collet_array_slice(cx, a, &t->out[k].array, 0, n - 1, n, -1));
        t->out[k].whole = t->out[k].array;
        t->out[k].bytes = NULL;
        return 1;
    }
    return 0;
}

/* Inference with scalars must give the same outputs as with arrays without axes. */
static void infer_with_numbers(const sample *s, const trial *t, const collet_array_spec *ins,
                               const collet_array_spec *outs, uint64_t seed)
{
    collet_array_spec with[INPUTS], made[OUTPUTS];
    for (uint32_t i = 0; i < s->inputs; i++)
        with[i] = s->number[i]
                      ? (collet_array_spec){.dtype = t->numbers[i].dtype, .ndim = COLLET_ABSENT}
                      : ins[i];
    GOOD(infer_in_order(s->e, made, with, NULL));
    for (uint32_t k = 0; k < s->outputs; k++)
        if (made[k].dtype != outs[k].dtype || made[k].ndim != outs[k].ndim ||
            memcmp(made[k].shape, outs[k].shape, (size_t)outs[k].ndim * sizeof(int64_t)) != 0)
            fail_msg("seed %llu: output %u is inferred differently", (unsigned long long)seed, k);
}

static void compare(uint64_t seed)
{
    sample s;
    trial t;
    collet_array_spec ins[INPUTS], outs[OUTPUTS];
    collet_error err;
    make_graph(&s, seed, 0);
    make_inputs(&s, &t, ins);
    scalar_reduction(&s, &t);
    collet_status status = infer_in_order(s.e, outs, ins, &err);
    if (status != COLLET_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
    infer_with_numbers(&s, &t, ins, outs, seed);
    for (uint32_t k = 0; k < s.outputs; k++) {
        if (!alias(&s, &t, k, &outs[k]))
            t.out[k] = make_view(outs[k].dtype, outs[k].ndim, outs[k].shape);
        t.outs[k] = t.out[k].array;
    }
    int filled = 1;
    for (uint32_t i = 0; i < s.inputs; i++)
        for (int32_t k = 0; k < ins[i].ndim; k++)
            filled &= ins[i].shape[k] != 0;
    if (filled || !s.reduce) { /* a maximum of no elements is an error */
        feraiseexcept(FE_OVERFLOW | FE_UNDERFLOW); /* the next call must ignore these flags */
        run_once(&s, &t, 0, seed);
        feclearexcept(FE_OVERFLOW | FE_UNDERFLOW);
        run_once(&s, &t, 1, seed);
        for (uint32_t k = 0; k < s.outputs; k++)
            free(t.got[k]);
    }
    for (uint32_t k = 0; k < s.outputs; k++)
        free_view(&t.out[k]);
    for (uint32_t i = 0; i < s.inputs; i++)
        free_view(&t.in[i]);
    collet_expression_destroy(s.e);
}

static uint64_t first = 1, count = 200;

static int set_up_openmp(void **state)
{
    open_shared(OPENMP_PLUGIN, NULL, "cpu_openmp");
    return 0;
}

static int set_up_device(void **state)
{
    open_shared_device(plugins, on_device);
    return 0;
}

static void graphs(void **state)
{
    for (uint64_t seed = first; seed < first + count; seed++)
        compare(seed);
    compare(4708); /* a variance: floating-point flags that were set earlier once changed which kernel ran */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest on_a_device[] = {
        cmocka_unit_test_setup_teardown(graphs, set_up_device, tear_down)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(graphs, set_up_scalar, tear_down),
        cmocka_unit_test_setup_teardown(graphs, set_up_openmp, tear_down),
    };
    if (argc > 1)
        first = (uint64_t)atoll(argv[1]);
    if (argc > 1)
        count = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
    if (argc < 5)
        return cmocka_run_group_tests(tests, NULL, NULL);
    on_device = argv[3];
    plugins = argv[4];
    return cmocka_run_group_tests(on_a_device, NULL, NULL);
}
