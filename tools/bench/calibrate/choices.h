/* SPDX-License-Identifier: Apache-2.0 */
/* choices.h - the way in which a backend computes the measured calls, before and after the calibration. A way is the
 * backend's own kernels or a library (plugins/shared/host/util/ways.h). */
#pragma once

#include <stdint.h>

#include <cjson/cJSON.h>

#define CHOICE_WAYS 3
#define CHOICE_NAME 32

typedef struct choice {
    char key[CHOICE_NAME]; /* as in plugins/shared/host/util/ways.h */
    double side;
    char names[CHOICE_WAYS][CHOICE_NAME];
    double rates[CHOICE_WAYS]; /* NaN: not measured */
    int32_t before, now;       /* ways; -1: unknown */
} choice;

/* Returns the way that a backend chooses by calibrated rates: the fastest, if it is faster than the default way,
 * `usual`, by the factor WAYS_BETTER_CALIBRATED. usual = -1: unknown. */
int32_t choice_by(const double rates[CHOICE_WAYS], int32_t usual);

/* Sorts the choices by key and side. For each choice that has changed, prints the side, the new way and how
 * much faster it is, or adds this to `list`. Returns the number of changed choices; -1: out of memory. */
int32_t choices_tell(const char *backend, choice *choices, int32_t count, cJSON *list);
