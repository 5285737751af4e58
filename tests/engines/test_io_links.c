/* SPDX-License-Identifier: Apache-2.0 */
/* Bonds that .pdb files (SSBOND, LINK) and mmCIF files (_struct_conn) describe by residue and atom names. */
#include "directory.h"

/* Expects bonds such as "0-1 0-2 ", followed by the number of omitted bonds, such as "+1", unless it is
 * 0. */
static void expect(const char *name, const char *text, const char *bonds)
{
    OWNED(trajectory_topology) *t = io_topology(io_path(directory, name), text);
    char found[100] = "";

    for (int64_t b = 0; b < t->n_bonds; b++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%d-%d ",
                 (int)t->bonds[b].first, (int)t->bonds[b].second);
    if (t->bonds_left_out > 0)
        snprintf(found + strlen(found), sizeof found - strlen(found), "+%d",
                 (int)t->bonds_left_out);
    assert_string_equal(found, bonds);
}

#define SG(chain, residue)                                                                         \
    "ATOM      1  SG  CYS " chain residue "      1.000   2.000  -3.000  1.00  0.00           S\n"
#define ATOMS                                                                                      \
    SG("A", "   3 ")                                                                               \
    SG("A", "  10A")                                                                               \
    SG("B", "   3 ")                                                                               \
    "HETATM    2  C1  NAG B   4       1.000   2.000  -3.000  1.00  0.00           C\n"             \
    "HETATM    3  C1  NAG C   4       1.000   2.000  -3.000  1.00  0.00           C\n"             \
    "HETATM    4  C1  NAG C   4       1.000   2.000  -3.000  1.00  0.00           "                \
    "C\nEND\n"
#define BRIDGE(first, second) "SSBOND   1 CYS " first "   CYS " second "                       "
#define LINK(first, second) "LINK        " first "               " second "  "

TEST(pdb)
{
    expect("case.pdb", ATOMS, "");
    expect("case.pdb", BRIDGE("A    3 ", "A   10A") "  1555   1555  2.03\n" ATOMS, "0-1 ");
    expect("case.pdb", BRIDGE("A    3 ", "B    3 ") "\n" ATOMS, "0-2 ");
    expect("case.pdb", "SSBOND   1 CYS A    3    CYS B    3\n" ATOMS, "0-2 ");
    expect("case.pdb", BRIDGE("A    3 ", "B    3 ") "  1555   2655  2.03\n" ATOMS, "");
    expect("case.pdb", BRIDGE("A    3 ", "B    5 ") "  1555   1555  2.03\n" ATOMS, "");
    expect("case.pdb", BRIDGE("A    3 ", "A    3 ") "  1555   1555  2.03\n" ATOMS, "+1");
    expect("case.pdb", LINK(" SG  CYS A  10A", " C1  NAG B   4 ") "  1555   1555  1.8\n" ATOMS,
           "1-3 ");
    expect("case.pdb", LINK(" SG  CYS A  10A", " C1  NAG C   4 ") "  1555   1555  1.8\n" ATOMS,
           "+1");
    expect(
        "case.pdb",
        LINK(" SG  CYS A  10A", " C1  NAG B   4 ") "\n" LINK(
            " C1  NAG B   4 ",
            " SG  CYS A  10A") "\n" LINK(" C1  NAG B   4 ",
                                         " SG  CYS B   3 ") "\n" ATOMS
                                                            "CONECT    2    3\nCONECT    2    4\n",
        "1-3 2-3 3-4 3-5 ");
    expect("case.pdb", "LINK         SG  CYS A  x  \nLINK  \nSSBOND   1 CYS A\n" ATOMS, "");
}

#define ITEM(name) "_struct_conn." name "\n"
#define PARTNER(n)                                                                                 \
    ITEM("ptnr" n "_label_asym_id")                                                                \
    ITEM("ptnr" n "_label_seq_id")                                                                 \
    ITEM("ptnr" n "_label_atom_id")                                                                \
    ITEM("ptnr" n "_auth_asym_id") ITEM("ptnr" n "_auth_seq_id")                                   \
        ITEM("pdbx_ptnr" n "_PDB_ins_code") ITEM("ptnr" n "_symmetry")
#define LOOP "loop_\n" ITEM("id") ITEM("conn_type_id") PARTNER("1") ITEM("details") PARTNER("2")
#define SITES                                                                                      \
    "loop_\n_atom_site.label_atom_id\n_atom_site.auth_asym_id\n_atom_site.auth_seq_id\n"           \
    "_atom_site.pdbx_PDB_ins_code\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n"   \
    "SG A 3 ? 1 2 3\nSG A 10 A 1 2 3\nSG B 3 ? 1 2 3\n\"O3'\" B 4 ? 1 2 3\n"
#define A3 " X 1 SG A 3 ? 1_555 "
#define A10 " X 2 SG A 10 A 1_555 "
#define B4 " Z 5 \"O3'\" B 4 ? 1_555 "
#define ROWS                                                                                       \
    "1 disulf" A3 "?" A10 "\n2 covale" A10 "?" B4 "\n3 metalc" A3 "?" B4 "\n4 hydrog" A3 "?" B4    \
    "\n5 covale Y 1 SG B 3 ? 1_555 ? X 1 SG A 3 ? 2_655\n6 covale" A3 "? Y 9 SG B 9 . ?\n"

TEST(cif)
{
    expect("case.cif", "data_x\n" SITES, "");
    expect("case.cif", "data_x\n" LOOP ROWS "#\n" SITES, "0-1 1-3 ");
    expect("case.cif", "data_x\n" SITES "#\n" LOOP ROWS "#\nloop_\n_x.y\n1\n", "0-1 1-3 ");
    expect("case.cif", "data_x\n" SITES "#\n" LOOP ROWS "7 covale ; '", "0-1 1-3 ");
    expect("case.cif",
           "data_x\n_struct_conn.conn_type_id disulf\n_struct_conn.ptnr1_label_asym_id A\n"
           "_struct_conn.ptnr1_label_seq_id 3\n_struct_conn.ptnr1_label_atom_id SG\n"
           "_struct_conn.ptnr2_auth_asym_id B\n_struct_conn.ptnr2_auth_seq_id 3\n"
           "_struct_conn.ptnr2_label_atom_id SG\n" SITES,
           "0-2 ");
}

TEST(cut_rows)
{
    collet_error err;
    trajectory_topology *t;
    static const char text[] = "data_x\n" LOOP "1 disulf\n" SITES;

    io_save(io_path(directory, "case.cif"), text, sizeof text - 1);
    assert_int_equal(trajectory_topology_read(io_path(directory, "case.cif"), NULL, &t, &err),
                     COLLET_FORMAT);
    assert_non_null(strstr(err.text, ": a row of _struct_conn ends after 2 of its 17 values"));
}

TEST_GROUP(make_directory, remove_directory)
