/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's malloc, which plugins call, too. This malloc counts the blocks that the watched object allocates, and
 * fails on demand. The return address of a call shows whether the call is from the watched object. Only with glibc;
 * sanitizers replace malloc themselves.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WATCHES 1
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef WATCHES
#endif
#endif
#endif

static const char *_Atomic watched_begin, *_Atomic watched_end;
static _Atomic int64_t live, countdown = -1;
static _Atomic int failed, threads_fail;

void allocation_watch(const char *begin, const char *end)
{
    watched_begin = begin;
    watched_end = end;
}

int64_t allocation_live(void)
{
    return live;
}

void allocation_fail(int64_t n)
{
    failed = 0;
    countdown = n;
}

bool allocation_has_failed(void)
{
    return failed;
}

void thread_creation_fail(bool fails)
{
    threads_fail = fails;
}

#ifdef WATCHES

bool allocation_watched(void)
{
    return true;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

/* The blocks of the watched object, a hash table with open addressing; GONE: a freed block. */
#define SLOTS ((size_t)1 << 17)
#define GONE ((void *)1)
static void *slots[SLOTS];
static atomic_flag slots_lock = ATOMIC_FLAG_INIT;
static _Atomic int any;

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&slots_lock, memory_order_acquire))
        continue;
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&slots_lock, memory_order_release);
}

static size_t slot_of(const void *p)
{
    return (size_t)(((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u >> 47);
}

static bool is_watched(const void *caller)
{
    const char *at = caller;
    return watched_begin && at >= watched_begin && at < watched_end;
}

static void *note(void *p, const void *caller)
{
    if (!p || !is_watched(caller))
        return p;
    lock();
    for (size_t i = 0, s = slot_of(p); i < SLOTS; i++, s = (s + 1) % SLOTS)
        if (!slots[s] || slots[s] == GONE) {
            slots[s] = p;
            live++;
            break;
        }
    any = 1;
    unlock();
    return p;
}

static void forget(const void *p)
{
    if (!p || !any)
        return;
    lock();
    for (size_t i = 0, s = slot_of(p); i < SLOTS && slots[s]; i++, s = (s + 1) % SLOTS)
        if (slots[s] == p) {
            slots[s] = GONE;
            live--;
            break;
        }
    unlock();
}

static bool fails(const void *caller)
{
    if (countdown < 0 || !is_watched(caller) || countdown-- != 0)
        return false;
    failed = 1;
    errno = ENOMEM;
    return true;
}

#define CALLER __builtin_return_address(0)

/* The dynamic linker resolves the plugin's calls to these functions of the program. */
#pragma GCC visibility push(default)
void *malloc(size_t size)
{
    return fails(CALLER) ? NULL : note(__libc_malloc(size), CALLER);
}

void *calloc(size_t count, size_t size)
{
    return fails(CALLER) ? NULL : note(__libc_calloc(count, size), CALLER);
}

void *realloc(void *old, size_t size)
{
    if (fails(CALLER))
        return NULL;
    forget(old);
    void *p = __libc_realloc(old, size);
    if (!p && size)
        note(old, CALLER);
    return note(p, CALLER);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(CALLER) ? NULL : note(__libc_memalign(alignment, size), CALLER);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(CALLER) ? NULL : note(__libc_memalign(alignment, size), CALLER);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *p = fails(CALLER) ? NULL : note(__libc_memalign(alignment, size), CALLER);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *p = fails(CALLER) ? NULL : note(__libc_malloc(size), CALLER);
    return p ? memcpy(p, text, size) : NULL;
}

void free(void *p)
{
    forget(p);
    __libc_free(p);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    typedef int (*create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static _Atomic(create_fn) create;
    if (!create) {
        create_fn found;
        void *symbol = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&found, &symbol, sizeof found);
        create = found;
    }
    if (threads_fail && is_watched(CALLER)) {
        failed = 1;
        return EAGAIN;
    }
    return create(thread, attributes, run, argument);
}
#pragma GCC visibility pop

#else

bool allocation_watched(void)
{
    return false;
}

#endif
