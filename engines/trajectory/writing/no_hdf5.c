/* SPDX-License-Identifier: Apache-2.0 */
/* Results as HDF5 in a build without HDF5: refused before anything is computed.
 * Tests: tests/engines/test_no_hdf5.c */
#include "hdf5.h"

#include "io/hdf5/absent.h"

collet_status trajectory_hdf5_check(const char *path, collet_error *err)
{
    return collet_fail(err, COLLET_UNSUPPORTED, "%s: " IO_HDF5_ABSENT, path);
}

collet_status trajectory_hdf5_write(const trajectory_table *table, io_spool *file,
                                    collet_error *err)
{
    (void)table;
    (void)file;
    return collet_fail(err, COLLET_UNSUPPORTED, IO_HDF5_ABSENT);
}
