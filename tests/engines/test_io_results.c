/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy output: valid for other readers, and published completely or not at all. */
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "directory.h"
#include "npz_reader.h"
#include "io/results.h"

#define ROWS 1000
#define SKIPPED 77

/* ---- Writing ----------------------------------------------------------------------------- */

/* Writes rows. Each row has 3 x 2 numbers, which count from 0 through the file, and a time. */
static collet_status write_all(const char *path, int32_t form, int64_t n_rows, collet_error *err)
{
    static const int64_t shape[2] = {3, 2};
    io_results *results;
    int32_t vectors, times;

    collet_status status = io_results_create(path, form, &results, err);
    if (status != COLLET_OK)
        return status;
    status = io_results_add(results, "vectors", 2, shape, &vectors, err);
    if (status == COLLET_OK)
        status = io_results_add(results, "time_ps", 0, NULL, &times, err);
    for (int64_t i = 0; i < n_rows && status == COLLET_OK; i++) {
        double time = 0.5 * (double)i, values[6];
        for (int k = 0; k < 6; k++)
            values[k] = (double)(6 * i + k);
        status = io_results_append(results, vectors, 1, values, err);
        if (status == COLLET_OK)
            status = io_results_append(results, times, 1, &time, err);
    }
    if (status == COLLET_OK)
        status = io_results_link(results, err);
    if (status == COLLET_OK)
        status = io_results_rename(results, NULL, 1, err);
    io_results_free(results);
    return status;
}

static void check_arrays(const npy_array *vectors, const npy_array *times, int64_t n_rows)
{
    assert_string_equal(vectors->descr, "<f8");
    assert_int_equal(vectors->ndim, 3);
    assert_int_equal(vectors->shape[0], n_rows);
    assert_int_equal(vectors->shape[1], 3);
    assert_int_equal(vectors->shape[2], 2);
    for (int64_t i = 0; i < 6 * n_rows; i++) {
        double value;
        memcpy(&value, vectors->data + 8 * i, 8);
        assert_true(value == (double)i);
    }
    assert_int_equal(times->ndim, 1);
    assert_int_equal(times->shape[0], n_rows);
    for (int64_t i = 0; i < n_rows; i++) {
        double value;
        memcpy(&value, times->data + 8 * i, 8);
        assert_true(value == 0.5 * (double)i);
    }
}

static void check_npz(const char *path, int64_t n_rows)
{
    OWNED(io_bytes) file = io_load(path);
    npy_array vectors = npz_find(file.data, file.size, "vectors");
    npy_array times = npz_find(file.data, file.size, "time_ps");

    assert_int_equal(npz_count(file.data, file.size), 2);
    check_arrays(&vectors, &times, n_rows);
}

TEST(an_archive)
{
    const char *path = io_path(directory, "out.npz");
    collet_error err;

    for (int64_t n_rows = 0; n_rows <= 100 * ROWS; n_rows = 10 * n_rows + 1) {
        assert_success(write_all(path, IO_RESULTS_NPZ, n_rows, &err), err);
        check_npz(path, n_rows);
        assert_int_equal(io_count_entries(directory), 1);
    }
    remove(path);
}

/* Characters beyond ASCII, invalid UTF-8, an empty text. Shorter texts are padded with zeros. */
TEST(texts)
{
    static const char *const labels[3] = {"\xc3\xa4\xff\142", "", "SOL 3"};
    static const uint32_t expected[3][5] = {{0xe4, '?', 'b'}, {0}, {'S', 'O', 'L', ' ', '3'}};
    const char *path = io_path(directory, "out.npz");
    io_results *results;
    collet_error err;

    assert_int_equal(io_results_create(path, IO_RESULTS_NPZ, &results, &err), COLLET_OK);
    assert_int_equal(io_results_add_texts(results, "bodies", 3, labels, &err), COLLET_OK);
    assert_int_equal(io_results_link(results, &err), COLLET_OK);
    assert_int_equal(io_results_rename(results, NULL, 1, &err), COLLET_OK);
    io_results_free(results);
    OWNED(io_bytes) file = io_load(path);
    npy_array array = npz_find(file.data, file.size, "bodies");
    assert_string_equal(array.descr, "<U5");
    assert_int_equal(array.ndim, 1);
    assert_int_equal(array.shape[0], 3);
    assert_memory_equal(array.data, expected, sizeof expected);
    remove(path);
}

TEST(a_directory)
{
    static const char *const names[2] = {"vectors.npy", "time_ps.npy"};
    FREED(char) *path = strdup(io_path(directory, "out"));
    npy_array arrays[2];
    io_bytes files[2];

    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(write_all(path, IO_RESULTS_DIRECTORY, ROWS, NULL), COLLET_OK);
        assert_int_equal(io_count_entries(path), 2);
        for (int i = 0; i < 2; i++) {
            files[i] = io_load(io_path(path, names[i]));
            arrays[i] = npy_parse(files[i].data, files[i].size);
        }
        check_arrays(&arrays[0], &arrays[1], ROWS);
        for (int i = 0; i < 2; i++)
            free(files[i].data);
    }
    for (int i = 0; i < 2; i++)
        remove(io_path(path, names[i]));
    rmdir(path);
}

/* The first Python interpreter that has NumPy, or NULL. */
static const char *find_python(void)
{
    static const char *const names[] = {"python3", "/usr/bin/python3"};
    char command[200];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(command, sizeof command, "%s -c 'import numpy' >/dev/null 2>&1", names[i]);
        if (system(command) == 0)
            return names[i];
    }
    return NULL;
}

TEST(numpy_reads_it)
{
    const char *path = io_path(directory, "out.npz");
    const char *python = find_python();
    char command[1000];

    if (!python)
        skip();
    assert_int_equal(write_all(path, IO_RESULTS_NPZ, ROWS, NULL), COLLET_OK);
    snprintf(command, sizeof command,
             "%s -c \"import numpy as np; d = np.load('%s'); "
             "assert sorted(d) == ['time_ps', 'vectors']; "
             "assert (d['vectors'] == np.arange(6 * %d.0).reshape(-1, 3, 2)).all(); "
             "assert d['time_ps'].shape == (%d,)\"",
             python, path, ROWS, ROWS);
    assert_int_equal(system(command), 0);
    remove(path);
}

TEST(the_same_data_give_the_same_bytes)
{
    const char *path = io_path(directory, "out.npz");
    uint64_t hashes[2];

    for (int i = 0; i < 2; i++) {
        assert_int_equal(write_all(path, IO_RESULTS_NPZ, ROWS, NULL), COLLET_OK);
        OWNED(io_bytes) file = io_load(path);
        hashes[i] = io_hash(IO_HASH, file.data, file.size);
    }
    assert_true(hashes[0] == hashes[1]);
    remove(path);
}

/* ---- Refusals ---------------------------------------------------------------------------- */

TEST(refused_at_the_start)
{
    io_results *results;
    collet_error err;
    const char *file = io_path(directory, "file");

    io_save(file, "x", 1);
    assert_error(io_results_create("/nowhere/at/all/out.npz", IO_RESULTS_NPZ, &results, &err),
                 COLLET_IO, err, "there is no directory /nowhere/at/all/");
    assert_null(results);
    assert_int_equal(io_results_create("/nowhere/at/all", IO_RESULTS_DIRECTORY, &results, &err),
                     COLLET_IO);
    assert_contains(
        err.text,
        "/nowhere/at/all: cannot be written: there is no directory /nowhere/at/; create it");
    assert_error(io_results_create(directory, IO_RESULTS_NPZ, &results, &err), COLLET_IO, err,
                 "is a directory");
    assert_error(io_results_create(file, IO_RESULTS_DIRECTORY, &results, &err), COLLET_IO, err,
                 "this is a file, but the output must be a directory");
    assert_error(io_results_create("/dev/null", IO_RESULTS_NPZ, &results, &err), COLLET_IO, err,
                 "is a device or pipe");
    /* A link into /proc, like /dev/stdout. It may lead to a regular file. */
    const char *link = io_path(directory, "link");
    assert_int_equal(symlink("/proc/self/exe", link), 0);
    assert_error(io_results_create(link, IO_RESULTS_NPZ, &results, &err), COLLET_IO, err,
                 "is a link to an open file");
    remove(link);
    remove(file);
}

/* Another program makes a directory with the name of the second file before the files are renamed. */
TEST(a_set_in_part)
{
    FREED(char) *path = strdup(io_path(directory, "set"));
    io_results *results;
    collet_error err;
    int32_t n;

    assert_int_equal(io_results_create(path, IO_RESULTS_DIRECTORY, &results, NULL), COLLET_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            io_results_add(results, (const char *[]){"a", "b", "c"}[i], 0, NULL, &n, NULL),
            COLLET_OK);
    assert_int_equal(mkdir(io_path(path, "b.npy"), 0777), 0);
    assert_int_equal(io_results_link(results, &err), COLLET_OK);
    assert_error(io_results_rename(results, NULL, 1, &err), COLLET_IO, err,
                 "b.npy: cannot be replaced: Is a directory; replaced: 1 of "
                 "3 files, up to a.npy; ");
    io_results_free(results);
    assert_int_equal(io_count_entries(path), 2);
    remove(io_path(path, "a.npy"));
    remove(io_path(path, "b.npy"));
    remove(path);
}

TEST(without_finish_nothing_remains)
{
    const char *path = io_path(directory, "dir");
    io_results *results;
    int32_t n;

    for (int32_t form = 0; form < 2; form++) {
        assert_int_equal(io_results_create(path, form, &results, NULL), COLLET_OK);
        assert_int_equal(io_results_add(results, "a", 0, NULL, &n, NULL), COLLET_OK);
        for (int i = 0; i < 100000; i++)
            assert_int_equal(io_results_append(results, n, 1, &(double){1.0}, NULL), COLLET_OK);
        io_results_free(results);
        assert_int_equal(io_count_entries(directory), 0);
    }
    io_results_free(NULL);
}

/* ---- Failures, each in a child process that may be limited or killed --------------------- */

static int run_child(int (*body)(void *), void *argument)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(body(argument));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static int killed_in_the_middle(void *path)
{
    io_results *results;
    int32_t n;

    if (io_results_create(path, IO_RESULTS_NPZ, &results, NULL) != COLLET_OK ||
        io_results_add(results, "a", 0, NULL, &n, NULL) != COLLET_OK)
        return 1;
    for (int i = 0; i < 100000; i++)
        io_results_append(results, n, 1, &(double){1.0}, NULL);
    raise(SIGKILL);
    return 1;
}

TEST(a_killed_run_leaves_nothing)
{
    FREED(char) *path = strdup(io_path(directory, "out.npz"));
    int status = run_child(killed_in_the_middle, path);

    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(io_count_entries(directory), 0);
}

typedef struct limited {
    const char *path;
    rlim_t bytes;
    int32_t form;
} limited;

/* Because of a limit on file size, each kind of write fails in turn: rows, archive, headers of the directory. */
static int write_limited(void *argument)
{
    const limited *l = argument;
    collet_error err;

    setrlimit(RLIMIT_FSIZE, &(struct rlimit){l->bytes, l->bytes});
    collet_status status = write_all(l->path, l->form, 100 * ROWS, &err);
    return status == COLLET_IO && strstr(err.text, "writing failed after") &&
                   strstr(err.text, "File too large")
               ? 0
               : 1;
}

TEST(a_failed_write_leaves_what_was_there)
{
    FREED(char) *path = strdup(io_path(directory, "out.npz"));
    /* The rows of `vectors` are 4.8 MB, the archive is 5.6 MB. */
    static const rlim_t limits[] = {1, 100, 65536, 1000000, 4800000, 4800200, 5000000, 5599999};

    assert_int_equal(write_all(path, IO_RESULTS_NPZ, 10, NULL), COLLET_OK);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        limited l = {path, limits[i], IO_RESULTS_NPZ};
        assert_int_equal(run_child(write_limited, &l), 0);
        check_npz(path, 10);
        assert_int_equal(io_count_entries(directory), 1);
    }
    remove(path);
    /* The fifth limit is reached in `finish`, which flushes the last buffer. */
    for (size_t i = 0; i < 5; i++) {
        limited l = {path, limits[i], IO_RESULTS_DIRECTORY};
        assert_int_equal(run_child(write_limited, &l), 0);
        assert_int_equal(io_count_entries(directory), 0);
    }
}

/* A file system of 1 MiB in a mount namespace of the child. */
static int write_on_a_full_disk(void *argument)
{
    const char *mount_point = argument;
    collet_error err;

    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return SKIPPED;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", mount_point, "tmpfs", 0, "size=1m") != 0)
        return SKIPPED;
    for (int32_t form = 0; form < 2; form++) {
        collet_status status = write_all(io_path(mount_point, "out"), form, 100 * ROWS, &err);
        if (status != COLLET_IO || !strstr(err.text, "the disk is full") ||
            io_count_entries(mount_point) != 0)
            return 1;
        /* The rows fit on the disk, but not the rows and the archive together. */
        status = write_all(io_path(mount_point, "out"), form, 10 * ROWS, &err);
        if (form == IO_RESULTS_NPZ &&
            (status != COLLET_IO || !strstr(err.text, "the disk is full") ||
             io_count_entries(mount_point) != 0))
            return 2;
        if (form == IO_RESULTS_DIRECTORY && status != COLLET_OK)
            return 3;
    }
    return 0;
}

TEST(a_full_disk)
{
    int status = run_child(write_on_a_full_disk, directory);

    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int write_without_permission(void *path)
{
    io_results *results;
    collet_error err;

    if (geteuid() == 0 && seteuid(65534) != 0)
        return SKIPPED;
    if (io_results_create(path, IO_RESULTS_NPZ, &results, &err) != COLLET_IO ||
        !strstr(err.text, "no permission to write in"))
        return 1;
    return io_results_create(directory, IO_RESULTS_DIRECTORY, &results, &err) == COLLET_IO &&
                   strncmp(err.text, directory, strlen(directory)) == 0 &&
                   strstr(err.text, ": no permission to write: Permission denied")
               ? 0
               : 2;
}

TEST(a_directory_without_permission)
{
    FREED(char) *path = strdup(io_path(directory, "out.npz"));

    assert_int_equal(chmod(directory, 0555), 0);
    int status = run_child(write_without_permission, path);
    assert_int_equal(chmod(directory, 0755), 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        skip();
    assert_int_equal(status, 0);
}

TEST(text_files)
{
    const char *path = io_path(directory, "out.meta.json");
    collet_error err;

    assert_int_equal(io_make_spool(path, "{}\n", 3, NULL), COLLET_OK);
    assert_int_equal(io_make_spool(path, "{\"a\": 1}\n", 9, NULL), COLLET_OK);
    io_bytes file = io_load(path);
    assert_int_equal(file.size, 9);
    assert_memory_equal(file.data, "{\"a\": 1}\n", 9);
    free(file.data);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
    /* A private file stays private, and a file that only its owner reads can still be replaced. */
    static const mode_t modes[][2] = {{0600, 0600}, {0400, 0600}, {0777, 0777}, {0640, 0640}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(path, modes[i][0]), 0);
        assert_int_equal(io_make_spool(path, "{}", 2, NULL), COLLET_OK);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, modes[i][1]);
    }
    assert_int_equal(io_count_entries(directory), 1);
    remove(path);
    path = io_path(directory, "nowhere/a.json");
    assert_error(io_make_spool(path, "", 0, &err), COLLET_IO, err, path);
}

TEST_GROUP(make_directory, remove_directory)
