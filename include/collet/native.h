/* SPDX-License-Identifier: Apache-2.0 */
/* collet/native.h - memory in common with devices' own interfaces and other libraries. collet/collet.h has the conventions. */
#ifndef COLLET_NATIVE_H
#define COLLET_NATIVE_H

#include <collet/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Native handles ---------------------------------------------------------------------- */

/*
 * For programs that use a device's own interface together with Collet, for example MPI or NCCL on device memory, or
 * their own kernels. UNSUPPORTED: the device offers no native handles. A device that works in the host's memory counts
 * as the host. Handles belong to libcore: do not free them.
 */

/* The device's context and number. They live as long as the runtime. */
COLLET_API collet_status collet_native_describe(collet_context *context,
                                                collet_native_device *native, const char *device);

/* The context's queue on the device, in which its work is done in order: a CUstream, a
 * cl_command_queue; NULL for the host and for synchronous devices. It lives as long as the context,
 * but after a failure of its work a new queue replaces it. */
COLLET_API collet_status collet_native_queue(collet_context *context, void **queue,
                                             const char *device);

/*
 * Like collet_array_acquire, in the memory of a device: makes the array's bytes valid there.
 * *handle becomes the memory (a CUdeviceptr, a cl_mem; for the host an address), *offset the byte
 * in it at which the first element begins. Does not wait, except on the host: commands that the program enqueues in
 * collet_native_queue come after the work on the bytes. Commands in other queues must wait for that queue, by means
 * of the device's interface. Until the release nothing may write the storage, and with COLLET_WRITE nothing may use
 * it (BUSY).
 *
 * The release takes the same context and device. All later work on the bytes comes after the commands that the
 * program enqueued in collet_native_queue; other commands of the program that use the bytes must be
 * over before the release. libcore does not learn of failures of the program's commands. Release
 * the array before it is destroyed.
 */
COLLET_API collet_status collet_array_acquire_on(collet_context *context, collet_array *array,
                                                 void **handle, uint64_t *offset,
                                                 const char *device, int32_t access);
COLLET_API collet_status collet_array_release_on(collet_context *context, collet_array *array,
                                                 const char *device);

/*
 * Like collet_array_wrap, over memory of a device: `handle` (as above) is the memory, `offset` the
 * byte in it at which the first element begins. All commands that use the memory must be over.
 * Memory that is wrapped twice is not recognised as the same. INVALID also when the device cannot use
 * that memory, or cannot use it from that byte on.
 */
COLLET_API collet_status collet_array_wrap_on(collet_context *context, collet_array **out,
                                              const char *device, collet_dtype dtype, int32_t ndim,
                                              const int64_t *shape, const int64_t *strides,
                                              void *handle, uint64_t offset, uint32_t flags,
                                              void (*deleter)(void *user), void *user);

/* ---- Page-locked memory ------------------------------------------------------------------ */

/*
 * `bytes` bytes of host memory that the system does not move, for arrays that go to and from a
 * device often: make an array over it (collet_array_wrap), and read and write through that array. *address is
 * 64-byte aligned; the memory's contents are undefined. Transfers to and from other devices of that backend may need a
 * copy. UNSUPPORTED: the device offers no such memory ("host" never does); use ordinary memory, which is as good.
 * REFUSED: not enough is left; page-locked memory is scarce, because the system cannot use it for anything else.
 * INVALID: 0 bytes, NULL.
 */
typedef struct collet_pinned collet_pinned;
COLLET_API collet_status collet_pinned_create(collet_context *context, collet_pinned **out,
                                              void **address, const char *device, size_t bytes);
/* Any thread. The arrays over the memory must have been destroyed before. NULL does nothing. */
COLLET_API void collet_pinned_destroy(collet_pinned *pinned);

/* ---- DLPack ------------------------------------------------------------------------------ */

/*
 * DLPack 1 shares the memory of arrays with other libraries, without a copy. The program includes
 * dlpack.h, which defines DLManagedTensorVersioned. DLPack can express every dtype of Collet.
 */
struct DLManagedTensorVersioned;

/*
 * A tensor over the array's elements in the memory of `device` ("host", "cuda:0"; NULL: where they
 * are), after waiting for the work on them. The array is acquired there (see collet_array_acquire)
 * until the tensor's deleter is called: with COLLET_READ the tensor is marked read-only; with
 * COLLET_WRITE the array cannot be used meanwhile (BUSY). With COLLET_SHARE the array is not
 * acquired: a tensor over the host's memory shares it (collet_array_is_shared), marked read-only
 * only if the array is read-only or repeats elements; on a device COLLET_SHARE is COLLET_READ. The
 * owner of the tensor calls its deleter once, on any thread, when the owner's commands on the
 * memory are over. The array may be destroyed before that. UNSUPPORTED: the device offers no native
 * handles, or DLPack has no device type for it. With COLLET_SHARE this is also the error if `device` is the
 * host, but the array's memory belongs to another library on a device. INVALID as collet_array_acquire.
 */
COLLET_API collet_status collet_array_to_dlpack(collet_context *context, collet_array *array,
                                                struct DLManagedTensorVersioned **tensor,
                                                const char *device, int32_t access);

/*
 * An array over the tensor's memory; the rules of collet_array_wrap and collet_array_wrap_on hold,
 * with COLLET_WRAP_READONLY if the tensor is marked read-only, and COLLET_WRAP_SHARED unless it is
 * marked as a copy. All commands on the memory must be over. libcore calls the tensor's deleter
 * when the last view of the array is destroyed; if this call fails, the tensor remains the
 * caller's. For a tensor in a device's memory, that device must be open or chosen in the context.
 * UNSUPPORTED: another major version, a dtype, ndim or device that libcore does not have. INVALID,
 * OVERFLOW, NO_MEMORY as for collet_array_wrap.
 */
COLLET_API collet_status collet_array_from_dlpack(collet_context *context, collet_array **out,
                                                  struct DLManagedTensorVersioned *tensor);

#ifdef __cplusplus
}
#endif
#endif
