/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that exit while a driver still compiles or runs commands. PoCL does so in its own threads,
 * and exit() would destroy objects that its compiler uses. Each try has an empty PoCL cache.
 * test_opencl_end [TRIES]: number of tries of each kind of exit.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "common/fixture.h"
#include "opencl_support.h"

#define CHOICE "opencl"

static int tries = 1;

static void enqueue(collet_context *in, int64_t n)
{
    collet_array *a = NULL;
    const collet_scalar s = {.dtype = COLLET_F32, .value.f32 = 1};
    assert_ok(in, collet_array_create(in, &a, COLLET_F32, 1, &n));
    assert_ok(in, collet_op_fill(in, a, &s));
    assert_ok(in, collet_op_add(in, a, a, a));
}

static void at_once(void)
{
    enqueue(cx, 1000000);
}

/* Runs other work first: objects that the compiler then creates are destroyed first at exit. */
static void after_other_work(void)
{
    enqueue(cx, 1000);
    assert_ok(cx, collet_finish(cx));
    enqueue(cx, 1000000);
}

static void *keep_on(void *unused)
{
    collet_context *own = context_of(rt);
    assert_ok(own, collet_set_backend(own, CHOICE));
    for (int64_t n = 1000;; n += 1000) {
        collet_array *a = NULL;
        const collet_scalar s = {.dtype = COLLET_F32, .value.f32 = 1};
        if (collet_array_create(own, &a, COLLET_F32, 1, &n) || collet_op_fill(own, a, &s) ||
            collet_op_add(own, a, a, a))
            break;
        collet_array_destroy(a);
    }
    return NULL;
}

static void while_others_compute(void)
{
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        pthread_create(&thread, NULL, keep_on, NULL);
    usleep(200000);
}

TEST(every_end)
{
    static void (*const ends[])(void) = {at_once, after_other_work, while_others_compute};
    for (int i = 0; i < tries * 3; i++) {
        char cache[] = "/tmp/collet-pocl-XXXXXX", command[64];
        int status = -1;
        assert_non_null(mkdtemp(cache));
        fflush(NULL);
        pid_t child = fork();
        if (!child) {
            alarm(120);
            setenv("POCL_CACHE_DIR", cache, 1);
            open_shared(OPENCL_PLUGIN, NULL, CHOICE);
            ends[i % 3]();
            exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        snprintf(command, sizeof command, "rm -rf %s", cache);
        assert_int_equal(system(command), 0);
        if (status)
            print_message("try %d, end %d: status %#x\n", i / 3, i % 3, (unsigned)status);
        assert_int_equal(status, 0);
    }
}

int main(int count, char **arguments)
{
    int status = 0;
    tries = count > 1 ? atoi(arguments[1]) : tries;
    pid_t child = fork(); /* a child cannot use a driver that its parent has used */
    if (!child)
        _exit(has_devices(1) ? 0 : SKIPPED);
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == SKIPPED ? SKIPPED : test_run();
}
