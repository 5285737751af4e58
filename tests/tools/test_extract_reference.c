/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the results of collet-extract on GROMACS trajectories with the numbers of an independent
 * reader (reference.json), and the results of the backends with each other.
 */

#include "directory.h"
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
static const extract_sample_files samples[ALL_SAMPLES] = {
    {"water", WATER "conf.gro", WATER "traj.trr", WATER "masses.txt"},
    {"peptide", PEPTIDE "conf.gro", PEPTIDE "traj.trr", PEPTIDE "masses.txt"},
    {"peptide_double", PEPTIDE "conf.gro", PEPTIDE "traj_double.trr", PEPTIDE "masses.txt"},
    {"xtc_water", WATER "conf.gro", WATER "traj.xtc", WATER "masses.txt"},
    {"xtc_peptide", PEPTIDE "conf.gro", PEPTIDE "traj.xtc", PEPTIDE "masses.txt"},
};

/* Runs collet-extract on a sample. */
static npz extract_sample(const extract_sample_files *sample, const char *backend)
{
    return EXTRACT(directory, sample->topology, sample->trajectory, "--masses", sample->masses,
                   "--pbc", "none", "--backend", backend);
}

/* The largest term m |r - com| |f| of any atom of a frame: the scale of a cancelling torque. */
static double largest_torque_term(const extract_sample_files *sample, int64_t frame,
                                  const double com[3])
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

/* Both backends must compute every key of a sample, and agree within TOLERANCE. */
static void check_agreement(const extract_sample_files *sample, const char *first,
                            const char *second)
{
    OWNED_NPZ a = extract_sample(sample, first), b = extract_sample(sample, second);
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
}

static const char *const backends[] = {"cpu_scalar", "cpu_openmp"};
#define BACKENDS 2

static const struct {
    const char *reference;
    const char *key;
    int components; /* how many components are compared */
} compared[] = {
    {"time", "time_ps", 1},
    {"com", "com", 3},
    {"inertia", "inertia_tensor", 9},
    {"moments", "moments", 3},
    {"gyration_tensor_massweighted", "gyration_tensor", 9},
    {"rg", "rg", 1},
    {"L", "L_vector", 3},
    {"omega", "omega_vector", 3},
    {"ekin", "k_total", 1},
    {"ekin_rot", "k_rot", 1},
    {"L_parallel_mag_axis0", "L_parallel_mag", 1},
    {"L_perp_mag_axis0", "L_perp_mag", 1},
    {"torque", "tau_vector", 3},
};

static cJSON *reference;

static int set_up(void **state)
{
    io_bytes bytes = io_load(COLLET_TEST_DATA "/md/reference.json");

    reference = cJSON_ParseWithLength((const char *)bytes.data, bytes.size);
    free(bytes.data);
    directory = io_make_directory();
    return reference == NULL;
}

static int tear_down(void **state)
{
    cJSON_Delete(reference);
    return remove_directory(state);
}

/* Flattens an item to its numbers, in order. */
static int flatten(const cJSON *item, double *values, int n)
{
    const cJSON *child;

    if (cJSON_IsNumber(item)) {
        values[n++] = item->valuedouble;
        return n;
    }
    cJSON_ArrayForEach(child, item) n = flatten(child, values, n);
    return n;
}

/* Checks the kinetic energy of the centre of mass: p.p / 2M. */
static void check_translation(const cJSON *expected, npz *out, int64_t frame)
{
    double p[3], mass = meta_at(expected, "total_mass")->valuedouble;
    double energy = npz_f64(out, "k_trans", NULL, NULL)[frame];

    flatten(meta_at(expected, "linear_momentum"), p, 0);
    assert_true(fabs(energy - (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / (2 * mass)) <
                TOLERANCE * npz_f64(out, "k_total", NULL, NULL)[frame]);
}

static void check_frame(const extract_sample_files *sample, npz *out, const char *which,
                        int64_t frame)
{
    const cJSON *expected = meta_at(meta_at(reference, sample->name), which);

    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        const double *rows = npz_f64(out, compared[i].key, NULL, NULL);
        int n = compared[i].components;
        double values[9], scale = 0;

        assert_int_equal(flatten(meta_at(expected, compared[i].reference), values, 0), n);
        for (int k = 0; k < n; k++)
            scale = fmax(scale, fabs(values[k]));
        if (strcmp(compared[i].reference, "torque") == 0)
            scale = largest_torque_term(sample, frame, npz_f64(out, "com", NULL, NULL) + 3 * frame);
        for (int k = 0; k < n; k++)
            if (!(fabs(rows[frame * n + k] - values[k]) <= TOLERANCE * scale))
                fail_msg("%s %s %s[%d]: %.17g, not %.17g", sample->name, which, compared[i].key, k,
                         rows[frame * n + k], values[k]);
    }
    check_translation(expected, out, frame);
}

TEST(test_reference)
{
    int used = 0;

    for (int b = 0; b < BACKENDS; b++) {
        if (!backend_usable(backends[b]))
            continue;
        used++;
        for (size_t i = 0; i < SAMPLES; i++) {
            OWNED_NPZ out = extract_sample(&samples[i], backends[b]);
            int64_t n;

            npz_f64(&out, "time_ps", &n, NULL);
            assert_int_equal(n, 51);
            check_frame(&samples[i], &out, "raw_first", 0);
            check_frame(&samples[i], &out, "raw_last", 50);
        }
    }
    assert_true(used > 0);
}

/* The velocity of the centre of mass equals the reference, even if several devices compute it. k_trans agrees with this
 * velocity, for the whole selection and for each residue. */
TEST(test_velocity_of_the_centre)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const extract_sample_files *s = &samples[i];
        double p[3], velocity[51 * 3];
        OWNED_NPZ out = EXTRACT(directory, s->topology, s->trajectory, "--masses", s->masses,
                                "--pbc", "none", "--keys", "com_velocity,k_trans");
        const double *v = npz_f64(&out, "com_velocity", NULL, NULL);
        const cJSON *expected = meta_at(meta_at(reference, s->name), "raw_first");
        double mass = meta_at(expected, "total_mass")->valuedouble;

        flatten(meta_at(expected, "linear_momentum"), p, 0);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(v[k] - p[k] / mass) <= TOLERANCE * (1 + fabs(v[k])));
        for (int f = 0; f < 51; f++) {
            const double *w = v + 3 * f, *k = npz_f64(&out, "k_trans", NULL, NULL);
            double energy = mass * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / 2;
            assert_true(fabs(k[f] - energy) <= 1e-12 * (1 + energy));
        }
        memcpy(velocity, v, sizeof velocity);
        npz_close(&out);
        if (!backend_usable("cpu_openmp"))
            continue;
        out = EXTRACT(directory, s->topology, s->trajectory, "--masses", s->masses, "--pbc", "none",
                      "--keys", "com_velocity", "--devices", "cpu_openmp,cpu_scalar");
        v = npz_f64(&out, "com_velocity", NULL, NULL);
        for (int k = 0; k < 51 * 3; k++)
            assert_true(fabs(v[k] - velocity[k]) <= 1e-13 * (1 + fabs(velocity[k])));
    }
    OWNED_NPZ out = EXTRACT(directory, samples[0].topology, samples[0].trajectory, "--each",
                            "residue", "--keys", "com_velocity,k_trans,com");
    size_t n;
    const double *v = npz_f64(&out, "com_velocity", NULL, &n);
    const double *k = npz_f64(&out, "k_trans", NULL, NULL);
    for (size_t b = 1; b < n / 3; b++) { /* all residues are waters */
        const double *w = v + 3 * b;
        assert_true(fabs(k[b] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) -
                         k[0] * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])) <= 1e-9 * k[0]);
    }
}

/* No external forces act on the peptide. */
TEST(test_isolated_body)
{
    for (int b = 0; b < BACKENDS; b++) {
        npz out;
        const double *momentum, *torque;

        if (!backend_usable(backends[b]))
            continue;
        out = extract_sample(&samples[2], backends[b]);
        momentum = npz_f64(&out, "L_vector", NULL, NULL);
        torque = npz_f64(&out, "tau_vector", NULL, NULL);
        for (int i = 0; i < 51; i++)
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(momentum[3 * i + k] - momentum[k]) < 1e-11);
                assert_true(fabs(torque[3 * i + k]) < 1e-10);
            }
        npz_close(&out);
    }
}

/* Checks the components of a vector along and perpendicular to two axes (the first principal axis,
 * and 0.6 x + 0.8 z), and their magnitudes. */
static void check_parts(npz *out, const char *vector, const double *axes)
{
    static const char *const names[] = {"_vector",    "_parallel",     "_perp",     "_z_component",
                                        "_magnitude", "_parallel_mag", "_perp_mag", "_z_mag"};
    const double *parts[8];
    char key[40];

    for (int p = 0; p < 8; p++) {
        snprintf(key, sizeof key, "%s%s", vector, names[p]);
        parts[p] = npz_f64(out, key, NULL, NULL);
    }
    for (int i = 0; i < 51; i++) {
        const double *whole = parts[0] + 3 * i, *parallel = parts[1] + 3 * i;
        const double *across = parts[2] + 3 * i, *upright = parts[3] + 3 * i;
        double z = 0.6 * whole[0] + 0.8 * whole[2], along = 0, bound = 1e-13 * parts[4][i];

        for (int k = 0; k < 3; k++) {
            along += whole[k] * axes[9 * i + 3 * k];
            assert_true(fabs(whole[k] - parallel[k] - across[k]) < bound);
        }
        for (int k = 0; k < 3; k++)
            assert_true(fabs(parallel[k] - along * axes[9 * i + 3 * k]) < bound);
        assert_true(fabs(upright[0] - 0.6 * z) < bound);
        assert_true(upright[1] == 0);
        assert_true(fabs(upright[2] - 0.8 * z) < bound);
        for (int p = 0; p < 4; p++) {
            const double *x = parts[p] + 3 * i;
            double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);

            assert_true(fabs(parts[4 + p][i] - size) < bound);
        }
    }
}

/* Relations between the arrays of one run, for each frame. */
TEST(test_relations)
{
    static const char *const vectors[] = {"L", "tau", "omega", "dLdt"};
    OWNED_NPZ out =
        EXTRACT(directory, samples[0].topology, samples[0].trajectory, "--axis", "3,0,4");
    const double *axes = npz_f64(&out, "axes", NULL, NULL);
    const double *moments = npz_f64(&out, "moments", NULL, NULL);
    const double *tilt = npz_f64(&out, "tilt_deg", NULL, NULL);
    const double *trace = npz_f64(&out, "gyration_tensor", NULL, NULL);
    const double *rg = npz_f64(&out, "rg", NULL, NULL);
    const double *k_total = npz_f64(&out, "k_total", NULL, NULL);
    const double *k_trans = npz_f64(&out, "k_trans", NULL, NULL);
    const double *k_rot = npz_f64(&out, "k_rot", NULL, NULL);
    const double *omega = npz_f64(&out, "omega_vector", NULL, NULL);
    const double *momentum = npz_f64(&out, "L_vector", NULL, NULL);

    assert_memory_equal(axes, npz_f64(&out, "rotation_matrices", NULL, NULL),
                        51 * 9 * sizeof(double));
    for (int i = 0; i < 51; i++) {
        const double *a = axes + 9 * i;
        double angle = acos(0.6 * a[0] + 0.8 * a[6]) * 180 / M_PI;
        double dot = 0;

        for (int k = 0; k < 3; k++)
            dot += omega[3 * i + k] * momentum[3 * i + k] / 2;
        assert_true(moments[3 * i] <= moments[3 * i + 1] &&
                    moments[3 * i + 1] <= moments[3 * i + 2]);
        assert_true(fabs(tilt[i] - fabs(90 - angle)) < 1e-9);
        assert_true(fabs(rg[i] * rg[i] - trace[9 * i] - trace[9 * i + 4] - trace[9 * i + 8]) <
                    1e-12);
        assert_true(fabs(k_rot[i] - dot) < 1e-10 * fabs(dot));
        assert_true(k_total[i] > k_rot[i] + k_trans[i]);
    }
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++)
        check_parts(&out, vectors[v], axes);
}

/* dL/dt is the central difference of L, one-sided at the ends. */
TEST(test_derivative)
{
    OWNED_NPZ out = EXTRACT(directory, samples[0].topology, samples[0].trajectory);
    const double *x = npz_f64(&out, "L_vector", NULL, NULL);
    const double *t = npz_f64(&out, "time_ps", NULL, NULL);
    const double *d = npz_f64(&out, "dLdt_vector", NULL, NULL);

    for (int i = 0; i < 51; i++) {
        int before = i > 0 ? i - 1 : 0, after = i < 50 ? i + 1 : 50;

        for (int k = 0; k < 3; k++) {
            double expected = (x[3 * after + k] - x[3 * before + k]) / (t[after] - t[before]);

            assert_true(fabs(d[3 * i + k] - expected) <= 1e-14 * fabs(expected));
        }
    }
}

TEST(test_backends_agree)
{
    if (!backend_usable(backends[0]) || !backend_usable(backends[1]))
        skip();
    for (size_t i = 0; i < SAMPLES; i++)
        check_agreement(&samples[i], backends[0], backends[1]);
}

TEST(opencl_agrees)
{
    if (!backend_usable("opencl"))
        skip();
    for (size_t i = 0; i < ALL_SAMPLES; i++)
        check_agreement(&samples[i], "cpu_scalar", "opencl");
}

/* An .xtc file has compressed positions, and no velocities or forces. The results equal the results of MDAnalysis. */
TEST(test_xtc)
{
    static const struct {
        const char *reference;
        const char *topology;
        const char *trajectory;
        const char *masses;
    } files[] = {
        {"xtc_water", WATER "conf.gro", WATER "traj.xtc", WATER "masses.txt"},
        {"xtc_peptide", PEPTIDE "conf.gro", PEPTIDE "traj.xtc", PEPTIDE "masses.txt"},
    };

    for (size_t i = 0; i < 2; i++) {
        OWNED_NPZ out = EXTRACT(directory, files[i].topology, files[i].trajectory, "--masses",
                                files[i].masses, "--pbc", "none");
        const cJSON *expected = meta_at(reference, files[i].reference);
        const double *com = npz_f64(&out, "com", NULL, NULL) + 3 * 50;
        OWNED(cJSON) *meta = NULL;
        double values[3];

        flatten(meta_at(expected, "last_com_A"), values, 0);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(10 * com[k] - values[k]) < 2e-4);
        assert_true(fabs(10 * npz_f64(&out, "rg", NULL, NULL)[50] -
                         meta_at(expected, "rg_last_A")->valuedouble) < 2e-4);
        assert_int_equal(npz_count(out.bytes.data, out.bytes.size), 13);
        assert_false(npz_has(&out, "L_vector") || npz_has(&out, "tau_mag") ||
                     npz_has(&out, "k_rot"));

        meta = extract_meta(directory);
        assert_int_equal(cJSON_GetArraySize(meta_at(meta, "left_out")), 4);
        assert_contains(meta_at(meta, "left_out/0/reason")->valuestring, "velocities");
        assert_int_equal(cJSON_GetArraySize(meta_at(meta, "left_out/0/keys")), 27);
        assert_contains(meta_at(meta, "left_out/1/reason")->valuestring, "forces");
        assert_int_equal(cJSON_GetArraySize(meta_at(meta, "left_out/1/keys")), 8);
        assert_string_equal(meta_at(meta, "inputs/trajectory/format")->valuestring, "xtc");
        assert_true(meta_at(meta, "inputs/trajectory/stored_precision_per_nm")->valuedouble ==
                    1000);
    }
}

TEST_GROUP(set_up, tear_down)
