/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads on one runtime: they create contexts, open devices for the first time concurrently,
 * and share inputs between backends. During this, another thread frees their arrays and calls every
 * getter. Threads that take turns with one context read their own error texts. For the thread sanitizer.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "common/support.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN
#define WORKERS 6
#define ROUNDS 40
#define ELEMENTS 16

/* Arrays that other threads pass to the thread that frees them. */
typedef struct belt {
    pthread_mutex_t lock;
    collet_array *arrays[WORKERS * ROUNDS];
    size_t count;
} belt;

typedef struct meeting {
    collet_runtime *rt;
    collet_array *shared;
    belt freed;
    pthread_barrier_t start;
    atomic_int failures, done;
} meeting;

typedef struct worker {
    meeting *meeting;
    const char *backend;
} worker;

static void put(belt *b, collet_array *a)
{
    pthread_mutex_lock(&b->lock);
    b->arrays[b->count++] = a;
    pthread_mutex_unlock(&b->lock);
}

static collet_array *take(belt *b)
{
    pthread_mutex_lock(&b->lock);
    collet_array *a = b->count ? b->arrays[--b->count] : NULL;
    pthread_mutex_unlock(&b->lock);
    return a;
}

static int run_round(collet_context *cx, meeting *m)
{
    const int64_t n = ELEMENTS;
    collet_array *c = NULL, *back = NULL;
    float got[ELEMENTS];
    int ok = collet_array_create(cx, &c, COLLET_F32, 1, &n) == COLLET_OK &&
             collet_op_add(cx, c, m->shared, m->shared) == COLLET_OK &&
             collet_array_slice(cx, m->shared, &back, 0, n - 1, n, -1) == COLLET_OK &&
             collet_op_add(cx, c, c, back) == COLLET_OK &&
             collet_array_read(cx, c, got, sizeof got) == COLLET_OK && got[5] == 20.0f;
    collet_array_destroy(back);
    if (c)
        put(&m->freed, c);
    return ok;
}

/* Whether this thread reads the error texts of its own failures, from its context and from the runtime. */
static int own_texts(collet_context *cx, const meeting *m, int round, const char *name)
{
    char choice[64], op[128];
    uint32_t id;
    collet_error err;
    snprintf(choice, sizeof choice, "nobody_%d_%s", round, name + strlen(name) - 1);
    snprintf(op, sizeof op, "there is no op '%s'", choice);
    return collet_set_backend(cx, choice) == COLLET_UNKNOWN_BACKEND &&
           collet_ops_find(m->rt, &id, choice, &err) == COLLET_NOT_FOUND && strstr(err.text, op) &&
           strstr(collet_last_error(cx), choice);
}

static void *work(void *argument)
{
    const worker *me = argument;
    meeting *m = me->meeting;
    pthread_barrier_wait(&m->start);
    for (int i = 0; i < ROUNDS; i++) {
        OWNED(collet_context) *cx = NULL;
        if (collet_context_create(m->rt, &cx, NULL) != COLLET_OK ||
            collet_set_backend(cx, me->backend) != COLLET_OK || !run_round(cx, m) ||
            !own_texts(cx, m, i, me->backend) || collet_finish(cx) != COLLET_OK)
            atomic_fetch_add(&m->failures, 1);
    }
    atomic_fetch_add(&m->done, 1);
    return NULL;
}

/* Reads every returned string, so that the sanitizer detects concurrent changes. */
static size_t read_strings(const collet_runtime *rt)
{
    size_t sum = 0;
    for (size_t i = 0; i < collet_backend_count(rt); i++) {
        collet_backend_info b = {.struct_size = sizeof b};
        collet_backend_info_at(rt, &b, i, NULL);
        sum += strlen(b.name) + strlen(b.reason) + strlen(b.capabilities) + b.device_count;
        if (b.state == COLLET_BACKEND_USABLE && (!b.device_count || *b.reason))
            return 0;
    }
    for (size_t i = 0; i < collet_record_count(rt); i++) {
        collet_plugin_record r = {.struct_size = sizeof r};
        collet_record_at(rt, &r, i, NULL);
        sum += strlen(r.path) + strlen(r.reason);
    }
    for (size_t i = 0; i < collet_ops_count(rt); i++) {
        collet_ops_info o = {.struct_size = sizeof o};
        collet_ops_at(rt, &o, i, NULL);
        sum += strlen(o.name);
    }
    return sum;
}

static void *watch(void *argument)
{
    meeting *m = argument;
    uint32_t op;
    pthread_barrier_wait(&m->start);
    while (atomic_load(&m->done) < WORKERS) {
        collet_array_destroy(take(&m->freed));
        if (!read_strings(m->rt) || collet_ops_find(m->rt, &op, "remote.plus", NULL) != COLLET_OK)
            atomic_fetch_add(&m->failures, 1);
    }
    return NULL;
}

static void everything_at_once(const char *const *settings)
{
    static const char *const backends[WORKERS] = {"remote:0", "cpu_scalar",          "remote:1",
                                                  "auto",     "remote:1,cpu_scalar", "remote:0"};
    meeting m = {.rt = runtime_with(BOTH, settings)};
    worker workers[WORKERS];
    pthread_t threads[WORKERS + 1];
    /* The shared input needs a context, which opens its chosen device before the threads start. */
    collet_context *cx = context_of(m.rt);
    m.shared = floats(cx, ELEMENTS, 0);
    collet_context_destroy(cx);
    pthread_mutex_init(&m.freed.lock, NULL);
    pthread_barrier_init(&m.start, NULL, WORKERS + 1);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){&m, backends[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    assert_int_equal(pthread_create(&threads[WORKERS], NULL, watch, &m), 0);
    for (int i = 0; i <= WORKERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&m.failures), 0);
    collet_runtime_destroy(m.rt);
    for (collet_array *a; (a = take(&m.freed));)
        collet_array_destroy(a);
    collet_array_destroy(m.shared);
    pthread_barrier_destroy(&m.start);
    pthread_mutex_destroy(&m.freed.lock);
}

TEST(on_proven_backends)
{
    static const char *const settings[] = {"remote.delay_us=20", "backend=cpu_scalar", NULL};
    everything_at_once(settings);
}

TEST(on_unopened_backends)
{
    static const char *const settings[] = {"probe=off", "backend=cpu_scalar", NULL};
    for (int i = 0; i < 5; i++)
        everything_at_once(settings);
}

/* ---- Error texts ------------------------------------------------------------------------- */

typedef struct turns {
    collet_context *cx;
    pthread_mutex_t turn;
    atomic_int next, wrong;
} turns;

/* Reads its own text while other threads use the context. */
static void *fail_in_turn(void *argument)
{
    turns *t = argument;
    char name[32];
    int number = atomic_fetch_add(&t->next, 1);
    int wrong = *collet_last_error(t->cx) || collet_last_status(t->cx) != COLLET_OK;
    snprintf(name, sizeof name, "backend_of_thread_%d", number);
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(&t->turn);
        collet_status status = collet_set_backend(t->cx, i % 2 ? name : NULL);
        pthread_mutex_unlock(&t->turn);
        wrong += status != collet_last_status(t->cx) ||
                 !strstr(collet_last_error(t->cx), i % 2 ? name : "the choice is NULL");
    }
    atomic_fetch_add(&t->wrong, wrong);
    return NULL;
}

TEST(threads_have_their_own_texts)
{
    pthread_t threads[WORKERS];
    OWNED(world) w = open_world(BOTH, NULL, "cpu_scalar");
    turns t = {.cx = w.cx, .turn = PTHREAD_MUTEX_INITIALIZER};
    /* The threads of the second round have the same values of pthread_t as the threads of the first round. */
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < WORKERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, fail_in_turn, &t), 0);
        for (int i = 0; i < WORKERS; i++)
            pthread_join(threads[i], NULL);
    }
    assert_int_equal(t.wrong, 0);
    assert_string_equal(collet_last_error(w.cx), "");
}
