/* SPDX-License-Identifier: Apache-2.0 */
/* Common to all formats: batches, selections, slices; .gro trajectories; files of other formats. */

#include "directory.h"
#include "io/numerals.h"

#define DATA COLLET_TEST_DATA "/md/"

static const char *const files[] = {
    DATA "water/traj.trr", DATA "peptide/traj_double.trr", DATA "water/traj.xtc", NULL /* .gro */
};

#define N_FILES (sizeof files / sizeof *files)

/* ---- A .gro trajectory ------------------------------------------------------------------- */

static void put_text(io_image *image, const char *text)
{
    io_put(image, text, strlen(text));
}

/* Five atoms with velocities; positions frame + atom/100, velocities ten times that. */
static io_image make_gro(int n_frames, const char *title)
{
    io_image image = {0};
    char line[200];
    locale_t before = io_numerals_begin();

    for (int f = 0; f < n_frames; f++) {
        snprintf(line, sizeof line, title, f * 0.5, 10 * f);
        put_text(&image, line);
        put_text(&image, "    5\n");
        for (int i = 0; i < 5; i++) {
            double x = f + i / 100.0;
            snprintf(line, sizeof line, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f%8.4f%8.4f%8.4f\n", i + 1,
                     "ALA", "CA", i + 1, x, -x, x, 10 * x, -10 * x, 10 * x);
            put_text(&image, line);
        }
        put_text(&image, "   3.00000   4.00000   5.00000\n");
    }
    io_numerals_end(before);
    return image;
}

static const char *gro_file(void)
{
    const char *path = io_path(directory, "frames.gro");
    io_image image = make_gro(51, "protein in water t= %.5f step= %d\n");

    io_save(path, image.data, image.size);
    free(image.data);
    return path;
}

static const char *file(size_t i)
{
    return files[i] ? files[i] : gro_file();
}

TEST(gro_frames)
{
    OWNED(trajectory_reader) *t = io_open(gro_file());
    const trajectory_reader_info *info = trajectory_reader_get_info(t);
    OWNED(trajectory_frames) *frames = io_batch(t, 51, 1);

    assert_string_equal(info->format, "gro");
    assert_int_equal(info->dtype, COLLET_F64);
    assert_true(info->has_velocities && !info->has_forces);
    io_read(t, frames, 51);
    for (int64_t f = 0; f < 51; f++) {
        assert_true(frames->times[f] == 0.5 * (double)f);
        const double *x = (const double *)frames->positions + 15 * f;
        const double *v = (const double *)frames->velocities + 15 * f;
        assert_true(x[3] == (double)(100 * f + 1) / 100.0 && x[4] == -x[3]);
        assert_true(v[6] == (double)(1000 * f + 20) / 100.0);
    }
}

/* Commas may stand around times and steps. */
TEST(gro_times_between_commas)
{
    static const char *const titles[] = {"water, t= %.5f, step= %d\n", "water,t=%.5f ,step=%d\n"};

    for (size_t k = 0; k < sizeof titles / sizeof *titles; k++) {
        OWNED(io_image) image = make_gro(3, titles[k]);
        const char *path = io_path(directory, "commas.gro");

        io_save(path, image.data, image.size);
        OWNED(trajectory_reader) *t = io_open(path);
        OWNED(trajectory_frames) *frames = io_batch(t, 9, 1);
        io_read(t, frames, 3);
        assert_true(frames->times[1] == 0.5 && frames->times[2] == 1.0);
    }
}

TEST(gro_times_are_not_made_up)
{
    OWNED(io_image) image = make_gro(99, "attempt=%.0f=%d at=2\n");
    const char *path = io_path(directory, "untimed.gro");

    put_text(&image, "\n  \n");
    io_save(path, image.data, image.size);
    OWNED(trajectory_reader) *t = io_open(path);
    OWNED(trajectory_frames) *frames = io_batch(t, 109, 1);
    io_read(t, frames, 99);
    assert_int_equal(trajectory_reader_get_info(t)->has_times, 0);
    for (int64_t f = 0; f < 99; f++)
        assert_true(isnan(frames->times[f]));
}

/* Saves two frames with these titles, without the velocities of `n` atoms of one frame. */
static const char *save_gaps(const char *title, int frame, const int *atoms, int n)
{
    io_image image = make_gro(2, title);
    const char *path = io_path(directory, "gaps.gro");
    const size_t line = 69, first = image.size / 2 * (size_t)frame;
    size_t head = (size_t)(strchr((char *)image.data, '\n') - (char *)image.data) + 7;

    for (int i = 0; i < n; i++)
        memset(image.data + first + head + (size_t)atoms[i] * line + 44, ' ', 24);
    io_save(path, image.data, image.size);
    free(image.data);
    return path;
}

TEST(gro_velocities_of_some_atoms)
{
    static const struct {
        int n, atoms[5], has_velocities, lacking;
    } cases[] = {{0, {0}, 1, -1}, {2, {2, 3}, 0, 2}, {1, {0}, 0, 0}, {5, {0, 1, 2, 3, 4}, 0, -1}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(trajectory_reader) *t =
            io_open(save_gaps("t= %.1f step= %d\n", 0, cases[i].atoms, cases[i].n));
        const trajectory_reader_info *info = trajectory_reader_get_info(t);
        OWNED(trajectory_frames) *frames = io_batch(t, 9, 0);

        assert_int_equal(info->has_velocities, cases[i].has_velocities);
        assert_int_equal(info->lacking, cases[i].lacking);
        io_read(t, frames, 2);
        assert_true(((double *)frames->positions)[15 + 6] == 1.02);
    }
}

/* Text that programs write in place of a velocity counts as a missing velocity, in any frame. */
TEST(gro_velocities_that_are_no_numbers)
{
    static const char *const columns[] = {"  0.3000 -0.2000        ", "     nan     nan     nan",
                                          "  0.1000  0.2000     inf", "********  0.2000  0.1000",
                                          "  0.1000  0.2000 1.0e999", " ; comment              "};

    for (size_t i = 0; i < 2 * sizeof columns / sizeof *columns; i++) {
        const char *path = save_gaps("t= %.1f step= %2d\n", i & 1, &(int){1}, 1);
        io_bytes text = io_load(path);
        void *at = memmem(text.data, text.size, "                        ", 24);
        assert_non_null(at);
        memcpy(at, columns[i / 2], 24);
        io_save(path, text.data, text.size);
        free(text.data);
        OWNED(trajectory_reader) *t = io_open(path);
        OWNED(trajectory_frames) *frames = io_batch(t, 9, 0);
        assert_int_equal(trajectory_reader_get_info(t)->lacking, i & 1 ? -1 : 1);
        assert_int_equal(trajectory_reader_get_info(t)->has_velocities, i & 1);
        io_read(t, frames, 2);
    }
}

/* Missing velocities are an error only if velocities are requested. The error names the atom, and
 * the time and step if the file has them. */
TEST(gro_velocities_of_some_atoms_later)
{
    static const char *const titles[] = {"t= %.1f step= %2d\n", "x %.0f %2d\n"};
    static const char *const texts[] = {
        "has no velocities (atom 4, counted from 0, time 0.5 ps, step 10); ",
        "has no velocities (atom 4, counted from 0); "};

    for (size_t i = 0; i < 2; i++) {
        OWNED(trajectory_reader) *t = io_open(save_gaps(titles[i], 1, &(int){4}, 1));
        OWNED(trajectory_frames) *frames = io_batch(t, 9, 1);
        collet_error err = {0};

        assert_int_equal(trajectory_reader_read(t, frames, &err), COLLET_NOT_FOUND);
        assert_int_equal(frames->n_frames, 1);
        assert_contains(err.text, texts[i]);
    }
}

/* A text file may be truncated anywhere. */
TEST(gro_truncations)
{
    OWNED(io_image) image = make_gro(2, "t= %.1f step= %d\n");
    size_t frame = image.size / 2;
    const char *path = io_path(directory, "cut.gro");

    for (size_t cut = frame; cut < image.size; cut++) {
        collet_error err = {0};
        io_save(path, image.data, cut);
        OWNED(trajectory_reader) *t = io_open(path);
        OWNED(trajectory_frames) *frames = io_batch(t, 9, 1);
        collet_status status = trajectory_reader_read(t, frames, &err);
        int complete = cut == frame;
        assert_int_equal(frames->n_frames, cut > frame && complete ? 2 : 1);
        assert_int_equal(status, complete ? COLLET_OK : COLLET_FORMAT);
        assert_int_equal(frames->truncated, !complete);
        assert_true(complete || strstr(err.text, "inside frame 1") != NULL);
    }
}

/* A file of one frame may have been written by hand, without a line end. */
TEST(gro_without_a_last_line_end)
{
    static const struct {
        const char *box, *message, *note;
    } cases[] = {
        {"3 3 3", NULL, "may lack digits"},
        {"30.00000 30.00000 30.00000", NULL, "may lack digits"}, /* or six more numbers */
        {"3.000 3.000 3.000 0.000 0.000 0.000 0.000 0.000 0.000", NULL, NULL},
        {"30.00000 30.00000 3", "inside frame 0", NULL},
    };
    const char *path = io_path(directory, "hand.gro");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        OWNED(trajectory_reader) *t = NULL;
        collet_error err = {0};
        int n = snprintf(text, sizeof text, "x\n1\n%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n%s", 1, "A", "B",
                         1, 1., 2., 3., cases[i].box);
        io_save(path, text, (size_t)n);
        collet_status status = trajectory_reader_open(path, NULL, &t, &err);
        assert_int_equal(status, cases[i].message ? COLLET_FORMAT : COLLET_OK);
        assert_contains(err.text, cases[i].message ? cases[i].message : "");
        const char *note = t ? trajectory_reader_get_info(t)->note : NULL;
        assert_int_equal(note != NULL, cases[i].note != NULL);
        assert_contains(note ? note : "", cases[i].note ? cases[i].note : "");
    }
}

/* A slice must read even the box lines of skipped frames: a box line decides where the next frame begins. */
TEST(gro_boxes_of_frames_passed_over)
{
    static const struct {
        const char *box;
        collet_status status;
    } cases[] = {
        {"1 2 3\n", COLLET_OK},
        {"1 2 3 0 0 0 0 0 0\n", COLLET_OK},
        {"1 2 3 \n", COLLET_OK},
        {"x 2 3\n", COLLET_OK},
        {"  1.00000 *** 1.0000\n", COLLET_OK},
        {"       nan       nan       nan\n", COLLET_OK},
        {"    1.00000   2.00000**********   0.00000   0.00000\n", COLLET_OK},
        {"    5    5    5    0    0    0\n", COLLET_OK},
        {"\n", COLLET_OK},
        {"5.0\n", COLLET_OK},
        {"1 2 3 90 90 90\n", COLLET_OK},
        {"1 2 30x\n", COLLET_OK},
        {"1234.512345.523456.5 \n", COLLET_OK},
        {"10.0000010.0000010.00000\n", COLLET_OK},
        {"-10.00000-10.00000-10.00000\n", COLLET_OK},
        {"10.00010.00010.000 0.0000.0000.0000.000-5.0000.000\n", COLLET_OK},
        {"10.0000010.0000x10.00000\n", COLLET_OK},
        {"10.00000 10.00000 1 0.00000\n", COLLET_OK},
        {"10.0000010.000001 0.00000\n", COLLET_OK},
        {"1.2.3.\n", COLLET_OK},
        {"    1SOL     OW    1   1.000   2.000   3.000\n", COLLET_FORMAT},
        {"    1SOL     OW    1     nan     nan     nan\n", COLLET_FORMAT},
        {"    1  2     3*    4   1.000   2.000   3.000\n", COLLET_FORMAT},
    };
    const char *path = io_path(directory, "passed.gro");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(io_image) image = make_gro(2, "t= %.1f step= %d\n"), other = {0};
        collet_error err = {0};
        size_t half = image.size / 2, length = strlen("   3.00000   4.00000   5.00000\n");
        io_put(&other, image.data, half);
        io_put(&other, image.data, half - length);
        put_text(&other, cases[i].box);
        io_put(&other, image.data + half, image.size - half);
        io_save(path, other.data, other.size);
        OWNED(trajectory_reader) *t = io_open(path);
        OWNED(trajectory_frames) *frames = io_batch(t, 9, 1);
        assert_int_equal(trajectory_reader_slice(t, 0, -1, 2, NULL), COLLET_OK);
        assert_int_equal(trajectory_reader_read(t, frames, &err), cases[i].status);
        assert_int_equal(frames->n_frames, cases[i].status == COLLET_OK ? 2 : 1);
        assert_true(cases[i].status == COLLET_OK ||
                    strstr(err.text, "passed.gro:16: expected the numbers of the box"));
    }
}

TEST(gro_errors_name_line_and_frame)
{
    OWNED(io_image) image = make_gro(3, "t= %.1f step= %d\n");
    const char *path = io_path(directory, "wrong.gro");
    collet_error err;

    image.data[image.size / 3 + 55] = 'x';
    io_save(path, image.data, image.size);
    OWNED(trajectory_reader) *t = io_open(path);
    OWNED(trajectory_frames) *frames = io_batch(t, 9, 1);
    assert_int_equal(trajectory_reader_read(t, frames, &err), COLLET_FORMAT);
    assert_int_equal(frames->n_frames, 1);
    assert_false(frames->truncated);
    assert_contains(err.text, "wrong.gro:11: position y in columns 29-36 is not a number",
                    "(frame 1)");
}

/* ---- All formats ------------------------------------------------------------------------- */

static uint64_t hash_in_batches(const char *path, int64_t capacity, int64_t *n_frames)
{
    trajectory_reader *t = io_open(path);
    trajectory_frames *frames = io_batch(t, capacity, 1);
    uint64_t hash = IO_HASH;

    *n_frames = 0;
    do {
        assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_OK);
        for (int64_t i = 0; i < frames->n_frames; i++) {
            size_t n = io_frame_bytes(frames);
            size_t at = (size_t)i * n;
            assert_int_equal(frames->indices[i], *n_frames + i);
            hash = io_hash(hash, &frames->times[i], sizeof(double));
            hash = io_hash(hash, (const uint8_t *)frames->positions + at, n);
            if (frames->velocities)
                hash = io_hash(hash, (const uint8_t *)frames->velocities + at, n);
            if (frames->forces)
                hash = io_hash(hash, (const uint8_t *)frames->forces + at, n);
        }
        *n_frames += frames->n_frames;
    } while (frames->n_frames > 0);
    trajectory_frames_free(frames);
    trajectory_reader_close(t);
    return hash;
}

TEST(the_size_of_a_batch_changes_nothing)
{
    for (size_t f = 0; f < N_FILES; f++) {
        int64_t n_frames;
        uint64_t all = hash_in_batches(file(f), 51, &n_frames);
        assert_int_equal(n_frames, 51);
        for (int64_t capacity = 1; capacity < 100; capacity += 7)
            assert_true(hash_in_batches(file(f), capacity, &n_frames) == all);
    }
}

static void compare_selected(const trajectory_frames *part, const trajectory_frames *all,
                             const int64_t *indices, int64_t step)
{
    size_t atom = part->dtype == COLLET_F64 ? 24 : 12;
    const void *const pairs[3][2] = {{part->positions, all->positions},
                                     {part->velocities, all->velocities},
                                     {part->forces, all->forces}};

    for (int q = 0; q < 3 && pairs[q][0]; q++) {
        const uint8_t *a = pairs[q][0];
        const uint8_t *b = pairs[q][1];
        for (int64_t f = 0; f < part->n_frames; f++)
            for (int64_t i = 0; i < part->n_atoms; i++)
                assert_memory_equal(a + (size_t)(f * part->n_atoms + i) * atom,
                                    b + (size_t)(f * step * all->n_atoms + indices[i]) * atom,
                                    atom);
    }
}

static void check_selection(const char *path, const int64_t *indices, int64_t n)
{
    OWNED(trajectory_reader) *whole = io_open(path);
    OWNED(trajectory_reader) *t = io_open(path);

    assert_int_equal(trajectory_reader_select(t, indices, n, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_slice(t, 0, -1, 5, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_selected(t), n);
    OWNED(trajectory_frames) *all = io_batch(whole, 51, 1);
    OWNED(trajectory_frames) *part = io_batch(t, 51, 1);
    assert_int_equal(trajectory_reader_read(whole, all, NULL), COLLET_OK);
    io_read(t, part, 11);
    compare_selected(part, all, indices, 5);
}

TEST(selections)
{
    static const int64_t few[] = {0, 1, 2, 4};
    static const int64_t last[] = {4};

    for (size_t f = 0; f < N_FILES; f++) {
        int64_t third[300], n = 0;
        trajectory_reader *t = io_open(file(f));
        int64_t n_atoms = trajectory_reader_get_info(t)->n_atoms;
        trajectory_reader_close(t);
        for (int64_t i = 1; i < n_atoms; i += 3)
            third[n++] = i;
        check_selection(file(f), few, 4);
        check_selection(file(f), last, 1);
        check_selection(file(f), third, n);
    }
}

TEST(selections_that_are_refused)
{
    static const struct {
        int64_t indices[3];
        int64_t n;
        const char *text;
    } cases[] = {
        {{0, 1, 648}, 3, "atom index 648, but the file has 0..647"},
        {{-1, 1, 2}, 3, "atom index -1"},
        {{0, 2, 2}, 3, "must increase; index 2 is not larger"},
        {{2, 2, 3}, 3, "must increase; index 2 is not larger"},
        {{0, 2, 1}, 3, "must increase; index 1 is not larger"},
        {{0}, 0, "the selection has no atoms"},
    };
    OWNED(trajectory_reader) *t = io_open(files[0]);
    collet_error err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_error(trajectory_reader_select(t, cases[i].indices, cases[i].n, &err),
                     COLLET_INVALID, err, cases[i].text);
        assert_int_equal(trajectory_reader_selected(t), 648);
    }
    assert_int_equal(trajectory_reader_select(t, cases[2].indices, 2, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_select(t, NULL, 0, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_selected(t), 648);
}

static void check_slice(const char *path, int64_t start, int64_t stop, int64_t step,
                        const trajectory_frames *all)
{
    OWNED(trajectory_reader) *t = io_open(path);
    OWNED(trajectory_frames) *frames = io_batch(t, 4, 0);
    int64_t expected = start;

    assert_int_equal(trajectory_reader_slice(t, start, stop, step, NULL), COLLET_OK);
    do {
        assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_OK);
        for (int64_t i = 0; i < frames->n_frames; i++) {
            size_t n = io_frame_bytes(frames);
            assert_int_equal(frames->indices[i], expected);
            assert_true(frames->times[i] == all->times[expected]);
            assert_memory_equal((const uint8_t *)frames->positions + (size_t)i * n,
                                (const uint8_t *)all->positions + (size_t)expected * n, n);
            if (__builtin_add_overflow(expected, step, &expected))
                expected = INT64_MAX;
        }
    } while (frames->n_frames > 0);
    int64_t end = stop < 0 || stop > 51 ? 51 : stop;
    assert_true(expected >= end && (expected == start || expected - step < end));
}

TEST(slices)
{
    static const int64_t cases[][3] = {
        {0, -1, 1},  {1, -1, 1},  {50, -1, 1},  {51, -1, 1},        {99, -1, 1},
        {0, 0, 1},   {0, 1, 1},   {10, 20, 3},  {10, 10, 1},        {20, 10, 1},
        {0, -1, 50}, {0, -1, 51}, {3, 1000, 7}, {5, INT64_MAX, 11}, {7, -1, INT64_MAX}};

    for (size_t f = 0; f < N_FILES; f++) {
        OWNED(trajectory_reader) *t = io_open(file(f));
        trajectory_frames *all = io_batch(t, 51, 0);
        assert_int_equal(trajectory_reader_read(t, all, NULL), COLLET_OK);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            check_slice(file(f), cases[i][0], cases[i][1], cases[i][2], all);
        trajectory_frames_free(all);
        assert_int_equal(trajectory_reader_slice(t, 0, -1, 1, NULL), COLLET_INVALID);
    }
    OWNED(trajectory_reader) *t = io_open(files[0]);
    assert_int_equal(trajectory_reader_slice(t, -1, -1, 1, NULL), COLLET_INVALID);
    assert_int_equal(trajectory_reader_slice(t, 0, -1, 0, NULL), COLLET_INVALID);
}

TEST(concatenated_files)
{
    const char *path = io_path(directory, "twice");

    for (size_t f = 0; f < N_FILES; f++) {
        OWNED(io_bytes) once = io_load(file(f));
        OWNED(io_image) twice = {0};
        int64_t n_frames;
        io_put(&twice, once.data, once.size);
        io_put(&twice, once.data, once.size);
        io_save(path, twice.data, twice.size);
        hash_in_batches(path, 16, &n_frames);
        assert_int_equal(n_frames, 102);
    }
}

TEST(a_batch_that_does_not_fit)
{
    OWNED(trajectory_reader) *t = io_open(files[0]);
    OWNED(trajectory_frames) *frames = NULL;

    assert_int_equal(trajectory_frames_create(648, 1, COLLET_F64, 0, 0, &frames, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_INVALID);
    trajectory_frames_free(frames);
    assert_int_equal(trajectory_frames_create(647, 1, COLLET_F32, 0, 0, &frames, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_INVALID);
    trajectory_frames_free(frames);
    assert_int_equal(trajectory_frames_create(0, 1, COLLET_F32, 0, 0, &frames, NULL),
                     COLLET_INVALID);
    assert_int_equal(trajectory_frames_create(1, 0, COLLET_F32, 0, 0, &frames, NULL),
                     COLLET_INVALID);
    assert_int_equal(trajectory_frames_create(INT64_MAX, 1, COLLET_F32, 0, 0, &frames, NULL),
                     COLLET_INVALID);
    assert_int_equal(
        trajectory_frames_create(1, INT64_MAX / 28 + 1, COLLET_F32, 0, 0, &frames, NULL),
        COLLET_OVERFLOW);
    assert_int_equal(trajectory_frames_create(1, 1, COLLET_I32, 0, 0, &frames, NULL),
                     COLLET_INVALID);
    assert_int_equal(
        trajectory_frames_create(1000000000, INT64_MAX / 1000, COLLET_F32, 0, 0, &frames, NULL),
        COLLET_OVERFLOW);
    assert_null(frames);
    trajectory_reader_close(t);

    collet_error err;
    t = io_open(gro_file()); /* it has velocities */
    assert_int_equal(trajectory_frames_create(5, 1, COLLET_F64, 1, 1, &frames, NULL), COLLET_OK);
    assert_error(trajectory_reader_read(t, frames, &err), COLLET_NOT_FOUND, err, "has no forces");
}

TEST(foreign_files)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *text;
    } cases[] = {
        {"", 0, "is empty"},
        {"x", 1,
         "the content is not a trajectory (.trr, .dcd, .xtc, .nc, .h5md, .dump, .xyz, .rst7, .gro, .pdb "
         "or .cif)"},
        {"CDF\x02", 4, "the file ends at byte 4 inside frame 0"},
        {"\x1f\x8b\x08\x00", 4, "the packed data end early, after 0 unpacked bytes; gunzip -t tests the file"},
        {"\x1f\x8b\x07\x00", 4, "it looks like a gzip-compressed file"},
        {"HEADER    PROTEIN\n", 18, "has no atoms"},
        {"MODE", 4, "is not a trajectory"},
        {"title\n-3\n", 9, "is not a trajectory"},
        {"\xfd\x37zXZ", 5, "it looks like an xz-compressed file"},
        {"\xc9\x07\x00\x00", 4, "is not a trajectory"},
    };
    trajectory_reader *t;
    collet_error err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = io_path(directory, "foreign.trr");
        io_save(path, cases[i].bytes, cases[i].n);
        io_refuse(path, cases[i].text);
    }
    assert_int_equal(trajectory_reader_open("/nowhere/traj.trr", NULL, &t, &err), COLLET_IO);
    assert_int_equal(trajectory_reader_open(directory, NULL, &t, NULL), COLLET_IO);
}

TEST_GROUP(make_directory, remove_directory)
