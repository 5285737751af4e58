/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - describes a work as JSON: the options that determine its results, and the identity of its input files.
 * Shards of the same work have equal JSON. */
#pragma once

#include "settings.h"

#include <cjson/cJSON.h>

/* Adds an item to an object, or with key NULL to an array. Returns 0, after deleting the item, if `object` or `item`
 * is NULL or if out of memory. */
int trajectory_work_put(cJSON *object, const char *key, cJSON *item);

/* The JSON of a work, which the caller deletes; NULL if out of memory. */
cJSON *trajectory_work_describe(const trajectory_settings *settings);

/* The command line of the settings and the working directory, as JSON that the caller deletes; NULL if out
 * of memory. */
cJSON *trajectory_work_origin(const trajectory_settings *settings);

/* Checks the JSON of a work from the file `path`. COLLET_FORMAT. */
collet_status trajectory_work_check(const cJSON *work, const char *path, collet_error *err);

/*
 * Sets *settings to the options in `work` (after trajectory_work_check) and `origin` (trajectory_work_origin), and to
 * the options of `given` that do not belong to a work: context, threads, log, batch sizes, progress, source, and
 * `backend` if it is not NULL. `masses`: the work's mass_values; NULL: the work has none. COLLET_INVALID if an input
 * file was changed after `work` was made; NO_MEMORY. After an error nothing is left to free. */
collet_status trajectory_work_settings(const cJSON *work, const char *path, const cJSON *origin,
                                       const collet_trajectory_options *given, const double *masses,
                                       trajectory_settings *settings, collet_error *err);
