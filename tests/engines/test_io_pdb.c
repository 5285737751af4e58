/* SPDX-License-Identifier: Apache-2.0 */
/* .pdb files: columns, locations, numbers that overflow, models, truncations and messages. */

#include "directory.h"
#include "io/numerals.h"

/* Columns:  1234567890123456789012345678901234567890123456789012345678901234567890123456789012 */
#define N1 "ATOM      1  N   ALA A   1       1.000   2.000  -3.000  1.00  0.00           N  \n"
#define CA1 "ATOM      2  CA  ALA A   1      11.500   2.250   3.125  1.00  0.00           C  \n"
#define CA2 "HETATM    3 CA    CA B   2    -999.999 999.999   0.001  1.00  0.00          CA2+\n"
#define THREE N1 CA1 CA2

static const char *save(const char *text, size_t size)
{
    return io_save(io_path(directory, "case.pdb"), text, size);
}

static trajectory_topology *read_text(const char *text)
{
    return io_topology(io_path(directory, "case.pdb"), text);
}

TEST(columns)
{
    static const double expected[9] = {0.1,    0.2,      -0.3,    1.15,  0.225,
                                       0.3125, -99.9999, 99.9999, 0.0001};
    trajectory_topology *t =
        read_text("HEADER    PROTEIN\nTITLE     TWO RESIDUES   \r\nREMARK   1\n" THREE "END\n");

    assert_int_equal(t->n_atoms, 3);
    assert_string_equal(t->format, "pdb");
    assert_string_equal(t->title, "TWO RESIDUES");
    assert_string_equal(t->names[1], "CA");
    assert_string_equal(t->names[2], "CA");
    assert_string_equal(t->residue_names[0], "ALA");
    assert_string_equal(t->residue_names[2], "CA");
    assert_string_equal(t->elements[1], "C");
    assert_string_equal(t->elements[2], "CA");
    assert_int_equal(t->residue_ids[1], 1);
    assert_int_equal(t->residue_ids[2], 2);
    assert_string_equal(t->chains[1], "A");
    assert_string_equal(t->chains[2], "B");
    assert_null(t->segments);
    assert_null(t->insertions);
    assert_null(t->bonds);
    assert_int_equal(t->lacking, -1);
    assert_int_equal(t->left_out, 0);
    trajectory_topology_free(t);

    OWNED(trajectory_reader) *r = io_open(io_path(directory, "case.pdb"));
    OWNED(trajectory_frames) *frames = io_batch(r, 2, 1);
    assert_string_equal(trajectory_reader_get_info(r)->format, "pdb");
    assert_false(trajectory_reader_get_info(r)->has_times);
    io_read(r, frames, 1);
    assert_memory_equal(frames->positions, expected, sizeof expected);
}

/* Alternate locations: the reader takes the atoms without a location, and the first location of each residue. */
TEST(locations)
{
    trajectory_topology *t = read_text("ATOM      1  N   SER A   1       1.000   2.000   3.000\n"
                                       "ATOM      2  CA BSER A   1       2.000   2.000   3.000\n"
                                       "ATOM      3  CA ASER A   1       3.000   2.000   3.000\n"
                                       "ATOM      4  CB BSER A   1       4.000   2.000   3.000\n"
                                       "ATOM      5  OG ATHR A   1       5.000   2.000   3.000\n"
                                       "ATOM      6  N  AGLY A   1A      6.000   2.000   3.000\n"
                                       "ATOM      7  N  BGLY A   1A      7.000   2.000   3.000\n"
                                       "HETATM    8  O  BHOH A   2       8.000   2.000   3.000\n");
    static const double x[] = {0.1, 0.2, 0.4, 0.6, 0.8};

    assert_int_equal(t->n_atoms, 5);
    assert_int_equal(t->left_out, 3);
    assert_string_equal(t->names[2], "CB");
    assert_int_equal(t->residue_ids[3], 1);
    assert_null(t->elements);
    assert_memory_equal(t->insertions, "\0\0\0A\0", 5);
    trajectory_topology_free(t);
    OWNED(trajectory_reader) *r = io_open(io_path(directory, "case.pdb"));
    OWNED(trajectory_frames) *frames = io_batch(r, 1, 1);
    assert_int_equal(trajectory_reader_read(r, frames, NULL), COLLET_OK);
    for (size_t i = 0; i < 5; i++)
        assert_true(((const double *)frames->positions)[3 * i] == x[i]);
}

/* Residue and serial numbers that do not fit into their columns, in the forms that programs
 * write. */
TEST(numbers_that_overflow)
{
    static const struct {
        const char *text;
        int32_t residue;
    } cases[] = {
        {"ATOM  99999  CA  ALA A9999       1.500   2.000   3.000\n", 9999},
        {"ATOM  A0000  CA  ALA AA000       1.500   2.000   3.000\n", 10000},
        {"ATOM  A0000  CA  ALA AA00Z       1.500   2.000   3.000\n", 10035},
        {"ATOM  zzzzz  CA  ALA AZZZZ       1.500   2.000   3.000\n", 1223055},
        {"ATOM  *****  CA  ALA Aa000       1.500   2.000   3.000\n", 1223056},
        {"ATOM  186a0  CA  ALA A   0       1.500   2.000   3.000\n", 0},
        {"ATOM  186a0  CA  ALA A-999       1.500   2.000   3.000\n", -999},
        {"ATOM 100000  CA  ALA A10000      1.500   2.000   3.000\n", 10000},
        {"ATOM  100000  CA  ALA A  12       1.500   2.000   3.000\n", 12},
        {"HETATM12345678  CA  ALA A  12       1.500   2.000   3.000\n", 12},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trajectory_topology *t = read_text(cases[i].text);
        assert_int_equal(t->residue_ids[0], cases[i].residue);
        assert_string_equal(t->names[0], "CA");
        assert_string_equal(t->residue_names[0], "ALA");
        trajectory_topology_free(t);
        OWNED(trajectory_reader) *r = io_open(io_path(directory, "case.pdb"));
        OWNED(trajectory_frames) *frames = io_batch(r, 1, 1);
        assert_int_equal(trajectory_reader_read(r, frames, NULL), COLLET_OK);
        assert_true(((const double *)frames->positions)[0] == 0.15);
    }
    /* VMD continues in hexadecimal: directly after 9999 the text 2710 means 10000, elsewhere it means 2710. */
    OWNED(trajectory_topology) *t =
        read_text("ATOM      1  OH2 TIP3W2710       1.000   2.000   3.000\n"
                  "ATOM      2  OH2 TIP3W9999       1.000   2.000   3.000\n"
                  "ATOM      3  OH2 TIP3W2710       1.000   2.000   3.000\n"
                  "ATOM      4  H1  TIP3W2710       1.000   2.000   3.000\n"
                  "ATOM      5  OH2 TIP3W2711       1.000   2.000   3.000\n"
                  "ATOM      6  OH2 TIP3W   1       1.000   2.000   3.000\n");
    static const int32_t ids[] = {2710, 9999, 10000, 10000, 10001, 1};
    assert_memory_equal(t->residue_ids, ids, sizeof ids);
    assert_string_equal(t->residue_names[0], "TIP3");
}

TEST(segments)
{
    OWNED(trajectory_topology) *t =
        read_text("ATOM      1  N   ALA     1       1.000   2.000  -3.000  1.00  0.00      PROT\n"
                  "ATOM      2  CA  ALA     1      11.500   2.250   3.125  1.00  0.00      B\n"
                  "ATOM      3  CA  ALA     1      11.500   2.250   3.125  1.00  0.00\n");

    assert_string_equal(t->segments[0], "PROT");
    assert_string_equal(t->segments[1], "B");
    assert_string_equal(t->segments[2], "");
    assert_null(t->chains);
}

/* ---- Bonds ------------------------------------------------------------------------------- */

#define ATOM(serial) "ATOM  " serial "  CA  ALA A   1       1.500   2.000   3.000\n"

/* Each case has a text, the expected bonds, such as "0-1 0-2 ", and the number of omitted bonds. */
TEST(bonds)
{
    static const struct {
        const char *text;
        const char *bonds; /* NULL: none are known */
        int64_t left_out;
    } cases[] = {
        {THREE "END\n", NULL, 0},
        {THREE "CONECT    1    2    3\nCONECT    2    1\nEND\n", "0-1 0-2 ", 0},
        /* Numbers without blanks between them, more columns, numbers that no atom in the file has. */
        {ATOM("12345") "TER   12346\n" ATOM("12347")
             ATOM("12348") "CONECT123451234712348   99\n"
                           "CONECT   99   98\n"
                           "CONECT12347               1234812345\n",
         "0-1 0-2 1-2 ", 0},
        /* Hybrid-36, hexadecimal. */
        {ATOM("99999") ATOM("A0000") ATOM("186a1") "CONECTA000099999\r\nCONECT186a199999\r\n",
         "0-1 0-2 ", 0},
        /* Six digits, as "%5d" writes them. */
        {ATOM("99999") "ATOM  100000  CA  ALA A   1       1.500   2.000   3.000\n"
                       "ATOM 100001  CA  ALA A   1       1.500   2.000   3.000\n"
                       "CONECT99999 100000 100001\n",
         "0-1 0-2 ", 0},
        /* Six digits without blanks, next to columns of five digits; a number that no atom has. */
        {ATOM("99998") ATOM("99999") "ATOM  100000  CA  ALA A   1       1.500   2.000   3.000\n"
                                     "CONECT9999899999\nCONECT99999100000\n"
                                     "CONECT10000099998\n",
         "0-1 0-2 1-2 ", 0},
        {ATOM("99999") "ATOM  100000  CA  ALA A   1       1.500   2.000   3.000\n"
                       "CONECT99999100000\nCONECT99999100007\n",
         "0-1 ", 1},
        /* Numbers that begin again. */
        {ATOM("    1") ATOM("    2") ATOM("99999") ATOM("    1") ATOM(
             "    0") "CONECT    1    2\nCONECT    299999\nCONECT    0    1\nCONECT    3    1\n",
         "1-2 ", 3},
        {ATOM("*****") ATOM("*****") ATOM("    1") "CONECT*****    1\n", NULL, 1},
        /* Records in the first model and after the last model. */
        {"MODEL 1\n" THREE "CONECT    1    2\nENDMDL\nMODEL 2\n" THREE
         "ENDMDL\nCONECT    1    3\nEND\n",
         "0-1 0-2 ", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(trajectory_topology) *t = read_text(cases[i].text);
        char text[100] = "";

        for (int64_t b = 0; b < t->n_bonds; b++)
            snprintf(text + strlen(text), 10, "%d-%d ", (int)t->bonds[b].first,
                     (int)t->bonds[b].second);
        assert_true((t->bonds == NULL) == (cases[i].bonds == NULL));
        assert_string_equal(text, cases[i].bonds ? cases[i].bonds : "");
        assert_int_equal(t->bonds_left_out, cases[i].left_out);
    }
}

/* The records at the end of a file of many models are found without reading all models. The last
 * records are longer than the part that the reader searches first. */
TEST(bonds_after_many_models)
{
    OWNED(io_image) text = {0};
    const char *inner = "CONECT    1    2\n", *last = "CONECT    2    3\n";

    for (int i = 0; i < 1000; i++) {
        io_put(&text, "MODEL 1\n" THREE, sizeof "MODEL 1\n" THREE - 1);
        if (i == 500) /* not of the first model */
            io_put(&text, inner, strlen(inner));
        io_put(&text, "ENDMDL\n", 7);
    }
    for (size_t i = 0; i < 6000; i++)
        io_put(&text, i == 0 ? "CONECT    1    3\n" : last, strlen(last));
    save((const char *)text.data, text.size);
    OWNED(trajectory_topology) *t = NULL;
    assert_int_equal(trajectory_topology_read(io_path(directory, "case.pdb"), NULL, &t, NULL),
                     COLLET_OK);
    static const trajectory_bond expected[] = {{0, 2}, {1, 2}};
    assert_int_equal(t->n_bonds, 2);
    assert_memory_equal(t->bonds, expected, sizeof expected);
}

/* ---- Models ------------------------------------------------------------------------------ */

#define MODEL(time) "TITLE     made t= " time " step= 7\nCRYST1    1.000\nMODEL        1\n" THREE
#define MODELS MODEL("0.5") "TER\nENDMDL\n" MODEL("1.0") "TER\nENDMDL\n" MODEL("1.5") "ENDMDL\n"
#define TAIL "CONECT    1    2\nMASTER\nEND\n\n"

/* Reads to the end or an error; expects `n_frames` valid frames and a message with `text`. */
static void expect(const char *text, size_t size, int64_t n_frames, int truncated,
                   const char *message)
{
    OWNED(trajectory_frames) *frames =
        io_expect_frames(save(text, size), 10, n_frames, truncated, message);
    for (int64_t i = 0; i < n_frames; i++)
        assert_true(((const double *)frames->positions)[i * 9] == 0.1);
}

TEST(models)
{
    static const char *const texts[] = {
        MODELS,
        MODELS TAIL,
        THREE "END\n" THREE "END\n" THREE "END\n",
        "CRYST1\n" THREE "TER\nEND\n" THREE "END\nREMARK\nCRYST1\n" THREE,
        "MODEL        1\r\n" THREE "ENDMDL\r\nMODEL        2\n" THREE "MODEL        3\n" THREE
        "ENDMDL",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        expect(texts[i], strlen(texts[i]), 3, 0, NULL);
        OWNED(trajectory_topology) *t = read_text(texts[i]);
        assert_int_equal(t->n_atoms, 3);
    }
    OWNED(trajectory_reader) *r = io_open(save(MODELS TAIL, strlen(MODELS TAIL)));
    OWNED(trajectory_frames) *frames = NULL;
    static const int64_t indices[] = {0, 2};
    assert_int_equal(trajectory_reader_select(r, indices, 2, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_slice(r, 1, -1, 1, NULL), COLLET_OK);
    frames = io_batch(r, 10, 1);
    io_read(r, frames, 2);
    assert_true(frames->times[0] == 1.0 && frames->times[1] == 1.5);
    const double *x = frames->positions;
    assert_true(x[0] == 0.1 && x[3] == -99.9999 && x[9] == -99.9999);
}

/* A frame without a box has the previous box. A cube of 1 Angstrom stands for no box. */
TEST(boxes)
{
    static const char text[] =
        "CRYST1   30.000   40.000   50.000  90.00  90.00  60.00 P 1           1\n"
        "MODEL        1\n" THREE "ENDMDL\nMODEL        2\n" THREE "ENDMDL\n"
        "CRYST1   60.000   40.000   50.000  90.00  90.00  90.00\n"
        "MODEL        3\n" THREE "ENDMDL\nMODEL        4\n"
        "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00\n" THREE "ENDMDL\nMODEL 5\n"
        "CRYST1   60.000   40.000\n" THREE "ENDMDL\n";
    static const double expected[5][9] = {{3, 0, 0, 2, 3.4641016151377544, 0, 0, 0, 5},
                                          {3, 0, 0, 2, 3.4641016151377544, 0, 0, 0, 5},
                                          {6, 0, 0, 0, 4, 0, 0, 0, 5}};
    OWNED(trajectory_reader) *r = io_open(save(text, sizeof text - 1));
    OWNED(trajectory_frames) *frames = io_batch(r, 5, 1);

    io_read(r, frames, 5);
    for (size_t i = 0; i < 45; i++)
        assert_true(fabs(frames->boxes[i] - expected[i / 9][i % 9]) < 1e-14);
}

/* The frames before a cut are read, wherever the cut is. A cut inside a model is reported, a cut
 * between two models is not. */
TEST(truncations)
{
    static const char text[] = MODELS;
    const char *first = strstr(text, "ENDMDL") + 6, *second = strstr(first, "ENDMDL") + 6;
    const char *models_begin[] = {strstr(first, "MODEL"), strstr(second, "MODEL")};

    for (const char *cut = first; cut < text + sizeof text - 2; cut++) {
        int in_model = (cut >= models_begin[0] + 5 && cut < second) || cut >= models_begin[1] + 5;
        expect(text, (size_t)(cut - text), cut < second ? 1 : 2, in_model,
               in_model ? "the file ends at byte" : NULL);
    }
    static const char ends[] = THREE "END\n" THREE "END\n";
    /* A frame is complete if it has all positions, even if its last line is cut. */
    const size_t last = 2 * (sizeof THREE - 1) + 4 - (sizeof CA2 - 1) + 54;
    for (size_t cut = sizeof THREE + 9; cut < sizeof ends; cut++)
        expect(ends, cut, cut < last ? 1 : 2, cut < last,
               cut < last ? "inside frame 1, which begins at byte" : NULL);
    const size_t inside = (size_t)(strstr(text, "ENDMDL") - text);
    io_refuse(save(text, inside), "inside frame 0");
    io_refuse(save(N1, 50), "inside frame 0");
}

TEST(models_that_differ)
{
    static const io_malformed cases[] = {
        {THREE "END\n" N1 CA1 "END\n", "has 2 atoms, the first frame has 3"},
        {"MODEL 1\n" THREE "ENDMDL\nMODEL 2\nENDMDL\n", "has 0 atoms, the first frame has 3"},
        {THREE "END\n" N1 "ATOM      2  CA  ALA A   1      ********   2.250   3.125\n" CA2 "END\n",
         ":6: position x in columns 31-38 is not a number: '  ******' (frame 1)"},
        {THREE "END\n" N1 "ATOM      2  CA\n" CA2 "END\n",
         ":6: an atom's line has 54 columns, this one has 15 (frame 1)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].text, strlen(cases[i].text), 1, 0, cases[i].message);
}

TEST(messages_point_at_the_line)
{
    static const io_malformed bad[] = {
        {"HEADER    PROTEIN\n", ": there are no atoms: no line begins with ATOM or HETATM"},
        {"MODEL        1\n" THREE, ":5: the file ends inside the first model, after 3 atoms"},
        {N1 "ATOM      2  CA  ALA A****       1.000   2.000   3.000\n",
         ":2: the residue number in columns 23-26 is neither decimal nor hybrid-36: '****'"},
        {N1 "ATOM      2  CA  ALA AAb00       1.000   2.000   3.000\n", "hybrid-36: 'Ab00'"},
        {N1 "ATOM      2  CA  ALA A 1.0       1.000   2.000   3.000\n", "hybrid-36: ' 1.0'"},
        {N1 "ATOM      2  CA  ALA A   1       1.000   2.0x0   3.000\n",
         ":2: position y in columns 39-46 is not a number: '   2.0x0'"},
        {N1 "ATOM      2  CA  ALA A   1       1.000   2.000\n",
         ":2: an atom's line has 54 columns, this one has 46"},
    };

    io_refuse_topologies(io_path(directory, "case.pdb"), bad, sizeof bad / sizeof *bad);
}

/* The frames equal the frames of a .trr file to the three decimals of an Angstrom that .pdb stores. */
TEST(frames_of_a_run)
{
    OWNED(trajectory_reader) *trr = io_open(COLLET_TEST_DATA "/md/peptide/traj_double.trr");
    OWNED(trajectory_frames) *exact = io_batch(trr, 5, 0);
    const double *x;
    OWNED(io_image) text = {0};
    char line[100];
    locale_t before = io_numerals_begin();

    assert_int_equal(trajectory_reader_read(trr, exact, NULL), COLLET_OK);
    x = exact->positions;
    for (int64_t i = 0; i < exact->n_frames * exact->n_atoms; i++, x += 3) {
        int n = snprintf(line, sizeof line, "%sATOM  %5d  C   ALA A%4d    %8.3f%8.3f%8.3f\n",
                         i > 0 && i % exact->n_atoms == 0 ? "END\n" : "", 1, 1, 10 * x[0],
                         10 * x[1], 10 * x[2]);
        io_put(&text, line, (size_t)n);
    }
    io_numerals_end(before);
    OWNED(trajectory_reader) *pdb = io_open(save((const char *)text.data, text.size));
    OWNED(trajectory_frames) *frames = io_batch(pdb, 6, 0);
    io_read(pdb, frames, 5);
    for (int64_t i = 0; i < 5 * exact->n_atoms * 3; i++) {
        double difference =
            ((const double *)frames->positions)[i] - ((const double *)exact->positions)[i];
        assert_true(difference < 0.5001e-4 && difference > -0.5001e-4);
    }
}

TEST_GROUP(make_directory, remove_directory)
