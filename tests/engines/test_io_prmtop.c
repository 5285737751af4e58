/* SPDX-License-Identifier: Apache-2.0 */
/* .prmtop topologies: sections, formats, charges of CHAMBER, truncated and malformed files. */

#include "directory.h"

static const char *path(void)
{
    return io_path(directory, "case.prmtop");
}

#define HEAD                                                                                       \
    "%VERSION  VERSION_STAMP = V0001.000  DATE = 09/08/18  15:36:17\n%FLAG TITLE\n"                \
    "%FORMAT(20a4)\nwater and ion   \n"
#define POINTERS                                                                                   \
    "%FLAG POINTERS\n%COMMENT a comment\n%FORMAT(10I8)\n"                                          \
    "       4       3       2       1       2       1       9       0       0       0\n"           \
    "      16       2       1       2       0       3       3       3       4       0\n"           \
    "       0       0       0       0       0       0       0       0       6       0\n       0\n"
#define NAMES "%FLAG ATOM_NAME\n%FORMAT(20a4)\nO   H1  OXT1ZN\n"
#define CHARGES                                                                                    \
    "%FLAG CHARGE\n%FORMAT(2E16.8)\n -1.51973982E+01  7.59869910E+00\n"                            \
    "  7.59869910E+00  3.64446000E+01\n"
#define NUMBERS "%FLAG ATOMIC_NUMBER\n%FORMAT(10I8)\n       8       1       0      30\n"
#define MASSES                                                                                     \
    "%FLAG MASS\n%FORMAT(5E16.8)\n  1.60000000E+01  1.00800000E+00  0.00000000E+00"                \
    "  6.53900000E+01\n"
#define LABELS "%FLAG RESIDUE_LABEL\n%FORMAT(20a4)\nWAT ZN\n"
#define CHAINS "%FLAG RESIDUE_CHAINID\n%FORMAT(20a4)\nA\n"
#define STARTS "%FLAG RESIDUE_POINTER\n%FORMAT(10I8)\n       1       4\n"
#define BONDS                                                                                      \
    "%FLAG BONDS_INC_HYDROGEN\n%FORMAT(5I8)\n       0       6       1       3       0\n"           \
    "       1\n%FLAG ANGLES_INC_HYDROGEN\n%FORMAT(10I8)\n       6       0       3       1\n"
#define OTHER "%FLAG BONDS_WITHOUT_HYDROGEN\n%FORMAT(3I8)\n       6       3       2\n"
#define WHOLE                                                                                      \
    HEAD POINTERS NAMES CHARGES NUMBERS MASSES LABELS CHAINS STARTS BONDS OTHER "%FLAG IPOL\n"

TEST(sections)
{
    OWNED(trajectory_topology) *t = io_topology(path(), WHOLE);
    static const int32_t ids[] = {1, 1, 1, 2};
    static const trajectory_bond bonds[] = {{0, 1}, {0, 2}, {1, 2}};
    static const double charges[] = {-0.834, 0.417, 0.417, 2};

    assert_int_equal(t->n_atoms, 4);
    assert_string_equal(t->format, "prmtop");
    assert_string_equal(t->title, "water and ion");
    assert_string_equal(t->names[2], "OXT1");
    assert_string_equal(t->names[3], "ZN");
    assert_string_equal(t->residue_names[2], "WAT");
    assert_string_equal(t->residue_names[3], "ZN");
    assert_string_equal(t->elements[0], "O");
    assert_string_equal(t->elements[2], "");
    assert_string_equal(t->elements[3], "Zn");
    assert_string_equal(t->chains[2], "A");
    assert_string_equal(t->chains[3], "");
    assert_memory_equal(t->residue_ids, ids, sizeof ids);
    assert_true(t->masses[0] == 16 && t->masses[2] == 0 && t->masses[3] == 65.39);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(t->charges[i] - charges[i]) < 1e-8);
    assert_int_equal(t->n_bonds, 3);
    assert_memory_equal(t->bonds, bonds, sizeof bonds);
}

/* Other column widths. Elements, chains and a title are optional. Files of CHAMBER use CHARMM's
 * electrostatic constant. */
TEST(variants)
{
    OWNED(trajectory_topology) *t = io_topology(
        path(), "%FLAG CTITLE\n%FORMAT(a80)\n%FLAG FORCE_FIELD_TYPE\n%FORMAT(i2,a78)\n 1 CHARMM\n"
                "%FLAG POINTERS\n%FORMAT(5I3)\n  1  0  0  0  0\n  0  0  0  0  0\n  0  1  0\n"
                "%FLAG ATOM_NAME\n%FORMAT(1a8)\nNAMELONG\n%FLAG CHARGE\n%FORMAT(3E24.16)\n"
                "  0.1822283183262141E+02\n%FLAG MASS\n%FORMAT(5F10.3)\n    12.011\n"
                "%FLAG RESIDUE_LABEL\n%FORMAT(20a4)\n\n%FLAG RESIDUE_POINTER\n%FORMAT(10I8)\n1\n"
                "%FLAG BONDS_INC_HYDROGEN\n%FORMAT(10I8)\n%FLAG BONDS_WITHOUT_HYDROGEN\n"
                "%FORMAT(10I8)\n\n");

    assert_int_equal(t->n_atoms, 1);
    assert_string_equal(t->title, "");
    assert_string_equal(t->names[0], "NAMELONG");
    assert_true(fabs(t->charges[0] - 1) < 1e-14 && t->masses[0] == 12.011);
    assert_null(t->elements);
    assert_null(t->chains);
    assert_non_null(t->bonds);
    assert_int_equal(t->n_bonds, 0);
}

static const io_malformed bad[] = {
    {HEAD, ": the file has no %FLAG POINTERS"},
    {HEAD POINTERS, ": the file has no %FLAG ATOM_NAME"},
    {HEAD POINTERS NAMES CHARGES MASSES LABELS STARTS BONDS,
     ": the file has no %FLAG BONDS_WITHOUT_HYDROGEN"},
    {HEAD NAMES, ":5: ATOM_NAME before POINTERS"},
    {HEAD POINTERS POINTERS, ":12: a second section POINTERS"},

    {HEAD POINTERS "%FLAG MASS\n", ":12: MASS needs a line such as %FORMAT(10I8)"},
    {HEAD POINTERS "%FLAG MASS\n%FORMAT(5E)\n", ":13: MASS needs a line such as %FORMAT(10I8)"},
    {HEAD POINTERS "%FLAG MASS\n%FORMAT(5E81.8)\n", ":13: MASS needs a line such as"},
    {HEAD POINTERS "%FLAG MASS\n%FORMAT(0E16.8)\n", ":13: MASS needs a line such as"},
    {HEAD POINTERS "%FLAG MASS\n%FORMAT(5E8.8)\n     1.0     1.0     nan     1.0\n",
     ":14: value 3 of MASS is 'nan'"},
    {HEAD POINTERS "%FLAG MASS\n%FORMAT(5E8.8)\n     1.0    -1.0     1.0     1.0\n",
     ":14: value 2 of MASS is '-1.0'"},
    {HEAD POINTERS "%FLAG MASS\n%FORMAT(5E8.8)\n     1.0     1.0\n", ":14: value 3 of MASS is ''"},
    {HEAD POINTERS "%FLAG MASS\n%FORMAT(2E8.8)\n     1.0     1.0\n%FLAG CHARGE\n",
     ":15: MASS ends after 2 of its 4 values"},
    {HEAD POINTERS "%FLAG RESIDUE_POINTER\n%FORMAT(10I8)\n       1       1\n",
     ":14: value 2 of RESIDUE_POINTER is '1'"},
    {HEAD POINTERS "%FLAG RESIDUE_POINTER\n%FORMAT(10I8)\n       2       3\n",
     ":14: value 1 of RESIDUE_POINTER is '2'"},
    {HEAD POINTERS "%FLAG RESIDUE_POINTER\n%FORMAT(10I8)\n       1       5\n",
     ":14: value 2 of RESIDUE_POINTER is '5'"},
    {HEAD POINTERS "%FLAG BONDS_WITHOUT_HYDROGEN\n%FORMAT(10I8)\n       1       3       1\n",
     ":14: value 1 of BONDS_WITHOUT_HYDROGEN is '1'"},
    {HEAD POINTERS "%FLAG BONDS_WITHOUT_HYDROGEN\n%FORMAT(10I8)\n       0      12       1\n",
     ":14: value 2 of BONDS_WITHOUT_HYDROGEN is '12'"},
    {HEAD POINTERS "%FLAG BONDS_WITHOUT_HYDROGEN\n%FORMAT(10I8)\n      -3       3       1\n",
     ":14: value 1 of BONDS_WITHOUT_HYDROGEN is '-3'"},
    {HEAD POINTERS "%FLAG ATOM_NAME\n%FORMAT(4a20)\n1234567890123456789\n",
     "has more than 15 letters"},
    {"%FLAG POINTERS\n%FORMAT(10I8)\n       0       3\n", ":3: value 1 of POINTERS is '0'"},
    {"%FLAG POINTERS\n%FORMAT(10I8)\n    9999       3\n", ":3: value 1 of POINTERS is '9999'"},
    {"%FLAG POINTERS\n%FORMAT(10I8)\n       1       3      -1\n",
     ":3: value 3 of POINTERS is '-1'"},
    {HEAD POINTERS NAMES CHARGES MASSES LABELS STARTS
     "%FLAG BONDS_INC_HYDROGEN\n%FORMAT(10I8)\n       0       0       1       0       3       "
     "1\n" OTHER,
     ": a bond joins atoms 1 and 1"},
};

TEST(messages_point_at_the_line)
{
    io_refuse_topologies(path(), bad, sizeof bad / sizeof *bad);
}

/* A file that ends before its last bond is refused. */
TEST(truncations)
{
    static const char text[] = WHOLE;
    const size_t end = (size_t)(strstr(text, "%FLAG IPOL") - text);

    for (size_t cut = 10; cut < sizeof text; cut++) {
        OWNED(trajectory_topology) *t = NULL;
        collet_error err;
        io_save(path(), text, cut);
        assert_int_equal(trajectory_topology_read(path(), NULL, &t, &err),
                         cut < end ? COLLET_FORMAT : COLLET_OK);
    }
}

TEST_GROUP(make_directory, remove_directory)
