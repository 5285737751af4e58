/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues one kernel with many different sizes at once. PoCL before version 6 aborts such a
 * process unless the backend orders its kernels. This test is a separate program, so that no kernel
 * has run before.
 */

#include "common/support.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 6
#define SIZES (ADDRESS_SANITIZER ? 8 : 40)

typedef struct shared {
    collet_runtime *runtime;
    _Atomic int64_t sizes;
    _Atomic int wrong;
} shared;

static void *work(void *argument)
{
    shared *s = argument;
    collet_context *cx = NULL;
    collet_error err;
    int wrong = collet_context_create(s->runtime, &cx, &err) || collet_set_backend(cx, "opencl");
    for (int i = 0; i < SIZES && !wrong; i++) {
        int64_t n = 2048 * (1 + atomic_fetch_add(&s->sizes, 1));
        OWNED(collet_array) *a = NULL, *b = NULL;
        wrong = collet_array_create(cx, &a, COLLET_F32, 1, &n) ||
                collet_array_create(cx, &b, COLLET_F32, 1, &n) || collet_op_add(cx, b, a, a) ||
                collet_op_add(cx, b, b, a) || collet_finish(cx);
    }
    s->wrong |= wrong;
    collet_context_destroy(cx);
    return NULL;
}

TEST(test_sizes)
{
    shared s = {.wrong = 0};
    collet_error err;
    pthread_t threads[THREADS];
    assert_int_equal(collet_runtime_create(&s.runtime, NULL, &err), COLLET_OK);
    collet_context *cx = NULL;
    assert_int_equal(collet_context_create(s.runtime, &cx, &err), COLLET_OK);
    int absent = collet_set_backend(cx, "opencl") != COLLET_OK;
    collet_context_destroy(cx);
    for (int i = 0; i < THREADS && !absent; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &s), 0);
    for (int i = 0; i < THREADS && !absent; i++)
        pthread_join(threads[i], NULL);
    collet_runtime_destroy(s.runtime);
    if (absent)
        skip();
    assert_int_equal(s.wrong, 0);
}
