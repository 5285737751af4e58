/* SPDX-License-Identifier: Apache-2.0 */
/* absent.h - the message of a build without HDF5 about .h5 files; the engines print "PATH: " before it. */
#pragma once

#define IO_HDF5_ABSENT                                                                             \
    "this Collet reads and writes no HDF5 files: it was built with COLLET_HDF5=OFF; build it "    \
    "with -DCOLLET_HDF5=ON"
