/* SPDX-License-Identifier: Apache-2.0 */
/* Any file is read as a topology and as a trajectory, or refused with a message. FUZZ_FORMAT is the
 * format whose parser the inputs must reach. */
#include "fuzz_file.h"

#include "trajectory/reading/reader.h"
#include "trajectory/reading/topology.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ATOMS 1000 /* if a header claims more atoms, only two are read, to bound memory */

/* The first bytes of the formats that are recognised by their first bytes. If a format has several
 * beginnings, the fourth byte of the input chooses one. */
static const struct {
    const char *format, *start;
} starts[] = {{"dump", "ITEM"},        {"nc", "CDF\1"},        {"nc", "CDF\2"},
              {"nc", "CDF\5"},         {"psf", "PSF\n"},       {"trr", "\0\0\x07\xc9"},
              {"xtc", "\0\0\x07\xcb"}, {"xtc", "\0\0\x07\xe7"}};

static void require(int condition)
{
    if (!condition)
        abort();
}

static void read_all(trajectory_reader *trajectory, int everything)
{
    const trajectory_reader_info *info = trajectory_reader_get_info(trajectory);
    trajectory_frames *frames;
    collet_error err;
    collet_status status;
    int64_t last = -1;

    status = trajectory_frames_create(trajectory_reader_selected(trajectory), 3, info->dtype,
                                      everything && info->has_velocities,
                                      everything && info->has_forces, &frames, &err);
    if (status != COLLET_OK)
        return;
    do {
        err.text[0] = '\0';
        status = trajectory_reader_read(trajectory, frames, &err);
        require(frames->n_frames >= 0 && frames->n_frames <= frames->capacity);
        require(frames->end_offset <= info->file_size);
        require(status == COLLET_OK ? !frames->truncated : err.text[0] != '\0');
        for (int64_t i = 0; i < frames->n_frames; i++) {
            require(frames->indices[i] > last);
            last = frames->indices[i];
        }
    } while (status == COLLET_OK && frames->n_frames > 0);
    if (status != COLLET_OK) {
        require(trajectory_reader_read(trajectory, frames, NULL) == status);
        require(frames->n_frames == 0);
    }
    trajectory_frames_free(frames);
}

/* Reads all atoms and fields, or with `subset` two atoms of every second frame. Returns whether the
 * file is a trajectory. */
static int read_subset(int subset)
{
    trajectory_reader *trajectory;
    collet_error err;

    err.text[0] = '\0';
    if (trajectory_reader_open(FUZZ_PATH, NULL, &trajectory, &err) != COLLET_OK) {
        require(!trajectory && err.text[0] != '\0');
        return 0;
    }
    int64_t n_atoms = trajectory_reader_get_info(trajectory)->n_atoms;
    const int64_t ends[2] = {0, n_atoms - 1};
    require(n_atoms > 0);
    if (subset || n_atoms > MAX_ATOMS) {
        require(trajectory_reader_select(trajectory, ends + (n_atoms == 1), n_atoms == 1 ? 1 : 2,
                                         NULL) == COLLET_OK);
        require(trajectory_reader_slice(trajectory, 1, -1, 2, NULL) == COLLET_OK);
    }
    read_all(trajectory, !subset);
    trajectory_reader_close(trajectory);
    return 1;
}

static void read_topology(void)
{
    trajectory_topology *topology;
    collet_error err;

    err.text[0] = '\0';
    if (trajectory_topology_read(FUZZ_PATH, NULL, &topology, &err) == COLLET_OK)
        require(topology->n_atoms > 0 && topology->title != NULL && topology->format != NULL);
    else
        require(!topology && err.text[0] != '\0');
    trajectory_topology_free(topology);
}

static const char *start_of(const uint8_t *data, size_t size)
{
    const char *found = NULL;

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strcmp(starts[i].format, FUZZ_FORMAT) == 0 &&
            (!found || (size >= 4 && (uint8_t)starts[i].start[3] == data[3])))
            found = starts[i].start;
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file_begin(data, size, start_of(data, size));
    read_topology();
    if (read_subset(0))
        require(read_subset(1));
    fuzz_file_end();
    return 0;
}
