/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs of elementwise functions on cpu_openmp: `evaluate` gives the bits that calls of
 * the single ops give, whatever the dtypes, the broadcasting and the strides of the inputs, and when
 * an output is an input. Reductions at the end have the bits of the op.
 */
#include <math.h>

#include <collet/ops.h>

#include "common/fixture.h"

#define PROGRAMS 300
#define STEPS 24
#define INPUTS 4
#define CONSTANTS 3
#define VALUES (INPUTS + CONSTANTS + 2 * STEPS)
#define ELEMENTS (1 << 14)

typedef struct function {
    const char *name, *result, *kinds;
    uint32_t op, inputs;
} function;

static const function functions[] = {
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, ...)                             \
    {#name, #result, #kinds, COLLET_OP_##NAME, inputs},
#include <collet/ops/elementwise.def>
};

static uint64_t state_of_random;

static uint32_t random_below(uint32_t n)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state_of_random >> 33) % n);
}

static const struct {
    collet_dtype dtype;
    char kind;
} dtypes[] = {{COLLET_F32, 'W'}, {COLLET_F64, 'W'}, {COLLET_F16, 'F'},  {COLLET_BF16, 'F'},
              {COLLET_I8, 'I'},  {COLLET_U16, 'I'}, {COLLET_I32, 'I'},  {COLLET_U32, 'I'},
              {COLLET_I64, 'I'}, {COLLET_C64, 'C'}, {COLLET_C128, 'C'}, {COLLET_BOOL, 'B'}};
#define DTYPES (uint32_t)(sizeof dtypes / sizeof *dtypes)

/* A program under construction, and the array of each value. */
typedef struct trial {
    collet_program program;
    collet_dtype dtype[VALUES];
    collet_step steps[2 * STEPS];
    collet_scalar constants[CONSTANTS];
    uint16_t outs[2];
    collet_array *array[VALUES];
    collet_array *plain[INPUTS]; /* copies of the inputs in C order */
    int32_t ndim;
    int64_t shape[4];
} trial;

static uint32_t values_of(const trial *t)
{
    return t->program.n_in + t->program.n_constants + t->program.n_steps;
}

static int is_complex(collet_dtype dtype)
{
    return dtype == COLLET_C64 || dtype == COLLET_C128;
}

static double random_number(void)
{
    static const double odd[] = {
        0, -0.0, 1, -1, 1e-310, 1e30, (double)INFINITY, -(double)INFINITY, (double)NAN};
    return random_below(16) ? (double)random_below(4096) / 512 - 4 : odd[random_below(9)];
}

static collet_scalar random_scalar(collet_dtype dtype)
{
    collet_scalar x = {.dtype = dtype};
    double a = random_number();
    switch (dtype) {
    case COLLET_F32:
        x.value.f32 = (float)a;
        break;
    case COLLET_F64:
        x.value.f64 = a;
        break;
    case COLLET_C64:
        x.value.c64 = (collet_c64){(float)a, (float)random_number()};
        break;
    case COLLET_C128:
        x.value.c128 = (collet_c128){a, random_number()};
        break;
    case COLLET_BOOL:
        x.value.b8 = random_below(3) != 0;
        break;
    case COLLET_F16:
    case COLLET_BF16:
        x.value.f16 = (uint16_t)(0x3c00 + random_below(0x800) + (random_below(2) << 15));
        break;
    default:
        x.value.i64 = (int64_t)random_below(16) - 4;
        break;
    }
    return x;
}

/* A value of this dtype, if need be by a new step that converts another one; -1: none. */
static int value_of(trial *t, collet_dtype dtype)
{
    uint32_t count = values_of(t), start = random_below(count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = (start + i) % count;
        if (t->dtype[v] == dtype)
            return (int)v;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = (start + i) % count;
        if (is_complex(t->dtype[v]) != is_complex(dtype))
            continue;
        t->steps[t->program.n_steps++] =
            (collet_step){.op = COLLET_OP_COPY, .dtype = dtype, .in = {(uint16_t)v}};
        t->dtype[count] = dtype;
        return (int)count;
    }
    return -1;
}

static collet_dtype result_of(const function *f, collet_dtype dtype)
{
    switch (f->result[0]) {
    case 'B':
        return COLLET_BOOL;
    case 'C':
        return dtype == COLLET_F32 ? COLLET_C64 : COLLET_C128;
    case 'R':
        return dtype == COLLET_C64 ? COLLET_F32 : dtype == COLLET_C128 ? COLLET_F64 : dtype;
    default:
        return dtype;
    }
}

static void add_step(trial *t)
{
    const function *f = &functions[random_below(sizeof functions / sizeof *functions)];
    uint32_t d = random_below(DTYPES);
    char kind = dtypes[d].kind;
    if (!strchr(f->kinds, kind) && !(kind == 'W' && strchr(f->kinds, 'F')))
        return;
    collet_step step = {.op = f->op, .dtype = result_of(f, dtypes[d].dtype)};
    for (uint32_t k = 0; k < f->inputs; k++) {
        int v = value_of(t, f->result[0] == 'S' && f->result[1] == 'E' && k == 0 ? COLLET_BOOL
                                                                                 : dtypes[d].dtype);
        if (v < 0)
            return;
        step.in[k] = (uint16_t)v;
    }
    t->dtype[values_of(t)] = step.dtype;
    t->steps[t->program.n_steps++] = step;
}

/* Makes the array a view of itself whose axes are permuted. */
static void permute(collet_array **array, const int32_t *perm)
{
    collet_array *view;
    assert_ok(cx, collet_array_permute(cx, *array, &view, perm));
    collet_array_destroy(*array);
    *array = view;
}

/* An input with the trial's shape, or with some axes of one element; perhaps every second or
 * backwards along the last axis, and perhaps with the axes in another order in memory. */
static void make_input(trial *t, uint32_t v)
{
    static char bytes[ELEMENTS * 2 * 16];
    int64_t shape[4], count = 1, in_memory[4];
    int32_t last = t->ndim - 1, perm[4] = {0}, turn = (int32_t)random_below((uint32_t)t->ndim);
    int64_t way = (int64_t[]){1, 1, 2, -1}[random_below(4)];
    for (int32_t i = 0; i < t->ndim; i++) {
        shape[i] = random_below(4) ? t->shape[i] : 1;
        if (i == last && shape[i] > 1 && way == 2)
            shape[i] *= 2;
        count *= shape[i];
    }
    size_t size = (size_t)collet_dtype_size(t->dtype[v]);
    for (int64_t i = 0; i < count; i++) {
        collet_scalar x = random_scalar(t->dtype[v]);
        memcpy(bytes + (size_t)i * size, x.value.bytes, size);
    }
    for (int32_t i = 0; i < t->ndim; i++) {
        perm[i] = (i + turn) % t->ndim;
        in_memory[perm[i]] = shape[i];
    }
    collet_array *whole;
    assert_ok(cx, collet_array_from(cx, &whole, t->dtype[v], t->ndim, in_memory, bytes));
    permute(&whole, perm);
    t->array[v] = whole;
    if (shape[last] > 1 && way != 1) {
        assert_ok(cx, collet_array_slice(cx, whole, &t->array[v], last,
                                         way < 0 ? shape[last] - 1 : 0, t->shape[last], way));
        collet_array_destroy(whole);
    }
    assert_ok(cx, collet_array_create(cx, &t->plain[v], t->dtype[v], t->ndim,
                                      collet_array_shape(t->array[v])));
    assert_ok(cx, collet_op_copy(cx, t->plain[v], t->array[v]));
}

static void make_trial(trial *t)
{
    static const int64_t extents[] = {1, 2, 3, 3, 5, 64, 130, 700};
    *t = (trial){.ndim = 1 + (int32_t)random_below(3)};
    int64_t count = 1;
    for (int32_t i = 0; i < t->ndim; i++) {
        t->shape[i] = random_below(40) ? extents[random_below(8)] : 0;
        if (count * t->shape[i] > ELEMENTS)
            t->shape[i] = 1;
        count *= t->shape[i] ? t->shape[i] : 1;
    }
    t->program = (collet_program){.struct_size = sizeof t->program,
                                  .n_in = 1 + random_below(INPUTS),
                                  .n_constants = random_below(CONSTANTS + 1),
                                  .dtypes = t->dtype,
                                  .steps = t->steps,
                                  .outs = t->outs};
    for (uint32_t v = 0; v < t->program.n_in + t->program.n_constants; v++) {
        t->dtype[v] = dtypes[random_below(DTYPES)].dtype;
        if (v < t->program.n_in)
            make_input(t, v);
        else
            t->constants[v - t->program.n_in] = random_scalar(t->dtype[v]);
    }
    for (int32_t i = 0; i < t->ndim; i++) {
        int64_t extent = 1;
        for (uint32_t v = 0; v < t->program.n_in; v++)
            extent = collet_array_shape(t->array[v])[i] != 1 ? t->shape[i] : extent;
        t->shape[i] = extent;
    }
    uint32_t steps = 1 + random_below(STEPS);
    while (t->program.n_steps < steps)
        add_step(t);
    t->program.n_out = t->program.n_steps > 1 && random_below(3) == 0 ? 2 : 1;
    for (uint32_t k = 0; k < t->program.n_out; k++)
        t->outs[k] = (uint16_t)(values_of(t) - 1 - k);
}

/* Every step by a call of its own. */
static void run_steps(trial *t)
{
    const collet_program *p = &t->program;
    for (uint32_t c = 0; c < p->n_constants; c++)
        assert_ok(cx, collet_array_from(cx, &t->array[p->n_in + c], t->dtype[p->n_in + c], 0, NULL,
                                        t->constants[c].value.bytes));
    for (uint32_t i = 0; i < p->n_steps; i++) {
        collet_array *out;
        const collet_array *in[3];
        assert_ok(cx, collet_array_create(cx, &out, t->steps[i].dtype, t->ndim, t->shape));
        for (uint32_t k = 0; k < 3; k++)
            in[k] = t->steps[i].in[k] < p->n_in ? t->plain[t->steps[i].in[k]]
                                                : t->array[t->steps[i].in[k]];
        assert_ok(cx, collet_call(cx, t->steps[i].op, &out, in, NULL));
        t->array[p->n_in + p->n_constants + i] = out;
    }
}

/* Equal bits, or NaN in both. */
static void assert_same(collet_array *got, collet_array *wanted, const trial *t, int number)
{
    static char a[ELEMENTS * 16], b[ELEMENTS * 16];
    collet_dtype dtype = collet_array_dtype(got);
    size_t size = (size_t)collet_dtype_size(dtype);
    int64_t n = collet_array_size(got);
    assert_ok(cx, collet_array_read(cx, got, a, (uint64_t)n * size));
    assert_ok(cx, collet_array_read(cx, wanted, b, (uint64_t)n * size));
    size_t part = is_complex(dtype) ? size / 2 : size;
    for (size_t i = 0; i < (size_t)n * size; i += part) {
        collet_scalar x = {.dtype = dtype}, y = x;
        memcpy(x.value.bytes, a + i, part);
        memcpy(y.value.bytes, b + i, part);
        int nan = 0;
        if (dtype == COLLET_F32 || dtype == COLLET_C64)
            nan = isnan(x.value.f32) && isnan(y.value.f32);
        else if (dtype == COLLET_F64 || dtype == COLLET_C128)
            nan = isnan(x.value.f64) && isnan(y.value.f64);
        else if (dtype == COLLET_F16)
            nan = (x.value.f16 & 0x7fff) > 0x7c00 && (y.value.f16 & 0x7fff) > 0x7c00;
        else if (dtype == COLLET_BF16)
            nan = (x.value.f16 & 0x7fff) > 0x7f80 && (y.value.f16 & 0x7fff) > 0x7f80;
        if (nan || !memcmp(x.value.bytes, y.value.bytes, part))
            continue;
        print_error("program %d, element %zu of %s, shape %lld %lld %lld\n", number, i / size,
                    collet_dtype_name(dtype), (long long)t->shape[0], (long long)t->shape[1],
                    (long long)t->shape[2]);
        for (uint32_t k = 0; k < t->program.n_steps; k++)
            print_error("  step %u: op %u %s %u %u %u\n", values_of(t) - t->program.n_steps + k,
                        t->steps[k].op, collet_dtype_name(t->steps[k].dtype), t->steps[k].in[0],
                        t->steps[k].in[1], t->steps[k].in[2]);
        fail();
    }
}

/* Output 0 is an input where the program has one that fits. */
static int aliased_input(const trial *t)
{
    for (uint32_t v = 0; v < t->program.n_in; v++) {
        if (t->dtype[v] == t->dtype[t->outs[0]] && collet_array_ndim(t->array[v]) == t->ndim &&
            !memcmp(collet_array_shape(t->array[v]), t->shape, sizeof *t->shape * (size_t)t->ndim))
            return (int)v;
    }
    return -1;
}

static void run_program(const trial *t, int number, int in_place)
{
    collet_array *out[4] = {NULL};
    const collet_array *in[8] = {NULL};
    int alias = in_place ? aliased_input(t) : -1;
    const collet_evaluate_params params = {.struct_size = sizeof params,
                                           .program = &t->program,
                                           .constants =
                                               t->program.n_constants ? t->constants : NULL};
    for (uint32_t v = 0; v < t->program.n_in; v++)
        in[v] = t->array[v];
    for (uint32_t k = 0; k < t->program.n_out; k++) {
        if (k == 0 && alias >= 0)
            out[k] = t->array[alias];
        else
            assert_ok(cx,
                      collet_array_create(cx, &out[k], t->dtype[t->outs[k]], t->ndim, t->shape));
    }
    assert_ok(cx, collet_call(cx, COLLET_OP_EVALUATE, out, in, &params));
    for (uint32_t k = 0; k < t->program.n_out; k++) {
        assert_same(out[k], t->array[t->outs[k]], t, number);
        if (k > 0 || alias < 0)
            collet_array_destroy(out[k]);
    }
}

static void programs_give_the_bits_of_single_calls(void **state)
{
    (void)state;
    const char *seed = getenv("MACHINE_SEED"), *count = getenv("MACHINE_PROGRAMS");
    int first = seed ? atoi(seed) : 1, programs = count ? atoi(count) : PROGRAMS;
    for (int number = first; number < first + programs; number++) {
        static trial t;
        state_of_random = (uint64_t)number * 0x9e3779b97f4a7c15u;
        make_trial(&t);
        run_steps(&t);
        run_program(&t, number, 0);
        run_program(&t, number, 1);
        for (uint32_t v = 0; v < values_of(&t); v++)
            collet_array_destroy(t.array[v]);
        for (uint32_t v = 0; v < t.program.n_in; v++)
            collet_array_destroy(t.plain[v]);
    }
}

/* a * b reduced over `axes`, b one column: at once, and the array of products. */
static void assert_reduced(collet_dtype dtype, uint32_t op, int32_t ndim, const int64_t *shape,
                           uint32_t axes)
{
    const collet_dtype inputs[2] = {dtype, dtype};
    const collet_step product = {.op = COLLET_OP_MUL, .dtype = dtype, .in = {0, 1}};
    static const uint16_t out_value = 2;
    const collet_program program = {.struct_size = sizeof program,
                                    .n_in = 2,
                                    .n_steps = 1,
                                    .n_out = 1,
                                    .reduce = op,
                                    .dtypes = inputs,
                                    .steps = &product,
                                    .outs = &out_value};
    const collet_evaluate_params params = {
        .struct_size = sizeof params, .axes = axes, .program = &program};
    const collet_reduce_params reduce = {.struct_size = sizeof reduce, .axes = axes};
    collet_array *in[2], *products, *got[4] = {NULL}, *wanted;
    int64_t column[COLLET_MAX_DIMS], left[COLLET_MAX_DIMS];
    int32_t n = 0;
    trial t = {.shape = {shape[0], ndim > 1 ? shape[1] : 0, ndim > 2 ? shape[2] : 0}};
    for (int32_t i = 0; i < ndim; i++) {
        column[i] = i == ndim - 1 ? 1 : shape[i];
        if (!(axes >> i & 1))
            left[n++] = shape[i];
    }
    const collet_random_params uniform = {.struct_size = sizeof uniform, .seed = axes};
    assert_ok(cx, collet_array_create(cx, &in[0], dtype, ndim, shape));
    assert_ok(cx, collet_array_create(cx, &in[1], dtype, ndim, column));
    assert_ok(cx, collet_array_create(cx, &products, dtype, ndim, shape));
    assert_ok(cx, collet_array_create(cx, &got[0], dtype, n, left));
    assert_ok(cx, collet_array_create(cx, &wanted, dtype, n, left));
    for (int k = 0; k < 2; k++)
        assert_ok(cx, collet_call(cx, COLLET_OP_NORMAL, &in[k], NULL, &uniform));
    const collet_array *ins[8] = {in[0], in[1]}, *of_products = products;
    assert_ok(cx, collet_call(cx, COLLET_OP_MUL, &products, ins, NULL));
    assert_ok(cx, collet_call(cx, op, &wanted, &of_products, &reduce));
    assert_ok(cx, collet_call(cx, COLLET_OP_EVALUATE, got, ins, &params));
    assert_same(got[0], wanted, &t, (int)(op * 100 + axes));
    collet_array *all[] = {in[0], in[1], products, got[0], wanted};
    for (int k = 0; k < 5; k++)
        collet_array_destroy(all[k]);
}

static void reductions_have_the_bits_of_the_op(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 200003}, {1, 300, 701}, {9001, 5, 3}, {3, 7000, 4},
                                        {40, 50, 60},   {70001, 1, 2}, {5, 1, 9000}, {12, 9, 1}};
    static const uint32_t ops[] = {COLLET_OP_SUM, COLLET_OP_MEAN, COLLET_OP_MIN, COLLET_OP_MAX};
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t axes = 1; axes < 8; axes++) {
            int64_t results = 1;
            for (int32_t k = 0; k < 3; k++)
                results *= axes >> k & 1 ? 1 : shapes[i][k];
            if (results > ELEMENTS)
                continue;
            assert_reduced(COLLET_F64, ops[(axes + i) % 4], 3, shapes[i], axes);
            assert_reduced(COLLET_F32, ops[axes % 4], 3, shapes[i], axes);
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    open_shared(OPENMP_PLUGIN, NULL, NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_give_the_bits_of_single_calls),
        cmocka_unit_test(reductions_have_the_bits_of_the_op),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
