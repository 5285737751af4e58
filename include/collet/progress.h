/* SPDX-License-Identifier: Apache-2.0 */
/* collet/progress.h - progress and cancellation of long calls of the engines. */
#ifndef COLLET_PROGRESS_H
#define COLLET_PROGRESS_H

#include <stdint.h>

/* Set by the engine; valid during the call of the function. */
typedef struct collet_progress {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t done;      /* frames, energies, weights or vectors so far, as the engine's header states */
    uint64_t bytes;    /* bytes of the input read so far; 0: not counted */
    double fraction;   /* 0 to 1; an estimate where parts of the work differ in size */
    const char *stage; /* what is being done; NULL: the work itself. Valid during the call */
} collet_progress;

/* A function of the program that an engine calls during a long call, on the thread of that call. If it returns a
 * value other than 0, the engine stops and its function returns COLLET_CANCELLED. The function may use neither
 * the engine's object nor a context that the engine uses. */
typedef int32_t (*collet_progress_fn)(void *user, const collet_progress *progress);

#endif
