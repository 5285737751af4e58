/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - copies and checks the options of a trajectory. */
#pragma once

#include <collet/trajectory.h>

/*
 * Options after 0 and NULL were replaced by the defaults. In these members 0 or NULL has a meaning of its own and
 * stays: `keys`, masses, `reference`, `backend`, `context`, `threads`, `batch_frames` and callbacks. `stop` is -1 for
 * the end of the file. The settings own their strings, masses and `command`. */
typedef collet_trajectory_options trajectory_settings;

/* COLLET_INVALID with the name of the option, COLLET_NO_MEMORY. After an error nothing is left to free. */
collet_status trajectory_settings_copy(trajectory_settings *settings,
                                       const collet_trajectory_options *options, collet_error *err);
/* Returns the number of continuations. */
int64_t trajectory_settings_continuations(const trajectory_settings *settings);
/* 1 if each atom has the mass 1. */
int trajectory_settings_equal_masses(const trajectory_settings *settings);

/* An option that is a text: name and offset of the member. */
typedef struct trajectory_settings_text {
    const char *name;
    size_t offset; /* offset of the char * in the settings */
    int is_place;  /* 1: the option determines where to write or compute, not the results */
} trajectory_settings_text;

/* NULL beyond the last. */
const trajectory_settings_text *trajectory_settings_text_at(size_t index);

void trajectory_settings_free(trajectory_settings *settings);
