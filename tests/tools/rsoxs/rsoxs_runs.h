/* SPDX-License-Identifier: Apache-2.0 */
/* rsoxs_runs.h - files for collet-rsoxs in `directory`, and its runs there. */
#ifndef TESTS_TOOLS_RSOXS_RSOXS_RUNS_H
#define TESTS_TOOLS_RSOXS_RSOXS_RUNS_H

#include <hdf5.h>

#include "io_files.h"
#include "tool_run.h"

#define Z 3
#define Y 20
#define X 24
#define ENERGIES 40

/* The faults of a morphology; zeros: none. */
typedef struct flaws {
    const char *missing;     /* a dataset */
    const char *nan, *large; /* datasets with such a voxel */
    const char *zero;        /* a dataset that is 0 in the voxel of `nan` */
    const char *degrees;     /* a dataset with angles in degrees */
    const char *narrow;      /* a dataset with a voxel less along y */
} flaws;

/* A file with the size of voxels and the number of materials; the caller closes it. */
hid_t create_morphology(const char *name, double materials);
void write_morphology(const char *name, const flaws *f);
/* With 2^62 voxels in chunks; none is stored. */
void write_huge(const char *name);
void write_text(const char *name, const char *text);
/* Energies `first`, 281, 282, ...; `more` at its end. */
void write_configuration(const char *name, const char *first, int energies, const char *more);
/* For 280, 281, ... eV. */
void write_constants(const char *name, int energies);

extern char *directory; /* of the files and runs */

/* Makes `directory` with film.h5, config.txt, Material1.txt and Material2.txt, without faults. */
int rsoxs_set_up(void **state);
int rsoxs_tear_down(void **state);

tool_result rsoxs_with(const tool_setup *more, const char *const *args);
#define RSOXS(...) rsoxs_with(NULL, (const char *const[]){__VA_ARGS__, NULL})

/* Runs with the arguments, fails unless it ends with `status` and says `text`. */
#define EXPECT(status, text, ...)                                                                  \
    do {                                                                                           \
        tool_result r_ = RSOXS(__VA_ARGS__);                                                       \
        tool_expect(&r_, status);                                                                  \
        assert_contains((status) ? r_.err : r_.out, text);                                         \
        tool_free(&r_);                                                                            \
    } while (0)

#endif
