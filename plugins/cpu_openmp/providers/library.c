/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_libraries.c, tests/cpu_openmp/test_symbol_clash.c,
 * tests/cpu_openmp/test_exit.c */
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A library calls its own functions by names that a program may define too: with RTLD_DEEPBIND the library finds its
 * own functions. Sanitizers do not allow that flag. */
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

/* A library that reads its settings in its constructor receives them only through the environment.
 * setenv may free the array that another thread's getenv reads at that moment. So while the library is
 * opened, `environ` points to another array, which holds the same strings and ours. Neither array is ever freed, so a
 * reader always finds a complete array.
 */
typedef struct extended {
    struct extended *next; /* a list of all such arrays, so that leak checkers see them as reachable */
    char **before;
    char **array, **copy; /* array: the new environment; copy: the original contents of `array`, to find changes */
    size_t count, ours;   /* the first `ours` strings are ours */
} extended;

static extended *all_extended;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* Extends the environment by `variables`. NULL: there is nothing to add, or out of memory; the environment is then
 * unchanged. */
static extended *extend(const char *const *variables)
{
    size_t count = 0, more = 0;
    char **before = environ;
    while (before && before[count])
        count++;
    while (variables && variables[more])
        more++;
    extended *s = more ? calloc(1, sizeof *s + 2 * (more + count + 1) * sizeof(char *)) : NULL;
    if (!s)
        return NULL;
    *s = (extended){.before = before, .count = more + count, .ours = more};
    s->array = (char **)(s + 1);
    s->copy = s->array + s->count + 1;
    for (size_t i = 0; i < more; i++)
        s->array[i] = (char *)(uintptr_t)variables[i];
    for (size_t i = 0; i < count; i++)
        s->array[more + i] = before[i];
    memcpy(s->copy, s->array, (s->count + 1) * sizeof(char *));
    s->next = all_extended;
    all_extended = s;
    __atomic_store_n(&environ, s->array, __ATOMIC_RELEASE);
    return s;
}

/* Removes our strings from `environment`, an array that the program has changed or made meanwhile. */
static void remove_ours(const extended *s, char **environment)
{
    char **kept = environment;
    for (char **variable = environment; *variable; variable++) {
        int ours = 0;
        for (size_t i = 0; i < s->ours; i++)
            ours |= *variable == s->copy[i];
        if (!ours)
            *kept++ = *variable;
    }
    *kept = NULL;
}

/* Restores the environment. If the program has changed it in between, in our array or in a larger copy, the changes
 * stay, and only our strings are removed. */
static void restore(const extended *s)
{
    if (!s)
        return;
    char **now = __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
    if (now == s->array && !memcmp(s->array, s->copy, (s->count + 1) * sizeof(char *)))
        __atomic_store_n(&environ, s->before, __ATOMIC_RELEASE);
    else if (now)
        remove_ours(s, now);
}

/* ---- Calls, fork() and exit() ---------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock; /* held during fork() */
    pthread_cond_t changed;
    int64_t groups; /* groups of calls in progress, on all threads */
    int forks;      /* calls of fork() that wait or are in progress */
    int64_t past;   /* forks that are over */
    int closed;     /* exit() has begun */
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Groups of this thread. If a signal handler calls exit() during a group of its own thread, exit() does not wait. */
static _Thread_local int64_t groups;

int library_enter(void)
{
    groups++;
    (void)pthread_mutex_lock(&calls.lock);
    while (calls.forks)
        (void)pthread_cond_wait(&calls.changed, &calls.lock);
    int open = !calls.closed;
    calls.groups += open;
    (void)pthread_mutex_unlock(&calls.lock);
    groups -= !open;
    return open;
}

void library_leave(void)
{
    (void)pthread_mutex_lock(&calls.lock);
    calls.groups--;
    if (calls.forks || calls.closed)
        (void)pthread_cond_broadcast(&calls.changed);
    (void)pthread_mutex_unlock(&calls.lock);
    groups--;
}

static void wait_for_others(void)
{
    while (calls.groups > groups)
        (void)pthread_cond_wait(&calls.changed, &calls.lock);
}

/* Handlers of pthread_atfork run before fork() in reverse order of their registration. Our handler is registered
 * again after each library is opened, so that it waits for calls before the library's own handler stops its
 * threads. */
static _Thread_local int handlers;

static void before_fork(void)
{
    if (handlers++)
        return;
    (void)pthread_mutex_lock(&calls.lock);
    calls.forks++;
    wait_for_others();
}

static void after_fork(void)
{
    if (--handlers)
        return;
    calls.forks--;
    calls.past++;
    (void)pthread_cond_broadcast(&calls.changed);
    (void)pthread_mutex_unlock(&calls.lock);
}

int64_t library_forks(void)
{
    return calls.past;
}

static int opened, forked;

int library_forked(void)
{
    return forked;
}

static void after_fork_in_child(void)
{
    forked = opened;
    if (--handlers)
        return;
    calls.forks = 0;
    calls.past++;
    (void)pthread_cond_init(&calls.changed, NULL);
    (void)pthread_mutex_unlock(&calls.lock);
}

static void before_exit(void)
{
    (void)pthread_mutex_lock(&calls.lock);
    calls.closed = 1;
    wait_for_others();
    (void)pthread_mutex_unlock(&calls.lock);
}

static pthread_once_t watched = PTHREAD_ONCE_INIT;
static int watching;

static int watch_forks(void)
{
    return pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
}

static void watch_first(void)
{
    watching = watch_forks() && atexit(before_exit) == 0;
}

/* ---- Libraries ------------------------------------------------------------------------------- */

void library_settle(library_choice *c, const library_settings *settings)
{
    (void)pthread_mutex_lock(&c->lock);
    if (!c->settled && settings)
        c->settings = *settings;
    c->settled = 1;
    (void)pthread_mutex_unlock(&c->lock);
}

void *library_open(const char *name, const char *const *variables)
{
    (void)pthread_once(&watched, watch_first);
    if (!watching)
        return NULL; /* out of memory */
    if (!library_enter())
        return NULL;
    (void)pthread_mutex_lock(&opening);
    opened = 1;
    extended *s = extend(variables);
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* threads that the library starts get no signals */
    void *handle = dlopen(name, OPEN_FLAGS);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    restore(s);
    (void)pthread_mutex_unlock(&opening);
    (void)atexit(before_exit);
    library_leave();
    return handle && watch_forks() ? handle : NULL;
}

void library_initialise(void (*first_call)(void))
{
    (void)pthread_once(&watched, watch_first);
    if (watching && library_enter()) {
        first_call();
        library_leave();
    }
}

void *library_loaded(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

/* ISO C does not convert the address of an object to the address of a function; POSIX allows it
     * through memory. */
int library_find(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);
    *(void **)function = address;
    return address != NULL;
}

int library_find_all(void *handle, const char *prefix, const library_symbol *symbols, size_t count,
                     void *functions)
{
    char name[64];
    int found = 1;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "%s%s", prefix, symbols[i].name);
        found &= library_find(handle, name, (char *)functions + symbols[i].offset);
    }
    return found;
}

void library_path(void *function, char *path, uint64_t capacity)
{
    Dl_info info;
    void *address = *(void **)function;
    path[0] = '\0';
    if (address && dladdr(address, &info) && info.dli_fname)
        (void)snprintf(path, (size_t)capacity, "%s", info.dli_fname);
}
