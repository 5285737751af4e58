/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs with the validation layer over their backends. The layer reports nothing, even if
 * it is loaded twice, one above the other, and no child of fork hangs. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "common/support.h"
#include "fakes/remote/control.h"

#define PATH REMOTE_PLUGIN ":" SCALAR_PLUGIN ":" COLLET_TEST_PLUGINS "/validation.so"

static char said[4096];

static void keep(void *user, int32_t level, const char *text)
{
    if (!strncmp(text, "validation: ", 12))
        snprintf(said, sizeof said, "%s", text);
}

static collet_runtime *validated(const char *layers, const char *more)
{
    const char *const settings[] = {layers, more, NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = PATH, .log = keep, .settings = settings};
    collet_runtime *rt = NULL;
    collet_error err;
    assert_success(collet_runtime_create(&rt, &options, &err), err);
    return rt;
}

/* Computes c = a + a on two devices; returns 0 if the result is right. */
static int add_everywhere(collet_runtime *rt)
{
    static const char *const devices[] = {"cpu_scalar", "remote:0", "remote:1"};
    const float values[4] = {1, 2, 3, 4};
    const int64_t n = 4;
    collet_context *cx = NULL;
    collet_array *a = NULL;
    float got[4] = {0};
    int wrong = collet_context_create(rt, &cx, NULL) != COLLET_OK ||
                collet_array_from(cx, &a, COLLET_F32, 1, &n, values) != COLLET_OK;
    for (int i = 0; i < 3 && !wrong; i++)
        wrong = collet_set_backend(cx, devices[i]) != COLLET_OK ||
                collet_op_add(cx, a, a, a) != COLLET_OK;
    wrong = wrong || collet_array_read(cx, a, got, sizeof got) != COLLET_OK || got[3] != 32;
    collet_array_destroy(a);
    collet_context_destroy(cx);
    return wrong;
}

TEST(over_itself)
{
    collet_runtime *rt = validated("layers=validation,validation", NULL);
    assert_int_equal(add_everywhere(rt), 0);
    collet_runtime_destroy(rt);
    assert_string_equal(said, "");
}

static _Atomic int ended;

static void *work(void *rt)
{
    const int64_t n = 4;
    collet_context *cx = NULL;
    collet_array *a = NULL;
    int wrong = collet_context_create(rt, &cx, NULL) != COLLET_OK ||
                collet_set_backend(cx, "cpu_scalar") != COLLET_OK ||
                collet_array_from(cx, &a, COLLET_F32, 1, &n, (const float[4]){0}) != COLLET_OK;
    while (!wrong && !atomic_load(&ended))
        wrong = collet_op_add(cx, a, a, a) != COLLET_OK;
    collet_array_destroy(a);
    collet_context_destroy(cx);
    return wrong ? rt : NULL;
}

/* When the program forks, other threads may hold the locks of the layer. */
TEST(a_child_of_fork_works)
{
    pthread_t threads[2];
    collet_runtime *rt = validated("layers=validation", NULL);
    atomic_store(&ended, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, rt), 0);
    for (int i = 0; i < 40; i++) {
        int status = 0;
        pid_t child = fork();
        if (!child) {
            alarm(60);
            collet_runtime *own = validated("layers=validation", "probe=off");
            _exit(add_everywhere(own));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&ended, 1);
    for (int i = 0; i < 2; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    collet_runtime_destroy(rt);
    assert_string_equal(said, "");
}

static collet_status succeed(remote_control *c, remote_command *command)
{
    return COLLET_OK;
}

static void ignore(remote_control *c, uint64_t queue, uint64_t value, collet_status status)
{
}

/* Queue B waits for a read in queue A, and then a write in B is refused. The refused write does not use the buffer.
 * When B has finished, the read in A may still be in progress. */
TEST(a_refused_write_is_no_use)
{
    static remote_control control = {.enqueued = succeed, .waited = ignore};
    char setting[48];
    snprintf(setting, sizeof setting, "remote.control=%zx", (size_t)(void *)&control);
    world w = {.rt = validated("layers=validation", setting)};
    w.cx = context_of(w.rt);
    collet_context *other = context_of(w.rt);
    assert_ok(w.cx, collet_set_backend(w.cx, "remote:0"));
    assert_ok(other, collet_set_backend(other, "remote:0"));
    collet_array *x = floats(w.cx, 4, 1), *y = empty_floats(w.cx, 4), *z = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_op_add(w.cx, y, x, x));
    assert_ok(w.cx, collet_finish(w.cx));
    assert_ok(other, collet_op_add(other, z, x, x));
    assert_ok(w.cx, collet_array_write(w.cx, x, (const float[4]){0}, 4 * sizeof(float)));
    control.refused_writes = 1;
    assert_status(w.cx, collet_op_add(w.cx, y, x, x), COLLET_REFUSED);
    assert_int_equal(control.refused_writes, 0);
    assert_ok(w.cx, collet_finish(w.cx));
    collet_array_destroy(x);
    collet_array_destroy(y);
    collet_array_destroy(z);
    collet_context_destroy(other);
    close_world(w);
    assert_string_equal(said, "");
}
