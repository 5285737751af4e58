/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the members of collet_trajectory, private to this folder.
 *
 *   settings.c, inputs.c   options and files; needs no backend
 *   run.c                  runtime, reading thread and kernels; rows go to a trajectory_emit_fn
 *   batches.c, write.c     the two receivers of rows: the caller's batches, or files
 *   share.c, replay.c      write the file of a shard; read the rows of all shards
 *   checks.c, warnings.c   warnings about the results
 *   periodic.c             describes how positions were changed for the periodic box, and what drift was removed
 *   trajectory.c           create, destroy and information
 */
#pragma once

#include "arrangement/arrangement.h"
#include "compute/checks.h"
#include "compute/analysis.h"
#include "compute/lanes.h"
#include "compute/rows.h"
#include "devices/devices.h"
#include "inputs.h"
#include "shards/notes.h"
#include "replay.h"
#include "settings.h"

#include <cjson/cJSON.h>

/* Receives the numbers and times of the frames that were computed. */
typedef collet_status (*trajectory_take_frames)(void *user, int64_t n, const int64_t *indices,
                                                const double *times, collet_error *err);

typedef enum trajectory_stage {
    TRAJECTORY_OPEN,
    TRAJECTORY_RUNNING,
    TRAJECTORY_DONE
} trajectory_stage;

struct collet_trajectory {
    trajectory_settings settings;
    trajectory_inputs inputs;
    uint32_t has; /* fields that the chosen keys need: TRAJECTORY_VELOCITIES and so on */
    const char *left_out[TRAJECTORY_MAX_OUTPUTS]; /* NULL: computed */

    trajectory_stage stage;
    collet_status status; /* status that ended the work; every later call returns it */
    collet_error error;

    collet_runtime *runtime; /* NULL: the caller gave a context */
    collet_context *context; /* created in `runtime`, or the caller's context */
    int64_t batch_frames;    /* chosen or given */
    int32_t slots;           /* batches in memory */
    uint64_t batch_bytes;
    trajectory_analysis *analysis;
    trajectory_feed *feed;
    devices_list devices;         /* devices of the settings; if there are any, `context` is on the host */
    devices_shares planned;       /* shares that a plan has measured */
    trajectory_lanes *lanes;      /* lanes of `devices`; NULL: `analysis` takes the batches */
    trajectory_share share;       /* rows of this shard */
    cJSON *work;                  /* for a shard: the JSON of work.h, made before the inputs were opened */
    trajectory_replay *replay;    /* if rows come from shards; else NULL */
    int64_t rows_total;           /* number of rows to expect; 0: unknown */
    trajectory_emit_fn take_sums; /* for a shard, instead of `receive` */
    trajectory_take_frames take_frames;
    trajectory_rows_fn receive;
    void *receiver;
    collet_trajectory_batch_fn watch; /* NULL: none */
    void *watcher;
    double *component; /* scratch: one component of each row of a buffer */
    int64_t component_rows;
    trajectory_checks checks; /* only the emitting thread uses it until the work is done */
    trajectory_analysis_notes ran; /* set at the end: counters, and the backends that ran */
    trajectory_rows *rows; /* `next` takes rows from here; NULL before its first call */

    trajectory_notes notes;
    char periodic[128];       /* how positions were changed for the box; "" before the end */
    char drift[256];          /* the drift that was removed; "" before the end, and if no drift was removed */

    char **warnings;
    size_t n_warnings;
    char *output;   /* path that `write` wrote; NULL: none */
    int kept;       /* 1: the shard's file existed, and RESUME kept it */
    char *meta;     /* contents of the meta file */
    const char *id; /* identifier of the written files, while the meta file is made; else NULL */
    double began;   /* start of the work: seconds of the monotonic clock */
    double computed_seconds;
    double seconds; /* duration of the whole work; 0 before its end */
};
