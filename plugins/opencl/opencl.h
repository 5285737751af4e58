/* SPDX-License-Identifier: Apache-2.0 */
/* Private: the backend's objects and the functions that its files share. */
#pragma once

#include <limits.h>

#include <collet/extensions.h>

#include "shared/jit/runtime/backend.h"
#include "clblast.h"
#include "driver.h"

/* The most pending commands per queue: a further command first waits for the oldest. A power of two. */
#define OPENCL_COMMANDS 1024
/* A write of up to this size is copied, so that the caller need not wait for the device. */
#define OPENCL_STAGED ((uint64_t)64 << 10)

struct collet_device {
    jit_base base;
    opencl_driver cl;
    cl_device_id id;
    cl_context context;
    uint32_t on_host;  /* device and host share memory */
    opencl_blas blas;  /* protected by base.lock */
    struct ways *ways; /* choice of the implementation of products: ways.h; constant */
    char cache[PATH_MAX];      /* the directory of PoCL's cache; "": another driver */
    _Atomic int64_t looked_at; /* when the cache was last found usable, in ns of the monotonic clock */
    uint32_t single;   /* kernels must run in sequence: see opencl_is_single */
    pthread_mutex_t launching;
    cl_event launched; /* the latest kernel of a `single` device; protected by `launching` */
};

/* A command that may be pending. */
typedef struct opencl_command {
    cl_event event;
    void *staged;      /* owned copy of a write's bytes */
    const char *label; /* "write", or a kernel's label; owned by the queue's kernels */
} opencl_command;

struct collet_queue {
    jit_queue base;
    cl_command_queue handle;
    cl_command_queue before; /* the first handle, if opencl_profile has replaced it */
    jit_kernels kernels;     /* of this queue alone: no other thread sets their arguments */
    opencl_command commands[OPENCL_COMMANDS];
};

/* ---- devices.c ------------------------------------------------------------------------------- */

#define OPENCL_DEVICES 64
#define OPENCL_REASON 512

/* Finds the devices of all platforms, in the loader's order, and returns their number, at most OPENCL_DEVICES. If there
 * are none, returns 0 and sets `reason`. */
uint32_t opencl_find_devices(const opencl_driver *cl, cl_device_id ids[OPENCL_DEVICES],
                             char reason[OPENCL_REASON]);
/* Whether kernels must run in sequence: PoCL before version 6 miscounts the uses of a kernel's code while the
 * kernel runs in several sizes at once, and aborts the process. */
int opencl_is_single(const char *platform_version);
/* Sets `place` to the directory of PoCL's cache; "" for other drivers, or if it is unknown. For PoCL, also prevents
 * exit() from destroying objects of PoCL's compiler, because PoCL's threads may still be using them. */
void opencl_describe_compiler(const opencl_driver *cl, cl_device_id id, char place[PATH_MAX]);
/* If PoCL would end the process when it compiles with the cache `place`, returns 1 and sets `reason`. Else returns
 * 0, even if `place` is "". */
int opencl_cache_fails(const char *place, char reason[OPENCL_REASON]);
/* Whether two devices have the same name. */
int opencl_same_model(const opencl_driver *cl, cl_device_id a, cl_device_id b);
/* Sets traits, options, identity, total_memory and `single` from d->id. */
void opencl_describe(collet_device *d);

collet_status opencl_capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err);

/* ---- queue.c --------------------------------------------------------------------------------- */

/* A command of the queue, under the queue's lock: opencl_begin reserves a slot; if all slots are in use, it waits
 * for the oldest command. The caller enqueues the command with &command->event. If this succeeds, opencl_commit
 * returns the ticket. */
opencl_command *opencl_begin(collet_queue *q, const char *label);
uint64_t opencl_commit(collet_queue *q);
/* Like opencl_begin and opencl_commit, but opencl_start also takes the lock. opencl_finish commits, unless there is an
 * error, releases the lock, and returns a status as opencl_fail does; `ticket` may be NULL. */
opencl_command *opencl_start(collet_queue *q, const char *label);
collet_status opencl_finish(collet_queue *q, cl_int error, uint64_t *ticket, collet_error *err);

/* The first call replaces the queue's handle by a handle with profiling; its commands follow the commands of the first
 * handle. The caller holds the queue's lock. */
cl_int opencl_profile(collet_queue *q);

/* The status for an error of a call: REFUSED if a resource is short, DEVICE_LOST if the device was lost, else
 * FAILED; sets the text "what: CL_NAME". */
collet_status opencl_fail(collet_device *d, cl_int error, const char *what, collet_error *err);

/* ---- The parts of the driver (shared/jit/runtime/driver.h) ----------------------------------- */

extern const jit_memory_slots opencl_memory;
extern const jit_program_slots opencl_programs;
extern const jit_queue_slots opencl_queues;
extern const jit_copy_slots opencl_copies;
collet_status opencl_gone(collet_device *device, collet_error *err);
collet_status opencl_launch(collet_device *d, collet_queue *q, const jit_launch *l, uint64_t groups,
                            collet_error *err);

/* ---- native.c -------------------------------------------------------------------------------- */

extern const collet_native_extension opencl_native;

extern const collet_timing_extension opencl_timing;

/* ---- memory.c ------------------------------------------------------------------------------- */

extern const collet_pinned_extension opencl_pinned;
