/* SPDX-License-Identifier: Apache-2.0 */
/* Results of a selection that differs from frame to frame, compared with sums over its atoms. */

#include "common/test.h"

#include <collet/trajectory.h>

OWNS(collet_trajectory, collet_trajectory_destroy)

#define ATOMS 40
#define FRAMES 30
#define EMPTY 7 /* the frame in which no water is near the protein */
#define BOX 2.0
#define NEAR 0.45

static double positions[FRAMES][ATOMS][3], velocities[FRAMES][ATOMS][3], forces[FRAMES][ATOMS][3];
static double masses[ATOMS];
static const double box[9] = {BOX, 0, 0, 0, BOX, 0, 0, 0, BOX};

/* Atoms 0 and 1 are the protein. */
static const char *const names[ATOMS] = {"CA", "CA", "O", "O", "O", "O", "O", "O", "O", "O",
                                         "O",  "O",  "O", "O", "O", "O", "O", "O", "O", "O",
                                         "O",  "O",  "O", "O", "O", "O", "O", "O", "O", "O",
                                         "O",  "O",  "O", "O", "O", "O", "O", "O", "O", "O"};
static const char *residues[ATOMS];

static collet_status read_frame(void *user, collet_trajectory_frame *frame, int64_t index,
                                collet_error *err)
{
    frame->time = (double)index;
    frame->positions = positions[index];
    frame->velocities = velocities[index];
    frame->forces = forces[index];
    frame->box = box;
    return COLLET_OK;
}

static const collet_trajectory_source source = {.struct_size = sizeof source,
                                                .dtype = COLLET_F64,
                                                .name = "the test",
                                                .n_atoms = ATOMS,
                                                .n_frames = FRAMES,
                                                .names = names,
                                                .residue_names = residues,
                                                .has_velocities = 1,
                                                .has_forces = 1,
                                                .has_times = 1,
                                                .read = read_frame};

static int set_up(void **state)
{
    uint64_t random = 3;
    double *arrays[] = {positions[0][0], velocities[0][0], forces[0][0]};

    for (int a = 0; a < ATOMS; a++) {
        residues[a] = a < 2 ? "ALA" : "SOL";
        masses[a] = a % 7; /* some are 0 */
    }
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < FRAMES * ATOMS * 3; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            arrays[k][i] = BOX * ((double)(random >> 40) / 16777216.0);
        }
    for (int a = 0; a < ATOMS; a++)
        positions[EMPTY][a][0] = a < 2 ? 0 : 1;
    return 0;
}

static collet_trajectory_options options(void)
{
    return (collet_trajectory_options){.struct_size = sizeof(collet_trajectory_options),
                                       .source = &source,
                                       .selection = "water and within 0.45 of protein",
                                       .mass_values = masses,
                                       .n_mass_values = ATOMS,
                                       .backend = "cpu_scalar"};
}

static int is_chosen(int f, int atom)
{
    for (int p = 0; p < 2; p++) {
        double square = 0;

        for (int k = 0; k < 3; k++) {
            double d = positions[f][atom][k] - positions[f][p][k];

            d -= BOX * nearbyint(d / BOX);
            square += d * d;
        }
        if (square <= NEAR * NEAR && atom >= 2)
            return 1;
    }
    return 0;
}

static void add_cross(double sum[3], double weight, const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++)
        sum[i] += weight * (a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]);
}

typedef struct sums {
    int n;
    double mass, com[3], momentum[3], torque[3], kinetic, square;
} sums;

static sums sum(int f)
{
    sums s = {0};

    for (int a = 0; a < ATOMS; a++) {
        s.n += is_chosen(f, a);
        s.mass += is_chosen(f, a) * masses[a];
        for (int k = 0; k < 3; k++)
            s.com[k] += is_chosen(f, a) * masses[a] * positions[f][a][k];
    }
    for (int k = 0; k < 3; k++)
        s.com[k] /= s.mass;
    for (int a = 0; a < ATOMS; a++) {
        double r[3];

        if (!is_chosen(f, a))
            continue;
        for (int k = 0; k < 3; k++) {
            r[k] = positions[f][a][k] - s.com[k];
            s.square += masses[a] * r[k] * r[k] / s.mass;
            s.kinetic += masses[a] * velocities[f][a][k] * velocities[f][a][k] / 2;
        }
        add_cross(s.momentum, masses[a], r, velocities[f][a]);
        add_cross(s.torque, 1, r, forces[f][a]);
    }
    return s;
}

static const double *row(const collet_trajectory *x, const collet_trajectory_batch *batch,
                         const char *key, int64_t f)
{
    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        collet_trajectory_quantity q = {.struct_size = sizeof q};

        assert_int_equal(collet_trajectory_quantity_at(x, &q, i, NULL), COLLET_OK);
        if (strcmp(q.key, key) == 0)
            return batch->columns[i] != NULL ? batch->columns[i] + f * q.width : NULL;
    }
    fail_msg("%s", key);
    return NULL;
}

static void expect(const double *found, const double *expected, int n)
{
    assert_non_null(found);
    for (int i = 0; i < n; i++)
        if (!(fabs(found[i] - expected[i]) <= 1e-12 * (1 + fabs(expected[i]))))
            fail_msg("%.17g, not %.17g", found[i], expected[i]);
}

static void check_info(const collet_trajectory *x, int least, int most)
{
    collet_trajectory_info info = {.struct_size = sizeof info};

    collet_trajectory_get_info(x, &info);
    assert_int_equal(info.atoms, ATOMS - 2);
    assert_int_equal(info.least_atoms, least);
    assert_int_equal(info.most_atoms, most);
    assert_contains(collet_trajectory_meta(x), "\"least_atoms\":\t0,");
}

/* A callback of the source that chooses the same atoms. */
static collet_status choose(void *user, uint8_t *chosen, int64_t index, collet_error *err)
{
    if (user && index == EMPTY)
        return collet_fail(err, COLLET_BUSY, "not now");
    for (int a = 0; a < ATOMS; a++)
        chosen[a] = (uint8_t)(a < 2 || is_chosen((int)index, a));
    return COLLET_OK;
}

static void expect_keys(collet_trajectory_options o)
{
    const collet_trajectory_batch *batch = NULL;
    OWNED(collet_trajectory) *x = NULL;
    collet_error err;
    int least = ATOMS, most = 0;

    o.batch_frames = 4;
    if (collet_trajectory_create(&x, &o, &err) != COLLET_OK ||
        collet_trajectory_collect(x, &batch, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    assert_int_equal(batch->n_rows, FRAMES);
    assert_null(row(x, batch, "rmsd", 0));
    for (int f = 0; f < FRAMES; f++) {
        sums s = sum(f);
        double rg = sqrt(s.square);

        least = s.n < least ? s.n : least;
        most = s.n > most ? s.n : most;
        if (s.mass == 0) {
            assert_true(isnan(row(x, batch, "com", f)[0]));
            assert_true(isnan(row(x, batch, "inertia_tensor", f)[0]));
            assert_true(isnan(row(x, batch, "L_vector", f)[0]));
            assert_true(isnan(row(x, batch, "tau_vector", f)[0]));
            assert_true(isnan(row(x, batch, "k_rot", f)[0]));
            assert_true(isnan(row(x, batch, "rg", f)[0]));
            continue;
        }
        expect(row(x, batch, "com", f), s.com, 3);
        expect(row(x, batch, "L_vector", f), s.momentum, 3);
        expect(row(x, batch, "tau_vector", f), s.torque, 3);
        expect(row(x, batch, "k_total", f), &s.kinetic, 1);
        expect(row(x, batch, "rg", f), &rg, 1);
    }
    assert_int_equal(least, 0);
    check_info(x, least, most);
    assert_contains(collet_trajectory_warning_at(x, 0),
                    "frame 7: the selection has no atom with a mass");
}

TEST(every_key)
{
    collet_trajectory_options o = options();
    collet_trajectory_source chooses = source;

    expect_keys(o);
    chooses.choose = choose;
    o.source = &chooses;
    expect_keys(o);
    o.selection = "water";
    expect_keys(o);
}

TEST(a_choice_that_fails)
{
    collet_trajectory_options o = options();
    collet_trajectory_source chooses = source;
    const collet_trajectory_batch *batch;
    OWNED(collet_trajectory) *x = NULL;
    collet_error err;

    chooses.choose = choose;
    chooses.user = &chooses;
    o.source = &chooses;
    o.selection = NULL;
    assert_int_equal(collet_trajectory_create(&x, &o, &err), COLLET_OK);
    assert_error(collet_trajectory_collect(x, &batch, &err), COLLET_BUSY, err, "not now");
}

TEST(no_rmsd)
{
    collet_trajectory_options o = options();
    collet_trajectory *x;
    collet_error err;

    o.keys = "rmsd";
    assert_error(collet_trajectory_create(&x, &o, &err), COLLET_INVALID, err,
                 "'rmsd' cannot be computed: the selection differs from frame to frame");
    o.keys = NULL;
    o.reference = "anything.gro";
    assert_error(collet_trajectory_create(&x, &o, &err), COLLET_INVALID, err,
                 "no rmsd can be computed");
}

TEST_GROUP(set_up, NULL)
