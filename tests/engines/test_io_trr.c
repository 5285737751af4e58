/* SPDX-License-Identifier: Apache-2.0 */
/* Full-precision trajectories: exact values, and every kind of malformed file. */
#include <cjson/cJSON.h>

#include "directory.h"
#include "io/numerals.h"

OWNS(cJSON, cJSON_Delete)

#define DATA COLLET_TEST_DATA "/md/"
#define ATOMS 5
#define ALL (IO_BOX | IO_X | IO_V | IO_F)

/* ---- Real files against reference.json --------------------------------------------------- */

static double component(const trajectory_frames *frames, const void *array, int64_t frame,
                        int64_t i)
{
    int64_t at = frame * 3 * frames->n_atoms + i;

    return frames->dtype == COLLET_F64 ? ((const double *)array)[at]
                                       : (double)((const float *)array)[at];
}

static void check_vector(const cJSON *frame, const char *key, const trajectory_frames *frames,
                         const void *array, int64_t i)
{
    const cJSON *expected = cJSON_GetObjectItem(frame, key);

    for (int k = 0; k < 3; k++)
        assert_true(cJSON_GetArrayItem(expected, k)->valuedouble == component(frames, array, i, k));
}

static void check_frame(const cJSON *expected, const trajectory_frames *frames, int64_t i)
{
    assert_true(cJSON_GetObjectItem(expected, "time")->valuedouble == frames->times[i]);
    check_vector(expected, "x0", frames, frames->positions, i);
    check_vector(expected, "v0", frames, frames->velocities, i);
    check_vector(expected, "f0", frames, frames->forces, i);
}

static double *load_masses(const char *path, int64_t n)
{
    double *masses = calloc((size_t)n, sizeof *masses);
    FILE *file = fopen(path, "r");

    assert_non_null(masses);
    assert_non_null(file);
    locale_t before = io_numerals_begin();
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(fscanf(file, "%lf", &masses[i]), 1);
    io_numerals_end(before);
    fclose(file);
    return masses;
}

/* The centre of mass depends on the position of every atom. */
static void check_com(const cJSON *expected, const trajectory_frames *frames, int64_t frame,
                      const double *masses)
{
    const cJSON *com = cJSON_GetObjectItem(expected, "com");

    for (int k = 0; k < 3; k++) {
        double sum = 0.0, mass = 0.0;
        for (int64_t i = 0; i < frames->n_atoms; i++) {
            sum += masses[i] * component(frames, frames->positions, frame, 3 * i + k);
            mass += masses[i];
        }
        double value = cJSON_GetArrayItem(com, k)->valuedouble;
        assert_true(sum / mass - value < 1e-12 * value && value - sum / mass < 1e-12 * value);
    }
}

static void check_file(const char *key, const char *path, const char *masses_path)
{
    OWNED(io_bytes) text = io_load(DATA "reference.json");
    OWNED(cJSON) *json = cJSON_ParseWithLength((const char *)text.data, text.size);
    const cJSON *expected = cJSON_GetObjectItem(json, key);
    OWNED(trajectory_reader) *t = io_open(path);
    const trajectory_reader_info *info = trajectory_reader_get_info(t);
    OWNED(trajectory_frames) *frames = io_batch(t, 60, 1);
    FREED(double) *masses = load_masses(masses_path, info->n_atoms);

    assert_non_null(expected);
    assert_string_equal(info->format, "trr");
    assert_int_equal(info->n_atoms, cJSON_GetObjectItem(expected, "natoms")->valueint);
    assert_int_equal(info->dtype == COLLET_F64 ? 8 : 4,
                     cJSON_GetObjectItem(expected, "trr_bytes_per_real")->valueint);
    assert_true(info->has_velocities && info->has_forces);
    io_read(t, frames, cJSON_GetObjectItem(expected, "nframes")->valueint);
    assert_int_equal(frames->end_offset, info->file_size);
    check_frame(cJSON_GetObjectItem(expected, "raw_first"), frames, 0);
    check_frame(cJSON_GetObjectItem(expected, "raw_last"), frames, frames->n_frames - 1);
    check_com(cJSON_GetObjectItem(expected, "raw_first"), frames, 0, masses);
    check_com(cJSON_GetObjectItem(expected, "raw_last"), frames, frames->n_frames - 1, masses);
    io_read(t, frames, 0);
}

TEST(real_files_are_exact)
{
    check_file("water", DATA "water/traj.trr", DATA "water/masses.txt");
    check_file("peptide", DATA "peptide/traj.trr", DATA "peptide/masses.txt");
    check_file("peptide_double", DATA "peptide/traj_double.trr", DATA "peptide/masses.txt");
}

/* ---- Synthetic files --------------------------------------------------------------------- */

static const char *save(const io_image *image, size_t size)
{
    return io_save(io_path(directory, "made.trr"), image->data, size);
}

static io_image make(int real, int n_frames)
{
    io_image image = {0};

    for (int i = 0; i < n_frames; i++)
        io_put_trr(&image, real, ATOMS, i, ALL);
    return image;
}

/* Reads to the end or an error; expects `frames` valid frames and a message with `text`. */
static void expect(const char *path, int64_t n_frames, collet_status status, int truncated,
                   const char *text, int everything)
{
    OWNED(trajectory_reader) *t = io_open(path);
    OWNED(trajectory_frames) *frames = io_batch(t, 100, everything);
    collet_error err = {0};

    collet_status got = trajectory_reader_read(t, frames, &err);
    if (got != status || frames->n_frames != n_frames || frames->truncated != truncated ||
        (text && !strstr(err.text, text)))
        fail_msg("status %d, %lld frames, truncated %d, '%s'; expected %d, %lld, %d, '%s'", got,
                 (long long)frames->n_frames, frames->truncated, err.text, status,
                 (long long)n_frames, truncated, text ? text : "");
    if (status != COLLET_OK) {
        assert_contains(err.text, path);
        assert_int_equal(trajectory_reader_read(t, frames, NULL), status);
        assert_int_equal(frames->n_frames, 0);
        assert_int_equal(frames->truncated, truncated);
    }
    for (int64_t i = 0; i < n_frames; i++)
        assert_true(component(frames, frames->positions, i, 0) ==
                    100.0 * (double)frames->indices[i]);
}

TEST(every_truncation_keeps_the_complete_frames)
{
    for (int real = 4; real <= 8; real += 4) {
        OWNED(io_image) image = make(real, 3);
        size_t frame = image.size / 3;
        for (size_t cut = frame; cut <= image.size; cut++) {
            char text[200];
            int whole = cut % frame == 0;
            snprintf(text, sizeof text,
                     "the file ends at byte %zu inside frame %zu, which begins at byte %zu", cut,
                     cut / frame, cut / frame * frame);
            expect(save(&image, cut), (int64_t)(cut / frame), whole ? COLLET_OK : COLLET_FORMAT,
                   !whole, whole ? NULL : text, 1);
        }
    }
}

TEST(truncation_of_the_first_frame)
{
    OWNED(io_image) image = make(4, 1);
    size_t head = 24 + 13 * 4 + 2 * 4;

    for (size_t cut = 1; cut < image.size; cut++) {
        trajectory_reader *t;
        collet_error err;
        const char *path = save(&image, cut);
        if (cut >= head) {
            expect(path, 0, COLLET_FORMAT, 1, "inside frame 0", 1);
            continue;
        }
        assert_int_equal(trajectory_reader_open(path, NULL, &t, &err), COLLET_FORMAT);
        assert_null(t);
        assert_contains(err.text, cut < 4 ? "is not a trajectory" : "inside frame 0");
    }
}

TEST(bytes_that_are_no_frame)
{
    OWNED(io_image) image = make(4, 3);
    size_t frame = image.size / 3;
    char text[100];

    snprintf(text, sizeof text, "frame 3 at byte %zu: no .trr frame begins here", image.size);
    for (int n = 1; n <= 40; n++) {
        io_put(&image, "\xff", 1);
        expect(save(&image, image.size), 3, COLLET_FORMAT, 0, text, 1);
    }
    image.data[frame] = 1;
    snprintf(text, sizeof text, "frame 1 at byte %zu: no .trr", frame);
    expect(save(&image, image.size), 1, COLLET_FORMAT, 0, text, 1);
}

/* A file that continues after a truncated frame: the gap is detected, later frames are not read. */
TEST(hole_in_the_middle)
{
    OWNED(io_image) image = make(4, 2);

    image.size -= 7;
    io_put_trr(&image, 4, ATOMS, 2, ALL);
    io_put_trr(&image, 4, ATOMS, 3, ALL);
    expect(save(&image, image.size), 2, COLLET_FORMAT, 0, "frame 2 at byte", 1);
}

TEST(frames_that_differ)
{
    OWNED(io_image) image = make(4, 2);
    size_t at = image.size;
    char text[100];

    snprintf(text, sizeof text, "frame 2 at byte %zu: has 6 atoms, the first frame has 5", at);
    io_put_trr(&image, 4, ATOMS + 1, 2, ALL);
    expect(save(&image, image.size), 2, COLLET_FORMAT, 0, text, 1);

    image.size = at;
    io_put_trr(&image, 8, ATOMS, 2, ALL);
    expect(save(&image, image.size), 2, COLLET_FORMAT, 0,
           "is in double precision, the first frame is in single", 1);

    image.size = at;
    io_put_trr(&image, 4, ATOMS, 2, IO_X | IO_V);
    io_put_trr(&image, 4, ATOMS, 3, IO_X | IO_V | IO_F);
    expect(save(&image, image.size), 2, COLLET_NOT_FOUND, 0, "has no forces (time 1 ps, step 20)",
           1);
    expect(save(&image, image.size), 4, COLLET_OK, 0, NULL, 0);

    image.size = at;
    io_put_trr(&image, 4, ATOMS, 2, IO_X | IO_F);
    expect(save(&image, image.size), 2, COLLET_NOT_FOUND, 0, "has no velocities", 1);

    static const int single[] = {IO_V, IO_F};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        image.size = at;
        io_put_trr(&image, 4, ATOMS, 2, single[i]);
        expect(save(&image, image.size), 2, COLLET_NOT_FOUND, 0, "has no positions", 1);
    }

    image.size = at;
    io_put_trr(&image, 4, ATOMS, 2, 0);
    expect(save(&image, image.size), 2, COLLET_FORMAT, 0, "has no data, not even a box", 1);

    image.size = 0;
    io_put_trr(&image, 8, ATOMS, 0, ALL);
    io_put_trr(&image, 8, ATOMS, 1, ALL);
    size_t doubles = image.size;
    io_put_trr(&image, 4, ATOMS, 2, ALL);
    expect(save(&image, image.size), 2, COLLET_FORMAT, 0,
           "is in single precision, the first frame is in double", 1);
    image.size = doubles;
    free(image.data);
    image = make(4, 2);
    assert_int_equal(image.size, at);

    io_put_trr(&image, 4, ATOMS, 2, IO_BOX | IO_V);
    io_put_trr(&image, 4, ATOMS, 3, ALL);
    expect(save(&image, image.size), 2, COLLET_NOT_FOUND, 0, "frame 2 at byte", 0);
    OWNED(trajectory_reader) *t = io_open(save(&image, image.size));
    OWNED(trajectory_frames) *frames = io_batch(t, 10, 1);
    assert_int_equal(trajectory_reader_slice(t, 0, -1, 3, NULL), COLLET_OK);
    io_read(t, frames, 2);
    assert_int_equal(frames->indices[1], 3);
}

TEST(sizes_that_contradict)
{
    OWNED(io_image) image = make(4, 2);
    size_t sizes = image.size / 2 + 24;
    uint8_t frame[80];

    memcpy(frame, image.data + sizes, sizeof frame);
    for (size_t i = 0; i < 11; i++) /* halves the sizes: reals would have 2 bytes */
        for (size_t k = 3; k > 1; k--)
            image.data[sizes + 4 * i + k] =
                (uint8_t)(frame[4 * i + k] >> 1 | frame[4 * i + k - 1] << 7);
    expect(save(&image, image.size), 1, COLLET_FORMAT, 0, "frame 1 at byte", 1);
    memcpy(image.data + sizes, frame, sizeof frame);

    for (size_t i = 0; i < 11; i++) {
        uint8_t kept = image.data[sizes + 4 * i + 3];
        image.data[sizes + 4 * i + 3] ^= 1;
        expect(save(&image, image.size), 1, COLLET_FORMAT, 0, "frame 1 at byte", 1);
        image.data[sizes + 4 * i + 3] = kept;
        kept = image.data[sizes + 4 * i];
        image.data[sizes + 4 * i] ^= 0x80;
        expect(save(&image, image.size), 1, COLLET_FORMAT, 0, "frame 1 at byte", 1);
        image.data[sizes + 4 * i] = kept;
    }
}

TEST(no_atoms)
{
    OWNED(io_image) image = make(4, 0);

    io_put_trr(&image, 4, 0, 0, IO_BOX);
    io_refuse(save(&image, image.size), "has no atoms");
}

/* The virial and pressure tensors are skipped, whatever the number of atoms. */
TEST(tensors)
{
    OWNED(io_image) image = make(4, 2);
    size_t frame = image.size / 2, head = 24 + 13 * 4 + 2 * 4, box = 36;

    for (size_t i = 0; i < 2; i++) {
        uint8_t *at = image.data + i * frame;
        assert_int_equal(at[24 + 4 * 2 + 3], box);
        at[24 + 4 * 3 + 3] = at[24 + 4 * 4 + 3] = (uint8_t)box; /* virial, pressure */
    }
    OWNED(io_image) wider = {0};
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *from = image.data + i * frame;
        io_put(&wider, from, head + box);
        io_put(&wider, from + head, box);
        io_put(&wider, from + head, box);
        io_put(&wider, from + head + box, frame - head - box);
    }
    expect(save(&wider, wider.size), 2, COLLET_OK, 0, NULL, 1);
}

TEST(without_velocities)
{
    OWNED(io_image) image = {0};
    collet_error err;

    for (int i = 0; i < 3; i++)
        io_put_trr(&image, 4, ATOMS, i, IO_X);
    OWNED(trajectory_reader) *t = io_open(save(&image, image.size));
    const trajectory_reader_info *info = trajectory_reader_get_info(t);
    assert_true(!info->has_velocities && !info->has_forces);
    OWNED(trajectory_frames) *frames = NULL;
    assert_int_equal(trajectory_frames_create(ATOMS, 2, COLLET_F32, 1, 0, &frames, NULL),
                     COLLET_OK);
    assert_error(trajectory_reader_read(t, frames, &err), COLLET_NOT_FOUND, err,
                 "the file has no velocities");
    trajectory_frames_free(frames);
    frames = io_batch(t, 2, 1);
    io_read(t, frames, 2);
}

/* ---- Large files ------------------------------------------------------------------------- */

/* Sparse frames of 2.04 GB each: the third extends beyond 2^32 bytes. */
TEST(offsets_beyond_32_bits)
{
    const int32_t atoms = 170000000;
    const int64_t length = 24 + 13 * 4 + 8 + 12 * (int64_t)atoms;
    const int64_t chosen[2] = {0, atoms - 1};
    const char *path = io_path(directory, "large.trr");
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    for (int32_t i = 0; i < 3; i++) {
        OWNED(io_image) head = {0}, value = {0};
        io_put_trr(&head, 4, 0, i, IO_X);
        for (size_t k = 0; k < 4; k++) {
            head.data[24 + 4 * 7 + k] = (uint8_t)((12 * (int64_t)atoms) >> (24 - 8 * k));
            head.data[24 + 4 * 10 + k] = (uint8_t)(atoms >> (24 - 8 * k));
        }
        io_put_f32(&value, (float)(i + 1));
        assert_int_equal(fseeko(file, (off_t)(i * length), SEEK_SET), 0);
        assert_int_equal(fwrite(head.data, 1, head.size, file), head.size);
        assert_int_equal(fseeko(file, (off_t)((i + 1) * length - 4), SEEK_SET), 0);
        assert_int_equal(fwrite(value.data, 1, 4, file), 4);
    }
    assert_int_equal(fclose(file), 0);

    OWNED(trajectory_reader) *t = io_open(path);
    assert_int_equal(trajectory_reader_get_info(t)->file_size, 3 * length);
    assert_int_equal(trajectory_reader_select(t, chosen, 2, NULL), COLLET_OK);
    OWNED(trajectory_frames) *frames = io_batch(t, 4, 0);
    io_read(t, frames, 3);
    for (int64_t i = 0; i < 3; i++)
        assert_true(component(frames, frames->positions, i, 5) == (double)(i + 1));
    remove(path);
}

TEST_GROUP(make_directory, remove_directory)
