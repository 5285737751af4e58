/* SPDX-License-Identifier: Apache-2.0 */
/* An array: an immutable view of a storage. */
#pragma once

#include "storage.h"

struct collet_array {
    storage *storage;
    collet_dtype dtype;
    int32_t ndim;
    int64_t size;       /* number of elements */
    uint64_t offset;    /* bytes from the storage's start to the element with all indices 0 */
    int64_t low, high;  /* elements reached, relative to offset: [low, high); 0, 0 if empty */
    int32_t contiguous; /* 1: C order without gaps */
    int32_t repeats;    /* 1: elements may share memory, so the view cannot be written */
    int32_t behind;     /* 1: the array is in the memory behind its storage */
    int64_t shape[COLLET_MAX_DIMS];
    int64_t strides[COLLET_MAX_DIMS];
};

/* 1 if writing the view writes every byte of its storage. */
static inline int array_is_whole(const collet_array *a)
{
    return a->contiguous && (uint64_t)a->size * collet_dtype_size(a->dtype) == a->storage->bytes;
}

/* 1 if two views have the same storage, offset, dtype, shape and strides. */
int array_same(const collet_array *a, const collet_array *b);
/* 1 if two views may share bytes. */
int array_overlaps(const collet_array *a, const collet_array *b);

/* Why the arrays (NULL: absent) cannot be the outputs of one call, as the end of a sentence about output *which. If
 * *other differs from *which, the sentence is about both outputs. NULL: they can. */
const char *array_refused_as_outputs(const collet_array *const *outs, uint32_t count,
                                     uint32_t *which, uint32_t *other);

/* Sets low and high from shape and strides; returns 0 on overflow of 64 bits. */
int array_reach(collet_array *a);
/* Sets contiguous and repeats from shape and strides. Gives strides of axes with at most one
 * element the values that plugin.h requires. Call it after array_reach. */
void array_settle(collet_array *a);
/* Adds the offset to *address; returns 0 if that is beyond the address space. */
static inline int array_address(void **address, uint64_t offset)
{
    uintptr_t sum;
    if (__builtin_add_overflow((uintptr_t)*address, offset, &sum))
        return 0;
    *address = (void *)sum;
    return 1;
}

/* Creates an array without a storage, for foreign memory; its elements span array_span bytes.
 * `what`: the function's name, for messages. */
collet_status array_wrapping(const char *what, collet_array **out, collet_dtype dtype, int32_t ndim,
                             const int64_t *shape, const int64_t *strides, uint32_t flags,
                             collet_error *err);
uint64_t array_span(const collet_array *a);

/* Applies the flags of collet_array_wrap to a new array; no other thread uses it yet. */
static inline void array_take_flags(collet_array *a, uint32_t flags)
{
    a->storage->readonly = flags & COLLET_WRAP_READONLY;
    atomic_init(&a->storage->shared, (flags & COLLET_WRAP_SHARED) != 0);
}

/* Creates a C-contiguous array; the text of an error goes to *err. */
collet_status array_create(collet_runtime *runtime, collet_array **out, collet_dtype dtype,
                           int32_t ndim, const int64_t *shape, collet_error *err);
/* Creates an array like `like`, at the same offset of the storage `s`. */
collet_status array_create_on(storage *s, collet_array **out, const collet_array *like,
                              collet_error *err);
