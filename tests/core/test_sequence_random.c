/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random sequences against plain calls: each program of calls on random views is run call by call
 * on one set of arrays and as a sequence on another, whose arguments are replaced at random between
 * runs. All arrays must agree after every run. Seeds are fixed and printed on failure.
 *
 * test_sequence_random [backend] [count]
 */
#include <math.h>
#include <stdlib.h>

#include <collet/ops/array.h>

#include "common/support.h"

#define PLUGINS                                                                                    \
    REMOTE_PLUGIN ":" SCALAR_PLUGIN ":" OPENMP_PLUGIN ":" COLLET_TEST_PLUGINS                      \
                  "/opencl.so:" COLLET_TEST_PLUGINS "/cuda.so"
#define ARRAYS 5
#define SIZE 24
#define CALLS 12
#define RUNS 8

static uint64_t random_state;

static int pick(int below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)below);
}

/* Elements start, start + step, ... of array `number`. */
typedef struct part {
    int number, start, step;
} part;

typedef struct planned {
    int op, count;
    part parts[3];
} planned;

/* Where array i of the program is: in `spare`, or in its own place. */
typedef struct arrays {
    collet_array *own[ARRAYS], *spare[ARRAYS];
} arrays;

static planned plan(void)
{
    planned p = {pick(4), 1 + pick(SIZE / 2), {{0}}};
    for (int i = 0; i < 3; i++) {
        int step = pick(3) ? 1 : 2, reach = (p.count - 1) * step;
        if (reach >= SIZE) {
            step = 1;
            reach = p.count - 1;
        }
        int start = pick(SIZE - reach);
        if (!pick(4)) {
            start += reach;
            step = -step;
        }
        p.parts[i] = (part){pick(ARRAYS), start, step};
    }
    return p;
}

static collet_array *view_of(collet_context *cx, collet_array *const *where, part p, int count)
{
    collet_array *view;
    assert_ok(cx, collet_array_slice(cx, &view, where[p.number], 0, p.start, count, p.step));
    return view;
}

static void call(collet_context *cx, const planned *p, collet_array *const *where)
{
    collet_array *v[3];
    const collet_scalar half = {.dtype = COLLET_F32, .value.f32 = 0.5f};
    for (int i = 0; i < 3; i++)
        v[i] = view_of(cx, where, p->parts[i], p->count);
    if (p->op == 0)
        assert_ok(cx, collet_op_add(cx, v[0], v[1], v[2]));
    else if (p->op == 1)
        assert_ok(cx, collet_op_mul(cx, v[0], v[1], v[2]));
    else if (p->op == 2)
        assert_ok(cx, collet_op_copy(cx, v[0], v[1]));
    else
        assert_ok(cx, collet_op_fill(cx, v[0], &half));
    for (int i = 0; i < 3; i++)
        collet_array_destroy(v[i]);
}

/* The spare of an odd number is a part of a larger array. */
static collet_array *array_new(collet_context *cx, const float *values, int inside)
{
    float larger[2 * SIZE];
    collet_array *whole, *a;
    if (!inside)
        return floats(cx, SIZE, values[0]);
    for (int i = 0; i < 2 * SIZE; i++)
        larger[i] = values[i % SIZE];
    assert_ok(cx, collet_array_from(cx, &whole, COLLET_F32, 1, (int64_t[]){2 * SIZE}, larger));
    assert_ok(cx, collet_array_slice(cx, &a, whole, 0, 5, SIZE, 1));
    collet_array_destroy(whole);
    return a;
}

static void arrays_open(collet_context *cx, arrays *a)
{
    float values[SIZE];
    for (int i = 0; i < ARRAYS; i++) {
        for (int k = 0; k < SIZE; k++)
            values[k] = (float)(i + k) / 8;
        a->own[i] = array_new(cx, values, 0);
        a->spare[i] = array_new(cx, values, i % 2);
    }
}

static void arrays_free(arrays *a)
{
    for (int i = 0; i < ARRAYS; i++) {
        collet_array_destroy(a->own[i]);
        collet_array_destroy(a->spare[i]);
    }
}

static void compare(collet_context *cx, collet_array *const *got, collet_array *const *expected,
                    int seed, int run)
{
    float x[SIZE], y[SIZE];
    for (int i = 0; i < ARRAYS; i++) {
        assert_ok(cx, collet_array_read(cx, got[i], x, sizeof x));
        assert_ok(cx, collet_array_read(cx, expected[i], y, sizeof y));
        for (int k = 0; k < SIZE; k++)
            if (x[k] != y[k] && !(isnan(x[k]) && isnan(y[k])))
                fail_msg("seed %d, run %d: element %d of array %d is %g, not %g", seed, run, k, i,
                         (double)x[k], (double)y[k]);
    }
}

/* Program, recorded for `backend`, and which of its arrays are arguments. */
typedef struct recorded {
    planned calls[CALLS];
    int count, used[ARRAYS], slots;
    int argument[ARRAYS]; /* the array of each */
    collet_sequence *sequence;
} recorded;

static void record(collet_context *cx, recorded *r, const arrays *a)
{
    collet_array *arguments[ARRAYS];
    r->count = 1 + pick(CALLS);
    for (int i = 0; i < r->count; i++) {
        r->calls[i] = plan();
        int ins = r->calls[i].op < 2 ? 2 : r->calls[i].op == 2;
        for (int k = 0; k <= ins; k++)
            r->used[r->calls[i].parts[k].number] = 1;
    }
    assert_ok(cx, collet_sequence_begin(cx));
    for (int i = 0; i < r->count; i++)
        call(cx, &r->calls[i], a->own);
    for (int i = 0; i < ARRAYS; i++)
        if (r->used[i] && pick(3)) {
            r->argument[r->slots] = i;
            arguments[r->slots++] = a->own[i];
        }
    assert_ok(cx, collet_sequence_end(cx, &r->sequence, (uint32_t)r->slots, arguments));
}

/* Both sides: the arrays of this run, and a run. */
static void step(collet_context *cx, collet_context *plain, recorded *r, const arrays *a,
                 const arrays *model, int *in_spare)
{
    collet_array *arguments[ARRAYS], *where[ARRAYS];
    for (int k = 0; k < r->slots; k++) {
        int i = r->argument[k], before = in_spare[i];
        in_spare[i] = pick(2);
        arguments[k] = in_spare[i] ? a->spare[i] : a->own[i];
        if (before == in_spare[i] && pick(2))
            arguments[k] = NULL;
    }
    for (int i = 0; i < ARRAYS; i++)
        where[i] = in_spare[i] ? model->spare[i] : model->own[i];
    assert_ok(cx, collet_sequence_run(cx, r->sequence, arguments));
    for (int i = 0; i < r->count; i++)
        call(plain, &r->calls[i], where);
}

static void one_seed(collet_runtime *rt, const char *backend, int seed)
{
    collet_context *cx = context_of(rt), *other = context_of(rt), *plain = context_of(rt);
    arrays a, model;
    recorded r = {.slots = 0};
    int in_spare[ARRAYS] = {0};
    random_state = (uint64_t)seed;
    assert_ok(cx, collet_set_backend(cx, backend));
    assert_ok(plain, collet_set_backend(plain, "cpu_scalar"));
    arrays_open(cx, &a);
    arrays_open(plain, &model);
    record(cx, &r, &a);
    for (int run = 0; run < RUNS; run++) {
        step(pick(2) ? cx : other, plain, &r, &a, &model, in_spare);
        if (pick(2)) {
            compare(plain, a.own, model.own, seed, run);
            compare(plain, a.spare, model.spare, seed, run);
        }
        if (!pick(3)) { /* a plain call in between, on the sequence's device */
            planned p = plan();
            call(cx, &p, a.own);
            call(plain, &p, model.own);
        }
    }
    collet_sequence_destroy(r.sequence);
    compare(plain, a.own, model.own, seed, RUNS);
    compare(plain, a.spare, model.spare, seed, RUNS);
    arrays_free(&a);
    arrays_free(&model);
    collet_context_destroy(cx);
    collet_context_destroy(other);
    collet_context_destroy(plain);
}

static const char *backend;
static int seeds;

static void sequences_equal_plain_calls(void **state)
{
    (void)state;
    collet_runtime *rt = runtime_with(PLUGINS, NULL);
    collet_context *cx = context_of(rt);
    collet_status status = collet_set_backend(cx, backend);
    collet_context_destroy(cx);
    for (int seed = 1; status == COLLET_OK && seed <= seeds; seed++)
        one_seed(rt, backend, seed);
    collet_runtime_destroy(rt);
    if (status == COLLET_UNAVAILABLE)
        exit(77);
    assert_int_equal(status, COLLET_OK);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sequences_equal_plain_calls)};
    backend = argc > 1 ? argv[1] : "cpu_scalar";
    seeds = argc > 2 ? atoi(argv[2]) : 300;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
