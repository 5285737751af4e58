/* SPDX-License-Identifier: Apache-2.0 */
#include "common/failing_malloc.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collet/types.h>

_Atomic long allocation_countdown = -1;
long allocation_outstanding;
int allocation_failed;

static int fails(void)
{
    if (allocation_countdown < 0 || allocation_countdown-- != 0)
        return 0;
    allocation_failed = 1;
    signal(SIGSEGV, SIG_DFL); /* after a crash cmocka's handler would run more tests with locks held */
    errno = ENOMEM;
    return 1;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
void __real_free(void *p);
/* The wrappers are exported so that plugins use them too. */
#pragma GCC visibility push(default)
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
#pragma GCC visibility pop

static void *counted(void *p)
{
    allocation_outstanding += p != NULL;
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
    allocation_outstanding += p && !old;
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
    allocation_outstanding += length >= 0;
    return length;
}

char *__wrap_realpath(const char *path, char *out)
{
    return fails() ? NULL : counted(__real_realpath(path, out));
}

int __wrap_scandir(const char *path, struct dirent ***out, entry_filter filter, entry_order order)
{
    int count = fails() ? -1 : __real_scandir(path, out, filter, order);
    allocation_outstanding += count >= 0 ? count + 1 : 0;
    return count;
}

void __wrap_free(void *p)
{
    allocation_outstanding -= p != NULL;
    __real_free(p);
}
