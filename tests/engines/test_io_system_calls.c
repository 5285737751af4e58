/* SPDX-License-Identifier: Apache-2.0 */
/* Each read, mmap and write in turn fails, is interrupted or transfers too few bytes. Each time there is
 * an error that names the file, or the same result as without a fault. No descriptor stays open. */
#include <errno.h>

#include "common/failing_calls.h"
#include "directory.h"
#include "io/npy_read.h"
#include "io/source.h"
#include "io/spool.h"
#include "ternary/formats/gguf.h"
#include "ternary/formats/t2_file.h"
#include "trajectory/atoms/groups.h"
#include "trajectory/atoms/masses.h"

#define CORPUS COLLET_TEST_CORPUS "/"

/* The number of views that succeed before a view fails; negative: no view fails. */
static long views = -1;

collet_status __real_io_source_view(io_source *source, int64_t offset, size_t length,
                                    const uint8_t **bytes, collet_error *err);
collet_status __wrap_io_source_view(io_source *source, int64_t offset, size_t length,
                                    const uint8_t **bytes, collet_error *err);

/* Fails as if a view had to read a new window. Without this function no view could fail, because the small files here
 * fit in one window. */
collet_status __wrap_io_source_view(io_source *source, int64_t offset, size_t length,
                                    const uint8_t **bytes, collet_error *err)
{
    if (views >= 0 && views-- == 0)
        return collet_fail(err, COLLET_IO, "%s: reading at byte %lld failed", source->path,
                           (long long)offset);
    return __real_io_source_view(source, offset, length, bytes, err);
}

/* ---- What is done ---------------------------------------------------------------------------- */

static collet_status read_topology(const char *path, collet_error *err)
{
    trajectory_topology *topology;
    collet_status status = trajectory_topology_read(path, NULL, &topology, err);
    trajectory_topology_free(topology);
    return status;
}

static collet_status read_masses(const char *path, collet_error *err)
{
    static const trajectory_topology topology = {.n_atoms = 4};
    double masses[4];
    return trajectory_masses_read(path, &topology, masses, err);
}

static collet_status read_groups(const char *path, collet_error *err)
{
    trajectory_groups *groups;
    collet_status status = trajectory_groups_read(path, 4, &groups, err);
    trajectory_groups_free(groups);
    return status;
}

static collet_status read_frames(const char *path, int64_t selected, int fields, collet_error *err)
{
    static const int64_t indices[] = {0, 1};
    trajectory_reader *trajectory;
    trajectory_frames *frames = NULL;
    collet_status status = trajectory_reader_open(path, NULL, &trajectory, err);
    if (status == COLLET_OK)
        status = trajectory_reader_select(trajectory, selected ? indices : NULL, selected, err);
    if (status == COLLET_OK)
        status = trajectory_frames_create(trajectory_reader_selected(trajectory), 9,
                                          trajectory_reader_get_info(trajectory)->dtype, fields,
                                          fields, &frames, err);
    if (status == COLLET_OK)
        status = trajectory_reader_read(trajectory, frames, err);
    trajectory_frames_free(frames);
    trajectory_reader_close(trajectory);
    return status;
}

static collet_status read_two_atoms(const char *path, collet_error *err)
{
    return read_frames(path, 2, 0, err);
}

/* More than one window. */
static collet_status read_all(const char *path, collet_error *err)
{
    return read_frames(path, 0, 1, err);
}

static collet_status read_gguf(const char *path, collet_error *err)
{
    ternary_gguf gguf;
    collet_status status = ternary_gguf_open(path, &gguf, err);
    ternary_gguf_close(&gguf);
    return status;
}

static collet_status read_t2(const char *path, collet_error *err)
{
    ternary_t2_file file;
    collet_status status = ternary_t2_open(path, &file, err);
    ternary_t2_close(&file);
    return status;
}

static collet_status write_and_read(const char *name, collet_error *err)
{
    static uint8_t bytes[70000], back[2];
    const char *path = io_path(directory, name);
    io_spool *spool;
    collet_status status = io_spool_create(path, IO_SPOOL_OUTPUT, &spool, err);
    if (status == COLLET_OK)
        status = io_spool_write(spool, "ab", 2, err);
    if (status == COLLET_OK)
        status = io_spool_write(spool, bytes, sizeof bytes, err);
    if (status == COLLET_OK)
        status = io_spool_read(spool, 0, back, 2, err);
    if (status == COLLET_OK)
        assert_memory_equal(back, "ab", 2);
    if (status == COLLET_OK)
        status = io_spool_link(spool, err);
    if (status == COLLET_OK)
        status = io_spool_rename(spool, 1, err);
    io_spool_free(spool);
    assert_int_equal(remove(path) == 0, status == COLLET_OK);
    assert_int_equal(io_count_entries(directory), 0);
    return status;
}

static const struct {
    collet_status (*run)(const char *argument, collet_error *err);
    const char *argument;
} tasks[] = {
    {read_topology, CORPUS "gro/water"},
    {read_topology, CORPUS "pdb/models"},
    {read_topology, CORPUS "prmtop/whole"},
    {read_topology, CORPUS "tpr/chain"},
    {read_topology, CORPUS "xyz/frames"},
    {read_topology, CORPUS "cif/models"},
    {read_topology, CORPUS "psf/bonds"},
    {read_topology, CORPUS "pdb/connect_wide"},
    {read_topology, CORPUS "top/water"},
    {read_groups, CORPUS "ndx/groups"},
    {read_masses, CORPUS "masses/four"},
    {read_two_atoms, CORPUS "dcd/usual"},
    {read_two_atoms, CORPUS "dcd/fixed"},
    {read_two_atoms, CORPUS "nc/sizes"},
    {read_two_atoms, CORPUS "nc/restart"},
    {read_two_atoms, CORPUS "dump/all"},
    {read_two_atoms, CORPUS "rst7/restart"},
    {read_two_atoms, CORPUS "gro/two_frames"},
    {read_two_atoms, CORPUS "pdb/models"},
    {read_two_atoms, CORPUS "trr/positions"},
    {read_two_atoms, CORPUS "trr/double"},
    {read_two_atoms, CORPUS "xtc/water"},
    {read_two_atoms, CORPUS "xtc/ten"},
    {read_gguf, CORPUS "gguf/good"},
    {read_all, COLLET_TEST_DATA "/md/water/traj.trr"},
    {read_all, COLLET_TEST_DATA "/md/peptide/traj_double.trr"},
    {read_t2, CORPUS "t2/two_layers"},
    {write_and_read, "out"},
};

/* ---- What fails ------------------------------------------------------------------------------ */

static const struct {
    const char *call;
    int error;
    const char *text; /* NULL: nothing fails */
} failures[] = {
    {"view", 0, "failed"},
    {"fstat64", EIO, "Input/output error"},
    {"pread64", EIO, "failed: Input/output error"},
    {"pread64", EINTR, NULL},
    {"pread64", CALL_SHORT, NULL},
    {"mmap64", ENODEV, "cannot be mapped: No such device"},
    {"mmap64", ENOMEM, "no memory to read it"},
    {"pwrite64", ENOSPC, "the disk is full (No space left on device)"},
    {"pwrite64", EIO, "writing failed after"},
    {"pwrite64", EINTR, NULL},
    {"pwrite64", CALL_SHORT, NULL},
};

/* Returns how many calls have failed. */
static long fail_each(size_t task, size_t failure)
{
    const char *call = failures[failure].call, *text = failures[failure].text;
    int of_view = strcmp(call, "view") == 0;
    for (long n = 0;; n++) {
        collet_error err = {COLLET_OK, ""};
        int before = io_count_entries("/proc/self/fd");
        views = of_view ? n : -1;
        call_fails(of_view ? NULL : call, n, failures[failure].error);
        collet_status status = tasks[task].run(tasks[task].argument, &err);
        int failed = of_view ? views < 0 : call_failed();
        views = -1;
        call_fails(NULL, 0, 0);
        assert_int_equal(io_count_entries("/proc/self/fd"), before);
        if (failed && text ? status == COLLET_OK || !strstr(err.text, text) : status != COLLET_OK)
            fail_msg("%s, %s %ld: status %d (%s)", tasks[task].argument, call, n, status, err.text);
        if (!failed)
            return n;
    }
}

TEST(every_call_may_fail)
{
    long all = 0;

    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        long failed = 0;
        for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++)
            failed += fail_each(k, i);
        if (!failed)
            fail_msg("%s has not failed", failures[i].call);
        all += failed;
    }
    print_message("%ld calls failed\n", all);
}

TEST_GROUP(make_directory, remove_directory)
