/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/extensions.h - what a device may offer beyond the slots of collet_plugin.
 *
 * An extension is a table of functions with a name, "collet.word/version" (an extension of a
 * vendor's: "vendor.word/version"). libcore asks for those that it knows, by
 * collet_plugin.extension, when it has opened a device; NULL means that the device has none, and
 * each comment below tells what libcore then does.
 *
 * Every table begins {struct_size, reserved}, is constant and lives until the device is closed.
 * Members are only appended; a change of those that are there is a new version, under a new name. A
 * table that is shorter than in the first release of its version, whose `reserved` is not 0, or
 * that has a NULL in it is not used, as if it were absent, and an error is logged. Functions that
 * return collet_status set err (never NULL) through host->fail on failure. Threads and queues: as
 * for the slots of collet_plugin; what enqueues may wait, as `run` may, while a queue has no room.
 * Where NO_MEMORY is not among the statuses, REFUSED stands for too little memory of the host too.
 */
#ifndef COLLET_EXTENSIONS_H
#define COLLET_EXTENSIONS_H

#include <collet/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a device knows of its memory. Absent: collet_memory reports what libcore has allocated
 * there.
 *
 * stats       Fills *stats; struct_size is set by the caller and the rest is zero. Writes nothing
 *             beyond struct_size. FAILED, DEVICE_LOST.
 * reset_peak  `peak` becomes `current`.
 */
#define COLLET_EXTENSION_MEMORY "collet.memory/1"
typedef struct collet_memory_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*stats)(collet_device *device, collet_memory_stats *stats, collet_error *err);
    void (*reset_peak)(collet_device *device);
} collet_memory_extension;

/*
 * Frees what a device keeps for later calls. Absent: collet_trim skips the device.
 *
 * trim  Frees pooled memory, plans and compiled programs that are not in use; other threads may be
 *       using the device. May block.
 */
#define COLLET_EXTENSION_TRIM "collet.trim/1"
typedef struct collet_trim_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    void (*trim)(collet_device *device);
} collet_trim_extension;

/*
 * Records kernels, to enqueue them again as one command: for devices with queues, whose driver or
 * compiler can do more with calls that it knows beforehand. Absent: each run of a sequence
 * (collet_sequence_run) enqueues its calls one after another, as the first run always does, so
 * that what calls make on first use is there.
 *
 * begin    From now on `run` of any row in `queue` records: it enqueues nothing and reads and
 *          writes no buffer. Nothing but `run` is enqueued in the queue until `end`; waits for it,
 *          and calls that name it as `other`, are as ever. A `run` that cannot be recorded returns
 *          REFUSED or FAILED. A begin that fails is not followed by an end. REFUSED, FAILED,
 *          DEVICE_LOST.
 * end      Ends that. *recording becomes what was recorded, and is replaced if it was not NULL:
 *          then it was most often made of the same calls on other buffers, and replays of it may
 *          still be at work. `recording` NULL: what was recorded is dropped, as after a `run` that
 *          failed. After a failure of its own the recording that it was to replace is released, and
 *          *recording is NULL. REFUSED, FAILED, DEVICE_LOST.
 * replay   Enqueues what was recorded as one command of `queue`, in which it was recorded. What is
 *          asynchronous in `run` is here. REFUSED: nothing was enqueued, and libcore calls the
 *          kernels instead and records them anew: so after a trim that has freed what they need.
 *          FAILED, DEVICE_LOST.
 * release  Frees a recording; NULL does nothing. Its last replay is over. Its queue may have been
 *          destroyed and its buffers freed; before that it is not replayed again.
 *
 * After a begin, run or end that failed, except with DEVICE_LOST, the queue goes on as if nothing
 * had been recorded; libcore does not try again to record that sequence.
 */
#define COLLET_EXTENSION_RECORD "collet.record/1"
typedef struct collet_recording collet_recording; /* opaque to libcore */
typedef struct collet_record_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*begin)(collet_device *device, collet_queue *queue, collet_error *err);
    collet_status (*end)(collet_device *device, collet_queue *queue, collet_recording **recording,
                         collet_error *err);
    collet_status (*replay)(collet_device *device, collet_queue *queue, collet_recording *recording,
                            collet_error *err);
    void (*release)(collet_device *device, collet_recording *recording);
} collet_record_extension;

/*
 * The device's own clock, to measure work without waiting for it. Absent: collet_timestamp_take
 * waits for the queue and reads the host's clock, as it does for devices without queues.
 *
 * stamp    *stamp becomes one for the time at which all that is enqueued in `queue` so far is done;
 *          what is enqueued later does not count. Enqueues a command or not; does not block.
 *          REFUSED, FAILED, NO_MEMORY: there is no stamp, and the queue goes on. DEVICE_LOST.
 * elapsed  Nanoseconds from `first` to `last`, two stamps of the device, of any queues, which may
 *          have been destroyed; negative if `last` was earlier; true to 2 % and 5 microseconds.
 *          queue_wait has reported a mark that was made after each of them: the call may wait for
 *          what the stamps themselves need beyond that, which is little. FAILED: the device has no
 *          time for one. DEVICE_LOST.
 * release  Frees a stamp; NULL does nothing. As for elapsed, queue_wait has reported a later mark,
 *          or the queue was destroyed.
 */
#define COLLET_EXTENSION_TIMING "collet.timing/1"
typedef struct collet_stamp collet_stamp; /* opaque to libcore */
typedef struct collet_timing_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*stamp)(collet_device *device, collet_queue *queue, collet_stamp **stamp,
                           collet_error *err);
    collet_status (*elapsed)(collet_device *device, int64_t *nanoseconds, collet_stamp *first,
                             collet_stamp *last, collet_error *err);
    void (*release)(collet_device *device, collet_stamp *stamp);
} collet_timing_extension;

/*
 * Copies directly from another device's memory. Absent, or one of the devices has no
 * queues: libcore reads and writes.
 *
 * between  From `source`, a buffer of the device `from` of the plugin `of` (this one, or another
 *          with a name that the plugin supports and whose collet.native/1 it may call), to `target`
 *          of `device`. The copy is ordered after the work in `queue` (of `device`) and in
 *          `from_queue` (of `from`), and before later work in either; does not block; enqueues in
 *          both, as a call that names them as `queue`. REFUSED with nothing enqueued: libcore
 *          reads and writes; also if `from` is lost. DEVICE_LOST: `device` is. Failures, also one of
 *          earlier work in `from_queue`, are reported by waits for both queues, or for `queue`
 *          alone. A mark of either queue after the copy is reached when the copy is over, also
 *          where that queue has failed.
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
 * The device's objects as those of its own programming interface, for programs that use both.
 * Absent: the functions of collet.h for native handles are UNSUPPORTED there. Handles are lent: the
 * device keeps them as long as the object.
 *
 * device         Fills *native; struct_size is set by the caller and the rest is zero. FAILED,
 *                DEVICE_LOST.
 * queue          The handle of a queue. FAILED, DEVICE_LOST.
 * queue_used     Commands were enqueued by the handle of the queue: the next queue_mark is after
 *                them. REFUSED, FAILED, DEVICE_LOST.
 * buffer         The handle of a buffer's memory: byte n of the buffer is byte n behind the handle.
 *                FAILED, DEVICE_LOST.
 * buffer_import  A buffer over `bytes` (> 0) bytes of foreign memory from byte `offset` behind
 *                `handle`, which hold elements of `element` bytes. The memory stays the caller's
 *                and outlives the buffer, which is freed by buffer_free. INVALID: the plugin cannot
 *                use such memory, or not from there; the text tells why. NO_MEMORY, DEVICE_LOST.
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
 * Page-locked host memory, which the device reads and writes directly, so that transfers need no
 * copy. Absent: collet_pinned_create is UNSUPPORTED.
 *
 * alloc  `bytes` (> 0) bytes, 64-byte aligned, and a handle of the plugin's own for them. REFUSED:
 *        there is not so much; FAILED, DEVICE_LOST.
 * free   Frees what alloc returned; no transfer uses it.
 */
#define COLLET_EXTENSION_PINNED "collet.pinned/1"
typedef struct collet_pinned_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*alloc)(collet_device *device, void **address, void **handle, uint64_t bytes,
                           collet_error *err);
    void (*free)(collet_device *device, void *address, void *handle);
} collet_pinned_extension;

#ifdef __cplusplus
}
#endif
#endif
