/* SPDX-License-Identifier: Apache-2.0 */
/* Uses collet/trajectory.h as a program does: this test is linked only with the shared library. */

#include "common/unusual.h"
#include "directory.h"
#include "npz_reader.h"

#include <pthread.h>
#include <signal.h>

OWNS(collet_context, collet_context_destroy)
OWNS(collet_runtime, collet_runtime_destroy)

#define PEPTIDE COLLET_TEST_DATA "/md/peptide/"
#define WATER COLLET_TEST_DATA "/md/water/"
#define FRAMES 51
#define MOST 64 /* quantities */

static collet_trajectory_options options_of(const char *topology, const char *trajectory)
{
    return (collet_trajectory_options){.struct_size = sizeof(collet_trajectory_options),
                                       .topology = topology,
                                       .trajectory = trajectory,
                                       .backend = "cpu_scalar"};
}

static collet_trajectory *open_with(const collet_trajectory_options *options)
{
    collet_trajectory *x;
    collet_error err;

    assert_success(collet_trajectory_create(&x, options, &err), err);
    return x;
}

static const collet_trajectory_batch *collect(collet_trajectory *x)
{
    const collet_trajectory_batch *batch;
    collet_error err;

    assert_success(collet_trajectory_collect(x, &batch, &err), err);
    return batch;
}

static size_t width_of(size_t i)
{
    collet_trajectory_quantity q = {.struct_size = sizeof q};

    assert_int_equal(collet_trajectory_quantity_at(NULL, &q, i, NULL), COLLET_OK);
    return (size_t)q.width;
}

/* Rows of a batch equal the rows of `whole`, bit for bit. */
static void same_rows(const collet_trajectory_batch *part, const collet_trajectory_batch *whole)
{
    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        size_t width = width_of(i);

        assert_int_equal(part->columns[i] == NULL, whole->columns[i] == NULL);
        if (part->columns[i] != NULL)
            assert_memory_equal(part->columns[i],
                                whole->columns[i] + (size_t)part->first_row * width,
                                (size_t)part->n_rows * width * sizeof(double));
    }
}

TEST(the_callers_rounding_changes_nothing)
{
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.xtc");
    OWNED(collet_trajectory) *x = open_with(&options);
    const collet_trajectory_batch *whole = collect(x), *batch;

    unusual_floating();
    OWNED(collet_trajectory) *y = open_with(&options);
    batch = collect(y);
    collet_floating after = collet_floating_now();
    usual_floating();
    assert_false(collet_floating_equal(after, collet_floating_now()));
    same_rows(batch, whole);
}

/* ---- Rows -------------------------------------------------------------------------------- */

TEST(batches_are_parts_of_the_whole)
{
    static const int64_t sizes[] = {1, 2, 7, 50, 51, 1000};
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");
    collet_trajectory *all = open_with(&options);
    const collet_trajectory_batch *whole = collect(all), *batch;
    const size_t n = sizeof sizes / sizeof *sizes;

    assert_int_equal(whole->n_rows, FRAMES);
    assert_int_equal(whole->first_row, 0);
    for (size_t i = 0; i < 2 * n; i++) {
        collet_trajectory *x;
        int64_t rows = 0;

        options.batch_rows = sizes[i % n];
        options.batch_frames = i < n ? sizes[n - 1 - i] : 0;
        x = open_with(&options);
        while (collet_trajectory_next(x, &batch, NULL) == COLLET_OK && batch != NULL) {
            int64_t left = FRAMES - rows;

            assert_int_equal(batch->first_row, rows);
            assert_int_equal(batch->n_rows, left < options.batch_rows ? left : options.batch_rows);
            same_rows(batch, whole);
            rows += batch->n_rows;
        }
        assert_int_equal(rows, FRAMES);
        assert_int_equal(collet_trajectory_next(x, &batch, NULL), COLLET_OK);
        assert_null(batch);
        collet_trajectory_destroy(x);
    }
    assert_int_equal(collet_trajectory_collect(all, &batch, NULL), COLLET_OK);
    assert_null(batch);
    collet_trajectory_destroy(all);
}

static collet_status count_rows(void *user, const collet_trajectory_batch *batch, collet_error *err)
{
    int64_t *rows = user;

    *rows += batch->n_rows;
    return *rows > 30 ? collet_fail(err, COLLET_BUSY, "enough") : COLLET_OK;
}

TEST(a_receiver_may_end_the_work)
{
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");
    OWNED(collet_trajectory) *x = NULL;
    collet_error err;
    int64_t rows = 0;

    options.batch_rows = 8;
    options.stop = 30;
    x = open_with(&options);
    assert_int_equal(collet_trajectory_each(x, count_rows, &rows, &err), COLLET_OK);
    assert_int_equal(rows, 30);
    collet_trajectory_destroy(x);

    options.stop = 0;
    x = open_with(&options);
    rows = 0;
    assert_int_equal(collet_trajectory_each(x, count_rows, &rows, &err), COLLET_BUSY);
    assert_string_equal(err.text, "enough");
    assert_int_equal(rows, 32);
}

/* Waits up to two seconds until the process has n threads: the system lists a joined thread a little
 * longer. */
static void expect_threads(int n)
{
    const struct timespec pause = {0, 1000000};

    for (int i = 0; i < 2000 && io_count_entries("/proc/self/task") != n; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(io_count_entries("/proc/self/task"), n);
}

static collet_status refuse(void *user, const collet_trajectory_batch *batch, collet_error *err)
{
    return COLLET_FAILED;
}

static collet_status count_tasks(void *user, const collet_trajectory_batch *batch, collet_error *err)
{
    int now = io_count_entries("/proc/self/task"), *most = user;

    *most = now > *most ? now : *most;
    return COLLET_OK;
}

TEST(the_programs_limit_holds_for_readers_too)
{
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");
    int threads = io_count_entries("/proc/self/task"), most[2] = {0};
    collet_error err;

    options.batch_rows = 1;
    for (int lifted = 0; lifted < 2; lifted++) {
        assert_int_equal(collet_set_thread_limit(!lifted, NULL), COLLET_OK);
        collet_trajectory *x = open_with(&options);
        assert_int_equal(collet_trajectory_each(x, count_tasks, &most[lifted], &err), COLLET_OK);
        collet_trajectory_destroy(x);
        expect_threads(threads);
    }
    assert_int_equal(most[0], threads + 1); /* the thread that computes */
    assert_true(most[1] > most[0] || sysconf(_SC_NPROCESSORS_ONLN) == 1);
}

/* After an error of the receiver no thread continues to read or compute, and later calls return the same
 * error. */
TEST(an_error_of_the_receiver_stops_the_work)
{
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");
    int threads = io_count_entries("/proc/self/task");
    int64_t rows = 30;
    const collet_trajectory_batch *batch;
    OWNED(collet_trajectory) *x = NULL;
    collet_error err;

    options.batch_rows = 1;
    x = open_with(&options);
    assert_int_equal(collet_trajectory_each(x, count_rows, &rows, &err), COLLET_BUSY);
    expect_threads(threads);
    memset(&err, 0, sizeof err);
    assert_int_equal(collet_trajectory_next(x, &batch, &err), COLLET_BUSY);
    assert_null(batch);
    assert_string_equal(err.text, "enough");
    collet_trajectory_destroy(x);

    x = open_with(&options);
    assert_error(collet_trajectory_each(x, refuse, NULL, &err), COLLET_FAILED, err,
                 "COLLET_FAILED at row 0");
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    signals++;
}

/* Signals are handled only on the program's threads. */
TEST(signals_are_the_programs)
{
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");
    const collet_trajectory_batch *batch;
    OWNED(collet_trajectory) *x = NULL;
    sigset_t set;

    signal(SIGUSR1, count_signal);
    options.batch_rows = options.batch_frames = 1;
    x = open_with(&options);
    assert_int_equal(collet_trajectory_next(x, &batch, NULL), COLLET_OK);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    assert_int_equal(collet_trajectory_collect(x, &batch, NULL), COLLET_OK);
    assert_int_equal(signals, 0);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    assert_int_equal(signals, 1);
}

/* Small batches are delivered early: at most the next two batches have been computed by then. */
TEST(small_batches_come_soon)
{
    static const int64_t sizes[] = {1, 2, 5, 16};
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");
    collet_trajectory_info info = {.struct_size = sizeof info};
    const collet_trajectory_batch *batch;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        OWNED(collet_trajectory) *x = NULL;

        options.batch_rows = sizes[i];
        x = open_with(&options);
        for (int64_t rows = 1; rows <= 3; rows++) {
            assert_int_equal(collet_trajectory_next(x, &batch, NULL), COLLET_OK);
            collet_trajectory_get_info(x, &info);
            assert_true(info.frames <= (rows + 2) * sizes[i]);
        }
    }
}

TEST(a_context_is_used)
{
    collet_trajectory_options options = options_of(WATER "conf.gro", WATER "traj.xtc");
    OWNED(collet_runtime) *runtime = NULL;
    OWNED(collet_context) *context = NULL;
    collet_trajectory *own = open_with(&options), *borrowed;
    collet_trajectory *nothing;
    collet_counters counters = {.struct_size = sizeof counters};
    collet_error err;

    assert_int_equal(collet_runtime_create(&runtime, NULL, NULL), COLLET_OK);
    assert_int_equal(collet_context_create(runtime, &context, NULL), COLLET_OK);
    assert_int_equal(collet_set_backend(context, "cpu_scalar"), COLLET_OK);
    options.context = context;
    assert_error(collet_trajectory_create(&nothing, &options, &err), COLLET_INVALID, err,
                 "backend");
    options.backend = NULL;
    borrowed = open_with(&options);
    same_rows(collect(borrowed), collect(own));
    collet_context_counters(context, &counters);
    assert_true(counters.calls > 0);
    assert_null(strstr(collet_trajectory_meta(borrowed), "\"cpu_openmp\""));
    collet_trajectory_destroy(borrowed);
    collet_trajectory_destroy(own);
    assert_string_equal(collet_get_backend(context), "cpu_scalar");
}

TEST(masses_may_be_numbers)
{
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.xtc");
    collet_trajectory_info info = {.struct_size = sizeof info};
    double masses[280];
    collet_trajectory *x, *nothing;
    collet_error err;

    for (int i = 0; i < 280; i++)
        masses[i] = 1 + i % 3;
    options.mass_values = masses;
    options.n_mass_values = 280;
    options.selection = "index 0:3";
    x = open_with(&options);
    collet_trajectory_get_info(x, &info);
    assert_true(info.mass == 1 + 2 + 3 + 1);
    assert_int_equal(info.masses_guessed, 0);
    assert_int_equal(info.atoms, 4);
    assert_int_equal(info.atoms_total, 280);
    collect(x);
    assert_contains(collet_trajectory_meta(x), "\"given\"");
    collet_trajectory_destroy(x);

    options.n_mass_values = 279;
    assert_error(collet_trajectory_create(&nothing, &options, &err), COLLET_INVALID, err,
                 "279 masses");
    masses[7] = -1;
    options.n_mass_values = 280;
    assert_error(collet_trajectory_create(&nothing, &options, &err), COLLET_INVALID, err, "atom 7");
    assert_null(nothing);
}

/* ---- Information ------------------------------------------------------------------------- */

TEST(quantities_describe_columns)
{
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.xtc");
    OWNED(collet_trajectory) *x = open_with(&options);
    size_t n = collet_trajectory_quantity_count();
    const collet_trajectory_batch *batch = collect(x);
    collet_trajectory_info info = {.struct_size = sizeof info};
    collet_trajectory_quantity q = {.struct_size = sizeof q};
    collet_error err;

    assert_int_equal(n, 54);
    for (size_t i = 0; i < n; i++) {
        int64_t width = 1;

        assert_int_equal(collet_trajectory_quantity_at(x, &q, i, NULL), COLLET_OK);
        for (int32_t k = 0; k < q.ndim; k++)
            width *= q.shape[k];
        assert_int_equal(q.width, width);
        assert_int_equal(q.dtype, COLLET_F64);
        assert_true(q.key[0] != '\0' && q.unit[0] != '\0' && q.meaning[0] != '\0');
        assert_int_equal(q.left_out != NULL, batch->columns[i] == NULL);
        if (strncmp(q.key, "tau_", 4) == 0)
            assert_string_equal(q.left_out, "the trajectory has no forces");
    }
    assert_error(collet_trajectory_quantity_at(x, &q, n, &err), COLLET_NOT_FOUND, err,
                 "is out of range: there are ");
    collet_trajectory_get_info(x, &info);
    assert_string_equal(info.format, "xtc");
    assert_int_equal(info.frames, FRAMES);
    assert_int_equal(info.last_frame, FRAMES - 1);
    assert_int_equal(info.bytes, info.bytes_total);
    assert_int_equal(info.truncated, 0);
    assert_null(collet_trajectory_warning_at(x, 0));
}

/* A program compiled with a shorter structure gets only its fields. */
TEST(structures_may_be_shorter)
{
    collet_trajectory_options options = options_of(WATER "conf.gro", WATER "traj.xtc");
    collet_trajectory_info info = {.struct_size = offsetof(collet_trajectory_info, frames)};
    OWNED(collet_trajectory) *x = NULL;

    options.struct_size = offsetof(collet_trajectory_options, program);
    options.program = "never read";
    x = open_with(&options);
    info.frames = -7;
    collect(x);
    collet_trajectory_get_info(x, &info);
    assert_int_equal(info.frames, -7);
    assert_int_equal(info.atoms, 648);
    struct {
        collet_trajectory_info info;
        uint64_t later;
    } longer = {.info.struct_size = sizeof longer, .later = 7};
    collet_trajectory_get_info(x, &longer.info);
    assert_int_equal(longer.info.atoms, 648);
    assert_int_equal(longer.later, 0);
    assert_contains(collet_trajectory_meta(x), "libcollet-trajectory");
}

/* ---- Invalid options --------------------------------------------------------------------- */

static void check_refused(const collet_trajectory_options *options, collet_status status,
                          const char *text)
{
    collet_trajectory *x;
    collet_error err;

    assert_int_equal(collet_trajectory_create(&x, options, &err), status);
    assert_null(x);
    assert_contains(err.text, text);
}

TEST(bad_options_are_refused)
{
    collet_trajectory_options good = options_of(WATER "conf.gro", WATER "traj.xtc"), bad;

    check_refused(NULL, COLLET_INVALID, "options is NULL");
#define REFUSED(field, value, status, text)                                                        \
    (bad = good, bad.field = value, check_refused(&bad, status, text))
    REFUSED(struct_size, 0, COLLET_INVALID, "struct_size");
    REFUSED(missing, 3, COLLET_INVALID, "missing is 3");
    struct {
        collet_trajectory_options options;
        uint64_t later;
    } newer = {good, 0};
    newer.options.struct_size = sizeof newer;
    collet_trajectory_destroy(open_with(&newer.options));
    newer.later = 1;
    check_refused(&newer.options, COLLET_INVALID, "of a struct is not 0");
    REFUSED(topology, NULL, COLLET_INVALID, "topology");
    REFUSED(trajectory, NULL, COLLET_INVALID, "trajectory");
    REFUSED(start, -1, COLLET_INVALID, "start -1");
    REFUSED(step, -1, COLLET_INVALID, "step -1");
    REFUSED(batch_rows, -1, COLLET_INVALID, "batch_rows");
    REFUSED(axis[0], 1e300, COLLET_INVALID, "direction");
    REFUSED(axis[0], 1e-300, COLLET_INVALID, "direction");
    REFUSED(selection, "name (", COLLET_INVALID, "column 6");
    REFUSED(keys, "com,,rg", COLLET_INVALID, "''");
    REFUSED(keys, "L_*", COLLET_INVALID, "no velocities");
    REFUSED(trajectory, "nowhere.xtc", COLLET_IO, "nowhere.xtc");
#undef REFUSED
    bad = good;
    bad.start = 5;
    bad.stop = 5;
    check_refused(&bad, COLLET_INVALID, "no frame");
    assert_int_equal(collet_trajectory_check_selection("name CA", NULL), COLLET_OK);
    assert_int_equal(collet_trajectory_check_selection("name", NULL), COLLET_INVALID);
}

/* After a failure every later call returns the same error. */
TEST(errors_stay)
{
    collet_trajectory_options options = options_of(WATER "conf.gro", WATER "traj.xtc");
    const collet_trajectory_batch *batch;
    collet_error first, second;
    OWNED(collet_trajectory) *x = NULL;

    options.start = FRAMES;
    x = open_with(&options);
    assert_int_equal(collet_trajectory_next(x, &batch, &first), COLLET_INVALID);
    assert_null(batch);
    assert_int_equal(collet_trajectory_collect(x, &batch, &second), COLLET_INVALID);
    assert_string_equal(first.text, second.text);
    assert_null(collet_trajectory_meta(x));
    collet_trajectory_destroy(x);

    options.start = 0;
    options.backend = "cpu_sclar";
    x = open_with(&options);
    assert_error(collet_trajectory_next(x, &batch, &first), COLLET_UNKNOWN_BACKEND, first,
                 "cpu_scalar");
}

/* ---- Files ------------------------------------------------------------------------------- */

static void compare_file(const char *path, const collet_trajectory_batch *whole)
{
    OWNED(io_bytes) file = io_load(path);

    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        collet_trajectory_quantity q = {.struct_size = sizeof q};
        npy_array array;

        collet_trajectory_quantity_at(NULL, &q, i, NULL);
        if (whole->columns[i] == NULL)
            continue;
        array = npz_find(file.data, file.size, q.key);
        assert_int_equal(array.size, (size_t)whole->n_rows * (size_t)q.width * sizeof(double));
        assert_memory_equal(array.data, whole->columns[i], array.size);
    }
}

TEST(one_call_writes_files)
{
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");
    OWNED(collet_trajectory) *x = open_with(&options);
    FREED(char) *path = strdup(io_path(directory, "one.npz"));
    const collet_trajectory_batch *batch;
    collet_error err;

    assert_non_null(path);
    assert_success(collet_trajectory_extract(path, 0, &options, &err), err);
    compare_file(path, collect(x));
    assert_int_equal(io_count_entries(directory), 2);
    assert_int_equal(collet_trajectory_write(x, path, 0, &err), COLLET_INVALID);
    collet_trajectory_destroy(x);

    assert_error(collet_trajectory_extract(path, 0, &options, &err), COLLET_IO, err,
                 "already exists");
    assert_int_equal(collet_trajectory_extract(path, COLLET_TRAJECTORY_OVERWRITE, &options, &err),
                     COLLET_OK);
    assert_int_equal(collet_trajectory_extract("x.txt", 0, &options, &err), COLLET_INVALID);
    assert_int_equal(collet_trajectory_extract(path, 16, &options, &err), COLLET_INVALID);

    x = open_with(&options);
    assert_int_equal(collet_trajectory_write(x, path, COLLET_TRAJECTORY_OVERWRITE, &err),
                     COLLET_OK);
    assert_int_equal(collet_trajectory_next(x, &batch, &err), COLLET_INVALID);
}

TEST(truncation_is_reported)
{
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", NULL);
    collet_trajectory_info info = {.struct_size = sizeof info};
    OWNED(io_bytes) bytes = io_load(PEPTIDE "traj.trr");
    FREED(char) *cut = strdup(io_path(directory, "cut.trr")),
                *out = strdup(io_path(directory, "cut.npz"));
    collet_trajectory *x;
    collet_error err;

    io_save(cut, bytes.data, 10 * 10200 + 5000);
    free(bytes.data);
    options.trajectory = cut;
    x = open_with(&options);
    assert_int_equal(collect(x)->n_rows, 10);
    collet_trajectory_get_info(x, &info);
    assert_int_equal(info.truncated, 1);
    assert_contains(collet_trajectory_warning_at(x, 0), "inside frame 10");
    collet_trajectory_destroy(x);
    assert_error(collet_trajectory_extract(out, 0, &options, &err), COLLET_FORMAT, err,
                 "they are in ");
    bytes = io_load(out);
}

/* ---- Cancellation ------------------------------------------------------------------------ */

typedef struct watcher {
    int calls;
    int last; /* the call that cancels */
    int64_t frames;
    double fraction;
} watcher;

static int32_t watch(void *user, const collet_progress *progress)
{
    watcher *w = user;

    assert_true(progress->done >= w->frames && progress->fraction >= w->fraction);
    assert_true(progress->fraction <= 1);
    w->frames = progress->done;
    w->fraction = progress->fraction;
    return ++w->calls == w->last;
}

TEST(progress_may_cancel)
{
    collet_trajectory_options options = options_of(PEPTIDE "conf.gro", PEPTIDE "traj.trr");
    int before = io_count_entries(directory);
    watcher w = {.last = -1};
    collet_trajectory *x;
    collet_error err;
    FREED(char) *path = strdup(io_path(directory, "cancelled.npz"));

    assert_non_null(path);
    options.batch_frames = 10;
    options.progress = watch;
    options.progress_user = &w;
    assert_int_equal(collet_trajectory_create(&x, &options, &err), COLLET_OK);
    collet_trajectory_destroy(x);
    assert_true(w.calls >= 2); /* both files */
    w = (watcher){.last = w.calls};
    assert_int_equal(collet_trajectory_create(&x, &options, &err), COLLET_CANCELLED);
    assert_null(x);
    for (int last = 1; last <= 9; last++) {
        w = (watcher){.last = last};
        assert_int_equal(collet_trajectory_extract(path, 0, &options, &err), COLLET_CANCELLED);
        assert_int_equal(w.calls, last);
        assert_int_equal(io_count_entries(directory), before);
    }
    w = (watcher){.last = -1};
    assert_int_equal(collet_trajectory_extract(path, 0, &options, &err), COLLET_OK);
    assert_true(w.calls >= 9);
    assert_int_equal(w.frames, FRAMES);
    assert_true(w.fraction == 1);
}

TEST_GROUP(make_directory, remove_directory)
