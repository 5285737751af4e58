/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - the files of a run, opened, checked against each other and reduced to the selection.
 */
#ifndef COLLET_EXTRACT_INPUTS_H
#define COLLET_EXTRACT_INPUTS_H

#include "settings.h"
#include "trajectory/atoms/selection.h"
#include "trajectory/formats/trajectory.h"

typedef struct extract_inputs {
    collet_topology *topology;
    collet_trajectory *trajectory; /* selection and slice are set */
    const collet_trajectory_info *info;
    int64_t *indices;  /* of the selected atoms, ascending */
    int64_t n_atoms;   /* selected */
    double *masses;    /* of the selected atoms, amu */
    double mass_all;   /* sum over the topology */
    double mass;       /* sum over the selection, > 0 */
    double *reference; /* n_atoms x 3, nm; NULL = the first frame that is read */
    char reference_format[8];
} extract_inputs;

/*
 * Opens everything that the settings name; COLLET_CANCELLED when `poll` stops it. The text of an
 * error names the files that do not match: COLLET_IO and COLLET_FORMAT for files, COLLET_INVALID
 * for a selection without atoms or mass. On an error nothing is left open. The caller closes the
 * inputs.
 */
collet_status extract_inputs_open(extract_inputs *inputs, const extract_settings *settings,
                                  const collet_poll *poll, collet_error *err);

/* The trajectory of the settings once more, all of it. */
collet_status extract_inputs_reopen(const extract_settings *settings, const collet_poll *poll,
                                    collet_trajectory **out, collet_error *err);

void extract_inputs_close(extract_inputs *inputs);

#endif
