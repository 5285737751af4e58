/* SPDX-License-Identifier: Apache-2.0 */
/* The topology of .gro files: contents, and the positions in error messages. */
#include "io/decimal.h"
#include "directory.h"

static trajectory_topology *read_text(const char *text)
{
    return io_topology(io_path(directory, "case.gro"), text);
}

/* Reads the saved file as a trajectory and checks its only atom; `velocity` NULL: it has none. */
static void expect_atom(const double position[3], const double *velocity)
{
    OWNED(trajectory_reader) *t = io_open(io_path(directory, "case.gro"));
    OWNED(trajectory_frames) *frames = io_batch(t, 1, 1);

    assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_OK);
    assert_memory_equal(frames->positions, position, 3 * sizeof *position);
    assert_int_equal(frames->velocities == NULL, velocity == NULL);
    if (velocity)
        assert_memory_equal(frames->velocities, velocity, 3 * sizeof *velocity);
}

TEST(water_is_read)
{
    OWNED(trajectory_topology) *t = NULL;

    assert_int_equal(
        trajectory_topology_read(COLLET_TEST_DATA "/md/water/conf.gro", NULL, &t, NULL), COLLET_OK);
    assert_int_equal(t->n_atoms, 648);
    assert_string_equal(t->title, "216 SPC water");
    assert_string_equal(t->names[0], "OW");
    assert_string_equal(t->names[647], "HW2");
    assert_string_equal(t->residue_names[0], "SOL");
    assert_int_equal(t->residue_ids[647], 216);
}

TEST(peptide_is_read)
{
    OWNED(trajectory_topology) *t = NULL;

    assert_int_equal(
        trajectory_topology_read(COLLET_TEST_DATA "/md/peptide/conf.gro", NULL, &t, NULL),
        COLLET_OK);
    assert_int_equal(t->n_atoms, 280);
    assert_string_equal(t->residue_names[279], "SER");
    assert_string_equal(t->names[279], "OC2");
}

TEST(widths_follow_the_decimal_points)
{
    OWNED(trajectory_topology) *t =
        read_text("precise\n1\n"
                  "99999ALA     CA99999    1.123456   -2.234567    3.345678"
                  "   0.1234567  -0.2345678   0.3456789\n"
                  "  1.0 2.0 3.0\n");

    assert_int_equal(t->residue_ids[0], 99999);
    expect_atom((const double[]){1.123456, -2.234567, 3.345678},
                (const double[]){0.1234567, -0.2345678, 0.3456789});
    trajectory_topology_free(t);
    t = read_text("one decimal\n1\n    1ALA     CA    1   1.5  -2.5   3.5\n 1 2 3\n");
    expect_atom((const double[]){1.5, -2.5, 3.5}, NULL);
}

/* Velocities and boxes that are not numbers are accepted: a topology needs neither. */
static const struct {
    const char *text;
    int64_t lacking;
} odd[] = {
#define HEAD "title\n2\n    1ALA     CA    1   1.500  -2.500   3.500  0.1000  0.2000  0.3000\n"
#define NEXT HEAD "    1ALA     CB    2   1.500  -2.500   3.500"
    {NEXT "  0.3000 -0.2000\n 1 2 3\n", 1},
    {NEXT "     nan     nan     nan\n 1 2 3\n", 1},
    {NEXT "********  0.2000  0.1000\n 1 2 3\n", 1},
    {NEXT " ; comment\n 1 2 3\n", 1},
    {NEXT "  0.3000 -0.2000  0.1000 ; comment\n 1 2 3\n", -1},
    {NEXT "  0.3000 -0.2000  0.1000\nnan nan nan\n", -1},
    {NEXT "  0.3000 -0.2000  0.1000\nnan nan -inf", -1},
    {NEXT "  0.3000 -0.2000  0.1000\n  1.00000 *** 1.0000\n", -1},
#undef NEXT
#undef HEAD
};

TEST(other_writers_lines)
{
    trajectory_topology *t =
        read_text("dos\r\n 1\r\n    1ALA     CA    1   1.500  -2.500   3.500  \r\n"
                  "   1.0  2.0  3.0  0.1  0.2  0.3  0.4  0.5  0.6");

    assert_string_equal(t->title, "dos");
    expect_atom((const double[]){1.5, -2.5, 3.5}, NULL);
    trajectory_topology_free(t);
    t = read_text("first\n1\n    1ALA  HD2X1    1   1.500  -2.500   3.500\n 1 2 3\n"
                  "second\n1\n    1GLY     CA    1   9.500  -2.500   3.500\n 1 2 3\n");
    assert_string_equal(t->names[0], "HD2X1");
    assert_string_equal(t->residue_names[0], "ALA");
    trajectory_topology_free(t);
    t = read_text("stars\n1\n    1ALA     CA*****   1.500  -2.500   3.500\n 1 2 3\n");
    trajectory_topology_free(t);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        t = read_text(odd[i].text);
        assert_int_equal(t->n_atoms, 2);
        assert_int_equal(t->lacking, odd[i].lacking);
        trajectory_topology_free(t);
    }
}

#define ATOM "    1ALA     CA    1   1.500  -2.500   3.500\n"

#define BLANKS_39 "                                       "
#define BLANKS_60 BLANKS_39 "                     "

static const io_malformed bad[] = {
    {"", "is empty"},
    {"title", ":2: the file ends before the number of atoms"},
    {"title\n1\n    1ALA     CA    1 1.5 2.5 3.5\n 1 2 3\n",
     ":3: the decimal points of x and y are 4 columns apart"},
    {"title\n2\n    1ALA     CA    1   1.500   2.500   3.500\n",
     ":4: the file ends after 1 of its 2 atoms"},
    {"title\n12345678901234567890123456789012345678901234567890\n",
     "not '1234567890123456789012345678901234567890'"},
    {"title\n1\n    1ALA     CA    1   1.500   2.500   3.500 \t\n"
     "    2an atom of more than sixty bytes, as a message has the first sixty\n",
     "not '    2an atom of more than sixty bytes, as a message has the ';"},
    {"title\nmany\n", ":2: expected the number of atoms, not 'many'"},
    {"title\n-3\n", ":2: expected the number of atoms"},
    {"title\n0\n 1 2 3\n", ":2: the number of atoms is 0"},
    {"title\n1000000\n" ATOM, ":2: 1000000 atoms are announced"},
    {"title\n2\n" ATOM "    1ALA     CB    2   1.500  -2.500   3.500",
     ":5: the file ends before the box"},
    {"title\n2\n" ATOM "  1.0 2.0 3.0\n", ":4: expected atom 2 of 2"},
    {"title\n2\n" ATOM ATOM "  1.0 2.0 x", ":5: expected the numbers of the box"},
    {"title\n1\n" ATOM ATOM, ":4: expected the numbers of the box"},
    {"title\n1\n    1solute   C1    1   0.777   2.671   2.404\n 1 2 3\n",
     ":3: position x in columns 21-28 is not a number: '1   0.77'; do the names and numbers before "
     "it "
     "fit into 5 columns each?"},
    {"title\n1\n    1ALA     CA    1   1.500  -2.5x0   3.500\n 1 2 3\n",
     ":3: position y in columns 29-36 is not a number: '  -2.5x0'"},
    {"title\n1\n    1ALA     CA    1." BLANKS_60 "." BLANKS_60 ".\n 1 2 3\n",
     "is not a number: '." BLANKS_39 "'"},
    {"title\n1\n    1ALA     CA    1   1.500  -2.500\n 1 2 3\n",
     ":3: position z in columns 37-44 is not a number"},
    {"title\n1\n    1ALA     CA    1     nan     nan     nan\n 1 2 3\n", ":3: no positions"},
    {"title\n1\n    xALA     CA    1   1.500  -2.500   3.500\n 1 2 3\n", ":3: the residue number"},
    {"title\n1\n    1ALA     CA    1 1.500 -2.500 3.500 0.1 0.2\n 1 2 3\n", ":3: "},
};

TEST(messages_point_at_the_line)
{
    const char *path = io_path(directory, "bad.gro");
    io_refuse_topologies(path, bad, sizeof bad / sizeof *bad);
    trajectory_topology *t;
    collet_error err;
    static const char text[] = "ti\0tle\n1\n" ATOM "  1.0 2.0 3.0\n";
    io_save(path, text, sizeof text - 1);
    assert_int_equal(trajectory_topology_read(path, NULL, &t, &err), COLLET_FORMAT);
    assert_non_null(strstr(err.text,
                           "bad.gro: the content is not a topology (.xyz, .gro, .pdb, .tpr, "
                           ".psf, .top, .prmtop or .cif); it is not text"));
}

/* Files of other programs are refused by their content or by their name. */
TEST(other_formats)
{
    static const struct {
        const char *name, *text, *message;
        size_t size;
    } cases[] = {
        {"x", "%ERROR  VERSION_STAMP\n", "x: the content is not a topology (.xyz, .gro, ", 0},
        {"README.md", "# A title\n\ntext\n", "README.md: the content is not a topology (", 0},
        {"x.data", "LAMMPS data file via write_data\n\n3 atoms\n1 atom types\n",
         "it looks like a LAMMPS data file: MDAnalysis", 0},
        {"x", "=\0\0\0\0\0\0\0a\0\0\0\0\0\0\0________________________GENERAL INFO",
         "'gmx trjconv -f FILE -o traj.trr' converts it", 52},
        {"x", "\xdf\x65\xdf\x65\xdf\x65\xdf\x65", "a .gsd file of HOOMD", 8},
        {"x.PQR", "ATOM      1  N   ALA A   1       1.000   2.000  -3.000  1.00  0.00\n",
         "a .pqr file, whose columns differ from a .pdb file's: 'obabel FILE -O FILE.pdb'", 0},
        {"x.prmtop", "title\n     1     1\n", "a .prmtop file without flags", 0},
        {"x.ndx", "[ System ]\n1 2\n", "--ndx", 0},
        {"x.dump", "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\n", "it looks like ", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trajectory_topology *t;
        collet_error err;
        size_t size = cases[i].size ? cases[i].size : strlen(cases[i].text);
        const char *path = io_save(io_path(directory, cases[i].name), cases[i].text, size);
        assert_error(trajectory_topology_read(path, NULL, &t, &err), COLLET_FORMAT, err,
                     cases[i].message);
    }
    trajectory_topology_free(
        io_topology(io_path(directory, "gro.xyz"), "title\n1\n" ATOM "  1.0 2.0 3.0\n"));
}

TEST(what_cannot_be_opened)
{
    trajectory_topology *t;
    collet_error err;

    assert_error(trajectory_topology_read("/nowhere/conf.gro", NULL, &t, &err), COLLET_IO, err,
                 "/nowhere/conf.gro: cannot be opened: No such file");
    assert_error(trajectory_topology_read(directory, NULL, &t, &err), COLLET_IO, err,
                 "is a directory");
    assert_error(trajectory_topology_read("/dev/null", NULL, &t, &err), COLLET_IO, err,
                 "a regular file is required");
    assert_error(trajectory_topology_read(COLLET_TEST_DATA "/md/water/traj.trr", NULL, &t, &err),
                 COLLET_FORMAT, err, "it looks like a .trr trajectory");
}

TEST(numbers)
{
    static const struct {
        const char *text;
        int valid;
        double value;
    } cases[] = {
        {"0.219", 1, 0.219},
        {" -1.86206 ", 1, -1.86206},
        {"+5", 1, 5.0},
        {".5", 1, 0.5},
        {"5.", 1, 5.0},
        {"1e3", 1, 1000.0},
        {"1.25E-2", 1, 0.0125},
        {"-0.000", 1, -0.0},
        {"", 0, 0.0},
        {" ", 0, 0.0},
        {".", 0, 0.0},
        {"1.2.3", 0, 0.0},
        {"1 2", 0, 0.0},
        {"e5", 0, 0.0},
        {"1e", 0, 0.0},
        {"nan", 0, 0.0},
        {"1e999", 0, 0.0},
        {"1e-999", 1, 0.0},
        {"\t1\t", 1, 1.0},
        {"-", 0, 0.0},
        {"1e+", 0, 0.0},
        {"1ex", 0, 0.0},
        {"1e+2", 1, 100.0},
        {"1e2x", 0, 0.0},
        {"1e10000000000", 0, 0.0},
        {"0e10000000000", 1, 0.0},
        {"1e22", 1, 1e22},
        {"1e-22", 1, 1e-22},
        {"1.00000000000000000000000000000000000000001", 1, 1.0},
        {"1,5", 0, 0.0},
        {"123456789012345678901234567890", 1, 123456789012345678901234567890.0},
    };
    int64_t integer;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 77.0;
        int valid = io_decimal_parse(cases[i].text, strlen(cases[i].text), &value);
        if (valid != cases[i].valid || (valid && value != cases[i].value))
            fail_msg("'%s': %d, %.17g", cases[i].text, valid, value);
    }
    char many[500];
    double value = 77.0;
    memset(many, '9', sizeof many);
    assert_false(io_decimal_parse(many, sizeof many, &value));
    assert_true(value == 77.0);
    assert_true(io_decimal_parse_integer("-9223372036854775808", 20, &integer));
    assert_true(integer == INT64_MIN);
    assert_false(io_decimal_parse_integer("9223372036854775808", 19, &integer));
    assert_false(io_decimal_parse_integer("12x", 3, &integer));
    assert_false(io_decimal_parse_integer("-", 1, &integer));
}

/* Long lines: the reader searches for the end of a line in pieces of 512 bytes, then of 64 KiB. */
TEST(long_lines)
{
    static char text[70000];
    static const size_t lengths[] = {510, 511, 512, 513, 65535};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n = lengths[i];
        memset(text, 't', n);
        memcpy(text + n, "\n1\n" ATOM " 1 2 3\n", sizeof "\n1\n" ATOM " 1 2 3\n");
        OWNED(trajectory_topology) *t = read_text(text);
        assert_int_equal(strlen(t->title), n);
        assert_string_equal(t->names[0], "CA");
    }
    trajectory_topology *t;
    collet_error err;
    memset(text, 't', 65536);
    memcpy(text + 65536, "\n", 2);
    const char *path = io_path(directory, "case.gro");
    io_save(path, text, 65537);
    assert_error(trajectory_topology_read(path, NULL, &t, &err), COLLET_FORMAT, err,
                 "case.gro:1: the line is longer than 65536 bytes");
    io_save(path, text, 65536);
    assert_int_equal(trajectory_topology_read(path, NULL, &t, &err), COLLET_FORMAT);
}

TEST_GROUP(make_directory, remove_directory)
