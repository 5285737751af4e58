/* SPDX-License-Identifier: Apache-2.0 */
/* .xyz files: names, extended comments, frames, truncated and malformed files. */
#include <stdio.h>
#include <string.h>

#include "common/test.h"
#include "common/contains.h"
#include "directory.h"
#include "io_files.h"
#include "trajectory/reading/topology.h"

static const char *path(void)
{
    return io_path(directory, "case.xyz");
}

#define ATOMS "C   1.0 2.0\t3.0\n Cl1 -1 0.5 1e1 0.1 text\r\nX2B 0 0 0\n"
#define FRAME(comment) "3\n" comment "\n" ATOMS
#define EXTENDED                                                                                   \
    "Properties=species:S:1:pos:R:3:forces:R:3 Lattice=\"30 0 0 0 40 0 1 2 50\" t= 2.5 step= 7"

TEST(names)
{
    trajectory_topology *t = io_topology(path(), FRAME("1") "\n\n");

    assert_int_equal(t->n_atoms, 3);
    assert_string_equal(t->format, "xyz");
    assert_string_equal(t->names[1], "Cl1");
    assert_string_equal(t->elements[0], "C");
    assert_string_equal(t->elements[1], "");
    assert_string_equal(t->elements[2], "");
    assert_string_equal(t->residue_names[2], "");
    assert_int_equal(t->residue_ids[2], 1);
    trajectory_topology_free(t);
}

/* Reads to the end or an error; expects `n_frames` valid frames and a message with `text`. */
static void expect(const char *text, size_t size, int64_t n_frames, int truncated,
                   const char *message)
{
    trajectory_frames *frames = io_expect(path(), text, size, n_frames, truncated, message);
    for (int64_t i = 0; i < n_frames; i++) {
        const double *x = (const double *)frames->positions + i * 9;
        assert_true(x[0] == 0.1 && x[1] == 0.2 && x[2] == 0.3 && x[3] == -0.1 && x[5] == 1.0);
    }
    trajectory_frames_free(frames);
}

TEST(frames_of_a_file)
{
    static const char text[] = FRAME("") FRAME(EXTENDED) " 3 \n\n" ATOMS "\n \n";
    static const double box[9] = {3, 0, 0, 0, 4, 0, 0.1, 0.2, 5};
    static const int64_t indices[] = {1, 2};

    expect(text, sizeof text - 1, 3, 0, NULL);
    trajectory_reader *r = io_open(path());
    assert_int_equal(trajectory_reader_select(r, indices, 2, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_slice(r, 1, 2, 1, NULL), COLLET_OK);
    trajectory_frames *frames = io_batch(r, 2, 1);
    assert_int_equal(trajectory_reader_read(r, frames, NULL), COLLET_OK);
    assert_int_equal(frames->n_frames, 1);
    assert_memory_equal(frames->boxes, box, sizeof box);
    assert_true(frames->times[0] == 2.5);
    assert_true(((const double *)frames->positions)[0] == -0.1);
    trajectory_frames_free(frames);
    trajectory_reader_close(r);
}

/* Every cut keeps the frames before it. */
TEST(truncations)
{
    static const char text[] = FRAME("") FRAME("x");
    const size_t first = sizeof FRAME("") - 1;

    for (size_t cut = first + 1; cut < sizeof text; cut++)
        expect(text, cut, cut < sizeof text - 1 ? 1 : 2, cut < sizeof text - 1,
               cut < sizeof text - 1 ? "the file ends at byte" : NULL);
}

/* Files whose last line has no line end: more digits may follow the last number. */
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
        trajectory_reader *r = io_open(path());
        const char *note = trajectory_reader_get_info(r)->note;
        assert_int_equal(note != NULL, cases[i].note != NULL);
        assert_contains(note ? note : "", cases[i].note ? cases[i].note : "");
        trajectory_reader_close(r);
    }
    trajectory_reader *r;
    collet_error err;
    io_save(path(), FIXED "0.00", strlen(FIXED "0.00"));
    assert_int_equal(trajectory_reader_open(path(), NULL, &r, &err), COLLET_FORMAT);
    assert_contains(err.text, "inside frame 0");
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
    {"1\nProperties=pos:R:3:species:S:1\nC 1 1 1\n", ":2: the properties begin with 'pos:R:3"},
    {"1\nx\n1234567890123456 1 1 1\n", ":3: the name '1234567890123456' has more than 15 letters"},
};

TEST(messages_point_at_the_line)
{
    io_refuse_topologies(path(), bad, sizeof bad / sizeof *bad);
}

TEST_GROUP(make_directory, remove_directory)
