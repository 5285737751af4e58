/* SPDX-License-Identifier: Apache-2.0 */
/* In every format, a reader that jumps by means of an index delivers the same frames, frame numbers, notes
 * and errors as a reader that reads all frames in order. */
#include <dirent.h>

#include "directory.h"
#include "trajectory/formats/formats.h"
#include "trajectory/reading/index.h"
#include "trajectory/reading/parts.h"

#define MOST 128 /* frames of a file */
#define ATOMS 5000

static const char *index_directory; /* NULL: indices are kept in memory */

/* What a reader delivered. */
typedef struct reading {
    trajectory_frames *frames;
    collet_status status;
    collet_error error;
    trajectory_gaps gaps;
    const char *note;
} reading;

static reading read_all(trajectory_reader *t, int everything)
{
    reading r = {.frames = io_batch(t, MOST, everything)};

    r.status = trajectory_reader_read(t, r.frames, &r.error);
    r.gaps = *trajectory_reader_gaps(t);
    r.note = trajectory_reader_get_info(t)->note;
    return r;
}

static void same_rows(const void *a, int64_t i, const void *b, int64_t k, size_t bytes)
{
    if (a)
        assert_memory_equal((const uint8_t *)a + (size_t)i * bytes,
                            (const uint8_t *)b + (size_t)k * bytes, bytes);
}

/* Asserts that frame i of `a` equals frame k of `b`, bit for bit. */
static void same_frame(const trajectory_frames *a, int64_t i, const trajectory_frames *b, int64_t k)
{
    size_t bytes = io_frame_bytes(a);

    same_rows(a->positions, i, b->positions, k, bytes);
    same_rows(a->velocities, i, b->velocities, k, bytes);
    same_rows(a->forces, i, b->forces, k, bytes);
    same_rows(a->times, i, b->times, k, sizeof(double));
    same_rows(a->boxes, i, b->boxes, k, 9 * sizeof(double));
    assert_int_equal(a->indices[i], b->indices[k]);
}

/* Asserts that `r` ended with the same status and message as `all`, the reading of every frame. */
static void same_end(const reading *r, const reading *all)
{
    assert_int_equal(r->status, all->status);
    assert_int_equal(r->frames->truncated, all->frames->truncated);
    assert_int_equal(r->frames->end_offset, all->frames->end_offset);
    if (all->status != COLLET_OK)
        assert_string_equal(r->error.text, all->error.text);
    assert_ptr_equal(r->note, all->note);
}

/* The files of a trajectory, and the frames that a reader delivered when it read all frames in order. */
typedef struct sample {
    const char *paths[3];
    int64_t n_paths;
    int everything;
    reading all;
    int64_t n;       /* number of frames that the reader delivered */
    int64_t counted; /* frames with a readable header; more than n if a body is damaged */
    trajectory_part parts[3];
} sample;

static trajectory_reader *open_sample(const sample *s)
{
    trajectory_reader *t;
    collet_error err;

    if (trajectory_parts_open(s->paths, s->n_paths, NULL, &t, &err) != COLLET_OK)
        return NULL;
    trajectory_reader_set_missing(t, s->everything ? COLLET_TRAJECTORY_MISSING_NAN : 0);
    return t;
}

static trajectory_reader *open_counted(const sample *s)
{
    trajectory_reader *t = open_sample(s);
    collet_error err = {0};
    int64_t counted;

    assert_success(trajectory_reader_count(t, index_directory, NULL, &counted, &err), err);
    assert_int_equal(counted, s->counted);
    return t;
}

static void same_parts(const sample *s, trajectory_reader *t)
{
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(t, &n);

    for (int64_t k = 0; k < n; k++) {
        assert_int_equal(parts[k].first, s->parts[k].first);
        assert_int_equal(parts[k].n_frames, s->parts[k].n_frames);
        assert_int_equal(parts[k].was_cut, s->parts[k].was_cut);
    }
}

/* Checks a slice of the frames start, start + step, ...; only `lead` of the frames before `first` are read. */
static void check_slice(const sample *s, int64_t start, int64_t step, int64_t lead, int64_t first)
{
    trajectory_reader *t = open_counted(s);
    int64_t k = 0;

    assert_int_equal(trajectory_reader_slice_shard(t, start, -1, step, lead, first, NULL),
                     COLLET_OK);
    reading r = read_all(t, s->everything);
    for (int64_t i = start; i < s->n; i += step) {
        if (i < first && lead == 0)
            continue;
        lead -= i < first;
        assert_true(k < r.frames->n_frames);
        same_frame(r.frames, k++, s->all.frames, i);
    }
    if (step == 1 || s->n == s->counted) {
        assert_int_equal(k, r.frames->n_frames);
        same_end(&r, &s->all);
        assert_int_equal(r.gaps.unused, s->all.gaps.unused);
        assert_int_equal(r.gaps.first_unused, s->all.gaps.first_unused);
        same_parts(s, t);
    }
    trajectory_frames_free(r.frames);
    trajectory_reader_close(t);
}

/* Counts the frames that a reader of headers reaches before the end or an error in a header. */
static void describe(sample *s, trajectory_reader *t)
{
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(t, &n);
    trajectory_reader *counts = open_sample(s);

    s->n = s->all.frames->n_frames;
    assert_int_equal(trajectory_reader_count(counts, NULL, NULL, &s->counted, NULL), COLLET_OK);
    assert_true(s->counted >= s->n);
    if (s->all.status == COLLET_OK)
        assert_int_equal(s->counted, s->n);
    trajectory_reader_close(counts);
    for (int64_t k = 0; k < n; k++)
        s->parts[k] = parts[k];
}

/* Returns 0 for files that are not trajectories or are too large for this test. */
static int check(const char *const *paths, int64_t n_paths, int everything)
{
    sample s = {.n_paths = n_paths, .everything = everything};

    memcpy(s.paths, paths, (size_t)n_paths * sizeof *paths);
    trajectory_reader *t = open_sample(&s);
    if (!t)
        return 0;
    if (trajectory_reader_get_info(t)->n_atoms > ATOMS) {
        trajectory_reader_close(t);
        return 0;
    }
    s.all = read_all(t, everything);
    if (s.all.frames->n_frames < MOST) {
        describe(&s, t);
        int64_t beyond = s.n + 2 * (s.n == s.counted), stride = 1 + s.n / 12;
        for (int64_t i = 0; i <= beyond; i += i + stride < s.n ? stride : 1) {
            check_slice(&s, everything ? 0 : i, 1, 0, i);
            check_slice(&s, 0, 1, 1, i);
            if (i % 3 == 0)
                check_slice(&s, 0, 3, 2, i);
        }
    }
    trajectory_frames_free(s.all.frames);
    trajectory_reader_close(t);
    return 1;
}

static int check_one(const char *path)
{
    return check(&path, 1, 0) && check(&path, 1, 1);
}

/* ---- Files of every format --------------------------------------------------------------- */

/* Checks the inputs of a fuzz target. Some of them are damaged or truncated. Reads each file alone, and reads it twice,
 * as two parts of a trajectory. */
static void check_corpus(const char *name)
{
    char path[4096], other[4096];
    int trajectories = 0;

    snprintf(path, sizeof path, COLLET_TEST_CORPUS "/%s", name);
    DIR *entries = opendir(path);
    assert_non_null(entries);
    for (struct dirent *e = readdir(entries); e; e = readdir(entries)) {
        const char *paths[2] = {path, other};
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, COLLET_TEST_CORPUS "/%s/%s", name, e->d_name);
        snprintf(other, sizeof other, "%s", path);
        trajectories += check_one(path);
        check(paths, 2, 0);
    }
    closedir(entries);
    assert_true(trajectories > 0);
}

TEST(corpora)
{
    static const char *const names[] = {"cif", "dcd", "dump", "gro", "nc",
                                        "pdb", "trr", "xtc",  "xyz"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_corpus(names[i]);
}

static char paths[3][4096];

static const char *save(int k, const char *suffix, const void *bytes, size_t n)
{
    char name[32];

    snprintf(name, sizeof name, "part%d.%s", k, suffix);
    snprintf(paths[k], sizeof paths[k], "%s", io_path(directory, name));
    return io_save(paths[k], bytes, n);
}

/* A box applies to all frames until the file states a new box. The same holds for units. */
TEST(carried)
{
    static const char dump[] = "ITEM: TIMESTEP\n%d\nITEM: NUMBER OF ATOMS\n1\n"
                               "ITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n"
                               "ITEM: ATOMS id x y z vx vy vz\n1 1 2 %d 4 5 6\n";
    char text[8192];
    size_t n = 0, m = 0;

    for (int i = 0; i < 12; i++) {
        if (i % 4 == 1)
            n += (size_t)sprintf(
                text + n, "CRYST1   %2d.000   20.000   20.000  90.00  90.00  90.00\n", 10 + i);
        n += (size_t)sprintf(text + n,
                             "MODEL %d\nATOM      1  C   ALA A   1       1.000   2.000   %d.000\n"
                             "ENDMDL\n",
                             i, i % 9);
    }
    const char *file = save(0, "pdb", text, n);
    assert_true(check_one(file));
    save(1, "pdb", text, n / 2);
    const char *two[2] = {paths[1], paths[0]};
    assert_true(check(two, 2, 0));
    for (int i = 0; i < 12; i++) {
        if (i % 5 == 0)
            m += (size_t)sprintf(text + m, "ITEM: UNITS\n%s\n", i == 5 ? "metal" : "real");
        m += (size_t)sprintf(text + m, dump, i, i);
    }
    assert_true(check_one(save(0, "lammpstrj", text, m)));
}

/* Saves frames first .. stop - 1 of a run as file k, without its last `cut` bytes. */
static void save_run(int k, int32_t first, int32_t stop, int fields, size_t cut)
{
    OWNED(io_image) image = {0};

    for (int32_t i = first; i < stop; i++)
        io_put_trr(&image, 4, 3, i, fields + (i == 9 ? IO_V : 0));
    save(k, "trr", image.data, image.size - cut);
}

/* Files that overlap, end too early, or begin with the frame that is truncated at the end of the file before;
 * files with velocities after a file without velocities. */
TEST(several)
{
    static const struct {
        int32_t runs[3][2];
        size_t cuts[3];
    } cases[] = {
        {{{0, 6}, {4, 10}, {10, 12}}, {0}},       {{{0, 6}, {6, 11}, {2, 13}}, {0}},
        {{{0, 6}, {5, 14}, {14, 16}}, {60, 180}}, {{{0, 6}, {5, 10}, {10, 12}}, {125, 0, 3}},
        {{{0, 6}, {6, 10}, {11, 12}}, {0, 120}},  {{{0, 1}, {1, 2}, {2, 30}}, {0, 0, 60}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < 3; k++)
            save_run(k, cases[i].runs[k][0], cases[i].runs[k][1], IO_X, cases[i].cuts[k]);
        const char *files[] = {paths[0], paths[1], paths[2]};
        assert_true(check(files, 3, 0));
        assert_true(check_one(paths[2]));
    }
}

/* Checks a file that is truncated at every place, or has a damaged byte at one of many places. */
TEST(cut_and_damaged)
{
    io_image image = {0};

    for (int32_t i = 0; i < 5; i++)
        io_put_trr(&image, 4, 3, i, IO_X);
    for (size_t n = 1; n < image.size; n += 3)
        check_one(save(0, "trr", image.data, n));
    for (size_t i = 0; i < image.size; i += 5) {
        image.data[i] ^= 0x10;
        check_one(save(0, "trr", image.data, image.size));
        image.data[i] ^= 0x10;
    }
    free(image.data);
    assert_true(check_one(COLLET_TEST_DATA "/md/water/traj.xtc"));
}

/* As without index files. */
TEST(with_files)
{
    index_directory = directory;
    carried(state);
    for (int i = 0; i < 2; i++)
        assert_true(check_one(COLLET_TEST_DATA "/md/peptide/traj.trr"));
    save_run(0, 0, 6, IO_X, 60);
    save_run(1, 5, 14, IO_X, 180);
    const char *two[] = {paths[0], paths[1]};
    assert_true(check(two, 2, 0));
    index_directory = "/proc"; /* where nobody can write */
    assert_true(check(two, 2, 0));
    index_directory = NULL;
}

TEST_GROUP(make_directory, remove_directory)
