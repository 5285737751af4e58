/* SPDX-License-Identifier: Apache-2.0 */
/* locks.h - HDF5's locks of files. Tests: tests/tools/rsoxs/test_rsoxs.c, tests/engines/test_io_h5md.c */
#pragma once

#include <hdf5.h>
#include <stdlib.h>

/* Files that are opened with these access properties are not locked. Before HDF5 1.10.7 only an
 * environment variable prevents locks: HDF5 reads this variable when it opens a file, so the variable holds for all
 * files. */
static inline void io_hdf5_without_locks(hid_t access)
{
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access, 0, 1);
#else
    (void)access;
    (void)setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
#endif
}
