/* SPDX-License-Identifier: Apache-2.0 */
/* collet/runtime.h - the runtime: the backends that were found, their devices, records and settings. collet/collet.h has the conventions. */
#ifndef COLLET_RUNTIME_H
#define COLLET_RUNTIME_H

#include <collet/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collet_runtime collet_runtime;

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
    const char *plugin_path; /* directories, ':'-separated, searched instead of the default
                                directories; with a leading '+', before these */
    const char *config_file; /* instead of $COLLET_CONFIG or the user's collet.conf */
    const char *backend;     /* a tool's --backend: overrides COLLET_BACKEND, not
                                collet_set_backend */
    collet_log_fn log;       /* NULL: messages are dropped */
    void *log_user;
    const char *const *settings; /* "key=value" strings, NULL-terminated; they override environment
                                    and file */
    const char *const *defaults; /* defaults of this program, in the same form; environment and file
                                    override them */
} collet_runtime_options;

/*
 * Searches for plugins, probes them and registers the usable ones. A refused plugin is recorded and
 * is not a failure: only NO_MEMORY, an unreadable configuration file (IO, FORMAT) and invalid
 * options (INVALID) fail.
 */
COLLET_API collet_status collet_runtime_create(collet_runtime **out,
                                               const collet_runtime_options *options,
                                               collet_error *err);
/* Releases the runtime. The runtime's devices finish their work and are closed when its last context and array are
 * also destroyed. */
COLLET_API void collet_runtime_destroy(collet_runtime *runtime);
/*
 * Prepares all runtimes for the end of the process: waits, at most `nanoseconds` (at least 0), until devices with
 * queues have finished their work, and frees the memory that they keep. Afterwards such devices are not used any more:
 * calls on them, and reads of arrays whose bytes are valid on them alone, return DEVICE_LOST; everything can still be
 * destroyed. exit() calls this function with 30 s, before the handlers and destructors of the drivers' libraries, which
 * would otherwise run while the drivers' threads work. A binding calls it from an exit handler of its language if that
 * handler runs before exit(). In exit(), calls of other threads on such devices do not return, so these threads do not
 * see a failure. Work of devices that compute in the calling thread needs no wait. Any thread, any number of times.
 * NOT_READY: a device is still at work. In a child of fork the parent's runtimes are left alone.
 */
COLLET_API collet_status collet_process_end(int64_t nanoseconds, collet_error *err);
/*
 * Limits the CPU threads of each call that starts from now on, in all runtimes of the process: `threads` at
 * least 1, or 0: no limit. Processor affinity, cgroup quota and the setting num_threads still apply. Nothing
 * restarts: contexts and arrays stay. The limit holds in the engines' threads and in workers too, not in the threads
 * of OpenCL's drivers. A child of fork() has its parent's limit. Any thread, any time. INVALID: negative.
 */
COLLET_API collet_status collet_set_thread_limit(int32_t threads, collet_error *err);
COLLET_API int32_t collet_thread_limit(void);

/* USABLE: at least one device. UNAVAILABLE: see `reason`. UNPROVEN: not tried in a child process, because of
 * COLLET_PROBE=off or because a library is missing there; it is tried at its first use; device_count is 0. */
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
    int32_t named_devices; /* 1: programs may name devices, NAME:TEXT; the backend may also have other devices */
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
 * Stores measurements of a backend on this machine, for runtimes that are created later. Users run
 * `backend-bench calibrate`, which measures and calls this function. `text` is JSON:
 *
 *   {"format": 1, "made": "2026-11-27T15:40:00Z",
 *    "calibrated": "for the backend itself: the setting NAME.calibrated that its manifest declares",
 *    "transfer": {"to_device": 2.4e10, "to_host": 2.2e10, "latency": 1e-5},
 *    "times": {"matmul f32": [[1000, 2e-7], [1000000, 3e-5]]}}
 *
 * `transfer` (bytes a second, and seconds of a transfer of few bytes) is for devices with memory of
 * their own. `times` has pairs [work, seconds] of the backend's first device for ops with f32 or f64,
 * in ascending order of work. The work of matmul is its number of multiplications; the work of any other op is
 * the number of elements of its largest operand. Under "auto" a call runs on the device with the shortest
 * predicted time, transfers included, if that time is at least a tenth shorter than on the first device. For
 * other dtypes libcore uses the times of f32 or f64, whichever is closer in size, and then requires half the time.
 *
 * With `text` NULL nothing is stored: the function tests whether a file can be written, and returns OK if so.
 *
 * The file is in the directory of the cache (settings cache and cache_dir). Its name, written to
 * path[0..capacity) (path may be NULL if capacity is 0), has a hash of the version of Collet, and of
 * the backend's version and capabilities. If one of these changes, the file is no longer used; with
 * the setting calibration=off no file is used. INVALID, UNKNOWN_BACKEND; UNAVAILABLE: the backend has
 * no device or was not probed; FORMAT; IO: there is no cache, or it cannot be written.
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
    const char *name;       /* name of the hardware */
    const char *vendor;     /* vendor of the hardware */
    const char *driver;     /* version of the driver */
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
                                               size_t device, collet_error *err);

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

#ifdef __cplusplus
}
#endif
#endif
