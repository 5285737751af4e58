/* SPDX-License-Identifier: Apache-2.0 */
/* choice.h - the atoms of a topology that a selection chooses: in all frames, or in each. */
#pragma once

#include "groups.h"
#include "selection.h"
#include "trajectory/formats/frames.h"
#include "trajectory/formats/names.h"

typedef struct trajectory_choice trajectory_choice;

/* Applies a selection to a topology; no pointer to the arguments is kept. `groups` may be NULL.
 * COLLET_INVALID for a group or a property that does not exist; COLLET_NO_MEMORY. On an error *out
 * is NULL. */
collet_status trajectory_choice_create(const trajectory_selection *selection,
                                       const trajectory_topology *topology,
                                       const trajectory_groups *groups, trajectory_choice **out,
                                       collet_error *err);

/* The function collet_trajectory_source.choose. */
typedef collet_status trajectory_frame_choice(void *user, uint8_t *chosen, int64_t index,
                                              collet_error *err);

/* After this call `choose` chooses in each frame among the atoms of the selection, so the choice varies from
 * frame to frame. Call it before the first trajectory_choice_find. */
void trajectory_choice_set_frames(trajectory_choice *choice, trajectory_frame_choice *choose,
                                  void *user);

/* NULL is allowed. */
void trajectory_choice_free(trajectory_choice *choice);

/* Returns the chosen atoms; if the choice varies, all atoms that could be chosen in some frame: *n atoms, ascending.
 * Valid as long as the choice. */
const int64_t *trajectory_choice_members(const trajectory_choice *choice, int64_t *n);

/* 1 if frames may choose different atoms. */
int trajectory_choice_varies(const trajectory_choice *choice);

/* Returns the atoms whose positions the choice depends on, *n of them, ascending. */
const int64_t *trajectory_choice_atoms(const trajectory_choice *choice, int64_t *n);

/* Sets chosen[i] to 1 if member i is chosen in frame `frame` of `frames`, by its positions and box, else to 0;
 * sets *count to the number of chosen members. rows[i] is the row in the frames of atom i of
 * trajectory_choice_atoms. An atom without a finite position is near no atom. Several threads may call it.
 * COLLET_FORMAT for a flat box, COLLET_NO_MEMORY, and the errors of the function of trajectory_choice_set_frames.
 */
collet_status trajectory_choice_find(trajectory_choice *choice, const trajectory_frames *frames,
                                     int64_t frame, const int64_t *rows, uint8_t *chosen,
                                     int64_t *count, collet_error *err);
