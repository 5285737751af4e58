/* SPDX-License-Identifier: Apache-2.0 */
/* Molecules are found by bonds. If bonds are unknown, residues are joined along chains. */
#include "directory.h"
#include "trajectory/atoms/molecules.h"

/* A .gro line for an atom of a residue; positions do not matter here. */
#define LINE(residue, atom) residue atom "    1   0.100   0.100   0.100\n"

static trajectory_topology *topology_of(const char *text)
{
    return io_topology(io_path(directory, "molecules.gro"), text);
}

/* `of`: the expected molecule of each atom, one digit per atom. */
static void expect(const trajectory_topology *t, const char *of, int64_t bonds, uint32_t known)
{
    trajectory_molecules *m;
    int64_t count = 0;

    assert_int_equal(trajectory_molecules_create(t, &m, NULL), COLLET_OK);
    assert_int_equal((int64_t)strlen(of), t->n_atoms);
    for (int64_t i = 0; i < t->n_atoms; i++) {
        assert_int_equal(m->of[i], of[i] - '0');
        count = m->of[i] >= count ? m->of[i] + 1 : count;
    }
    assert_int_equal(m->count, count);
    assert_int_equal(m->offsets[0], 0);
    assert_int_equal(m->offsets[count], t->n_atoms);
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = m->offsets[k]; i < m->offsets[k + 1]; i++) {
            assert_int_equal(m->of[m->atoms[i]], k);
            assert_true(i == m->offsets[k] || m->atoms[i] > m->atoms[i - 1]);
        }
    assert_int_equal(m->n_bonds, bonds);
    assert_int_equal(m->known, known);
    trajectory_molecules_free(m);
}

#define WATER LINE("    1SOL  ", "   OW") LINE("    1SOL  ", "  HW1") LINE("    1SOL  ", "  HW2")
#define CHAIN                                                                                      \
    LINE("    5ALA  ", "    N")                                                                    \
    LINE("    5ALA  ", "    C") LINE("    6GLY  ", "    N") LINE("    6GLY  ", "    C")            \
        LINE("    6GLY  ", "  OXT")
#define BOX "   3.0 3.0 3.0\n"

TEST(residues_where_no_bonds_are_known)
{
    OWNED(trajectory_topology) *t =
        topology_of("t\n9\n" WATER CHAIN LINE("    7NA   ", "   NA") BOX);

    expect(t, "000111112", 1, TRAJECTORY_BY_RESIDUES);
    trajectory_topology_free(t);
    t = topology_of("t\n4\n" LINE("    1DA   ", "  O3'") LINE("    1DA   ", "   C1")
                        LINE("    2DC   ", "    P") LINE("    2DC   ", "  C1'") BOX);
    expect(t, "0000", 1, TRAJECTORY_BY_RESIDUES);
    t->residue_ids[2] = t->residue_ids[3] = 4;
    expect(t, "0011", 0, TRAJECTORY_BY_RESIDUES);
}

/* If a file lacks the atoms that link residues (C and N, O3' and P), CA or P atoms or
 * coarse-grained beads are used instead. Caps and chain ends are not joined. */
TEST(residues_without_the_atoms_that_join)
{
    OWNED(trajectory_topology) *t = topology_of(
        "t\n7\n" LINE("    1ALA  ", "   CA") LINE("    2GLY  ", "   CA") LINE("    4GLY  ", "   CA")
            LINE("    5LIG  ", "   CA") LINE("    6ALA  ", "   BB") LINE("    7GLY  ", "   BB")
                LINE("    7GLY  ", "  SC1") BOX);

    expect(t, "0012333", 2, TRAJECTORY_BY_RESIDUES);
    trajectory_topology_free(t);
    t = topology_of("t\n6\n" LINE("    1DA   ", "    P") LINE("    2DC   ", "    P")
                        LINE("    3ALA  ", "   CA") LINE("    4NME  ", "    N")
                            LINE("    4NME  ", "  CH3") LINE("    5ALA  ", "   CA") BOX);
    expect(t, "001112", 2, TRAJECTORY_BY_RESIDUES);
    trajectory_topology_free(t);
    t = topology_of("t\n3\n" LINE("    1ALA  ", "   CA") LINE("    1ALA  ", "  OXT")
                        LINE("    2ALA  ", "   CA") BOX);
    expect(t, "001", 0, TRAJECTORY_BY_RESIDUES);
}

static void set_bonds(trajectory_topology *t, const trajectory_bond *bonds, int64_t n)
{
    trajectory_bond *copy = calloc((size_t)n, sizeof *copy);

    assert_non_null(copy);
    memcpy(copy, bonds, (size_t)n * sizeof *copy);
    assert_int_equal(trajectory_topology_set_bonds(t, copy, n, "", NULL), COLLET_OK);
}

/* If the bonds of all atoms are known, only bonds define molecules. If the bonds of some atoms are
 * known, the other atoms are joined by residues. */
TEST(bonds_of_all_and_of_some)
{
    const trajectory_bond all[] = {{0, 1}, {2, 5}, {5, 4}, {3, 6}, {7, 3}};
    const trajectory_bond some[] = {{0, 1}, {0, 7}};
    OWNED(trajectory_topology) *t = topology_of("t\n8\n" WATER CHAIN BOX);

    set_bonds(t, all, 5);
    expect(t, "00121122", 5, TRAJECTORY_BY_BONDS);
    free(t->bonds);
    set_bonds(t, some, 2);
    expect(t, "00000000", 3, TRAJECTORY_BY_BONDS | TRAJECTORY_BY_RESIDUES);
}

/* Bonds of a metal atom to other residues are left out, unless they lead to another metal atom.
 * Bonds within its residue are kept. */
TEST(bonds_of_ions)
{
    const trajectory_bond ion[] = {{0, 3}, {1, 3}, {2, 3}, {3, 4}, {5, 6}};
    OWNED(trajectory_topology) *t = topology_of("t\n7\n" WATER LINE("    2MG   ", "   MG") LINE(
        "    3ZN   ", "   ZN") LINE("    4HEM  ", "   FE") LINE("    4HEM  ", "   NA") BOX);

    set_bonds(t, ion, 5);
    expect(t, "0001122", 2, TRAJECTORY_BY_BONDS | TRAJECTORY_BY_RESIDUES);
}

TEST(nothing_is_known)
{
    OWNED(trajectory_topology) *t = topology_of("t\n3\n" WATER BOX);
    const trajectory_bond bonds[] = {{1, 2}};

    memset(t->residue_names, 0, 3 * sizeof *t->residue_names);
    expect(t, "012", 0, 0);
    set_bonds(t, bonds, 1);
    expect(t, "011", 1, TRAJECTORY_BY_BONDS);
}

TEST(from_runs_of_atoms)
{
    const int64_t offsets[] = {0, 3, 3, 4};
    const trajectory_bond bonds[] = {{0, 3}};
    trajectory_molecules *m;

    assert_int_equal(trajectory_molecules_from(4, NULL, 0, offsets, 3, &m, NULL), COLLET_OK);
    assert_int_equal(m->count, 2);
    assert_int_equal(m->of[2], 0);
    assert_int_equal(m->of[3], 1);
    trajectory_molecules_free(m);
    assert_int_equal(trajectory_molecules_from(4, bonds, 1, NULL, 0, &m, NULL), COLLET_OK);
    assert_int_equal(m->count, 3);
    assert_int_equal(m->offsets[1], 2);
    assert_int_equal(m->atoms[1], 3);
    trajectory_molecules_free(m);
    trajectory_molecules_free(NULL);
}

TEST_GROUP(make_directory, remove_directory)
