/* SPDX-License-Identifier: Apache-2.0 */
/* rsoxs_runs.h - makes files for collet-rsoxs in `directory`, and runs collet-rsoxs there. */
#ifndef TESTS_TOOLS_RSOXS_RSOXS_RUNS_H
#define TESTS_TOOLS_RSOXS_RSOXS_RUNS_H

#include <hdf5.h>

#include "io_files.h"
#include "tool_run.h"

#define Z 3
#define Y 20
#define X 24
#define ENERGIES 40

/* The faults of a morphology; all NULL: no faults. */
typedef struct flaws {
    const char *missing;     /* a dataset */
    const char *nan, *large; /* datasets with a voxel that is NaN or too large */
    const char *zero;        /* a dataset that is 0 in the voxel of `nan` */
    const char *degrees;     /* a dataset with angles in degrees */
    const char *narrow;      /* a dataset with one voxel too few along y */
} flaws;

/* Creates a file with the voxel size and the number of materials. The caller closes it. */
hid_t create_morphology(const char *name, double materials);
void write_morphology(const char *name, const flaws *f);
/* Writes a morphology of 2^62 voxels in chunks, none of which is stored. */
void write_huge(const char *name);
void write_text(const char *name, const char *text);
/* Writes a configuration with the energies `first`, 281, 282, ... (eV), and the text `more` at its
 * end. */
void write_configuration(const char *name, const char *first, int energies, const char *more);
/* Writes optical constants for 280, 281, ... eV. */
void write_constants(const char *name, int energies);

extern char *directory; /* the working directory of all runs */

/* Makes `directory` with film.h5, config.txt, Material1.txt and Material2.txt, without faults. */
int rsoxs_set_up(void **state);
int rsoxs_tear_down(void **state);

tool_result rsoxs_with(const tool_setup *more, const char *const *args);
#define RSOXS(...) rsoxs_with(NULL, (const char *const[]){__VA_ARGS__, NULL})

/* Runs collet-rsoxs with these arguments; it must exit with `status` and print `text`. */
#define EXPECT(status, text, ...)                                                                  \
    do {                                                                                           \
        tool_result r_ = RSOXS(__VA_ARGS__);                                                       \
        tool_expect(&r_, status);                                                                  \
        assert_contains((status) ? r_.err : r_.out, text);                                         \
    } while (0)

#endif
