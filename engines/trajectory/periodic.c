/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_arrangement.c, tests/tools/test_extract_periodic.c */
#include "periodic.h"

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
