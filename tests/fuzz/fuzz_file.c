/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_file.h"

#include "trajectory/formats/trajectory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_ATOMS 100000 /* above, only two atoms are read */

int fuzz_make_file(const uint8_t *data, size_t size, const char *magic, char path[FUZZ_PATH])
{
    int fd = memfd_create("input", MFD_CLOEXEC);

    if (fd < 0)
        return -1;
    if (write(fd, data, size) != (ssize_t)size ||
        (magic && size >= 4 && pwrite(fd, magic, 4, 0) != 4)) {
        close(fd);
        return -1;
    }
    snprintf(path, FUZZ_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

static void require(int condition)
{
    if (!condition)
        abort();
}

static void read_all(collet_trajectory *trajectory, int everything)
{
    const collet_trajectory_info *info = collet_trajectory_get_info(trajectory);
    collet_frames *frames;
    collet_error err;
    collet_status status;
    int64_t last = -1;

    status = collet_frames_create(collet_trajectory_selected(trajectory), 3, info->dtype,
                                  everything && info->has_velocities,
                                  everything && info->has_forces, &frames, &err);
    if (status != COLLET_OK)
        return;
    do {
        err.text[0] = '\0';
        status = collet_trajectory_read(trajectory, frames, &err);
        require(frames->n_frames >= 0 && frames->n_frames <= frames->capacity);
        require(frames->end_offset <= info->file_size);
        require(status == COLLET_OK ? !frames->truncated : err.text[0] != '\0');
        for (int64_t i = 0; i < frames->n_frames; i++) {
            require(frames->indices[i] > last);
            last = frames->indices[i];
        }
    } while (status == COLLET_OK && frames->n_frames > 0);
    if (status != COLLET_OK) {
        require(collet_trajectory_read(trajectory, frames, NULL) == status);
        require(frames->n_frames == 0);
    }
    collet_frames_free(frames);
}

/* Reads all atoms and fields, or with `subset` two atoms of every second frame. */
static void read_subset(const char *path, int subset)
{
    collet_trajectory *trajectory;
    collet_error err;

    err.text[0] = '\0';
    if (collet_trajectory_open(path, NULL, &trajectory, &err) != COLLET_OK) {
        require(!trajectory && err.text[0] != '\0');
        return;
    }
    int64_t n_atoms = collet_trajectory_get_info(trajectory)->n_atoms;
    const int64_t ends[2] = {0, n_atoms - 1};
    require(n_atoms > 0);
    if (subset || n_atoms > MAX_ATOMS) {
        require(collet_trajectory_select(trajectory, ends + (n_atoms == 1), n_atoms == 1 ? 1 : 2,
                                         NULL) == COLLET_OK);
        require(collet_trajectory_slice(trajectory, 1, -1, 2, NULL) == COLLET_OK);
    }
    read_all(trajectory, !subset);
    collet_trajectory_close(trajectory);
}

void fuzz_read_trajectory(const char *path)
{
    read_subset(path, 0);
    read_subset(path, 1);
}
