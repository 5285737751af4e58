/* SPDX-License-Identifier: Apache-2.0 */
/* collet/array.h - arrays: creating, views, reading and writing. collet/collet.h has the conventions. */
#ifndef COLLET_ARRAY_H
#define COLLET_ARRAY_H

#include <collet/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collet_array collet_array;

/*
 * An array is a view: dtype, shape, strides and offset of a storage that several views may share.
 * Strides count elements. Views never copy; the storage lives until its last view is destroyed.
 * A storage's bytes are valid in one or more memory spaces (the host's, a device's); they are
 * copied only to a space without a valid copy, and copied bytes are counted.
 */

/* A new C-contiguous array with undefined contents. ndim 0..COLLET_MAX_DIMS, extents >= 0. Its
 * memory is allocated in a memory space at the first use there: an array too large for any memory
 * can be created, and its first use fails (NO_MEMORY, REFUSED). INVALID, DTYPE, OVERFLOW (more
 * than 2^56 bytes; axes of extent 0 do not count), NO_MEMORY. */
COLLET_API collet_status collet_array_create(collet_context *context, collet_array **out,
                                             collet_dtype dtype, int32_t ndim,
                                             const int64_t *shape);
/* Like collet_array_create; the array holds a copy of the C-contiguous elements at `data`. */
COLLET_API collet_status collet_array_from(collet_context *context, collet_array **out,
                                           collet_dtype dtype, int32_t ndim, const int64_t *shape,
                                           const void *data);
/* The memory is not written: it may be constant or mapped read-only. Calls that would write the
 * array, collet_array_write and collet_array_acquire for writing are INVALID. */
#define COLLET_WRAP_READONLY 1u
/* The memory is shared for ever: see collet_array_is_shared. */
#define COLLET_WRAP_SHARED 2u
/*
 * An array over the caller's memory, not copied. `strides` NULL means C-contiguous; otherwise ndim
 * strides in elements. `data` is aligned to its element (8 bytes for c128) and covers every element
 * that shape and strides reach. `flags`: a sum of COLLET_WRAP_READONLY and COLLET_WRAP_SHARED, or
 * 0; others are INVALID. Memory that is wrapped twice is recognised as the same within one call; on
 * a device with memory of its own, two such arrays have separate copies. OVERFLOW also when the
 * strides span more than any address space; INVALID when elements, counted from `data`, would be
 * outside of the address space.
 *
 * Unless the memory is shared, the caller may access it, gaps between strided elements included, only
 * between collet_array_acquire and collet_array_release, until the array's storage is freed.
 * The call that destroys the last view waits for the work on the memory and copies to it what a
 * device computed. If that fails, the call logs an error and the memory holds undefined bytes; to
 * get a status, acquire and release the array before. Then `deleter` (may be NULL) is called once,
 * with `user`, on the thread of that call. It is not called when collet_array_wrap fails. If a lost device
 * may still be at work on the memory, `deleter` is called when the runtime is destroyed, or never
 * if the device hangs (setting `timeout`); until then the memory must not be freed. In a child of
 * fork the destroy function waits for nothing and copies nothing.
 */
COLLET_API collet_status collet_array_wrap(collet_context *context, collet_array **out,
                                           collet_dtype dtype, int32_t ndim, const int64_t *shape,
                                           const int64_t *strides, void *data, uint32_t flags,
                                           void (*deleter)(void *user), void *user);
/* Like collet_array_create; then every element is set to `value`, which is converted as the op `copy`
 * converts. Returns the errors of collet_op_fill too. For a complex or 64-bit integer value use collet_op_fill. */
COLLET_API collet_status collet_array_full(collet_context *context, collet_array **out,
                                           collet_dtype dtype, int32_t ndim, const int64_t *shape,
                                           double value);
/* Destroys the view. The storage is freed with its last view: see collet_array_wrap. */
COLLET_API void collet_array_destroy(collet_array *array);
/*
 * 1 if the array's memory is shared: others may read and write it at any time between two calls.
 * Memory is shared if it was wrapped with COLLET_WRAP_SHARED, if it belongs to a tensor of another
 * library (collet_array_from_dlpack), and as long as a tensor made with COLLET_SHARE exists
 * (collet_array_to_dlpack). All views of a storage share its memory. Copies of shared memory are
 * never reused: a call on a device copies the bytes to the
 * device each time, copies its results back and waits for that; a call on the host is over when it
 * returns. If the memory belongs to a device, this holds only for its copies in other memory
 * spaces; the caller must order all commands that use the memory itself.
 */
COLLET_API int32_t collet_array_is_shared(const collet_array *array);
/* 1 if the elements are valid only in the host's memory and nothing works on them, so that reading and writing them
 * there needs no copy and no wait. Any thread. */
COLLET_API int32_t collet_array_is_on_host(const collet_array *array);
/*
 * The address of the element with all indices 0, for access in the host's memory at once: no copy, no wait, no release.
 * `access` as for collet_array_acquire. NULL if that is impossible, because collet_array_is_on_host is 0, the view cannot be
 * written, or the setting layers=programs checks the program: acquire the array then. A new array without views is given
 * host memory if `access` is COLLET_WRITE. The address may be used until the next call, of any thread, that uses the storage.
 */
COLLET_API void *collet_array_host_address(collet_array *array, int32_t access);

COLLET_API collet_dtype collet_array_dtype(const collet_array *array);
COLLET_API int32_t collet_array_ndim(const collet_array *array);
COLLET_API const int64_t *collet_array_shape(const collet_array *array);
/* In elements. An axis of one element has the stride of a dense array; all strides of an array
 * without elements are 0. */
COLLET_API const int64_t *collet_array_strides(const collet_array *array);
COLLET_API int64_t collet_array_size(const collet_array *array); /* elements */
/* The runtime of the array's storage. Calls that use the array with a context of another runtime are
 * INVALID. */
COLLET_API collet_runtime *collet_array_runtime(const collet_array *array);

/* The following functions make views: the new array shares the storage. */
/* `count` elements of one axis: start, start + step, ...; `step` may be negative, and a negative `axis` counts from
 * the last axis. SHAPE when elements are outside of the axis. */
COLLET_API collet_status collet_array_slice(collet_context *context, const collet_array *array,
                                            collet_array **out, int32_t axis, int64_t start,
                                            int64_t count, int64_t step);
/* Element `index` of one axis, without that axis: a[index] for axis 0. A negative `axis` counts from the last axis, a
 * negative `index` from the last element. SHAPE when the element is outside of the axis. */
COLLET_API collet_status collet_array_select(collet_context *context, const collet_array *array,
                                             collet_array **out, int32_t axis, int64_t index);
/* Output axis i is input axis perm[i]; perm NULL reverses the axes. */
COLLET_API collet_status collet_array_permute(collet_context *context, const collet_array *array,
                                              collet_array **out, const int32_t *perm);
/* The diagonals of the last two axes: one axis, as long as the shorter of the two, replaces them. It has the
 * elements whose indices on both axes are equal. */
COLLET_API collet_status collet_array_diagonal(collet_context *context, const collet_array *array,
                                               collet_array **out);
/* All windows of `length` successive elements along `axis`. The view has one more axis, the last: the elements of a
 * window. Along `axis` the view has one element for each window, extent - length + 1 in all. SHAPE if `length` is less
 * than 1 or more than the axis' extent, or if the array already has COLLET_MAX_DIMS axes. */
COLLET_API collet_status collet_array_windows(collet_context *context, const collet_array *array,
                                              collet_array **out, int32_t axis, int64_t length);
/* The same elements in the same order with another shape; SHAPE if that needs a copy. */
COLLET_API collet_status collet_array_reshape(collet_context *context, const collet_array *array,
                                              collet_array **out, int32_t ndim,
                                              const int64_t *shape);
/* NumPy's broadcast_to; a view that repeats elements cannot be written. */
COLLET_API collet_status collet_array_broadcast(collet_context *context, const collet_array *array,
                                                collet_array **out, int32_t ndim,
                                                const int64_t *shape);

/* The real, or imaginary, parts of complex numbers: f32 for c64, f64 for c128. For an array of real numbers
 * collet_array_real is a view of all its elements, and collet_array_imag returns DTYPE. */
COLLET_API collet_status collet_array_real(collet_context *context, const collet_array *array,
                                           collet_array **out);
COLLET_API collet_status collet_array_imag(collet_context *context, const collet_array *array,
                                           collet_array **out);

/* The low bits of integers, as integers of `dtype`, which has w bits and is not wider than the array's dtype: each
 * element keeps its value modulo 2^w. DTYPE for other dtypes. */
COLLET_API collet_status collet_array_low(collet_context *context, const collet_array *array,
                                          collet_array **out, collet_dtype dtype);

/* Copies all elements, in C order, out of or into the array; `bytes` must be exactly their size.
 * Reading waits for the work that computes them. */
COLLET_API collet_status collet_array_read(collet_context *context, const collet_array *array,
                                           void *target, size_t bytes);
COLLET_API collet_status collet_array_write(collet_context *context, collet_array *array,
                                            const void *source, size_t bytes);

/* Copy one element out of or into the array. index: an index for each axis, from 0; NULL for an array without axes.
 * value: the element, in the array's dtype; collet_array_write_element returns DTYPE for a value of another dtype.
 * INVALID for an index that is out of range and for read-only memory. All elements of an array on a device are copied
 * to the host first; in the host's memory an element takes some 10 ns. */
COLLET_API collet_status collet_array_read_element(collet_context *context,
                                                   const collet_array *array, collet_scalar *value,
                                                   const int64_t *index);
COLLET_API collet_status collet_array_write_element(collet_context *context, collet_array *array,
                                                    const int64_t *index,
                                                    const collet_scalar *value);

/*
 * Writes the elements into text[0..capacity) for people, in NumPy's form: 8 digits, nested brackets, a line
 * for each row, no newline at the end. If the array has more than 1,000 elements, the text has three elements from each
 * end of each axis. A text that does not fit is cut. Only elements that are shown are read. INVALID: capacity 0.
 */
COLLET_API collet_status collet_array_text(collet_context *context, const collet_array *array,
                                           char *text, size_t capacity);

COLLET_ENUM(int32_t){
    COLLET_READ = 1, COLLET_WRITE = 2, COLLET_SHARE = 4, /* only for collet_array_to_dlpack */
};
/*
 * Makes the array's bytes valid in host memory, waits for work on them, and returns the address of
 * the first element, valid until collet_array_release. COLLET_WRITE makes the copies in other
 * memory spaces invalid. Until the release nothing may write the storage, and with COLLET_WRITE
 * nothing may use it (BUSY); an array may be acquired for reading several times at once.
 */
COLLET_API collet_status collet_array_acquire(collet_context *context, collet_array *array,
                                              void **address, int32_t access);
COLLET_API collet_status collet_array_release(collet_context *context, collet_array *array);

/* A hint that the array is used next in the memory of `device`: copies its bytes there unless they
 * are valid there. A copy to a device is enqueued in order with the context's work on that device,
 * and the call does not wait for the copy. The call waits for a copy to "host". BUSY while the
 * array is acquired for writing; INVALID, REFUSED, NO_MEMORY, FAILED, DEVICE_LOST. */
COLLET_API collet_status collet_array_prefetch(collet_context *context, collet_array *array,
                                               const char *device);

#ifdef __cplusplus
}
#endif
#endif
