/* SPDX-License-Identifier: Apache-2.0 */
#include "signature.h"

#include <string.h>

typedef struct signature {
    size_t offset;
    size_t length;
    const char *bytes;
    const char *text;
} signature;

/* The first match counts. */
static const signature signatures[] = {
    {0, 4, "\x00\x00\x07\xc9", "it looks like a .trr trajectory"},
    {0, 4, "\x00\x00\x07\xcb", "it looks like an .xtc trajectory"},
    {0, 4, "\x00\x00\x07\xe7", "it looks like an .xtc trajectory"},
    {4, 4, "CORD", "it looks like a CHARMM or NAMD .dcd file: convert it to .trr or .xtc"},
    {0, 3, "CDF", "it looks like a NetCDF (AMBER) file: convert it to .trr or .xtc"},
    {0, 4, "\x89HDF", "it looks like an HDF5 file: convert it to .trr or .xtc"},
    {0, 4, "\xff\xff\x24\xfd", "it looks like an .edr energy file, which holds no coordinates"},
    {0, 4, "\x00\x02\x9f\x29", "it looks like a .cpt checkpoint: 'gmx trjconv' makes a .trr of it"},
    {8, 7, "VERSION", "it looks like a .tpr run input: 'gmx editconf' makes a .gro of it"},
    {0, 2, "\x1f\x8b", "it looks gzip-compressed: unpack it first"},
    {0, 3, "BZh", "it looks bzip2-compressed: unpack it first"},
    {0, 5,
     "\xfd"
     "7zXZ",
     "it looks xz-compressed: unpack it first"},
    {0, 4, "\x28\xb5\x2f\xfd", "it looks zstd-compressed: unpack it first"},
    {0, 4, "PK\x03\x04", "it looks like a zip archive: unpack it first"},
    {0, 6, "HEADER", "it looks like a .pdb file: 'gmx editconf' makes a .gro of it"},
    {0, 6, "CRYST1", "it looks like a .pdb file: 'gmx editconf' makes a .gro of it"},
    {0, 6, "REMARK", "it looks like a .pdb file: 'gmx editconf' makes a .gro of it"},
    {0, 6, "ATOM  ", "it looks like a .pdb file: 'gmx editconf' makes a .gro of it"},
    {0, 6, "MODEL ", "it looks like a .pdb file: 'gmx editconf' makes a .gro of it"},
};

const char *collet_signature_describe(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const signature *s = &signatures[i];
        if (n >= s->offset + s->length && memcmp(bytes + s->offset, s->bytes, s->length) == 0)
            return s->text;
    }
    return NULL;
}
