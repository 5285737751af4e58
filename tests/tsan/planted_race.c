/* SPDX-License-Identifier: Apache-2.0 */
/* A data race that the thread sanitizer must report: a kernel of a plugin reads wrapped memory while another
 * thread writes to it. It shows that the sanitizer sees kernels and programs. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include <collet/ops/array.h>

#define COUNT 1000

static float values[COUNT];
static atomic_int begun, done; /* used with relaxed order, so they do not order other accesses */

static void *write_values(void *user)
{
    for (int round = 0; !atomic_load_explicit(&done, memory_order_relaxed); round++) {
        for (int i = 0; i < COUNT; i++)
            values[i] = (float)round;
        atomic_store_explicit(&begun, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    const collet_runtime_options options = {.struct_size = sizeof options,
                                            .plugin_path = COLLET_TEST_PLUGINS "/cpu_scalar.so"};
    const int64_t shape[] = {COUNT};
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    collet_array *a = NULL, *b = NULL;
    pthread_t writer;

    if (collet_runtime_create(&runtime, &options, NULL) != COLLET_OK ||
        collet_context_create(runtime, &cx, NULL) != COLLET_OK ||
        collet_array_wrap(cx, &a, COLLET_F32, 1, shape, NULL, values, 0, NULL, NULL) != COLLET_OK ||
        collet_array_create(cx, &b, COLLET_F32, 1, shape) != COLLET_OK ||
        pthread_create(&writer, NULL, write_values, NULL))
        return 1;
    while (!atomic_load_explicit(&begun, memory_order_relaxed))
        sched_yield();
    for (int round = 0; round < 20; round++)
        if (collet_op_neg(cx, b, a) != COLLET_OK)
            return 1;
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    pthread_join(writer, NULL);
    collet_array_destroy(a);
    collet_array_destroy(b);
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return 0;
}
