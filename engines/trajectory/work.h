/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - what a work is, as JSON: the options that decide its results, and the identity of its
 * inputs. Shards of one work have equal JSON. */
#ifndef ENGINES_TRAJECTORY_WORK_H
#define ENGINES_TRAJECTORY_WORK_H

#include "settings.h"

#include <cjson/cJSON.h>

/* Adds an item to an object, or with key NULL to an array. 0: one is NULL, or out of memory; the item is
 * deleted then. */
int trajectory_work_put(cJSON *object, const char *key, cJSON *item);

/* NULL: out of memory. The caller deletes it. */
cJSON *trajectory_work_describe(const trajectory_settings *settings);

/* The command line of the settings, and the working directory; likewise. */
cJSON *trajectory_work_origin(const trajectory_settings *settings);

/* Checks the JSON of a work from the file `path`. COLLET_FORMAT. */
collet_status trajectory_work_check(const cJSON *work, const char *path, collet_error *err);

/*
 * Sets *settings to the options of a work, which was checked, and its origin, and the options of `given` that do not
 * belong to it: context, threads, log, batch sizes, progress, source, and `backend` where it names one. `masses`:
 * its mass_values; NULL: it has none.
 * COLLET_INVALID where an input is not the file that it
 * was; NO_MEMORY. Nothing is left to free then.
 */
collet_status trajectory_work_settings(const cJSON *work, const char *path, const cJSON *origin,
                                       const collet_trajectory_options *given, const double *masses,
                                       trajectory_settings *settings, collet_error *err);

#endif
