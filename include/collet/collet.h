/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/collet.h - the interface for programs: runtime, context and arrays. collet/ops.h
 * has a function for each op.
 *
 *   - collet_runtime: the backends that were found; shared by all threads.
 *   - collet_context: a choice of backend, a queue per device; one thread at a time.
 *   - collet_array: a strided view of reference-counted bytes, which stay in the memory space of
 *     their last use.
 *
 * Conventions
 *
 *   - One order of parameters, here, in plugin.h and in the engines' headers:
 *       1. what the function acts on: the runtime or context, then the array, timestamp, ... of it,
 *          or the id of an op
 *       2. what it creates or fills: `**out`, structs and memory of the caller
 *       3. inputs, then options
 *       4. err
 *     The capacity of a buffer, and an offset in it, follow the buffer. Callbacks act on `user`.
 *     Capacities and bytes of memory of this process, and indices, are size_t; bytes and offsets on
 *     devices, and all bytes in structs, are uint64_t.
 *     Only collet_fail and collet_fail_text have err in front: it is what they fill.
 *   - A parameter `device` or `space` is "host" or one device as in collet_set_backend ("cuda:0"),
 *     which is opened for it; UNKNOWN_BACKEND and UNAVAILABLE as there, INVALID for lists, "auto"
 *     and everything else.
 *   - The life of every object ends with a function _destroy, which accepts NULL.
 *   - Every function that can fail returns a collet_status. Functions that take a context also
 *     store the text, for the calling thread (collet_last_error); the others have a parameter `err`
 *     (may be NULL). Threads that take turns with one context do not see each other's texts.
 *   - `**out` belongs to the caller. Pointers that getters return belong to the object and are
 *     valid until it is destroyed, unless stated otherwise.
 *   - Structs begin with struct_size, which the caller sets to its sizeof and which may be shorter
 *     or longer than the library's: members that only one side has are zero for the other. A member
 *     of an input that is set and unknown to the library, and a reserved one that is not 0, is
 *     INVALID.
 *   - A failing call leaves its inputs, the context and earlier results as they were.
 *   - A runtime lives until its last context and array are destroyed, in any order.
 *   - A runtime is safe on any thread; a context belongs to one thread at a time; an array may be
 *     read by several contexts at once and written by one while nothing else reads it. Arrays may
 *     be destroyed on any thread.
 *   - A child of fork cannot use the parent's runtimes, contexts and arrays. There, functions that
 *     take one of them and return a status return COLLET_FORKED, except collet_last_status;
 *     collet_record_count returns 0. Getters, the other counts and collet_set_fallback work as
 *     before. Destroy functions release the child's memory, wait for nothing and touch no device.
 *     None of these functions blocks, whatever the parent's threads did at the fork. The child may
 *     create a runtime of its own and use it on any thread, unless a thread of the parent was
 *     opening a backend at the fork: the C library's dlopen does not survive that.
 *   - A call computes in the floating-point state of collet/floating.h, whatever the thread's is:
 *     it rounds to nearest, keeps subnormal numbers and has no traps. When it returns, the thread's
 *     state is as it was, except for sticky flags. Callbacks (log, progress, deleters) run in
 *     Collet's state and leave it as they found it.
 *   - A thread with a stack of 48 KiB (pthread_attr_setstacksize) suffices for every call with the
 *     CPU backends, the first one included. A driver or library that a backend opens may need more;
 *     compilers of kernels do. Give threads that use opencl or cuda 1 MiB.
 *   - A backend runs in this process: a crash in a kernel ends the program. The probe, in a child
 *     process, detects crashes and hangs that occur while a backend is loaded and looks for its
 *     devices. The backend "worker:NAME" runs NAME in a process of its own, whose crash is
 *     DEVICE_LOST here; plugins/README.md lists which faults each of the two contains.
 */
#ifndef COLLET_COLLET_H
#define COLLET_COLLET_H

#include <collet/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collet_runtime collet_runtime;
typedef struct collet_context collet_context;
typedef struct collet_array collet_array;
typedef struct collet_timestamp collet_timestamp;

/* ---- Status and errors ------------------------------------------------------------------- */

/* "COLLET_SHAPE" and "shapes do not fit"; never NULL, also for values that are not a status. */
COLLET_API const char *collet_status_name(collet_status status);
COLLET_API const char *collet_status_text(collet_status status);

/* Sets *err (if not NULL) to `status` and the formatted text; returns `status`. The text becomes
 * valid UTF-8: control characters, invisible characters of Unicode (direction marks, zero width)
 * and bytes that are not UTF-8 become \xNN, because quoted names may contain them. Line ends stay
 * if `format` contains one. */
COLLET_API collet_status collet_fail(collet_error *err, collet_status status, const char *format,
                                     ...) COLLET_PRINTF(3, 4);
/* collet_fail with a text that is complete: a % in it means nothing. */
COLLET_API collet_status collet_fail_text(collet_error *err, collet_status status,
                                          const char *text);

/* "f32", and bytes per element; "none" and 0 for values that are not a dtype. */
COLLET_API const char *collet_dtype_name(collet_dtype dtype);
COLLET_API size_t collet_dtype_size(collet_dtype dtype);
/* The dtype of the result of mixed operands, as NumPy 2 has it: the smallest dtype that holds the
 * values of both (bf16 with f16: f32; an integer of 32 or 64 bits with f16, bf16 or f32: f64; u64
 * with a signed integer: f64; bf16 with integers as f16). COLLET_DTYPE_NONE if one is not a dtype. */
COLLET_API collet_dtype collet_dtype_promote(collet_dtype a, collet_dtype b);

/* The version of the library that is running, as a text ("0.1.0") and as a number.
 * COLLET_VERSION_NUMBER is the number of the header. */
COLLET_API const char *collet_version(void);
COLLET_API int32_t collet_version_number(void);

/* ---- Runtime ----------------------------------------------------------------------------- */

/* Called on any thread, possibly at the same time on several, and while libcore holds locks: it
 * must not call functions of collet.h. `text` has no newline; it is valid during the call. */
typedef void (*collet_log_fn)(void *user, int32_t level, const char *text);

/*
 * Set struct_size, zero the rest, fill in the options. NULL or 0 means the default. Every setting
 * that has an environment variable or a configuration key is listed by `backend-info --env`.
 */
typedef struct collet_runtime_options {
    uint32_t struct_size;
    uint32_t reserved;       /* 0 */
    const char *plugin_path; /* directories, ':'-separated, searched in place of the default ones;
                                with a leading '+', before them */
    const char *config_file; /* instead of $COLLET_CONFIG or the user's collet.conf */
    const char *backend;     /* a tool's --backend: overrides COLLET_BACKEND, not
                                collet_set_backend */
    collet_log_fn log;       /* NULL: messages are dropped */
    void *log_user;
    const char *const *settings; /* "key=value" strings, NULL-terminated; above environment and
                                    file */
    const char *const *defaults; /* the same, below environment and file: defaults of this program,
                                    which its user may override */
} collet_runtime_options;

/*
 * Searches for plugins, probes them and registers the usable ones. A refused plugin is recorded and
 * is not a failure: only NO_MEMORY, an unreadable configuration file (IO, FORMAT) and invalid
 * options (INVALID) fail.
 */
COLLET_API collet_status collet_runtime_create(collet_runtime **out,
                                               const collet_runtime_options *options,
                                               collet_error *err);
/* Releases the runtime. Its devices finish their work and are closed when the last context and
 * array of the runtime are destroyed too. */
COLLET_API void collet_runtime_destroy(collet_runtime *runtime);
/*
 * The end of the process, for all its runtimes: waits, `nanoseconds` (at least 0) at most, until
 * devices with queues have finished their work, and frees the memory that they keep. Afterwards such
 * devices are not used any more: calls on them, and reads of arrays whose bytes are valid on them
 * alone, return DEVICE_LOST; everything can still be destroyed. exit() calls it with 30 s, before
 * the handlers and destructors of the drivers' libraries, which would otherwise run while the
 * drivers' threads work; a binding calls it when its language's own end of the process comes first.
 * In exit() such calls of other threads do not return, so that these threads do not take them for
 * failures. Work of devices that compute in the calling thread needs no wait. Any thread, any number of times.
 * NOT_READY: a device is still at work. In a child of fork the parent's runtimes are left alone.
 */
COLLET_API collet_status collet_process_end(int64_t nanoseconds, collet_error *err);

/* USABLE: at least one device. UNAVAILABLE: see `reason`. UNPROVEN: not tried in a child process
 * (COLLET_PROBE=off, a library missing there); it is tried at its first use; device_count is 0. */
COLLET_ENUM(int32_t){
    COLLET_BACKEND_USABLE = 0,
    COLLET_BACKEND_UNAVAILABLE = 1,
    COLLET_BACKEND_UNPROVEN = 2,
};

/* A backend that was found, usable or not. Strings live as long as the runtime. */
typedef struct collet_backend_info {
    uint32_t struct_size;
    int32_t state; /* COLLET_BACKEND_* */
    const char *name;
    const char *version; /* "" when unknown */
    uint32_t abi;        /* major << 16 | minor; 0 when unknown */
    int32_t priority;
    int32_t jit, parallel, gpu; /* 0 or 1 */
    uint32_t device_count;
    uint32_t kernel_count;
    int32_t named_devices; /* 1: it has devices by name, NAME:TEXT, whether or not it has others */
    const char *path;
    const char *reason;       /* why unavailable; "" otherwise */
    const char *capabilities; /* the plugin's JSON; "" when not probed */
    const char *calibration;  /* the file of collet_calibration_write in use; "": none */
} collet_backend_info;

/* Backends in the order in which "auto" prefers them; unusable ones come last. */
COLLET_API size_t collet_backend_count(const collet_runtime *runtime);
/* NOT_FOUND beyond the count. Set info->struct_size before the call. */
COLLET_API collet_status collet_backend_info_at(const collet_runtime *runtime,
                                                collet_backend_info *info, size_t index,
                                                collet_error *err);

/*
 * Keeps what was measured of a backend on this machine, for runtimes that are created later; programs
 * call `backend-bench calibrate`, which measures. `text` is JSON:
 *
 *   {"format": 1, "made": "2026-11-27T15:40:00Z",
 *    "calibrated": "for the backend itself: the setting NAME.calibrated that its manifest declares",
 *    "transfer": {"to_device": 2.4e10, "to_host": 2.2e10, "latency": 1e-5},
 *    "times": {"matmul f32": [[1000, 2e-7], [1000000, 3e-5]]}}
 *
 * `transfer` (bytes a second, and seconds of a transfer of few bytes) is for devices with memory of
 * their own. `times` has pairs [work, seconds] of the backend's first device for ops with f32 or f64,
 * work growing; the work of matmul is its number of products, of other ops the number of elements of
 * the largest operand. Under "auto" a call runs on the device whose time with its transfers is
 * predicted to be the least, if that is at least a tenth less than on the first device. Other dtypes
 * are predicted by the one of about their size, and have to be twice as fast.
 *
 * With `text` NULL nothing is kept: OK if a file could be, which is tried.
 *
 * The file is in the directory of the cache (settings cache and cache_dir). Its name, written to
 * path[0..capacity) (path may be NULL if capacity is 0), has a hash of the version of Collet and of
 * the backend, and of its capabilities; where they are others, it is not used, nor with the setting
 * calibration=off. INVALID, UNKNOWN_BACKEND; UNAVAILABLE: the backend has no device or was not
 * probed, or there is no cache; FORMAT; IO.
 */
COLLET_API collet_status collet_calibration_write(const collet_runtime *runtime, char *path,
                                                  size_t capacity, const char *backend,
                                                  const char *text, collet_error *err);

COLLET_ENUM(int32_t){
    COLLET_DEVICE_UNKNOWN = 0,
    COLLET_DEVICE_CPU = 1,
    COLLET_DEVICE_GPU = 2,
    COLLET_DEVICE_OTHER = 3,
};

COLLET_ENUM(int32_t){
    COLLET_EXECUTION_UNKNOWN = 0,
    COLLET_EXECUTION_SYNCHRONOUS = 1,  /* a call returns when its kernel is done */
    COLLET_EXECUTION_ASYNCHRONOUS = 2, /* a call enqueues its kernel */
};

/* A device of a backend, from the backend's capabilities. A member that they do not give is 0
 * (UNKNOWN) or "". `memory` and `execution` are known for every device that was opened. Strings
 * live as long as the runtime. */
typedef struct collet_device_info {
    uint32_t struct_size;
    int32_t kind;           /* COLLET_DEVICE_* */
    const char *choice;     /* for collet_set_backend and collet_memory: "cuda:0" */
    const char *name;       /* of the hardware */
    const char *vendor;     /* of the hardware */
    const char *driver;     /* its version */
    uint32_t memory;        /* COLLET_MEMORY_* */
    int32_t execution;      /* COLLET_EXECUTION_* */
    uint64_t memory_bytes;  /* all of its memory; with COLLET_MEMORY_HOST, or for a
                               processor, at most what the process may use */
    uint64_t largest_array; /* bytes of the largest array that it can hold */
    uint64_t cache_bytes;   /* size of its last-level cache */
    uint32_t compute_units; /* multiprocessors, compute units, threads of a CPU */
    uint32_t clock_mhz;
} collet_device_info;

/* Describes device `device` (0 to device_count - 1) of backend `index` (as in
 * collet_backend_info_at). Opens nothing. NOT_FOUND beyond the counts, and for devices of a backend
 * that is not USABLE. */
COLLET_API collet_status collet_device_info_at(const collet_runtime *runtime,
                                               collet_device_info *info, size_t index,
                                               uint32_t device, collet_error *err);

/* One step of the search for plugins: file or directory, stage, outcome. */
typedef struct collet_plugin_record {
    uint32_t struct_size;
    int32_t accepted;  /* 1: passed, 0: refused */
    const char *path;  /* file or directory */
    const char *stage; /* "search", "policy", "manifest", "probe", "register", "open"; "cache" */
    const char *code; /* a stable word for the reason: "ok", "world-writable", "abi-too-new", ... */
    const char *reason;  /* in words */
    double milliseconds; /* duration of the step */
} collet_plugin_record;

/* Every step, in order. The count grows while devices are opened; records never change. */
COLLET_API size_t collet_record_count(const collet_runtime *runtime);
COLLET_API collet_status collet_record_at(const collet_runtime *runtime,
                                          collet_plugin_record *record, size_t index,
                                          collet_error *err);

/* One row of the table of settings: first the settings of libcore, then of the backends. */
typedef struct collet_setting {
    uint32_t struct_size;
    uint32_t reserved;
    const char *key;         /* in the configuration file */
    const char *environment; /* variable; "": none */
    const char *type;        /* "string", "integer", "boolean", "path list", ... */
    const char *fallback;    /* the default, in words or as a value */
    const char *value;       /* in force now */
    const char *source;      /* "default", "file", "environment", "program", "probe" */
    const char *help;
    const char *values; /* words, separated by blanks: all that the type "choice" or "words"
                           accepts; for other types, the words that are accepted besides the values
                           of the type */
} collet_setting;

COLLET_API size_t collet_setting_count(const collet_runtime *runtime);
COLLET_API collet_status collet_setting_at(const collet_runtime *runtime, collet_setting *setting,
                                           size_t index, collet_error *err);

/* ---- Context ----------------------------------------------------------------------------- */

/* A context with the runtime's choice of backend. UNKNOWN_BACKEND or UNAVAILABLE when that choice
 * (option, COLLET_BACKEND, configuration file) cannot be used: the text lists what is available. */
COLLET_API collet_status collet_context_create(collet_runtime *runtime, collet_context **out,
                                               collet_error *err);
/* Waits for its queues. */
COLLET_API void collet_context_destroy(collet_context *context);

COLLET_API collet_runtime *collet_context_runtime(const collet_context *context);

/* Text and status of the last failure of a call with this context on the calling thread, until its
 * next one or the end of the context; "" and OK before the first. A thread's first call with the
 * context allocates memory for this; if that fails, the call returns NO_MEMORY without a text. Any
 * thread, also while another one uses the context. */
COLLET_API const char *collet_last_error(const collet_context *context);
COLLET_API collet_status collet_last_status(const collet_context *context);

/*
 * Chooses the backend: "auto", or names in order of preference separated by commas, each with an
 * optional device: "cpu_openmp", "cuda:1", "cuda,opencl,cpu_openmp". Overrides every other setting.
 * INVALID (syntax); UNKNOWN_BACKEND names the nearest; UNAVAILABLE gives the recorded reason, also
 * for a device that was lost; both list what is available. In a list, unusable names are skipped with a warning in the log as long
 * as one is usable; an unknown name fails there too. On failure the previous choice stays in force.
 */
COLLET_API collet_status collet_set_backend(collet_context *context, const char *choice);
/* The choice in force ("auto", ...), valid until the next collet_set_backend; and the backend of
 * the last kernel ("" before the first), valid as long as the runtime: its name, with the
 * name of the device if it has one: "cuda", "worker:cuda". */
COLLET_API const char *collet_get_backend(const collet_context *context);
COLLET_API const char *collet_last_backend(const collet_context *context);
/* Whether another backend may run a call that the chosen one refuses, has no kernel for or has no
 * memory for. 1: any usable backend may; the named ones are tried first, then the others in the
 * order of "auto". 0: none may, not even the others of a list or of "auto". Default: the setting
 * `fallback`. Its own default allows any backend under "auto", the named ones for a list, and none
 * for a single name. Each fallback is counted; the first of a runtime is logged. */
COLLET_API void collet_set_fallback(collet_context *context, int32_t allowed);
/* 1 or 0, or -1 before collet_set_fallback where the setting `fallback` is "auto". */
COLLET_API int32_t collet_get_fallback(const collet_context *context);

/* Waits for everything that the context has enqueued. Returns the first failure since the last
 * collet_finish. This includes a failure that another thread has already detected by reading a
 * result, and a failure of another context's work if this context computed with its results.
 * FAILED, DEVICE_LOST. */
COLLET_API collet_status collet_finish(collet_context *context);

typedef struct collet_counters {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t calls;           /* kernels run */
    uint64_t fallbacks;       /* kernels not run on the first choice */
    uint64_t temporaries;     /* copies made because operands overlapped */
    uint64_t bytes_to_device; /* moved from the host's memory to a device's */
    uint64_t bytes_to_host;   /* moved from a device's memory to the host's */
    uint64_t bytes_direct;    /* from one device's memory to another's, not through the host's */
} collet_counters;

COLLET_API collet_status collet_context_counters(collet_context *context,
                                                 collet_counters *counters);

/* Bytes in a memory space. Destroyed arrays of a device count until the work that uses them is over; to find
 * a leak, compare `current` after one collet_finish with `current` after a later one. */
COLLET_API collet_status collet_memory(collet_context *context, collet_memory_stats *stats,
                                       const char *space);

/* The host's memory that this process may use: the least of the machine's memory, the limits of its control groups and
 * of their parents (memory.max and memory.high, or memory.limit_in_bytes: containers, Slurm, systemd), and the limits of
 * addresses and data (ulimit -v, -d). Read anew in each call, in some 0.1 ms. Any thread. */
COLLET_API collet_status collet_memory_limit_read(collet_memory_limit *limit, collet_error *err);

/* From now on, for all contexts, `peak` of that space is the largest `current` since this call. */
COLLET_API collet_status collet_memory_reset_peak(collet_context *context, const char *space);

/*
 * Waits for the context's work, then frees what is cached for later calls: its scratch memory, host
 * memory of freed arrays (at most 64 MiB in the process), and
 * the pooled memory, plans and compiled programs of every open device, also while other contexts
 * use it. Arrays stay; later calls allocate and compile again what they need. collet_finish reports
 * failures of the work.
 */
COLLET_API collet_status collet_trim(collet_context *context);

/* ---- Time -------------------------------------------------------------------------------- */

/*
 * A timestamp is the time at which everything that the context has enqueued on a device so far is
 * done, like a recorded event of CUDA. To measure calls, take one before and one after them;
 * collet_timestamp_elapsed gives the difference.
 *
 * `device` NULL: the first of the context's choice that can be opened. If the device has a clock of its own (the extension collet.timing/1), the call does not wait and the device goes on
 * working. Otherwise the host's clock is used, and the call waits for the context's work on the
 * device if that is asynchronous. A timestamp holds a reference to the runtime. REFUSED, NO_MEMORY,
 * FAILED, DEVICE_LOST.
 */
COLLET_API collet_status collet_timestamp_take(collet_context *context, collet_timestamp **out,
                                               const char *device);

COLLET_ENUM(int32_t){
    COLLET_CLOCK_HOST = 1,   /* libcore's, CLOCK_MONOTONIC */
    COLLET_CLOCK_DEVICE = 2, /* the device's */
};

/*
 * Nanoseconds from `first` to `last`, two timestamps of one device, which may come from different
 * contexts; negative if `last` was earlier. Waits until both are reached. *clock (may be NULL)
 * becomes COLLET_CLOCK_*, the clock that was used. INVALID: the timestamps are of two devices, or
 * of another runtime. FAILED, DEVICE_LOST: work before one of them failed, or the device has no
 * time for it.
 */
COLLET_API collet_status collet_timestamp_elapsed(collet_context *context,
                                                  const collet_timestamp *first,
                                                  const collet_timestamp *last,
                                                  int64_t *nanoseconds, int32_t *clock);
/* Waits until it is reached. Any thread; NULL does nothing. */
COLLET_API void collet_timestamp_destroy(collet_timestamp *timestamp);

/* ---- Arrays ------------------------------------------------------------------------------ */

/*
 * An array is a view: dtype, shape, strides and offset of a storage that several views may share.
 * Strides count elements. Views never copy; the storage lives until its last view is freed.
 * A storage's bytes are valid in one or more memory spaces (the host's, a device's); they are
 * copied only to a space without a valid copy, and copied bytes are counted.
 */

/* A new C-contiguous array with undefined contents. ndim 0..COLLET_MAX_DIMS, extents >= 0. Its
 * memory is allocated in a memory space at the first use there: an array too large for any memory
 * can be created, and its first use fails (NO_MEMORY, REFUSED). INVALID, DTYPE, OVERFLOW (more
 * than 2^56 bytes, also without the axes of no element), NO_MEMORY. */
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
 * Unless it is shared, the caller may access the memory, gaps between strided elements included,
 * only between collet_array_acquire and collet_array_release until the array's storage is freed.
 * The call that destroys the last view waits for the work on the memory and copies to it what a
 * device computed. If that fails, the call logs an error and the memory holds undefined bytes; to
 * get a status, acquire and release the array before. Then `deleter` (may be NULL) is called once,
 * with `user`, on that thread. It is not called when collet_array_wrap fails. Where a lost device
 * may still be at work on the memory, `deleter` is called when the runtime is destroyed, or never
 * if the device hangs (setting `timeout`); until then the memory must not be freed. In a child of
 * fork the destroy function waits for nothing and copies nothing.
 */
COLLET_API collet_status collet_array_wrap(collet_context *context, collet_array **out,
                                           collet_dtype dtype, int32_t ndim, const int64_t *shape,
                                           const int64_t *strides, void *data, uint32_t flags,
                                           void (*deleter)(void *user), void *user);
/* Like collet_array_create; every element is `value`, converted as by `copy`: zeros, ones, constants. Errors
 * of collet_op_fill too, which takes other values. */
COLLET_API collet_status collet_array_full(collet_context *context, collet_array **out,
                                           collet_dtype dtype, int32_t ndim, const int64_t *shape,
                                           double value);
/* Frees the view; the last view of a storage frees the storage. See collet_array_wrap. */
COLLET_API void collet_array_destroy(collet_array *array);
/*
 * 1 if the array's memory is shared: others may read and write it at any time between two calls.
 * That is so with COLLET_WRAP_SHARED, for a tensor of another library (collet_array_from_dlpack),
 * and as long as a tensor of COLLET_SHARE exists (collet_array_to_dlpack), for all views of the
 * storage. Copies of shared memory are never reused: a call on a device copies the bytes to the
 * device each time, copies its results back and waits for that; a call on the host is over when it
 * returns. If the memory is a device's, the copies are those in other memory, and the caller orders
 * the commands on the memory itself.
 */
COLLET_API int collet_array_is_shared(const collet_array *array);

COLLET_API collet_dtype collet_array_dtype(const collet_array *array);
COLLET_API int32_t collet_array_ndim(const collet_array *array);
COLLET_API const int64_t *collet_array_shape(const collet_array *array);
/* In elements. An axis of one element has the stride of a dense array; all strides of an array
 * without elements are 0. */
COLLET_API const int64_t *collet_array_strides(const collet_array *array);
COLLET_API int64_t collet_array_size(const collet_array *array); /* elements */
/* The runtime of the array's storage: only its contexts may use the array; calls with others are
 * INVALID. */
COLLET_API collet_runtime *collet_array_runtime(const collet_array *array);

/* The following functions make views: the new array shares the storage. */
/* `count` elements of one axis: start, start + step, ...; `step` may be negative, and a negative
 * `axis` counts from the last one. SHAPE when elements are outside of the axis. */
COLLET_API collet_status collet_array_slice(collet_context *context, const collet_array *array,
                                            collet_array **out, int32_t axis, int64_t start,
                                            int64_t count, int64_t step);
/* Element `index` of one axis, without that axis: a[index] for axis 0. Both may be negative and count
 * from the last one then. SHAPE when the element is outside of the axis. */
COLLET_API collet_status collet_array_select(collet_context *context, const collet_array *array,
                                             collet_array **out, int32_t axis, int64_t index);
/* Output axis i is input axis perm[i]; perm NULL reverses the axes. */
COLLET_API collet_status collet_array_permute(collet_context *context, const collet_array *array,
                                              collet_array **out, const int32_t *perm);
/* The elements whose indices on the last two axes are equal: one axis instead of these two, as long as
 * the shorter one. */
COLLET_API collet_status collet_array_diagonal(collet_context *context, const collet_array *array,
                                               collet_array **out);
/* All windows of `length` successive elements along `axis`, as a last axis; `axis` has as many elements
 * as there are windows. SHAPE when length is not 1 to the axis' extent, or 8 axes are exceeded. */
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

/* The real, or imaginary, parts of complex numbers: f32 for c64, f64 for c128. Of real numbers the real
 * parts are the array itself; the imaginary parts are DTYPE. */
COLLET_API collet_status collet_array_real(collet_context *context, const collet_array *array,
                                           collet_array **out);
COLLET_API collet_status collet_array_imag(collet_context *context, const collet_array *array,
                                           collet_array **out);

/* Copies all elements, in C order, out of or into the array; `bytes` must be exactly their size.
 * Reading waits for the work that computes them. */
COLLET_API collet_status collet_array_read(collet_context *context, const collet_array *array,
                                           void *target, size_t bytes);
COLLET_API collet_status collet_array_write(collet_context *context, collet_array *array,
                                            const void *source, size_t bytes);

/*
 * Writes the elements into text[0..capacity) for people, in NumPy's form: 8 digits, nested brackets, a line
 * for each row, no newline at the end. If the array has more than 1,000 elements, the text has three from both
 * ends of each axis. A text that does not fit is cut. Only elements that are shown are read. INVALID: capacity 0.
 */
COLLET_API collet_status collet_array_text(collet_context *context, const collet_array *array,
                                           char *text, size_t capacity);

COLLET_ENUM(int32_t){
    COLLET_READ = 1,
    COLLET_WRITE = 2,
    COLLET_SHARE = 4, /* of collet_array_to_dlpack alone */
};
/*
 * Makes the array's bytes valid in host memory, waits for work on them, and returns the address of
 * the first element, valid until collet_array_release; with COLLET_WRITE copies in other spaces are
 * stale afterwards. Until the release nothing may write the storage, and with COLLET_WRITE nothing
 * may use it (BUSY); an array may be acquired for reading several times at once.
 */
COLLET_API collet_status collet_array_acquire(collet_context *context, collet_array *array,
                                              void **address, int32_t access);
COLLET_API collet_status collet_array_release(collet_context *context, collet_array *array);

/* A hint that the array is used next in the memory of `device`: copies its bytes there unless they
 * are valid there. A copy to a device is in
 * order with the context's work on that device, and the call does not wait for it; for a copy to
 * "host" it waits. BUSY while the array is acquired for writing; INVALID, REFUSED, NO_MEMORY,
 * FAILED, DEVICE_LOST. */
COLLET_API collet_status collet_array_prefetch(collet_context *context, collet_array *array,
                                               const char *device);

/* ---- Native handles ---------------------------------------------------------------------- */

/*
 * For programs that use a device's own interface together with Collet: MPI and NCCL on device
 * memory, kernels of their own. UNSUPPORTED: the device offers no native handles. Devices that work in the host's memory are the host. Handles stay libcore's: do not free
 * them.
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
 * in it at which the first element begins. It does not wait, except on the host: what the program
 * enqueues in collet_native_queue comes after the work on the bytes. Commands in other queues must
 * wait for that queue, by means of the device's interface. Until the release nothing may write the
 * storage, and with COLLET_WRITE nothing may use it (BUSY).
 *
 * The release takes the same context and device. All later work on the bytes comes after what the
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
 * Memory that is wrapped twice is not recognised as shared. INVALID also when the device cannot use
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
 * device often: wrap it (collet_array_wrap), read and write through it. *address is 64-byte aligned
 * and undefined memory. Other devices of that backend may have to copy. UNSUPPORTED: the device (always for "host") offers none, and ordinary memory is as good.
 * REFUSED: not enough is left; page-locked memory is scarce, because the system cannot use it for
 * anything else. INVALID: 0 bytes, NULL.
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
 * handles, or DLPack has no type for it; with COLLET_SHARE, the host's copy of another library's
 * memory of a device. INVALID as collet_array_acquire.
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
 * OVERFLOW, NO_MEMORY as collet_array_wrap.
 */
COLLET_API collet_status collet_array_from_dlpack(collet_context *context, collet_array **out,
                                                  struct DLManagedTensorVersioned *tensor);

/* ---- Kernels ----------------------------------------------------------------------------- */

/*
 * Rules for every kernel. Outputs come first. All arrays must exist and have the right shape and
 * dtype, otherwise nothing runs (INVALID for NULL, SHAPE, DTYPE; the text names the operand and the
 * dtypes that it may have). Work is asynchronous in the device's queue. An output may be exactly
 * the same view as an input where ops.def has EXACT; for any other overlap with an input libcore
 * makes a temporary. INVALID also: an output that repeats elements or overlaps another output, and
 * arrays of another runtime. BUSY: see collet_array_acquire. UNSUPPORTED: no selected backend has
 * the kernel. REFUSED: every backend that has it refused the call, for lack of memory for example;
 * nothing was done. FAILED and DEVICE_LOST: the outputs are undefined; a failure that is detected
 * later is reported by collet_finish and by reads of the outputs.
 *
 * docs/KERNELS.md gives the formulas.
 */

/* Runs any kernel by the id of its op (COLLET_OP_* or collet_ops_find). `outs` and `ins` have an
 * entry for each operand of the op; an entry may be NULL where the operand is optional. `params`
 * points to its parameter block, or NULL. NOT_FOUND when there is no such op. */
COLLET_API collet_status collet_call(collet_context *context, uint32_t op,
                                     collet_array *const *outs, const collet_array *const *ins,
                                     const void *params);
/* Sets bit i of *mask, the parameter `axes` of an op such as `sum`, for each of `count` axes i of `a`
 * (negative ones count from the last one); count 0 with axes NULL: for all. INVALID: an axis that `a`
 * does not have, or that is named twice. NOT_FOUND when there is no such op. */
COLLET_API collet_status collet_ops_axes(collet_context *context, uint32_t op, uint32_t *mask,
                                         const collet_array *a, const int32_t *axes, int32_t count);

/*
 * Writes into text[0..capacity) what collet_call with the same arguments would do, and does nothing of
 * it: which device would run the call and why this one, by which of its ways (kernel or library) and
 * with what measured figures, how much scratch memory it needs, and which others could. Lines for
 * people, in English, each with its newline; cut where they do not fit (4096 bytes do). Opens devices
 * and libraries as the call would. The text is not an interface: later versions word it otherwise.
 * Errors of collet_call for wrong arguments. INVALID: no room.
 */
COLLET_API collet_status collet_explain(collet_context *context, uint32_t op, char *text,
                                        size_t capacity, collet_array *const *outs,
                                        const collet_array *const *ins, const void *params);

/* Finds the id of an op by its name; backends may have ops of their own ("vendor.op"). NOT_FOUND:
 * the text suggests a similar name if there is one. */
COLLET_API collet_status collet_ops_find(const collet_runtime *runtime, uint32_t *op,
                                         const char *name, collet_error *err);

/* One axis of an operand, as a pattern of its op describes it. */
typedef struct collet_ops_axis {
    int32_t extent;  /* the exact extent if `letter` is 0 */
    uint16_t letter; /* 'A'..'z': any extent, the same wherever the letter occurs in the op; or 0 */
    uint16_t other;  /* not 0: the smaller of the extents of both letters */
} collet_ops_axis;

typedef struct collet_ops_pattern {
    int32_t ndim; /* number of `axes` */
    int32_t dots; /* 1: any axes in front of them, broadcast ("...") */
    int32_t any;  /* 1: any axes, which a rule of the op computes or checks ("*") */
    int32_t reserved;
    collet_ops_axis axes[COLLET_MAX_DIMS];
} collet_ops_pattern;

typedef struct collet_ops_operand {
    char name[24];        /* "a"; "out0", "in1" where the op's definition gives none */
    int32_t optional;     /* 1: may be absent (NULL) */
    int32_t alternatives; /* number of patterns, 1 or 2; the first that fits is used */
    collet_ops_pattern pattern[2];
} collet_ops_operand;

/* Description of an op: its row of ops.def or its plugin's definition. All pointers are valid as
 * long as the runtime. */
typedef struct collet_ops_info {
    uint32_t struct_size;
    uint32_t id;
    const char *name;
    const char *family; /* "own" for a plugin's own op */
    const char *shapes; /* the operands as ops.def writes them */
    const char *sigs;   /* "outputs:inputs ..."; collet_ops_signature enumerates them */
    const char *split;
    const char *check;
    uint32_t n_out, n_in;
    uint32_t params_size;               /* of the parameter block; 0: none */
    uint32_t alias;                     /* 1: EXACT, 2: FIRST */
    uint32_t operand_size, field_size;  /* bytes from one element to the next */
    const collet_ops_operand *operands; /* n_out + n_in, outputs first */
    const collet_ops_field *fields;     /* of the parameter block */
    uint32_t field_count;
    uint32_t reserved;
    const char *measure; /* the shape that backend-bench measures by default; "" for own ops */
    const char *summary; /* one line; "" for own ops */
} collet_ops_info;

/* All ops: first the ops of ops.def in its order, then the plugins' own. Set info->struct_size
 * before the call. NOT_FOUND beyond the count. */
COLLET_API size_t collet_ops_count(const collet_runtime *runtime);
COLLET_API collet_status collet_ops_at(const collet_runtime *runtime, collet_ops_info *info,
                                       size_t index, collet_error *err);
/* The same by the op's id. NOT_FOUND. */
COLLET_API collet_status collet_ops_describe(const collet_runtime *runtime, uint32_t op,
                                             collet_ops_info *info, collet_error *err);
/* Writes signature `index` of the op to dtypes[0..n_out + n_in): the dtypes of its operands,
 * outputs first. NOT_FOUND beyond the last signature (an op that takes any dtypes has none), or when there is no such op. In any signature
 * an optional operand may be absent. */
COLLET_API collet_status collet_ops_signature(const collet_runtime *runtime, uint32_t op,
                                              collet_dtype *dtypes, size_t index,
                                              collet_error *err);

/*
 * Fills the parameter block of an op with its defaults, for an input 0 with `ndim` axes: AXES has
 * every axis, PERMUTATION reverses the axes, RANK is `ndim`; SCALAR fields, which have no default,
 * are zero and must be set; struct_size is set. `params` has `bytes` bytes, at least the op's
 * params_size. Then set fields by their offsets, as examples/by_name.c does. NOT_FOUND, INVALID.
 */
COLLET_API collet_status collet_ops_defaults(const collet_runtime *runtime, uint32_t op,
                                             void *params, size_t bytes, int32_t ndim,
                                             collet_error *err);

/* Dtype and shape of an array. `ndim` is COLLET_ABSENT for an absent optional operand; the other
 * members are then ignored. */
COLLET_ENUM(int32_t){
    COLLET_INFER = -1,
    COLLET_ABSENT = -2,
};
typedef struct collet_array_spec {
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS]; /* extents, `ndim` of them */
} collet_array_spec;

/*
 * Infers the outputs of a call: `outs` and `ins` have an entry for each operand and belong to the
 * caller. A dtype COLLET_DTYPE_NONE or an ndim COLLET_INFER of an output is inferred; given values
 * are checked. On success a collet_call with arrays of these specs and the same parameters passes
 * every check of dtypes, shapes and parameters (but perhaps not the checks of strides); on failure
 * `outs` are unchanged.
 *
 * Where several outputs fit: the dtype is the one of the first signature that fits; if that
 * signature allows any dtype, it is the dtype of the first input, or of the value for an op without
 * inputs. A half spectrum of m elements becomes 2 (m - 1) real ones. Packed bytes become as many
 * weights as they can hold.
 *
 * Errors are the same as for the call: INVALID (NULL, an absent operand that is not optional, an
 * extent < 0, ndim out of range, parameters), SHAPE, DTYPE, OVERFLOW, NOT_FOUND; SHAPE and DTYPE
 * also if the inputs do not determine an output, which must be given then: ops without inputs. Any
 * thread; allocates nothing, opens no device.
 */
COLLET_API collet_status collet_ops_infer(const collet_runtime *runtime, uint32_t op,
                                          collet_array_spec *outs, const collet_array_spec *ins,
                                          const void *params, collet_error *err);
/* Opens the device ("cuda:1"), or the first device of the backend ("cuda"). OK when it has a kernel
 * for the op with these `count` dtypes, outputs first; a dtype COLLET_DTYPE_NONE, or one beyond
 * `count`, stands for any (`dtypes` NULL: all). UNSUPPORTED: it has none. NOT_FOUND: no such op;
 * UNKNOWN_BACKEND and UNAVAILABLE as in collet_set_backend; INVALID: also "auto", lists, "host";
 * DTYPE. */
COLLET_API collet_status collet_backend_has_kernel(const collet_runtime *runtime,
                                                   const char *backend, uint32_t op,
                                                   const collet_dtype *dtypes, uint32_t count,
                                                   collet_error *err);

#ifdef __cplusplus
}
#endif
#endif
