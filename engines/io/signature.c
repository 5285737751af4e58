/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c, tests/engines/test_io_trajectory.c */
#include "signature.h"

#include <string.h>

#define CONVERT ": convert it"
#define UNPACK ": unpack it first"

/* The first match counts. */
static const struct {
    size_t offset;
    size_t length;
    size_t choices; /* alternatives of `length` bytes each in `bytes` */
    const char *bytes;
    const char *text;
} signatures[] = {
    {4, 4, 1, "CORD", "a CHARMM or NAMD .dcd file" CONVERT},
    {0, 3, 1, "CDF", "a NetCDF (AMBER) file" CONVERT},
    {0, 4, 1, "\x89HDF", "an HDF5 file" CONVERT},
    {0, 4, 1, "\xff\xff\x24\xfd", "an .edr energy file, which holds no coordinates"},
    {0, 4, 1, "\x00\x02\x9f\x29", "a .cpt checkpoint: 'gmx trjconv' makes a .trr of it"},
    {8, 7, 1, "VERSION", "a .tpr run input: 'gmx editconf' makes a .gro of it"},
    {0, 2, 1, "\x1f\x8b", "a gzip-compressed file" UNPACK},
    {0, 3, 1, "BZh", "a bzip2-compressed file" UNPACK},
    {0, 5, 1, "\xfd\x37zXZ", "an xz-compressed file" UNPACK},
    {0, 4, 1, "\x28\xb5\x2f\xfd", "a zstd-compressed file" UNPACK},
    {0, 4, 1, "PK\x03\x04", "a zip archive" UNPACK},
    {0, 6, 5, "HEADERCRYST1REMARKATOM  MODEL ", "a .pdb file: 'gmx editconf' makes a .gro of it"},
};

const char *io_signature_describe(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        size_t offset = signatures[i].offset, length = signatures[i].length;

        for (size_t k = 0; n >= offset + length && k < signatures[i].choices; k++)
            if (memcmp(bytes + offset, signatures[i].bytes + k * length, length) == 0)
                return signatures[i].text;
    }
    return NULL;
}
