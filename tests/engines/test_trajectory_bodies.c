/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies: which atoms they have, and that their rows equal the rows of runs with the body as selection. */

#include "directory.h"
#include "npz_reader.h"
#include "trajectory/bodies/bodies.h"

#define WATER COLLET_TEST_DATA "/md/water/"
#define WATERS 216
#define FRAMES 51

/* ---- Division ------------------------------------------------------------------------------ */

/* Two chains whose atoms alternate, a residue that appears twice, and an ion without a chain. */
#define ATOM(serial, name, residue, chain, id, x)                                                  \
    "ATOM  " serial "  " name " " residue " " chain id "    " x "   1.000   0.000  1.00  0.00\n"
static const char molecules[] =
    "CRYST1  100.000  100.000  100.000  90.00  90.00  90.00 P 1           1\n" /* */
    ATOM("    1", "N  ", "ALA", "A", "   1", "   1.000")
        ATOM("    2", "CA ", "ALA", "A", "   1", "   2.000")
            ATOM("    3", "N  ", "GLY", "B", "   1", "   3.000")
                ATOM("    4", "C  ", "ALA", "A", "   1", "   4.000")
                    ATOM("    5", "CA ", "GLY", "B", "   1", "   5.500")
                        ATOM("    6", "O  ", "HOH", " ", "   9", "   6.000") "END\n";

static const char groups_text[] =
    "[ first ]\n1 2 3\n[ second ]\n4 3 3 6\n[ none ]\n[ last ]\n5\n[ B b ]\n2\n";

static trajectory_topology *topology;
static trajectory_groups *groups;

static int load_topology(void **state)
{
    make_directory(state);
    topology = io_topology(io_path(directory, "molecules.pdb"), molecules);
    io_save(io_path(directory, "groups.ndx"), groups_text, sizeof groups_text - 1);
    return trajectory_groups_read(io_path(directory, "groups.ndx"), 6, &groups, NULL);
}

static int free_topology(void **state)
{
    trajectory_topology_free(topology);
    trajectory_groups_free(groups);
    return remove_directory(state);
}

static collet_status find(trajectory_bodies *b, const char *each, const char *atoms,
                          collet_error *err)
{
    int64_t selected[6], n = 0;

    for (; atoms[n] != '\0'; n++)
        selected[n] = atoms[n] - '0';
    return trajectory_bodies_find(b, each, topology, "top", groups, selected, n, err);
}

/* Expects bodies, as "LABEL: atoms; LABEL: atoms". Each atom is a digit, counted from 0. */
static void expect_bodies(const char *each, const char *atoms, const char *expected)
{
    trajectory_bodies b;
    collet_error err;
    char text[400] = "";

    if (find(&b, each, atoms, &err) != COLLET_OK)
        fail_msg("%s: %s", each, err.text);
    for (int64_t i = 0; i < b.n; i++) {
        size_t at = strlen(text);

        at += (size_t)sprintf(text + at, "%s%s: ", i > 0 ? "; " : "",
                              b.labels != NULL ? b.labels[i] : "-");
        for (int64_t k = b.offsets[i]; k < b.offsets[i + 1]; k++)
            text[at++] = (char)('0' + b.members[k]);
    }
    assert_string_equal(text, expected);
    trajectory_bodies_free(&b);
}

TEST(bodies_of_a_topology)
{
    expect_bodies(NULL, "0345", "-: 0345");
    expect_bodies("residue", "012345",
                  "ALA 1 of chain A: 01; GLY 1 of chain B: 2; ALA 1 of chain A: 3; "
                  "GLY 1 of chain B: 4; HOH 9: 5");
    expect_bodies("residue", "15", "ALA 1 of chain A: 1; HOH 9: 5");
    expect_bodies("chain", "012345", "chain A: 013; chain B: 24; no chain: 5");
    expect_bodies("chain", "245", "chain B: 24; no chain: 5");
    expect_bodies("molecule", "0125", "ALA 1 of chain A: 01; GLY 1 of chain B: 2; HOH 9: 5");
    expect_bodies("first second", "012345", "first: 012; second: 235");
    expect_bodies(" s*  las? ", "01234", "second: 23; last: 4");
    expect_bodies("'B b' \"fir*\"", "012", "first: 012; B b: 1");
}

static void expect_refused(const char *each, const char *atoms, const char *text)
{
    trajectory_bodies b;
    collet_error err;

    assert_int_equal(find(&b, each, atoms, &err), COLLET_INVALID);
    assert_null(b.members);
    assert_contains(err.text, text);
}

TEST(bodies_that_do_not_exist)
{
    expect_refused("segment", "01", "top has no segments, but chains");
    expect_refused("residues", "01", "no group of");
    expect_refused("B b", "01",
                   "is named 'B'; it has first, second, none, last, B b; a name with "
                   "blanks stands in quotes");
    expect_refused("'B  b'", "01", "is named 'B  b'");
    expect_refused("first third", "01", "is named 'third'");
    expect_refused("none", "01", "group 'none' has no atom of the selection");
    expect_refused("last", "01", "group 'last' has no atom of the selection");
    expect_refused("  ", "01", "each: the text is empty");
    assert_true(trajectory_bodies_named("chain") && trajectory_bodies_named(NULL));
    assert_false(trajectory_bodies_named("Chain") || trajectory_bodies_named(""));
}

/* ---- Rows ---------------------------------------------------------------------------------- */

/* All rows of a run. */
typedef struct table {
    collet_trajectory *x;
    const collet_trajectory_batch *rows;
} table;

static table compute(collet_trajectory_options options)
{
    table t;
    collet_error err;

    options.struct_size = sizeof options;
    if (options.backend == NULL)
        options.backend = "cpu_scalar";
    if (collet_trajectory_create(&t.x, &options, &err) != COLLET_OK ||
        collet_trajectory_collect(t.x, &t.rows, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    return t;
}

static collet_trajectory_quantity quantity(const table *t, size_t i)
{
    collet_trajectory_quantity q = {.struct_size = sizeof q};

    assert_int_equal(collet_trajectory_quantity_at(t->x, &q, i, NULL), COLLET_OK);
    return q;
}

/* The rows of body `b` in `all` equal the rows of `one`, a run without bodies, to 1e-12 of the largest
 * number of the column. */
static void expect_body(const table *all, int64_t bodies, int64_t b, const table *one)
{
    assert_int_equal(all->rows->n_rows, one->rows->n_rows);
    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        collet_trajectory_quantity whole = quantity(all, i), q = quantity(one, i);
        const double *from = all->rows->columns[i], *to = one->rows->columns[i];
        int64_t n = one->rows->n_rows * q.width;
        double largest = 0;

        assert_int_equal(from == NULL, to == NULL);
        if (from == NULL)
            continue;
        if (strcmp(q.key, "time_ps") == 0) {
            assert_int_equal(whole.ndim, 0);
            assert_memory_equal(from, to, (size_t)n * sizeof *to);
            continue;
        }
        assert_int_equal(whole.ndim, q.ndim + 1);
        assert_int_equal(whole.shape[0], bodies);
        assert_int_equal(whole.width, bodies * q.width);
        for (int64_t k = 0; k < n; k++)
            largest = fmax(largest, fabs(to[k])); /* skips NaN */
        for (int64_t k = 0; k < n; k++) {
            double value = from[(k / q.width * bodies + b) * q.width + k % q.width];

            /* A single atom has no asphericity. */
            if (!(fabs(value - to[k]) <= 1e-12 * largest) && !(isnan(value) && isnan(to[k])))
                fail_msg("%s of body %d, row %d: %.17g, %.17g", q.key, (int)b, (int)(k / q.width),
                         value, to[k]);
        }
    }
}

static void expect_same_bits(const table *a, const table *b)
{
    assert_int_equal(a->rows->n_rows, b->rows->n_rows);
    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++)
        if (a->rows->columns[i] != NULL)
            assert_memory_equal(a->rows->columns[i], b->rows->columns[i],
                                (size_t)(a->rows->n_rows * quantity(a, i).width) * sizeof(double));
}

TEST(waters_one_by_one)
{
    collet_trajectory_options options = {
        .topology = WATER "conf.gro", .trajectory = WATER "traj.trr", .each = "residue"};
    collet_trajectory_info info = {.struct_size = sizeof info};
    table all = compute(options);

    collet_trajectory_get_info(all.x, &info);
    assert_int_equal(info.bodies, WATERS);
    assert_int_equal(info.atoms, 3 * WATERS);
    assert_string_equal(collet_trajectory_body_at(all.x, 215), "SOL 216");
    assert_null(collet_trajectory_body_at(all.x, 216));
    options.each = NULL;
    for (int b = 0; b < WATERS; b++) {
        char text[32];

        snprintf(text, sizeof text, "resid %d", b + 1);
        options.selection = text;
        table one = compute(options);
        expect_body(&all, WATERS, b, &one);
        assert_null(collet_trajectory_body_at(one.x, 0));
        collet_trajectory_destroy(one.x);
    }
    collet_trajectory_destroy(all.x);
}

/* The rows that collet_trajectory_next returns equal the rows of `whole` bit for bit. */
static void expect_parts(collet_trajectory_options options, const table *whole)
{
    const collet_trajectory_batch *rows;
    OWNED(collet_trajectory) *x = NULL;
    int64_t done = 0;

    options.struct_size = sizeof options;
    assert_int_equal(collet_trajectory_create(&x, &options, NULL), COLLET_OK);
    for (;;) {
        assert_int_equal(collet_trajectory_next(x, &rows, NULL), COLLET_OK);
        if (rows == NULL)
            break;
        for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
            int64_t width = quantity(whole, i).width;

            if (rows->columns[i] != NULL)
                assert_memory_equal(rows->columns[i], whole->rows->columns[i] + done * width,
                                    (size_t)(rows->n_rows * width) * sizeof(double));
        }
        done += rows->n_rows;
    }
    assert_int_equal(done, whole->rows->n_rows);
}

/* The continuity of principal axes and dL/dt depend on earlier frames of each body. */
TEST(batches_change_no_bit)
{
    static const char *const backends[] = {"cpu_scalar", "cpu_openmp"};

    for (size_t k = 0; k < 2; k++) {
        collet_trajectory_options options = {.topology = WATER "conf.gro",
                                             .trajectory = WATER "traj.trr",
                                             .selection = "resid 1:40",
                                             .each = "residue",
                                             .backend = backends[k],
                                             .batch_frames = FRAMES};
        table whole = compute(options);

        for (int64_t frames = 1; frames <= 20; frames += 6) {
            options.batch_frames = frames;
            options.batch_rows = frames + 1;
            expect_parts(options, &whole);
        }
        collet_trajectory_destroy(whole.x);
    }
}

/* Batches of the default size have fewer frames than without bodies. */
TEST(batches_of_many_bodies_are_short)
{
    collet_trajectory_options options = {.struct_size = sizeof options,
                                         .topology = WATER "conf.gro",
                                         .trajectory = WATER "traj.xtc",
                                         .backend = "cpu_scalar",
                                         .keys = "com",
                                         .ndx = io_path(directory, "all.ndx"),
                                         .each = "all"};
    static char ndx[1000 * 8 + 1];
    const collet_trajectory_batch *rows;
    OWNED(collet_trajectory) *x = NULL;

    strcpy(ndx, "");
    for (int i = 0; i < 1000; i++)
        strcat(ndx, "[all]\n1\n");
    io_save(options.ndx, ndx, strlen(ndx));
    assert_int_equal(collet_trajectory_create(&x, &options, NULL), COLLET_OK);
    assert_int_equal(collet_trajectory_next(x, &rows, NULL), COLLET_OK);
    assert_int_equal(rows->n_rows, 32);
}

TEST(groups_that_overlap)
{
    static const char *const selections[] = {"index 0:5", "index 3:8 or index 600:602", "index 2"};
    static const char ndx[] = "[a]\n1 2 3 4 5 6\n[b]\n601 602 603 4 5 6 7 8 9\n[c]\n3\n[d]\n9\n";
    collet_trajectory_options options = {.topology = WATER "conf.gro",
                                         .trajectory = WATER "traj.trr",
                                         .ndx = io_path(directory, "overlap.ndx"),
                                         .each = "a b c"};
    collet_trajectory_info info = {.struct_size = sizeof info};

    io_save(options.ndx, ndx, sizeof ndx - 1);
    table all = compute(options);
    collet_trajectory_get_info(all.x, &info);
    assert_int_equal(info.bodies, 3);
    assert_int_equal(info.atoms, 12);
    assert_true(fabs(info.mass - 4 * 18.015) < 0.01);
    options.each = NULL;
    for (int64_t b = 0; b < 3; b++) {
        options.selection = selections[b];
        table one = compute(options);
        expect_body(&all, 3, b, &one);
        collet_trajectory_destroy(one.x);
    }
    collet_trajectory_destroy(all.x);
}

TEST(one_body_has_an_axis)
{
    collet_trajectory_options options = {.topology = WATER "conf.gro",
                                         .trajectory = WATER "traj.xtc",
                                         .selection = "resid 3",
                                         .each = "molecule"};
    table divided = compute(options);
    options.each = NULL;
    table whole = compute(options);

    expect_body(&divided, 1, 0, &whole);
    expect_same_bits(&divided, &whole);
    collet_trajectory_destroy(divided.x);
    collet_trajectory_destroy(whole.x);
}

TEST(chains_of_a_file)
{
    char path[200];
    collet_trajectory_options options = {.topology = path, .trajectory = path, .each = "chain"};

    snprintf(path, sizeof path, "%s", io_path(directory, "molecules.pdb"));
    table all = compute(options);
    options.each = NULL;
    for (int64_t b = 0; b < 3; b++) {
        static const char *const selections[] = {"bynum 1 2 4", "bynum 3 5", "bynum 6"};

        options.selection = selections[b];
        table one = compute(options);
        expect_body(&all, 3, b, &one);
        collet_trajectory_destroy(one.x);
    }
    collet_trajectory_destroy(all.x);
}

TEST(a_body_without_mass)
{
    double masses[3 * WATERS];
    collet_trajectory_options options = {.struct_size = sizeof options,
                                         .topology = WATER "conf.gro",
                                         .trajectory = WATER "traj.xtc",
                                         .each = "residue",
                                         .mass_values = masses,
                                         .n_mass_values = 3 * WATERS};
    collet_trajectory *x;
    collet_error err;

    for (int i = 0; i < 3 * WATERS; i++)
        masses[i] = i / 3 == 7 ? 0 : 1;
    assert_error(collet_trajectory_create(&x, &options, &err), COLLET_INVALID, err,
                 "the total mass of the 3 atoms of the body 'SOL 8' is 0");
    options.each = "water";
    assert_error(collet_trajectory_create(&x, &options, &err), COLLET_INVALID, err,
                 "each: 'water' is not residue, molecule, segment or chain");
}

/* ---- Values that are not finite ------------------------------------------------------------ */

static collet_status read_frame(void *user, collet_trajectory_frame *frame, int64_t index,
                                collet_error *err)
{
    static double positions[12 * 3];
    double bad = *(const double *)user;

    for (int i = 0; i < 36; i++)
        positions[i] = sin(7.0 * i + 0.1 * (double)index);
    if (index == 2)
        positions[4 * 3 + 1] = bad;
    frame->positions = positions;
    frame->time = (double)index;
    return COLLET_OK;
}

TEST(a_body_that_is_not_finite)
{
    static const int32_t ids[] = {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4};
    double bad = 0.25;
    const collet_trajectory_source source = {.struct_size = sizeof source,
                                             .dtype = COLLET_F64,
                                             .name = "four",
                                             .n_atoms = 12,
                                             .n_frames = 4,
                                             .residue_ids = ids,
                                             .has_times = 1,
                                             .read = read_frame,
                                             .user = &bad};
    static const char *const backends[] = {"cpu_scalar", "cpu_openmp"};

    for (size_t k = 0; k < 2; k++) {
        collet_trajectory_options options = {.source = &source,
                                             .each = "residue",
                                             .masses = "equal",
                                             .backend = backends[k],
                                             .keys = "time_ps,com,inertia_tensor,rg,rmsd"};
        bad = 0.25;
        table good = compute(options);
        bad = INFINITY;
        table with = compute(options);
        for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
            collet_trajectory_quantity q = quantity(&with, i);
            int64_t width = q.width / 4;

            for (int64_t r = 0; q.ndim > 0 && with.rows->columns[i] && r < 16; r++) {
                const double *row = with.rows->columns[i] + r * width;

                if (r == 2 * 4 + 1 && isfinite(row[width > 1]))
                    fail_msg("%s is %g", q.key, row[width > 1]);
                if (r != 2 * 4 + 1)
                    assert_memory_equal(row, good.rows->columns[i] + r * width,
                                        (size_t)width * sizeof *row);
            }
        }
        assert_contains(collet_trajectory_warning_at(with.x, 0),
                        "frame 2: the position of atom 4 ( of  2, counted from 0) is inf, so all "
                        "its results of  2 are not finite");
        collet_trajectory_destroy(good.x);
        collet_trajectory_destroy(with.x);
    }
}

/* ---- Files --------------------------------------------------------------------------------- */

TEST(labels_in_files)
{
    collet_trajectory_options options = {.struct_size = sizeof options,
                                         .topology = WATER "conf.gro",
                                         .trajectory = WATER "traj.xtc",
                                         .selection = "resid 9 10",
                                         .each = "residue",
                                         .backend = "cpu_scalar",
                                         .keys = "com,inertia_tensor,time_ps"};
    char path[200];
    collet_error err;
    uint32_t text[12];

    snprintf(path, sizeof path, "%s", io_path(directory, "out.npz"));
    assert_success(collet_trajectory_extract(path, 0, &options, &err), err);
    io_bytes file = io_load(path);
    assert_int_equal(npz_count(file.data, file.size), 4);
    npy_array tensor = npz_find(file.data, file.size, "inertia_tensor");
    assert_int_equal(tensor.ndim, 4);
    assert_int_equal(tensor.shape[0], FRAMES);
    assert_int_equal(tensor.shape[1], 2);
    npy_array labels = npz_find(file.data, file.size, "bodies");
    assert_string_equal(labels.descr, "<U6");
    assert_int_equal(labels.ndim, 1);
    assert_int_equal(labels.shape[0], 2);
    memcpy(text, labels.data, sizeof text); /* copied: not aligned in the file */
    for (int i = 0; i < 12; i++)
        assert_int_equal(text[i], (uint32_t) "SOL 9\0SOL 10"[i]);
    free(file.data);
    snprintf(path, sizeof path, "%s", io_path(directory, "out.meta.json"));
    file = io_load(path);
    char *meta = strndup((const char *)file.data, file.size);
    assert_contains(meta,
                    "\"each\":\t\"residue\",\n\t\t\"count\":\t2,\n\t\t\"labels\":\t[\"SOL 9\", "
                    "\"SOL 10\"]",
                    "\"shape\":\t[51, 2, 3, 3]");
    free(meta);
    free(file.data);
    options.keys = "com";
    snprintf(path, sizeof path, "%s", io_path(directory, "arrays"));
    assert_int_equal(collet_trajectory_extract(path, COLLET_TRAJECTORY_DIRECTORY, &options, &err),
                     COLLET_OK);
    snprintf(path, sizeof path, "%s", io_path(directory, "arrays/bodies.npy"));
    file = io_load(path);
    assert_int_equal(npy_parse(file.data, file.size).shape[0], 2);
    free(file.data);
    snprintf(path, sizeof path, "%s", io_path(directory, "arrays"));
    remove(io_path(directory, "arrays/com.npy"));
    assert_error(collet_trajectory_extract(path, COLLET_TRAJECTORY_DIRECTORY, &options, &err),
                 COLLET_IO, err, "arrays/bodies.npy already exists");
}

TEST_GROUP(load_topology, free_topology)
