/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/extensions.h - optional functions of a device, besides the slots of collet_plugin.
 *
 * An extension is a table of functions with a name, "collet.word/version" ("vendor.word/version"
 * for a vendor's own). When libcore has opened a device it calls collet_plugin.extension for each
 * extension that it knows. NULL means that the device does not have it; each comment below states
 * what libcore then does.
 *
 * Every table begins {struct_size, reserved}, is constant and lives until the device is closed.
 * Members are only appended; a change of existing members is a new version, under a new name.
 * libcore treats a table as absent, and logs an error, if it is shorter than in the first release
 * of its version, if `reserved` is not 0, or if a function is NULL. Functions that return
 * collet_status set err (never NULL) through host->fail on failure. The head of
 * plugin.h defines the tags of functions, and its rules for threads and queues hold here too; like
 * `run`, a function that enqueues may wait while a queue has no room. If NO_MEMORY is not among the
 * statuses of a function, REFUSED also means too little memory of the host.
 */
#ifndef COLLET_EXTENSIONS_H
#define COLLET_EXTENSIONS_H

#include <collet/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Statistics of a device's memory. Absent: collet_memory reports what libcore has allocated there.
 *
 * stats       [required; any thread] Fills *stats; struct_size is set by the caller and the rest is
 *             zero. Writes nothing beyond struct_size. FAILED, DEVICE_LOST.
 * reset_peak  [required; any thread] `peak` becomes `current`.
 */
#define COLLET_EXTENSION_MEMORY "collet.memory/1"
typedef struct collet_memory_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*stats)(collet_device *device, collet_memory_stats *stats, collet_error *err);
    void (*reset_peak)(collet_device *device);
} collet_memory_extension;

/*
 * libcore supplies this table (host->extension): how much of the host's memory the process may use. Devices that use
 * the host's memory report and use no more than this.
 *
 * read  [required; any thread] Sets *limit, as collet_memory_limit_read does.
 */
#define COLLET_EXTENSION_HOST_MEMORY "collet.host_memory/1"
typedef struct collet_host_memory_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*read)(collet_memory_limit *limit, collet_error *err);
} collet_host_memory_extension;

/*
 * libcore supplies this table (host->extension): the limit of collet_set_thread_limit.
 *
 * limit  [required; any thread] The most threads that a call may use, or 0: no limit. It may change at any
 *        time. Reading it takes a few nanoseconds: a backend reads it at the start of each call.
 */
#define COLLET_EXTENSION_HOST_THREADS "collet.host_threads/1"
typedef struct collet_host_threads_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    int32_t (*limit)(void);
} collet_host_threads_extension;

/*
 * Frees what a device keeps for later calls. Absent: collet_trim skips the device.
 *
 * trim  [required; any thread] Frees pooled memory, plans and compiled programs that are not in
 *       use; other threads may be using the device. May block.
 */
#define COLLET_EXTENSION_TRIM "collet.trim/1"
typedef struct collet_trim_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    void (*trim)(collet_device *device);
} collet_trim_extension;

/*
 * A clock of the device, to measure work without waiting for it. Absent: collet_timestamp_take
 * waits for the queue and reads the host's clock, as it does for devices without queues.
 *
 * stamp    [required; one a queue] *stamp becomes a stamp for the time at which everything enqueued
 *          in `queue` so far is done; later commands do not count. May enqueue a command; does not
 *          block. REFUSED, FAILED, NO_MEMORY: there is no stamp, and the queue goes on.
 *          DEVICE_LOST.
 * elapsed  [required; any thread] Nanoseconds from `first` to `last`, two stamps of the device,
 *          from any queues, which may have been destroyed; negative if `last` was earlier; accurate to 2 % plus 5
 *          microseconds. Before the call, queue_wait has reported a mark that was made after each stamp; the call may
 *          still wait until the stamps themselves are recorded. FAILED: the device recorded no time for one of them.
 *          DEVICE_LOST.
 * release  [required; last] Frees a stamp; NULL does nothing. Before the call, queue_wait has
 *          reported a later mark, or the queue was destroyed.
 */
#define COLLET_EXTENSION_TIMING "collet.timing/1"
typedef struct collet_stamp collet_stamp; /* opaque to libcore */
typedef struct collet_timing_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*stamp)(collet_device *device, collet_queue *queue, collet_stamp **stamp,
                           collet_error *err);
    collet_status (*elapsed)(collet_device *device, collet_stamp *first, collet_stamp *last,
                             int64_t *nanoseconds, collet_error *err);
    void (*release)(collet_device *device, collet_stamp *stamp);
} collet_timing_extension;

/*
 * Submits work that is repeated as a whole, for example as a CUDA graph. Absent: each call is submitted by itself.
 *
 * Between `begin` and `end` the device may hold back what `run` enqueues in the queue. Marks count it as enqueued. The device
 * submits it before any other command of the queue, and when another queue or the host waits for it, also with a limit of time; a
 * failure is reported by later waits. Calls of `run` have the same results as without a batch.
 *
 * begin  [required; one a queue] Begins a batch in the queue; a batch that has not ended ends first. `key` is never
 *        dereferenced: batches with the same key probably consist of the same kernels with other arguments.
 * end    [required; one a queue] Submits what is held back, and ends the batch; without a batch, does nothing.
 */
#define COLLET_EXTENSION_BATCH "collet.batch/1"
typedef struct collet_batch_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    void (*begin)(collet_device *device, collet_queue *queue, const void *key);
    void (*end)(collet_device *device, collet_queue *queue);
} collet_batch_extension;

/*
 * Copies directly from another device's memory. Absent, or one of the devices has no queues:
 * libcore copies through the host's memory, by buffer_read and buffer_write.
 *
 * between  [required; one a queue] Copies from `source` to `target`, a buffer of `device`. `source` is a buffer of the
 *          device `from` of the plugin `of`. `of` is this plugin, or a plugin whose name this plugin supports; this
 *          plugin may then call the collet.native/1 of `from`. The copy is ordered after the work in `queue` (of
 *          `device`) and in `from_queue` (of `from`), and before later work in either. Does not block. Enqueues in both
 *          queues: for the tag `one a queue` the call counts as a call for each of them. REFUSED, also if `from` is
 *          lost: nothing was enqueued, and libcore copies through the host's memory. DEVICE_LOST: `device` is lost. A
 *          failure, also of earlier work in `from_queue`, is reported by waits for both queues, or only by waits for
 *          `queue`. A mark that either queue makes after the copy is reached when the copy is over, even if that queue
 *          has failed.
 */
#define COLLET_EXTENSION_COPY "collet.copy/1"
typedef struct collet_copy_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*between)(collet_device *device, collet_queue *queue, collet_buffer *target,
                             uint64_t target_offset, const collet_plugin *of, collet_device *from,
                             collet_queue *from_queue, collet_buffer *source,
                             uint64_t source_offset, uint64_t bytes, collet_error *err);
} collet_copy_extension;

/*
 * Handles of the device's objects in the device's own programming interface, for programs that use that
 * interface besides collet.h. Absent: for this device the functions of collet.h for native handles return
 * UNSUPPORTED. Handles belong to the plugin and are valid as long as the object.
 *
 * device         [required; any thread] Fills *native; struct_size is set by the caller and the
 *                rest is zero. FAILED, DEVICE_LOST.
 * queue          [required; any thread] The handle of a queue. FAILED, DEVICE_LOST.
 * queue_used     [required; one a queue] libcore calls it after the program has enqueued commands
 *                through the queue's handle: the next queue_mark comes after them. REFUSED, FAILED,
 *                DEVICE_LOST.
 * buffer         [required; any thread] The handle of a buffer's memory: byte n of the buffer is
 *                byte n from the handle on. FAILED, DEVICE_LOST.
 * buffer_import  [required; any thread] Makes a buffer over `bytes` (> 0) bytes of the program's
 *                memory, from byte `offset` of `handle` on; they hold elements of `element` bytes.
 *                The memory belongs to the program and outlives the buffer, which buffer_free
 *                frees. INVALID: the plugin cannot use such memory, or cannot use it from there on;
 *                the text states why. NO_MEMORY, DEVICE_LOST.
 */
#define COLLET_EXTENSION_NATIVE "collet.native/1"
typedef struct collet_native_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*device)(collet_device *device, collet_native_device *native, collet_error *err);
    collet_status (*queue)(collet_device *device, collet_queue *queue, void **handle,
                           collet_error *err);
    collet_status (*queue_used)(collet_device *device, collet_queue *queue, collet_error *err);
    collet_status (*buffer)(collet_device *device, collet_buffer *buffer, void **handle,
                            collet_error *err);
    collet_status (*buffer_import)(collet_device *device, collet_buffer **buffer, void *handle,
                                   uint64_t offset, uint64_t bytes, uint32_t element,
                                   collet_error *err);
} collet_native_extension;

/*
 * Page-locked host memory: the device reads and writes it directly, so that transfers need no copy.
 * Absent: collet_pinned_create is UNSUPPORTED.
 *
 * alloc  [required; any thread] Allocates `bytes` (> 0) bytes, 64-byte aligned. *handle becomes the
 *        plugin's own handle for them. REFUSED: not enough is left. FAILED, DEVICE_LOST.
 * free   [required; last] Frees what alloc returned; no transfer uses it.
 */
#define COLLET_EXTENSION_PINNED "collet.pinned/1"
typedef struct collet_pinned_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*alloc)(collet_device *device, void **address, void **handle, uint64_t bytes,
                           collet_error *err);
    void (*free)(collet_device *device, void *address, void *handle);
} collet_pinned_extension;

/*
 * Reports which of several implementations a device uses for a call. Absent: collet_explain names only the kernel.
 *
 * explain  [required; any thread] Writes into text[0..capacity), capacity > 0, how the device would
 *          run *call: by which implementation or library, and why, with the measured figures. The kernel
 *          row has accepted the call, and its buffers are NULL. The text is one line without a full stop, ends
 *          with a NUL and is cut if it does not fit; "": there is only one implementation. Opens the
 *          libraries that the call would open. The thread has the locale C.
 */
#define COLLET_EXTENSION_EXPLAIN "collet.explain/1"
typedef struct collet_explain_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    void (*explain)(collet_device *device, const collet_kernel_call *call, char *text,
                    uint64_t capacity);
} collet_explain_extension;

#ifdef __cplusplus
}
#endif
#endif
