/* SPDX-License-Identifier: Apache-2.0 */
/* The removal of drift: a system to which a known drift was added gives the results of the system without it. */

#include "common/test.h"

#include <collet/trajectory.h>

OWNS(collet_trajectory, collet_trajectory_destroy)

enum { ATOMS = 16, FRAMES = 7 };

typedef double vectors[FRAMES][ATOMS][3];

/* A system in memory. Its frames have `n` atoms. */
typedef struct box_system {
    collet_trajectory_source source;
    int64_t n;
    vectors positions, velocities;
    double boxes[FRAMES][9];
    double masses[ATOMS];
    const char *names[ATOMS], *residues[ATOMS];
    int64_t numbers[ATOMS];
    int64_t bonds[2 * ATOMS];
    double rows[2][ATOMS * 3]; /* of the frame that was read */
} box_system;

static collet_status read_frame(void *user, collet_trajectory_frame *frame, int64_t index,
                                collet_error *err)
{
    box_system *s = user;

    memcpy(s->rows[0], s->positions[index], sizeof s->rows[0]);
    memcpy(s->rows[1], s->velocities[index], sizeof s->rows[1]);
    frame->time = (double)index;
    frame->positions = s->rows[0];
    frame->velocities = s->rows[1];
    frame->box = s->boxes[index];
    return COLLET_OK;
}

static double random_number(void)
{
    static uint32_t state = 1;

    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24);
}

/* Sets names and so on. Residues have two atoms each; atom 1 has no mass. */
static void label(box_system *s, int64_t n)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    for (int64_t i = 0; i < n; i++) {
        s->names[i] = "C";
        s->residues[i] = "MOL";
        s->numbers[i] = i / 2;
        s->masses[i] = i == 1 ? 0 : 1 + 10 * random_number();
    }
    s->source = (collet_trajectory_source){.struct_size = sizeof s->source,
                                           .dtype = COLLET_F64,
                                           .name = "the test",
                                           .n_atoms = n,
                                           .n_frames = FRAMES,
                                           .names = s->names,
                                           .residue_names = s->residues,
                                           .residue_numbers = s->numbers,
                                           .bonds = s->bonds,
                                           .has_velocities = 1,
                                           .has_times = 1,
                                           .read = read_frame,
                                           .user = s};
}

static void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The mean of the vectors of a frame, weighted by mass. */
static void mean_of(const box_system *s, double (*v)[3], double mean[3])
{
    double mass = 0;

    mean[0] = mean[1] = mean[2] = 0;
    for (int64_t i = 0; i < s->n; i++) {
        mass += s->masses[i];
        for (int k = 0; k < 3; k++)
            mean[k] += s->masses[i] * v[i][k];
    }
    for (int k = 0; k < 3; k++)
        mean[k] /= mass;
}

static double determinant(double m[3][3])
{
    double c[3];

    cross(m[1], m[2], c);
    return m[0][0] * c[0] + m[0][1] * c[1] + m[0][2] * c[2];
}

/* The angular velocity of frame f, by Cramer's rule. Its momentum must be 0. */
static void rotation_of(box_system *s, int f, double omega[3])
{
    double centre[3], inertia[3][3] = {{0}}, momentum[3] = {0};

    mean_of(s, s->positions[f], centre);
    for (int64_t i = 0; i < s->n; i++) {
        double d[3], l[3], square = 0;

        for (int k = 0; k < 3; k++) {
            d[k] = s->positions[f][i][k] - centre[k];
            square += d[k] * d[k];
        }
        cross(d, s->velocities[f][i], l);
        for (int k = 0; k < 3; k++) {
            momentum[k] += s->masses[i] * l[k];
            for (int j = 0; j < 3; j++)
                inertia[k][j] += s->masses[i] * ((j == k) * square - d[k] * d[j]);
        }
    }
    for (int k = 0; k < 3; k++) {
        double replaced[3][3];

        memcpy(replaced, inertia, sizeof replaced);
        for (int j = 0; j < 3; j++)
            replaced[j][k] = momentum[j];
        omega[k] = determinant(replaced) / determinant(inertia);
    }
}

/* Adds the velocity v and the rotation omega to the velocities of frame f, and d to the positions. */
static void add(box_system *s, int f, const double v[3], const double omega[3], const double d[3])
{
    double centre[3];

    mean_of(s, s->positions[f], centre);
    for (int64_t i = 0; i < s->n; i++) {
        double from[3], turn[3];

        for (int k = 0; k < 3; k++)
            from[k] = s->positions[f][i][k] - centre[k];
        cross(omega, from, turn);
        for (int k = 0; k < 3; k++) {
            s->velocities[f][i][k] += v[k] + turn[k];
            s->positions[f][i][k] += d[k];
        }
    }
}

/* Makes a system of n atoms whose centre of mass rests and that has no angular momentum. */
static void make_resting(box_system *s, int64_t n)
{
    const double zero[3] = {0};
    double first[3];

    label(s, n);
    for (int f = 0; f < FRAMES; f++) {
        double centre[3], v[3], omega[3];

        for (int64_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                s->positions[f][i][k] =
                    f == 0 ? 3 * random_number()
                           : s->positions[f - 1][i][k] + 0.1 * (random_number() - 0.5);
                s->velocities[f][i][k] = random_number() - 0.5;
            }
        mean_of(s, s->positions[f], f == 0 ? first : centre);
        if (f > 0)
            add(s, f, zero, zero,
                (const double[]){first[0] - centre[0], first[1] - centre[1], first[2] - centre[2]});
        mean_of(s, s->velocities[f], v);
        add(s, f, (const double[]){-v[0], -v[1], -v[2]}, zero, zero);
        rotation_of(s, f, omega);
        add(s, f, zero, (const double[]){-omega[0], -omega[1], -omega[2]}, zero);
    }
}

static const double wind[3] = {3, -12, 7}, spin[3] = {0.4, 0.3, -2}, zero[3] = {0};

/* Copies *from to *to, and adds a drift: linear, angular or both. */
static void make_drifting(box_system *to, const box_system *from, uint32_t drift)
{
    *to = *from;
    to->source.names = to->names;
    to->source.residue_names = to->residues;
    to->source.residue_numbers = to->numbers;
    to->source.bonds = to->bonds;
    to->source.user = to;
    for (int f = 0; f < FRAMES; f++) {
        double v[3], omega[3], d[3];

        for (int k = 0; k < 3; k++) {
            v[k] = drift & COLLET_TRAJECTORY_DRIFT_LINEAR ? wind[k] * (1 + f) : 0;
            d[k] = drift & COLLET_TRAJECTORY_DRIFT_LINEAR ? wind[k] * f * 0.05 : 0;
            omega[k] = drift & COLLET_TRAJECTORY_DRIFT_ANGULAR ? spin[k] + f * 0.1 : 0;
        }
        add(to, f, v, omega, d);
    }
}

/* Creating a runtime takes longer than most tests. */
static collet_runtime *runtime;
static collet_context *context;

static int open_context(void **state)
{
    const collet_runtime_options options = {.struct_size = sizeof options, .backend = "cpu_scalar"};

    return collet_runtime_create(&runtime, &options, NULL) != COLLET_OK ||
           collet_context_create(runtime, &context, NULL) != COLLET_OK;
}

static int close_context(void **state)
{
    collet_context_destroy(context);
    collet_runtime_destroy(runtime);
    return 0;
}

TEST_GROUP(open_context, close_context)

/* ---- Comparison -------------------------------------------------------------------------- */

static collet_trajectory_options options_of(const box_system *s)
{
    return (collet_trajectory_options){.struct_size = sizeof(collet_trajectory_options),
                                       .source = &s->source,
                                       .mass_values = s->masses,
                                       .n_mass_values = s->n,
                                       .context = context};
}

static collet_trajectory *collect(const collet_trajectory_options *o,
                                  const collet_trajectory_batch **rows)
{
    collet_trajectory *x;
    collet_error err;

    if (collet_trajectory_create(&x, o, &err) != COLLET_OK ||
        collet_trajectory_collect(x, rows, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    return x;
}

/* The results of `o` must equal the results of `expected`, within the rounding of the sums. */
static void expect_equal(const collet_trajectory_options *o,
                         const collet_trajectory_options *expected)
{
    const collet_trajectory_batch *a, *b;
    OWNED(collet_trajectory) *x = collect(o, &a), *y = collect(expected, &b);
    int compared = 0;

    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        collet_trajectory_quantity q = {.struct_size = sizeof q};

        collet_trajectory_quantity_at(x, &q, i, NULL);
        assert_int_equal(a->columns[i] == NULL, b->columns[i] == NULL);
        for (int64_t k = 0; a->columns[i] != NULL && k < FRAMES * q.width; k++) {
            double got = a->columns[i][k], right = b->columns[i][k];

            if (!(fabs(got - right) <= 1e-9 * (1 + fabs(right))))
                fail_msg("%s[%lld] is %.17g, not %.17g", q.key, (long long)k, got, right);
        }
        compared += a->columns[i] != NULL;
    }
    assert_true(compared > 0);
}

static const char *const kinds[] = {"*,com_velocity", "com_velocity,com,k_trans,L_vector"};

TEST(results_are_those_without_the_drift)
{
    static box_system resting, drifting;

    for (uint32_t drift = COLLET_TRAJECTORY_DRIFT_LINEAR; drift <= COLLET_TRAJECTORY_DRIFT_BOTH;
         drift++)
        for (int divided = 0; divided < 2; divided++)
            for (int part = 0; part < 2; part++) {
                make_resting(&resting, ATOMS);
                make_drifting(&drifting, &resting, drift);
                collet_trajectory_options o = options_of(&drifting), e = options_of(&resting);
                o.keys = e.keys = kinds[divided];
                o.each = e.each = divided ? "residue" : NULL;
                o.selection = e.selection = part ? "index 4:9" : NULL;
                o.batch_frames = part ? 3 : 0;
                o.drift = drift;
                expect_equal(&o, &e);
            }
}

TEST(atoms_of_each_frame)
{
    static box_system resting, drifting;

    make_resting(&resting, ATOMS);
    make_drifting(&drifting, &resting, COLLET_TRAJECTORY_DRIFT_BOTH);
    collet_trajectory_options o = options_of(&drifting), e = options_of(&resting);
    o.selection = e.selection = "within 1.5 of index 0";
    o.keys = e.keys = "com,L_vector,com_velocity,k_total";
    o.drift = COLLET_TRAJECTORY_DRIFT_BOTH;
    expect_equal(&o, &e);
}

/* Column of a key. */
static const double *column(const collet_trajectory_batch *rows, const char *key)
{
    collet_trajectory_quantity q = {.struct_size = sizeof q};

    for (size_t i = 0; collet_trajectory_quantity_at(NULL, &q, i, NULL) == COLLET_OK; i++)
        if (strcmp(q.key, key) == 0)
            return rows->columns[i];
    return NULL;
}

/* After each kind of removal, a system no longer has motion of that kind. Its other motion is unchanged. */
TEST(momentum_is_zero)
{
    static box_system any;
    const collet_trajectory_batch *rows;

    label(&any, ATOMS);
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < ATOMS; i++)
            for (int k = 0; k < 3; k++) {
                any.positions[f][i][k] = 5 * random_number() + f;
                any.velocities[f][i][k] = 4 * random_number() + k;
            }
    for (uint32_t drift = COLLET_TRAJECTORY_DRIFT_KEEP; drift <= COLLET_TRAJECTORY_DRIFT_BOTH;
         drift++) {
        collet_trajectory_options o = options_of(&any);
        o.drift = drift;
        o.keys = "*,com_velocity";
        OWNED(collet_trajectory) *x = collect(&o, &rows);
        const double *momentum = column(rows, "com_velocity"), *l = column(rows, "L_magnitude");
        const double *rotation = column(rows, "k_rot"), *com = column(rows, "com");

        for (int f = 0; f < FRAMES; f++) {
            const double *v = momentum + 3 * f;
            double linear = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            double path = hypot(com[3 * f] - com[0], com[3 * f + 1] - com[1]);

            assert_true(drift & COLLET_TRAJECTORY_DRIFT_LINEAR ? linear < 1e-13 : linear > 0.1);
            assert_true(drift & COLLET_TRAJECTORY_DRIFT_LINEAR ? path < 1e-13
                                                               : f == 0 || path > 0.1);
            assert_true(drift & COLLET_TRAJECTORY_DRIFT_ANGULAR ? l[f] < 1e-11 : l[f] > 0.1);
            assert_true(drift & COLLET_TRAJECTORY_DRIFT_ANGULAR ? fabs(rotation[f]) < 1e-11
                                                                : rotation[f] > 1e-3);
        }
    }
}

/* The motion of a part of the system is removed from all atoms. */
TEST(drift_of_a_part)
{
    static box_system any;
    const collet_trajectory_batch *rows;

    make_resting(&any, ATOMS);
    collet_trajectory_options o = options_of(&any);
    o.drift = COLLET_TRAJECTORY_DRIFT_BOTH;
    o.drift_of = "index 3:8";
    o.selection = "index 3:8";
    o.keys = "*,com_velocity";
    OWNED(collet_trajectory) *x = collect(&o, &rows);
    for (int f = 0; f < FRAMES; f++) {
        assert_true(fabs(column(rows, "com_velocity")[3 * f]) < 1e-14);
        assert_true(fabs(column(rows, "com")[3 * f] - column(rows, "com")[0]) < 1e-14);
        assert_true(column(rows, "L_magnitude")[f] < 1e-12);
    }
    assert_contains(collet_trajectory_meta(x), "\"of\":\t\"index 3:8\"", "\"atoms\":\t6,");
    collet_trajectory_destroy(x);
    o.selection = NULL;
    x = collect(&o, &rows);
    assert_true(fabs(column(rows, "com_velocity")[0]) > 1e-3);
}

/* The line through two atoms is an axis about which they have no rotation. The rounding error of the rotation about this
 * axis must not be subtracted from other atoms. */
TEST(atoms_on_a_line)
{
    static box_system s;
    const collet_trajectory_batch *rows;
    static const double x[4][3] = {{0.01, 0.02, 0.03}, {0.1, 0, 0}, {0.31, 0.42, 0.53}, {2, -1, 3}};

    label(&s, 4);
    for (int f = 0; f < FRAMES; f++) {
        memcpy(s.positions[f], x, sizeof x);
        s.velocities[f][2][0] = 5;
        s.velocities[f][0][1] = f;
    }
    collet_trajectory_options o = options_of(&s);
    o.drift = COLLET_TRAJECTORY_DRIFT_BOTH;
    o.drift_of = "index 0 2";
    o.selection = "index 0 2";
    o.keys = "com_velocity,k_total,L_magnitude";
    OWNED(collet_trajectory) *x1 = collect(&o, &rows);
    for (int f = 0; f < FRAMES; f++) {
        double reduced = s.masses[0] * s.masses[2] / (s.masses[0] + s.masses[2]);
        double along =
            (0.3 * 5 - 0.4 * f) / sqrt(0.5); /* the remaining motion: the length of the pair changes */

        assert_true(column(rows, "L_magnitude")[f] < 1e-13);
        assert_true(fabs(column(rows, "k_total")[f] - reduced * along * along / 2) < 1e-10);
    }
    collet_trajectory_destroy(x1);
    o.selection = "index 3";
    x1 = collect(&o, &rows);
    for (int f = 0; f < FRAMES; f++) {
        static const double d[3] = {0.3, 0.4, 0.5}; /* from the first to the second atom */
        const double step[3] = {5, -f, 0};          /* the difference of their velocities */
        double share = s.masses[2] / (s.masses[0] + s.masses[2]), omega[3], from[3], turn[3];

        cross(d, step, omega);
        for (int k = 0; k < 3; k++) {
            omega[k] /= 0.5;
            from[k] = x[3][k] - x[0][k] - share * d[k];
        }
        cross(omega, from, turn);
        for (int k = 0; k < 3; k++) {
            double velocity = (k == 1) * f + share * step[k]; /* of the centre of mass */
            assert_true(fabs(column(rows, "com_velocity")[3 * f + k] + velocity + turn[k]) < 1e-10);
        }
    }
}

/* ---- The periodic box -------------------------------------------------------------------- */

#define EDGE 3.0

/* Puts each atom into the box. */
static void wrap(box_system *s)
{
    for (int f = 0; f < FRAMES; f++) {
        s->boxes[f][0] = s->boxes[f][4] = s->boxes[f][8] = EDGE;
        for (int64_t i = 0; i < s->n; i++)
            for (int k = 0; k < 3; k++)
                s->positions[f][i][k] -= EDGE * floor(s->positions[f][i][k] / EDGE);
    }
}

static void bond(box_system *s, int64_t first, int64_t second)
{
    s->bonds[2 * s->source.n_bonds] = first;
    s->bonds[2 * s->source.n_bonds++ + 1] = second;
}

TEST(paths_in_a_box)
{
    static box_system resting, drifting;

    make_resting(&resting, ATOMS);
    for (int i = 0; i < ATOMS; i += 2) {
        bond(&resting, i, i + 1);
        for (int f = 0; f < FRAMES; f++)
            for (int k = 0; k < 3; k++)
                resting.positions[f][i + 1][k] = resting.positions[f][i][k] + (k == f % 3) * 0.1;
    }
    for (int f = 0; f < FRAMES; f++) { /* rests again */
        double now[3], first[3];
        mean_of(&resting, resting.positions[f], now);
        mean_of(&resting, resting.positions[0], first);
        add(&resting, f, zero, zero,
            (const double[]){first[0] - now[0], first[1] - now[1], first[2] - now[2]});
    }
    make_drifting(&drifting, &resting, COLLET_TRAJECTORY_DRIFT_LINEAR);
    wrap(&drifting);
    wrap(&resting);
    collet_trajectory_options o = options_of(&drifting), e = options_of(&resting);
    o.keys = e.keys = "com,com_velocity,L_vector,k_trans";
    o.each = e.each = "residue";
    o.pbc = e.pbc = COLLET_TRAJECTORY_PBC_NOJUMP;
    o.drift = COLLET_TRAJECTORY_DRIFT_LINEAR;
    expect_equal(&o, &e);
    o.selection = e.selection = "index 4:9";
    expect_equal(&o, &e);
    o.batch_frames = 2;
    o.start = e.start = 2;
    /* The drift is the motion since the first frame that is read. */
    for (int f = 0; f < FRAMES; f++)
        for (int64_t i = 0; i < ATOMS; i++)
            for (int k = 0; k < 3; k++)
                drifting.positions[f][i][k] -= wind[k] * 0.1;
    wrap(&drifting);
    const collet_trajectory_batch *a, *b;
    OWNED(collet_trajectory) *x = collect(&o, &a), *y = collect(&e, &b);
    for (int f = 1; f < 5; f++) /* relative to frame 0, which decides the images */
        for (int k = 0; k < 9; k++) {
            double got = column(a, "com")[9 * f + k] - column(a, "com")[k];
            double right = column(b, "com")[9 * f + k] - column(b, "com")[k];
            assert_true(fabs(got - right) < 1e-12);
        }
    assert_non_null(strstr(collet_trajectory_meta(x), "\"positions_moved\":\ttrue"));
}

/* Moves all atoms along x and y, and checks that the atom `alone` is at rest after the removal. */
static void expect_rest(box_system *s, int64_t alone, const char *drift_of)
{
    const collet_trajectory_batch *rows;
    char selection[32];

    for (int f = 0; f < FRAMES; f++)
        add(s, f, zero, zero, (const double[]){0.6 * f, 0.7 * f, 0});
    wrap(s);
    snprintf(selection, sizeof selection, "index %d", (int)alone);
    collet_trajectory_options o = options_of(s);
    o.keys = "com";
    o.selection = selection;
    o.pbc = COLLET_TRAJECTORY_PBC_NOJUMP;
    o.drift = COLLET_TRAJECTORY_DRIFT_LINEAR;
    o.drift_of = drift_of;
    OWNED(collet_trajectory) *x = collect(&o, &rows);
    for (int k = 0; k < 3 * FRAMES; k++)
        if (!(fabs(column(rows, "com")[k] - column(rows, "com")[k % 3]) < 1e-12))
            fail_msg("frame %d: %g", k / 3, column(rows, "com")[k] - column(rows, "com")[k % 3]);
}

/* A chain that is bonded to its own image is not made whole: each of its atoms is followed. */
TEST(an_endless_system)
{
    static box_system s;

    label(&s, 7);
    for (int i = 0; i < 6; i++) {
        bond(&s, i, (i + 1) % 6);
        for (int f = 0; f < FRAMES; f++)
            s.positions[f][i][0] = i * EDGE / 6;
    }
    s.numbers[6] = 9;
    expect_rest(&s, 6, "index 0:5");
}

/* A rod of two thirds of the box that turns by half a turn in each frame: its ends move by more than half the box, but
 * its centre does not. */
TEST(a_system_that_turns_fast)
{
    static box_system s;

    label(&s, 10);
    s.masses[1] = 5;
    for (int f = 0; f < FRAMES; f++) {
        double mean[3] = {0};

        for (int i = 0; i < 9; i++)
            s.positions[f][i][1] = (f % 2 ? -1 : 1) * (i - 4) * 0.25;
        for (int i = 0; i < 9; i++)
            mean[0] += s.masses[i];
        for (int i = 0; i < 9; i++)
            mean[1] += s.masses[i] * s.positions[f][i][1] / mean[0];
        for (int i = 0; i < 9; i++)
            s.positions[f][i][1] -= mean[1];
    }
    for (int i = 0; i < 8; i++)
        bond(&s, i, i + 1);
    s.numbers[9] = 9;
    expect_rest(&s, 9, "index 0:8");
}

static void expect_meta(const collet_trajectory_options *o, const char *text, const char *warning)
{
    const collet_trajectory_batch *rows;
    OWNED(collet_trajectory) *x = collect(o, &rows);
    collet_trajectory_info info = {.struct_size = sizeof info};
    size_t i = 0;

    collet_trajectory_get_info(x, &info);
    if (text == NULL)
        assert_null(info.drift);
    else
        assert_string_equal(info.drift, text);
    while (warning != NULL && collet_trajectory_warning_at(x, i) != NULL &&
           strstr(collet_trajectory_warning_at(x, i), warning) == NULL)
        i++;
    if (warning != NULL)
        assert_non_null(collet_trajectory_warning_at(x, i));
    else
        for (i = 0; collet_trajectory_warning_at(x, i) != NULL; i++)
            assert_null(strstr(collet_trajectory_warning_at(x, i), "rotation"));
}

#define MOTION "motion of the centre of mass"

TEST(what_is_said)
{
    static box_system s;
    static const char rotation[] =
        "the rotation of 8 molecules in a periodic box was removed (frames with a box: 7)";

    label(&s, ATOMS);
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < ATOMS; i++) { /* residues far from each other */
            s.positions[f][i][0] = i / 2 % 2 + 0.1 * (i % 2);
            s.positions[f][i][1] = i / 4 % 2;
            s.positions[f][i][2] = i / 8 % 2;
        }
    collet_trajectory_options o = options_of(&s);
    o.keys = "com,k_rot";
    expect_meta(&o, NULL, NULL);
    o.drift = COLLET_TRAJECTORY_DRIFT_LINEAR;
    expect_meta(
        &o,
        MOTION
        " of 15 atoms removed from velocities, displacement of the centre of mass from positions",
        NULL);
    o.drift = COLLET_TRAJECTORY_DRIFT_BOTH;
    expect_meta(&o,
                MOTION " and rotation of 15 atoms removed from velocities, displacement of the "
                       "centre of mass from positions",
                NULL);
    wrap(&s);
    expect_meta(
        &o,
        MOTION
        " and rotation of 15 atoms removed from velocities; positions in the box stay as they are",
        rotation);
    o.drift = COLLET_TRAJECTORY_DRIFT_ANGULAR;
    o.pbc = COLLET_TRAJECTORY_PBC_CENTER;
    expect_meta(&o, "rotation of 15 atoms removed from velocities", rotation);
    o.pbc = COLLET_TRAJECTORY_PBC_NONE;
    expect_meta(&o, "rotation of 15 atoms removed from velocities", NULL);
    o.pbc = COLLET_TRAJECTORY_PBC_WHOLE;
    o.drift_of = "index 2 3";
    expect_meta(&o, "rotation of 2 atoms removed from velocities", NULL);
    o.keys = "com";
    o.drift_of = NULL;
    expect_meta(&o, "no key has changed: no velocities are read, and positions are not turned",
                NULL);
    o.drift = COLLET_TRAJECTORY_DRIFT_LINEAR;
    expect_meta(
        &o, "no key has changed: no velocities are read, and positions in the box stay as they are",
        NULL);
    o.pbc = COLLET_TRAJECTORY_PBC_NONE;
    expect_meta(
        &o, "no key has changed: no velocities are read, and positions in the box stay as they are",
        NULL);
    o.pbc = COLLET_TRAJECTORY_PBC_NOJUMP;
    expect_meta(&o, "displacement of the centre of mass of 15 atoms removed from positions", NULL);
}

/* An atom that is not selected may have moved the other way round the box. */
TEST(steps_of_half_a_box)
{
    static box_system s;

    label(&s, 5);
    s.masses[1] = 1;
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < 5; i++) {
            s.numbers[i] = i;
            s.positions[f][i][0] = 0.5 * i;
            s.positions[f][i][1] = i == 3 && f > 4 ? 0.45 * EDGE : 0;
        }
    wrap(&s);
    collet_trajectory_options o = options_of(&s);
    o.keys = "com";
    o.selection = "index 0";
    o.pbc = COLLET_TRAJECTORY_PBC_NOJUMP;
    o.drift = COLLET_TRAJECTORY_DRIFT_LINEAR;
    expect_meta(&o, "displacement of the centre of mass of 5 atoms removed from positions",
                "frame 5: the molecule of MOL 0 is about half a box from where it was");
    o.drift_of = "index 0 1";
    expect_meta(&o, "displacement of the centre of mass of 2 atoms removed from positions", NULL);
}

/* ---- Faults ------------------------------------------------------------------------------ */

static void expect_refused(const collet_trajectory_options *o, const char *text)
{
    collet_trajectory *x;
    collet_error err;

    assert_int_equal(collet_trajectory_create(&x, o, &err), COLLET_INVALID);
    assert_null(x);
    assert_contains(err.text, text);
}

TEST(options_that_are_refused)
{
    static box_system s;

    make_resting(&s, ATOMS);
    collet_trajectory_options o = options_of(&s);
    o.drift = 4;
    expect_refused(&o, "drift 4; they must be 0 to 3");
    o.drift = COLLET_TRAJECTORY_DRIFT_KEEP;
    o.drift_of = "all";
    expect_refused(&o, "drift_of: 'all' is given, but no drift is removed");
    o.drift = COLLET_TRAJECTORY_DRIFT_BOTH;
    o.drift_of = "name Q";
    expect_refused(&o, "drift_of: the selection 'name Q' matches none of the 16 atoms of the test");
    o.drift_of = "within 1 of index 0";
    expect_refused(&o, "differs from frame to frame");
    o.drift_of = "index";
    expect_refused(&o, "selection");
    o.drift_of = "group Protein";
    expect_refused(&o, "group");
    o.drift_of = "index 1";
    expect_refused(&o, "drift: none of the atoms of drift_of index 1 has a mass");
    o.drift_of = "index 0 1";
    expect_refused(&o, "only one has a mass, and one atom has no rotation");
    o.drift = COLLET_TRAJECTORY_DRIFT_LINEAR;
    expect_meta(
        &o,
        MOTION
        " of 1 atom removed from velocities, displacement of the centre of mass from positions",
        NULL);
}

TEST(masses_of_the_system_are_guessed)
{
    static box_system s;
    collet_error err;
    collet_trajectory *x;

    make_resting(&s, ATOMS);
    collet_trajectory_options o = options_of(&s);
    o.mass_values = NULL;
    o.n_mass_values = 0;
    o.selection = "index 0:3";
    o.drift = COLLET_TRAJECTORY_DRIFT_LINEAR;
    expect_meta(
        &o,
        MOTION
        " of 16 atoms removed from velocities, displacement of the centre of mass from positions",
        NULL);
    s.names[9] = "?";
    assert_error(collet_trajectory_create(&x, &o, &err), COLLET_FORMAT, err,
                 "drift: no element can be guessed for atom 10");
    o.drift_of = "index 0:8";
    expect_meta(
        &o,
        MOTION
        " of 9 atoms removed from velocities, displacement of the centre of mass from positions",
        NULL);
}

/* An atom that is not selected changes all velocities of its frame; the warning names it. */
TEST(a_number_that_is_not_finite)
{
    static box_system s;
    const collet_trajectory_batch *rows;

    make_resting(&s, ATOMS);
    s.velocities[3][12][1] = NAN;
    collet_trajectory_options o = options_of(&s);
    o.selection = "index 0:3";
    o.keys = "com,L_vector";
    o.drift = COLLET_TRAJECTORY_DRIFT_BOTH;
    OWNED(collet_trajectory) *x = collect(&o, &rows);
    for (int f = 0; f < FRAMES; f++) {
        assert_true(isfinite(column(rows, "com")[3 * f]));
        assert_true(isfinite(column(rows, "L_vector")[3 * f]) == (f != 3));
    }
    assert_contains(collet_trajectory_warning_at(x, 0), "frame 3: the velocity of atom 12");
}
