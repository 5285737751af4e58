/* SPDX-License-Identifier: Apache-2.0 */
/* Times of frames, from files that store times in single precision. */

#include "io_files.h"
#include "trajectory/reading/clock.h"
#include "trajectory/reading/index.h"
#include "trajectory/reading/parts.h"

#define MOST 1024
#define SPACING 0.1 /* ps between frames */
#define DT 0.002    /* ps of a step */

static const double starts[] = {0, 20000, 100000, 1000000};

/* The exact times of frames, and these times as files store them, in single precision. */
typedef struct series {
    trajectory_tick ticks[MOST];
    double times[MOST];
    int64_t n;
} series;

static double half_distance(float t)
{
    return (double)(nextafterf(fabsf(t), INFINITY) - fabsf(t)) / 2;
}

static void add(series *s, double time, int64_t step)
{
    float stored = (float)time;

    s->ticks[s->n] = (trajectory_tick){s->n, step, (double)stored, half_distance(stored)};
    s->times[s->n++] = time;
}

/* 400 frames from the time `start` on. Their step numbers are first, first + step, ...; first -1 and step 0: none. */
static series regular(double start, int64_t first, int64_t step)
{
    series s = {.n = 0};

    for (int k = 0; k < 400; k++)
        add(&s, start + k * SPACING, first + k * step);
    return s;
}

/* Asserts that the clock gives all times, with an error of at most `relative` times the span. */
static void gives(const series *s, int by, double relative)
{
    trajectory_clock clock = trajectory_clock_fit(s->ticks, s->n);
    double span = s->times[s->n - 1] - s->times[0];

    assert_int_equal(clock.by, by);
    double first = trajectory_clock_time(&clock, 0, s->ticks[0].step, s->ticks[0].time);
    for (int64_t i = 0; i < s->n; i++) {
        const trajectory_tick *t = &s->ticks[i];
        double time = trajectory_clock_time(&clock, t->frame, t->step, t->time);
        assert_true(fabs(time - t->time) <= 2 * t->rounding + 1e-9);
        if (by != TRAJECTORY_CLOCK_STORED)
            assert_true(fabs(time - first - (s->times[i] - s->times[0])) <= relative * span);
        else
            assert_true(time == t->time);
    }
}

TEST(steps_give_the_times)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        series s = regular(starts[i], llround(starts[i] / DT), llround(SPACING / DT));
        gives(&s, TRAJECTORY_CLOCK_STEPS, 1e-12);
    }
}

/* From the stored times alone, the spacing of two frames would be 0.125. */
TEST(steps_give_the_times_of_two_frames)
{
    series s = regular(1000000, 500000000, 50);

    s.n = 2;
    gives(&s, TRAJECTORY_CLOCK_STEPS, 1e-9);
}

TEST(steps_from_zero_give_the_times_of_a_later_part)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        series s = regular(starts[i], 0, llround(SPACING / DT));
        gives(&s, TRAJECTORY_CLOCK_STEPS, 1e-12);
    }
}

TEST(frames_give_the_times_where_steps_are_absent_or_constant)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        series absent = regular(starts[i], -1, 0), constant = regular(starts[i], 7, 0);
        gives(&absent, TRAJECTORY_CLOCK_FRAMES, 1e-12);
        gives(&constant, TRAJECTORY_CLOCK_FRAMES, 1e-12);
    }
}

TEST(frames_give_the_times_where_steps_lie)
{
    series s = regular(100000, 0, 0);

    for (int64_t i = 0; i < s.n; i++)
        s.ticks[i].step = i * i;
    gives(&s, TRAJECTORY_CLOCK_FRAMES, 1e-12);
}

TEST(steps_of_32_bits_overflow)
{
    series s = {.n = 0};
    int64_t before = -1;

    for (int k = 0; k < 400; k++) {
        int64_t step = (INT64_C(1) << 32) - 100 * 50 + k * 50;
        add(&s, (double)step * DT, (int64_t)(uint32_t)step);
    }
    assert_true(s.ticks[300].step < s.ticks[0].step);
    series counted = s;
    for (int64_t i = 0; i < s.n; i++)
        before = counted.ticks[i].step = trajectory_clock_step(s.ticks[i].step, before);
    gives(&counted, TRAJECTORY_CLOCK_STEPS, 1e-12);
    assert_int_equal(trajectory_clock_step(-1, (INT64_C(1) << 32) - 1), -1); /* not in the file */
    trajectory_clock clock = trajectory_clock_fit(counted.ticks, counted.n);
    for (int64_t i = 0; i < s.n; i++) /* the steps of the file */
        assert_true(trajectory_clock_time(&clock, i, s.ticks[i].step, s.ticks[i].time) ==
                    (double)counted.ticks[i].step * 2 / 1000);
}

/* Frames at steps that are powers of two, and a file that begins at a late step. */
TEST(irregular_frames_follow_their_steps)
{
    series s = {.n = 0}, none;

    for (int64_t step = INT64_C(400000000), k = 1; k < 1 << 20; k *= 2)
        add(&s, (double)(step + k) * DT, step + k);
    gives(&s, TRAJECTORY_CLOCK_STEPS, 1e-12);
    none = s;
    for (int64_t i = 0; i < none.n; i++)
        none.ticks[i].step = -1;
    gives(&none, TRAJECTORY_CLOCK_STORED, 0);
}

TEST(times_off_the_line_remain)
{
    series s = regular(100, -1, 0);

    s.ticks[200].time += 0.01;
    gives(&s, TRAJECTORY_CLOCK_STORED, 0);
    s = regular(100, -1, 0);
    s.ticks[3].time = (double)NAN;
    assert_int_equal(trajectory_clock_fit(s.ticks, s.n).by, TRAJECTORY_CLOCK_STORED);
    s = regular(100, -1, 0);
    s.ticks[3].rounding = 0;
    assert_int_equal(trajectory_clock_fit(s.ticks, s.n).by, TRAJECTORY_CLOCK_STORED);
    assert_int_equal(trajectory_clock_fit(s.ticks, 1).by, TRAJECTORY_CLOCK_STORED);
    assert_int_equal(trajectory_clock_fit(NULL, 0).by, TRAJECTORY_CLOCK_STORED);
}

TEST(programs_that_compute_in_single_precision)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        series s = regular(starts[i], -1, 0);
        for (int64_t k = 0; k < s.n; k++) {
            volatile float product = (float)k * (float)SPACING;
            s.ticks[k].time = (double)((float)starts[i] + product);
        }
        gives(&s, TRAJECTORY_CLOCK_FRAMES, 1e-7);
    }
}

/* The step numbers do not start where the times start. A line through step 0 at time 0 fits too, but its interval is
 * wrong and is not a decimal number. */
TEST(steps_of_a_later_start)
{
    series s = {.n = 0};

    for (int k = 0; k < 3; k++)
        add(&s, 1000000 + k, llround((1000000 - 15000) / DT) + 500 * k);
    for (int n = 3; n >= 2; n--) {
        s.n = n;
        trajectory_clock clock = trajectory_clock_fit(s.ticks, n);
        for (int i = 0; i < n; i++)
            assert_true(fabs(trajectory_clock_time(&clock, i, s.ticks[i].step, s.ticks[i].time) - s.times[i]) < 1e-9);
    }
}

/* CHARMM's unit of time is not a short decimal number. */
TEST(intervals_that_are_not_decimal)
{
    series s = {.n = 0};
    double spacing = 2 * 4.888821e-2 * 1.0000123;

    for (int k = 0; k < 1000; k++)
        add(&s, 5000 + k * spacing, -1);
    gives(&s, TRAJECTORY_CLOCK_FRAMES, 1e-5);
}

/* Times with any start and any interval. A clock is a straight line. Its intervals are never farther from the true
 * interval than the intervals of the stored times. */
TEST(no_clock_is_worse_than_what_is_stored)
{
    int lines = 0;

    srand(7);
    for (int test = 0; test < 300; test++) {
        series s = {.n = 0};
        double start = pow(10, rand() % 7) * rand() / RAND_MAX;
        double spacing = pow(10, rand() % 5 - 3) * (1 + rand() % 999) / 1000;
        int n = 3 + rand() % 500;
        double stored = 0, clocked = 0;
        for (int k = 0; k < n; k++)
            add(&s, start + k * spacing, rand() % 2 ? -1 : k);
        trajectory_clock clock = trajectory_clock_fit(s.ticks, s.n);
        lines += clock.by != TRAJECTORY_CLOCK_STORED;
        for (int64_t i = 1; i < n; i++) {
            const trajectory_tick *t = &s.ticks[i];
            double time = trajectory_clock_time(&clock, i, t->step, t->time) -
                          trajectory_clock_time(&clock, i - 1, t[-1].step, t[-1].time);
            stored = fmax(stored, fabs(t->time - t[-1].time - spacing));
            clocked = fmax(clocked, fabs(time - spacing));
        }
        assert_true(clocked <= stored + 1e-9);
    }
    assert_true(lines > 200); /* the rest: series without a clock */
}

static uint32_t bits(void)
{
    return (uint32_t)rand() << 16 ^ (uint32_t)rand();
}

/* Even for a damaged file, a time of the clock differs from the stored time by at most the rounding of the stored time
 * plus the double precision rounding of the largest time. */
TEST(times_of_any_bits)
{
    srand(11);
    for (int test = 0; test < 20000; test++) {
        series s = {.n = 0};
        int n = 2 + rand() % 6, kind = rand() % 4;
        double largest = 0;
        for (int k = 0; k < n; k++) {
            uint32_t any = kind == 0 ? bits() : 0x7f7fffff - (kind == 1 ? bits() % 8 : 0);
            float time;
            memcpy(&time, &any, 4);
            add(&s, kind == 3 ? (float)(rand() % 3) * 1e-44f : time,
                rand() % 2 ? (int64_t)bits() : rand() % 3 - 1 + ((int64_t)1 << 61));
            largest = fmax(largest, fabs(s.ticks[k].time));
        }
        trajectory_clock clock = trajectory_clock_fit(s.ticks, s.n);
        for (int64_t i = 0; i < s.n; i++) {
            const trajectory_tick *t = &s.ticks[i];
            double found = trajectory_clock_time(&clock, i, t->step, t->time);
            assert_true(clock.by == TRAJECTORY_CLOCK_STORED ||
                        fabs(found - t->time) <= 1.001 * t->rounding + 1e-14 * largest);
        }
    }
}

/* ---- Files ------------------------------------------------------------------------------- */

/* Appends a .trr frame of one atom, with its time in single precision. */
static void put_frame(io_image *image, double time, int32_t step)
{
    size_t at = image->size;
    float stored = (float)time;
    uint32_t bits[2] = {__builtin_bswap32((uint32_t)step), 0};

    io_put_trr(image, 4, 1, 0, IO_BOX | IO_X);
    memcpy(bits + 1, &stored, 4);
    bits[1] = __builtin_bswap32(bits[1]);
    /* magic, length, text of 12 + 4, 13 integers; the step is the 12th of these */
    memcpy(image->data + at + 24 + 4 * 11, bits, 4);
    memcpy(image->data + at + 24 + 4 * 13, bits + 1, 4);
}

static const char *make_file(const char *directory, const char *name, double start, int first,
                             int n)
{
    io_image image = {0};

    for (int k = 0; k < n; k++)
        put_frame(&image, start + k * SPACING, first + k * 50);
    const char *path = io_save(io_path(directory, name), image.data, image.size);
    free(image.data);
    return path;
}

/* Reads every `step`th frame from frame `from` on. Each frame must have its exact time in the run. */
static void file_gives(const char *const *paths, int64_t n, const char *index, double start,
                       int64_t frames, int64_t from, int64_t step)
{
    OWNED(trajectory_reader) *t = NULL;
    collet_error err;
    int64_t counted;

    assert_int_equal(trajectory_parts_open(paths, n, NULL, &t, &err), COLLET_OK);
    assert_int_equal(trajectory_reader_get_info(t)->rounds_times, 1);
    trajectory_reader_use_clocks(t);
    assert_int_equal(trajectory_reader_slice(t, from, -1, step, &err), COLLET_OK);
    assert_int_equal(trajectory_reader_count(t, index, NULL, &counted, &err), COLLET_OK);
    assert_int_equal(counted, frames);
    OWNED(trajectory_frames) *read = io_batch(t, MOST, 0);
    assert_int_equal(trajectory_reader_read(t, read, &err), COLLET_OK);
    assert_int_equal(read->n_frames, (frames - from + step - 1) / step);
    for (int64_t i = 0; i < read->n_frames; i++)
        assert_true(fabs(read->times[i] - (start + (double)(from + i * step) * SPACING)) <= 1e-9);
}

/* The public function for times must return the exact times too. */
static void times_are(const char *const *paths, double start, int64_t frames)
{
    double times[MOST];
    collet_error err;
    int64_t n;

    assert_int_equal(collet_trajectory_times(NULL, 0, &n, paths, &err), COLLET_OK);
    assert_int_equal(n, frames);
    times[5] = -1;
    assert_int_equal(collet_trajectory_times(times, 5, &n, paths, &err), COLLET_OK);
    assert_true(n == frames && times[5] == -1);
    assert_int_equal(collet_trajectory_times(times, MOST, &n, paths, &err), COLLET_OK);
    for (int64_t i = 0; i < frames; i++)
        assert_true(fabs(times[i] - (start + (double)i * SPACING)) <= 1e-9);
}

TEST(times_of_nothing)
{
    const char *none[] = {NULL}, *absent[] = {"/absent/x.trr", NULL};
    collet_error err;
    int64_t n;

    assert_int_equal(collet_trajectory_times(NULL, 0, &n, NULL, &err), COLLET_INVALID);
    assert_int_equal(collet_trajectory_times(NULL, 0, &n, none, &err), COLLET_INVALID);
    assert_int_equal(collet_trajectory_times(NULL, 1, &n, absent, &err), COLLET_INVALID);
    assert_int_equal(collet_trajectory_times(NULL, 0, NULL, absent, NULL), COLLET_INVALID);
    assert_int_equal(collet_trajectory_times(NULL, 0, &n, absent, &err), COLLET_IO);
}

TEST(files_have_the_times_of_their_clocks)
{
    char *directory = io_make_directory();
    const char *path = make_file(directory, "a.trr", 100000, 50000000, 400);
    const char *paths[] = {path, NULL};

    file_gives(paths, 1, NULL, 100000, 400, 0, 1);
    file_gives(paths, 1, NULL, 100000, 400, 37, 5);
    for (int again = 0; again < 2; again++) /* makes the index file, and reads it */
        file_gives(paths, 1, directory, 100000, 400, 3, 1);
    times_are(paths, 100000, 400);
    io_remove_directory(directory);
}

/* The last file is too short for its own clock; its first frame is the last frame of the file before it. */
TEST(several_files_have_one_clock)
{
    char *directory = io_make_directory();
    FREED(char) *first = strdup(make_file(directory, "a.trr", 1000000, 500000000, 400));
    FREED(char) *second = strdup(make_file(directory, "b.trr", 1000039.9, 500019950, 2));
    const char *paths[] = {second, first, NULL};

    file_gives(paths, 2, NULL, 1000000, 401, 0, 1);
    file_gives(paths, 2, directory, 1000000, 401, 0, 3);
    times_are(paths, 1000000, 401);
    io_remove_directory(directory);
}

/* Step numbers start again in the second file: each file gets its own clock. */
TEST(files_have_clocks_of_their_own)
{
    char *directory = io_make_directory();
    FREED(char) *first = strdup(make_file(directory, "a.trr", 20000, 10000000, 300));
    FREED(char) *second = strdup(make_file(directory, "b.trr", 20030, 0, 300));
    const char *paths[] = {first, second};

    file_gives(paths, 2, NULL, 20000, 600, 0, 1);
    io_remove_directory(directory);
}
