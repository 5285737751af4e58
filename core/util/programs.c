/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_programs.c */
#include "programs.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define BUCKETS 4096
#define KEPT 65536 /* destroyed objects that are remembered */

typedef struct record {
    struct record *next;  /* the next record in the same bucket */
    struct record *later; /* the object that was destroyed next */
    const void *object;
    const char *kind;
    uint64_t number;
    programs_scope made, destroyed; /* destroyed.function NULL: the program has not destroyed it */
    int gone;                       /* 1: the object's memory must not be used */
    collet_error *(*error)(void *context);
    pthread_t owner; /* for a context: the thread that uses it, while depth is not 0 */
    uint32_t depth;
    const char *inside;
} record;

_Atomic int programs_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static record *buckets[BUCKETS];
static record *oldest, *newest; /* the list of destroyed objects */
static size_t gone_count;
static uint64_t last_number;
static const message_log *output;
static int forked; /* 1: in a child of fork */
static _Thread_local programs_scope here;

/* ---- Records ----------------------------------------------------------------------------- */

static record **bucket(const void *object)
{
    return &buckets[((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u >> 52];
}

static record *find(const void *object)
{
    record *r = object ? *bucket(object) : NULL;
    while (r && r->object != object)
        r = r->next;
    return r;
}

static void drop_oldest(void)
{
    record *r = oldest, **link = bucket(r->object);
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    oldest = r->later;
    gone_count--;
    free((void *)(uintptr_t)r->object);
    free(r);
}

/* Ends checking in a child of fork, because another thread of the parent may have held the lock. */
static void in_child(void)
{
    forked = 1;
    atomic_store(&programs_on, 0);
}

void programs_begin(const message_log *log)
{
    static int prepared;
    if (forked)
        return;
    pthread_mutex_lock(&lock);
    if (!prepared)
        prepared = !pthread_atfork(NULL, NULL, in_child);
    output = log;
    atomic_store(&programs_on, prepared);
    pthread_mutex_unlock(&lock);
}

/* Reads the environment when libcore is loaded, because objects may be made before the first
 * runtime is. */
__attribute__((constructor)) static void begin_by_environment(void)
{
    static const char separators[] = ", \t", name[] = "programs";
    const char *at = secure_getenv("COLLET_LAYERS");
    while (at && *(at += strspn(at, separators))) {
        size_t length = strcspn(at, separators);
        if (length == strlen(name) && !memcmp(at, name, length))
            programs_begin(NULL);
        at += length;
    }
}

void programs_end_log(const message_log *log)
{
    pthread_mutex_lock(&lock);
    if (output == log)
        output = NULL;
    pthread_mutex_unlock(&lock);
}

/* Without memory the object is not checked. */
void programs_add(const char *kind, const void *object, collet_error *(*error)(void *context))
{
    pthread_mutex_lock(&lock);
    record *r = find(object); /* the record of an object that was freed elsewhere */
    if (!r && (r = calloc(1, sizeof *r))) {
        r->next = *bucket(object);
        *bucket(object) = r;
    }
    if (r)
        *r = (record){.next = r->next,
                      .object = object,
                      .kind = kind,
                      .number = ++last_number,
                      .made = here,
                      .error = error};
    pthread_mutex_unlock(&lock);
}

/* 0: the object was destroyed before. */
static int mark_destroyed(record *r)
{
    if (r->destroyed.function)
        return 0;
    r->destroyed = here;
    return 1;
}

void programs_retire(void *object)
{
    pthread_mutex_lock(&lock);
    record *r = find(object);
    if (r) {
        (void)mark_destroyed(r);
        r->gone = 1;
        *(newest ? &newest->later : &oldest) = r;
        newest = r;
        if (++gone_count > KEPT)
            drop_oldest();
    }
    pthread_mutex_unlock(&lock);
    if (!r)
        free(object);
}

/* ---- Messages ---------------------------------------------------------------------------- */

programs_scope programs_here(void)
{
    return here;
}

void programs_place(char *text, size_t capacity, const programs_scope *place)
{
    Dl_info file;
    const char *address = place->caller;
    text[0] = '\0';
    if (!place->function)
        snprintf(text, capacity, "a call that was not checked");
    else if (!address || !dladdr(address, &file) || !file.dli_fname)
        snprintf(text, capacity, "%s", place->function);
    else
        snprintf(text, capacity, "%s (called at %s+0x%tx)", place->function, file.dli_fname,
                 address - 1 - (const char *)file.dli_fbase);
}

/* "array 12, made by collet_array_create (called at program+0x1234), was destroyed by ..." */
static void describe(text_buffer *t, const record *r)
{
    char place[512];
    text_add(t, "%s %" PRIu64, r->kind, r->number);
    if (r->made.function) {
        programs_place(place, sizeof place, &r->made);
        text_add(t, ", made by %s", place);
    }
    if (r->destroyed.function) {
        programs_place(place, sizeof place, &r->destroyed);
        text_add(t, ", was destroyed by %s", place);
    }
}

static void report(const char *text)
{
    pthread_mutex_lock(&lock);
    message_log log = output ? *output : (message_log){NULL, NULL, 0};
    pthread_mutex_unlock(&lock);
    if (log.write)
        log_message(&log, COLLET_LOG_ERROR, "programs: %s", text);
    else
        fprintf(stderr, "collet: programs: %s\n", text);
}

collet_status programs_fault(collet_error *err, const char *format, ...)
{
    char place[512], fault[COLLET_ERROR_TEXT];
    va_list arguments;
    text_buffer t;
    va_start(arguments, format);
    text_message(fault, sizeof fault, format, arguments);
    va_end(arguments);
    programs_place(place, sizeof place, &here);
    text_clear(&t);
    text_add(&t, "%s: %s", place, fault);
    report(t.bytes);
    return collet_fail(err, COLLET_INVALID, "%s", t.bytes);
}

/* ---- Calls ------------------------------------------------------------------------------- */

/* Writes the first fault of the call's objects to `t`. Returns 1 if there is a fault. */
static int find_fault(text_buffer *t, const programs_scope *scope, int enters,
                      const void *const *objects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const record *r = find(objects[i]);
        if (r && r->gone) {
            describe(t, r);
            return 1;
        }
    }
    record *r = enters ? find(objects[0]) : NULL;
    if (r && r->depth && !pthread_equal(r->owner, pthread_self())) {
        text_add(t,
                 "another thread is in %s with the same context; a context belongs to one thread at "
                 "a time: ",
                 r->inside);
        describe(t, r);
        return 1;
    }
    if (r && !r->depth++) {
        r->owner = pthread_self();
        r->inside = scope->function;
    }
    return 0;
}

int programs_enter(programs_scope *scope, collet_error *err, int enters, const void *const *objects,
                   size_t count)
{
    text_buffer t;
    const programs_scope outer = here;
    text_clear(&t);
    pthread_mutex_lock(&lock);
    int fault = find_fault(&t, scope, enters, objects, count);
    const record *context = enters ? find(objects[0]) : NULL;
    collet_error *(*error)(void *) = context && !context->gone ? context->error : NULL;
    pthread_mutex_unlock(&lock);
    if (!outer.function)
        here = *scope;
    if (fault) {
        if (error)
            err = error((void *)(uintptr_t)objects[0]);
        programs_fault(err, "%s", t.bytes);
        here = outer;
        scope->function = NULL;
        return 1;
    }
    scope->context = context ? objects[0] : NULL;
    if (outer.function)
        scope->caller = NULL; /* this call is not the outermost */
    return 0;
}

void programs_left(programs_scope *scope)
{
    if (scope->caller)
        here = (programs_scope){NULL, NULL, NULL};
    if (!scope->context)
        return;
    pthread_mutex_lock(&lock);
    record *r = find(scope->context);
    if (r && r->depth)
        r->depth--;
    pthread_mutex_unlock(&lock);
}

collet_status programs_exists(collet_error *err, const void *object)
{
    text_buffer t;
    text_clear(&t);
    pthread_mutex_lock(&lock);
    int fault = find_fault(&t, NULL, 0, &object, 1);
    pthread_mutex_unlock(&lock);
    return fault ? programs_fault(err, "%s", t.bytes) : COLLET_OK;
}

int programs_destroyed(const void *object)
{
    text_buffer t;
    text_clear(&t);
    pthread_mutex_lock(&lock);
    record *r = find(object);
    if (r && !mark_destroyed(r))
        describe(&t, r);
    pthread_mutex_unlock(&lock);
    if (t.length)
        programs_fault(NULL, "%s", t.bytes);
    return !t.length;
}
