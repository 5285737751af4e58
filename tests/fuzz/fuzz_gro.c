/* SPDX-License-Identifier: Apache-2.0 */
/* Any .gro file is read as a topology and a trajectory, or refused with a message. */
#include "fuzz_file.h"

#include "trajectory/reading/topology.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trajectory_topology *topology;
    collet_error err;

    fuzz_file_begin(data, size, NULL);
    err.text[0] = '\0';
    if (trajectory_topology_read(FUZZ_PATH, NULL, &topology, &err) != COLLET_OK) {
        if (topology || err.text[0] == '\0')
            abort();
    } else if (topology->n_atoms < 1 || !topology->title) {
        abort();
    }
    trajectory_topology_free(topology);
    fuzz_read_trajectory();
    fuzz_file_end();
    return 0;
}
