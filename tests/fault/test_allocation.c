/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation number N fails, for N = 0, 1, ... until everything succeeds: each failure is a status
 * with a text, nothing leaks, and the next try starts clean. The linker sends the allocations of
 * libcore's objects through the wrappers below; leaks are counted by them and by the sanitizer.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

static long countdown = -1; /* allocations until one fails; -1: none does */
static long outstanding;
static int failed;

static int fails(void)
{
    if (countdown == 0) {
        failed = 1;
        countdown = -1;
        return 1;
    }
    if (countdown > 0)
        countdown--;
    return 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
int __wrap_asprintf(char **out, const char *format, ...) COLLET_PRINTF(2, 3);
char *__real_realpath(const char *path, char *out);
char *__wrap_realpath(const char *path, char *out);
typedef int (*entry_filter)(const struct dirent *);
typedef int (*entry_order)(const struct dirent **, const struct dirent **);
int __real_scandir(const char *path, struct dirent ***out, entry_filter filter, entry_order order);
int __wrap_scandir(const char *path, struct dirent ***out, entry_filter filter, entry_order order);
void __wrap_free(void *p);

static void *counted(void *p)
{
    outstanding += p != NULL;
    return p;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (fails())
        return NULL;
    void *p = __real_realloc(old, size);
    outstanding += p && !old;
    return p;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : counted(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t n)
{
    return fails() ? NULL : counted(__real_strndup(text, n));
}

int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list arguments;
    if (fails())
        return -1;
    va_start(arguments, format);
    int length = vasprintf(out, format, arguments);
    va_end(arguments);
    outstanding += length >= 0;
    return length;
}

char *__wrap_realpath(const char *path, char *out)
{
    return fails() ? NULL : counted(__real_realpath(path, out));
}

int __wrap_scandir(const char *path, struct dirent ***out, entry_filter filter, entry_order order)
{
    int count = fails() ? -1 : __real_scandir(path, out, filter, order);
    outstanding += count >= 0 ? count + 1 : 0;
    return count;
}

void __wrap_free(void *p)
{
    outstanding -= p != NULL;
    __real_free(p);
}

typedef struct session {
    collet_runtime *rt;
    collet_context *cx;
    collet_array *a, *b, *c, *view;
} session;

static collet_status calls(session *s, const char *backend)
{
    const int64_t shape[] = {2, 8}, eight = 8;
    float values[16] = {1, 2, 3, 4}, sink[16];
    collet_status status = collet_set_backend(s->cx, backend);
    if (status == COLLET_OK)
        status = collet_array_from(s->cx, &s->a, COLLET_F32, 2, shape, values);
    if (status == COLLET_OK)
        status = collet_array_from(s->cx, &s->b, COLLET_F32, 1, &eight, values);
    if (status == COLLET_OK)
        status = collet_array_create(s->cx, &s->c, COLLET_F32, 2, shape);
    if (status == COLLET_OK)
        status = collet_add(s->cx, s->c, s->a, s->b);
    if (status == COLLET_OK)
        status = collet_array_permute(s->cx, &s->view, s->c, NULL);
    if (status == COLLET_OK)
        status = collet_array_read(s->cx, s->view, sink, sizeof sink);
    return status;
}

static collet_status whole_session(const char *backend, collet_error *err)
{
    static const char *const settings[] = {"cache=off", "log=off", NULL};
    session s = {0};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = REMOTE_PLUGIN ":" SCALAR_PLUGIN,
                                      .settings = settings};
    collet_status status = collet_runtime_create(&s.rt, &options, err);
    if (status == COLLET_OK)
        status = collet_context_create(&s.cx, s.rt, err);
    if (status == COLLET_OK) {
        status = calls(&s, backend);
        if (status != COLLET_OK)
            collet_fail(err, status, "%s", collet_last_error(s.cx));
    }
    collet_array_free(s.a);
    collet_array_free(s.b);
    collet_array_free(s.c);
    collet_array_free(s.view);
    collet_context_destroy(s.cx);
    collet_runtime_destroy(s.rt);
    return status;
}

/*
 * A session that met a failing allocation either reports it or, where the failure cost it only a
 * plugin (which then is a record) or a note in a log, still succeeds.
 */
static void every_allocation_may_fail(const char *backend)
{
    collet_error err = {COLLET_OK, ""};
    long reported = 0, n = 0;
    assert_int_equal(whole_session(backend, &err), COLLET_OK);
    for (;; n++) {
        long before = outstanding;
        memset(&err, 0, sizeof err);
        failed = 0;
        countdown = n;
        collet_status status = whole_session(backend, &err);
        countdown = -1;
        if (outstanding != before)
            fail_msg("allocation %ld: %ld blocks leaked (%s)", n, outstanding - before, err.text);
        if (!failed) {
            assert_int_equal(status, COLLET_OK);
            break;
        }
        if (status != COLLET_OK && !err.text[0])
            fail_msg("allocation %ld: %s without a text", n, collet_status_name(status));
        reported += status != COLLET_OK;
    }
    print_message("%s: %ld allocations, %ld failures reported\n", backend, n, reported);
    assert_true(n > 30 && reported > 20);
}

static void on_host_memory(void **state)
{
    (void)state;
    every_allocation_may_fail("cpu_scalar");
}

static void on_device_memory(void **state)
{
    (void)state;
    every_allocation_may_fail("remote,cpu_scalar");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_host_memory),
        cmocka_unit_test(on_device_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
