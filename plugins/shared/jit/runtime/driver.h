/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the interface that a backend that compiles kernels at run time (opencl, cuda) implements: one constant
 * jit_driver, which begins with the table of its plugin. plugins/shared/jit calls the backend through the jit_driver
 * alone; the backend calls the functions of backend.h.
 *
 *   jit_driver          the plugin, the prelude of all kernels, the sizes of the backend's structs; enqueues launches
 *   jit_device_slots    opens, closes and trims a device, and reports its loss
 *   jit_memory_slots    allocates device and page-locked memory, enqueues transfers
 *   jit_program_slots   compiles, loads and unloads programs, finds their kernels
 *   jit_queue_slots     creates queues, waits for tickets, orders queues
 *   jit_copy_slots      copies between two devices of the backend
 *
 * A backend's `struct collet_device` begins with a jit_base, its `struct collet_queue` with a
 * jit_queue; the backend's own members follow.
 *
 * Slots marked "optional" may be NULL. The rules for all slots:
 *
 * Threads: a slot may be called by any thread, and by several at once, unless its comment names a lock that the caller
 * holds or says otherwise.
 * Errors: a slot that returns a status also sets a text, by host->fail(err, ...); `err` may be
 * NULL. REFUSED: a resource is short or the call is not supported, and nothing was enqueued.
 * FAILED: commands may have been enqueued. DEVICE_LOST: the slot has set base.lost. A command that
 * fails after it was enqueued is recorded by jit_queue_fail (queue.h).
 * Ownership: a handle (void *) belongs to the shared code until it calls the slot that releases it.
 * Buffers, strings, launches and structs are valid during the call, unless the comment says more.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include <collet/plugin.h>

/* ---- Launches: built by launch.h ------------------------------------------------------------- */

/*
 * One translation unit: the backend's prelude, common.dev, then `texts` up to a NULL. `name`
 * appears in messages and in the keys of cached binaries. Each source is a constant of its family.
 *
 * If `texts` is NULL, `make` returns the texts for a launch, from its `made_of`, as one allocation that the caller
 * frees; NULL when out of memory. Launches with different texts must have different options.
 */
typedef struct jit_source {
    const char *name;
    const char *const *texts;
    const char **(*make)(const void *made_of);
} jit_source;

/* Properties of a device on which the choice of kernels depends. */
typedef struct jit_traits {
    uint32_t group;    /* GROUP of every kernel: work-items in a work-group, a power of two, 1 ..
                        * 1024 */
    uint32_t per_item; /* PER_ITEM: elements per work-item in kernels that use it */
    uint32_t units;    /* compute units or multiprocessors */
    uint32_t has_f64;
    uint32_t exact_f32;      /* f32 division and square root are correctly rounded */
    uint32_t has_tiles;      /* HAVE_TILES: the warp has an i8 matrix instruction */
    uint32_t serial;         /* the device is a processor: the items of a group run in sequence */
    uint64_t local_bytes;    /* local memory available to a group */
    uint64_t argument_bytes; /* maximum total size of a kernel's arguments */
} jit_traits;

#define JIT_ARGUMENTS 40

typedef struct jit_argument {
    collet_buffer *buffer; /* is passed if `size` is 0; may be NULL */
    const void *block;     /* a struct, which stays valid until the launch is enqueued; NULL: `value` is passed */
    uint32_t size;         /* bytes of `block` or `value`; 0: `buffer` is passed */
    _Alignas(16) unsigned char value[16];
} jit_argument;

/* A launch that is being prepared. The strings are valid until it is enqueued. */
typedef struct jit_launch {
    const jit_source *source;
    const char *options;
    const char *kernel;
    const void *made_of; /* passed to the source's `make` */
    uint32_t count;
    jit_argument arguments[JIT_ARGUMENTS];
} jit_launch;

/* ---- Parts of a device and of a queue -------------------------------------------------------- */

struct collet_buffer {
    void *memory;      /* the driver's handle */
    uint64_t bytes;    /* the size requested */
    uint64_t capacity; /* the size allocated */
    uint32_t imported; /* 1: `memory` belongs to a caller */
    uint64_t number;   /* in the pool: how many buffers were freed before this buffer */
    collet_buffer *next;
};

#define JIT_POOL_BINS 512

/* A pool of buffers that are reused: backend.h. */
typedef struct jit_pool {
    pthread_mutex_t lock;
    uint64_t limit; /* upper limit of `reserved` */
    uint64_t most;  /* upper limit of `idle` */
    uint64_t current, reserved, peak;
    uint64_t idle;  /* total bytes of the buffers in `bins` */
    uint64_t freed; /* how many buffers were freed so far */
    collet_buffer *bins[JIT_POOL_BINS];
} jit_pool;

/* A device keeps at most this many programs; jit_programs_forget empties the table. */
#define JIT_PROGRAMS 1024u

typedef struct jit_program {
    const jit_source *source;
    char *options;
    void *handle; /* NULL: the program did not compile */
    char *why;    /* the reason if it did not compile */
} jit_program;

typedef struct jit_programs {
    pthread_mutex_t lock; /* held during compilation */
    double seconds;       /* the time spent on compilation */
    uint32_t compiled;    /* the number of programs compiled */
    uint32_t count;
    jit_program programs[JIT_PROGRAMS];
} jit_programs;

typedef struct jit_piece {
    void *address;   /* NULL: not allocated */
    void *handle;    /* the driver's handle */
    uint64_t ticket; /* the last command that uses the piece */
} jit_piece;

/* Page-locked memory of a queue: staging.h. */
typedef struct jit_staging {
    pthread_mutex_t lock; /* held for a whole transfer; taken before the queue's lock */
    jit_piece pieces[2];
    uint32_t next;
    int none; /* 1: allocation failed; it is tried again after the next trim */
} jit_staging;

/* A range of a buffer that another device may read. */
typedef struct jit_export {
    collet_buffer *buffer;
    uint64_t offset;
    void *address;   /* the address at which the other device reads */
    uint64_t ticket; /* the other device may read after this ticket of the exporting queue */
} jit_export;

typedef struct jit_extension_table {
    const char *name;
    const void *table;
} jit_extension_table;

/* ---- Devices and queues ---------------------------------------------------------------------- */

typedef struct jit_base {
    const struct jit_driver *driver;
    const collet_host *host;
    uint32_t index;
    jit_traits traits;
    uint64_t total_memory;
    int in_host_memory;  /* 1: the device is a processor; other libraries use its memory too */
    char options[256];   /* compiler options for all programs: jit_options */
    char identity[1200]; /* everything that a binary depends on, except source and options */
    _Atomic int lost;    /* 0: the device works; else the driver's error, or 1 */
    uint64_t staging;    /* bytes of a page-locked piece; 0: transfers are direct */
    jit_pool pool;
    jit_programs programs;
    struct plan_cache *tables; /* tables.h; emptied by trim */
    pthread_mutex_t lock;      /* protects the list of queues */
    collet_queue *queues;      /* all queues that were ever created */
} jit_base;

#define JIT_MESSAGE 400

/* Each command of a queue has a ticket; tickets count from 1. A destroyed queue is kept and used again by
 * queue_create, because tables may still refer to its tickets. */
typedef struct jit_queue {
    collet_device *device;
    pthread_mutex_t lock;
    uint64_t submitted; /* the last ticket issued */
    uint64_t retired;   /* the last ticket known to be complete */
    jit_staging staging;
    collet_status failure; /* the first failure */
    uint64_t failed_at;    /* the ticket of the failure, or an earlier ticket */
    int drained;           /* 1: drained since the failure */
    char failed[JIT_MESSAGE];
    int idle;
    collet_queue *next;
} jit_queue;

/* ---- The table ------------------------------------------------------------------------------- */

typedef struct jit_device_slots {
    /* Opens device `index`: sets traits, total_memory, staging (the default of NAME.staging), options and identity.
     * Before the call, `driver`, `host`, `index` and the locks are set; all else in *device is zero. All signals are
     * blocked during the call. Even if `open` fails, `close` is called later. */
    collet_status (*open)(collet_device *device, uint32_t index, collet_error *err);
    /* Called when no call is in progress, all queues are closed and all memory is released. */
    void (*close)(collet_device *device);
    /* Called when the device was lost: returns DEVICE_LOST and the reason. */
    collet_status (*gone)(collet_device *device, collet_error *err);
    /* Optional: releases objects that the device keeps only for speed. Called after `trim` of all queues. */
    void (*trim)(collet_device *device);
} jit_device_slots;

typedef struct jit_memory_slots {
    /* Allocates device memory; NULL on failure. */
    void *(*take)(collet_device *device, uint64_t bytes);
    void (*give)(collet_device *device, void *memory);
    /* Optional: releases objects that the import of a buffer (jit_pool_import) acquired. */
    void (*disown)(collet_device *device, void *memory);
    /* Optional: how many bytes of the device's memory are free; 0 if not known. */
    uint64_t (*available)(collet_device *device);
    /* `write` and `read` are like the slots buffer_write and buffer_read of plugin.h. `pinned`: the host address is in
     * a jit_piece and stays valid until the ticket is complete, so that the call need only enqueue. */
    collet_status (*write)(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                           uint64_t offset, const void *source, uint64_t bytes, int pinned,
                           collet_error *err);
    collet_status (*read)(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                          uint64_t offset, void *target, uint64_t bytes, int pinned,
                          collet_error *err);
    /* Optional: whether the address is known to be in page-locked memory. */
    int (*pinned)(collet_device *device, const void *address);
    /* Allocates page-locked memory: sets the address and the handle. Returns 0 if that failed; the address is then
     * NULL. */
    int (*pinned_take)(collet_queue *queue, uint64_t bytes, jit_piece *piece);
    /* Frees page-locked memory that no pending command uses. */
    void (*pinned_give)(collet_queue *queue, jit_piece *piece);
} jit_memory_slots;

/* The caller of these slots holds the lock of the programs. */
typedef struct jit_program_slots {
    /* Optional: called before all programs are unloaded. Releases objects that refer to the
     * programs. */
    void (*forget)(collet_device *device);
    /* Loads a cached binary; returns NULL if the driver rejects it. */
    void *(*load)(collet_device *device, const void *binary, uint64_t bytes, const char *options);
    /* Compiles `count` texts, of which the first is the prelude, and caches the binary under `key` (binary_cache_put),
     * unless `key` is NULL. Returns COLLET_OK; REFUSED with the compiler's message; NO_MEMORY, after which the next
     * launch tries again; or DEVICE_LOST. */
    collet_status (*compile)(collet_device *device, const char *name, const char *const *texts,
                             uint32_t count, const char *options, const char *key, void **handle,
                             collet_error *err);
    void (*unload)(collet_device *device, void *handle);
    /* Returns the kernel `name` of a program. On failure returns NULL, with the driver's message in `why`. */
    void *(*kernel_open)(collet_device *device, void *program, const char *name, char why[160]);
    /* Optional: a backend without this slot frees the kernels with their program. */
    void (*kernel_close)(collet_device *device, void *handle);
} jit_program_slots;

typedef struct jit_queue_slots {
    /* Initialises the driver's part of a zeroed queue. All signals are blocked during the call. Even if `open` fails,
     * `close` is called later. */
    collet_status (*open)(collet_queue *queue, collet_error *err);
    /* Called when all commands are complete and no thread uses the queue. */
    void (*close)(collet_queue *queue);
    /* Commands enqueued in `queue` from now on start after `ticket` of `other`, which may be a
     * queue of another device. */
    collet_status (*order)(collet_queue *queue, collet_queue *other, uint64_t ticket,
                           collet_error *err);
    /* Optional: submits the commands that the queue holds back. Takes the queue's lock. */
    void (*submit)(collet_queue *queue);
    /* Waits until `ticket` is complete. Takes the queue's lock, but does not hold it during the wait. */
    void (*block)(collet_queue *queue, uint64_t ticket);

    /* The caller of the following functions holds the queue's lock. */

    /* Optional: prepares for a later wait for the last ticket, so that it need not wait for later tickets. */
    void (*mark)(collet_queue *queue);
    /* Updates which tickets are complete, and records failures. */
    void (*retire)(collet_queue *queue);
    /* Waits at least until `ticket` is complete. */
    void (*reach)(collet_queue *queue, uint64_t ticket);
    /* Waits for all commands; if the device has stopped responding, it is marked as lost. */
    void (*drain)(collet_queue *queue);
    /* Releases objects that the queue keeps only for speed; may wait for all commands. */
    void (*trim)(collet_queue *queue);
} jit_queue_slots;

/* The copy between two devices (backend.c) calls these slots in this order. */
typedef struct jit_copy_slots {
    /* Whether `device` can read the memory of `from`, another device of this backend, directly. */
    int (*reaches)(collet_device *device, collet_device *from);
    /* Begins an export in `queue`, a queue of the buffer's device: sets the address and the ticket. */
    collet_status (*export_begin)(collet_queue *queue, uint64_t bytes, jit_export *export,
                                  collet_error *err);
    /* Reads the exported range into `target`, in `queue`, which is already ordered after the
     * ticket. */
    collet_status (*export_read)(collet_queue *queue, collet_buffer *target, uint64_t offset,
                                 collet_device *from, const jit_export *export, uint64_t bytes,
                                 uint64_t *ticket, collet_error *err);
    /* Ends the export, in the exporting queue, which is already ordered after the other device's
     * read. */
    void (*export_end)(collet_queue *queue, const jit_export *export);
} jit_copy_slots;

typedef struct jit_driver {
    collet_plugin plugin; /* its settings include NAME.memory (bytes a device may allocate),
                           * NAME.pool (bytes of freed buffers a device keeps),
                           * NAME.staging (staging.h) and NAME.sources (a directory that
                           * receives every source compiled) */
    const char *prelude;  /* the text that precedes all sources */
    const jit_extension_table *extensions; /* extensions that backend.c does not have; the last has the name NULL */
    size_t device_bytes, queue_bytes;      /* sizes of the backend's collet_device and collet_queue */
    const jit_device_slots *device;
    const jit_memory_slots *memory;
    const jit_program_slots *programs;
    const jit_queue_slots *queue;
    const jit_copy_slots *copy;
    /* Enqueues a launch. The caller has checked that the device is not lost, that `groups` > 0 and that no argument was
     * dropped. A later failure is recorded with the kernel's name. */
    collet_status (*launch)(collet_device *device, collet_queue *queue, const jit_launch *l,
                            uint64_t groups, collet_error *err);
} jit_driver;

/* ---- Access ---------------------------------------------------------------------------------- */

static inline jit_base *jit_base_of(const collet_device *device)
{
    return (jit_base *)(uintptr_t)device;
}

static inline jit_queue *jit_queue_of(collet_queue *queue)
{
    return (jit_queue *)(void *)queue;
}

static inline const jit_driver *jit_driver_of(const collet_device *device)
{
    return jit_base_of(device)->driver;
}

static inline const jit_queue_slots *jit_slots_of(collet_queue *queue)
{
    return jit_driver_of(jit_queue_of(queue)->device)->queue;
}

static inline const collet_host *jit_host(const collet_device *device)
{
    return jit_base_of(device)->host;
}

static inline const jit_traits *jit_traits_of(const collet_device *device)
{
    return &jit_base_of(device)->traits;
}

/* Returns DEVICE_LOST if the device was lost. Called before a command is enqueued. */
static inline collet_status jit_check(collet_device *device, collet_error *err)
{
    jit_base *b = jit_base_of(device);
    return atomic_load(&b->lost) ? b->driver->device->gone(device, err) : COLLET_OK;
}

/* The status of a call that has already enqueued commands: REFUSED becomes FAILED. */
static inline collet_status jit_after_first(collet_status status)
{
    return status == COLLET_REFUSED ? COLLET_FAILED : status;
}
