/* SPDX-License-Identifier: Apache-2.0 */
/* A source: the program supplies atoms and frames in place of files. */

#include "common/test.h"
#include "trajectory/reading/index.h"
#include "trajectory/reading/memory.h"
#include "trajectory/reading/reader.h"

#include <collet/trajectory.h>

#include <pthread.h>

OWNS(collet_trajectory, collet_trajectory_destroy)
OWNS(trajectory_reader, trajectory_reader_close)
OWNS(trajectory_topology, trajectory_topology_free)

#define PEPTIDE COLLET_TEST_DATA "/md/peptide/"
#define FRAMES 51

/* All frames of a file in memory, and a source that supplies them. */
typedef struct memory {
    collet_trajectory_source source;
    trajectory_topology *topology;
    trajectory_frames *frames;
    const char **names;
    const char **residue_names;
    int64_t calls;
    int64_t last;
    int64_t fails_at; /* -1: nowhere */
    int silent;
    pthread_t thread;
} memory;

static collet_status read_frame(void *user, collet_trajectory_frame *frame, int64_t index,
                                collet_error *err)
{
    memory *m = user;
    size_t real = m->source.dtype == COLLET_F64 ? sizeof(double) : sizeof(float);
    size_t offset = (size_t)index * (size_t)m->source.n_atoms * 3 * real;

    assert_int_equal(frame->struct_size, sizeof *frame);
    m->calls++;
    m->last = index;
    m->thread = pthread_self();
    if (index == m->fails_at)
        return m->silent ? COLLET_BUSY : collet_fail(err, COLLET_BUSY, "not now");
    frame->time = m->frames->times[index];
    frame->positions = (const char *)m->frames->positions + offset;
    if (m->frames->velocities != NULL)
        frame->velocities = (const char *)m->frames->velocities + offset;
    if (m->frames->forces != NULL)
        frame->forces = (const char *)m->frames->forces + offset;
    return COLLET_OK;
}

static void load(memory *m, const char *path)
{
    OWNED(trajectory_reader) *trajectory = NULL;
    const trajectory_reader_info *info;
    int64_t n_frames;
    size_t n;

    memset(m, 0, sizeof *m);
    assert_int_equal(trajectory_topology_read(PEPTIDE "conf.gro", NULL, &m->topology, NULL),
                     COLLET_OK);
    assert_int_equal(trajectory_reader_open(path, NULL, &trajectory, NULL), COLLET_OK);
    trajectory_reader_use_clocks(trajectory); /* as a run of files does */
    assert_int_equal(trajectory_reader_count(trajectory, NULL, NULL, &n_frames, NULL), COLLET_OK);
    info = trajectory_reader_get_info(trajectory);
    assert_int_equal(trajectory_frames_create(info->n_atoms, FRAMES, info->dtype,
                                              info->has_velocities, info->has_forces, &m->frames,
                                              NULL),
                     COLLET_OK);
    assert_int_equal(trajectory_reader_read(trajectory, m->frames, NULL), COLLET_OK);
    assert_int_equal(m->frames->n_frames, FRAMES);
    n = (size_t)info->n_atoms;
    m->names = calloc(n, sizeof *m->names);
    m->residue_names = calloc(n, sizeof *m->residue_names);
    for (size_t i = 0; i < n; i++) {
        m->names[i] = m->topology->names[i];
        m->residue_names[i] = m->topology->residue_names[i];
    }
    m->fails_at = -1;
    m->silent = 0;
    m->source = (collet_trajectory_source){.struct_size = sizeof m->source,
                                           .dtype = info->dtype,
                                           .name = "the test",
                                           .n_atoms = info->n_atoms,
                                           .n_frames = FRAMES,
                                           .names = m->names,
                                           .residue_names = m->residue_names,
                                           .residue_ids = m->topology->residue_ids,
                                           .has_velocities = info->has_velocities,
                                           .has_forces = info->has_forces,
                                           .has_times = 1,
                                           .read = read_frame,
                                           .user = m};
}

static void unload(memory *m)
{
    trajectory_topology_free(m->topology);
    trajectory_frames_free(m->frames);
    free(m->names);
    free(m->residue_names);
}

static collet_trajectory_options options_of(const memory *m)
{
    return (collet_trajectory_options){.struct_size = sizeof(collet_trajectory_options),
                                       .source = m != NULL ? &m->source : NULL,
                                       .backend = "cpu_scalar"};
}

static collet_trajectory *open_with(const collet_trajectory_options *options)
{
    collet_trajectory *x;
    collet_error err;

    assert_success(collet_trajectory_create(&x, options, &err), err);
    return x;
}

static void expect_same(collet_trajectory_options options, const memory *m, const char *path)
{
    collet_trajectory_options of_files = options;
    const collet_trajectory_batch *rows, *expected;
    OWNED(collet_trajectory) *x = NULL, *files = NULL;

    options.source = &m->source;
    of_files.topology = PEPTIDE "conf.gro";
    of_files.trajectory = path;
    x = open_with(&options);
    files = open_with(&of_files);
    assert_int_equal(collet_trajectory_collect(x, &rows, NULL), COLLET_OK);
    assert_int_equal(collet_trajectory_collect(files, &expected, NULL), COLLET_OK);
    assert_int_equal(rows->n_rows, expected->n_rows);
    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        collet_trajectory_quantity q = {.struct_size = sizeof q};

        collet_trajectory_quantity_at(NULL, &q, i, NULL);
        assert_int_equal(rows->columns[i] == NULL, expected->columns[i] == NULL);
        if (rows->columns[i] != NULL)
            assert_memory_equal(rows->columns[i], expected->columns[i],
                                (size_t)(rows->n_rows * q.width) * sizeof(double));
    }
    assert_contains(collet_trajectory_meta(x), "\"format\":\t\"memory\"");
}

TEST(rows_are_those_of_the_file)
{
    static const char *const paths[] = {PEPTIDE "traj.trr", PEPTIDE "traj_double.trr",
                                        PEPTIDE "traj.xtc"};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        collet_trajectory_options options = options_of(NULL);
        memory m;

        load(&m, paths[i]);
        expect_same(options, &m, paths[i]);
        assert_int_equal(m.calls, 1 + FRAMES);
        assert_true(pthread_equal(m.thread, pthread_self()));
        options.selection = "resid 2:5 and not name H*";
        options.start = 3;
        options.stop = 40;
        options.step = 5;
        options.batch_frames = 2;
        options.reference = PEPTIDE "conf.gro";
        m.calls = 0;
        expect_same(options, &m, paths[i]);
        assert_int_equal(m.calls, 2 + 8); /* 2: the reference is made whole like the first frame */
        assert_int_equal(m.last, 38);
        unload(&m);
    }
}

TEST(an_error_of_read_ends_the_work)
{
    const collet_trajectory_batch *rows;
    collet_trajectory_options options;
    collet_trajectory *x;
    collet_error err;
    memory m;

    load(&m, PEPTIDE "traj.trr");
    options = options_of(&m);
    m.fails_at = 7;
    x = open_with(&options);
    assert_error(collet_trajectory_collect(x, &rows, &err), COLLET_BUSY, err, "the test: frame 7",
                 "not now");
    assert_int_equal(collet_trajectory_collect(x, &rows, &err), COLLET_BUSY);
    collet_trajectory_destroy(x);

    m.silent = 1;
    x = open_with(&options);
    assert_error(collet_trajectory_collect(x, &rows, &err), COLLET_BUSY, err, "the test: frame 7",
                 "the source's read failed without a text");
    collet_trajectory_destroy(x);

    m.fails_at = -1;
    trajectory_frames *frames = m.frames;
    void *forces = frames->forces;
    frames->forces = NULL;
    x = open_with(&options);
    assert_error(collet_trajectory_collect(x, &rows, &err), COLLET_NOT_FOUND, err, "has no forces");
    collet_trajectory_destroy(x);
    frames->forces = forces;
    unload(&m);
}

TEST(warnings_name_atoms)
{
    const collet_trajectory_batch *rows;
    collet_trajectory_options options;
    collet_trajectory *x;
    memory m;

    load(&m, PEPTIDE "traj.trr");
    options = options_of(&m);
    ((float *)m.frames->positions)[(5 * m.source.n_atoms + 11) * 3] = NAN;
    x = open_with(&options);
    assert_int_equal(collet_trajectory_collect(x, &rows, NULL), COLLET_OK);
    assert_contains(collet_trajectory_warning_at(x, 0), "frame 5: the position of atom 11");
    collet_trajectory_destroy(x);
    unload(&m);
}

/* The columns of a key, computed with batches of this size. The caller destroys *x. */
static const double *column_of(collet_trajectory **x, const memory *m, const char *key,
                               const char *each, int64_t batch_frames)
{
    collet_trajectory_options options = options_of(m);
    const collet_trajectory_batch *rows;
    collet_trajectory_quantity q = {.struct_size = sizeof q};
    size_t i = 0;

    options.keys = key;
    options.each = each;
    options.masses = "equal";
    options.batch_frames = batch_frames;
    *x = open_with(&options);
    assert_int_equal(collet_trajectory_collect(*x, &rows, NULL), COLLET_OK);
    while (collet_trajectory_quantity_at(*x, &q, i, NULL) == COLLET_OK && strcmp(q.key, key) != 0)
        i++;
    assert_int_equal(rows->n_rows, FRAMES);
    return rows->columns[i];
}

/* Component k of the dipole of the atoms `first` to `last`, which have equal masses. */
static double dipole_of(const double *positions, const double *charges, int64_t first, int64_t last,
                        int64_t k)
{
    double sum = 0, centre = 0;

    for (int64_t i = first; i <= last; i++)
        centre += positions[3 * i + k] / (double)(last - first + 1);
    for (int64_t i = first; i <= last; i++)
        sum += charges[i] * (positions[3 * i + k] - centre);
    return sum;
}

TEST(vectors_are_those_of_the_positions)
{
    static const char *const each[] = {NULL, "residue"};
    collet_trajectory *whole, *x, *again;
    FREED(double) *charges = NULL;
    memory m;

    load(&m, PEPTIDE "traj.trr");
    int64_t n = m.source.n_atoms;
    charges = malloc((size_t)n * sizeof *charges);
    assert_non_null(charges);
    for (int64_t i = 0; i < n; i++)
        charges[i] = 0.25 * (double)(i % 5) - 0.3;
    m.source.charges = charges;
    const double *positions = column_of(&whole, &m, "positions", NULL, 3);
    for (int k = 0; k < 2; k++) {
        const double *dipoles = column_of(&x, &m, "dipole", each[k], 7);
        const double *same = column_of(&again, &m, "dipole", each[k], 1);
        int64_t bodies = 0, row = 0;

        for (int64_t i = 0; i < n; i++)
            bodies +=
                i + 1 == n || (k == 1 && m.source.residue_ids[i] != m.source.residue_ids[i + 1]);
        assert_memory_equal(dipoles, same, (size_t)(FRAMES * bodies * 3) * sizeof(double));
        for (int64_t f = 0; f < FRAMES; f++)
            for (int64_t first = 0, last = 0; first < n; first = ++last, row++) {
                while (last + 1 < n &&
                       (k == 0 || m.source.residue_ids[last + 1] == m.source.residue_ids[first]))
                    last++;
                for (int64_t c = 0; c < 3; c++)
                    assert_true(fabs(dipoles[3 * row + c] -
                                     dipole_of(positions + 3 * n * f, charges, first, last, c)) <
                                1e-12);
            }
        assert_int_equal(row, FRAMES * bodies);
        collet_trajectory_destroy(x);
        collet_trajectory_destroy(again);
    }
    assert_string_equal(collet_trajectory_atom_at(whole, 1), "H1 of ASN 1");
    assert_null(collet_trajectory_atom_at(whole, (size_t)n));
    const double *ends = column_of(&x, &m, "end_to_end", NULL, 0);
    assert_null(collet_trajectory_atom_at(x, 0));
    for (int64_t i = 0; i < 3 * FRAMES; i++) {
        const double *frame = positions + i / 3 * 3 * n;
        assert_true(ends[i] == frame[3 * (n - 1) + i % 3] - frame[i % 3]);
    }
    collet_trajectory_destroy(x);
    collet_trajectory_destroy(whole);
    unload(&m);
}

TEST(topologies_have_what_the_source_has)
{
    static const int64_t numbers[] = {7, 7, 8, 9}, bonds[] = {2, 1, 0, 1, 1, 0};
    static const char *const segments[] = {"A", "A", "", "B"}, *const chains[] = {"x", "", "", ""};
    static const double charges[] = {-0.8, 0.4, 0.4, 1};
    collet_trajectory_source source = {.n_atoms = 4,
                                       .residue_numbers = numbers,
                                       .segments = segments,
                                       .chains = chains,
                                       .charges = charges,
                                       .bonds = bonds,
                                       .n_bonds = 3};
    OWNED(trajectory_topology) *t = NULL;
    collet_error err;

    assert_int_equal(trajectory_memory_topology(&source, &t, &err), COLLET_OK);
    assert_true(trajectory_topology_same_residue(t, 0, 1));
    assert_false(trajectory_topology_same_residue(t, 1, 2));
    assert_string_equal(t->segments[3], "B");
    assert_string_equal(t->chains[0], "x");
    assert_memory_equal(t->charges, charges, sizeof charges);
    assert_int_equal(t->n_bonds, 2);
    assert_int_equal(t->bonds[1].first, 1);
    assert_int_equal(t->bonds[1].second, 2);
    trajectory_topology_free(t);

    source.bonds = (int64_t[]){0, 4};
    source.n_bonds = 1;
    assert_error(trajectory_memory_topology(&source, &t, &err), COLLET_FORMAT, err,
                 "source: a bond joins atoms 1 and 5");
    source.bonds = NULL;
    source.chains = (const char *[]){"A", "B", "a name that is too long", "D"};
    assert_error(trajectory_memory_topology(&source, &t, &err), COLLET_INVALID, err,
                 "the chain of atom 2 is too long");
    source.chains = source.segments = NULL;
    source.residue_numbers = NULL;
    assert_int_equal(trajectory_memory_topology(&source, &t, &err), COLLET_OK);
    assert_null(t->segments);
    assert_null(t->bonds);
    assert_true(trajectory_topology_same_residue(t, 1, 2));
}

static void expect_refused(const collet_trajectory_options *options, const char *text)
{
    collet_trajectory *x;
    collet_error err;

    assert_int_equal(collet_trajectory_create(&x, options, &err), COLLET_INVALID);
    assert_null(x);
    assert_contains(err.text, text);
}

TEST(positions_must_be_possible)
{
    collet_trajectory_options options = options_of(NULL);
    OWNED(collet_trajectory) *x = NULL;
    collet_error err;

    options.topology = PEPTIDE "conf.gro";
    options.trajectory = PEPTIDE "traj.trr";
    options.keys = "dipole";
    expect_refused(&options, "'dipole' cannot be computed: the topology has no charges");
    options.keys = "pos*";
    expect_refused(&options, "'pos*' matches none");
    options.keys = "positions";
    options.each = "residue";
    expect_refused(&options, "leave out each");
    options.each = NULL;
    options.selection = "within 0.5 of resid 1";
    expect_refused(&options, "the selection differs from frame to frame");
    options.selection = "all";
    x = open_with(&options);
    assert_error(collet_trajectory_write(x, "out.csv", 0, &err), COLLET_INVALID, err,
                 "no columns for the positions of");
    assert_int_not_equal(access("out.csv", F_OK), 0);
}

TEST(bad_sources_are_refused)
{
    collet_trajectory_options options;
    collet_trajectory_source good;
    collet_trajectory *x;
    memory m;

    load(&m, PEPTIDE "traj.trr");
    options = options_of(&m);
    good = m.source;
    options.topology = PEPTIDE "conf.gro";
    expect_refused(&options, "give source, or topology and trajectory");
    options.topology = NULL;
    m.source.struct_size = 8;
    expect_refused(&options, "struct_size");
    m.source = good;
    m.source.reserved = 1;
    expect_refused(&options, "reserved is 1");
    m.source = good;
    m.source.n_atoms = 0;
    expect_refused(&options, "n_atoms is 0");
    m.source = good;
    m.source.n_frames = 0;
    expect_refused(&options, "n_frames must be at least 1");
    m.source = good;
    m.source.n_frames = INT64_MAX;
    assert_int_equal(collet_trajectory_create(&x, &options, NULL), COLLET_OVERFLOW);
    m.source = good;
    m.source.dtype = COLLET_F16;
    expect_refused(&options, "f16");
    m.source = good;
    m.source.n_bonds = -1;
    expect_refused(&options, "n_bonds is -1");
    m.source = good;
    m.source.read = NULL;
    expect_refused(&options, "read is NULL");
    m.source = good;
    m.source.name = NULL;
    expect_refused(&options, "name is NULL");
    m.source = good;
    m.names[3] = "a name that is too long";
    expect_refused(&options,
                   "the name of atom 3 is too long: a name that is too long; at most 15 ");
    m.names[3] = "one byte too lon";
    expect_refused(&options, "the name of atom 3 is too long");
    m.names[3] = "CA";
    m.residue_names[4] = NULL;
    expect_refused(&options, "the residue name of atom 4");
    unload(&m);
}
