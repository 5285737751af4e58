/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c, tests/engines/test_io_trajectory.c */
#include "signature.h"

#include <string.h>

#define CONVERT ": convert it"
#define UNPACK ": unpack it first"

/* The first match is used. */
static const struct {
    size_t offset;
    size_t length;
    const char *bytes;
    const char *text;
} signatures[] = {
    {0, 4, "\x89HDF", "an HDF5 file" CONVERT},
    {0, 4, "\xff\xff\x24\xfd", "an .edr energy file, which has no coordinates"},
    {0, 4, "\x00\x02\x9f\x29", "a .cpt checkpoint: 'gmx trjconv' makes a .trr of it"},
    {8, 7, "VERSION", "a .tpr run input: 'gmx editconf' makes a .gro of it"},
    {0, 2, "\x1f\x8b", "a gzip-compressed file" UNPACK},
    {0, 3, "BZh", "a bzip2-compressed file" UNPACK},
    {0, 5, "\xfd\x37zXZ", "an xz-compressed file" UNPACK},
    {0, 4, "\x28\xb5\x2f\xfd", "a zstd-compressed file" UNPACK},
    {0, 4, "PK\x03\x04", "a zip archive" UNPACK},
};

const char *io_signature_describe(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        size_t offset = signatures[i].offset, length = signatures[i].length;

        if (n >= offset + length && memcmp(bytes + offset, signatures[i].bytes, length) == 0)
            return signatures[i].text;
    }
    return NULL;
}
