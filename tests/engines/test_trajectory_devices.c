/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices that share the frames of a trajectory. */
#include "common/support.h"

#include "io_files.h"
#include "trajectory/compute/lanes.h"

#define PLUGINS REMOTE_PLUGIN ":" OPENMP_PLUGIN ":" SCALAR_PLUGIN
#define WATER COLLET_TEST_DATA "/md/water"
#define FRAMES 51
#define BATCH 3
#define DEVICES 3

/* ---- Sums -------------------------------------------------------------------------------- */

/* The sums of all frames, in order. */
typedef struct sums {
    double *all[TRAJECTORY_SUMS];
    int64_t frames, read;
    int failed; /* a bit for each device */
    char error[400];
} sums;

static collet_status count_frames(void *user, const trajectory_frames *frames, collet_error *err)
{
    ((sums *)user)->read += frames->n_frames;
    return COLLET_OK;
}

static int32_t go_on(void *user)
{
    return 0;
}

/* Buffers that are written only if the paths of bodies are followed. */
#define OF_PATHS (TRAJECTORY_BUFFER_BIT(TRAJECTORY_COM_WRAPPED) | TRAJECTORY_BUFFER_BIT(TRAJECTORY_MOLECULE_WRAPPED))

static int64_t width_of(size_t sum, int64_t atoms)
{
    int32_t buffer = trajectory_sums[sum].buffer;

    if (OF_PATHS & TRAJECTORY_BUFFER_BIT(buffer))
        return 0;
    return trajectory_buffer_width(buffer) *
           trajectory_buffer_rows(buffer, (trajectory_extent){0, atoms});
}

static void append(sums *s, int64_t n, const double *const *rows, int64_t atoms)
{
    for (size_t i = 0; i < TRAJECTORY_SUMS; i++) {
        size_t width = (size_t)width_of(i, atoms) * sizeof(double);

        if (!width)
            continue;
        assert_non_null(rows[i]);
        if (s->all[i] == NULL)
            s->all[i] = calloc(FRAMES, width);
        memcpy((char *)s->all[i] + (size_t)s->frames * width, rows[i], (size_t)n * width);
    }
    s->frames += n;
}

static void note_shares(sums *s, const trajectory_lanes *lanes)
{
    collet_device_share share = {.struct_size = sizeof share};
    int64_t done = 0;

    for (size_t i = 0; trajectory_lanes_share(lanes, &share, i) == COLLET_OK; i++) {
        done += share.done;
        if (share.error == NULL)
            continue;
        s->failed |= 1 << i;
        snprintf(s->error, sizeof s->error, "%s", share.error);
    }
    assert_true(done >= s->frames);
}

/* Returns the final status of the work. */
static collet_status run(const char *const *choices, int64_t n, const char *const *settings,
                         sums *out, collet_error *err)
{
    static const double axis[3] = {0, 0, 1};
    collet_runtime *rt = runtime_with(PLUGINS, settings);
    collet_context *host = context_of(rt), *contexts[DEVICES];
    trajectory_reader *trajectory = io_open(WATER "/traj.trr");
    int64_t atoms = trajectory_reader_get_info(trajectory)->n_atoms, frames = 1;
    trajectory_readahead_options reading = {.batch_frames = BATCH,
                                            .n_slots = DEVICES + TRAJECTORY_LANES_AHEAD,
                                            .n_threads = 1,
                                            .velocities = 1,
                                            .forces = 1};
    double *masses = malloc((size_t)atoms * sizeof *masses);
    trajectory_lanes_setup setup = {
        .analysis = {.n_atoms = atoms,
                     .bodies = 1,
                     .buffers = ~(uint64_t)0 >> (64 - TRAJECTORY_BUFFERS) & ~OF_PATHS,
                     .masses = masses,
                     .charges = masses,
                     .axis = axis},
        .contexts = contexts,
        .n = n,
        .batch_frames = BATCH,
        .slots = reading.n_slots,
        .read = count_frames,
        .ask = go_on,
        .user = out};
    const double *const *rows;
    trajectory_lanes *lanes;
    trajectory_feed *feed;
    int32_t truncated;
    collet_status status = COLLET_OK;

    *out = (sums){.frames = 0};
    for (int64_t i = 0; i < atoms; i++)
        masses[i] = 1 + (double)(i % 5);
    assert_ok(host, collet_set_backend(host, "cpu_openmp,cpu_scalar"));
    for (int64_t i = 0; i < n; i++) {
        contexts[i] = context_of(rt);
        assert_ok(contexts[i], collet_set_backend(contexts[i], choices[i]));
    }
    assert_int_equal(trajectory_lanes_create(&setup, &lanes, err), COLLET_OK);
    assert_int_equal(trajectory_feed_start(host, trajectory, &reading, &feed, err), COLLET_OK);
    trajectory_lanes_feed(lanes, feed);
    while (status == COLLET_OK && frames > 0) {
        status = trajectory_lanes_next(lanes, &frames, &rows, &truncated, err);
        if (frames > 0)
            append(out, frames, rows, atoms);
    }
    note_shares(out, lanes);
    trajectory_lanes_stop(lanes);
    trajectory_feed_stop(feed);
    trajectory_lanes_free(lanes);
    trajectory_reader_close(trajectory);
    for (int64_t i = 0; i < n; i++)
        collet_context_destroy(contexts[i]);
    collet_context_destroy(host);
    collet_runtime_destroy(rt);
    free(masses);
    return status;
}

static void free_sums(sums *s)
{
    for (size_t i = 0; i < TRAJECTORY_SUMS; i++)
        free(s->all[i]);
}

static void expect_same(const sums *a, const sums *b)
{
    assert_int_equal(a->frames, FRAMES);
    assert_int_equal(a->read, FRAMES);
    assert_int_equal(b->frames, FRAMES);
    for (size_t i = 0; i < TRAJECTORY_SUMS; i++)
        if (width_of(i, 648))
            assert_memory_equal(a->all[i], b->all[i],
                            (size_t)(FRAMES * width_of(i, 648)) * sizeof(double));
}

TEST(the_others_do_the_part_of_a_lost_device)
{
    static const char *const choices[] = {"remote:0,cpu_openmp", "remote:1,cpu_openmp",
                                          "remote:2,cpu_openmp"};
    sums expected;
    collet_error err;
    int lost = 0;

    assert_int_equal(run((const char *const[]){"cpu_openmp"}, 1, NULL, &expected, &err), COLLET_OK);
    for (int call = 0; call < 60; call += call < 4 ? 1 : 11) { /* 0: none is lost */
        char lose[32];
        const char *const settings[] = {"remote.devices=3", "remote.faulty=1", lose, NULL};
        sums found;

        snprintf(lose, sizeof lose, "remote.lose=%d", call ? call : INT32_MAX);
        if (run(choices, DEVICES, settings, &found, &err) != COLLET_OK)
            fail_msg("call %d: %s", call, err.text);
        expect_same(&found, &expected);
        if (found.failed) {
            assert_int_equal(found.failed, 2);
            assert_contains(found.error, "remote:1,cpu_openmp: ");
            lost++;
        }
        free_sums(&found);
    }
    assert_true(lost > 2);
    sums none;
    const char *const all[] = {"remote.devices=3", "remote.lose=5", NULL};
    assert_error(run(choices, DEVICES, all, &none, &err), COLLET_DEVICE_LOST, err, ",cpu_openmp: ");
    assert_int_equal(none.failed, 7);
    free_sums(&none);
    free_sums(&expected);
}

/* ---- Trajectories ------------------------------------------------------------------------ */

static collet_trajectory *open_with(const collet_devices *devices, collet_context *context,
                                    uint32_t pbc)
{
    collet_trajectory_options options = {.struct_size = sizeof options,
                                         .topology = WATER "/conf.gro",
                                         .trajectory = WATER "/traj.trr",
                                         .batch_frames = BATCH,
                                         .pbc = pbc,
                                         .drift = pbc, /* from KEEP to BOTH */
                                         .context = context,
                                         .devices = devices};
    collet_trajectory *trajectory;
    collet_error err;

    assert_success(collet_trajectory_create(&trajectory, &options, &err), err);
    return trajectory;
}

static collet_trajectory *open_water(const char *choices, collet_context *context, uint32_t pbc)
{
    const collet_devices devices = {.struct_size = sizeof devices, .choices = choices};

    return open_with(choices ? &devices : NULL, context, pbc);
}

/* All keys have the same bits as on one device, for molecules made whole and for followed
 * molecules. */
TEST(results_are_those_of_one_device)
{
    const collet_trajectory_batch *one, *two;
    collet_error err;

    for (uint32_t pbc = COLLET_TRAJECTORY_PBC_WHOLE; pbc <= COLLET_TRAJECTORY_PBC_NONE; pbc++) {
        OWNED(collet_runtime) *rt = runtime_with(OPENMP_PLUGIN ":" SCALAR_PLUGIN, NULL);
        OWNED(collet_context) *cx = context_of(rt);
        OWNED(collet_trajectory) *alone = open_water(NULL, cx, pbc);
        OWNED(collet_context) *own = context_of(rt);
        const collet_devices devices = {
            .struct_size = sizeof devices, .n_contexts = 1, .contexts = &own};
        OWNED(collet_trajectory) *shared =
            pbc % 2 ? open_water("cpu_openmp", cx, pbc) : open_with(&devices, NULL, pbc);
        size_t n = collet_trajectory_quantity_count();

        assert_ok(cx, collet_set_backend(cx, "cpu_openmp"));
        assert_ok(own, collet_set_backend(own, "cpu_openmp"));
        assert_int_equal(collet_trajectory_collect(alone, &one, &err), COLLET_OK);
        assert_success(collet_trajectory_collect(shared, &two, &err), err);
        assert_int_equal(one->n_rows, two->n_rows);
        for (size_t i = 0; i < n; i++) {
            collet_trajectory_quantity q = {.struct_size = sizeof q};

            collet_trajectory_quantity_at(alone, &q, i, NULL);
            assert_int_equal(one->columns[i] == NULL, two->columns[i] == NULL);
            if (one->columns[i] != NULL)
                assert_memory_equal(one->columns[i], two->columns[i],
                                    (size_t)(one->n_rows * q.width) * sizeof(double));
        }
    }
}

TEST(the_work_is_planned)
{
    static const char *const devices[] = {NULL, "cpu_openmp,cpu_scalar"};
    const collet_trajectory_batch *batch;
    collet_error err;

    for (int i = 0; i < 2; i++) {
        collet_trajectory_plan plan = {.struct_size = sizeof plan};
        OWNED(collet_trajectory) *trajectory = open_water(devices[i], NULL, 0);
        collet_trajectory_file file = {.struct_size = sizeof file};
        collet_device_share share = {.struct_size = sizeof share};
        int taken = 0;

        assert_success(collet_trajectory_plan_work(trajectory, &plan, &err), err);
        for (; collet_trajectory_share_at(trajectory, &share, (size_t)taken, NULL) == COLLET_OK;
             taken++)
            assert_true(share.done == BATCH && share.seconds > 0 && share.error == NULL);
        assert_int_equal(taken, i + 1);
        assert_int_equal(collet_trajectory_file_at(trajectory, &file, 0, NULL), COLLET_OK);
        assert_true(file.bytes > 0);
        assert_string_equal(file.format, "trr");
        assert_error(collet_trajectory_file_at(trajectory, &file, 1, &err), COLLET_NOT_FOUND, err,
                     "index 1 is out of range: the trajectory has 1 files");
        assert_int_equal(plan.batch_frames, BATCH);
        assert_true(plan.batches >= i + 1 && plan.bytes > 648 * 9 * 4 * BATCH);
        assert_true(plan.host_bytes >= (uint64_t)plan.batches * 648 * 9 * 4 * BATCH);
        assert_error(collet_trajectory_next(trajectory, &batch, &err), COLLET_INVALID, err,
                     "planned");
    }
}

TEST(devices_are_checked)
{
    static const struct {
        const char *devices, *text;
    } bad[] = {{"cpu_openmp,cpu_openmp", "devices: cpu_openmp is given twice"},
               {"cpu_openmp,nothing", "devices: "},
               {"cpu_openmp,", "devices: "}};
    const collet_trajectory_batch *batch;
    collet_error err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        OWNED(collet_trajectory) *trajectory = open_water(bad[i].devices, NULL, 0);

        assert_int_not_equal(collet_trajectory_next(trajectory, &batch, &err), COLLET_OK);
        assert_contains(err.text, bad[i].text);
    }
}
