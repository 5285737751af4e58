/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - opens the files of a run, checks them against each other, and selects the atoms. */
#pragma once

#include "files.h"
#include "settings.h"
#include "trajectory/arrangement/apart.h"
#include "trajectory/arrangement/arrangement.h"
#include "trajectory/bodies/bodies.h"
#include "trajectory/atoms/choice.h"
#include "trajectory/atoms/masses.h"
#include "trajectory/atoms/system.h"
#include "trajectory/compute/outputs.h"
#include "trajectory/reading/reader.h"

typedef struct trajectory_inputs {
    const trajectory_settings *settings; /* the settings with which the inputs were opened */
    trajectory_unpacked unpacked;
    trajectory_topology *topology;
    trajectory_reader *trajectory; /* the reader's selection and slice are set */
    const trajectory_reader_info *info;
    trajectory_arrangement *arrangement; /* turns atoms that are read into the selected atoms */
    trajectory_apart *apart;             /* NULL: no body has several molecules that count */
    trajectory_choice *choice;
    int64_t *selected; /* the selected atoms that are in a body, ascending */
    int64_t n_selected;
    trajectory_bodies bodies;
    const int64_t *indices; /* members of the bodies: atoms in the order of the kernels' arrays */
    int64_t n_atoms;        /* number of members */
    double *masses;         /* masses of the members, amu; each body has a mass > 0 */
    double *charges;        /* charges of the members, elementary charges; NULL: unknown */
    trajectory_composition composition; /* elements of the selection, if masses follow from them */
    trajectory_system system;           /* atoms whose drift is removed; n = 0: no drift is removed */
    char *elements;                     /* text of `composition`; NULL: masses are given */
    double mass;                        /* sum over the selection, amu */
    char **atom_labels;                 /* n_atoms, if positions are an output; else NULL */
    double *reference;                  /* n_atoms x 3, nm; NULL = the first frame that is read */
    char reference_format[8];
} trajectory_inputs;

/* Opens everything that the settings name. Until the inputs are closed, the settings must stay valid, and
 * *inputs must stay at its address. COLLET_CANCELLED if `poll` stops the work. COLLET_IO and COLLET_FORMAT for
 * faults of files; the text names files that do not match. COLLET_INVALID for a selection without atoms, or a
 * body without mass. On an error nothing is left open. The caller closes the inputs. */
collet_status trajectory_inputs_open(trajectory_inputs *inputs, const trajectory_settings *settings,
                                     const io_poll *poll, collet_error *err);

/* Rows of the shard that the settings choose. */
typedef struct trajectory_share {
    int64_t rows;      /* number of rows of all shards */
    int64_t first_row; /* this shard has rows first_row .. end_row - 1 */
    int64_t end_row;
    int64_t first; /* number of the frame of first_row */
    int reads;     /* 0: the shard has no frame */
} trajectory_share;

/* Counts the frames, with an index in `directory` if the format needs one. Makes the reader deliver first the frames
 * that are needed to arrange the shard's frames, then the shard's frames. */
collet_status trajectory_inputs_divide(trajectory_inputs *inputs, const char *directory,
                                       trajectory_share *share, collet_error *err);

/* Makes the first frame that is read the reference, unless there is one. Call it after trajectory_inputs_divide.
 * `velocities`, `forces`: 1 if frames without this field may be left out. */
collet_status trajectory_inputs_take_first(trajectory_inputs *inputs, const char *directory,
                                           int velocities, int forces, collet_error *err);

/* Returns the lengths of the results' axes. */
trajectory_extent trajectory_inputs_extent(const trajectory_inputs *inputs);

/* Returns the labels of the second axis. */
trajectory_labels trajectory_inputs_labels(const trajectory_inputs *inputs);

void trajectory_inputs_close(trajectory_inputs *inputs);
