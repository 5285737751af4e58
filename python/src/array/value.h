/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of an Array that is computed: a collet_array, shared by the Array and by the nodes that
 * read it. Values over the same elements (an array and its views) share a `memory`, which knows the
 * nodes that wait to read it: they are evaluated before the elements change. All functions need the GIL.
 */
#ifndef PYTHON_SRC_ARRAY_VALUE_H
#define PYTHON_SRC_ARRAY_VALUE_H

#include "src/base/python.h"

typedef struct node node;

/* An input of a node, in the list of what it reads. */
typedef struct reader reader;
struct reader {
    node *node;
    reader *next, **place; /* place: the pointer to this reader; NULL: in no list */
};

void reader_link(reader *r, reader **list);
void reader_unlink(reader *r);

typedef struct memory {
    uint32_t refs;
    uint32_t objects; /* Arrays on it */
    uint64_t generation;
    int64_t bytes;
    reader *readers;
} memory;

typedef struct lazy_value {
    uint32_t refs;
    collet_array *array;
    memory *memory;      /* NULL: nothing else uses it */
    uint64_t generation; /* of its runtime */
    PyObject *object;    /* the Array, not a reference; NULL: nodes alone have the value */
} lazy_value;

/* A value that owns `array`, which is freed on failure; over the elements of `base` unless that is NULL.
 * NULL with an exception; also for an array that is NULL. */
lazy_value *value_new(collet_array *array, lazy_value *base);
lazy_value *value_ref(lazy_value *v);
/* May release the GIL and wait. NULL is accepted. */
void value_unref(lazy_value *v);

/* The object that has the value, or NULL. */
void value_attach(lazy_value *v, PyObject *object);

/* Makes the value's memory known; NULL with an exception. */
memory *value_memory(lazy_value *v);
/* Adds a reader of the value, whose memory is known, and removes one. */
void value_read_by(lazy_value *v, reader *r);
void value_not_read_by(lazy_value *v, reader *r);

/* Bytes of memories whose Arrays are gone, which wait for nodes. */
int64_t value_held(void);

#endif
