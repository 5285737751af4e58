/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates and restart files of AMBER as text. */

#include "directory.h"

#define POSITIONS3                                                                                 \
    "   1.0000000  -2.5000000   3.2500000-100.0000000 999.1234567   0.0000001\n"                   \
    "   7.0000000   8.0000000   9.0000000\n"
#define VELOCITIES3                                                                                \
    "   0.1000000   0.2000000   0.3000000   0.4000000   0.5000000   0.6000000\n"                   \
    "   0.7000000   0.8000000   0.9000000\n"
#define BOX "  30.0000000  40.0000000  50.0000000  90.0000000  90.0000000  90.0000000\n"
#define CELL "  30.0000000  30.0000000  30.0000000 109.4712190 109.4712190 109.4712190\n"

static trajectory_frames *read_all(const char *text, int velocities, int box)
{
    trajectory_reader *t = io_open(io_save(io_path(directory, "x.rst7"), text, strlen(text)));
    const trajectory_reader_info *info = trajectory_reader_get_info(t);
    collet_error err = {0};

    assert_string_equal(info->format, "rst7");
    assert_int_equal(info->has_velocities, velocities);
    trajectory_frames *frames = io_batch(t, 4, 1);
    assert_success(trajectory_reader_read(t, frames, &err), err);
    assert_int_equal(frames->n_frames, 1);
    assert_int_equal(frames->boxes[0] != 0, box);
    trajectory_reader_close(t);
    return frames;
}

static void expect(const void *found, const double *numbers, size_t n, double unit)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(((const double *)found)[i] - unit * numbers[i]) < 1e-12))
            fail_msg("number %zu: %.17g, not %.17g", i, ((const double *)found)[i], unit * numbers[i]);
}

TEST(every_part)
{
    static const double positions[] = {1, -2.5, 3.25, -100, 999.1234567, 1e-7, 7, 8, 9},
                        velocities[] = {.1, .2, .3, .4, .5, .6, .7, .8, .9};
    static const char *const heads[] = {"default_name\n    3  0.1205000E+02\n", "\n    3\n",
                                        "water\r\n     3  0.1205000E+02  0.3000000E+03\n"};

    for (int k = 0; k < 12; k++) {
        int has_velocities = k & 1, has_box = k >> 1 & 1;
        char text[1024];
        snprintf(text, sizeof text, "%s" POSITIONS3 "%s%s", heads[k / 4],
                 has_velocities ? VELOCITIES3 : "", has_box ? BOX : "");
        OWNED(trajectory_frames) *frames = read_all(text, has_velocities, has_box);
        expect(frames->positions, positions, 9, 0.1);
        if (has_velocities)
            expect(frames->velocities, velocities, 9, 2.0455);
        assert_true(k / 4 == 1 ? isnan(frames->times[0]) : frames->times[0] == 12.05);
        expect(frames->boxes, (const double[]){30. * has_box, 0, 0, 0, 40. * has_box, 0, 0, 0, 50. * has_box}, 9, 0.1);
    }
}

/* The box is a truncated octahedron. In files of one or two atoms, a line after the positions may be velocities or the
 * box. */
TEST(boxes)
{
#define PAIR "   1.0000000   2.0000000   3.0000000   4.0000000   5.0000000   6.0000000\n"
    trajectory_frames *frames = read_all("t\n 2\n" PAIR CELL "\n\n", 0, 1);
    const double third = 1. / 3, *b = frames->boxes;
    assert_true(fabs(b[0] - 3) < 1e-9 && fabs(b[3] + 3 * third) < 1e-6 && fabs(b[4] - 2.8284271) < 1e-6);
    assert_true(fabs(b[6] + 3 * third) < 1e-6 && fabs(b[8] - 2.4494897) < 1e-6);
    trajectory_frames_free(frames);
    trajectory_frames_free(read_all("t\n 2\n" PAIR PAIR, 1, 0));
    trajectory_frames_free(read_all("t\n 2\n" PAIR PAIR BOX, 1, 1));
    trajectory_frames_free(read_all("t\n 1\n   1.0000000   2.0000000   3.0000000\n" BOX, 0, 1));
    trajectory_frames_free(
        read_all("t\n 1\n   1.0000000   2.0000000   3.0000000\n   1.0000000   2.0000000   3.0000000\n", 1, 0));
}

/* Boxes of older files have only three lengths. Lengths of zero mean that there is no box. */
TEST(other_boxes)
{
#define LENGTHS "  30.0000000  40.0000000  50.0000000\n"
#define ZEROS "   0.0000000   0.0000000   0.0000000   0.0000000   0.0000000   0.0000000\n"
    static const char *const texts[] = {"t\n 3\n" POSITIONS3 LENGTHS, "t\n 3\n" POSITIONS3 VELOCITIES3 LENGTHS,
                                        "t\n 2\n" PAIR LENGTHS, "t\n 2\n" PAIR PAIR LENGTHS};
    for (int i = 0; i < 4; i++) {
        OWNED(trajectory_frames) *frames = read_all(texts[i], i % 2, 1);
        expect(frames->boxes, (const double[]){3, 0, 0, 0, 4, 0, 0, 0, 5}, 9, 1);
    }
    trajectory_frames_free(read_all("t\n 3\n" POSITIONS3 ZEROS, 0, 0));
    trajectory_frames_free(read_all("t\n 3\n" POSITIONS3 VELOCITIES3 ZEROS, 1, 0));
}

TEST(selections)
{
    const char text[] = "t\n    3  0.1000000E+01\n" POSITIONS3 VELOCITIES3;
    static const int64_t atoms[][2] = {{0, 2}, {1, 2}, {0, 1}};

    for (int k = 0; k < 3; k++) {
        OWNED(trajectory_reader) *t =
            io_open(io_save(io_path(directory, "x.rst7"), text, strlen(text)));
        assert_int_equal(trajectory_reader_select(t, atoms[k], 2, NULL), COLLET_OK);
        OWNED(trajectory_frames) *frames = io_batch(t, 1, 1);
        assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_OK);
        for (int i = 0; i < 2; i++)
            assert_true(fabs(((double *)frames->velocities)[3 * i] -
                             2.0455 * (.1 + .3 * (double)atoms[k][i])) < 1e-12);
    }
}

/* A file that is cut short is reported as truncated, or it is read without velocities or box. */
TEST(truncations)
{
    static const char text[] = "t\n    3  0.1000000E+01\n" POSITIONS3 VELOCITIES3 BOX;
    const size_t positions = strlen("t\n    3  0.1000000E+01\n" POSITIONS3);
    int whole = 0;

    for (size_t cut = 60; cut < sizeof text; cut++) {
        trajectory_reader *t;
        collet_error err = {0};
        io_save(io_path(directory, "x.rst7"), text, cut);
        collet_status status = trajectory_reader_open(io_path(directory, "x.rst7"), NULL, &t, &err);
        if (status != COLLET_OK) {
            assert_int_equal(status, COLLET_FORMAT);
            continue;
        }
        trajectory_frames *frames = io_batch(t, 1, 1);
        status = trajectory_reader_read(t, frames, &err);
        /* A file is complete if it ends after the positions, the velocities or the box, with or without a line end. */
        if (status == COLLET_OK) {
            whole++;
            assert_true(cut + 1 >= positions);
        } else {
            assert_int_equal(frames->truncated, 1);
        }
        trajectory_frames_free(frames);
        trajectory_reader_close(t);
    }
    assert_true(whole >= 6 && whole < 13);
}

TEST(damaged_files)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"t\n 3\n   1.0000000   2.0000000   3.0000000   1.0000000************   3.0000000\n"
         "   7.0000000   8.0000000   9.0000000\n",
         "x.rst7:3: columns 49 to 60 are not a number: '************'"},
        {"t\n 3\n" POSITIONS3 VELOCITIES3 BOX BOX, "4 lines follow the positions, but velocities of 3 atoms have 2"},
        {"t\n 3\n" POSITIONS3 "  30.0 40.0 50.0\n", "ends"},
        {"t\n 3\n" POSITIONS3 VELOCITIES3 "  30.0 40.0 50.0\n", "columns 1 to 12 are not a number"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        trajectory_reader *t;
        collet_error err = {0};
        io_save(io_path(directory, "x.rst7"), bad[i].text, strlen(bad[i].text));
        collet_status status = trajectory_reader_open(io_path(directory, "x.rst7"), NULL, &t, &err);
        if (status == COLLET_OK) {
            trajectory_frames *frames = io_batch(t, 1, 1);
            status = trajectory_reader_read(t, frames, &err);
            trajectory_frames_free(frames);
            trajectory_reader_close(t);
        }
        assert_int_equal(status, COLLET_FORMAT);
        assert_contains(err.text, bad[i].message);
    }
}

TEST_GROUP(make_directory, remove_directory)
