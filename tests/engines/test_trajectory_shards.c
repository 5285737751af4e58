/* SPDX-License-Identifier: Apache-2.0 */
/* Shards: the merged result equals the output of a single run byte for byte, for each kind of run.
 * Shards that are missing or belong to other work are reported. */

#include <cjson/cJSON.h>
#include <hdf5.h>

#include "directory.h"

#define PEPTIDE COLLET_TEST_DATA "/md/peptide/"
#define WATER COLLET_TEST_DATA "/md/water/"

typedef collet_trajectory_options options;

static collet_context *context;

static options options_of(const char *topology, const char *trajectory)
{
    return (options){.struct_size = sizeof(options),
                     .topology = topology,
                     .trajectory = trajectory,
                     .context = context};
}

static collet_status write_shard(const options *o, const char *path, uint32_t flags,
                                 collet_error *err)
{
    collet_trajectory *x = NULL;
    collet_status status = collet_trajectory_create(&x, o, err);

    if (status == COLLET_OK)
        status = collet_trajectory_write(x, path, flags, err);
    collet_trajectory_destroy(x);
    return status;
}

/* ---- Comparison -------------------------------------------------------------------------- */

/* The metadata without the parts that differ from run to run. */
static char *meta_of(const collet_trajectory *x)
{
    cJSON *meta = cJSON_Parse(collet_trajectory_meta(x));
    char *text;

    assert_non_null(meta);
    cJSON_DeleteItemFromObject(meta, "created");
    cJSON_DeleteItemFromObject(meta, "counters");
    cJSON_DeleteItemFromObject(meta, "timing");
    text = cJSON_Print(meta);
    cJSON_Delete(meta);
    return text;
}

static void expect_same_file(const char *a, const char *b)
{
    OWNED(io_bytes) first = io_load(a), second = io_load(b);

    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
}

static void expect_same_datasets(const char *a, const char *b)
{
    static double first[1 << 16], second[1 << 16];
    hid_t one = H5Fopen(a, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t many = H5Fopen(b, H5F_ACC_RDONLY, H5P_DEFAULT);
    int compared = 0;

    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        collet_trajectory_quantity q = {.struct_size = sizeof q};

        collet_trajectory_quantity_at(NULL, &q, i, NULL);
        if (H5Lexists(one, q.key, H5P_DEFAULT) <= 0)
            continue;
        hid_t x = H5Dopen2(one, q.key, H5P_DEFAULT), y = H5Dopen2(many, q.key, H5P_DEFAULT);
        hid_t space = H5Dget_space(x);
        size_t n = (size_t)H5Sget_simple_extent_npoints(space);
        assert_in_range(n, 1, sizeof first / sizeof *first);
        H5Dread(x, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, first);
        H5Dread(y, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, second);
        assert_memory_equal(first, second, n * sizeof *first);
        H5Sclose(space);
        H5Dclose(x);
        H5Dclose(y);
        compared++;
    }
    assert_true(compared > 0);
    H5Fclose(one);
    H5Fclose(many);
}

/* ---- Runs -------------------------------------------------------------------------------- */

/* Writes `path`, which must succeed; returns the metadata and warnings. */
static char *run(const options *o, const char *path)
{
    collet_trajectory *x = NULL;
    collet_error err;

    if (collet_trajectory_create(&x, o, &err) != COLLET_OK ||
        collet_trajectory_write(x, path, 0, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    char *meta = meta_of(x);
    collet_trajectory_destroy(x);
    return meta;
}

/* Computes the shards out of order: with a stride that has no factor in common with n. */
static void compute_shards(options o, const char *path, int64_t n)
{
    collet_error err;

    for (int64_t i = 0; i < n; i++) {
        o.n_shards = n;
        o.shard = (i * 37 + 5) % n + 1;
        if (write_shard(&o, path, 0, &err) != COLLET_OK)
            fail_msg("shard %lld of %lld: %s", (long long)o.shard, (long long)n, err.text);
    }
}

/* Compares one run with n shards. Both write a file of the same name, in two directories, so that
 * their metadata are equal. */
static void expect_same_form(const options *o, const char *name, int64_t n)
{
    char *place = io_make_directory(), *one = strdup(io_path(directory, name));
    char *path = strdup(io_path(place, name)), *expected = run(o, path), *found, shards[512];
    const char *parts = shards;
    const options merged = {
        .struct_size = sizeof merged, .parts = &parts, .n_parts = 1, .context = context};

    assert_int_equal(rename(path, one), 0);
    compute_shards(*o, path, n);
    snprintf(shards, sizeof shards, "%s.shards", path);
    assert_int_equal(io_count_entries(shards), n + 1); /* and the index */
    unlink(io_path(place, "out.meta.json"));
    unlink(io_path(place, "out.csv.meta.json"));
    unlink(io_path(place, "out.xvg.meta.json"));
    found = run(&merged, path);
    assert_string_equal(found, expected);
    if (strstr(name, ".h5"))
        expect_same_datasets(path, one);
    else
        expect_same_file(path, one);
    cJSON_free(expected);
    cJSON_free(found);
    free(path);
    free(one);
    io_remove_directory(place);
}

static void expect_same(const options *o, int64_t n)
{
    expect_same_form(o, "out.npz", n);
}

/* ---- Kinds of runs ----------------------------------------------------------------------- */

TEST(any_number)
{
    static const int64_t numbers[] = {1, 2, 7, 100}; /* of 51 frames */
    options o = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");

    for (size_t i = 0; i < (ADDRESS_SANITIZER ? 3 : 4); i++) /* damaged_files has 30 */
        expect_same(&o, numbers[i]);
    o.trajectory = PEPTIDE "traj_double.trr";
    expect_same(&o, 3);
    o.trajectory = PEPTIDE "traj.xtc";
    expect_same(&o, 3);
}

TEST(every_form)
{
    options o = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");

    o.keys = "com,axes,dLdt_vector,rmsd,k_rot,L_*,tilt_deg";
    o.axis[0] = 0.1;
    o.axis[1] = 1 / 3.0;
    expect_same_form(&o, "out.csv", 4);
    expect_same_form(&o, "out.xvg", 4);
    expect_same_form(&o, "out.h5", 4);
}

TEST(slices_and_bodies)
{
    options o = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");

    o.start = 3;
    o.step = 4;
    expect_same(&o, 5);
    o.stop = 40;
    expect_same(&o, 5);
    o.each = "residue";
    expect_same(&o, 5);
    o.batch_frames = 2;
    expect_same(&o, 2);
    o.keys = "positions,end_to_end";
    o.each = NULL;
    expect_same(&o, 2);

    static double masses[280]; /* one for each atom of the peptide */
    for (int i = 0; i < 280; i++)
        masses[i] = 1 + i / 7.0;
    o.keys = "com,rg";
    o.mass_values = masses;
    o.n_mass_values = 280;
    expect_same(&o, 2);
}

TEST(boxes)
{
    options o = options_of(WATER "conf.gro", WATER "traj.trr");

    for (uint32_t pbc = COLLET_TRAJECTORY_PBC_WHOLE; pbc <= COLLET_TRAJECTORY_PBC_NONE; pbc++) {
        o.pbc = pbc;
        o.selection = pbc == COLLET_TRAJECTORY_PBC_CENTER ? "resid 1:10" : NULL;
        expect_same(&o, 3);
        o.batch_frames = 3; /* a batch then has frames of the shard and before it */
        expect_same(&o, 3);
        o.batch_frames = 0;
    }
    o.pbc = 0;
    o.selection = "within 0.3 of resid 1";
    expect_same(&o, 3);
    o.each = "residue";
    expect_same(&o, 3);
    /* No frame has a selected atom. */
    o.each = NULL;
    o.selection = "(within 0.01 of resid 1) and not resid 1";
    expect_same(&o, 3);
}

TEST(drift)
{
    options o = options_of(WATER "conf.gro", WATER "traj.trr");

    for (uint32_t drift = COLLET_TRAJECTORY_DRIFT_LINEAR; drift <= COLLET_TRAJECTORY_DRIFT_BOTH; drift++)
        for (uint32_t pbc = COLLET_TRAJECTORY_PBC_WHOLE; pbc <= COLLET_TRAJECTORY_PBC_NONE; pbc++) {
            o.drift = drift;
            o.pbc = pbc;
            o.selection = "resid 5:10";
            o.each = pbc % 2 ? "residue" : NULL;
            o.start = pbc;
            o.batch_frames = 3 * (drift & 1); /* a batch then has frames of the shard and before it */
            expect_same(&o, 3);
        }
    o.keys = "positions";
    o.each = NULL;
    o.pbc = COLLET_TRAJECTORY_PBC_NOJUMP;
    o.drift_of = "resid 1:4 and name OW";
    expect_same(&o, 2);
}

/* ---- Frames that lack something ---------------------------------------------------------- */

enum { SPARSE = 12, ATOMS = 3 };

static const char top[] = "sparse\n3\n"
                          "    1SOL     OW    1   0.000   0.000   0.000\n"
                          "    1SOL    HW1    2   0.100   0.000   0.000\n"
                          "    1SOL    HW2    3   0.000   0.100   0.000\n   5 5 5\n";

/* Every third frame has no velocities, every fifth no positions, some have no box; frame 8 has a
 * position that is NaN, frame 3 a time that is NaN, and frame 6 the time of the first frame. */
static void save_sparse(void)
{
    static const uint8_t nan[4] = {0x7f, 0xc0, 0, 0};
    enum { HEAD = 24 + 13 * 4 + 2 * 4, TIME = HEAD - 8 };
    OWNED(io_image) image = {0};

    for (int i = 0; i < SPARSE; i++) {
        size_t at = image.size;
        int fields = (i % 5 == 4 ? 0 : IO_X) | (i % 3 == 1 ? 0 : IO_V) | IO_F;
        int box = i < 2 || i == 7 ? 0 : IO_BOX;

        io_put_trr(&image, 4, ATOMS, i, box | fields);
        if (i == 8)
            memcpy(image.data + at + HEAD + (box ? 36 : 0), nan, sizeof nan);
        if (i == 6)
            memcpy(image.data + at + TIME, image.data + TIME, 4);
        if (i == 3)
            memcpy(image.data + at + TIME, nan, sizeof nan);
    }
    io_save(io_path(directory, "sparse.trr"), image.data, image.size);
    io_save(io_path(directory, "sparse.gro"), top, sizeof top - 1);
}

TEST(missing_fields)
{
    FREED(char) *topology = strdup(io_path(directory, "sparse.gro"));
    FREED(char) *trajectory = strdup(io_path(directory, "sparse.trr"));
    options o = options_of(topology, trajectory);

    save_sparse();
    for (int64_t start = 0; start < 2; start++)
        for (uint32_t missing = COLLET_TRAJECTORY_MISSING_SKIP;
             missing <= COLLET_TRAJECTORY_MISSING_NAN; missing++)
            for (int64_t n = 2; n <= (ADDRESS_SANITIZER ? 3 : 5); n++) {
                o.start = start;
                o.missing = missing;
                o.drift = start ? COLLET_TRAJECTORY_DRIFT_BOTH : COLLET_TRAJECTORY_DRIFT_KEEP;
                o.pbc = n % 2 ? COLLET_TRAJECTORY_PBC_WHOLE : COLLET_TRAJECTORY_PBC_NOJUMP;
                expect_same(&o, n);
            }
    o.missing = COLLET_TRAJECTORY_MISSING_FAIL;
    o.n_shards = 4;
    o.shard = 2;
    collet_error err;
    assert_int_equal(write_shard(&o, io_path(directory, "no.npz"), 0, &err), COLLET_NOT_FOUND);
    assert_int_equal(io_count_entries(io_path(directory, "no.npz.shards")), 1); /* the index */
}

TEST(several_files)
{
    const char *const more[] = {PEPTIDE "traj_double.trr", NULL};
    options o = options_of(PEPTIDE "conf.gro", PEPTIDE "traj_double.trr");

    o.continuations = more;
    /* The second file replaces all frames of the first. */
    expect_same(&o, 3);

    /* A file with the first 20 frames, then a file with frame 15 and all later frames. */
    OWNED(io_bytes) whole = io_load(PEPTIDE "traj.trr");
    size_t frame = whole.size / 51;
    FREED(char) *first = strdup(io_save(io_path(directory, "first.trr"), whole.data, 20 * frame));
    FREED(char) *second = strdup(
        io_save(io_path(directory, "second.trr"), whole.data + 15 * frame, 36 * frame - 100));
    const char *const rest[] = {second, NULL};
    o = options_of(PEPTIDE "conf.gro", first);
    o.continuations = rest;
    expect_same(&o, 4); /* the last frame is cut off */
    o.stop = 30;
    o.step = 2;
    expect_same(&o, 4);
}

TEST(damaged_files)
{
    OWNED(io_bytes) whole = io_load(PEPTIDE "traj.xtc");
    options o;

    FREED(char) *cut =
        strdup(io_save(io_path(directory, "cut.xtc"), whole.data, whole.size * 5 / 9));
    o = options_of(PEPTIDE "conf.gro", cut);
    expect_same(&o, 4);
    /* Damages a frame in the middle: the shards behind it are complete, but are not used. */
    memset(whole.data + whole.size / 2 + 200, 0xff, 600);
    io_save(cut, whole.data, whole.size);
    expect_same(&o, 4);
    expect_same(&o, 30);
}

/* ---- Sets of shards ---------------------------------------------------------------------- */

static void expect_refused(const char *shards, collet_status expected, const char *message)
{
    const options o = {.struct_size = sizeof o, .parts = &shards, .n_parts = 1, .context = context};
    collet_trajectory *x;
    collet_error err;

    assert_int_equal(collet_trajectory_create(&x, &o, &err), expected);
    assert_contains(err.text, message);
}

TEST(incomplete_sets)
{
    options o = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");
    FREED(char) *path = strdup(io_path(directory, "set.npz"));
    FREED(char) *shards = strdup(io_path(directory, "set.npz.shards"));
    collet_error err;

    o.keys = "com,rmsd";
    compute_shards(o, path, 12);
    unlink(io_path(shards, "03-of-12.npz"));
    expect_refused(shards, COLLET_NOT_FOUND, "shard 3 of 12 is missing");
    for (int i = 7; i < 11; i++) {
        char name[32];
        snprintf(name, sizeof name, "%02d-of-12.npz", i);
        unlink(io_path(shards, name));
    }
    expect_refused(shards, COLLET_NOT_FOUND, "shards 3, 7 to 10 of 12 are missing");

    o.shard = 3;
    o.n_shards = 12;
    o.keys = "com,rg";
    assert_int_equal(write_shard(&o, path, 0, &err), COLLET_OK);
    expect_refused(shards, COLLET_INVALID, "shard 3 of 12 is not of the same work as");
    expect_refused(shards, COLLET_INVALID, "(keys: \"com,rg\", not \"com,rmsd\")");
    o.keys = "com,rmsd";
    assert_error(write_shard(&o, path, 0, &err), COLLET_IO, err, "03-of-12.npz already exists");
    assert_error(write_shard(&o, path, COLLET_TRAJECTORY_RESUME, &err), COLLET_INVALID, err,
                 "is of other work (keys: \"com,rg\", not \"com,rmsd\")");
    o.keys = NULL;
    assert_error(write_shard(&o, path, COLLET_TRAJECTORY_RESUME, &err), COLLET_INVALID, err,
                 "is of other work (keys: \"com,rg\", not the default)");
    o.keys = "com,rmsd";
    assert_int_equal(write_shard(&o, path, COLLET_TRAJECTORY_OVERWRITE, &err), COLLET_OK);
    assert_int_equal(write_shard(&o, path, COLLET_TRAJECTORY_RESUME, &err), COLLET_OK);
    expect_refused(shards, COLLET_NOT_FOUND, "shards 7 to 10 of 12 are missing");

    OWNED(io_bytes) shard = io_load(io_path(shards, "03-of-12.npz"));
    io_save(io_path(shards, "03-of-12.npz"), shard.data, shard.size / 2);
    expect_refused(shards, COLLET_FORMAT, "03-of-12.npz: it cannot be opened as an .npz file");
    io_save(io_path(shards, "7-of-12.npz"), shard.data, shard.size);
    io_save(io_path(shards, "03-of-12.npz"), shard.data, shard.size);
    expect_refused(shards, COLLET_INVALID, "are the same shard");
}

TEST(other_inputs)
{
    OWNED(io_bytes) whole = io_load(PEPTIDE "traj.trr");
    FREED(char) *trajectory =
        strdup(io_save(io_path(directory, "own.trr"), whole.data, whole.size));
    FREED(char) *path = strdup(io_path(directory, "own.npz"));
    options o = options_of(PEPTIDE "conf.gro", trajectory);

    compute_shards(o, path, 2);
    io_save(trajectory, whole.data, whole.size - 4);
    expect_refused(io_path(directory, "own.npz.shards"), COLLET_INVALID,
                   "differ from the inputs of the shards");
}

/* Before frame `at`, another trajectory file replaces the first under its name. */
typedef struct swap {
    const char *new, *name;
    int64_t at;
} swap;

static int32_t replace(void *user, const collet_progress *p)
{
    swap *s = user;

    if (s->new && p->done >= s->at) {
        assert_int_equal(rename(s->new, s->name), 0);
        s->new = NULL;
    }
    return 0;
}

/* If the input is replaced during the work, one shard has rows of the old file, and the next would
 * have rows of the new file: this is refused. */
TEST(replaced_inputs)
{
    OWNED(io_bytes) whole = io_load(PEPTIDE "traj.trr");
    FREED(char) *trajectory =
        strdup(io_save(io_path(directory, "old.trr"), whole.data, whole.size));
    FREED(char) *new = strdup(io_path(directory, "new.trr")),
                *path = strdup(io_path(directory, "r.npz"));
    options o = options_of(PEPTIDE "conf.gro", trajectory);

    o.shard = 1;
    o.n_shards = 2;
    for (int64_t at = 0; at < 20; at += 10) {
        swap s = {new, trajectory, at};
        collet_error err;

        io_save(new, whole.data, whole.size);
        o.batch_frames = 5;
        o.progress = replace;
        o.progress_user = &s;
        assert_error(write_shard(&o, path, 0, &err), COLLET_IO, err,
                     "while it was read (inputs: other files, or sizes or times");
        assert_null(s.new);
        assert_int_not_equal(access(io_path(directory, "r.npz.shards/1-of-2.npz"), F_OK), 0);
    }
}

/* ---- Rows in place of files -------------------------------------------------------------- */

static collet_status read_frame(void *user, collet_trajectory_frame *frame, int64_t index,
                                collet_error *err)
{
    static float positions[ATOMS][3];

    for (int a = 0; a < ATOMS; a++)
        for (int k = 0; k < 3; k++)
            positions[a][k] = (float)((7 * index + 3 * a + k) % 11) / 10;
    frame->time = (double)index;
    frame->positions = positions;
    return COLLET_OK;
}

TEST(rows_of_a_source)
{
    static const collet_trajectory_source source = {.struct_size = sizeof source,
                                                    .dtype = COLLET_F32,
                                                    .name = "the test",
                                                    .n_atoms = ATOMS,
                                                    .n_frames = 10,
                                                    .has_times = 1,
                                                    .read = read_frame};
    options o = {.struct_size = sizeof o, .source = &source, .context = context, .masses = "equal"};
    FREED(char) *path = strdup(io_path(directory, "source.npz"));
    const char *parts = io_path(directory, "source.npz.shards");
    const collet_trajectory_batch *expected, *found;
    collet_trajectory *one, *many;
    collet_error err;

    compute_shards(o, path, 3);
    assert_int_equal(collet_trajectory_create(&one, &o, &err), COLLET_OK);
    assert_int_equal(collet_trajectory_collect(one, &expected, &err), COLLET_OK);
    options merged = {.struct_size = sizeof merged,
                      .source = &source,
                      .parts = &parts,
                      .n_parts = 1,
                      .context = context};
    if (collet_trajectory_create(&many, &merged, &err) != COLLET_OK ||
        collet_trajectory_collect(many, &found, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    assert_int_equal(found->n_rows, 10);
    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        collet_trajectory_quantity q = {.struct_size = sizeof q};

        collet_trajectory_quantity_at(one, &q, i, NULL);
        assert_true((expected->columns[i] == NULL) == (found->columns[i] == NULL));
        if (found->columns[i] != NULL)
            assert_memory_equal(found->columns[i], expected->columns[i],
                                10 * (size_t)q.width * sizeof(double));
    }
    collet_trajectory_destroy(one);
    collet_trajectory_destroy(many);

    o.shard = o.n_shards = 1;
    assert_int_equal(collet_trajectory_create(&one, &o, &err), COLLET_OK);
    assert_error(collet_trajectory_next(one, &found, &err), COLLET_INVALID, err,
                 "a shard has no rows of results");
    collet_trajectory_destroy(one);
    o.shard = 2;
    assert_int_equal(collet_trajectory_create(&one, &o, &err), COLLET_INVALID);
}

static int open_all(void **state)
{
    collet_runtime *runtime;

    if (collet_runtime_create(&runtime, NULL, NULL) != COLLET_OK ||
        collet_context_create(runtime, &context, NULL) != COLLET_OK)
        return 1;
    return make_directory(state);
}

static int close_all(void **state)
{
    collet_runtime *runtime = collet_context_runtime(context);

    collet_context_destroy(context);
    collet_runtime_destroy(runtime);
    return remove_directory(state);
}

TEST_GROUP(open_all, close_all)
