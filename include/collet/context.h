/* SPDX-License-Identifier: Apache-2.0 */
/* collet/context.h - contexts: the choice of backend, errors, memory, time. collet/collet.h has the conventions. */
#ifndef COLLET_CONTEXT_H
#define COLLET_CONTEXT_H

#include <collet/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collet_context collet_context;
typedef struct collet_timestamp collet_timestamp;

/* A context with the runtime's choice of backend. UNKNOWN_BACKEND or UNAVAILABLE when that choice
 * (option, COLLET_BACKEND, configuration file) cannot be used: the text lists what is available. */
COLLET_API collet_status collet_context_create(collet_runtime *runtime, collet_context **out,
                                               collet_error *err);
/* Waits for the work in the context's queues. */
COLLET_API void collet_context_destroy(collet_context *context);

COLLET_API collet_runtime *collet_context_runtime(const collet_context *context);

/* Text and status of the last failure of a call with this context on the calling thread; "" and OK before the
 * first failure. The text is valid until the thread's next failure or the end of the context. A thread's first
 * call with the context allocates memory for this; if that fails, the call returns NO_MEMORY without a text.
 * May be called on any thread, also while another thread uses the context. */
COLLET_API const char *collet_last_error(const collet_context *context);
COLLET_API collet_status collet_last_status(const collet_context *context);

/*
 * Chooses the backend: "auto", or names in order of preference separated by commas, each with an
 * optional device: "cpu_openmp", "cuda:1", "cuda,opencl,cpu_openmp". Overrides every other setting.
 * UNKNOWN_BACKEND: there is no such backend (the text suggests a similar name), or `choice` has another form. The text
 * of UNAVAILABLE has the recorded reason; it is also the error for a device that was lost. Both list what is available.
 * In a list, backends that cannot be used are skipped with a warning in the log if at least one can be used; an unknown
 * name is an error in a list, too. On failure the previous choice stays in force.
 */
COLLET_API collet_status collet_set_backend(collet_context *context, const char *choice);
/* collet_get_backend: the choice in force ("auto", ...), valid until the next collet_set_backend.
 * collet_last_backend: the name of the backend that ran the last kernel ("" before the first), with the
 * name of the device if it has one: "cuda", "worker:cuda"; valid as long as the runtime. */
COLLET_API const char *collet_get_backend(const collet_context *context);
COLLET_API const char *collet_last_backend(const collet_context *context);
/* Whether another backend may run a call that the chosen backend refuses, has no kernel for or has no memory for. 1:
 * any usable backend may; the named backends are tried first, then the others in the order of "auto". 0: none may,
 * not even the others of a list or of "auto". Before the first call of this function the setting
 * `fallback` decides. Its default allows any backend under "auto", the named backends for a list, and none for a
 * single name. Each fallback is counted; the first of a runtime is logged. */
COLLET_API void collet_set_fallback(collet_context *context, int32_t allowed);
/* What is in force: 1 or 0; or -1 if collet_set_fallback was not called and the setting `fallback` is "auto". */
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

/* The host's memory that this process may use: the minimum of the machine's memory, the limits of its control groups
 * and of their parents (memory.max and memory.high, or memory.limit_in_bytes: containers, Slurm, systemd), and the
 * limits of address space and data segment (ulimit -v, -d). Each call reads them anew, in some 0.1 ms. Any thread. */
COLLET_API collet_status collet_memory_limit_read(collet_memory_limit *limit, collet_error *err);

/* From now on, for all contexts, `peak` of the memory space `space` is the largest `current` since this call. */
COLLET_API collet_status collet_memory_reset_peak(collet_context *context, const char *space);

/*
 * Waits for the context's work, then frees what is cached for later calls: its scratch memory, host
 * memory of destroyed arrays (at most 64 MiB in the process), and
 * the pooled memory, plans and compiled programs of every open device, also while other contexts
 * use it. Arrays stay; later calls allocate and compile again what they need. collet_finish reports
 * failures of the work.
 */
COLLET_API collet_status collet_trim(collet_context *context);

/* ---- Time -------------------------------------------------------------------------------- */

/*
 * A timestamp is the time at which everything that the context has enqueued on a device so far is
 * done, like a recorded event of CUDA. To measure calls, take a timestamp before and a timestamp
 * after them; collet_timestamp_elapsed gives the difference.
 *
 * `device` NULL: the first device of the context's choice that can be opened. If the device has a clock of its own
 * (the extension collet.timing/1), the call does not wait and the device goes on working. Otherwise the host's clock is
 * used, and the call waits for the context's work on the device if the device is asynchronous. A timestamp holds a
 * reference to the runtime. REFUSED, NO_MEMORY, FAILED, DEVICE_LOST.
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
 * of another runtime. FAILED, DEVICE_LOST: work before one of the timestamps failed, or the device
 * recorded no time for one of them.
 */
COLLET_API collet_status collet_timestamp_elapsed(collet_context *context,
                                                  const collet_timestamp *first,
                                                  const collet_timestamp *last,
                                                  int64_t *nanoseconds, int32_t *clock);
/* Waits until the timestamp is reached, and frees it. Any thread; NULL does nothing. */
COLLET_API void collet_timestamp_destroy(collet_timestamp *timestamp);

#ifdef __cplusplus
}
#endif
#endif
