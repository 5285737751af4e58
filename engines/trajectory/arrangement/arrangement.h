/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrangement.h - arranges the atoms of a frame between reading and the kernels.
 *
 * The reader delivers some atoms of the topology in ascending order: the members, and atoms that
 * make their molecules whole. Kernels get the members. The members may be in another order, and an atom may be
 * repeated.
 */
#pragma once

#include "members.h"
#include "tree.h"
#include "trajectory/reading/readahead.h"
#include "wholeness.h"

typedef struct trajectory_arrangement trajectory_arrangement;

/* COLLET_NO_MEMORY. On an error *out is NULL. */
collet_status trajectory_arrangement_create(const trajectory_arrangement_setup *setup,
                                            trajectory_arrangement **out, collet_error *err);

/* NULL is allowed. */
void trajectory_arrangement_free(trajectory_arrangement *arrangement);

/* Returns the atoms that the reader must deliver, *n of them, ascending; valid as long as the arrangement. */
const int64_t *trajectory_arrangement_atoms(const trajectory_arrangement *arrangement, int64_t *n);

/* The functions that arrange frames, valid as long as the arrangement; NULL: frames are used as they were read. */
const trajectory_arranger *
trajectory_arrangement_arranger(const trajectory_arrangement *arrangement);

/* Decides how molecules are made whole, and which molecules are cut, from the first frame of `read` that has a box.
 * Later calls do nothing. Without a call, the first arranged frame that has a box decides.
 * COLLET_NO_MEMORY. */
collet_status trajectory_arrangement_prepare(trajectory_arrangement *arrangement,
                                             const trajectory_frames *read, collet_error *err);

/* Reads the first frame that has a box, with the atoms that the reader delivers. *out has only this frame, and the
 * caller frees it. NULL: no such frame could be read. */
typedef collet_status trajectory_first_frame(void *user, trajectory_frames **out,
                                             collet_error *err);

/* Sets the function that reads the deciding frame. `number` is the number of the first frame. If another frame with a
 * box is arranged before anything is decided, `first` is called, on any thread, to read the frame that decides.
 * Threads arrange frames in any order, but the same frame must always decide. */
void trajectory_arrangement_set_first(trajectory_arrangement *arrangement,
                                      trajectory_first_frame *first, void *user, int64_t number);

/* Arranges frame 0 of `read`, which is from another file, into frame 0 of `out`. This frame does not count as the
 * first frame that is arranged. */
collet_status trajectory_arrangement_apart(trajectory_arrangement *arrangement,
                                           trajectory_frames *read, trajectory_frames *out,
                                           collet_error *err);

/* What the arrangement found in the first frame with a box, unless the comment of a member says otherwise. */
typedef struct trajectory_arrangement_notes {
    uint32_t known;     /* how molecules are known: TRAJECTORY_BY_* */
    int64_t frame;      /* number of the first frame with a box */
    trajectory_cut cut; /* molecules that the box still cuts in that frame; atoms of the topology */
    int64_t left[3];    /* number of molecules not made whole; index: TRAJECTORY_ENDLESS, ..UNJOINED */
    int64_t left_atom[3]; /* first atom, in the topology, of the first of these molecules */
    /* The following members are about all frames, with PBC_NOJUMP. */
    int64_t far;       /* steps of molecules beyond TRAJECTORY_FAR (path.h) */
    int64_t far_frame; /* frame, and atom in the topology, of the first such step */
    int64_t far_atom;
} trajectory_arrangement_notes;

/* 1 if bodies are followed (NOJUMP), and no body has atoms of several molecules. Then the path of a body is known
 * from its molecule's centre in each frame. */
int trajectory_arrangement_follows(const trajectory_arrangement *arrangement);

/* Returns the number of molecules that have atoms of the system. */
int64_t trajectory_arrangement_system(const trajectory_arrangement *arrangement);

/* 1 after a frame has decided how molecules are made whole. */
int trajectory_arrangement_is_decided(const trajectory_arrangement *arrangement);

/* Until trajectory_arrangement_is_decided returns 1, do not call this function while a frame is being arranged; after
 * that, other threads may arrange frames at the same time. */
void trajectory_arrangement_get_notes(const trajectory_arrangement *arrangement,
                                      trajectory_arrangement_notes *notes);
