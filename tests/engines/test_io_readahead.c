/* SPDX-License-Identifier: Apache-2.0 */
/* Readahead: the same frames in the same order, whatever the caller holds and wherever it stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "directory.h"
#include "io_files.h"
#include "trajectory/reading/readahead.h"
#include "common/contains.h"

#define WATER COLLET_TEST_DATA "/md/water/traj.trr"

static trajectory_readahead *start(trajectory_reader *t, int64_t batch, int32_t slots)
{
    const trajectory_reader_info *info = trajectory_reader_get_info(t);
    trajectory_readahead_options options = {.batch_frames = batch,
                                            .n_slots = slots,
                                            .velocities = info->has_velocities,
                                            .forces = info->has_forces};
    trajectory_readahead *ahead;

    assert_int_equal(trajectory_readahead_start(t, &options, &ahead, NULL), COLLET_OK);
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

static void the_same_frames_as_without(void **state)
{
    (void)state;

    for (int32_t slots = 2; slots <= TRAJECTORY_READAHEAD_SLOTS; slots++) {
        for (int64_t batch = 1; batch <= 60; batch += 10) {
            trajectory_reader *t = io_open(WATER);
            trajectory_readahead *ahead = start(t, batch, slots);
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

/* The thread fills the other slots and leaves the caller's batch alone. */
static void a_batch_is_held(void **state)
{
    (void)state;
    trajectory_reader *t = io_open(WATER);
    trajectory_readahead *ahead = start(t, 5, 3);
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

static void stopping_at_any_time(void **state)
{
    (void)state;

    for (int n = 0; n < 60; n++) {
        trajectory_reader *t = io_open(WATER);
        trajectory_readahead *ahead = start(t, 1 + n % 3, 2 + n % 2);
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
        trajectory_readahead *ahead = start(t, batch, 2);
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

static void frames_before_an_error_come_first(void **state)
{
    (void)state;
    io_image image = {0};

    for (int i = 0; i < 6; i++)
        io_put_trr(&image, 4, 7, i, IO_BOX | IO_X);
    check_error(&image, image.size - 1, 5, 1);
    image.data[image.size / 6 * 5] = 1;
    check_error(&image, image.size, 5, 0);
    free(image.data);
}

static void options_out_of_range(void **state)
{
    (void)state;
    static const trajectory_readahead_options none = {.batch_frames = 0, .n_slots = 2};
    trajectory_reader *t = io_open(COLLET_TEST_DATA "/md/water/traj.xtc");
    trajectory_readahead_options expected = {.batch_frames = 4, .n_slots = 2, .forces = 1};
    const trajectory_frames *frames;
    trajectory_readahead *ahead;
    collet_error err;

    assert_int_equal(trajectory_readahead_start(t, &none, &ahead, NULL), COLLET_INVALID);
    assert_null(ahead);
    assert_int_equal(trajectory_readahead_start(t, &expected, &ahead, NULL), COLLET_OK);
    assert_int_equal(trajectory_readahead_next(ahead, &frames, NULL, &err), COLLET_NOT_FOUND);
    assert_contains(err.text, "the file has no forces");
    trajectory_readahead_stop(ahead);
    trajectory_reader_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_frames_as_without),
        cmocka_unit_test(a_batch_is_held),
        cmocka_unit_test(stopping_at_any_time),
        cmocka_unit_test(frames_before_an_error_come_first),
        cmocka_unit_test(options_out_of_range),
    };

    return cmocka_run_group_tests_name("io readahead", tests, make_directory, remove_directory);
}
