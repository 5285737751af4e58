/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs - checks how a program uses the interface (setting layers=programs): finds uses of destroyed objects, and
 * contexts that two threads use at once. A fault is logged, and the call has no effect.
 *
 * Every public function that takes objects begins with PROGRAM_CONTEXT or PROGRAM_CALL. While checking is off, this
 * costs one comparison.
 */
#pragma once

#include <stdatomic.h>
#include <stdlib.h>

#include "log.h"

/* 1: programs are checked. Set before the first object that is checked; only a child of fork clears it. */
extern _Atomic int programs_on;
static inline int programs_checked(void)
{
    return __builtin_expect(atomic_load_explicit(&programs_on, memory_order_relaxed), 0) != 0;
}

/* A call of a public function. */
typedef struct programs_scope {
    const char *function; /* NULL: the call is not checked */
    const void *caller;   /* the address to which the call returns */
    const void *context;  /* the context that the call has entered; NULL: none */
} programs_scope;

/* Begins a call. All `objects` must exist; NULL and unknown objects are skipped. With `enters` the first
 * object is a context, and no other thread may be in a call with this context. Returns 1 if the call has
 * to return; the error is in *err, or with `enters` in the context if it exists. */
int programs_enter(programs_scope *scope, collet_error *err, int enters, const void *const *objects,
                   size_t count);
void programs_left(programs_scope *scope);
static inline void programs_leave(programs_scope *scope)
{
    if (__builtin_expect(scope->function != NULL, 0))
        programs_left(scope);
}

#define PROGRAM_SCOPE(failed, err, enters, ...)                                                    \
    __attribute__((cleanup(programs_leave))) programs_scope program_scope = {NULL, NULL, NULL};    \
    if (programs_checked()) {                                                                      \
        const void *const program_objects[] = {__VA_ARGS__};                                       \
        program_scope.function = __func__;                                                         \
        program_scope.caller = __builtin_return_address(0);                                        \
        if (programs_enter(&program_scope, err, enters, program_objects,                           \
                           sizeof program_objects / sizeof *program_objects))                      \
            return failed;                                                                         \
    }
/* For a function whose first object is a context, which one thread uses at a time. After a fault the function
 * returns `failed`. */
#define PROGRAM_CONTEXT(failed, ...) PROGRAM_SCOPE(failed, NULL, 1, __VA_ARGS__)
/* For other functions. The error goes to `err`, as in programs_enter. */
#define PROGRAM_CALL(failed, err, ...) PROGRAM_SCOPE(failed, err, 0, __VA_ARGS__)

/* The outermost call that the thread is in; {NULL} while checking is off. */
programs_scope programs_here(void);
/* "collet_array_wrap (called at program+0x1234)" */
void programs_place(char *text, size_t capacity, const programs_scope *place);
/* INVALID if the object was destroyed. */
collet_status programs_exists(collet_error *err, const void *object);
/* Logs a fault in the call in which the thread is, and sets *err. Returns INVALID. */
collet_status programs_fault(collet_error *err, const char *format, ...) COLLET_PRINTF(2, 3);

/* Begins checking, but not in a child of fork; messages go to this log, or to stderr if it has no callback. */
void programs_begin(const message_log *log);
/* The log is not used any more. */
void programs_end_log(const message_log *log);

/* Notes a new object. `kind` is a static text. `error`: for a context, the place of its errors. */
void programs_add(const char *kind, const void *object, collet_error *(*error)(void *context));
/* Marks an object, whose memory others may still use, as destroyed by the program. 0 if the object was marked
 * before. */
int programs_destroyed(const void *object);
void programs_retire(void *object);
/* Frees the memory of an object. While programs are checked, frees it later, so that no other object soon has its
 * address. */
static inline void programs_free(void *object)
{
    if (programs_checked())
        programs_retire(object);
    else
        free(object);
}
static inline void programs_made(const char *kind, const void *object)
{
    if (programs_checked())
        programs_add(kind, object, NULL);
}
