/* SPDX-License-Identifier: Apache-2.0 */
/* Readahead delivers the same frames in the same order as reading without it, whichever batches the caller
 * keeps and wherever the caller stops. */

#include "directory.h"
#include "trajectory/reading/readahead.h"

#define WATER COLLET_TEST_DATA "/md/water/traj.trr"
#define XTC COLLET_TEST_DATA "/md/water/traj.xtc"

static trajectory_readahead *start(trajectory_reader *t, int64_t batch, int32_t slots,
                                   int32_t threads)
{
    const trajectory_reader_info *info = trajectory_reader_get_info(t);
    trajectory_readahead_options options = {.batch_frames = batch,
                                            .n_slots = slots,
                                            .n_threads = threads,
                                            .velocities = info->has_velocities,
                                            .forces = info->has_forces};
    trajectory_readahead *ahead;

    assert_int_equal(trajectory_readahead_create(t, &options, &ahead, NULL), COLLET_OK);
    assert_int_equal(trajectory_readahead_start(ahead, NULL), COLLET_OK);
    return ahead;
}

static uint64_t add(uint64_t hash, const trajectory_frames *frames)
{
    size_t n = io_frame_bytes(frames) * (size_t)frames->n_frames;

    hash = io_hash(hash, frames->indices, 8 * (size_t)frames->n_frames);
    return io_hash(io_hash(hash, frames->positions, n), frames->forces, n);
}

static uint64_t read_directly(int64_t batch)
{
    trajectory_reader *t = io_open(WATER);
    trajectory_frames *frames = io_batch(t, batch, 1);
    uint64_t hash = IO_HASH;

    do {
        assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_OK);
        hash = add(hash, frames);
    } while (frames->n_frames > 0);
    trajectory_frames_free(frames);
    trajectory_reader_close(t);
    return hash;
}

TEST(the_same_frames_as_without)
{
    for (int32_t slots = 2; slots <= TRAJECTORY_READAHEAD_SLOTS; slots++) {
        for (int64_t batch = 1; batch <= 60; batch += 10) {
            trajectory_reader *t = io_open(WATER);
            trajectory_readahead *ahead = start(t, batch, slots, 1);
            const trajectory_frames *frames;
            uint64_t hash = IO_HASH;
            for (;;) {
                int32_t truncated = 7;
                assert_int_equal(trajectory_readahead_next(ahead, &frames, &truncated, NULL),
                                 COLLET_OK);
                assert_int_equal(truncated, 0);
                if (!frames)
                    break;
                assert_ptr_equal(frames, trajectory_readahead_slot(ahead, frames->slot));
                assert_true(frames->n_frames > 0);
                hash = add(hash, frames);
            }
            assert_int_equal(trajectory_readahead_next(ahead, &frames, NULL, NULL), COLLET_OK);
            assert_null(frames);
            trajectory_readahead_stop(ahead);
            trajectory_reader_close(t);
            assert_true(hash == read_directly(batch));
        }
    }
}

/* The reading thread fills the free slots and does not change the batch that the caller holds. */
TEST(a_batch_is_held)
{
    trajectory_reader *t = io_open(WATER);
    trajectory_readahead *ahead = start(t, 5, 3, 1);
    const struct timespec pause = {0, 50000000};
    const trajectory_frames *held, *frames;

    assert_int_equal(trajectory_readahead_next(ahead, &held, NULL, NULL), COLLET_OK);
    nanosleep(&pause, NULL);
    for (int i = 0; i < 5; i++)
        assert_int_equal(held->indices[i], i);
    assert_int_equal(trajectory_readahead_next(ahead, &frames, NULL, NULL), COLLET_OK);
    assert_int_equal(frames->indices[0], 5);
    trajectory_readahead_stop(ahead);
    trajectory_reader_close(t);
}

TEST(stopping_at_any_time)
{
    for (int n = 0; n < 60; n++) {
        trajectory_reader *t = io_open(n % 2 ? WATER : XTC);
        trajectory_readahead *ahead = start(t, 1 + n % 3, 2 + n % 2, 1 + n % 4);
        const trajectory_frames *frames;
        for (int i = 0; i < n % 7; i++) {
            assert_int_equal(trajectory_readahead_next(ahead, &frames, NULL, NULL), COLLET_OK);
        }
        trajectory_readahead_stop(ahead);
        trajectory_reader_close(t);
    }
    trajectory_readahead_stop(NULL);
}

static void check_error(const io_image *image, size_t size, int64_t expected, int32_t truncation)
{
    const char *path = io_path(directory, "broken.trr");
    const trajectory_frames *frames;
    collet_error err;
    int64_t n_frames = 0;
    int32_t truncated;

    io_save(path, image->data, size);
    for (int64_t batch = 1; batch <= 8; batch++) {
        trajectory_reader *t = io_open(path);
        trajectory_readahead *ahead = start(t, batch, 2, 1);
        collet_status status;
        n_frames = 0;
        while ((status = trajectory_readahead_next(ahead, &frames, &truncated, &err)) ==
                   COLLET_OK &&
               frames) {
            n_frames += frames->n_frames;
        }
        assert_int_equal(status, COLLET_FORMAT);
        assert_null(frames);
        assert_int_equal(n_frames, expected);
        assert_int_equal(truncated, truncation);
        assert_contains(err.text, "frame 5");
        assert_int_equal(trajectory_readahead_next(ahead, &frames, NULL, NULL), COLLET_FORMAT);
        trajectory_readahead_stop(ahead);
        trajectory_reader_close(t);
    }
}

TEST(frames_before_an_error_come_first)
{
    OWNED(io_image) image = {0};

    for (int i = 0; i < 6; i++)
        io_put_trr(&image, 4, 7, i, IO_BOX | IO_X);
    check_error(&image, image.size - 1, 5, 1);
    image.data[image.size / 6 * 5] = 1;
    check_error(&image, image.size, 5, 0);
}

/* ---- Several threads --------------------------------------------------------------------- */

/* The result of reading a file to its end or to an error. */
typedef struct outcome {
    uint64_t hash;
    int64_t n_frames;
    int64_t n_bad_times;
    int64_t end_offset;
    trajectory_gaps gaps;
    collet_status status;
    int32_t truncated;
    collet_error error;
} outcome;

static void note(outcome *o, const trajectory_frames *frames)
{
    size_t n = io_frame_bytes(frames);

    for (size_t i = 0; i < (size_t)frames->n_frames; i++) {
        o->hash = io_hash(o->hash, &frames->indices[i], 8);
        o->hash = io_hash(o->hash, &frames->times[i], 8);
        o->hash = io_hash(o->hash, &frames->boxes[9 * i], 72);
        o->hash = io_hash(o->hash, (const uint8_t *)frames->positions + i * n, n);
        if (frames->velocities)
            o->hash = io_hash(o->hash, (const uint8_t *)frames->velocities + i * n, n);
    }
    o->n_frames += frames->n_frames;
    o->n_bad_times += frames->n_bad_times;
    o->end_offset = frames->end_offset;
}

static trajectory_reader *open_missing(const char *path, uint32_t missing)
{
    trajectory_reader *t = io_open(path);

    trajectory_reader_set_missing(t, missing);
    return t;
}

static outcome outcome_alone(const char *path, uint32_t missing)
{
    trajectory_reader *t = open_missing(path, missing);
    trajectory_frames *frames = io_batch(t, 1, 1);
    outcome o = {.hash = IO_HASH};

    do {
        o.status = trajectory_reader_read(t, frames, &o.error);
        if (frames->n_frames > 0)
            note(&o, frames);
    } while (o.status == COLLET_OK && frames->n_frames > 0);
    o.truncated = frames->truncated;
    o.gaps = *trajectory_reader_gaps(t);
    trajectory_frames_free(frames);
    trajectory_reader_close(t);
    return o;
}

static outcome outcome_ahead(const char *path, uint32_t missing, int64_t batch, int32_t threads)
{
    trajectory_reader *t = open_missing(path, missing);
    trajectory_readahead *ahead = start(t, batch, threads == 0 ? 1 : 3, threads);
    outcome o = {.hash = IO_HASH};
    const trajectory_frames *frames;

    while ((o.status = trajectory_readahead_next(ahead, &frames, &o.truncated, &o.error)) ==
               COLLET_OK &&
           frames)
        note(&o, frames);
    o.gaps = *trajectory_reader_gaps(t);
    trajectory_readahead_stop(ahead);
    trajectory_reader_close(t);
    return o;
}

static void check_threads(const char *path, uint32_t missing)
{
    static const int32_t threads[] = {0, 1, 2, 5};
    static const int64_t batches[] = {1, 3, 100};
    outcome expected = outcome_alone(path, missing);

    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 3; k++) {
            outcome found = outcome_ahead(path, missing, batches[k], threads[i]);
            assert_true(found.hash == expected.hash);
            assert_int_equal(found.n_frames, expected.n_frames);
            assert_int_equal(found.n_bad_times, expected.n_bad_times);
            assert_int_equal(found.status, expected.status);
            assert_int_equal(found.truncated, expected.truncated);
            assert_memory_equal(&found.gaps, &expected.gaps, sizeof found.gaps);
            if (expected.status != COLLET_OK)
                assert_string_equal(found.error.text, expected.error.text);
            else
                assert_int_equal(found.end_offset, expected.end_offset);
        }
    }
}

/* Damages frame number `frame` of an .xtc file; the frame is in the bytes `at` to `end`. Damages its packed
 * coordinates, its header and its time, one after the other. Then truncates the file in this frame. */
static void damage_frame(io_bytes file, int64_t at, int64_t end, int64_t frame)
{
    static const size_t places[] = {84 + 3, 0, 12}; /* the index of a range, the magic, the time */
    const char *path = io_path(directory, "damaged.xtc");

    for (size_t i = 0; i < 3; i++) {
        uint8_t *bytes = file.data + at + places[i], before[2];
        memcpy(before, bytes, 2);
        memset(bytes, 0xff, 2);
        io_save(path, file.data, file.size);
        outcome o = outcome_alone(path, COLLET_TRAJECTORY_MISSING_FAIL);
        assert_int_equal(o.status, i < 2 ? COLLET_FORMAT : COLLET_OK);
        assert_int_equal(o.n_frames, i < 2 ? frame : 51);
        assert_int_equal(o.n_bad_times, i == 2);
        check_threads(path, COLLET_TRAJECTORY_MISSING_FAIL);
        memcpy(bytes, before, 2);
    }
    io_save(path, file.data, (size_t)end - 5);
    check_threads(path, COLLET_TRAJECTORY_MISSING_FAIL);
}

TEST(damaged_frames_of_xtc)
{
    OWNED(io_bytes) file = io_load(XTC);
    OWNED(trajectory_reader) *t = io_open(XTC);
    OWNED(trajectory_frames) *frames = io_batch(t, 1, 1);
    int64_t at = 0, n = 0;

    check_threads(XTC, COLLET_TRAJECTORY_MISSING_FAIL);
    while (trajectory_reader_read(t, frames, NULL) == COLLET_OK && frames->n_frames > 0) {
        if (n % 16 == 1)
            damage_frame(file, at, frames->end_offset, n);
        at = frames->end_offset;
        n++;
    }
    assert_int_equal(n, 51);
}

static void write_gro(const char *path, int damaged)
{
    OWNED(io_image) image = {0};

    for (int i = 0; i < 12; i++) {
        char text[256];
        int n =
            snprintf(text, sizeof text,
                     "t= %d\n 2\n    1A      A    1   0.100   0.200   %s%.3d%s\n"
                     "    1A      A    2   0.100   0.200   0.300%s\n 1 1 1\n",
                     i, i == damaged ? "x." : "0.", i, i % 3 == 1 ? "" : "  0.1000  0.2000  0.3000",
                     i % 3 == 1 ? "" : "  0.1000  0.2000  0.3000");
        io_put(&image, text, (size_t)n);
    }
    io_save(path, image.data, image.size);
}

/* Gaps in the times of frames after a damaged frame are not reported, although the headers of these frames may have
 * been read. */
TEST(gaps_before_a_damaged_frame)
{
    const char *path = io_path(directory, "gaps.gro");

    for (int damaged = 0; damaged <= 12; damaged += 3) {
        write_gro(path, damaged);
        outcome o = outcome_alone(path, COLLET_TRAJECTORY_MISSING_SKIP);
        assert_int_equal(o.status, damaged < 12 ? COLLET_FORMAT : COLLET_OK);
        assert_int_equal(o.gaps.frames, damaged / 3);
        for (uint32_t m = COLLET_TRAJECTORY_MISSING_FAIL; m <= COLLET_TRAJECTORY_MISSING_NAN; m++)
            check_threads(path, m);
    }
}

TEST(options_out_of_range)
{
    static const trajectory_readahead_options none = {
        .batch_frames = 0, .n_slots = 2, .n_threads = 1};
    OWNED(trajectory_reader) *t = io_open(XTC);
    trajectory_readahead_options unknown = {
        .batch_frames = 4, .n_slots = 2, .n_threads = 1, .forces = 1};
    trajectory_readahead *ahead;
    collet_error err;

    assert_int_equal(trajectory_readahead_create(t, &none, &ahead, NULL), COLLET_INVALID);
    assert_null(ahead);
    assert_int_equal(trajectory_readahead_create(t, &unknown, &ahead, &err), COLLET_NOT_FOUND);
    assert_null(ahead);
    assert_contains(err.text, "the file has no forces");
}

TEST_GROUP(make_directory, remove_directory)
