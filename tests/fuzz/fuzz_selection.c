/* SPDX-License-Identifier: Apache-2.0 */
/* Any selection text is refused with a message, or selects atoms of a topology in ascending order.
 * A selection that does not vary selects the same atoms in all frames. */
#include "trajectory/atoms/choice.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char names[][TRAJECTORY_ATOM_NAME] = {"N", "CA", "C", "O", "HB1", "OW", "NA", ""};
static char residues[][TRAJECTORY_ATOM_NAME] = {"ALA",  "ALA", "NGLY", "GLY",
                                                "CSER", "SOL", "NA",   "*"};
static int32_t ids[] = {1, 1, 2, 2, 3, 99999, 0, -1};
static char insertions[] = {0, 0, 'A', 'A', 0, 0, 0, 0};
static char chains[][TRAJECTORY_ATOM_NAME] = {"A", "A", "B", "B", "A", "", "", ""};
static double masses[] = {14, 12, 12, 16, 1, 16, 23, 0};
static const trajectory_topology topology = {.n_atoms = 8,
                                             .names = names,
                                             .residue_names = residues,
                                             .residue_ids = ids,
                                             .insertions = insertions,
                                             .chains = chains,
                                             .segments = chains,
                                             .masses = masses,
                                             .charges = masses};
static float positions[] = {0,    0,    0,    0.2f, 0.1f, 0,    0.3f, 0.3f, 0.3f, 1, 1, 1,
                            1.9f, 0.1f, 1.9f, 5,    5,    5.5f, -3,   -4,   7,    1, 1, 1.25f};
static double box[] = {2, 0, 0, 0, 2, 0, 1, 1, 1.5};
static const trajectory_frames frames = {
    .dtype = COLLET_F32, .n_atoms = 8, .n_frames = 1, .positions = positions, .boxes = box};

static void check(trajectory_choice *choice)
{
    int64_t n, n_atoms, count, sum = 0;
    const int64_t *members = trajectory_choice_members(choice, &n);
    /* The frame has all atoms, so the position of an atom in it is the atom's index. */
    const int64_t *atoms = trajectory_choice_atoms(choice, &n_atoms);
    uint8_t chosen[8];

    if (n > 8 || n_atoms > 8 || (n_atoms > 0 && !trajectory_choice_varies(choice)))
        abort();
    for (int64_t i = 0; i < n; i++)
        if (members[i] < 0 || members[i] >= topology.n_atoms ||
            (i > 0 && members[i] <= members[i - 1]))
            abort();
    if (trajectory_choice_find(choice, &frames, 0, atoms, chosen, &count, NULL) != COLLET_OK)
        abort();
    for (int64_t i = 0; i < n; i++)
        sum += chosen[i];
    if (sum != count || (!trajectory_choice_varies(choice) && count != n))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    trajectory_selection *selection;
    trajectory_choice *choice;
    collet_error err;

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    err.text[0] = '\0';
    if (trajectory_selection_compile(text, &selection, &err) != COLLET_OK) {
        if (selection != NULL || err.text[0] == '\0')
            abort();
    } else if (trajectory_choice_create(selection, &topology, NULL, &choice, &err) == COLLET_OK) {
        check(choice);
        trajectory_choice_free(choice);
    } else if (err.text[0] == '\0') {
        abort();
    }
    trajectory_selection_free(selection);
    free(text);
    return 0;
}
