/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c */
#include "names.h"

#include <stdlib.h>

void trajectory_topology_free(trajectory_topology *topology)
{
    if (!topology)
        return;
    free(topology->title);
    free(topology->names);
    free(topology->residue_names);
    free(topology->residue_ids);
    free(topology);
}
