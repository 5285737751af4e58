/* SPDX-License-Identifier: Apache-2.0 */

#include "extract_agree.h"

#include <math.h>
#include <string.h>

#include "common/test.h"

const extract_sample_files samples[ALL_SAMPLES] = {
    {"water", WATER "conf.gro", WATER "traj.trr", WATER "masses.txt"},
    {"peptide", PEPTIDE "conf.gro", PEPTIDE "traj.trr", PEPTIDE "masses.txt"},
    {"peptide_double", PEPTIDE "conf.gro", PEPTIDE "traj_double.trr", PEPTIDE "masses.txt"},
    {"xtc_water", WATER "conf.gro", WATER "traj.xtc", WATER "masses.txt"},
    {"xtc_peptide", PEPTIDE "conf.gro", PEPTIDE "traj.xtc", PEPTIDE "masses.txt"},
};

npz extract_sample(const char *directory, const extract_sample_files *sample, const char *backend)
{
    return EXTRACT(directory, sample->topology, sample->trajectory, "--masses", sample->masses,
                   "--pbc", "none", "--backend", backend);
}

double largest_torque_term(const extract_sample_files *sample, int64_t frame, const double com[3])
{
    trajectory_reader *trajectory = io_open(sample->trajectory);
    trajectory_frames *frames = io_batch(trajectory, 51, 1);
    double largest = 0;
    collet_error err;

    assert_int_equal(trajectory_reader_read(trajectory, frames, &err), COLLET_OK);
    for (int64_t i = 0; i < frames->n_atoms; i++) {
        double arm = 0, force = 0;

        for (int k = 0; k < 3; k++) {
            int64_t at = (frame * frames->n_atoms + i) * 3 + k;
            double r = frames->dtype == COLLET_F64 ? ((double *)frames->positions)[at]
                                                   : (double)((float *)frames->positions)[at];
            double f = frames->dtype == COLLET_F64 ? ((double *)frames->forces)[at]
                                                   : (double)((float *)frames->forces)[at];

            arm += (r - com[k]) * (r - com[k]);
            force += f * f;
        }
        largest = fmax(largest, sqrt(arm * force));
    }
    trajectory_frames_free(frames);
    trajectory_reader_close(trajectory);
    return largest;
}

/* The allowed rounding error of a key, in units of its largest value. Sums that cancel, and
 * differences divided by a time step, are compared relative to the size of their terms. */
static double scale_of(npz *out, const char *key, double torque_term)
{
    size_t n;
    const double *values = npz_f64(out, key, NULL, &n);
    double scale = 0;

    for (size_t i = 0; i < n; i++)
        scale = fmax(scale, fabs(values[i]));
    if (strncmp(key, "tau_", 4) == 0)
        scale = fmax(scale, torque_term);
    if (strncmp(key, "k_", 2) == 0 && strcmp(key, "k_total") != 0)
        scale = scale_of(out, "k_total", 0);
    if (strncmp(key, "dLdt_", 5) == 0) {
        const double *t = npz_f64(out, "time_ps", NULL, NULL);

        scale = scale_of(out, "L_magnitude", 0) / (t[1] - t[0]);
    }
    return scale;
}

static void compare_key(const extract_sample_files *sample, const char *key, npz *a, npz *b,
                        double torque_term)
{
    size_t n, m;
    const double *x = npz_f64(a, key, NULL, &n), *y = npz_f64(b, key, NULL, &m);
    double scale = scale_of(a, key, torque_term);

    assert_int_equal(n, m);
    for (size_t j = 0; j < n; j++) {
        /* The first frame is the reference of rmsd, so its own rmsd is only rounding error. */
        double allowed = strcmp(key, "rmsd") == 0 && j == 0 ? 1e-8 : TOLERANCE * scale;

        if (!(fabs(x[j] - y[j]) <= allowed))
            fail_msg("%s %s[%zu]: %.17g and %.17g", sample->name, key, j, x[j], y[j]);
    }
}

void check_agreement(const char *directory, const extract_sample_files *sample, const char *first,
                     const char *second)
{
    npz a = extract_sample(directory, sample, first), b = extract_sample(directory, sample, second);
    double torque_term = 0;
    int keys = 0;

    if (npz_has(&a, "tau_vector"))
        torque_term = largest_torque_term(sample, 0, npz_f64(&a, "com", NULL, NULL));
    for (size_t k = 0; k < EXTRACT_KEYS; k++) {
        assert_int_equal(npz_has(&a, extract_keys[k]), npz_has(&b, extract_keys[k]));
        if (!npz_has(&a, extract_keys[k]))
            continue;
        compare_key(sample, extract_keys[k], &a, &b, torque_term);
        keys++;
    }
    assert_true(keys >= 12);
    npz_close(&a);
    npz_close(&b);
}
