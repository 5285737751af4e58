/* SPDX-License-Identifier: Apache-2.0 */
/* The value of an Array that is computed: a collet_array, shared by the Array and by the nodes that
 * read it. Values over the same elements (an array and its views) share a `memory`. The memory knows the
 * nodes that wait to read it: they are evaluated before the elements change. It also knows how many
 * evaluations read it without the GIL: a write waits for them. All functions need the GIL unless stated
 * otherwise. */
#pragma once

#include <stdatomic.h>

#include <collet/expression.h>

#include "src/base/python.h"

typedef struct node node;

/* An input of the node `node`: an entry in the list of readers of another node or of a memory. */
typedef struct reader reader;
struct reader {
    node *node;
    reader *next, **place; /* place: the pointer that points to this reader; NULL: in no list */
};

void reader_link(reader *r, reader **list);
void reader_unlink(reader *r);

typedef struct memory {
    uint32_t refs;
    uint32_t objects; /* Arrays over it */
    uint64_t generation;
    int64_t bytes;
    reader *readers;
    uint32_t writes;  /* writes that have begun */
    atomic_uint pins; /* evaluations that read it */
} memory;

typedef struct lazy_value {
    uint32_t refs;
    collet_array *array;
    memory *memory;      /* NULL: no node and no other value uses the memory */
    uint64_t generation; /* of the value's runtime */
    uint64_t serial;     /* grows with each new value */
    PyObject *object;    /* the Array, not a reference; NULL: only nodes use the value */
} lazy_value;

/* Makes a value that owns `array`; on failure `array` is freed. base: the value whose elements `array` views, or NULL.
 * NULL with an exception; if `array` is NULL, the exception is set already. */
lazy_value *value_new(collet_array *array, lazy_value *base);
/* The serial number of the newest value. */
uint64_t value_serial(void);
lazy_value *value_ref(lazy_value *v);
/* May release the GIL and wait. NULL is accepted. */
void value_unref(lazy_value *v);

/* Sets the Array that has the value, or NULL. */
void value_attach(lazy_value *v, PyObject *object);

/* Returns the memory of the value, made at the first call; NULL with an exception. */
memory *value_memory(lazy_value *v);
/* Add a reader to the value's memory, and remove one. value_memory was called before. */
void value_read_by(lazy_value *v, reader *r);
void value_not_read_by(lazy_value *v, reader *r);

/* The memories that an evaluation reads in addition to the operands of its caller, and how often each had been written
 * when it was added. */
typedef struct snapshot {
    uint32_t count;
    struct {
        memory *memory; /* a reference */
        uint32_t writes;
    } of[COLLET_EXPRESSION_INPUTS];
} snapshot;

/* Adds the memory of a value unless the snapshot has it already. value_memory was called before. */
void snapshot_add(snapshot *s, const lazy_value *v);
/* Copies a snapshot; the copy has its own references. */
void snapshot_copy(snapshot *to, const snapshot *from);
void snapshot_clear(snapshot *s);
/* 1: no memory was written since the snapshot was made; 0: one was. */
int snapshot_holds(const snapshot *s);
/* Pins all memories: writes wait until snapshot_unpin. The caller runs no Python code in this thread between the pin
 * and the begin of the work that unpins. */
void snapshot_pin(const snapshot *s);
/* Any thread, without the GIL too. */
void snapshot_unpin(const snapshot *s);

/* To be called before the memory is written: earlier snapshots of the memory become invalid. NULL is
 * allowed. */
void memory_begin_write(memory *m);
/* Waits until no evaluation has pinned the memory. 0, or -1 with an exception. */
int memory_wait_unpinned(memory *m);

/* Bytes of memories that have no Array any more and are kept only for nodes that wait to read them. */
int64_t value_held(void);
