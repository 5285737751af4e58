/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace - a file of events with their times, in the JSON array of Chrome's trace event format, which
 * Perfetto reads.
 *
 * Each event is one write to a file that is opened for appending: a killed process loses no event
 * that has ended, and several runtimes, also of several processes, may share the file. The last of these runtimes to
 * close the file writes the array's end, which readers do not require. Any thread.
 */
#pragma once

#include "log.h"

typedef struct trace trace;

/* Where an event is drawn: in the row `thread` of this process or of one of its devices. */
#define TRACE_HOST (-1)

typedef struct trace_row {
    int32_t device; /* ordinal, or TRACE_HOST */
    int64_t thread;
} trace_row;

typedef struct trace_event {
    const char *category; /* "call", "kernel", "transfer" or "wait" */
    const char *name;
    const char *device; /* its name; "": none */
    const char *detail; /* operands or bytes; "": none */
    const char *clock;  /* "host" or "device" */
    int64_t begin, end; /* nanoseconds, as trace_now */
    trace_row row;
} trace_event;

/* Opens the file and replaces its contents, unless another process or runtime is still writing a trace to the file.
 * In that case events are appended. IO; NO_MEMORY. `log` must outlive the trace. */
collet_status trace_create(trace **out, const char *path, const message_log *log,
                           collet_error *err);
/* NULL does nothing. */
void trace_destroy(trace *t);

/* Nanoseconds of the monotonic clock. */
int64_t trace_now(void);
/* The row of the calling thread. */
trace_row trace_here(int32_t device);

void trace_write(trace *t, const trace_event *event);
/* Sets the name of a device (row.thread 0), or of a row of the device (row.thread > 0). */
void trace_name(trace *t, trace_row row, const char *name);
