/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract on files that lack all or some of the optional data: no values are invented, the
 * rest is computed, and warnings and the meta file list the missing data. */

#include "directory.h"
#include "extract_warnings.h"

#define MISSING COLLET_TEST_DATA "/md/missing/"

/* Saves frames of three atoms with these titles. */
static const char *save_titles(const char *const *titles, size_t n)
{
    char text[4096] = "";
    size_t length = 0;

    for (size_t i = 0; i < n; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "%s\n    3\n"
                                   "    1SOL     OW    1   1.000   2.000   %d.000  0.1000  0.2000  "
                                   "%d.0000\n"
                                   "    1SOL    HW1    2   2.000   2.000   3.000  0.1000  0.0000  "
                                   "0.0000\n"
                                   "    1SOL    HW2    3   1.500   2.700   3.300  0.0000  0.0000  "
                                   "0.1000\n   9.00000   9.00000   9.00000\n",
                                   titles[i], 3 + (int)i, (int)i);
    io_save(io_path(directory, "titles.gro"), text, length);
    return "titles.gro";
}

/* ---- Times ------------------------------------------------------------------------------- */

TEST(no_time_is_made_up)
{
    tool_result result = RUN(0, MISSING "c.gro", MISSING "notime.gro");
    npz out = npz_open(io_path(directory, "out.npz"));
    cJSON *meta = extract_meta(directory);

    assert_contains(result.out, "left out, because the trajectory has no times: time_ps dLdt_*");
    assert_false(npz_has(&out, "time_ps") || npz_has(&out, "dLdt_vector"));
    assert_true(npz_has(&out, "com") && npz_has(&out, "L_vector") && npz_has(&out, "k_total"));
    assert_true(cJSON_IsFalse(meta_at(meta, "inputs/trajectory/times")));
    assert_null(cJSON_GetObjectItem(meta_at(meta, "frames"), "first_time_ps"));
    assert_null(cJSON_GetObjectItem(meta_at(meta, "frames"), "last_time_ps"));
    cJSON_Delete(meta);
    npz_close(&out);
    expect_warning(result,
                   "notime.gro: the title of the first frame has no time (such as 't= 1.0'");

    /* Keys that need no times are computed. A named key that needs the times is an error. */
    expect_warning(RUN(0, MISSING "c.gro", MISSING "notime.gro", "--keys", "com,L_*"), NULL);
    expect_warning(RUN(0, MISSING "c.gro", MISSING "notime.gro", "--keys", "*"), "no time");
    expect_error(RUN(2, MISSING "c.gro", MISSING "notime.gro", "--keys", "com,time_ps"),
                 "'time_ps' cannot be computed: the trajectory has no times");
    expect_error(RUN(2, MISSING "c.gro", MISSING "notime.gro", "--keys", "dLdt_*"),
                 "'dLdt_*' cannot be computed: the trajectory has no times");
}

TEST(a_time_that_cannot_be_read_is_none)
{
    static const char *const titles[] = {"water t= junk",  "water t=",       "water t= nan",
                                         "water t= 1e999", "water t= 1.5.2", "at=3"};

    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        const char *frames[] = {titles[i], titles[i]};
        const char *path = save_titles(frames, 2);

        expect_warning(RUN(0, path, path), "the title of the first frame has no time");
    }
}

TEST(a_later_frame_without_a_time)
{
    static const char *const titles[] = {"t= 0", "t= 1", "t= 2", "t= junk", "t= 4", "t= 5", "t= 6"};
    const char *path = save_titles(titles, 7);

    expect_warning(RUN(0, path, path), "frame 3 has no time (such frames: 1)");
    npz out = npz_open(io_path(directory, "out.npz"));
    const double *times = npz_f64(&out, "time_ps", NULL, NULL);
    const double *derivatives = npz_f64(&out, "dLdt_magnitude", NULL, NULL);
    for (int i = 0; i < 7; i++) {
        assert_true(i == 3 ? isnan(times[i]) : times[i] == i);
        assert_int_equal(isnan(derivatives[i]) != 0, i == 2 || i == 4);
    }
    npz_close(&out);
    expect_warning(RUN(0, path, path, "--keys", "com"), NULL);
}

/* NaN and infinity as times of frames of a .trr. */
TEST(times_that_are_no_numbers)
{
    static const uint8_t times[2][4] = {{0x7f, 0xc0, 0, 0}, {0x7f, 0x80, 0, 0}};
    enum { FRAME = 10200, TIME = 24 + 13 * 4 };

    for (int i = 0; i < 4; i++) {
        io_bytes bytes = io_load(PEPTIDE "traj.trr");
        size_t frame = i < 2 ? 0 : 7;

        memcpy(bytes.data + frame * FRAME + TIME, times[i % 2], 4);
        io_save(io_path(directory, "nan.trr"), bytes.data, bytes.size);
        free(bytes.data);
        const char *text = i < 2 ? "frame 0 has no time that is a finite number (such frames: 1)"
                                 : "frame 7 has no time that is a finite number (such frames: 1)";
        expect_warning(RUN(0, PEPTIDE "conf.gro", "nan.trr"), text);
        expect_warning(RUN(0, PEPTIDE "conf.gro", "nan.trr", "--keys", "com"), text);
    }
}

/* ---- Order of frames --------------------------------------------------------------------- */

TEST(repeated_frames_are_reported)
{
    static const char *const keys[] = {"*", "com", "time_ps"};
    static const char *const gro_keys[] = {"*", "com", "L_vector"};
    static const char *const titles[] = {"t= 1", "t= 2", "t= 1.5", "t= 1.5"};
    const char *path = save_titles(titles, 4);

    for (size_t i = 0; i < 3; i++) {
        expect_warning(RUN(0, MISSING "top10.gro", MISSING "repeats.xtc", "--masses",
                           MISSING "ones10.txt", "--keys", keys[i]),
                       "frame 4 at 3 ps is not later than the frame before it, at 3 ps (such "
                       "frames: 2)");
        expect_warning(RUN(0, path, path, "--keys", gro_keys[i]),
                       "frame 2 at 1.5 ps is not later than the frame before it, at 2 ps (such "
                       "frames: 2)");
    }
    repeat_file(PEPTIDE "traj.trr", io_path(directory, "joined.trr"), 2);
    expect_warning(RUN(0, PEPTIDE "conf.gro", "joined.trr", "--keys", "com"),
                   "is not later than the frame before it");
    expect_warning(RUN(0, PEPTIDE "conf.gro", "joined.trr"),
                   "(such frames: 1): dL/dt is wrong at these frames and their neighbours");
}

/* ---- Velocities and boxes ---------------------------------------------------------------- */

TEST(velocities_of_some_atoms)
{
    static const char text[] = "half_velocities.gro: atom 2 (A3 of SOLA 11, counted from 0) has no "
                               "velocity, but other atoms have";
    const char *masses = MISSING "s4.txt", *half = MISSING "half_velocities.gro";

    expect_warning(RUN(0, half, half, "--masses", masses, "--keys", "com"), text);
    npz out = npz_open(io_path(directory, "out.npz"));
    const double *com = npz_f64(&out, "com", NULL, NULL);
    assert_true(fabs(com[0] - (2.888 + 8.344 + 2.381 + 8.420) / 4) < 1e-12);
    npz_close(&out);
    expect_warning(RUN(0, half, MISSING "g4.trr", "--masses", masses), text);
    expect_error(RUN(2, half, half, "--masses", masses, "--keys", "L_vector"),
                 "half_velocities.gro: atom 2 (A3 of SOLA 11, "
                 "counted from 0) has no velocity");
    tool_result result = RUN(0, half, half, "--masses", masses);
    assert_contains(result.err, text);
    assert_contains(result.out,
                    "left out, because not every atom of the trajectory has a velocity: L_*");
}

TEST(boxes_whose_fields_touch)
{
    const char *path = MISSING "touching_box.gro";

    expect_warning(RUN(0, path, path, "--keys", "com"), NULL);
}

/* ---- Frames without a field -------------------------------------------------------------- */

#define SPARSE 5

/* Saves frames that do not all have the same fields. If `spoilt`, a velocity of frame 4 is NaN. */
static void save_sparse(int spoilt)
{
    static const int fields[SPARSE] = {IO_X | IO_V | IO_F, IO_X, IO_X | IO_V, IO_V,
                                       IO_X | IO_V | IO_F};
    static const char top[] = "sparse\n3\n"
                              "    1SOL     OW    1   0.000   0.000   0.000\n"
                              "    1SOL    HW1    2   0.100   0.000   0.000\n"
                              "    1SOL    HW2    3   0.000   0.100   0.000\n   5 5 5\n";
    static const uint8_t nan[4] = {0x7f, 0xc0, 0, 0};
    enum { HEAD = 24 + 13 * 4 + 2 * 4, BOX = 36, POSITIONS = 36 };
    OWNED(io_image) image = {0};
    size_t last = 0;

    for (int i = 0; i < SPARSE; i++) {
        last = image.size;
        io_put_trr(&image, 4, 3, i, IO_BOX | fields[i]);
        if (fields[i] &
            IO_X) { /* moves atom 0 out of line: inertia of a line has no inverse */
            OWNED(io_image) number = {0};

            io_put_f32(&number, (float)i * 100.0f + 1.5f);
            memcpy(image.data + last + HEAD + BOX, number.data, number.size);
        }
    }
    if (spoilt)
        memcpy(image.data + last + HEAD + BOX + POSITIONS, nan, sizeof nan);
    io_save(io_path(directory, "sparse.trr"), image.data, image.size);
    io_save(io_path(directory, "sparse.gro"), top, sizeof top - 1);
}

/* Expects these frames in a result: one digit for each frame, or '-' for a frame that is NaN. */
static void expect_frames(const char *key, const char *frames)
{
    OWNED_NPZ out = npz_open(io_path(directory, "out.npz"));
    int64_t n;
    const double *times = npz_f64(&out, "time_ps", &n, NULL);
    size_t count;
    const double *values = npz_f64(&out, key, NULL, &count);
    char found[SPARSE + 1] = "";

    for (int64_t i = 0; i < n; i++)
        found[i] =
            (char)(isnan(values[(size_t)i * (count / (size_t)n)]) ? '-' : '0' + times[i] * 2);
    assert_string_equal(found, frames);
}

#define SPARSE_FILES "sparse.gro", "sparse.trr"

TEST(frames_without_a_field_are_skipped)
{
    save_sparse(0);
    expect_error(RUN(1, SPARSE_FILES),
                 "frame 1 at byte 228: the frame has no velocities (time 0.5 ps");
    expect_error(RUN(1, SPARSE_FILES, "--missing", "fail", "--keys", "com"),
                 "the frame has no positions");
    expect_error(RUN(2, SPARSE_FILES, "--missing", "none"), "'none' is not skip, nan or fail");
    expect_warning(
        RUN(0, SPARSE_FILES, "--missing", "skip"),
        "frame 1 has no velocities: frames without a field that a key needs are left out "
        "(such frames: 3)");
    expect_frames("tau_vector", "04");
    cJSON *meta = extract_meta(directory);
    assert_int_equal(meta_at(meta, "frames/skipped")->valueint, 3);
    cJSON_Delete(meta);
    expect_warning(RUN(0, SPARSE_FILES, "--missing", "skip", "--keys", "time_ps,L_vector"),
                   "frame 1 has no velocities: ");
    expect_frames("L_vector", "024");
    expect_warning(RUN(0, SPARSE_FILES, "--missing", "skip", "--keys", "time_ps,com"),
                   "frame 3 has no positions: ");
    expect_frames("com", "0124");
    expect_error(RUN(2, SPARSE_FILES, "--missing", "skip", "--start", "1", "--stop", "4"),
                 "each of the 3 frames of sparse.trr lacks a field that a key needs");
    save_sparse(1);
    tool_result result = RUN(0, SPARSE_FILES, "--missing", "skip");
    assert_contains(result.err,
                    "frame 4: the velocity of atom 0 (OW of SOL 1, counted from 0) is nan");
}

TEST(keys_without_a_field_are_nan)
{
    save_sparse(0);
    expect_warning(RUN(0, SPARSE_FILES, "--missing", "nan", "--batch", "2"),
                   "frame 1 has no velocities: keys that need a field are NaN in frames without it "
                   "(such frames: 3)");
    expect_frames("com", "012-4");
    expect_frames("rg", "012-4");
    expect_frames("L_vector", "0-2-4");
    expect_frames("k_total", "0-234"); /* needs no positions */
    expect_frames("tau_vector", "0---4");
    cJSON *meta = extract_meta(directory);
    assert_int_equal(meta_at(meta, "frames/with_nan")->valueint, 3);
    cJSON_Delete(meta);
    expect_error(RUN(1, SPARSE_FILES, "--missing", "nan", "--start", "3"),
                 "the frame has no positions");
    save_sparse(1);
    tool_result result = RUN(0, SPARSE_FILES, "--missing", "nan");
    assert_int_equal(count_of(result.err, "warning: "), 2);
    assert_contains(result.err, "L, omega, dL/dt and the energies are not finite");
}

TEST(fields_that_begin_later)
{
    const char *text = "frame 1 has forces, the first frame has none: keys that need them "
                       "are left out";
    io_image image = {0};

    save_sparse(0); /* for its topology */
    for (int i = 0; i < 3; i++)
        io_put_trr(&image, 4, 3, i, IO_BOX | IO_X | (i > 0 ? IO_F : 0));
    io_save(io_path(directory, "late.trr"), image.data, image.size);
    free(image.data);
    expect_warning(RUN(0, "sparse.gro", "late.trr"), text);
    expect_warning(RUN(0, "sparse.gro", "late.trr", "--keys", "com"), NULL);
    expect_warning(RUN(0, "sparse.gro", "late.trr", "--stop", "1"), NULL);
}

/* Positions without blanks between them: some fill their columns, some are too wide. */
TEST(positions_whose_fields_touch)
{
    static const char first[] = "    1SOL     OW    1   1.000   2.000   3.000\n",
                      wide[] = "    1SOL     OW    112345.6781000.2341000.345\n";
    static const struct {
        const char *a, *b, *text; /* NULL: the positions are read */
    } cases[] = {
        {first, "    1SOL     HW    2-100.123-200.234-300.345\n", NULL},
        {"    1SOL     OW    11000.1231000.2341000.345\n",
         "    1SOL     HW    2-100.123-200.234-300.345\n", NULL},
        {first, "    1SOL     HW    212345.6781000.2341000.345\n",
         "'12345.67', touches another number"},
        {wide, "    1SOL     HW    2   1.000   2.000   3.000\n",
         "pair.gro:3: the number in columns"},
        {first, "    1SOL     HW    2-1000.123-200.234-300.345\n", "'-1000.12', touches"},
        {first, "    1SOL     HW100000 1000.123 200.234 300.345\n", "position x in columns 21-28"},
        {first, "    1SOL     HW1000001000.123 200.234 300.345\n", "'01000.12', touches"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char atoms[128];

        snprintf(atoms, sizeof atoms, "%s%s", cases[i].a, cases[i].b);
        const char *path = save_pair(atoms, "no box");
        if (cases[i].text != NULL)
            expect_error(RUN(1, path, path), cases[i].text);
        else
            expect_warning(RUN(0, path, path, "--keys", "com"), NULL);
    }
}

/* ---- Masses ------------------------------------------------------------------------------ */

/* Saves a polymer of nine atoms, one of them with the name `name`, and a bead that is no
 * element. */
static const char *save_polymer(const char *name)
{
    char text[1024] = "polymer t= 0\n   10\n";
    size_t n = strlen(text);

    for (int i = 1; i < 10; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "    1POL  %5s%5d   0.%d00   0.%d00   0.100\n", i == 4 ? name : "C1",
                              i, i, i * i % 10);
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "    2MAR     QQ   10   1.000   1.000   1.000\n   9.0   9.0   9.0\n");
    io_save(io_path(directory, "polymer.gro"), text, n);
    return "polymer.gro";
}

TEST(names_that_may_be_metals)
{
    const char *path = save_polymer("Ca13");

    tool_result result = RUN(0, path, path, "--selection", "resname POL");
    assert_contains(result.out, "108.099 amu selected (C 9)\n");
    expect_warning(result,
                   "(such atoms: 1): atom 3 (Ca13 of POL 1, counted from 0) was taken for C;");
    cJSON *meta = extract_meta(directory);
    assert_int_equal(meta_at(meta, "inputs/masses/elements/C")->valueint, 9);
    cJSON_Delete(meta);
    path = save_polymer("ZN");
    result = RUN(0, path, path, "--selection", "resname POL");
    assert_contains(result.out, "(C 8, Zn 1)\n");
    expect_warning(result, "was taken for Zn; if that is wrong, give the masses");
    expect_warning(RUN(0, path, path, "--selection", "name C1"), NULL);
}

TEST(only_selected_atoms_need_elements)
{
    const char *path = save_polymer("O4");

    expect_error(RUN(1, path, path),
                 "atom 10, 'QQ' of residue MAR 2; give the masses of all atoms");
    expect_warning(RUN(0, path, path, "--selection", "resid 1"), NULL);
    expect_error(RUN(1, path, path, "--selection", "resid 1", "--masses", "nowhere"), "nowhere");
    tool_result result = RUN(0, path, path, "--masses", "equal");
    assert_null(strstr(result.out, "guessed"));
    expect_warning(result, NULL);
    npz out = npz_open(io_path(directory, "out.npz"));
    assert_true(fabs(npz_f64(&out, "com", NULL, NULL)[0] - 0.55) < 1e-12);
    npz_close(&out);
    OWNED(cJSON) *meta = extract_meta(directory);
    assert_string_equal(meta_at(meta, "inputs/masses/origin")->valuestring, "equal");
    assert_int_equal(meta_at(meta, "inputs/masses/total_selected")->valueint, 10);
}

TEST_GROUP(make_directory, remove_directory)
