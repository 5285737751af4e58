/* SPDX-License-Identifier: Apache-2.0 */
/* A capture: the calls that a thread makes become the steps of a recording of libcore. It
 * follows values by their serial numbers. A value that is older than the capture is a constant.
 * If a call uses a newer value that no captured call made, or if elements are read or written by
 * the host, the capture fails: the recording would not repeat that. All functions need the GIL,
 * and have no effect if the thread has no capture. */
#pragma once

#include <collet/recording.h>

#include "value.h"

#define CAPTURE_UNKNOWN COLLET_RECORDING_ABSENT /* in place of the number of a value */

typedef enum capture_kind { CAPTURE_NONE, CAPTURE_GIVEN, CAPTURE_VIEW, CAPTURE_MADE } capture_kind;

typedef struct capture_entry {
    uint64_t serial;   /* of the value */
    uint32_t number;   /* of the value in the recording */
    capture_kind kind; /* an input or a constant; a view; or the output of a call */
} capture_entry;

typedef struct capture {
    collet_recording *handle;
    uint64_t begin; /* the serial number of the last older value */
    int64_t bytes;  /* of the results of all calls */
    int failed;
    capture_entry *entries;
    size_t count, room;
    PyObject *kept; /* a list of the Expressions that the recording needs */
} capture;

/* Begins a capture in *c, which has a handle and a list; ends it. The caller frees `entries`. */
void capture_begin(capture *c);
void capture_end(void);

/* The capture of the calling thread; NULL: there is none, or it has failed. */
capture *capture_now(void);
void capture_fail(void);

/* The number of a value, or CAPTURE_UNKNOWN. A value that is older than the capture becomes a
 * constant. */
uint32_t capture_number(const lazy_value *v);
/* Its kind; CAPTURE_NONE: it has no number. */
capture_kind capture_kind_of(const lazy_value *v);
/* Gives the number to a value. */
void capture_name(const lazy_value *v, uint32_t number, capture_kind kind);
/* Gives the number to a value that a call made. The capture fails if the value has a number
 * already: its elements changed. */
void capture_made(const lazy_value *v, uint32_t number);
/* Makes the value a constant. */
void capture_constant(const lazy_value *v);
/* The number of the view `view` (COLLET_VIEW_*) of the value `from`. */
uint32_t capture_view(uint32_t from, uint32_t view, const int64_t *numbers, int32_t count);
