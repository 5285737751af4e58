/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_arrangement.c, tests/tools/test_extract_periodic.c */
#include "periodic.h"

#include "trajectory/arrangement/drift.h"

#include <stdio.h>

static const struct {
    const char *name;
    const char *then; /* text after "molecules were made whole by ..." */
} modes[] = {
    [COLLET_TRAJECTORY_PBC_WHOLE] = {"whole", ""},
    [COLLET_TRAJECTORY_PBC_NOJUMP] = {"nojump", " and do not jump between frames"},
    [COLLET_TRAJECTORY_PBC_CENTER] = {"center", " and packed round the selection's centre"},
    [COLLET_TRAJECTORY_PBC_NONE] = {"none", ""},
};

const char *trajectory_periodic_name(uint32_t pbc)
{
    return modes[pbc].name;
}

static const char *known_by(uint32_t known)
{
    static const char *const texts[] = {
        "no bonds or residues are known: atoms are single",
        [TRAJECTORY_BY_BONDS] = "molecules were made whole by bonds",
        [TRAJECTORY_BY_RESIDUES] = "molecules were made whole by residues",
        [TRAJECTORY_BY_BONDS | TRAJECTORY_BY_RESIDUES] =
            "molecules were made whole by bonds and residues",
        [TRAJECTORY_BY_DISTANCES] = "molecules were made whole by distances of the first frame",
        [TRAJECTORY_BY_DISTANCES | TRAJECTORY_BY_BONDS] =
            "molecules were made whole by bonds and distances of the first frame",
        [TRAJECTORY_BY_DISTANCES | TRAJECTORY_BY_RESIDUES] =
            "molecules were made whole by residues and distances of the first frame",
        [TRAJECTORY_BY_DISTANCES | TRAJECTORY_BY_BONDS | TRAJECTORY_BY_RESIDUES] =
            "molecules were made whole by bonds, residues and distances of the first frame",
    };

    return texts[known];
}

void trajectory_periodic_describe(collet_trajectory *x)
{
    const trajectory_arrangement_notes *notes = &x->notes.arranged;
    uint32_t pbc = x->settings.pbc;

    if (pbc == COLLET_TRAJECTORY_PBC_NONE)
        snprintf(x->periodic, sizeof x->periodic, "positions are as in the file");
    else if (x->notes.boxed == 0)
        snprintf(x->periodic, sizeof x->periodic, "the file has none");
    else
        snprintf(x->periodic, sizeof x->periodic, "%s%s", known_by(notes->known), modes[pbc].then);
}

const char *trajectory_periodic_drift_name(uint32_t drift)
{
    static const char *const names[] = {
        [COLLET_TRAJECTORY_DRIFT_KEEP] = "keep",
        [COLLET_TRAJECTORY_DRIFT_LINEAR] = "linear",
        [COLLET_TRAJECTORY_DRIFT_ANGULAR] = "angular",
        [COLLET_TRAJECTORY_DRIFT_BOTH] = "both",
    };

    return names[drift];
}

int trajectory_periodic_moved(const collet_trajectory *x)
{
    const trajectory_settings *s = &x->settings;

    return (x->notes.boxed > 0 && trajectory_drift_moves(s->drift, s->pbc, 1)) ||
           (x->notes.boxed < x->notes.n_frames && trajectory_drift_moves(s->drift, s->pbc, 0));
}

void trajectory_periodic_describe_drift(collet_trajectory *x)
{
    uint32_t drift = x->settings.drift;
    int linear = (drift & COLLET_TRAJECTORY_DRIFT_LINEAR) != 0;
    int angular = (drift & COLLET_TRAJECTORY_DRIFT_ANGULAR) != 0;
    int velocities = (x->has & TRAJECTORY_VELOCITIES) != 0, moved = trajectory_periodic_moved(x);
    long long n = (long long)x->inputs.system.n;

    if (drift == COLLET_TRAJECTORY_DRIFT_KEEP)
        return;
    if (velocities)
        snprintf(x->drift, sizeof x->drift, "%s%s%s of %lld atom%s removed from velocities%s",
                 linear ? "motion of the centre of mass" : "", linear && angular ? " and " : "",
                 angular ? "rotation" : "", n, n == 1 ? "" : "s",
                 moved    ? ", displacement of the centre of mass from positions"
                 : linear ? "; positions in the box stay as they are"
                          : "");
    else if (moved)
        snprintf(x->drift, sizeof x->drift,
                 "displacement of the centre of mass of %lld atom%s removed from positions", n,
                 n == 1 ? "" : "s");
    else
        snprintf(x->drift, sizeof x->drift, "no key has changed: no velocities are read, and %s",
                 linear ? "positions in the box stay as they are" : "positions are not turned");
}
