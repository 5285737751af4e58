/* SPDX-License-Identifier: Apache-2.0 */
/* .top and .itp topologies: sections, includes, macros, conditions, truncated and malformed files.
 */
#include <sys/stat.h>

#include "directory.h"

static const char *save(const char *name, const char *text)
{
    return io_save(io_path(directory, name), text, strlen(text));
}

static trajectory_topology *read_text(const char *text)
{
    return io_topology(io_path(directory, "case.top"), text);
}

/* "0-1 0-2 " */
static const char *bonds_of(const trajectory_topology *t)
{
    static char text[200];

    text[0] = '\0';
    for (int64_t b = 0; b < t->n_bonds; b++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d-%d ", (int)t->bonds[b].first,
                 (int)t->bonds[b].second);
    return text;
}

#define TYPES                                                                                      \
    "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\n"                                            \
    "; all forms: name, bonded type, atomic number, mass, charge, particle type, parameters\n"     \
    "OW      8  15.9994 -0.8  A 0.3 0.6\n"                                                         \
    "HW HW   1   1.008   0.4  A 0.0 0.0\n"                                                         \
    "IP         22.9898  1.0  A 0.3 0.6\n"                                                         \
    "C  CT      12.01    0.0  A 0.3 0.6\n"
#define WATER                                                                                      \
    "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 OW 1 SOL OW 1\n2 HW 1 SOL HW1 1 0.41\n"                 \
    "3 HW 1 SOL HW2 1 0.41 2.016\n#ifndef FLEXIBLE\n[ settles ]\n1 1 0.1 0.16\n#else\n[ bonds ]\n" \
    "1 2 1\n1 3 1\n#endif\n[ exclusions ]\n1 2 3\n"
#define ION "[ moleculetype ]\nNA 1\n[ atoms ]\n1 IP 1 NA NA 1 1.0\n"
#define CHAIN                                                                                      \
    "[ moleculetype ]\nProtein_chain_Alpha 3\n[ atoms ]\n1 C 7 GLY CA 1\n2 C 7A ALA CA 2\n"        \
    "3 C 8 ALA CB 3\n[ bonds ]\n2 3 1\n2 1 6\n[ constraints ]\n1 2 1 0.1\n[ pairs ]\n1 3\n"

#define GRO "    1ALA     CA    1   0.100   0.200   0.300\n"

TEST(molecules)
{
    OWNED(trajectory_topology) *t =
        read_text(TYPES WATER ION CHAIN "[ System ]\nWater and; a comment\n[ mole-cules ]\n"
                                        "SOL 2\nprotein_chain_alpha 1\nNA 0\nNA 2\n");
    static const int32_t ids[] = {9, 9, 9, 10, 10, 10, 7, 7, 8, 11, 12};

    assert_int_equal(t->n_atoms, 11);
    assert_string_equal(t->format, "top");
    assert_string_equal(t->title, "Water and");
    assert_string_equal(t->names[5], "HW2");
    assert_string_equal(t->residue_names[7], "ALA");
    assert_string_equal(t->segments[0], "SOL");
    assert_string_equal(t->segments[8], "Protein_chain_A"); /* 15 letters */
    assert_memory_equal(t->residue_ids, ids, sizeof ids);
    assert_int_equal(t->insertions[7], 'A');
    assert_int_equal(t->insertions[8], 0);
    assert_true(t->masses[0] == 15.9994 && t->masses[1] == 1.008 && t->masses[2] == 2.016);
    assert_true(t->masses[10] == 22.9898 && t->masses[8] == 12.01);
    assert_true(t->charges[0] == -0.8 && t->charges[1] == 0.41 && t->charges[10] == 1.0);
    assert_string_equal(bonds_of(t), "0-1 0-2 3-4 3-5 6-7 7-8 ");
    assert_null(t->chains);
}

/* Molecule types whose names begin with the same 15 letters have different segments. */
TEST(molecule_types_with_the_same_first_letters)
{
#define TYPE(name) "[ moleculetype ]\n" name " 3\n[ atoms ]\n1 IP 1 NA NA 1 1.0\n"
    OWNED(trajectory_topology) *t =
        read_text(TYPES TYPE("Protein_chain_Alpha") TYPE("Protein_chain_Afterwards")
                      TYPE("Protein_chain_A") "[ System ]\nx\n[ molecules "
                                              "]\nProtein_chain_Afterwards 1\nProtein_chain_A 1\n"
                                              "Protein_chain_Alpha 2\n");
    assert_string_equal(t->segments[0], "Protein_chain~2");
    assert_string_equal(t->segments[1], "Protein_chain~3");
    assert_string_equal(t->segments[2], "Protein_chain_A");
    assert_string_equal(t->segments[3], "Protein_chain_A");
}

/* A virtual site belongs to the molecule of the atoms that define it. */
TEST(virtual_sites)
{
    static const char *const sections[] = {"[ virtual_sites2 ]\n4 1 2 1 0.1\n",
                                           "[ virtual_sites3 ]\n4 1 2 3 1 0.1 0.1\n",
                                           "[ virtual_sites1 ]\n4 1\n",
                                           "[ virtual_sites4 ]\n4 1 2 3 3 2 1 1 1\n",
                                           "[ virtual_sitesn ]\n4 1 1 2 3\n",
                                           "[ dummies2 ]\n4 1 2 1 0.1\n",
                                           "[ dummies3 ]\n4 1 2 3 1 0.1 0.1\n",
                                           "[ dummies4 ]\n4 1 2 3 3 2 1 1 1\n",
                                           "[ virtual_sitesn ]\n4 3 1 0.2 2 0.8\n",
                                           "[ dummiesn ]\n4 2 1 2\n"};

    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char text[1024];

        snprintf(text, sizeof text, "%s%s%s",
                 TYPES "[ moleculetype ]\nW 1\n[ atoms ]\n1 OW 1 W O 1\n2 HW 1 W H 1\n"
                       "3 HW 1 W H 1\n4 IP 2 V M 1\n[ settles ]\n1 1 0.1 0.16\n",
                 sections[i], "[ system ]\nx\n[ molecules ]\nW 1\n");
        OWNED(trajectory_topology) *t = read_text(text);
        assert_string_equal(bonds_of(t), "0-1 0-2 0-3 ");
    }
}

/* Bonds under the condition FLEXIBLE, and intermolecular bonds, which do not join molecules. */
TEST(conditions)
{
    OWNED(trajectory_topology) *t =
        read_text("#define FLEXIBLE\n#define MANY\n#undef MANY\n" TYPES WATER
                  "#ifdef MANY\n#include \"none\"\n#unknown\n#ifdef FLEXIBLE\n#else\n#endif\n"
                  "#else\n # ifdef FLEXIBLE ; yes\n[ molecules ]\nSOL 1\n#endif\n#endif\n"
                  "[ intermolecular_interactions ]\n[ bonds ]\n1 3 6\n");

    assert_int_equal(t->n_atoms, 3);
    assert_string_equal(bonds_of(t), "0-1 0-2 ");
    assert_int_equal(t->residue_ids[2], 1);
}

/* An .itp file describes one molecule. It has no atom types, so masses that it does not state are
 * unknown. */
TEST(one_molecule)
{
    OWNED(trajectory_topology) *t = read_text("; only\r\n\r\n" WATER);

    assert_int_equal(t->n_atoms, 3);
    assert_null(t->masses);
    assert_null(t->charges);
    assert_string_equal(bonds_of(t), "0-1 0-2 ");
    assert_string_equal(t->title, "");
}

TEST(macros)
{
    OWNED(trajectory_topology) *t =
        read_text("#define Q_O -Q_H2 ; minus\n#define Q_H 0.417\n#define Q_H2 0.834\n#define ALA\n"
                  "#define MASSES Q_O M ; of oxygen\n#define M 16.5\n" TYPES
                  "[ moleculetype ]\nX 1\n[ atoms ]\n1 OW \\\n 1 ALA \\\r\nO 1 MASSES ; \\\n2\n"
                  "2 HW 1 ALA Q_H_ 1 Q_H 1.0\n[ bonds ]\n1 2 gb_1\n");

    assert_int_equal(t->n_atoms, 2);
    assert_string_equal(t->residue_names[0], "ALA");
    assert_string_equal(t->names[1], "Q_H_");
    assert_true(t->masses[0] == 16.5 && t->masses[1] == 1.0);
    assert_true(t->charges[0] == -0.834 && t->charges[1] == 0.417);
}

/* Included files are searched next to the including file, next to the first file, and in GMXLIB. */
TEST(includes)
{
    char library[4096];

    snprintf(library, sizeof library, "/none::%s/library:/none", directory);
    assert_int_equal(setenv("GMXLIB", library, 1), 0);
    for (size_t i = 0; i < 3; i++) {
        static const char *const folders[] = {"ff", "library", "library/some.ff"};
        assert_int_equal(mkdir(io_path(directory, folders[i]), 0700), 0);
    }
    save("ff/types.itp", TYPES "#include \"water.itp\"\n#include <chain.itp>\n");
    save("ff/water.itp", WATER);
    save("chain.itp", CHAIN);
    save("library/some.ff/ions.itp", ION);
    trajectory_topology *t =
        read_text("#include \"ff/types.itp\" ; types\n"
                  "#include \"some.ff/ions.itp\"\n[ molecules ]\nSOL 1\nNA 1\n");
    assert_int_equal(t->n_atoms, 4);
    trajectory_topology_free(t);

    static const io_malformed bad[] = {
        {"#include \"none.ff/forcefield.itp\"\n", ":1: #include \"none.ff/forcefield.itp\": there "
                                                  "is no such file next to this one, in GMXLIB"},
        {"#include \"case.top\"\n",
         ":1: #include \"case.top\": files include each other too deeply"},
        {"#include \"twice.itp\"\n", "twice.itp:2: #include"},
        {"#define A\n#include \"open.itp\"\n#endif\n",
         "open.itp:2: the file ends before the #endif of the #ifdef or #ifndef in line 1"},
        {"#ifndef A\n#include \"close.itp\"\n", "close.itp:1: #endif without #ifdef or #ifndef"},
        {"#include \"ff\"\n", "ff"},
        {"#include none\n", ":1: #include needs a name in \"\""},
        {"#include \"none\n", ":1: #include needs a name in \"\""},
    };
    save("twice.itp", "#include \"twice.itp\"\n#include \"twice.itp\"\n");
    save("open.itp", "#ifdef A");
    save("close.itp", "#endif\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        collet_error err;
        save("case.top", bad[i].text);
        assert_int_not_equal(
            trajectory_topology_read(io_path(directory, "case.top"), NULL, &t, &err), COLLET_OK);
        if (i != 2) /* too deeply */
            assert_contains(err.text, bad[i].message);
        assert_contains(err.text, directory);
    }
    unsetenv("GMXLIB");
}

/* The topology's masses are used with frames of another format. Frames with a different number of atoms are
 * refused. */
TEST(frames_of_another_format)
{
    static const char frame[] = "x\n6\n" GRO GRO GRO GRO GRO GRO "1 1 1\n";
    static const struct {
        const char *top, *message;
    } cases[] = {
        {WATER, "frame.gro has 6 atoms, but "},
        {WATER, "give files of the same system, such as a .top file with 2 of these molecules"},
        {TYPES WATER "[ molecules ]\nSOL 3\n",
         "a trajectory of a part of the system needs a topology of this"},
        {TYPES WATER ION "[ molecules ]\nSOL 1\nNA 1\n",
         "case.top has 4: give files of the same system"},
    };
    collet_trajectory_options options = {.struct_size = sizeof options, .selection = "resid 2"};
    collet_trajectory_info info = {.struct_size = sizeof info};
    collet_trajectory *x;
    collet_error err;

    io_save(io_path(directory, "frame.gro"), frame, sizeof frame - 1);
    save("case.top", TYPES WATER "[ molecules ]\nSOL 2\n");
    options.trajectory = io_path(directory, "frame.gro");
    options.topology = io_path(directory, "case.top");
    assert_int_equal(collet_trajectory_create(&x, &options, &err), COLLET_OK);
    collet_trajectory_get_info(x, &info);
    assert_int_equal(info.masses_guessed, 0);
    assert_true(fabs(info.mass - (15.9994 + 1.008 + 2.016)) < 1e-12);
    collet_trajectory_destroy(x);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options.selection = "all";
        save("case.top", cases[i].top);
        options.trajectory = io_path(directory, "frame.gro");
        options.topology = io_path(directory, "case.top");
        assert_error(collet_trajectory_create(&x, &options, &err), COLLET_FORMAT, err,
                     cases[i].message);
    }
}

#define SYSTEM "[ molecules ]\nSOL 1\n"

static const io_malformed bad[] = {
    {"[ defaults ]\n1 1\n", "there is no [ moleculetype ]; give the .top file"},
    {WATER ION, "there are 2 molecule types, but no [ molecules ]"},
    {"[ moleculetype ]\nSOL 1\n" SYSTEM, "the molecules have no atoms"},
    {WATER "[ molecules ]\nSOL 0\n", "the molecules have no atoms"},
    {WATER "[ molecules ]\nSOL -1\n", ":18: '-1' is not a number of molecules"},
    {WATER "[ molecules ]\nSOL x\n", ":18: 'x' is not a number of molecules"},
    {WATER "[ molecules ]\nSOL\n", "name, number of molecules (at least 2 words), this one has 1"},
    {WATER "[ molecules ]\nSOL 715827883\n",
     ":18: 715827883 molecules of 3 atoms are too many: this machine can hold"},
    {WATER "[ molecules ]\nSOL 9223372036854775807\n", "of 3 atoms are too many"},
    {WATER "[ molecules ]\nWAT 1\n", ":18: there is no [ moleculetype ] 'WAT'"},
    {WATER SYSTEM "[ moleculetype ]\n", ":19: [ moleculetype ] after [ molecules ]"},
    {WATER SYSTEM "[ atoms ]\n", ":19: [ atoms ] after [ molecules ]"},
    {WATER WATER, ":18: the molecule type 'SOL' is defined twice"},
    {"[ moleculetype\nSOL 1\n", ":1: '[ moleculetype' has no ']'"},
    {"[ defaults ]\n[ atoms ]\n1 OW 1 SOL OW 1\n",
     ":3: [ atoms ] before the first [ moleculetype ]"},
    {"[ defaults ]\n[ bonds ]\n1 2 1\n", ":3: [ bonds ] before the first [ moleculetype ]"},
    {"[ defaults ]\n[ settles ]\n1 1\n", ":3: [ settles ] before the first [ moleculetype ]"},
    {"[ moleculetype ]\nSOL 1\n[ atoms ]\n2 OW 1 SOL OW 1\n", ":4: the number of the atom is '2', "
                                                              "but the molecule's atom 1"},
    {"[ moleculetype ]\nSOL 1\n[ atoms ]\n1 OW A SOL OW 1\n", ":4: the residue number is 'A'"},
    {"[ moleculetype ]\nSOL 1\n[ atoms ]\n1 OW 4294967296 SOL OW 1\n",
     ":4: the residue number is '4294967296'"},
    {"[ moleculetype ]\nSOL 1\n[ atoms ]\n1 OW 1 SOL\n", "[ atoms ] has number, type, residue"},
    {"[ moleculetype ]\nSOL 1\n[ atoms ]\n1 OW 1 SOL OW 1 q\n",
     ":4: the charge 'q' is not a number"},
    {"[ moleculetype ]\nSOL 1\n[ atoms ]\n1 OW 1 SOL OW 1 1 nan\n", ":4: the mass 'nan' is not"},
    {"[ moleculetype ]\nSOL 1\n[ atoms ]\n1 OW 1 SOL OW 1 1 -1\n", ":4: the mass -1 is negative"},
    {"[ moleculetype ]\nSOL 1\n[ atoms ]\n1 OW 1 SOL 1234567890123456 1\n",
     ":4: the name '1234567890123456' has more than 15 letters"},
    {TYPES "[ moleculetype ]\nSOL 1\n[ atoms ]\n1 XX 1 SOL OW 1\n",
     ":12: the atom type 'XX' is not in [ atomtypes ]"},
    {"[ atomtypes ]\nOW OW x 0.0 A\n", ":2: the mass 'x' is not a number"},
    {"[ atomtypes ]\nOW 16.0 x A\n", ":2: the charge 'x' is not a number"},
    {WATER "[ bonds ]\n1 4 1\n", ":18: [ bonds ] joins atoms 1 and 4, but the molecule type 'SOL'"},
    {WATER "[ bonds ]\n0 1 1\n", ":18: [ bonds ] joins atoms 0 and 1"},
    {WATER "[ constraints ]\n2 2 1\n", ":18: [ constraints ] joins atoms 2 and 2"},
    {WATER "[ bonds ]\n1 x 1\n", ":18: '1' and 'x' are not numbers of atoms"},
    {WATER "[ settles ]\n2 1 0.1 0.1\n", ":18: [ settles ] joins atoms 2 and 4"},
    {WATER "[ settles ]\n9223372036854775807 1\n", ":18: '9223372036854775807' is not the number"},
    {"[ defaults ]\n#else\n", ":2: #else without #ifdef or #ifndef"},
    {"#ifdef A\n#else\n#else\n#endif\n", ":3: #else without #ifdef or #ifndef"},
    {"#ifdef A\n#else\n", ":3: the file ends before the #endif of the #ifdef or #ifndef in line 1"},
    {"[ defaults ]\n#include\n", ":2: #include needs a name in"},
    {"[ defaults ]\n#if A > 1\n", ":2: #if is unknown; #include, #define"},
    {"#ifdef A\n#if A\n#endif\n#endif\n", ":2: #if is unknown"},
    {"#ifdef A\n#elif A\n#endif\n", ":2: #elif is unknown"},
    {"#ifdef A\n#ifdef\n", ":2: #ifdef needs a name"},
    {"#define\n", ":1: #define needs a name"},
    {"#define A B\n#define B A\n[ moleculetype ]\nA 1\n", ":4: the line is longer than 65536 bytes "
                                                          "with its macros, or these contain"},
};

TEST(messages_point_at_the_line)
{
    io_refuse_topologies(io_path(directory, "case.top"), bad, sizeof bad / sizeof *bad);
}

/* Wherever a file is cut, it is read or refused with a message. If the list of molecules is missing, the
 * file is refused. */
TEST(truncations)
{
    static const char text[] = TYPES WATER ION "#define A \\\n" SYSTEM;
    const size_t ion = (size_t)(strstr(text, ION) - text);
    const size_t whole = (size_t)(strstr(text, "SOL 1\n") + 5 - text);

    for (size_t cut = ion + 20; cut < sizeof text; cut++) {
        OWNED(trajectory_topology) *t = NULL;
        collet_error err = {0};
        io_save(io_path(directory, "case.top"), text, cut);
        collet_status status =
            trajectory_topology_read(io_path(directory, "case.top"), NULL, &t, &err);
        assert_int_equal(status, cut < whole ? COLLET_FORMAT : COLLET_OK);
        assert_true((err.text[0] == '\0') == (status == COLLET_OK));
    }
}

/* Nested conditions, lines and continued lines beyond their limits. */
TEST(limits)
{
    const char *path = io_path(directory, "case.top");
    OWNED(io_image) text = {0};
    collet_error err;
    trajectory_topology *t;

    for (int i = 0; i < 65; i++)
        io_put(&text, "#ifndef A\n", 10);
    io_save(path, text.data, text.size);
    assert_error(trajectory_topology_read(path, NULL, &t, &err), COLLET_FORMAT, err,
                 ":65: more than 64 conditions inside each other");
    text.size = 0;
    io_put(&text, "[ defaults ]\n", 13);
    for (int i = 0; i < 1000; i++)
        io_put(&text, "1234567890123456789012345678901234567890123456789012345678901234567890\\\n",
               72);
    io_save(path, text.data, text.size);
    assert_error(trajectory_topology_read(path, NULL, &t, &err), COLLET_FORMAT, err,
                 "a line with its continuations has more than 65535 bytes");
}

TEST_GROUP(make_directory, remove_directory)
