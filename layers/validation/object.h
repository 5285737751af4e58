/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object - the devices, queues, buffers and stamps that the layer hands to libcore.
 *
 * A handle is a serial number and a kind, never an address, so that handles that were destroyed, or
 * are of another kind, are recognised. Every function may be called on any thread.
 */
#ifndef LAYERS_VALIDATION_OBJECT_H
#define LAYERS_VALIDATION_OBJECT_H

#include <stdint.h>

typedef enum object_kind {
    OBJECT_DEVICE = 1,
    OBJECT_QUEUE = 2,
    OBJECT_BUFFER = 3,
    OBJECT_STAMP = 4
} object_kind;

/* First member of what is handed out. */
typedef struct object {
    struct object *next;
    uint64_t id;
    uint32_t users;   /* calls under way that name it */
    uint32_t writers; /* of these, those that write it */
    uint32_t gone;    /* taken out of the table; freed by the last user */
} object;

/* Gives it a handle. */
void *object_add(object *o, object_kind kind);
/* The object, which then has one user more, or NULL: no such handle. */
object *object_get(const void *handle, object_kind kind);
/* Any object of the kind, with one user more, or NULL. */
object *object_first(object_kind kind);
/* `o` may be NULL. */
void object_put(object *o);
/* Takes it out of the table: from now on its handle is unknown. `o` has one user, who frees it with
 * object_put. Returns 0 and does nothing if there are more. */
int object_remove(object *o);

/* Marks a user as one that writes; 0 if another call reads or writes it. */
int object_write_begin(object *o);
/* 0 if another call writes it. */
int object_read_allowed(const object *o);
void object_write_end(object *o);

/* Around fork, so that a child does not find the lock held. */
void object_lock(void);
void object_unlock(void);

/* Says what is wrong with a handle that object_get does not know. */
const char *object_unknown(const void *handle, object_kind kind);

#endif
