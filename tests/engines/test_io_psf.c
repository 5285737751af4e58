/* SPDX-License-Identifier: Apache-2.0 */
/* .psf topologies: the variants that programs write, masses, truncated and malformed files. */

#include "directory.h"

static const char *save(const char *text, size_t size)
{
    return io_save(io_path(directory, "case.psf"), text, size);
}

static trajectory_topology *read_text(const char *text)
{
    return io_topology(io_path(directory, "case.psf"), text);
}

#define TITLES "\n       2 !NTITLE\n REMARKS WATER\n REMARKS 3 !NATOM\n\n"

static const struct {
    const char *text;
    const char *residue;
    const char *name; /* of the last atom */
    double mass;      /* of the last atom */
    int32_t id;
    int atoms;
} variants[] = {
    /* CHARMM: atom types are numbers; the keyword CHEQ adds columns. */
    {"PSF CMAP CHEQ" TITLES "       2 !NATOM\n"
     "       1 4AKE 1    MET  N      56  -0.300000       14.0070           0   0.00000     "
     "-0.3E-02\n"
     "       2 4AKE -1   MET  HT1     2   0.330000       1.00800           0   0.00000     "
     "-0.3E-02\n",
     "MET", "HT1", 1.008, -1, 2},
    /* CHARMM, extended X-PLOR format; an insertion code. */
    {"PSF EXT CMAP XPLOR" TITLES "         2 !NATOM\n"
     "         1 PROA     1H       THR      CAY      CT3     -0.270000       12.0110           0\n"
     "         2 PROA     1H       THR      HY1      HA3      0.900000E-01   1.00800           0\n"
     "\n         1 !NBOND: bonds\n         1         2\n",
     "THR", "HY1", 1.008, 1, 2},
    /* psfgen: an atom type of five letters shifts the columns. */
    {"PSF" TITLES "       2 !NATOM\n"
     "       1 SIN  3    SIN  N1B  N_2   -0.568346       14.0070           0\n"
     "       2 SIN  3    SIN  SID  SI_45  0.771000       28.0855           0\n",
     "SIN", "SID", 28.0855, 3, 2},
    {"PSF NAMD" TITLES "1 !NATOM\n1 WATERS 123456 TIP3P OH2ABC OT -0.834 15.9994 0\n", "TIP3P",
     "OH2ABC", 15.9994, 123456, 1},
    /* No segment, as VMD writes it. */
    {"PSF\r\n\r\n       1 !NATOM\r\n"
     "       1      66   GLY  CA   CT    -0.025200       12.0100           0\r\n",
     "GLY", "CA", 12.01, 66, 1},
    /* No segment, and an atom type that is a number. */
    {"PSF\n\n       1 !NATOM\n       1      66   GLY  CA      22 -0.025200       12.0100     0",
     "GLY", "CA", 12.01, 66, 1},
    {"PSF\n* NO REMARKS\n\n  1 !NATOM\n    1 PA         1 PA M3P  7 0.00  0.43E-01 0\n", "PA",
     "M3P", 0.043, 1, 1},
};

TEST(variants_are_read)
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        OWNED(trajectory_topology) *t = read_text(variants[i].text);
        int last = variants[i].atoms - 1;
        assert_int_equal(t->n_atoms, variants[i].atoms);
        assert_string_equal(t->format, "psf");
        assert_string_equal(t->title, strstr(variants[i].text, "WATER\n") ? "WATER" : "");
        assert_string_equal(t->names[last], variants[i].name);
        assert_string_equal(t->residue_names[last], variants[i].residue);
        assert_int_equal(t->residue_ids[last], variants[i].id);
        assert_true(t->masses[last] == variants[i].mass);
        assert_int_equal(t->lacking, -1);
    }
}

/* The file's masses are used rather than the masses of the elements. */
TEST(masses_are_used)
{
    static const char frame[] = "ATOM      1  N   MET A   1       1.000   2.000  -3.000\n"
                                "ATOM      2  HT1 MET A   1       1.000   2.000  -3.000\n";
    static const char psf[] =
        "PSF\n 2 !NATOM\n 1 A 1 MET N 1 0.0 14.5 0\n 2 A 1 MET H 1 0.0 1.5 0\n";
    collet_trajectory_options options = {.struct_size = sizeof options,
                                         .selection = "index 1",
                                         .trajectory = io_path(directory, "frame.pdb"),
                                         .topology = io_path(directory, "case.psf")};
    collet_trajectory_info info = {.struct_size = sizeof info};
    collet_trajectory *x;
    collet_error err;

    io_save(options.trajectory, frame, sizeof frame - 1);
    io_save(options.topology, psf, sizeof psf - 1);
    assert_int_equal(collet_trajectory_create(&x, &options, &err), COLLET_OK);
    collet_trajectory_get_info(x, &info);
    assert_true(info.mass == 1.5);
    assert_int_equal(info.masses_guessed, 0);
    collet_trajectory_destroy(x);
    /* A .psf has no frames. */
    options.trajectory = options.topology;
    assert_error(collet_trajectory_create(&x, &options, &err), COLLET_FORMAT, err,
                 "it looks like a .psf file");
}

#define ONE "PSF\n\n 2 !NATOM\n 1 A 1 MET N 1 0.0 14.5 0\n"

#define TWO ONE " 2 A 1 MET HT1 1 0.3 1.0 0\n"

static const io_malformed bad[] = {
    {"PSF\n", ":2: the file ends before its atoms (!NATOM)"},
    {"PSF\n 0 !NATOM\n", ":2: 0 atoms are impossible"},
    {"PSF\n -1 !NATOM\n", ":2: -1 atoms are impossible"},
    {"PSF\n 1000 !NATOM\n 1 A 1 MET N 1 0.0 1.0 0\n", ":2: 1000 atoms are impossible in a file of"},
    {ONE, ":5: the file ends after 1 of its 2 atoms"},
    {ONE "\n 1 !NBOND\n", ":5: atom 2 of 2 is expected"},
    {ONE " 2 A 1 MET HT1 1 0.3\n",
     "segment, residue number, residue, name, type, charge, mass), the "
     "line has 7 words"},
    {ONE " 2 A x MET HT1 1 0.3 1.0 0\n", ":5: the residue number is 'x'"},
    {ONE " 2 A 1 MET HT1 1 0.3 -1.0 0\n", ":5: '0.3' and '-1.0' are not a charge and a mass"},
    {ONE " 2 A 1 MET HT1 1 0.3 nan 0\n", ":5: '0.3' and 'nan' are not a charge and a mass"},
    {ONE " 2 A 1 MET 1234567890123456 1 0.3 1.0 0\n", ":5: the name '1234567890123456' has more than 15 letters"},
    {TWO "\n 1 !NBOND\n 1 3\n", ": a bond joins atoms 1 and 3 (counted from 1), but the 2"},
    {TWO "\n 1 !NBOND\n 2 2\n", ": a bond joins atoms 2 and 2"},
    {TWO "\n 1 !NBOND\n 0 1\n", ": a bond joins atoms 0 and 1"},
    {TWO "\n 1 !NBOND\n 1 x\n", ":8: 'x' is not the number of an atom; 0 of 1 bonds were read"},
    {TWO "\n 2 !NBOND\n 1 2 1\n", ":9: the file ends after 1 of its 2 bonds"},
    {TWO "\n 1000 !NBOND\n", ":7: 1000 bonds are impossible in a file of"},
    {TWO "\n -1 !NBOND\n", ":7: -1 bonds are impossible in a file of"},
    {TWO "\n 1 !NTHETA\n 1 2\n", ":9: the file ends before its bonds (!NBOND)"},
    {ONE " 2 A 99999999999 MET HT1 1 0.3 1.0 0\n", ":5: the residue number is '99999999999'"},
};

TEST(messages_point_at_the_line)
{
    io_refuse_topologies(io_path(directory, "case.psf"), bad, sizeof bad / sizeof *bad);
}

TEST(segments_charges_and_bonds)
{
    OWNED(trajectory_topology) *t =
        read_text("PSF\n 4 !NATOM\n 1 PA 1 MET N 1 -0.25 14.0 0\n 2 PA 1 MET H 1 0.5 1.0 0\n"
                  " 3 PA 1A GLY N 1 0.0 14.0 0\n 4 WT 7 TIP O 1 1e-1 16.0 0\n\n"
                  " 3 !NBOND: bonds\n 1 2 3 1 2\n 1\n\n 0 !NTHETA: angles\n");
    static const trajectory_bond bonds[] = {{0, 1}, {0, 2}};

    assert_string_equal(t->segments[0], "PA");
    assert_string_equal(t->segments[3], "WT");
    assert_memory_equal(t->insertions, "\0\0A\0", 4);
    assert_true(t->charges[0] == -0.25 && t->charges[3] == 0.1);
    assert_int_equal(t->n_bonds, 2);
    assert_memory_equal(t->bonds, bonds, sizeof bonds);
    assert_null(t->chains);
    trajectory_topology_free(t);
    t = read_text("PSF\n 1 !NATOM\n 1 7 TIP O 1 0.1 16.0 0\n\n 0 !NBOND\n");
    assert_null(t->segments);
    assert_null(t->insertions);
    assert_non_null(t->bonds);
    trajectory_topology_free(t);
    t = read_text("PSF\n 1 !NATOM\n 1 7 TIP O 1 0.1 16.0 0\n\n");
    assert_null(t->bonds);
}

/* A file that ends before its last atom's mass, or inside its bonds, is refused. */
TEST(truncations)
{
    const char *text = variants[1].text;
    size_t mass = (size_t)(strstr(text, "1.00800") - text);
    size_t bonds = (size_t)(strstr(text, "1 !NBOND") - text);
    size_t end = (size_t)(strrchr(text, '2') - text);

    for (size_t cut = 1; cut < strlen(text); cut++) {
        OWNED(trajectory_topology) *t = NULL;
        collet_error err;
        collet_status status = trajectory_topology_read(save(text, cut), NULL, &t, &err);
        assert_int_equal(status,
                         cut <= mass || (cut > bonds && cut <= end) ? COLLET_FORMAT : COLLET_OK);
        if (status == COLLET_OK && cut > mass + 7)
            assert_true(t->masses[1] == 1.008);
    }
}

TEST_GROUP(make_directory, remove_directory)
