/* SPDX-License-Identifier: Apache-2.0 */
/* .xyz files: names, extended comments, frames, truncated and malformed files. */

#include "directory.h"

static const char *path(void)
{
    return io_path(directory, "case.xyz");
}

#define ATOMS "C   1.0 2.0\t3.0\n Cl1 -1 0.5 1e1 0.1 text\r\nX2B 0 0 0\n"
#define FRAME(comment) "3\n" comment "\n" ATOMS
#define EXTENDED "Properties=species:S:1:pos:R:3 Lattice=\"30 0 0 0 40 0 1 2 50\" t= 2.5 step= 7"

TEST(names)
{
    OWNED(trajectory_topology) *t = io_topology(path(), FRAME("1") "\n\n");

    assert_int_equal(t->n_atoms, 3);
    assert_string_equal(t->format, "xyz");
    assert_string_equal(t->names[1], "Cl1");
    assert_string_equal(t->elements[0], "C");
    assert_string_equal(t->elements[1], "");
    assert_string_equal(t->elements[2], "");
    assert_string_equal(t->residue_names[2], "");
    assert_int_equal(t->residue_ids[2], 1);
}

/* Reads to the end or an error; expects `n_frames` valid frames and a message with `text`. */
static void expect(const char *text, size_t size, int64_t n_frames, int truncated,
                   const char *message)
{
    OWNED(trajectory_frames) *frames = io_expect(path(), text, size, n_frames, truncated, message);
    for (int64_t i = 0; i < n_frames; i++) {
        const double *x = (const double *)frames->positions + i * 9;
        assert_true(x[0] == 0.1 && x[1] == 0.2 && x[2] == 0.3 && x[3] == -0.1 && x[5] == 1.0);
    }
}

TEST(frames_of_a_file)
{
    static const char text[] = FRAME("") FRAME(EXTENDED) " 3 \n\n" ATOMS "\n \n";
    static const double box[9] = {3, 0, 0, 0, 4, 0, 0.1, 0.2, 5};
    static const int64_t indices[] = {1, 2};

    expect(text, sizeof text - 1, 3, 0, NULL);
    OWNED(trajectory_reader) *r = io_open(path());
    assert_int_equal(trajectory_reader_select(r, indices, 2, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_slice(r, 1, 2, 1, NULL), COLLET_OK);
    OWNED(trajectory_frames) *frames = io_batch(r, 2, 1);
    io_read(r, frames, 1);
    assert_memory_equal(frames->boxes, box, sizeof box);
    assert_true(frames->times[0] == 2.5);
    assert_true(((const double *)frames->positions)[0] == -0.1);
}

/* Reads the only frame of a file, with all its fields. */
static trajectory_frames *read_one(const char *text, trajectory_reader **reader)
{
    io_save(path(), text, strlen(text));
    *reader = io_open(path());
    trajectory_frames *frames = io_batch(*reader, 1, 1);
    assert_int_equal(trajectory_reader_read(*reader, frames, NULL), COLLET_OK);
    assert_int_equal(frames->n_frames, 1);
    return frames;
}

static void expect_near(const void *found, const double *expected, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(((const double *)found)[i] - expected[i]) <= 1e-7 * fabs(expected[i]));
}

TEST(columns_in_any_order)
{
    static const char text[] = "2\nenergy=-1.5 pbc=\"T F T\" "
                               "Properties=tags:I:1:velo:R:3:pos:R:3:masses:R:1:move_mask:L:3:"
                               "species:S:1:forces:R:3 Lattice=\"30 0 0 0 40 0 0 0 50\"\n"
                               "7 1 2 3 10 20 30 2.5 T F T Cl 1 -2 0\n0 -1 -2 -3 -10 -20 -30 0 T T "
                               "T He 0.5 0 4 and more\n";
    static const double x[] = {1, 2, 3, -1, -2, -3}, v[] = {100, 200, 300, -100, -200, -300},
                        f[] = {964.85333, -1929.70666, 0, 482.426665, 0, 3859.41332},
                        box[] = {3, 0, 0, 0, 0, 0, 0, 0, 5};
    trajectory_topology *t = io_topology(path(), text);
    OWNED(trajectory_reader) *r = NULL;

    assert_string_equal(t->names[0], "Cl");
    assert_string_equal(t->elements[1], "He");
    assert_true(t->masses[0] == 2.5 && t->masses[1] == 0);
    trajectory_topology_free(t);
    OWNED(trajectory_frames) *frames = read_one(text, &r);
    expect_near(frames->positions, x, 6);
    expect_near(frames->velocities, v, 6);
    expect_near(frames->forces, f, 6);
    expect_near(frames->boxes, box, 9);
}

/* Momenta in the units of ASE: velocities are computed with the masses of the file or of the elements.
 * (eV/amu)^(1/2) is sqrt(1.602176634e-19 / 1.66053906660e-27) m/s. */
TEST(momenta)
{
    static const char of_elements[] =
        "1\nProperties=species:S:1:pos:R:3:momenta:R:3\nC 0 0 0 1 -2 0\n",
                      of_file[] = "1\nProperties=Z:I:1:pos:R:3:momenta:R:3:masses:R:1\n"
                                  "17 0 0 0 1 -2 0 4\n",
                      unknown[] = "1\nProperties=species:S:1:pos:R:3:momenta:R:3\nX1 0 0 0 1 0 0\n";
    const double unit = sqrt(1.602176634e-19 / 1.66053906660e-27) * 1e-3;
    const double carbon[] = {unit / 12.011, -2 * unit / 12.011, 0},
                 heavy[] = {unit / 4, -unit / 2, 0};
    OWNED(trajectory_reader) *r = NULL;
    collet_error err;
    OWNED(trajectory_frames) *frames = read_one(of_elements, &r);

    expect_near(frames->velocities, carbon, 3);
    trajectory_frames_free(frames);
    trajectory_reader_close(r);
    frames = read_one(of_file, &r);
    expect_near(frames->velocities, heavy, 3);
    trajectory_frames_free(frames);
    trajectory_reader_close(r);
    trajectory_topology *t = io_topology(path(), of_file);
    assert_string_equal(t->names[0], "Cl");
    trajectory_topology_free(t);
    io_save(path(), unknown, sizeof unknown - 1);
    r = io_open(path());
    frames = io_batch(r, 1, 1);
    assert_error(trajectory_reader_read(r, frames, &err), COLLET_FORMAT, err,
                 ":3: the momentum of 'X1' gives no velocity: its mass is unknown");
}

/* CP2K writes the step and the time in fs. */
TEST(times_of_cp2k)
{
    OWNED(trajectory_reader) *r = NULL;
    OWNED(trajectory_frames) *frames =
        read_one("1\n i =       10, time =        5.500, E =       -17.1\nO 1 2 3\n", &r);

    assert_true(frames->times[0] == 0.0055);
}

/* Wherever the file is cut, the frames before the cut are read. */
TEST(truncations)
{
    static const char text[] = FRAME("") FRAME("x");
    const size_t first = sizeof FRAME("") - 1;

    for (size_t cut = first + 1; cut < sizeof text; cut++)
        expect(text, cut, cut < sizeof text - 1 ? 1 : 2, cut < sizeof text - 1,
               cut < sizeof text - 1 ? "the file ends at byte" : NULL);
}

/* In a file whose last line has no line end, digits of the last number may be missing. */
TEST(files_without_a_last_line_end)
{
#define FIXED "3\n\nC 1.000 2.000 3.000\nC -1.000 0.500 10.000\nC 0.000 0.000 "
    static const struct {
        const char *text;
        int64_t n_frames;
        const char *message, *note;
    } cases[] = {
        {FIXED "0.000", 1, NULL, NULL},
        {FIXED "0.000\n" FIXED "0.000", 2, NULL, NULL},
        {FIXED "0.000\n" FIXED "0.00", 1, "end its last line", NULL},
        {FRAME("") "3\n\nC 1 2 3\nC -1 .5 10\nC 0 0 0 ", 2, NULL, NULL},
        {"3\n\nC 1 2 3\nC -1 .5 10\nC 0 0 0", 1, NULL, "may lack digits"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(cases[i].text, strlen(cases[i].text), cases[i].n_frames, cases[i].message != NULL,
               cases[i].message);
        OWNED(trajectory_reader) *r = io_open(path());
        const char *note = trajectory_reader_get_info(r)->note;
        assert_int_equal(note != NULL, cases[i].note != NULL);
        assert_contains(note ? note : "", cases[i].note ? cases[i].note : "");
    }
    io_save(path(), FIXED "0.00", strlen(FIXED "0.00"));
    io_refuse(path(), "inside frame 0");
}

TEST(frames_that_are_malformed)
{
    static const io_malformed cases[] = {
        {FRAME("") "2\n\nC 1 1 1\nC 1 1 1\n", "has 2 atoms, the first frame has 3"},
        {FRAME("") "3\n\nC 1 1 1\nC 1 x 1\nC 1 1 1\n",
         ":9: position y is not a number: 'x' (frame 1)"},
        {FRAME("") "3\n\nC 1 1 1\nC 1 1\nC 1 1 1\n",
         ":9: expected a name and three numbers, not 'C 1 1' (frame 1)"},
        {FRAME("") "C 1 1 1\n", ":6: expected the number of atoms, not 'C 1 1 1' (frame 1)"},
        {FRAME("") FRAME("Lattice=\"1 2 3\""), ":7: Lattice has not nine numbers (frame 1)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].text, strlen(cases[i].text), 1, 0, cases[i].message);
}

static const io_malformed bad[] = {
    {"0\n\nC 1 1 1\n", ":1: expected the number of atoms, not '0'"},
    {"9\n\nC 1 1 1\n", ":1: 9 atoms are announced, but a file of 11 bytes cannot hold them"},
    {"2\n\nC 1 1 1 1 1 1 1 1 1\n", ":4: the file ends inside a frame"},
    {"2\nx\nC 1 1 1\nC 1 1 z\n", ":4: position z is not a number: 'z'"},
    {"1\nProperties=pos:R:3:tags:I:1\nC 1 1 1\n",
     ":2: Properties is 'pos:R:3:tags:I:1'; it needs pos:R:3, and species"},
    {"1\nProperties=species:S:1:pos:R:2\nC 1 1 1\n", "it needs pos:R:3"},
    {"1\nProperties=species:S:1:pos\nC 1 1 1\n",
     ":2: Properties is 'species:S:1:pos', not NAME:TYPE:COUNT"},
    {"1\nProperties=species:S:1:pos:R:0\nC 1 1 1\n", "not NAME:TYPE:COUNT"},
    {"1\nProperties=species:S:1:pos:Q:3\nC 1 1 1\n", "with the types S, I, R and L"},
    {"1\nProperties=species:S:1:pos:R:3:f:R:3\nC 1 1 1 0 0\n",
     ":3: expected the 7 columns of Properties, not 6"},
    {"1\nProperties=species:S:1:pos:R:3:masses:R:1\nC 1 1 1 -2\n", ":3: the mass is '-2'"},
    {"1\nProperties=Z:I:1:pos:R:3\nC 1 1 1\n", ":3: the atomic number is 'C'"},
    {"1\nLattice=\"1 0 0 0 1 0 0 0 1\" pbc=\"T F\"\nC 1 1 1\n",
     ":2: pbc is 'T F', not three letters"},
    {"1\nx\n1234567890123456 1 1 1\n", ":3: the name '1234567890123456' has more than 15 letters"},
};

TEST(messages_point_at_the_line)
{
    io_refuse_topologies(path(), bad, sizeof bad / sizeof *bad);
}

TEST_GROUP(make_directory, remove_directory)
