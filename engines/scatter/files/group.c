/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the groups and datasets of a morphology.
 * Tests: tests/tools/rsoxs/test_rsoxs_vectors.c */
#include "scatter/files/group.h"
#include "io/hdf5/file.h"

#include <inttypes.h>
#include <stdio.h>

static const char euler[] = "/Euler_Angles", vector[] = "/Vector_Morphology";
static const char old_vector[] = "/vector_morphology"; /* of CyRSoXS 1.1 */

const char *scatter_group(hid_t file, int vectors)
{
    if (!vectors)
        return euler;
    return !io_hdf5_has(file, vector) && io_hdf5_has(file, old_vector) ? old_vector : vector;
}

int scatter_has_group(hid_t file, int vectors)
{
    return io_hdf5_has(file, scatter_group(file, vectors));
}

void scatter_name_dataset(char name[SCATTER_NAME_SIZE], hid_t file, int vectors, int64_t m, const char *what)
{
    snprintf(name, SCATTER_NAME_SIZE, "%s/Mat_%" PRId64 "_%s", scatter_group(file, vectors), m + 1, what);
}
