/* SPDX-License-Identifier: Apache-2.0 */
/* Results are bit-identical for any size of batches and blocks. */

#include "trajectory/compute/analysis.h"
#include "io_files.h"

#include <cjson/cJSON.h>

OWNS(cJSON, cJSON_Delete)

#define FRAMES 51

/* All rows that were emitted, buffer by buffer. */
typedef struct collected {
    int64_t atoms;
    double *rows[TRAJECTORY_BUFFERS];
    int64_t n[TRAJECTORY_BUFFERS];
} collected;

static collet_runtime *runtime;
static collet_context *context;

/* The number of values per frame in a buffer. */
static int64_t frame_width(const collected *all, int32_t buffer)
{
    return trajectory_buffer_rows(buffer, (trajectory_extent){0, all->atoms}) *
           trajectory_buffer_width(buffer);
}

static int set_up(void **state)
{
    collet_error err;

    if (collet_runtime_create(&runtime, NULL, &err) != COLLET_OK ||
        collet_context_create(runtime, &context, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    return 0;
}

static int tear_down(void **state)
{
    collet_context_destroy(context);
    collet_runtime_destroy(runtime);
    return 0;
}

static collet_status collect(void *user, int32_t buffer, int64_t n, const double *rows,
                             collet_error *err)
{
    collected *all = user;
    int64_t width = frame_width(all, buffer);

    assert_true(n > 0 && all->n[buffer] + n <= FRAMES);
    if (all->rows[buffer] == NULL)
        all->rows[buffer] = calloc((size_t)(FRAMES * width), sizeof(double));
    assert_non_null(all->rows[buffer]);
    memcpy(all->rows[buffer] + all->n[buffer] * width, rows, (size_t)(n * width) * sizeof *rows);
    all->n[buffer] += n;
    return COLLET_OK;
}

static void collected_free(collected *all)
{
    for (int i = 0; i < TRAJECTORY_BUFFERS; i++)
        free(all->rows[i]);
}

/* The buffers that can be computed from these fields. */
static uint64_t computable(uint32_t fields)
{
    uint64_t all = 0;

    for (int32_t b = 0; b < TRAJECTORY_BUFFERS; b++)
        if ((trajectory_buffer_needs(b) & ~fields) == 0)
            all |= TRAJECTORY_BUFFER_BIT(b);
    return all;
}

/* Emits the first `frames` frames of a file in batches and blocks of these sizes. */
static collected run(const char *path, int64_t batch_frames, int64_t block_frames, int64_t frames)
{
    static const double axis[3] = {0, 0, 1};
    trajectory_reader *trajectory = io_open(path);
    const trajectory_reader_info *info = trajectory_reader_get_info(trajectory);
    trajectory_readahead_options reading = {.batch_frames = batch_frames,
                                            .n_slots = 2, .n_threads = 1,
                                            .velocities = info->has_velocities,
                                            .forces = info->has_forces};
    double *masses = malloc((size_t)info->n_atoms * sizeof *masses);
    double *charges = malloc((size_t)info->n_atoms * sizeof *charges);
    collected all = {.atoms = info->n_atoms};
    trajectory_analysis_setup setup = {
        .n_atoms = info->n_atoms,
        .block_frames = block_frames,
        .bodies = 1,
        .buffers = computable((info->has_velocities ? TRAJECTORY_VELOCITIES : 0) |
                              (info->has_forces ? TRAJECTORY_FORCES : 0) |
                              (info->has_times ? TRAJECTORY_TIMES : 0) | TRAJECTORY_SAME_ATOMS |
                              TRAJECTORY_CHARGES | TRAJECTORY_UNDIVIDED | TRAJECTORY_BY_NAME),
        .masses = masses,
        .charges = charges,
        .axis = axis,
        .emit = collect,
        .user = &all,
    };
    trajectory_analysis *analysis;
    trajectory_feed *feed = NULL;
    const trajectory_batch *batch;
    int32_t truncated;
    collet_error err;

    assert_non_null(masses);
    assert_non_null(charges);
    for (int64_t i = 0; i < info->n_atoms; i++) {
        masses[i] = 1 + (double)(i % 5);
        charges[i] = (double)(i % 3) - 1;
    }
    assert_int_equal(trajectory_reader_slice(trajectory, 0, frames, 1, &err), COLLET_OK);
    if (trajectory_analysis_create(context, &setup, &analysis, &err) != COLLET_OK ||
        trajectory_feed_start(context, trajectory, &reading, &feed, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    for (;;) {
        assert_success(trajectory_feed_next(feed, &batch, &truncated, &err), err);
        if (batch == NULL)
            break;
        assert_success(trajectory_analysis_add(analysis, batch, &err), err);
    }
    assert_success(trajectory_analysis_finish(analysis, &err), err);
    trajectory_feed_stop(feed);
    trajectory_analysis_free(analysis);
    trajectory_reader_close(trajectory);
    free(masses);
    free(charges);
    return all;
}

static void check_sizes(const char *path, int64_t frames, int velocities)
{
    static const struct {
        int64_t batch;
        int64_t block;
    } sizes[] = {{1, 1}, {1, 2}, {2, 2}, {1, 3}, {3, 8}, {7, 7}, {7, 10}, {50, 51}, {60, 1024}};
    collected whole = run(path, FRAMES, FRAMES, frames);

    for (int b = 0; b < TRAJECTORY_BUFFERS; b++)
        assert_int_equal(whole.n[b],
                         !(trajectory_buffer_needs(b) & TRAJECTORY_PATHS) &&
                                 (velocities || (trajectory_buffer_needs(b) &
                                                 (TRAJECTORY_VELOCITIES | TRAJECTORY_FORCES)) == 0)
                             ? frames
                             : 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        collected part = run(path, sizes[i].batch, sizes[i].block, frames);

        for (int b = 0; b < TRAJECTORY_BUFFERS; b++) {
            assert_int_equal(part.n[b], whole.n[b]);
            if (part.n[b] > 0 &&
                memcmp(part.rows[b], whole.rows[b],
                       (size_t)(part.n[b] * frame_width(&part, b)) * sizeof(double)) != 0)
                fail_msg("buffer %d differs with batches of %d and blocks of %d frames", b,
                         (int)sizes[i].batch, (int)sizes[i].block);
        }
        collected_free(&part);
    }
    collected_free(&whole);
}

TEST(test_sizes)
{
    check_sizes(COLLET_TEST_DATA "/md/peptide/traj.trr", FRAMES, 1);
    check_sizes(COLLET_TEST_DATA "/md/peptide/traj_double.trr", FRAMES, 1);
    check_sizes(COLLET_TEST_DATA "/md/peptide/traj.xtc", FRAMES, 0);
}

TEST(test_few_frames)
{
    for (int64_t frames = 1; frames <= 4; frames++)
        check_sizes(COLLET_TEST_DATA "/md/peptide/traj.trr", frames, 1);
}

/* A single frame has no derivative: zeros. */
TEST(test_one_frame)
{
    collected one = run(COLLET_TEST_DATA "/md/water/traj.trr", 4, 4, 1);

    for (int i = 0; i < 3; i++)
        assert_true(one.rows[TRAJECTORY_BUFFER_OF(TRAJECTORY_DLDT, TRAJECTORY_VECTOR)][i] == 0);
    collected_free(&one);
}

static collet_status refuse(void *user, int32_t buffer, int64_t n, const double *rows,
                            collet_error *err)
{
    return buffer == TRAJECTORY_RMSD ? collet_fail(err, COLLET_IO, "disk full") : COLLET_OK;
}

/* An error of the row callback is returned with its text. */
TEST(test_failing_receiver)
{
    static const double axis[3] = {0, 0, 1};
    trajectory_reader *trajectory = io_open(COLLET_TEST_DATA "/md/water/traj.xtc");
    trajectory_readahead_options reading = {.batch_frames = 51, .n_slots = 2, .n_threads = 1};
    double masses[648];
    trajectory_analysis_setup setup = {.n_atoms = 648,
                                       .block_frames = 64,
                                       .bodies = 1,
                                       .buffers = TRAJECTORY_BUFFER_BIT(TRAJECTORY_RMSD),
                                       .masses = masses,
                                       .axis = axis,
                                       .emit = refuse};
    trajectory_analysis *analysis;
    trajectory_feed *feed;
    const trajectory_batch *batch;
    int32_t truncated;
    collet_error err;

    for (int i = 0; i < 648; i++)
        masses[i] = 1;
    assert_int_equal(trajectory_analysis_create(context, &setup, &analysis, &err), COLLET_OK);
    assert_int_equal(trajectory_feed_start(context, trajectory, &reading, &feed, &err), COLLET_OK);
    assert_int_equal(trajectory_feed_next(feed, &batch, &truncated, &err), COLLET_OK);
    assert_int_equal(trajectory_analysis_add(analysis, batch, &err), COLLET_OK);
    assert_int_equal(trajectory_analysis_finish(analysis, &err), COLLET_IO);
    assert_string_equal(err.text, "disk full");
    trajectory_feed_stop(feed);
    trajectory_analysis_free(analysis);
    trajectory_reader_close(trajectory);
}

/* If set, all counters of a context have fixed, different values. */
static int counting;

collet_status __real_collet_context_counters(collet_context *cx, collet_counters *counters);
collet_status __wrap_collet_context_counters(collet_context *cx, collet_counters *counters);

collet_status __wrap_collet_context_counters(collet_context *cx, collet_counters *counters)
{
    if (!counting)
        return __real_collet_context_counters(cx, counters);
    *counters = (collet_counters){sizeof *counters, 0, 1, 20, 300, 4000, 50000, 600000};
    return COLLET_OK;
}

/* The meta file has the sum of both contexts for each counter. */
TEST(test_counters)
{
    static const char *const names[] = {"calls",           "fallbacks",     "temporaries",
                                        "bytes_to_device", "bytes_to_host", "bytes_direct"};
    collet_trajectory_options options = {.struct_size = sizeof options,
                                         .topology = COLLET_TEST_DATA "/md/water/conf.gro",
                                         .trajectory = COLLET_TEST_DATA "/md/water/traj.xtc"};
    const collet_trajectory_batch *batch;
    OWNED(collet_trajectory) *x = NULL;
    const cJSON *counters;
    OWNED(cJSON) *meta = NULL;
    double expected = 2;

    counting = 1;
    assert_int_equal(collet_trajectory_create(&x, &options, NULL), COLLET_OK);
    assert_int_equal(collet_trajectory_collect(x, &batch, NULL), COLLET_OK);
    counting = 0;
    meta = cJSON_Parse(collet_trajectory_meta(x));
    counters = cJSON_GetObjectItem(meta, "counters");
    assert_int_equal(cJSON_GetArraySize(counters), 6);
    for (int i = 0; i < 6; i++, expected *= 10) {
        const cJSON *counter = cJSON_GetObjectItem(counters, names[i]);

        assert_true(cJSON_GetNumberValue(counter) == expected * (i + 1));
    }
}

static double calls_for(const char *keys)
{
    collet_trajectory_options options = {.struct_size = sizeof options,
                                         .topology = COLLET_TEST_DATA "/md/water/conf.gro",
                                         .trajectory = COLLET_TEST_DATA "/md/water/traj.xtc",
                                         .keys = keys};
    const collet_trajectory_batch *batch;
    collet_trajectory *x;

    assert_int_equal(collet_trajectory_create(&x, &options, NULL), COLLET_OK);
    assert_int_equal(collet_trajectory_collect(x, &batch, NULL), COLLET_OK);
    cJSON *meta = cJSON_Parse(collet_trajectory_meta(x));
    const cJSON *counters = cJSON_GetObjectItem(meta, "counters");
    double calls = cJSON_GetNumberValue(cJSON_GetObjectItem(counters, "calls"));
    cJSON_Delete(meta);
    collet_trajectory_destroy(x);
    return calls;
}

/* Kernels that no chosen key needs are not called. */
TEST(test_calls_for_keys)
{
    double com = calls_for("com"), shape = calls_for("com,rg"), fit = calls_for("com,rmsd");

    assert_true(com > 0 && shape > com && fit > com);
    assert_true(calls_for("com,rg,gyration_tensor,asphericity") == shape);
    assert_true(calls_for("*") >= shape + fit - com);
}

TEST_GROUP(set_up, tear_down)
