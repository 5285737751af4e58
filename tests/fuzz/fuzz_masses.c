/* SPDX-License-Identifier: Apache-2.0 */
/* Any file of masses is refused with a message, or has a mass for each atom. */
#include "fuzz_file.h"

#include "trajectory/atoms/masses.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const trajectory_topology topology = {.n_atoms = 4};
    double masses[4] = {-1, -1, -1, -1};
    collet_error err;

    err.text[0] = '\0';
    fuzz_file_begin(data, size, NULL);
    if (trajectory_masses_read(FUZZ_PATH, &topology, masses, &err) == COLLET_OK) {
        for (int i = 0; i < topology.n_atoms; i++)
            if (!isfinite(masses[i]) || masses[i] < 0)
                abort();
    } else if (err.text[0] == '\0') {
        abort();
    }
    fuzz_file_end();
    return 0;
}
