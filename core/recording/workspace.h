/* SPDX-License-Identifier: Apache-2.0 */
/* workspace - the arrays of one run of a recording. Later runs use its arrays of intermediate values again. */
#pragma once

#include "steps.h"

#define WORKSPACE_KNOWN                                                                            \
    2 /* after so many runs, all kernels of a run have been compiled and have run */

typedef struct workspace {
    struct workspace *next;
    collet_array **own; /* for each value, the array that is kept for all runs, or NULL */
    collet_array **now; /* for each value, the array in the present run */
    collet_argument *arguments; /* room for the arguments of one evaluation */
    uint32_t runs;              /* completed runs, at most WORKSPACE_KNOWN */
} workspace;

/* Chooses the slot of each intermediate value, so that values that are not needed at the same time share memory. */
collet_status workspace_plan(collet_recording *r, collet_error *err);

/* A workspace that no other run uses: an idle one, or a new one. Errors go to the context. */
collet_status workspace_take(collet_context *cx, collet_recording *r, workspace **out);
/* Makes the workspace idle. */
void workspace_give_back(collet_recording *r, workspace *w);
void workspace_destroy_all(collet_recording *r);
