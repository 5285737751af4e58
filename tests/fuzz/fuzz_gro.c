/* SPDX-License-Identifier: Apache-2.0 */
/* Any .gro file is read as a topology and a trajectory, or refused with a message. */
#include "fuzz_file.h"

#include "trajectory/formats/topology.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    collet_topology *topology;
    collet_error err;
    int fd = fuzz_make_file(data, size, NULL, path);

    if (fd < 0)
        return 0;
    err.text[0] = '\0';
    if (collet_topology_read(path, NULL, &topology, &err) != COLLET_OK) {
        if (topology || err.text[0] == '\0')
            abort();
    } else if (topology->n_atoms < 1 || !topology->title) {
        abort();
    }
    collet_topology_free(topology);
    fuzz_read_trajectory(path);
    close(fd);
    return 0;
}
