/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory.c */
#include "files.h"

#include "trajectory/reading/memory.h"
#include "trajectory/reading/parts.h"

#include <stdlib.h>

collet_status trajectory_files_open(const trajectory_settings *settings, const io_poll *poll,
                                    trajectory_reader **out, collet_error *err)
{
    int64_t n = 1 + trajectory_settings_continuations(settings);
    const char **paths;

    if (settings->source != NULL)
        return trajectory_memory_open(settings->source, out, err);
    *out = NULL;
    paths = calloc((size_t)n, sizeof *paths);
    if (paths == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to open it", settings->trajectory);
    paths[0] = settings->trajectory;
    for (int64_t i = 1; i < n; i++)
        paths[i] = settings->continuations[i - 1];
    collet_status status = trajectory_parts_open(paths, n, poll, out, err);
    free(paths);
    return status;
}

collet_status trajectory_files_open_at(const trajectory_settings *settings, const int64_t *atoms,
                                       int64_t n_atoms, int64_t from, trajectory_reader **out,
                                       collet_error *err)
{
    collet_status status = trajectory_files_open(settings, NULL, out, err);

    if (status == COLLET_OK)
        status = trajectory_reader_select(*out, atoms, n_atoms, err);
    if (status == COLLET_OK)
        status = trajectory_reader_slice(*out, from, settings->stop, settings->step, err);
    if (status == COLLET_OK)
        trajectory_reader_set_missing(*out, settings->missing);
    return status;
}

collet_status trajectory_files_first(const trajectory_settings *settings, const int64_t *atoms,
                                     int64_t n_atoms, trajectory_frames **frame, collet_error *err)
{
    trajectory_reader *reader = NULL;
    collet_status status =
        trajectory_files_open_at(settings, atoms, n_atoms, settings->start, &reader, err);

    *frame = NULL;
    if (status == COLLET_OK)
        status = trajectory_frames_create(n_atoms, 1, trajectory_reader_get_info(reader)->dtype, 0,
                                          0, frame, err);
    if (status == COLLET_OK)
        status = trajectory_reader_read(reader, *frame, err);
    trajectory_reader_close(reader);
    if (status == COLLET_OK && (*frame)->n_frames == 1)
        return COLLET_OK;
    trajectory_frames_free(*frame);
    *frame = NULL;
    return settings->source || status == COLLET_NO_MEMORY ? status : COLLET_OK;
}

collet_status trajectory_files_unpack(const trajectory_settings *settings, const io_poll *poll,
                                      trajectory_unpacked *unpacked, collet_error *err)
{
    int64_t n = 1 + trajectory_settings_continuations(settings);
    collet_status status = COLLET_OK;

    *unpacked = (trajectory_unpacked){0};
    if (settings->source)
        return COLLET_OK;
    unpacked->files = calloc((size_t)n, sizeof(io_packed *));
    if (!unpacked->files)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to open it", settings->trajectory);
    for (int64_t i = 0; i < n && status == COLLET_OK; i++) {
        const char *path = i == 0 ? settings->trajectory : settings->continuations[i - 1];
        status = io_packed_open_path(path, poll, &unpacked->files[i], err);
        unpacked->n = i + 1;
    }
    if (status != COLLET_OK)
        trajectory_files_release(unpacked);
    return status;
}

void trajectory_files_release(trajectory_unpacked *unpacked)
{
    for (int64_t i = 0; i < unpacked->n; i++)
        io_packed_release(unpacked->files[i]);
    free(unpacked->files);
    *unpacked = (trajectory_unpacked){0};
}
