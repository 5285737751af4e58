/* SPDX-License-Identifier: Apache-2.0 */
/* Several files as one trajectory: overlapping, truncated and mismatched files, several threads. */

#include "directory.h"
#include "trajectory/reading/parts.h"
#include "trajectory/reading/readahead.h"

#define ATOMS 4
#define MOST 64 /* frames */

static char paths[4][4096];

/* Saves frames first .. stop - 1 as file k, without the last `cut` bytes. */
static const char *save(int k, int32_t first, int32_t stop, int fields, size_t cut)
{
    io_image image = {0};
    char name[32];

    for (int32_t i = first; i < stop; i++)
        io_put_trr(&image, 4, ATOMS, i, fields);
    snprintf(name, sizeof name, "part%d.trr", k);
    snprintf(paths[k], sizeof paths[k], "%s", io_path(directory, name));
    io_save(paths[k], image.data, image.size - cut);
    free(image.data);
    return paths[k];
}

static trajectory_reader *open_parts(const char *const *files, int64_t n)
{
    trajectory_reader *t;
    collet_error err;

    assert_success(trajectory_parts_open(files, n, NULL, &t, &err), err);
    return t;
}

/* Reads all frames. Expects n frames: frame i is the frame that save() wrote with the number runs[i]. Expects this error
 * message (NULL: no error). */
static void expect(trajectory_reader *t, const int *runs, int64_t n, const char *message,
                   int truncated)
{
    trajectory_frames *frames = io_batch(t, MOST, 1);
    collet_error err = {0};

    collet_status status = trajectory_reader_read(t, frames, &err);
    if ((status == COLLET_OK) != (message == NULL) || frames->n_frames != n ||
        frames->truncated != truncated)
        fail_msg("status %d, %lld frames, truncated %d, '%s'", status, (long long)frames->n_frames,
                 frames->truncated, err.text);
    if (message)
        assert_contains(err.text, message);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(frames->indices[i], i);
        assert_true(frames->times[i] == runs[i] * .5);
        assert_true(((float *)frames->positions)[3 * ATOMS * i] == (float)runs[i] * 100.f);
    }
    trajectory_frames_free(frames);
    trajectory_reader_close(t);
}

TEST(overlaps)
{
    static const int expected[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const char *files[] = {save(0, 0, 5, IO_X | IO_V, 0), save(1, 3, 6, IO_X | IO_V, 0),
                           save(2, 6, 8, IO_X | IO_V, 0)};
    trajectory_reader *t = open_parts(files, 3);
    const trajectory_reader_info *info = trajectory_reader_get_info(t);
    assert_string_equal(info->format, "trr");
    assert_int_equal(info->n_atoms, ATOMS);
    assert_true(info->has_velocities && !info->has_forces && info->has_times);

    trajectory_frames *frames = io_batch(t, MOST, 1);
    assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_OK);
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(t, &n);
    static const int64_t first[] = {0, 3, 6}, count[] = {3, 3, 2};
    assert_int_equal(n, 3);
    for (int k = 0; k < 3; k++) {
        assert_string_equal(parts[k].path, files[k]);
        assert_int_equal(parts[k].first, first[k]);
        assert_int_equal(parts[k].n_frames, count[k]);
        assert_int_equal(parts[k].was_cut, k == 0);
        assert_true(parts[k].last == (k == 0 ? 2. : 0.));
    }
    assert_ptr_equal(trajectory_parts_find(t, 5), &parts[1]);
    assert_null(trajectory_parts_find(t, 8));
    assert_int_equal(frames->end_offset, info->file_size);
    trajectory_frames_free(frames);
    trajectory_reader_close(t);
    expect(open_parts(files, 3), expected, 8, NULL, 0);

    /* The order of the names does not matter. */
    const char *const orders[][3] = {{files[0], files[2], files[1]}, {files[2], files[1], files[0]}};
    for (int i = 0; i < 2; i++)
        expect(open_parts(orders[i], 3), expected, 8, NULL, 0);
    /* The third file begins before the second. */
    save(2, 2, 4, IO_X | IO_V, 0);
    expect(open_parts(files, 3), expected, 6, NULL, 0);
    /* One file has no parts. */
    t = open_parts(files, 1);
    assert_null(trajectory_parts_get(t, &n));
    assert_int_equal(n, 0);
    expect(t, expected, 5, NULL, 0);
}

/* Near 100 us, times in single precision are multiples of 8 ps, which is 16 frames. The steps tell the frames apart. */
TEST(steps_decide_where_times_are_rounded)
{
    enum { N = 200000000 };
    static const struct {
        int32_t first, stop;
        int64_t frames, from_first;
    } cases[] = {{N + 5, N + 8, 8, 5}, {N + 3, N + 9, 9, 3}, {N, N + 4, 4, 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *files[] = {save(0, N, N + 5, IO_X, 0), save(1, cases[i].first, cases[i].stop, IO_X, 0)};
        const char *turned[] = {files[1], files[0]};
        for (int order = 0; order < (i < 2 ? 2 : 1); order++) {
            OWNED(trajectory_reader) *t = open_parts(order ? turned : files, 2);
            OWNED(trajectory_frames) *frames = io_batch(t, MOST, 1);
            int64_t n;

            io_read(t, frames, cases[i].frames);
            const trajectory_part *parts = trajectory_parts_get(t, &n);
            assert_string_equal(parts[0].path, files[0]);
            assert_int_equal(parts[0].n_frames, cases[i].from_first);
        }
    }
}

TEST(slices)
{
    const char *files[] = {save(0, 0, 5, IO_X, 0), save(1, 3, 9, IO_X, 0)};
    OWNED(trajectory_reader) *t = open_parts(files, 2);
    static const int64_t indices[] = {1, 3};
    OWNED(trajectory_frames) *frames = NULL;

    assert_int_equal(trajectory_reader_slice(t, 1, 8, 3, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_select(t, indices, 2, NULL), COLLET_OK);
    frames = io_batch(t, 1, 1);
    for (int k = 0; k < 3; k++) { /* batches of one frame */
        io_read(t, frames, 1);
        assert_int_equal(frames->indices[0], 1 + 3 * k);
        assert_true(((float *)frames->positions)[3] == (float)(1 + 3 * k) * 100.f + 9 * .25f);
    }
    io_read(t, frames, 0);
}

/* A frame that is truncated at the end of a file is reported only if no later file has it. */
TEST(truncated_files)
{
    static const int expected[] = {0, 1, 2, 3, 4, 5, 6};
    const char *files[] = {save(0, 0, 5, IO_X, 7), save(1, 4, 7, IO_X, 0)};

    expect(open_parts(files, 2), expected, 7, NULL, 0);
    save(0, 0, 5, IO_X, 100); /* within its head */
    expect(open_parts(files, 2), expected, 7, NULL, 0);
    save(1, 5, 8, IO_X, 0);
    expect(open_parts(files, 2), expected, 4, "part0.trr: the file ends", 1);
    save(0, 0, 5, IO_X, 7);
    save(1, 6, 8, IO_X, 0);
    expect(
        open_parts(files, 2), expected, 4,
        "part0.trr: the file ends at byte 653 inside frame 4, which begins at byte 528; complete "
        "frames before it: 4; the files after it (1) are not read",
        1);
    save(0, 0, 5, IO_X, 0);
    save(1, 3, 6, IO_X, 1);
    expect(open_parts(files, 2), expected, 5, "part1.trr: the file ends at byte 395 inside frame 2",
           1);
}

/* Parts that are NetCDF files, whose header counts the frames. */
TEST(counted_frames)
{
    OWNED(io_bytes) nc = io_load(COLLET_TEST_CORPUS "/nc/sizes");
    OWNED(io_image) image = {0};
    const char *files[] = {io_path(directory, "cut.nc"), NULL};
    snprintf(paths[0], sizeof paths[0], "%s", files[0]);
    snprintf(paths[1], sizeof paths[1], "%s", io_path(directory, "later.trr"));
    files[0] = paths[0];
    files[1] = paths[1];

    io_put_trr(&image, 4, 3, 20, IO_X | IO_V | IO_F);
    io_save(paths[0], nc.data, nc.size - 160); /* without the last of 3 frames */
    io_save(paths[1], image.data, image.size);
    OWNED(trajectory_reader) *t = open_parts(files, 2);
    OWNED(trajectory_frames) *frames = io_batch(t, MOST, 1);
    collet_error err;
    assert_int_equal(trajectory_reader_read(t, frames, &err), COLLET_FORMAT);
    assert_int_equal(frames->n_frames, 2);
    assert_int_equal(frames->truncated, 1);
    assert_contains(err.text, "cut.nc: the file ends at byte 1228 inside frame 2");
    trajectory_frames_free(frames);
    trajectory_reader_close(t);

    io_save(paths[0], nc.data, nc.size);
    t = open_parts(files, 2);
    frames = io_batch(t, MOST, 1);
    assert_int_equal(trajectory_reader_read(t, frames, &err), COLLET_OK);
    assert_int_equal(frames->n_frames, 4);
}

static void refuse(const char *const *files, collet_status status, const char *message)
{
    trajectory_reader *t;
    collet_error err;

    assert_int_equal(trajectory_parts_open(files, 2, NULL, &t, &err), status);
    assert_contains(err.text, message);
    assert_null(t);
}

TEST(unlike_files)
{
    static const int expected[] = {0, 1, 2};
    const char *files[] = {save(0, 0, 3, IO_X | IO_V, 0), save(1, 3, 5, IO_X, 0)};
    OWNED(io_image) image = {0};

    expect(open_parts(files, 2), expected, 3,
           "part1.trr: frame 0 at byte 0: the frame has no velocities", 0);
    io_put_trr(&image, 4, ATOMS + 1, 9, IO_X);
    io_save(files[1], image.data, image.size);
    refuse(files, COLLET_FORMAT, "part1.trr has 5 atoms, but ");
    image.size = 0;
    io_put_trr(&image, 8, ATOMS, 9, IO_X);
    io_save(files[1], image.data, image.size);
    refuse(files, COLLET_FORMAT, "part1.trr is in double precision, but ");
    image.size = 0;
    for (int i = 3; i < 5; i++)
        io_put_trr(&image, 4, ATOMS + (i == 4), i, IO_X | IO_V);
    io_save(files[1], image.data, image.size);
    static const int four[] = {0, 1, 2, 3};
    expect(open_parts(files, 2), four, 4, "part1.trr: frame 1 at byte 180: has 5 atoms", 0);
    remove(files[1]);
    refuse(files, COLLET_IO, "part1.trr");
}

/* Several threads decode a compressed trajectory. They continue from one file to the next. */
TEST(several_threads)
{
    const char *whole = COLLET_TEST_DATA "/md/water/traj.xtc";
    OWNED(io_bytes) bytes = io_load(whole);
    trajectory_reader *t = io_open(whole);
    trajectory_frames *all = io_batch(t, MOST, 0), *some = io_batch(t, 20, 0);
    assert_int_equal(trajectory_reader_read(t, all, NULL), COLLET_OK);
    trajectory_reader_close(t);
    t = io_open(whole);
    assert_int_equal(trajectory_reader_read(t, some, NULL), COLLET_OK);
    int64_t end = some->end_offset;
    trajectory_reader_close(t);

    snprintf(paths[0], sizeof paths[0], "%s", io_path(directory, "begin.xtc"));
    snprintf(paths[1], sizeof paths[1], "%s", io_path(directory, "rest.xtc"));
    io_save(paths[0], bytes.data, (size_t)end);
    io_save(paths[1], bytes.data + end, bytes.size - (size_t)end);
    const char *files[] = {paths[0], paths[1]};
    t = open_parts(files, 2);
    trajectory_readahead *ahead;
    const trajectory_readahead_options options = {.batch_frames = 16, .n_slots = 3, .n_threads = 3};
    assert_int_equal(trajectory_readahead_create(t, &options, &ahead, NULL), COLLET_OK);
    assert_int_equal(trajectory_readahead_start(ahead, NULL), COLLET_OK);
    int64_t n = 0;
    const trajectory_frames *batch;
    while (trajectory_readahead_next(ahead, &batch, NULL, NULL) == COLLET_OK && batch) {
        size_t size = io_frame_bytes(batch);
        assert_memory_equal(batch->positions, (uint8_t *)all->positions + (size_t)n * size,
                            (size_t)batch->n_frames * size);
        assert_memory_equal(batch->times, all->times + n, (size_t)batch->n_frames * sizeof(double));
        n += batch->n_frames;
    }
    assert_int_equal(n, all->n_frames);
    trajectory_readahead_stop(ahead);
    trajectory_reader_close(t);
    trajectory_frames_free(all);
    trajectory_frames_free(some);
}

TEST_GROUP(make_directory, remove_directory)
