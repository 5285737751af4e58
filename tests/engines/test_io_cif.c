/* SPDX-License-Identifier: Apache-2.0 */
/* mmCIF files: words, columns, locations, models, boxes, truncated and malformed files. */
#include "directory.h"

static const char *path(void)
{
    return io_path(directory, "case.cif");
}

#define CELL                                                                                       \
    "_cell.length_a 30.0(2)\n_cell.length_b 40.0\n_cell.length_c 50.0\n_cell.angle_alpha 90\n"     \
    "_cell.angle_beta 90.00\n_cell.angle_gamma 90.\n"
#define ITEMS                                                                                      \
    "loop_\n_atom_site.group_PDB\n_atom_site.type_symbol\n_ATOM_SITE.label_atom_id\n"              \
    "_atom_site.label_alt_id\n_atom_site.label_comp_id\n_atom_site.label_asym_id\n"                \
    "_atom_site.label_seq_id\n_atom_site.pdbx_PDB_ins_code\n_atom_site.Cartn_x\n"                  \
    "_atom_site.Cartn_y\n_atom_site.Cartn_z\n_atom_site.auth_seq_id\n_atom_site.auth_asym_id\n"    \
    "_atom_site.pdbx_PDB_model_num\n"
#define N(model) "ATOM N N . ALA X 1 ? 1.0 2.000 -3.0 7 A " model "\n"
#define CA(model)                                                                                  \
    "ATOM C CA B ALA X 1 ? 2.0 2.000 -3.0 7 A " model "\n"                                         \
    "ATOM C CA A ALA X 1 ? 2.5 2.000 -3.0 7 A " model "\n"
#define O5(model) "HETATM O \"O5'\" . 'H O' Y . A 3.0 2.000\n-3.0 . B " model " # words\n"
#define MODEL(number) N(number) CA(number) O5(number)
#define ATOMS "data_X\n_struct.title 'A \"title\"'\n" CELL "#\n" ITEMS

TEST(columns)
{
    OWNED(trajectory_topology) *t = io_topology(path(), ATOMS MODEL("1") "#\nloop_\n_x.y\n1\n");
    static const int32_t ids[] = {7, 7, 0};

    assert_int_equal(t->n_atoms, 3);
    assert_int_equal(t->left_out, 1);
    assert_string_equal(t->format, "cif");
    assert_string_equal(t->title, "A \"title\"");
    assert_string_equal(t->names[1], "CA");
    assert_string_equal(t->names[2], "O5'");
    assert_string_equal(t->residue_names[0], "ALA");
    assert_string_equal(t->residue_names[2], "H O");
    assert_string_equal(t->chains[0], "A");
    assert_string_equal(t->chains[2], "B");
    assert_string_equal(t->elements[1], "C");
    assert_memory_equal(t->insertions, "\0\0A", 3);
    assert_memory_equal(t->residue_ids, ids, sizeof ids);
    assert_null(t->bonds);
}

/* Texts of several lines, comments, unknown loops and items. If author ids are missing, label ids are
 * used. */
TEST(words)
{
    OWNED(trajectory_topology) *t = io_topology(
        path(),
        "# comment\n\nDATA_x\r\nloop_ _a.b _a.c\n 1 ;2\n;text\nloop_\n_atom_site.Cartn_x\n;\n"
        "'it's' # no\n_struct.title\n;the title\nmore\n;\n"
        "LOOP_\n_atom_site.Cartn_z _atom_site.Cartn_y _atom_site.Cartn_x\n"
        "_atom_site.auth_atom_id _atom_site.auth_comp_id _atom_site.label_asym_id\n"
        "_atom_site.label_seq_id _atom_site.type_symbol\n"
        "1 2 3 \"C 1\" ? A 5 'C'\n_C1 X\n");

    assert_int_equal(t->n_atoms, 1); /* _C1 is the name of an item */
    trajectory_topology_free(t);
    t = io_topology(path(), "data_x\nloop_\n_atom_site.Cartn_z _atom_site.Cartn_y "
                            "_atom_site.Cartn_x\n_atom_site.auth_atom_id _atom_site.label_asym_id\n"
                            "_atom_site.label_seq_id _atom_site.type_symbol\n"
                            "1 2 3 \"C 1\" A 5 'C'\n1 2 3e0\n;_C1\n; A 6 X1\n");
    assert_int_equal(t->n_atoms, 2);
    assert_string_equal(t->names[0], "C 1");
    assert_string_equal(t->names[1], "_C1");
    assert_string_equal(t->residue_names[0], "");
    assert_string_equal(t->chains[1], "A");
    assert_int_equal(t->residue_ids[1], 6);
    assert_string_equal(t->elements[1], "");
}

/* Reads to the end or an error; expects `n_frames` valid frames and a message with `text`. */
static void expect(const char *text, size_t size, int64_t n_frames, int truncated,
                   const char *message)
{
    OWNED(trajectory_frames) *frames = io_expect(path(), text, size, n_frames, truncated, message);
    for (int64_t i = 0; i < n_frames; i++) {
        const double *x = (const double *)frames->positions + i * 9, *box = frames->boxes + i * 9;
        assert_true(x[0] == 0.1 && x[3] == 0.2 && x[6] == 0.3 && x[8] == -0.3);
        assert_true(box[0] == 3 && box[4] == 4 && box[8] == 5);
    }
}

#define MODELS ATOMS MODEL("1") MODEL("2") MODEL("5")

TEST(models)
{
    static const char text[] = MODELS "#\n";
    static const char late[] =
        "data_x\n" ITEMS MODEL("1") MODEL("2") "loop_\n_atom_site.Cartn_x\n1\n" CELL;

    expect(text, sizeof text - 1, 3, 0, NULL);
    expect(late, sizeof late - 1, 2, 0, NULL); /* the box is after the atoms */
    OWNED(trajectory_reader) *r = NULL;
    io_save(path(), text, sizeof text - 1);
    r = io_open(path());
    static const int64_t indices[] = {1, 2};
    assert_int_equal(trajectory_reader_select(r, indices, 2, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_slice(r, 1, -1, 1, NULL), COLLET_OK);
    OWNED(trajectory_frames) *frames = io_batch(r, 10, 1);
    io_read(r, frames, 2);
    assert_true(((const double *)frames->positions)[6] == 0.2);
}

/* If a file is truncated inside a model, the frames before the model are read. */
TEST(truncations)
{
    static const char text[] = MODELS;
    const char *second = strstr(text, MODEL("2")), *third = strstr(text, MODEL("5"));

    /* Until the model number of a truncated row is known, the row counts as part of the model before it.
     * So cuts in the first row of a model are not tested here. */
    for (const char *cut = second + strlen(N("2")); cut < text + sizeof text - 10; cut++) {
        int whole =
            cut >= third - 8 && cut <= third; /* the last row is complete, with its last blank */
        expect(text, (size_t)(cut - text), cut < third - 8 ? 1 : 2, !whole,
               whole ? NULL : "the file ends at byte");
    }
    io_save(path(), text, (size_t)(strstr(text, "HETATM") + 10 - text));
    io_refuse(path(), "inside frame 0");
}

TEST(models_that_differ)
{
    static const io_malformed cases[] = {
        {ATOMS MODEL("1") N("2") CA("2") MODEL("3"), "has 2 atoms, the first frame has 3"},
        {ATOMS MODEL("1") N("2") "#\nloop_\n", "has 1 atoms, the first frame has 3"},
        {ATOMS MODEL("1") N("2") "ATOM C CA . ALA X 1 ? 2.0 x -3.0 7 A 2\n" O5("2") "#\ndata_Y\n",
         ":31: Cartn_y is not a number: 'x' (frame 1)"},
        {ATOMS MODEL("1") N("2") "ATOM C CA . ALA\nloop_\n",
         ":32: a row of _atom_site ends after 5 of its 14 values (frame 1)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].text, strlen(cases[i].text), 1, 0, cases[i].message);
}

static const io_malformed bad[] = {
    {"data_x\n", ": there are no atoms: no loop_ has _atom_site.Cartn_x"},
    {"data_x\nloop_\n_atom_site_fract_x\n1\n", ": there are no atoms"},
    {"data_x\nloop_\n_atom_site.Cartn_x\n1\n", ":3: the loop of atoms has no _atom_site.Cartn_y"},
    {"data_x\nloop_\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n1\n", "has no _atom_site.Cartn_z"},
    {ATOMS "#\n", "the loop of atoms has no rows"},
    {ATOMS "ATOM N N . ALA X 1 ? 1.0 2.000\n",
     "a row of _atom_site ends after 10 of its 14 values"},
    {ATOMS "ATOM N N . ALA X 1 ? 1.0 2.000 ? 7 A 1\n", ":25: Cartn_z is not a number: ''"},
    {ATOMS "ATOM N N . ALA X 1 ? 1.0 2.000 3.0 B A 1\n", ":25: the residue number is 'B'"},
    {ATOMS "ATOM N N . ALA X 1 ? 1.0 2.000 3.0 4294967296 A 1\n", ":25: the residue number is"},
    {ATOMS "ATOM N 1234567890123456 . ALA X 1 ? 1.0 2.000 3.0 7 A 1\n",
     ":25: the name '1234567890123456' has more than 15 letters"},
    {ATOMS "ATOM N 'N . ALA X 1 ? 1.0 2.000 3.0 7 A 1\n",
     ":25: the line has no ' that ends a value"},
    {ATOMS "ATOM N\n;N . ALA X 1 ? 1.0 2.000 3.0 7 A 1\n",
     "the file ends inside the text that begins in line 26 with ';'"},
};

TEST(messages_point_at_the_line)
{
    io_refuse_topologies(path(), bad, sizeof bad / sizeof *bad);
}

TEST_GROUP(make_directory, remove_directory)
