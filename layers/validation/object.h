/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object - the devices, queues, buffers and stamps that the layer gives to libcore.
 *
 * A handle is a serial number and a kind, never an address, so that handles that were destroyed, or
 * are of another kind, are recognised. Every function may be called on any thread.
 */
#pragma once

#include <stdint.h>

typedef enum object_kind {
    OBJECT_DEVICE = 1,
    OBJECT_QUEUE = 2,
    OBJECT_BUFFER = 3,
    OBJECT_STAMP = 4
} object_kind;

/* The first member of every object. */
typedef struct object {
    struct object *next;
    uint64_t id;
    uint32_t users;   /* number of calls in progress that use it */
    uint32_t writers; /* number of these calls that write it */
    uint32_t gone;    /* 1: removed from the table; the last user frees it */
} object;

/* Gives an object a handle. */
void *object_add(object *o, object_kind kind);
/* Finds an object by its handle and counts one more user; NULL: no such handle. */
object *object_get(const void *handle, object_kind kind);
/* Finds any object of the kind and counts one more user; NULL: there is none. */
object *object_first(object_kind kind);
/* Removes a user. `o` may be NULL. */
void object_put(object *o);
/* Removes an object from the table, so that its handle is unknown. Its only user then frees it by
 * object_put. Returns 0 and does nothing if it has more users. */
int object_remove(object *o);

/* Marks the caller as a user that writes the object; 0 if another call reads or writes it. */
int object_write_begin(object *o);
/* Whether the caller may read the object: 0 if another call writes it. */
int object_read_allowed(const object *o);
void object_write_end(object *o);

/* Call these before and after fork, so that the lock is free in a child. */
void object_lock(void);
void object_unlock(void);

/* A text about a handle that object_get does not know. */
const char *object_unknown(const void *handle, object_kind kind);
