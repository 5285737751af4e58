/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - context, progress and error of a call to the engine. */
#pragma once

#include <collet/ternary.h>

typedef struct ternary_call {
    collet_context *context;
    collet_ternary_monitor monitor;
    int64_t done, total;                   /* the arguments for `progress` */
    collet_error
        error; /* error of the engine; if its status is COLLET_OK, the error of a failed call is in `context` */
} ternary_call;

/* INVALID if the monitor's struct is malformed; call->error has the text. */
collet_status ternary_call_begin(ternary_call *call, collet_context *context,
                                 const collet_ternary_monitor *monitor);
/* Copies the error of a failed call to *err, which may be NULL. Returns `status`. */
collet_status ternary_call_end(const ternary_call *call, collet_status status, collet_error *err);

/* Reports that `n` more weights or vectors are done. CANCELLED if the monitor ends the call. */
collet_status ternary_call_advance(ternary_call *call, int64_t n);
/* A callback: reports progress to the monitor and returns 1 if the monitor cancels the call. */
int ternary_call_stopped(void *call);

/* An operand of a kernel in the caller's memory. */
typedef struct ternary_operand {
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[2];
    void *data; /* NULL: the operand is absent */
} ternary_operand;

#define TERNARY_OPERANDS 4

/* Calls an op with `n_out` outputs, which come first in the list, and waits for them. `what` begins
 * the text of an error. */
collet_status ternary_kernel(ternary_call *call, const char *what, uint32_t op, const void *params,
                             const ternary_operand operands[TERNARY_OPERANDS], int n_out);
