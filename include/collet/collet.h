/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/collet.h - the interface for programs: it includes the headers of
 *
 *   - collet/status.h: status, errors, dtypes, the version
 *   - collet/runtime.h: the runtime, its backends, devices, records and settings
 *   - collet/context.h: contexts, the choice of a backend, memory, time
 *   - collet/array.h: arrays and views
 *   - collet/native.h: native handles, page-locked memory, DLPack
 *   - collet/call.h: calls of kernels, descriptions of ops
 *
 * collet/ops.h has a function for each op, collet/expression.h expressions, collet/recording.h lists of
 * calls that one call replays. The objects are
 *
 *   - collet_runtime: the backends that were found; shared by all threads.
 *   - collet_context: a choice of backend, a queue per device; one thread at a time.
 *   - collet_array: a strided view of reference-counted bytes, which stay in the memory space of
 *     their last use.
 *
 * Conventions
 *
 *   - One order of parameters, here, in plugin.h and in the engines' headers:
 *       1. what the function acts on: the runtime or context, then the array, the timestamp, ... or
 *          the id of an op
 *       2. what it creates or fills: `**out`, structs and memory of the caller
 *       3. inputs, then options
 *       4. err
 *     The capacity of a buffer, and an offset in it, follow the buffer. Callbacks act on `user`.
 *     Capacities and bytes of memory of this process, and indices, are size_t; bytes and offsets on
 *     devices, and all bytes in structs, are uint64_t.
 *     Only collet_fail and collet_fail_text have err first, because they fill it.
 *   - A parameter `device` or `space` is "host" or one device as in collet_set_backend ("cuda:0");
 *     the function opens the device. The errors are UNKNOWN_BACKEND and UNAVAILABLE as in
 *     collet_set_backend, and INVALID for lists, "auto" and everything else.
 *   - The life of every object ends with a function _destroy, which accepts NULL.
 *   - Every function that can fail returns a collet_status. Functions of libcore that take a context
 *     store the error's text for the calling thread (collet_last_error); libcore's other functions, and
 *     all functions of the engines, have a parameter `err` (may be NULL). Threads that take turns with
 *     one context do not see each other's texts.
 *   - `**out` belongs to the caller. Pointers that getters return belong to the object and are
 *     valid until it is destroyed, unless stated otherwise.
 *   - Structs begin with struct_size. The caller sets it to the sizeof of its own struct, so a program and a
 *     library of different versions work together. Members that the caller's struct lacks count as 0; members
 *     of a result that the library lacks are set to 0. INVALID: an input with a member that is not 0
 *     and that the library lacks, or with a reserved member that is not 0.
 *   - A failing call leaves its inputs, the context and earlier results as they were.
 *   - A runtime lives until its last context and array are destroyed, in any order.
 *   - A runtime is safe on any thread; a context belongs to one thread at a time; an array may be
 *     read by several contexts at once and written by one while nothing else reads it. Arrays may
 *     be destroyed on any thread.
 *   - A child of fork cannot use the parent's runtimes, contexts and arrays. In the child, functions
 *     that take such an object and return a status return COLLET_FORKED, except collet_last_status;
 *     collet_record_count returns 0. Getters, the other counts and collet_set_fallback work as
 *     before. Destroy functions release the child's memory, wait for nothing and touch no device.
 *     None of these functions blocks, whatever the parent's threads did at the fork. The child may
 *     create a runtime of its own and use it on any thread, unless a thread of the parent was
 *     opening a backend at the fork: then the C library's dlopen cannot be used in the child.
 *   - A call computes in the floating-point state of collet/floating.h, whatever state the thread
 *     has: it rounds to nearest, keeps subnormal numbers and has no traps. When it returns, the
 *     thread's state is as it was, except for sticky flags. Callbacks (log, progress, deleters) run
 *     in Collet's state and must not change it.
 *   - A thread with a stack of 48 KiB (pthread_attr_setstacksize) suffices for every call with the
 *     CPU backends, the first one included. A driver or library that a backend opens may need a
 *     larger stack; compilers of kernels need one. Give threads that use opencl or cuda 1 MiB.
 *   - A backend runs in this process: a crash in a kernel ends the program. The probe, in a child
 *     process, detects crashes and hangs that occur while a backend is loaded and looks for its
 *     devices. The backend "worker:NAME" runs NAME in a process of its own, whose crash is DEVICE_LOST here;
 *     docs/plugins/conduct.md lists what a fault does in the probe, in the program and in a worker.
 */
#ifndef COLLET_COLLET_H
#define COLLET_COLLET_H

#include <collet/array.h>
#include <collet/call.h>
#include <collet/context.h>
#include <collet/native.h>
#include <collet/runtime.h>
#include <collet/status.h>
#include <collet/types.h>

#endif
