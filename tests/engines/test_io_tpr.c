/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .tpr run inputs. GROMACS wrote `chain` and `chain_double` of tests/fuzz/corpus/tpr.tar from chain.top below. This
 * test writes files of other versions itself, with the indices that interaction types have in each version.
 */

#include "directory.h"

#define CORPUS COLLET_TEST_CORPUS "/tpr/"

static const char *path(void)
{
    return io_path(directory, "case.tpr");
}

/* ---- Files of GROMACS -------------------------------------------------------------------- */

static const char chain_top[] =
    "[ defaults ]\n1 1 no 1.0 1.0\n[ atomtypes ]\nC 6 12.011 0.0 A 1e-3 1e-6\nH 1 1.008 0.0 A 1e-4 "
    "1e-8\nO 8 15.999 0.0 A 1e-3 1e-6\nM 0 0.0 0.0 D 0 0\nNA 11 22.99 1.0 A 1e-4 1e-7\n"
    "[ moleculetype ]\nChain 3\n[ atoms ]\n1 C 7 ALA CA 1 0.25 12.011\n2 C 7 ALA CB 1 -0.25 "
    "12.011\n"
    "3 C 7A GLY CA 2 0.5 12.011\n4 H 7A GLY HA 2 -0.5 1.008\n5 M 7A GLY MW 2 0.0 0.0\n"
    "[ bonds ]\n1 2 1 0.15 1000\n1 3 3 0.15 400 20\n1 4 6 0.5 1000\n2 4 10 0.5 0.6 0.7 1000\n"
    "[ constraints ]\n3 4 1 0.11\n"
    "[ angles ]\n2 1 3 1 110 500\n1 3 4 5 110 500 0.2 1000\n"
    "[ dihedrals ]\n2 1 3 4 9 180 2 3\n2 1 3 4 3 1 2 3 4 5 6\n"
    "[ dihedral_restraints ]\n2 1 3 4 1 60 10 5\n[ position_restraints ]\n1 1 1000 1000 1000\n"
    "[ virtual_sites2 ]\n5 3 4 1 0.4\n[ exclusions ]\n5 1 2\n"
    "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1 -0.8 15.999\n2 H 1 SOL HW1 1 0.4 1.008\n"
    "3 H 1 SOL HW2 1 0.4 1.008\n[ settles ]\n1 1 0.1 0.16\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n"
    "[ moleculetype ]\nNA 1\n[ atoms ]\n1 NA 1 NA NA 1 1.0 22.99\n"
    "[ system ]\nA chain in water, a title of more letters than a name\n"
    "[ molecules ]\nChain 1\nSOL 3\nNA 2\n";

static void compare_with_top(const char *tpr, double tolerance)
{
    static const char elements[][3] = {"C", "C", "C", "H", "",  "O", "H",  "H",
                                       "O", "H", "H", "O", "H", "H", "Na", "Na"};
    OWNED(trajectory_topology) *t = NULL,
                               *top = io_topology(io_path(directory, "chain.top"), chain_top);
    collet_error err;

    assert_int_equal(trajectory_topology_read(tpr, NULL, &t, &err), COLLET_OK);
    assert_string_equal(t->format, "tpr");
    assert_string_equal(t->title, top->title);
    assert_int_equal(t->n_atoms, 16);
    assert_int_equal(top->n_atoms, 16);
    assert_memory_equal(t->names, top->names, 16 * sizeof *t->names);
    assert_memory_equal(t->residue_names, top->residue_names, 16 * sizeof *t->names);
    assert_memory_equal(t->residue_ids, top->residue_ids, 16 * sizeof *t->residue_ids);
    assert_memory_equal(t->insertions, top->insertions, 16);
    assert_memory_equal(t->segments, top->segments, 16 * sizeof *t->segments);
    for (size_t i = 0; i < 16; i++) {
        assert_string_equal(t->elements[i], elements[i]);
        assert_true(fabs(t->masses[i] - top->masses[i]) <= tolerance * top->masses[i]);
        assert_true(fabs(t->charges[i] - top->charges[i]) <= tolerance);
    }
    assert_int_equal(t->n_bonds, 11);
    assert_int_equal(top->n_bonds, 11);
    assert_memory_equal(t->bonds, top->bonds, 11 * sizeof *t->bonds);
}

TEST(files_of_gromacs)
{
    compare_with_top(CORPUS "chain", 6e-8);
    compare_with_top(CORPUS "chain_double", 0);
}

/* ---- Files of all versions ----------------------------------------------------------------- */

/* For the format of each release: the number of interaction types, and the indices of some types (-1: missing). */
static const struct version {
    int version, generation;
    int functions, restraint, cmap, thole, dihedral_restraint, constraint, settle, site2, site_n;
} versions[] = {
    {58, 17, 70, -1, -1, 38, 46, 48, 50, 51, 58}, /* 4.0 */
    {73, 23, 79, 9, 23, 45, 53, 55, 57, 58, 65},  /* 4.5 */
    {83, 24, 86, 9, 24, 46, 55, 57, 59, 60, 67},  /* 4.6 */
    {100, 26, 91, 9, 27, 50, 60, 62, 64, 65, 72}, /* 5.0 */
    {103, 26, 91, 9, 27, 50, 60, 62, 64, 65, 72}, /* 5.1 */
    {110, 26, 91, 9, 27, 50, 60, 62, 64, 65, 72}, /* 2016 */
    {112, 26, 91, 9, 27, 50, 60, 62, 64, 65, 72}, /* 2018 */
    {116, 26, 91, 9, 27, 50, 60, 62, 64, 65, 72}, /* 2019 */
    {119, 27, 93, 9, 27, 50, 60, 62, 64, 65, 73}, /* 2020 */
    {122, 28, 94, 9, 27, 50, 60, 62, 64, 66, 74}, /* 2021 */
    {127, 28, 94, 9, 27, 50, 60, 62, 64, 66, 74}, /* 2022 */
    {129, 28, 94, 9, 27, 50, 60, 62, 64, 66, 74}, /* 2023 */
    {133, 28, 94, 9, 27, 50, 60, 62, 64, 66, 74}, /* 2024 */
    {134, 28, 94, 9, 27, 50, 60, 62, 64, 66, 74}, /* 2024.4 */
    {137, 28, 95, 9, 27, 50, 60, 62, 64, 66, 74}, /* 2025 */
    {138, 29, 95, 9, 27, 50, 60, 62, 64, 66, 74}, /* 2026 */
};
#define VERSIONS (sizeof versions / sizeof *versions)

typedef struct writer {
    io_image image;
    const struct version *version;
    size_t real;
    int in_memory;
    size_t topology_end;
} writer;

static void put_real(writer *w, double value)
{
    if (w->real == 8)
        io_put_f64(&w->image, value);
    else
        io_put_f32(&w->image, (float)value);
}

static void put_reals(writer *w, int n)
{
    for (int i = 0; i < n; i++)
        put_real(w, 0.5 + i);
}

static void put_i32(writer *w, int32_t value)
{
    io_put_i32(&w->image, value);
}

static void put_integers(writer *w, int n)
{
    for (int i = 0; i < n; i++)
        put_i32(w, 7);
}

/* An integer of 8 or 16 bits. */
static void put_small(writer *w, size_t size, int value)
{
    const uint8_t bytes[] = {0, 0, 0, (uint8_t)value};
    size_t n = w->in_memory ? size : 4;

    io_put(&w->image, bytes + 4 - n, n);
}

static void put_text(writer *w, const char *text)
{
    size_t n = strlen(text);

    put_i32(w, w->in_memory ? 0 : (int32_t)n + 1);
    put_i32(w, (int32_t)n);
    io_put(&w->image, text, n);
    if (!w->in_memory)
        io_put(&w->image, "\0\0\0", -n & 3);
}

static void put_head(writer *w, int64_t n_atoms, const char *tag)
{
    const struct version *v = w->version;

    put_text(w, "VERSION 4711.0");
    put_i32(w, (int32_t)w->real);
    put_i32(w, v->version);
    put_i32(w, v->generation);
    if (v->version >= 83)
        put_text(w, tag);
    put_i32(w, (int32_t)n_atoms);
    put_i32(w, 2); /* groups of temperatures */
    if (v->version < 73) {
        put_i32(w, 0);
        put_real(w, 0);
    }
    if (v->version >= 83)
        put_i32(w, 0);
    put_real(w, 0);
    for (int i = 0; i < 6; i++)
        put_i32(w, i != 4); /* no forces */
}

static const char *const symbols[] = {"system", "Mixed", "C1",  "C2", "SOL", "OW",
                                      "HW",     "MW",    "ION", "C",  "LIG"};

static void put_atom(writer *w, double mass, double charge, int residue, int number)
{
    put_real(w, mass);
    put_real(w, charge);
    put_real(w, 99);
    put_real(w, 98);
    put_small(w, 2, 1);
    put_small(w, 2, 1);
    put_i32(w, 0);
    put_i32(w, residue);
    put_i32(w, number);
}

static void put_residue(writer *w, int name, int number)
{
    put_i32(w, name);
    if (w->version->version < 73)
        return;
    put_i32(w, number);
    put_small(w, 1, number == 5 ? 'B' : ' ');
}

/* The interactions of type `function` in a molecule type, as n integers. The file stores them after the atoms. */
typedef struct entries {
    int function, n;
    const int32_t *values;
} entries;

static void put_interactions(writer *w, const entries *list, size_t n)
{
    for (int i = 0; i < w->version->functions; i++) {
        const entries *found = NULL;
        for (size_t k = 0; k < n; k++)
            if (list[k].function == i)
                found = &list[k];
        put_i32(w, found ? found->n : 0);
        for (int k = 0; found && k < found->n; k++)
            put_i32(w, found->values[k]);
    }
    put_i32(w, 1); /* charge groups */
    put_integers(w, 2);
    put_i32(w, 2); /* lists of exclusions, with 3 atoms */
    put_i32(w, 3);
    put_integers(w, 6);
}

/* Two carbons, a water, a site on a line, a site of two atoms. */
static void put_mixed(writer *w)
{
    const struct version *v = w->version;
    static const int names[] = {2, 3, 5, 6, 6, 7, 7};
    static const int32_t bonds[] = {0, 1, 0}, constraints[] = {4, 1, 2}, site2[] = {6, 5, 0, 1},
                         site_n[] = {7, 6, 2, 7, 6, 3}, restraint[] = {2, 0, 4},
                         settle[] = {5, 2, 3, 4}, old_settle[] = {5, 2}, angle[] = {1, 0, 1, 2};
    const entries list[] = {
        {0, 3, bonds},
        {v->version < 73 ? 9 : 10, 4, angle},
        {v->constraint, 3, constraints},
        {v->settle, v->version < 83 ? 2 : 4, v->version < 83 ? old_settle : settle},
        {v->site2, 4, site2},
        {v->site_n, 6, site_n},
        {v->restraint, 3, restraint},
    };

    put_i32(w, 1);
    put_i32(w, 7);
    put_i32(w, 2);
    put_atom(w, 12, 0.5, 0, 6);
    put_atom(w, 13, -0.5, 0, 6);
    put_atom(w, 16, -0.8, 1, 8);
    put_atom(w, 1, 0.4, 1, 1);
    put_atom(w, 2, 0.4, 1, 1);
    put_atom(w, 0, 0, 1, -1);
    put_atom(w, 0, 0, 1, 0);
    for (size_t i = 0; i < 7; i++)
        put_i32(w, names[i]);
    for (size_t i = 0; i < 14; i++)
        put_i32(w, 9);
    put_residue(w, 10, 4);
    put_residue(w, 4, 5);
    put_interactions(w, list, sizeof list / sizeof *list);
}

static void put_ion(writer *w)
{
    put_i32(w, 8);
    put_i32(w, 1);
    put_i32(w, 1);
    put_atom(w, 23, 1, 0, 11);
    put_integers(w, 3); /* "MW" is its name and the name of its types */
    put_residue(w, 8, 1);
    put_interactions(w, NULL, 0);
}

/* Writes the list of interaction parameters: for the interactions of the molecules, and for further interactions whose
 * parameters differ in size between versions of the format. */
static void put_parameters(writer *w)
{
    const struct version *v = w->version;
    const int functions[] = {0,
                             2,
                             v->version < 73    ? 13
                             : v->version < 83  ? 14
                             : v->version < 100 ? 15
                                                : 16,
                             v->thole,
                             v->constraint,
                             v->settle,
                             v->site2,
                             v->site_n,
                             v->dihedral_restraint,
                             v->cmap,
                             v->restraint};
    int n = 11 - (v->version < 73 ? 2 : 0);

    put_i32(w, 2);
    put_i32(w, n);
    for (int i = 0; i < n; i++)
        put_i32(w, functions[i]);
    if (v->version >= 73)
        io_put_f64(&w->image, 12);
    put_real(w, 0.5);
    put_reals(w, 4);                        /* bond */
    put_reals(w, v->version < 83 ? 3 : 6);  /* Morse */
    put_reals(w, v->version < 83 ? 4 : 8);  /* Urey-Bradley */
    put_reals(w, v->version < 127 ? 4 : 3); /* Thole */
    put_reals(w, 2 + 2 + 1);                /* constraint, settle, site */
    put_i32(w, 2);                          /* site of two atoms */
    put_reals(w, 1);
    if (v->version < 83)
        put_integers(w, 2);
    put_reals(w, v->version < 83 ? 3 : 6); /* restraint of a dihedral */
    if (v->version >= 73) {
        put_integers(w, 2);
        put_reals(w, 8);
    }
}

static void put_block(writer *w, int type, int count, int atoms, int restrained)
{
    put_i32(w, type);
    put_i32(w, count);
    put_i32(w, atoms);
    put_i32(w, restrained);
    put_reals(w, 3 * restrained);
    put_i32(w, 0);
}

/* Two mixed molecules and three ions: 17 atoms. The head states the size of the body, divided by `divisor`. */
static io_image write_file(const struct version *version, size_t real, size_t divisor,
                           size_t *topology_end)
{
    writer head = {.version = version, .real = real};
    writer w = {.version = version, .real = real, .in_memory = version->version >= 119};

    put_head(&head, 17, "release");
    put_reals(&w, 27);                                /* box */
    put_reals(&w, version->version < 73 ? 2 * 2 : 2); /* groups of temperatures */
    put_i32(&w, sizeof symbols / sizeof *symbols);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        put_text(&w, symbols[i]);
    put_i32(&w, 0);
    put_parameters(&w);
    put_i32(&w, 2);
    put_mixed(&w);
    put_ion(&w);
    put_i32(&w, 2);
    put_block(&w, 0, 2, 7, 2);
    put_block(&w, 1, 3, 1, 0);
    put_i32(&w, 17);
    *topology_end = w.image.size;
    put_reals(&w, 40); /* what is not read */
    if (w.in_memory) {
        put_i32(&head, 0);
        put_i32(&head, (int32_t)(w.image.size / divisor));
    }
    *topology_end += head.image.size;
    io_put(&head.image, w.image.data, w.image.size);
    free(w.image.data);
    return head.image;
}

TEST(versions_of_all_releases)
{
    static const trajectory_bond bonds[] = {{0, 1}, {0, 5},  {1, 2}, {2, 3},  {2, 4},  {2, 6},
                                            {7, 8}, {7, 12}, {8, 9}, {9, 10}, {9, 11}, {9, 13}};
    static const int32_t ids[] = {4, 4, 5, 5, 5, 5, 5, 4, 4, 5, 5, 5, 5, 5, 6, 7, 8};
    static const int32_t old[] = {1, 1, 2, 2, 2, 2, 2, 1, 1, 2, 2, 2, 2, 2, 3, 4, 5};

    for (size_t i = 0; i < 2 * VERSIONS; i++) {
        const struct version *v = &versions[i / 2];
        size_t real = i % 2 ? 8 : 4, end;
        io_image image = write_file(v, real, 1, &end);
        OWNED(trajectory_topology) *t = NULL;
        collet_error err;

        io_save(path(), image.data, image.size);
        free(image.data);
        assert_int_equal(trajectory_topology_read(path(), NULL, &t, &err), COLLET_OK);
        assert_int_equal(t->n_atoms, 17);
        assert_string_equal(t->title, "system");
        assert_string_equal(t->names[8], "C2");
        assert_string_equal(t->residue_names[8], "LIG");
        assert_string_equal(t->residue_names[16], "ION");
        assert_string_equal(t->segments[13], "Mixed");
        assert_string_equal(t->elements[14], "Na");
        assert_string_equal(t->elements[5], "");
        assert_memory_equal(t->residue_ids, v->version < 73 ? old : ids, sizeof ids);
        assert_true(v->version < 73 ? !t->insertions
                                    : t->insertions[2] == 'B' && t->insertions[1] == 0);
        assert_true(t->masses[7] == 12 && t->masses[11] == 2 && t->masses[16] == 23);
        assert_true(t->charges[0] == 0.5 && t->charges[15] == 1);
        assert_int_equal(t->n_bonds, 12);
        assert_memory_equal(t->bonds, bonds, sizeof bonds);
    }
}

/* A file is refused if it ends before the end of its topology, or is shorter than its head states. */
TEST(truncations)
{
    static const size_t chosen[] = {0, 2, 8, VERSIONS - 1};

    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        const struct version *v = &versions[chosen[i]];
        size_t end;
        OWNED(io_image) image = write_file(v, 4, 1, &end);

        for (size_t cut = 16; cut <= image.size; cut++) {
            OWNED(trajectory_topology) *t = NULL;
            collet_error err;
            size_t needed = v->version < 119 ? end : image.size;
            io_save(path(), image.data, cut);
            assert_int_equal(trajectory_topology_read(path(), NULL, &t, &err),
                             cut < needed ? COLLET_FORMAT : COLLET_OK);
        }
    }
}

/* ---- Refusals ------------------------------------------------------------------------------ */

static void expect_refusal(const void *data, size_t size, const char *message)
{
    trajectory_topology *t;
    collet_error err;

    io_save(path(), data, size);
    assert_int_equal(trajectory_topology_read(path(), NULL, &t, &err), COLLET_FORMAT);
    assert_null(t);
    assert_contains(err.text, message, "case.tpr: byte ");
}

TEST(other_versions)
{
    static const struct {
        struct version version;
        const char *tag, *message;
    } cases[] = {
        {{.version = 40, .generation = 7},
         "release",
         "VERSION 4711.0 is older than GROMACS 4.0, whose version of the format is 58, this file's "
         "40; the .top file that gmx grompp read has masses and bonds too"},
        {{.version = 80, .generation = 24},
         "release",
         "version 80 of the format, of VERSION 4711.0, "
         "was never released"},
        {{.version = 64, .generation = 20}, "release", "was never released"},
        {{.version = 119, .generation = 26}, "release", "is a beta of GROMACS 2020"},
        {{.version = 140, .generation = 30},
         "release",
         "writes generation 30 of the format; the newest known is 29"},
        {{.version = 138, .generation = 29},
         "branch",
         "is a modified GROMACS, whose format is its "
         "own (tag 'branch')"},
    };
    size_t end;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        writer w = {.version = &cases[i].version, .real = 4};
        put_head(&w, 17, cases[i].tag);
        put_reals(&w, 100);
        expect_refusal(w.image.data, w.image.size, cases[i].message);
        free(w.image.data);
    }
    /* A beta stores each byte of the body in four bytes. */
    OWNED(io_image) image = write_file(&versions[8], 4, 4, &end);
    expect_refusal(image.data, image.size,
                   "is a beta of GROMACS 2020, whose format no release has");
}

/* Overwrites 4 bytes at every place of the topology with -1 and with INT32_MAX: the file is refused, or read without
 * a fault. */
TEST(any_integer)
{
    static const size_t chosen[] = {1, VERSIONS - 1};

    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        size_t end;
        OWNED(io_image) image = write_file(&versions[chosen[i]], 4, 1, &end);

        for (size_t at = 0; at + 4 <= end; at++)
            for (int value = 0; value < 2; value++) {
                uint8_t kept[4];
                OWNED(trajectory_topology) *t = NULL;
                collet_error err;
                memcpy(kept, image.data + at, 4);
                memcpy(image.data + at, value ? "\x7f\xff\xff\xff" : "\xff\xff\xff\xff", 4);
                io_save(path(), image.data, image.size);
                memcpy(image.data + at, kept, 4);
                if (trajectory_topology_read(path(), NULL, &t, &err) == COLLET_OK)
                    assert_int_equal(t->n_atoms, 17);
            }
    }
}

/* Replaces the first 4-byte integers `from` (n of them in a row) by `to`. */
static void expect_change(const int32_t *from, size_t n, size_t which, int32_t to,
                          const char *message)
{
    OWNED(io_image) pattern = {.size = 0}, value = {.size = 0};
    size_t end;
    OWNED(io_image) image = write_file(&versions[VERSIONS - 1], 4, 1, &end);

    for (size_t i = 0; i < n; i++)
        io_put_i32(&pattern, from[i]);
    io_put_i32(&value, to);
    uint8_t *at = memmem(image.data, image.size, pattern.data, pattern.size);
    assert_non_null(at);
    memcpy(at + 4 * which, value.data, 4);
    expect_refusal(image.data, image.size, message);
}

TEST(contradictions)
{
    expect_change((const int32_t[]){17, 2}, 2, 0, 18,
                  "the head announces 18 atoms, the topology 17, and its molecules have 17");
    expect_change((const int32_t[]){3, 0, 1, 0}, 4, 2, 7,
                  "a bond joins atoms 8 and 1, but the molecule type 'Mixed' has 7 atoms");
    expect_change((const int32_t[]){3, 0, 1, 0}, 4, 0, 4,
                  "4 integers are not a whole number of interactions of 3 each");
    expect_change((const int32_t[]){1, 3, 1, 0}, 4, 2, 2,
                  "molecules of type 2 contradict their type");
    expect_change((const int32_t[]){1, 3, 1, 0}, 4, 0, 2, "the molecule type 2 does not exist");
    expect_change((const int32_t[]){1, 3, 1, 0}, 4, 1, INT32_MAX,
                  "too many: this machine can hold");
    expect_change((const int32_t[]){2, 3, 5, 6}, 4, 0, 11,
                  "the name 11 does not exist: there are 11");
    expect_change((const int32_t[]){2, 11, 0, 2}, 4, 3, 40, "interaction 40 is unknown");
}

TEST_GROUP(make_directory, remove_directory)
