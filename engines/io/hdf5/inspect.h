/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.h - detects files that libhdf5 cannot read safely, in another process.
 *
 * On damaged files libhdf5 may crash or loop forever when it reads the header of an object, the index
 * of chunks, or strings of variable length such as labels. Before a program reads a file, the program
 * collet-inspect, in the folder of the plugins, runs the same function on it, with the same arguments and a
 * limit on processor time. collet-inspect ignores the function's result and then writes a byte to descriptor 1. The
 * byte means that reading did not crash.
 */
#pragma once

#include <collet/collet.h>

#define IO_HDF5_ARGUMENTS 4

/* Called in collet-inspect before each step of reading: sets how many seconds of processor time the step may take.
 * NULL in other programs. */
typedef void (*io_hdf5_step)(double seconds);

/* A function that reads a file, and its name on the command line of collet-inspect. The inspection is defined in the
 * source file of the function that reads. */
typedef struct io_hdf5_inspection {
    const char *kind;
    void (*run)(const char *path, const int64_t arguments[IO_HDF5_ARGUMENTS], io_hdf5_step step);
} io_hdf5_inspection;

/* Starts "collet-inspect KIND FILE ARGUMENT..." and waits until it ends. FORMAT if collet-inspect crashes or does not
 * end, IO if SIGKILL or SIGTERM ends it. OK if it cannot be started, because the library may be installed without
 * collet-inspect. May be called on any thread; takes about 10 ms plus the time to read the file. */
collet_status io_hdf5_inspect(const io_hdf5_inspection *inspection, const char *path,
                              const int64_t arguments[IO_HDF5_ARGUMENTS], collet_error *err);
