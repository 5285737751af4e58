/* SPDX-License-Identifier: Apache-2.0 */
/* Any selection text is refused with a message, or selects atoms of a topology in ascending order.
 */
#include "trajectory/atoms/selection.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char names[][TRAJECTORY_ATOM_NAME] = {"N", "CA", "C", "O", "HB1", "OW", "NA", ""};
static char residues[][TRAJECTORY_ATOM_NAME] = {"ALA",  "ALA", "NGLY", "GLY",
                                                "CSER", "SOL", "NA",   "*"};
static int32_t ids[] = {1, 1, 2, 2, 3, 99999, 0, -1};
static const trajectory_topology topology = {
    .n_atoms = 8, .names = names, .residue_names = residues, .residue_ids = ids};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    trajectory_selection *selection;
    collet_error err;
    int64_t *indices, n;

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    err.text[0] = '\0';
    if (trajectory_selection_compile(text, &selection, &err) != COLLET_OK) {
        if (selection != NULL || err.text[0] == '\0')
            abort();
    } else if (trajectory_selection_apply(selection, &topology, NULL, &indices, &n, &err) ==
               COLLET_OK) {
        for (int64_t i = 0; i < n; i++)
            if (indices[i] < 0 || indices[i] >= topology.n_atoms ||
                (i > 0 && indices[i] <= indices[i - 1]))
                abort();
        free(indices);
    }
    trajectory_selection_free(selection);
    free(text);
    return 0;
}
