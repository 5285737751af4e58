/* SPDX-License-Identifier: Apache-2.0 */
/* absent.h - what the engines say of .h5 files in a build without HDF5: "%s: " and this. */
#ifndef ENGINES_IO_HDF5_ABSENT_H
#define ENGINES_IO_HDF5_ABSENT_H

#define IO_HDF5_ABSENT                                                                             \
    "this Collet reads and writes no HDF5 files: it was built with COLLET_HDF5=OFF; build it "    \
    "with -DCOLLET_HDF5=ON"

#endif
