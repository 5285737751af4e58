/* SPDX-License-Identifier: Apache-2.0 */
/* Two contexts on two threads call ops of every family concurrently. The results equal the results of a
 * single caller, and neither context uses more threads than it was granted. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

#include "common/op_call.h"

#define GRANTED 3
#define CALLERS 2
#define ROUNDS 2
#define OPS_MAX 256

static collet_runtime *rt;

/* ---- Results of a single caller -------------------------------------------------------------- */

typedef struct reference {
    op_call call;
    void *outputs[COLLET_MAX_OPERANDS];
} reference;

static reference references[OPS_MAX];
static size_t reference_count;

/* Excludes outputs that are not unique: singular vectors and eigenvectors have any sign. */
static int is_unique(const op_call *c, uint32_t k)
{
    return !(c->info.id == COLLET_OP_SVD && k != 1 && k != 3) &&
           !(c->info.id == COLLET_OP_EIGH && k == 1);
}

/* Pseudorandom numbers; matrices are diagonally dominant. */
static void set_values(const op_call *c, uint32_t k, collet_context *cx)
{
    const op_operand *o = &c->operand[k];
    size_t bytes = op_call_bytes(c, k);
    FREED(float) *x = malloc(bytes);
    assert_non_null(x);
    op_call_values(c, k, x);
    int64_t n = o->ndim ? o->shape[o->ndim - 1] : 1;
    int square = o->ndim > 1 && o->axis[o->ndim - 1] == o->axis[o->ndim - 2];
    int64_t count = o->dtype == COLLET_F32 ? (int64_t)(bytes / sizeof *x) : 0;
    uint32_t state = 12345 + k;
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = 0.5f + (float)(state >> 8) * 0x1p-24f;
        if (square && i / n % n == i % n)
            x[i] += (float)n;
    }
    assert_ok(cx, collet_array_write(cx, c->array[k], x, bytes));
}

static void make_arrays(op_call *c, collet_context *cx)
{
    op_call_arrays(c, cx);
    for (uint32_t k = c->info.n_out; k < c->count; k++)
        set_values(c, k, cx);
}

static void *read_output(const op_call *c, uint32_t k, collet_context *cx)
{
    size_t bytes = op_call_bytes(c, k);
    void *values = malloc(bytes);
    assert_non_null(values);
    assert_ok(cx, collet_array_read(cx, c->array[k], values, bytes));
    return values;
}

static int set_up(void **state)
{
    static const char *const settings[] = {"num_threads=3", NULL};
    rt = runtime_with(OPENMP_PLUGIN, settings);
    collet_context *cx = context_of(rt);
    assert_ok(cx, collet_set_backend(cx, "cpu_openmp"));
    for (size_t i = 0; i < op_call_count(rt); i++) {
        reference *r = &references[reference_count++];
        assert_true(reference_count <= OPS_MAX);
        assert_true(op_call_describe(&r->call, rt, i, 0, 0));
        op_call_stretch(&r->call, ADDRESS_SANITIZER ? 12 : 24, ADDRESS_SANITIZER ? 60 : 200);
        make_arrays(&r->call, cx);
        assert_ok(cx, op_call_run(&r->call, cx));
        for (uint32_t k = 0; k < r->call.info.n_out; k++)
            r->outputs[k] = read_output(&r->call, k, cx);
        op_call_free(&r->call);
    }
    collet_context_destroy(cx);
    return 0;
}

static int tear_down(void **state)
{
    for (size_t i = 0; i < reference_count; i++) {
        for (uint32_t k = 0; k < references[i].call.info.n_out; k++)
            free(references[i].outputs[k]);
    }
    collet_runtime_destroy(rt);
    return 0;
}

/* ---- Results of concurrent callers ----------------------------------------------------------- */

typedef struct caller {
    int index;
    char wrong[200]; /* first failure; cmocka asserts only on the main thread */
} caller;

static _Atomic int callers_ready, max_threads;

static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && readdir(tasks))
        count++;
    if (tasks)
        closedir(tasks);
    return count - 2;
}

static void note_threads(void)
{
    int now = count_threads(), max = atomic_load(&max_threads);
    while (now > max && !atomic_compare_exchange_weak(&max_threads, &max, now))
        ;
}

/* Compares real and complex numbers with a tolerance relative to the largest number, other dtypes bit for bit. */
static int matches(const op_call *c, uint32_t k, const void *got, const void *expected)
{
    collet_dtype d = c->operand[k].dtype;
    int narrow = d == COLLET_F32 || d == COLLET_C64, wide = d == COLLET_F64 || d == COLLET_C128;
    size_t count = op_call_bytes(c, k) / (narrow ? sizeof(float) : sizeof(double));
    double largest = 0, worst = 0;
    if (!narrow && !wide)
        return !memcmp(got, expected, op_call_bytes(c, k));
    for (size_t i = 0; i < count; i++) {
        double x = narrow ? (double)((const float *)got)[i] : ((const double *)got)[i];
        double y = narrow ? (double)((const float *)expected)[i] : ((const double *)expected)[i];
        if (isnan(x) != isnan(y))
            return 0;
        largest = fmax(largest, isfinite(y) ? fabs(y) : 0);
        worst = fmax(worst, x == y || isnan(x) ? 0 : fabs(x - y));
    }
    return worst <= largest * (narrow ? 1e-4 : 1e-10);
}

static void run_one(caller *me, collet_context *cx, const reference *r)
{
    op_call c = r->call;
    make_arrays(&c, cx);
    collet_status status = op_call_run(&c, cx);
    if (status != COLLET_OK && !me->wrong[0])
        snprintf(me->wrong, sizeof me->wrong, "%.190s", collet_last_error(cx));
    for (uint32_t k = 0; k < c.info.n_out && status == COLLET_OK; k++) {
        FREED(void) *got = read_output(&c, k, cx);
        if (is_unique(&c, k) && !matches(&c, k, got, r->outputs[k]) && !me->wrong[0])
            snprintf(me->wrong, sizeof me->wrong,
                     "%s: output %u differs from the result of a single caller", c.info.name, k);
    }
    op_call_free(&c);
    note_threads();
}

/* Rounds alternate: both callers run the ops in the same order, or in opposite orders so that
 * different ops run concurrently. */
static void *call_everything(void *argument)
{
    caller *me = argument;
    collet_context *cx = context_of(rt);
    if (collet_set_backend(cx, "cpu_openmp") != COLLET_OK)
        snprintf(me->wrong, sizeof me->wrong, "%.190s", collet_last_error(cx));
    atomic_fetch_add(&callers_ready, 1);
    while (atomic_load(&callers_ready) < CALLERS)
        sched_yield();
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < reference_count && !me->wrong[0]; i++) {
            int backwards = me->index && round % 2;
            run_one(me, cx, &references[backwards ? reference_count - 1 - i : i]);
        }
    }
    collet_context_destroy(cx);
    return NULL;
}

TEST(two_contexts_call_at_once)
{
    pthread_t threads[CALLERS];
    caller callers[CALLERS] = {{.index = 0}, {.index = 1}};
    int before = count_threads();
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, call_everything, &callers[i]));
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(0, pthread_join(threads[i], NULL));
    for (int i = 0; i < CALLERS; i++) {
        if (callers[i].wrong[0])
            fail_msg("caller %d: %s", i, callers[i].wrong);
    }
    /* The limit counts each caller's team of threads, idle or not; test_team checks how many threads work at a time.
     * The threads of libraries were already started in set_up. */
    print_message("%d threads before, at most %d\n", before, atomic_load(&max_threads));
    assert_true(atomic_load(&max_threads) <= before + CALLERS * GRANTED);
}

TEST_GROUP(set_up, tear_down)
