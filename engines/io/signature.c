/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c, tests/engines/test_io_trajectory.c */
#include "signature.h"

#include "letters.h"

#include <string.h>

#define CONVERT ": convert it"
#define UNPACK ": unpack it first"

/* The first match is used; '?' is any byte. */
static const struct {
    size_t offset;
    size_t length;
    const char *bytes;
    const char *text;
} signatures[] = {
    {0, 4, "\xff\xff\x24\xfd", "an .edr energy file, which has no coordinates"},
    {0, 4, "\x00\x02\x9f\x29", "a .cpt checkpoint: 'gmx trjconv' makes a .trr of it"},
    {40, 12, "GENERAL INFO", "a .tng trajectory: 'gmx trjconv -f FILE -o traj.trr' converts it"},
    {0, 8, "\xdf\x65\xdf\x65\xdf\x65\xdf\x65",
     "a .gsd file of HOOMD: 'mdconvert' or MDAnalysis writes a .dcd of it"},
    {0, 15, "SQLite format 3", "a database, perhaps a .dms file" CONVERT},
    {0, 2, "\x1f\x8b", "a gzip-compressed file" UNPACK},
    {0, 3, "BZh", "a bzip2-compressed file" UNPACK},
    {0, 5, "\xfd\x37zXZ", "an xz-compressed file" UNPACK},
    {0, 4, "\x28\xb5\x2f\xfd", "a zstd-compressed file" UNPACK},
    {0, 4, "PK\x03\x04", "a zip archive" UNPACK},
};

#define OPENBABEL ": 'obabel FILE -O FILE.pdb' makes a .pdb of it"
#define LAMMPS_DATA                                                                                \
    "a LAMMPS data file: MDAnalysis (or TopoTools of VMD) writes a .pdb, .gro or .psf of it, and " \
    "--masses gives the masses"
#define CPPTRAJ ": 'cpptraj -p TOP -y FILE -x FILE.nc' makes a NetCDF trajectory of it"

#define OLD_AMBER                                                                                  \
    "a .prmtop file without flags: 'parmed FILE' with 'outparm NEW' writes one with them"

/* Text files of formats that have no signature are recognised by the end of the file's name. */
static const struct {
    const char *suffix;
    const char *text;
    int misleads; /* 1: the content looks like a file of another format */
} names[] = {
    {".pqr", "a .pqr file, whose columns differ from a .pdb file's" OPENBABEL, 1},
    {".mol2", "a .mol2 file" OPENBABEL, 0},
    {".crd", "a .crd file of CHARMM, or of AMBER" CPPTRAJ, 1},
    {".mdcrd", "a text trajectory of AMBER" CPPTRAJ, 0},
    {".coor", "a restart file of NAMD: 'catdcd -o FILE.dcd -namdbin FILE' makes a .dcd of it", 0},
    {".prmtop", OLD_AMBER, 0},
    {".parm7", OLD_AMBER, 0},
    {".ndx", "a file of groups, which --ndx reads", 0},
};

int io_signature_suffix(const char *path, const char *suffix)
{
    static const char *const packed[] = {".gz", ".bz2", ".xz"};
    size_t length = strlen(path), n = strlen(suffix);

    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        size_t end = strlen(packed[i]);
        if (length > end && io_same_letters(path + length - end, packed[i], end)) {
            length -= end;
            break;
        }
    }
    return length >= n && io_same_letters(path + length - n, suffix, n);
}

static size_t find_name(const char *path)
{
    size_t i = 0;

    while (i < sizeof names / sizeof *names && !io_signature_suffix(path, names[i].suffix))
        i++;
    return i;
}

static int matches(size_t i, const uint8_t *bytes, size_t n)
{
    size_t offset = signatures[i].offset, length = signatures[i].length;

    if (n < offset + length)
        return 0;
    for (size_t k = 0; k < length; k++)
        if (signatures[i].bytes[k] != '?' && (uint8_t)signatures[i].bytes[k] != bytes[offset + k])
            return 0;
    return 1;
}

/* The first line of a LAMMPS data file may be any text, so the line "N atom types" is needed. */
static int is_lammps_data(const uint8_t *bytes, size_t n)
{
    static const char types[] = " atom types";
    const uint8_t *at = memmem(bytes, n, types, sizeof types - 1);

    return at && at > bytes && at[-1] >= '0' && at[-1] <= '9' && !memchr(bytes, 0, n);
}

const char *io_signature_describe(const char *path, const uint8_t *bytes, size_t n)
{
    size_t name = find_name(path);

    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (matches(i, bytes, n))
            return signatures[i].text;
    if (is_lammps_data(bytes, n))
        return LAMMPS_DATA;
    return name < sizeof names / sizeof *names ? names[name].text : NULL;
}

int io_signature_misleads(const char *path)
{
    size_t name = find_name(path);

    return name < sizeof names / sizeof *names && names[name].misleads;
}
