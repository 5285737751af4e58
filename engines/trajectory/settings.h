/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - the options of an extraction, copied and checked. */
#ifndef COLLET_EXTRACT_SETTINGS_H
#define COLLET_EXTRACT_SETTINGS_H

#include <collet/trajectory.h>

/* Strings are the settings' own; NULL = not given. */
typedef struct extract_settings {
    char *topology;
    char *trajectory;
    char *selection; /* "all" when not given */
    char *masses;
    double *mass_values;
    int64_t n_mass_values;
    char *reference;
    char *keys;
    char *backend;
    char *program;
    char **command; /* ended by NULL */
    double axis[3];
    int64_t start; /* frames start, start + step, ... below stop */
    int64_t stop;  /* -1: the end of the file */
    int64_t step;
    int64_t threads;      /* 0: the user's settings, or all processors but one */
    int64_t batch_frames; /* 0: chosen by the size of a frame */
    int64_t batch_rows;
    collet_context *context; /* the caller's; NULL: our own */
    collet_extraction_progress_fn progress;
    void *progress_user;
    collet_log_fn log;
    void *log_user;
} extract_settings;

/* COLLET_INVALID with the name of the option, COLLET_NO_MEMORY; nothing is left to free then. */
collet_status extract_settings_copy(extract_settings *settings,
                                    const collet_extraction_options *options, collet_error *err);
void extract_settings_free(extract_settings *settings);

#endif
