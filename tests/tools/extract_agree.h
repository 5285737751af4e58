/* SPDX-License-Identifier: Apache-2.0 */
/* extract_agree.h - compares backends on the GROMACS trajectories in tests/data. Every function
 * fails the test instead of returning an error. */
#ifndef TESTS_TOOLS_EXTRACT_AGREE_H
#define TESTS_TOOLS_EXTRACT_AGREE_H

#include "extract_runs.h"

#define TOLERANCE 1e-12

typedef struct extract_sample_files {
    const char *name; /* in reference.json */
    const char *topology;
    const char *trajectory;
    const char *masses;
} extract_sample_files;

/* Three samples with velocities and forces (f32, f32, f64), then two with positions only. */
#define SAMPLES 3
#define ALL_SAMPLES 5
extern const extract_sample_files samples[ALL_SAMPLES];

/* Runs collet-extract in `directory` on a sample. */
npz extract_sample(const char *directory, const extract_sample_files *sample, const char *backend);

/* The largest term m |r - com| |f| of any atom of a frame: the scale of a cancelling torque. */
double largest_torque_term(const extract_sample_files *sample, int64_t frame, const double com[3]);

/* Asserts that both backends compute every key of a sample, equal within TOLERANCE. */
void check_agreement(const char *directory, const extract_sample_files *sample, const char *first,
                     const char *second);

#endif
