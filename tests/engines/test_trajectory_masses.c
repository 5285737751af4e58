/* SPDX-License-Identifier: Apache-2.0 */
/* Masses from a file and from names. */

#include "trajectory/atoms/guess.h"
#include "io_files.h"
#include "trajectory/atoms/masses.h"
#include "trajectory/atoms/residues.h"

TEST(test_elements_of_names)
{
    static const struct {
        const char *atom;
        const char *residue;
        const char *symbol; /* NULL: unknown; "": a virtual site */
    } cases[] = {
        {"CA", "ALA", "C"},   {"CA", "CA", "Ca"},   {"CA", "CA2+", "Ca"},  {"CAL", "CAL", "Ca"},
        {"HG", "SER", "H"},   {"HG", "HG", "Hg"},   {"NE", "ARG", "N"},    {"CD", "GLU", "C"},
        {"CD", "CD2", "Cd"},  {"OW", "SOL", "O"},   {"HW1", "SOL", "H"},   {"MW", "SOL", ""},
        {"M", "HOH", ""},     {"EPW", "WAT", ""},   {"LP1", "SOL", ""},    {"NA", "NA", "Na"},
        {"NA+", "NA+", "Na"}, {"NA", "ION", "Na"},  {"NA", "HEM", "N"},    {"NA", "SOD", "Na"},
        {"SOD", "SOD", "Na"}, {"CL", "CL", "Cl"},   {"CL-", "CL-", "Cl"},  {"CLA", "CLA", "Cl"},
        {"CL1", "LIG", "Cl"}, {"FE", "HEM", "Fe"},  {"FE2+", "FE2", "Fe"}, {"ZN", "ZN2", "Zn"},
        {"1HB", "ALA", "H"},  {"2HG1", "VAL", "H"}, {"HO5'", "DA", "H"},   {"O5'", "DA", "O"},
        {"H5''", "DA", "H"},  {"P", "DA", "P"},     {"SG", "CYS", "S"},    {"SE", "MSE", "Se"},
        {"SE", "SEC", "Se"},  {"M", "LIG", NULL},   {"Xq", "LIG", NULL},   {"SE", "MET", "S"},
        {"SE", "LIG", "Se"},  {"OXT", "CVAL", "O"}, {"BR2", "LIG", "Br"},  {"K", "K", "K"},
        {"I", "IOD", "I"},    {"F1", "LIG", "F"},   {"Ca", "LIG", "Ca"},   {"D1", "DOD", "D"},
        {"MG", "CLA", "Mg"},  {"BB", "ALA", NULL},  {"W", "W", NULL},      {"X1", "LIG", NULL},
        {"", "LIG", NULL},    {"12", "LIG", NULL},  {"*", "LIG", NULL},    {"CD1", "LEU", "C"},
        {"HE2", "HIS", "H"},  {"NI", "NI", "Ni"},   {"CO", "CO", "Co"},    {"CO", "LIG", "C"},
        {"fE", "LIG", "Fe"},  {"CB", "SEC", "C"},   {"SG", "MSE", "S"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int doubtful;
        const trajectory_element *element =
            trajectory_element_guess(cases[i].atom, cases[i].residue, 1, &doubtful);
        const char *symbol = element != NULL ? element->symbol : "none";

        assert_int_equal(doubtful, 0);

        if (strcmp(symbol, cases[i].symbol != NULL ? cases[i].symbol : "none") != 0)
            fail_msg("%s of %s is guessed as %s", cases[i].atom, cases[i].residue, symbol);
    }
}

/* In a residue of many atoms a name such as CA may be a metal or an organic atom. */
TEST(test_elements_in_large_residues)
{
    static const struct {
        const char *atom, *residue, *symbol;
        int doubtful;
    } cases[] = {
        {"Ca13", "POL", "C", 1}, {"Na2", "POL", "N", 1},  {"Ca", "POL", "Ca", 1},
        {"Co", "B12", "Co", 1},  {"FE", "HEM", "Fe", 1},  {"CA13", "POL", "C", 0},
        {"Cl2", "LIG", "Cl", 0}, {"Br1", "LIG", "Br", 0}, {"Fe1", "LIG", "Fe", 1},
        {"C13", "POL", "C", 0},  {"Ca", "TRP", "C", 0},   {"NA", "HEM", "N", 0},
        {"SE", "MSE", "Se", 0},  {"AL1", "LIG", "Al", 1}, {"CA", "CA", "Ca", 0},
        {"Si1", "PDM", "Si", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int doubtful;
        const trajectory_element *element = trajectory_element_guess(
            cases[i].atom, cases[i].residue, TRAJECTORY_MANY_ATOMS + 1, &doubtful);

        if (strcmp(element->symbol, cases[i].symbol) != 0 || doubtful != cases[i].doubtful)
            fail_msg("%s of %s is guessed as %s, doubtful %d", cases[i].atom, cases[i].residue,
                     element->symbol, doubtful);
        element = trajectory_element_guess("Ca13", "POL", TRAJECTORY_MANY_ATOMS, &doubtful);
        assert_string_equal(element->symbol, "Ca");
    }
}

TEST(test_weights)
{
    assert_true(trajectory_element_find("fe", 2)->mass == 55.845);
    assert_true(trajectory_element_find("S", 1)->mass == 32.06);
    assert_null(trajectory_element_find("Tc", 2));
    assert_null(trajectory_element_find("Xx", 2));
    assert_null(trajectory_element_find("", 0));
}

TEST(test_residues)
{
    static const char *const protein[] = {"ABU",  "ALA",  "VAL", "HISH",
                                          "NALA", "CVAL", "ACE", "CHID"};
    static const char *const others[] = {"SOL",  "DA",   "NA",   "N",   "",
                                         "NSOL", "CSOL", "POPC", "ala", "CALAX"};

    for (size_t i = 0; i < sizeof protein / sizeof *protein; i++)
        assert_true(trajectory_residue_is_protein(protein[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(trajectory_residue_is_protein(others[i]));
    assert_true(trajectory_residue_is_water("H2O"));
    assert_true(trajectory_residue_is_water("SOL"));
    assert_true(trajectory_residue_is_water("WAT"));
    assert_false(trajectory_residue_is_water("ALA"));
}

static const int64_t first[] = {0, 1, 2};

static void expect_total(const char *path, double total, const char *elements)
{
    OWNED(trajectory_topology) *topology = NULL;
    trajectory_composition found;
    collet_error err;
    FREED(double) *masses = NULL;
    FREED(int64_t) *indices = NULL;
    FREED(char) *text = NULL;

    assert_int_equal(trajectory_topology_read(path, NULL, &topology, &err), COLLET_OK);
    masses = calloc((size_t)topology->n_atoms, sizeof *masses);
    indices = calloc((size_t)topology->n_atoms, sizeof *indices);
    assert_true(masses != NULL && indices != NULL);
    for (int64_t i = 0; i < topology->n_atoms; i++)
        indices[i] = i;
    assert_int_equal(
        trajectory_masses_guess(topology, indices, topology->n_atoms, masses, &found, &err),
        COLLET_OK);
    assert_int_equal(found.guessed, topology->n_atoms);
    assert_int_equal(found.doubtful, 0);
    for (int64_t i = 0; i < topology->n_atoms; i++)
        total -= masses[i];
    assert_true(fabs(total) < 1e-9);
    text = trajectory_composition_text(&found);
    assert_string_equal(text, elements);
}

TEST(test_guessed_totals)
{
    expect_total(COLLET_TEST_DATA "/md/water/conf.gro", 3891.24, "H 432, O 216");
    expect_total(COLLET_TEST_DATA "/md/peptide/conf.gro", 1982.232, "H 140, C 87, N 26, O 27");
}

static char names[][TRAJECTORY_ATOM_NAME] = {"CA", "XX", "MW"};
static char residues[][TRAJECTORY_ATOM_NAME] = {"ALA", "LIG", "SOL"};
static int32_t ids[] = {1, 7, 3};
static const trajectory_topology three = {
    .n_atoms = 3, .names = names, .residue_names = residues, .residue_ids = ids};

/* An element that the file states is used, in upper or lower case. A text that is no element is
 * ignored. */
TEST(test_elements_of_the_topology)
{
    static char elements[][TRAJECTORY_SYMBOL] = {"CA", "br", "X"};
    trajectory_topology topology = three;
    double masses[3];
    trajectory_composition found;
    collet_error err;

    topology.elements = elements;
    assert_int_equal(trajectory_masses_guess(&topology, first, 3, masses, &found, &err), COLLET_OK);
    assert_true(masses[0] == 40.078 && masses[1] == 79.904 && masses[2] == 0);
    assert_int_equal(found.guessed, 1);
}

TEST(test_unknown_atom_is_named)
{
    double masses[3];
    trajectory_composition found;
    const int64_t others[] = {0, 2};
    collet_error err;

    assert_error(trajectory_masses_guess(&three, first, 3, masses, &found, &err), COLLET_FORMAT,
                 err, "atom 2, 'XX' of residue LIG 7", "--masses equal");
    assert_int_equal(trajectory_masses_guess(&three, others, 2, masses, &found, &err), COLLET_OK);
    assert_true(masses[0] == 12.011 && masses[1] == 0);
}

TEST(test_files)
{
    static const struct {
        const char *text;
        const char *message; /* NULL: valid, masses 1, 2.5 and 0 */
    } cases[] = {
        {"1\n2.5\n0\n", NULL},
        {"1\n2.5\n0", NULL},
        {"# masses\n\n 1 ; carbon\r\n\t2.5e0\n\n0.0  # none\n\n", NULL},
        {"1\n2.5\n", "2 masses, but the topology has 3 atoms"},
        {"1\n2.5\n0\n4\n", ":4: more masses"},
        {"1\nx\n0\n", ":2: 'x' is not a mass"},
        {"1\n1 2\n0\n", ":2: '1 2' is not a mass"},
        {"1\nnan\n0\n", ":2: 'nan' is not a mass"},
        {"1\n1e999\n0\n", ":2: '1e999' is not a mass"},
        {"# c\n1\n-2\n0\n", ":3: the mass -2 is negative"},
        {"", "0 masses"},
    };
    char *directory = io_make_directory();
    const char *path = io_path(directory, "masses.txt");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double masses[3];
        collet_error err;
        collet_status status;

        io_save(path, cases[i].text, strlen(cases[i].text));
        status = trajectory_masses_read(path, &three, masses, &err);
        if (cases[i].message != NULL) {
            assert_int_equal(status, COLLET_FORMAT);
            if (strstr(err.text, cases[i].message) == NULL || strstr(err.text, path) == NULL)
                fail_msg("'%s' gives: %s", cases[i].text, err.text);
            continue;
        }
        assert_int_equal(status, COLLET_OK);
        assert_true(masses[0] == 1 && masses[1] == 2.5 && masses[2] == 0);
    }
    io_remove_directory(directory);
}

TEST(test_long_text)
{
    char *directory = io_make_directory();
    const char *path = io_path(directory, "long");
    static const char text[] = "12345678901234567890123456789012345678901234567890x\n";
    double masses[3];
    collet_error err;

    io_save(path, text, strlen(text));
    assert_error(trajectory_masses_read(path, &three, masses, &err), COLLET_FORMAT, err,
                 "'1234567890123456789012345678901234567890'");
    io_remove_directory(directory);
}

TEST(test_missing_file)
{
    double masses[3];
    collet_error err;

    assert_error(trajectory_masses_read(COLLET_TEST_NOTHING "/masses", &three, masses, &err),
                 COLLET_IO, err, COLLET_TEST_NOTHING "/masses");
}
