/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_parts.c */
#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static _Atomic uint64_t allocations;

uint64_t bench_heap_allocations(void)
{
    return atomic_load_explicit(&allocations, memory_order_relaxed);
}

static void count(void)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

#ifdef SANITIZED

/* The sanitizers' interface (sanitizer/allocator_interface.h). */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *address, size_t bytes)
{
    (void)address;
    (void)bytes;
    count();
}

static void on_free(const volatile void *address)
{
    (void)address;
}

__attribute__((constructor)) static void hooks_install(void)
{
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}

#else

#define INTERPOSED __attribute__((visibility("default")))

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

INTERPOSED void *malloc(size_t bytes)
{
    count();
    return __libc_malloc(bytes);
}

INTERPOSED void *calloc(size_t number, size_t bytes)
{
    count();
    return __libc_calloc(number, bytes);
}

INTERPOSED void *realloc(void *memory, size_t bytes)
{
    count();
    return __libc_realloc(memory, bytes);
}

INTERPOSED void *aligned_alloc(size_t alignment, size_t bytes) __attribute__((alias("memalign")));

INTERPOSED void *memalign(size_t alignment, size_t bytes)
{
    count();
    return __libc_memalign(alignment, bytes);
}

INTERPOSED int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (alignment < sizeof(void *) || alignment & (alignment - 1))
        return EINVAL;
    count();
    void *taken = __libc_memalign(alignment, bytes);
    if (!taken)
        return ENOMEM;
    *memory = taken;
    return 0;
}

#endif

/* Reads the file without stdio, because stdio allocates memory. The second number of statm is resident pages. */
uint64_t bench_heap_resident(void)
{
    char text[128];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    char *at = text;
    strtoull(at, &at, 10);
    return strtoull(at, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}
