/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - opens the files of a run, checks them against each other, and selects the atoms. */
#ifndef ENGINES_TRAJECTORY_INPUTS_H
#define ENGINES_TRAJECTORY_INPUTS_H

#include "settings.h"
#include "trajectory/arrangement/apart.h"
#include "trajectory/arrangement/arrangement.h"
#include "trajectory/bodies/bodies.h"
#include "trajectory/atoms/choice.h"
#include "trajectory/atoms/masses.h"
#include "trajectory/compute/outputs.h"
#include "trajectory/reading/reader.h"

typedef struct trajectory_inputs {
    const trajectory_settings *settings; /* the settings with which the inputs were opened */
    trajectory_topology *topology;
    trajectory_reader *trajectory; /* its selection and slice are set */
    const trajectory_reader_info *info;
    trajectory_arrangement *arrangement; /* turns atoms that are read into the selected atoms */
    trajectory_apart *apart;             /* NULL: no body has several chains */
    trajectory_choice *choice;
    int64_t *selected; /* the selected atoms that are in a body, ascending */
    int64_t n_selected;
    trajectory_bodies bodies;
    const int64_t *indices; /* their members: atoms in the order of the kernels' arrays */
    int64_t n_atoms;        /* number of members */
    double *masses;         /* of the members, amu; of each body > 0 */
    double *charges;        /* of the members, elementary charges; NULL: unknown */
    trajectory_composition composition; /* of the selection, where masses follow from elements */
    char *elements;                     /* its text; NULL: masses are given */
    double mass;                        /* sum over the selection */
    char **atom_labels;                 /* n_atoms, where positions are computed; else NULL */
    double *reference;                  /* n_atoms x 3, nm; NULL = the first frame that is read */
    char reference_format[8];
} trajectory_inputs;

/*
 * Opens everything that the settings name; they must be valid, and `inputs` stay in place, until it is
 * closed. COLLET_CANCELLED when `poll` stops the work. The text of
 * an error names the files that do not match: COLLET_IO and COLLET_FORMAT for files, COLLET_INVALID
 * for a selection without atoms, or a body without mass. On an error nothing is left open. The caller
 * closes the inputs.
 */
collet_status trajectory_inputs_open(trajectory_inputs *inputs, const trajectory_settings *settings,
                                     const io_poll *poll, collet_error *err);

/* Rows of the shard that the settings choose. */
typedef struct trajectory_share {
    int64_t rows;      /* of all shards */
    int64_t first_row; /* of this one */
    int64_t end_row;
    int64_t first; /* the number of the frame of first_row */
    int reads;     /* 0: it has no frame */
} trajectory_share;

/* Counts the frames, with an index in `directory` where the format needs one, and lets the reader
 * deliver the frames of the shard, after the frames that it needs to arrange them. */
collet_status trajectory_inputs_divide(trajectory_inputs *inputs, const char *directory,
                                       trajectory_share *share, collet_error *err);

/* Makes the first frame that is read the reference, unless there is one; after trajectory_inputs_divide.
 * `velocities`, `forces`: whether frames without them may be left out. */
collet_status trajectory_inputs_take_first(trajectory_inputs *inputs, const char *directory,
                                           int velocities, int forces, collet_error *err);

/* The lengths of the results' axes. */
trajectory_extent trajectory_inputs_extent(const trajectory_inputs *inputs);

/* The labels of the second axis. */
trajectory_labels trajectory_inputs_labels(const trajectory_inputs *inputs);

void trajectory_inputs_close(trajectory_inputs *inputs);

#endif
