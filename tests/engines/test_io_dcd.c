/* SPDX-License-Identifier: Apache-2.0 */
/* .dcd trajectories: the variants that programs write, cells, fixed atoms, truncated and damaged
 * files. */

#include "directory.h"
#include "trajectory/formats/cell.h"

#define ATOMS 5
#define FIRST 10
#define STEPS 5
#define AKMA 0.04888821 /* ps */

/* ---- Files ------------------------------------------------------------------------------- */

typedef struct form {
    int big;
    int marker; /* bytes */
    int version;
    int cell;   /* 1: frames have a cell */
    int fourth; /* 1: frames have a fourth dimension */
    int charges;
    int fixed; /* number of fixed atoms: atoms 1, 3, ..., counted from 0 */
    int atoms;
    int frames;
    double delta; /* time step in the header */
    const char *title;
    const char *magic;
} form;

static const form usual = {.marker = 4,
                           .version = 24,
                           .cell = 1,
                           .atoms = ATOMS,
                           .frames = 3,
                           .delta = 0.002 / AKMA,
                           .title = "made",
                           .magic = "CORD"};

static void put(io_image *image, const form *f, const void *value, size_t n)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < n; i++)
        bytes[i] = ((const uint8_t *)value)[f->big ? n - 1 - i : i];
    io_put(image, bytes, n);
}

static void put_i32(io_image *image, const form *f, int32_t value)
{
    put(image, f, &value, sizeof value);
}

static void put_f32(io_image *image, const form *f, float value)
{
    put(image, f, &value, sizeof value);
}

static void put_marker(io_image *image, const form *f, int64_t length)
{
    if (f->marker == 8)
        put(image, f, &length, 8);
    else
        put_i32(image, f, (int32_t)length);
}

static int is_fixed(const form *f, int atom)
{
    return atom % 2 == 1 && atom < 2 * f->fixed;
}

static void put_head(io_image *image, const form *f)
{
    char title[80] = "";
    float delta = (float)f->delta;

    put_marker(image, f, 84);
    io_put(image, f->magic, 4);
    for (int i = 0; i < 20; i++) {
        if (i == 9 && f->version == 0) {
            put(image, f, &f->delta, 8);
            i++;
        } else if (i == 9) {
            put(image, f, &delta, 4);
        } else {
            const int32_t control[20] = {f->frames, FIRST, STEPS,   0,         0,          0, 0, 0,
                                         f->fixed,  0,     f->cell, f->fourth, f->charges, 0, 0, 0,
                                         0,         0,     0,       f->version};
            put_i32(image, f, control[i]);
        }
    }
    put_marker(image, f, 84);
    put_marker(image, f, 84);
    put_i32(image, f, 1);
    strncpy(title, f->title, sizeof title - 1);
    io_put(image, title, sizeof title);
    put_marker(image, f, 84);
    put_marker(image, f, 4);
    put_i32(image, f, f->atoms);
    put_marker(image, f, 4);
    if (f->fixed == 0)
        return;
    put_marker(image, f, 4 * (f->atoms - f->fixed));
    for (int i = 0; i < f->atoms; i++)
        if (!is_fixed(f, i))
            put_i32(image, f, i + 1);
    put_marker(image, f, 4 * (f->atoms - f->fixed));
}

/* A coordinate in Angstrom. Fixed atoms keep their position of frame 0. */
static float coordinate(const form *f, int frame, int atom, int axis)
{
    return (float)(is_fixed(f, atom) ? 0 : frame) * 100.f + (float)atom * 3.f + (float)axis;
}

static void put_frame(io_image *image, const form *f, int frame)
{
    static const double cell[6] = {30, 0, 40, 0, 0, 50};
    int n = frame == 0 ? f->atoms : f->atoms - f->fixed;

    if (f->cell) {
        put_marker(image, f, 48);
        for (size_t i = 0; i < 6; i++)
            put(image, f, &cell[i], 8);
        put_marker(image, f, 48);
    }
    for (int axis = 0; axis < 3 + f->fourth + f->charges; axis++) {
        put_marker(image, f, 4 * n);
        for (int atom = 0; atom < f->atoms; atom++)
            if (frame == 0 || !is_fixed(f, atom))
                put_f32(image, f, coordinate(f, frame, atom, axis));
        put_marker(image, f, 4 * n);
    }
}

static io_image make(const form *f)
{
    io_image image = {0};

    put_head(&image, f);
    for (int i = 0; i < f->frames; i++)
        put_frame(&image, f, i);
    return image;
}

static const char *save(const io_image *image, size_t size)
{
    return io_save(io_path(directory, "made.dcd"), image->data, size);
}

/* ---- Reading ----------------------------------------------------------------------------- */

static void check_positions(const form *f, const trajectory_frames *frames, const int64_t *indices)
{
    static const double boxes[2][9] = {{0}, {3, 0, 0, 0, 4, 0, 0, 0, 5}};
    const float *x = frames->positions;

    for (int64_t i = 0; i < frames->n_frames; i++)
        assert_memory_equal(frames->boxes + 9 * i, boxes[f->cell], sizeof boxes[0]);

    for (int64_t i = 0; i < frames->n_frames; i++)
        for (int64_t k = 0; k < frames->n_atoms; k++)
            for (int axis = 0; axis < 3; axis++) {
                int atom = (int)(indices ? indices[k] : k);
                if (*x++ != coordinate(f, (int)frames->indices[i], atom, axis) / 10.f)
                    fail_msg("frame %lld, atom %d, axis %d", (long long)frames->indices[i], atom,
                             axis);
            }
}

/* Reads to the end or an error; expects `n_frames` valid frames and a message with `message`. */
static void expect(const form *f, const io_image *image, size_t size, int64_t n_frames,
                   int truncated, const char *message)
{
    OWNED(trajectory_frames) *frames =
        io_expect_frames(save(image, size), f->frames + 1, n_frames, truncated, message);
    check_positions(f, frames, NULL);
}

TEST(forms)
{
    static const int versions[] = {24, 36, 0};

    for (int i = 0; i < 48; i++) {
        form f = usual;
        f.big = i & 1;
        f.marker = i & 2 ? 8 : 4;
        f.cell = i >> 2 & 1;
        f.fixed = i >> 3 & 1 ? 2 : 0;
        f.version = versions[i >> 4];
        OWNED(io_image) image = make(&f);
        expect(&f, &image, image.size, 3, 0, NULL);

        OWNED(trajectory_reader) *t = io_open(io_path(directory, "made.dcd"));
        OWNED(trajectory_frames) *frames = io_batch(t, 3, 0);
        const trajectory_reader_info *info = trajectory_reader_get_info(t);
        assert_string_equal(info->format, "dcd");
        assert_int_equal(info->dtype, COLLET_F32);
        assert_true(info->has_times && !info->has_velocities && !info->has_forces);
        assert_int_equal(trajectory_reader_slice(t, 1, -1, 1, NULL), COLLET_OK);
        io_read(t, frames, 2);
        check_positions(&f, frames, NULL);
        for (int k = 0; k < 2; k++)
            assert_true(fabs(frames->times[k] - 0.002 * (FIRST + (k + 1) * STEPS)) < 1e-8);
    }
}

/* A fourth dimension and charges are skipped, also if atoms are fixed. */
TEST(records_after_z)
{
    for (int i = 0; i < 16; i++) {
        form f = usual;
        f.fourth = i & 1;
        f.charges = i >> 1 & 1;
        f.fixed = i >> 2 & 1;
        f.cell = i >> 3 & 1;
        OWNED(io_image) image = make(&f);
        expect(&f, &image, image.size, 3, 0, NULL);
    }
}

/* The x coordinates of 12 atoms have as many bytes as a cell: then only the header tells whether a record
 * is a cell. */
TEST(twelve_atoms)
{
    for (int cell = 0; cell <= 1; cell++) {
        form f = usual;
        f.atoms = 12;
        f.cell = cell;
        OWNED(io_image) image = make(&f);
        expect(&f, &image, image.size, 3, 0, NULL);
    }
}

/* Times are in AKMA units; in files of LAMMPS they are in femtoseconds. A file without a time step has no times. */
TEST(times)
{
    static const struct {
        const char *title;
        double delta;
        double time; /* of frame 1; 0: none */
    } cases[] = {
        {"REMARKS FILENAME=a.dcd CREATED BY NAMD", 1, 15 * AKMA},
        {"Created by OpenMM", 0.004 / AKMA, 0.060},
        {"Written by LAMMPS", 2, 0.030},
        {"made", 0, 0},
        {"made", -1, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        form f = usual;
        f.title = cases[i].title;
        f.delta = cases[i].delta;
        OWNED(io_image) image = make(&f);
        OWNED(trajectory_reader) *t = io_open(save(&image, image.size));
        OWNED(trajectory_frames) *frames = io_batch(t, 3, 0);
        assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_OK);
        assert_int_equal(trajectory_reader_get_info(t)->has_times, cases[i].time > 0);
        if (cases[i].time > 0)
            assert_true(fabs(frames->times[1] - cases[i].time) < 1e-7);
        else
            assert_true(isnan(frames->times[1]));
    }
}

/* Selections with small and large gaps, in frames so large that they are read in several parts. */
TEST(selections)
{
    for (int fixed = 0; fixed <= 1000; fixed += 1000) {
        form f = usual;
        f.atoms = 70000;
        f.frames = 2;
        f.fixed = fixed;
        OWNED(io_image) image = make(&f);
        expect(&f, &image, image.size, 2, 0, NULL);
        static int64_t indices[70000];
        static const int64_t strides[] = {2, 700, 1500, 40000};
        for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
            int64_t n = 0;
            for (int64_t k = 3; k < f.atoms; k += k % strides[i] == 5 ? strides[i] : 1)
                indices[n++] = k;
            OWNED(trajectory_reader) *t = io_open(io_path(directory, "made.dcd"));
            assert_int_equal(trajectory_reader_select(t, indices, n, NULL), COLLET_OK);
            OWNED(trajectory_frames) *frames = io_batch(t, 2, 0);
            io_read(t, frames, 2);
            check_positions(&f, frames, indices);
        }
    }
}

/* ---- Cells ------------------------------------------------------------------------------- */

TEST(cells)
{
    static const struct {
        double cell[6];
        double box[9];
        int version;
    } cases[] = {
        {{30, 0, 40, 0, 0, 50}, {3, 0, 0, 0, 4, 0, 0, 0, 5}, 24},
        {{30, 90, 40, 90, 90, 50}, {3, 0, 0, 0, 4, 0, 0, 0, 5}, 24},
        {{30, 90, 40, 90, 90, 50}, {3, 0, 0, 0, 4, 0, 0, 0, 5}, 36},
        {{30, 0, 40, 0, 0, 50}, {3, 0, 0, 0, 4, 0, 0, 0, 5}, 36},
        {{30, .5, 40, 0, 0, 50}, {3, 0, 0, 2, 3.4641016151377544, 0, 0, 0, 5}, 24},
        {{30, 60, 40, 90, 90, 50}, {3, 0, 0, 2, 3.4641016151377544, 0, 0, 0, 5}, 24},
        {{30, 120, 40, 90, 90, 50}, {3, 0, 0, -2, 3.4641016151377544, 0, 0, 0, 5}, 0},
        /* The angles are alpha, beta, gamma: beta determines c's component along x, alpha its component along y. */
        {{30, 0, 40, .6, 0, 50}, {3, 0, 0, 0, 4, 0, 3, 0, 4}, 24},
        {{30, 0, 40, 0, .6, 50}, {3, 0, 0, 0, 4, 0, 0, 3, 4}, 24},
        {{30, 5, 40, -2, 3, 50}, {3, .5, -.2, .5, 4, .3, -.2, .3, 5}, 36},
        {{30, 5, 40, -2, 3, 50}, {3, .5, -.2, .5, 4, .3, -.2, .3, 5}, 24},
        {{30, .5, 40, .2, .3, 50}, {3, .05, .02, .05, 4, .03, .02, .03, 5}, 36},
        {{0, 0, 0, 0, 0, 0}, {0}, 24},
        {{30, 0, 40, 0, 0, -50}, {0}, 24},
        {{NAN, 0, 40, 0, 0, 50}, {0}, 24},
        {{30, 1, 40, 0, 0, 50}, {0}, 24},
        {{30, 14, 40, 9, 2, 50}, {0}, 24},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double box[9];
        trajectory_cell_of_dcd(box, cases[i].cell, cases[i].version);
        for (size_t k = 0; k < 9; k++)
            if (!(fabs(box[k] - cases[i].box[k]) < 1e-14))
                fail_msg("case %zu, number %zu: %.17g", i, k, box[k]);
    }
    assert_true(trajectory_cell_cosine(90) == 0);
}

/* ---- Malformed files --------------------------------------------------------------------- */

TEST(truncations)
{
    for (int marker = 4; marker <= 8; marker += 4) {
        form f = usual;
        f.marker = marker;
        f.fourth = marker == 8;
        OWNED(io_image) image = {0};
        put_head(&image, &f);
        size_t head = image.size;
        put_frame(&image, &f, 0);
        size_t frame = image.size - head;
        put_frame(&image, &f, 1);
        for (size_t cut = head + frame; cut <= image.size; cut++) {
            char text[100];
            int whole = (cut - head) % frame == 0;
            snprintf(text, sizeof text, "the file ends at byte %zu inside frame 1", cut);
            expect(&f, &image, cut, (int64_t)((cut - head) / frame), !whole, whole ? NULL : text);
        }
        for (size_t cut = 12; cut < head + frame; cut++) {
            trajectory_reader *t;
            collet_error err;
            collet_status status = trajectory_reader_open(save(&image, cut), NULL, &t, &err);
            if (status == COLLET_OK) {
                trajectory_reader_close(t);
                expect(&f, &image, cut, 0, 1, "inside frame 0");
                continue;
            }
            assert_int_equal(status, COLLET_FORMAT);
            assert_contains(err.text, cut >= head && cut < head + (size_t)marker
                                          ? "the file has no frames, only a head for 5 atoms"
                                          : "inside frame 0");
        }
    }
}

/* Damages each record marker of each frame. */
TEST(damaged_markers)
{
    form f = usual;
    OWNED(io_image) image = {0};
    put_head(&image, &f);
    size_t head = image.size;
    for (int i = 0; i < 3; i++)
        put_frame(&image, &f, i);
    size_t frame = (image.size - head) / 3, x = 56, plane = 8 + 4 * ATOMS;
    const size_t markers[] = {
        0, 52, x, x + plane - 4, x + plane, x + 2 * plane - 4, x + 2 * plane, x + 3 * plane - 4};

    for (size_t i = 0; i < 8; i++) {
        uint8_t *at = image.data + head + frame + markers[i];
        *at ^= 4;
        expect(&f, &image, image.size, 1, 0,
               i < 3 ? "frame 1 at byte 336: no .dcd frame begins here"
                     : "frame 1 at byte 336: the record of");
        *at ^= 4;
    }
    uint8_t garbage[] = {'g', 'a', 'r', 'b', 'a', 'g', 'e', 0};
    for (int i = 0; i < 20; i++)
        io_put(&image, garbage, sizeof garbage);
    expect(&f, &image, image.size, 3, 0, "no .dcd frame begins here (bytes 67 61 72 62)");
}

static void refuse(const io_image *image, const char *message)
{
    io_refuse(save(image, image->size), message);
}

/* The record markers give the length of two titles, but the record counts three. */
TEST(titles_of_another_length)
{
    form f = usual;
    OWNED(io_image) image = make(&f), changed = {0};
    char title[80] = "more";

    io_put(&changed, image.data, 92);
    put_marker(&changed, &f, 164);
    put_i32(&changed, &f, 3);
    for (int i = 0; i < 3; i++)
        io_put(&changed, title, sizeof title);
    put_marker(&changed, &f, 164);
    io_put(&changed, image.data + 184, image.size - 184);
    expect(&f, &changed, changed.size, 3, 0, NULL);
}

TEST(heads_that_are_refused)
{
    form f = usual;
    static const struct {
        size_t at;
        const char *message;
    } bytes[] = {
        {88, "the lengths of the head's records contradict each other"},
        {92, "the lengths of the head's records contradict each other"},
        {184, "the lengths of the head's records contradict each other"},
        {192, "the lengths of the head's records contradict each other"},
    };
    OWNED(io_image) image = make(&f);

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        image.data[bytes[i].at] ^= 8;
        refuse(&image, bytes[i].message);
        image.data[bytes[i].at] ^= 8;
    }
    image.data[0] = 85;
    refuse(&image, "is not a trajectory");
    free(image.data);

    f.magic = "VELD";
    image = make(&f);
    refuse(&image, "the file holds velocities (VELD), not positions");
    free(image.data);

    static const form bad[] = {
        {.atoms = 0}, {.atoms = -5}, {.atoms = 5, .fixed = -1}, {.atoms = 1, .fixed = 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        f = usual;
        f.frames = 0;
        f.atoms = bad[i].atoms;
        f.fixed = bad[i].fixed;
        image = make(&f);
        refuse(&image, "the head has");
        free(image.data);
    }

    f = usual;
    f.fixed = 2;
    image = make(&f);
    image.data[204] = 6; /* the first entry of the list of moving atoms */
    refuse(&image, "the list of moving atoms has atom 6; there are 5 atoms");
    image.data[204] = 0;
    refuse(&image, "the list of moving atoms has atom 0; there are 5 atoms");
}

TEST_GROUP(make_directory, remove_directory)
