/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program: allocation number FAIL_AT of the program's first thread fails. */
#include <errno.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static int fails(void)
{
    static long left = -1;
    if (left < 0) {
        const char *at = getenv("FAIL_AT");
        left = at ? strtol(at, NULL, 10) : 0;
    }
    if (left != 1) {
        left -= left > 0;
        return 0;
    }
    left = 0;
    errno = ENOMEM;
    return 1;
}

#pragma GCC visibility push(default)
void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
#pragma GCC visibility pop
