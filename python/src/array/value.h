/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of an Array that is computed: a collet_array, shared by the Array and by the nodes that
 * read it. Values over the same elements (an array and its views) share a `memory`. The memory knows the
 * nodes that wait to read it: they are evaluated before the elements change. It also knows how many
 * evaluations read it without the GIL: a write waits for them. All functions need the GIL unless stated
 * otherwise.
 */
#ifndef PYTHON_SRC_ARRAY_VALUE_H
#define PYTHON_SRC_ARRAY_VALUE_H

#include <stdatomic.h>

#include <collet/expression.h>

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
    uint32_t writes;  /* writes that have begun */
    atomic_uint pins; /* evaluations that read it */
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

/* What an evaluation reads besides the operands of its caller, and how often it was written before. */
typedef struct snapshot {
    uint32_t count;
    struct {
        memory *memory; /* a reference */
        uint32_t writes;
    } of[COLLET_EXPRESSION_INPUTS];
} snapshot;

/* Adds the memory of a value, which is known, unless it is there. */
void snapshot_add(snapshot *s, const lazy_value *v);
/* The copy has references of its own. */
void snapshot_copy(snapshot *to, const snapshot *from);
void snapshot_clear(snapshot *s);
/* 1: all is as it was; 0: something was written since. */
int snapshot_holds(const snapshot *s);
/* Pins all memories: nobody writes them until snapshot_unpin. No code of Python runs in this thread before the
 * work begins that unpins them. */
void snapshot_pin(const snapshot *s);
/* Any thread, without the GIL too. */
void snapshot_unpin(const snapshot *s);

/* To be called before the memory is written: earlier snapshots of the memory become invalid. NULL is
 * allowed. */
void memory_begin_write(memory *m);
/* Waits until no evaluation has pinned the memory. 0, or -1 with an exception. */
int memory_wait_unpinned(memory *m);

/* Bytes of memories whose Arrays are gone, which wait for nodes. */
int64_t value_held(void);

#endif
