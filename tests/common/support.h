/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the unit tests of libcore: a runtime with chosen plugins, small arrays, and assertions
 * that print the context's error text on failure. */
#ifndef TESTS_COMMON_SUPPORT_H
#define TESTS_COMMON_SUPPORT_H

#include <collet/collet.h>
#include <collet/expression.h>
#include <collet/ops.h>

#include "common/test.h"
#include "common/unusual.h"

OWNS(collet_array, collet_array_destroy)
OWNS(collet_context, collet_context_destroy)
OWNS(collet_expression, collet_expression_destroy)
OWNS(collet_runtime, collet_runtime_destroy)

#define REMOTE_PLUGIN COLLET_TEST_REMOTE "/remote.so"
#define SCALAR_PLUGIN COLLET_TEST_PLUGINS "/cpu_scalar.so"
#define OPENMP_PLUGIN COLLET_TEST_PLUGINS "/cpu_openmp.so"

/* The call returns this status; then the context's error must contain each of the texts, if there are any. */
#define assert_status(cx, got, expected, ...)                                                      \
    assert_status_at(cx, got, expected, (const char *const[]){"", ##__VA_ARGS__, NULL}, __FILE__,  \
                     __LINE__)
static inline void assert_status_at(collet_context *cx, collet_status got, collet_status expected,
                                    const char *const *texts, const char *file, int line)
{
    if (got != expected)
        print_error("%s:%d: %s, not %s: %s\n", file, line, collet_status_name(got),
                    collet_status_name(expected), collet_last_error(cx));
    _assert_int_equal((uint64_t)got, (uint64_t)expected, file, line);
    if (texts[1])
        test_contains(collet_last_error(cx), texts, file, line);
}
#define assert_ok(cx, got) assert_status(cx, got, COLLET_OK)
#define assert_text_has(cx, ...) assert_contains(collet_last_error(cx), __VA_ARGS__)

/* Tests call this function if they count commands, timestamps and waits, or choose which command fails. Tests may run
 * with COLLET_TRACE, and a trace adds its own commands, timestamps and waits. */
static inline void without_trace(void)
{
    unsetenv("COLLET_TRACE");
}

/* Aborts the test when the validation layer reports a violation. */
static inline void stop_at_violation(void *user, int32_t level, const char *text)
{
    if (strncmp(text, "validation: ", 12) != 0)
        return;
    print_error("%s\n", text);
    abort();
}

static inline collet_runtime *runtime_with(const char *path, const char *const *settings)
{
    collet_runtime *rt = NULL;
    collet_error err = {COLLET_OK, ""};
    char searched[4096];
    const char *layer = getenv("COLLET_TEST_LAYER"); /* the file of a layer */
    if (layer) /* libcore must set its own floating-point state before it calls plugins */
        unusual_floating();
    snprintf(searched, sizeof searched, "%s%s%s", path ? path : "", layer ? ":" : "",
             layer ? layer : "");
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = path ? searched : NULL,
                                      .log = layer ? stop_at_violation : NULL,
                                      .settings = settings};
    if (collet_runtime_create(&rt, &options, &err) != COLLET_OK)
        fail_msg("collet_runtime_create: %s", err.text);
    return rt;
}

static inline collet_context *context_of(collet_runtime *rt)
{
    collet_context *cx = NULL;
    collet_error err = {COLLET_OK, ""};
    if (collet_context_create(rt, &cx, &err) != COLLET_OK)
        fail_msg("collet_context_create: %s", err.text);
    return cx;
}

/* A runtime and its context. */
typedef struct world {
    collet_runtime *rt;
    collet_context *cx;
} world;

/* If `backend` is NULL, the context keeps its default backend. */
static inline world open_world(const char *path, const char *const *settings, const char *backend)
{
    world w = {.rt = runtime_with(path, settings)};
    w.cx = context_of(w.rt);
    if (backend)
        assert_ok(w.cx, collet_set_backend(w.cx, backend));
    return w;
}

static inline void close_world(world w)
{
    collet_context_destroy(w.cx);
    collet_runtime_destroy(w.rt);
}

/* For OWNED(world). */
static inline void world_end(world *w)
{
    close_world(*w);
}

/* n f32 values start, start + 1, ... */
static inline collet_array *floats(collet_context *cx, int64_t n, float start)
{
    float values[64];
    collet_array *a = NULL;
    assert_true(n <= 64);
    for (int64_t i = 0; i < n; i++)
        values[i] = start + (float)i;
    assert_ok(cx, collet_array_from(cx, &a, COLLET_F32, 1, &n, values));
    return a;
}

static inline collet_array *empty_floats(collet_context *cx, int64_t n)
{
    collet_array *a = NULL;
    assert_ok(cx, collet_array_create(cx, &a, COLLET_F32, 1, &n));
    return a;
}

static inline void assert_floats(collet_context *cx, const collet_array *a, const float *expected)
{
    float got[64];
    size_t n = (size_t)collet_array_size(a);
    assert_true(n <= 64);
    assert_ok(cx, collet_array_read(cx, a, got, n * sizeof *got));
    for (size_t i = 0; i < n; i++)
        if (got[i] != expected[i])
            fail_msg("element %zu is %g, not %g", i, (double)got[i], (double)expected[i]);
}

static inline collet_counters counters_of(collet_context *cx)
{
    collet_counters c = {.struct_size = sizeof c};
    assert_ok(cx, collet_context_counters(cx, &c));
    return c;
}

#endif
