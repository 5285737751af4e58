/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A library calls its own functions by names that a program may define too: RTLD_DEEPBIND makes it
 * find its own. Sanitizers do not allow that flag. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#endif
#endif
#ifndef OPEN_FLAGS
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

/* ---- The environment of a constructor -------------------------------------------------------- */

/*
 * A library that reads its settings in its constructor receives them only through the environment.
 * setenv would do it, but may free the array that another thread's getenv walks at that moment. So
 * the constructor is shown another array: the same strings and ours. Both arrays stay where they
 * are for good, so whoever reads, at any time, reads a whole and living one.
 */
typedef struct showing {
    struct showing *next; /* every array that was ever shown, for tools that look for leaks */
    char **before;
    char **shown, **untouched; /* what others may have changed, and what it was */
    size_t count, ours;        /* ours: where our strings begin */
} showing;

static showing *showings;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static int is_set(char *const *environment, const char *variable)
{
    size_t length = strcspn(variable, "=") + 1;
    for (; environment && *environment; environment++)
        if (strncmp(*environment, variable, length) == 0)
            return 1;
    return 0;
}

/* NULL: nothing to add, or no memory; the library then sees the unchanged environment. */
static showing *show(const char *const *variables)
{
    size_t count = 0, more = 0;
    char **before = environ;
    while (before && before[count])
        count++;
    while (variables && variables[more])
        more++;
    showing *s = calloc(1, sizeof *s + 2 * (count + more + 1) * sizeof(char *));
    if (!s)
        return NULL;
    *s = (showing){.before = before, .shown = (char **)(s + 1), .count = count, .ours = count};
    s->untouched = s->shown + count + more + 1;
    for (size_t i = 0; i < count; i++)
        s->shown[i] = before[i];
    for (size_t i = 0; i < more; i++)
        if (!is_set(before, variables[i]))
            s->shown[s->count++] = (char *)(uintptr_t)variables[i];
    if (s->count == count) {
        free(s);
        return NULL;
    }
    memcpy(s->untouched, s->shown, (s->count + 1) * sizeof(char *));
    s->next = showings;
    showings = s;
    __atomic_store_n(&environ, s->shown, __ATOMIC_RELEASE);
    return s;
}

/* Removes our strings from an array that the program has taken over. */
static void forget(const showing *s, char **environment)
{
    char **kept = environment;
    for (char **variable = environment; *variable; variable++) {
        int ours = 0;
        for (size_t i = s->ours; i < s->count; i++)
            ours |= *variable == s->untouched[i];
        if (!ours)
            *kept++ = *variable;
    }
    *kept = NULL;
}

/* A program that changed its environment meanwhile, against all advice, keeps what it did: it has
 * written into the array that was shown, or copied it to a larger one. */
static void hide(const showing *s)
{
    if (!s)
        return;
    char **now = __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
    if (now == s->shown && !memcmp(s->shown, s->untouched, (s->count + 1) * sizeof(char *)))
        __atomic_store_n(&environ, s->before, __ATOMIC_RELEASE);
    else if (now)
        forget(s, now);
}

/* ---- Libraries ------------------------------------------------------------------------------- */

void *library_open(const char *name, const char *const *variables)
{
    (void)pthread_mutex_lock(&opening);
    showing *s = show(variables);
    void *handle = dlopen(name, OPEN_FLAGS);
    hide(s);
    (void)pthread_mutex_unlock(&opening);
    return handle;
}

void *library_loaded(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

/* ISO C has no conversion from an object's address to a function's; POSIX has it in memory. */
int library_find(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);
    *(void **)function = address;
    return address != NULL;
}

void library_path(void *function, char *path, uint64_t capacity)
{
    Dl_info info;
    void *address = *(void **)function;
    path[0] = '\0';
    if (address && dladdr(address, &info) && info.dli_fname)
        (void)snprintf(path, (size_t)capacity, "%s", info.dli_fname);
}
