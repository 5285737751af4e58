/* SPDX-License-Identifier: Apache-2.0 */
/* The format h5md in a build without HDF5.
 * Tests: tests/engines/test_no_hdf5.c */
#include "io/hdf5/absent.h"
#include "trajectory/formats/formats.h"

#include <string.h>

static int recognise(const uint8_t *bytes, size_t n)
{
    return n >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0;
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    (void)head;
    return collet_fail(err, COLLET_UNSUPPORTED, "%s: " IO_HDF5_ABSENT, trajectory->source.path);
}

const trajectory_format trajectory_h5md_format = {
    .name = "h5md",
    .kind = "an HDF5 file",
    .title = "H5MD in HDF5: not in this build (COLLET_HDF5=OFF)",
    .recognise = recognise,
    .head = read_head,
};
