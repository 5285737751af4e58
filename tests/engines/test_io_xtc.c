/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed trajectories: bit-identical to the reference reader, and memory-safe on any bytes. */
#include <cjson/cJSON.h>

#include "trajectory/formats/bigendian.h"
#include "directory.h"
#include "trajectory/formats/xtc/xtc_coordinates.h"

OWNS(cJSON, cJSON_Delete)

#define DATA COLLET_TEST_DATA "/"
#define CORPUS COLLET_TEST_CORPUS "/"
#define HEAD 92 /* bytes before the packed data */

/* Checksums of the frames that MDAnalysis 2.4.2 reads from these files, see tests/data/xtc/README.md. */
static const struct {
    const char *path;
    int64_t n_atoms;
    int64_t n_frames;
    double precision;
    uint64_t hash;
} files[] = {
    {DATA "md/water/traj.xtc", 648, 51, 1000.0, UINT64_C(0x97bd3ba4f61edce0)},
    {DATA "md/peptide/traj.xtc", 280, 51, 1000.0, UINT64_C(0x3274c1d24d54dec2)},
    {CORPUS "xtc/nine", 9, 2, 0.0, UINT64_C(0xb8910897d469fbbe)},
    {CORPUS "xtc/ten", 10, 2, 1000.0, UINT64_C(0x15fa7e67f16edcf0)},
    {CORPUS "xtc/packed63", 40, 2, 1e5, UINT64_C(0x188943cd098b8fe0)},
    {CORPUS "xtc/packed54", 40, 2, 1e5, UINT64_C(0xb8fa58faf4c86d0b)},
    {CORPUS "xtc/ranges", 120, 24, 1000.0, UINT64_C(0x85c9d7025e82f074)},
    {CORPUS "xtc/unpacked", 30, 2, 1e6, UINT64_C(0xc5cd4b7109cb1502)},
    {CORPUS "xtc/far", 10, 2, 1e6, UINT64_C(0x785b170dd3cfd67e)},
    {CORPUS "xtc/same", 20, 2, 100.0, UINT64_C(0xa7268168fe6e4d45)},
    {CORPUS "xtc/chain", 60, 2, 12345.0, UINT64_C(0x401dbd5d57fe28f5)},
};

#define N_FILES (sizeof files / sizeof *files)

TEST(equal_to_the_reference_in_every_bit)
{
    for (size_t i = 0; i < N_FILES; i++) {
        OWNED(trajectory_reader) *t = io_open(files[i].path);
        const trajectory_reader_info *info = trajectory_reader_get_info(t);
        OWNED(trajectory_frames) *frames = io_batch(t, 60, 1);

        assert_string_equal(info->format, "xtc");
        assert_int_equal(info->dtype, COLLET_F32);
        assert_int_equal(info->n_atoms, files[i].n_atoms);
        assert_true(info->precision == files[i].precision);
        assert_true(!info->has_velocities && !info->has_forces);
        io_read(t, frames, files[i].n_frames);
        if (io_hash(IO_HASH, frames->positions,
                    io_frame_bytes(frames) * (size_t)frames->n_frames) != files[i].hash)
            fail_msg("%s differs from the reference", files[i].path);
    }
}

TEST(times_and_positions)
{
    OWNED(io_bytes) text = io_load(DATA "md/reference.json");
    OWNED(cJSON) *json = cJSON_ParseWithLength((const char *)text.data, text.size);
    const cJSON *x0 = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "xtc_water"), "last_x0_A");
    OWNED(trajectory_reader) *t = io_open(DATA "md/water/traj.xtc");
    OWNED(trajectory_frames) *frames = io_batch(t, 51, 0);

    assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_OK);
    assert_true(frames->times[50] == 1.0);
    const float *last = (const float *)frames->positions + 50 * 3 * 648;
    for (int k = 0; k < 3; k++)
        assert_true((double)(last[k] * 10.0f) == cJSON_GetArrayItem(x0, k)->valuedouble);
}

/* Opens and reads all of `path`; returns the status. */
static collet_status read_through(const char *path, int64_t *n_frames, int32_t *truncated,
                                  collet_error *err)
{
    trajectory_reader *t;
    trajectory_frames *frames = NULL;

    *n_frames = 0;
    *truncated = 0;
    collet_status status = trajectory_reader_open(path, NULL, &t, err);
    if (status != COLLET_OK)
        return status;
    status =
        trajectory_frames_create(trajectory_reader_selected(t), 4, COLLET_F32, 0, 0, &frames, err);
    while (status == COLLET_OK) {
        status = trajectory_reader_read(t, frames, err);
        *n_frames += frames->n_frames;
        *truncated = frames->truncated;
        if (status == COLLET_OK && frames->n_frames == 0)
            break;
    }
    trajectory_frames_free(frames);
    trajectory_reader_close(t);
    return status;
}

static size_t first_frame(const io_bytes *file)
{
    size_t packed = (trajectory_be32(file->data + 88) + 3) & ~(size_t)3;

    return HEAD + packed;
}

TEST(every_truncation_keeps_the_complete_frames)
{
    OWNED(io_bytes) file = io_load(CORPUS "xtc/chain");
    size_t frame = first_frame(&file);
    const char *path = io_path(directory, "cut.xtc");
    int64_t n_frames;
    int32_t truncated;
    collet_error err;

    for (size_t cut = 4; cut < file.size; cut++) {
        char expected[100];
        io_save(path, file.data, cut);
        collet_status status = read_through(path, &n_frames, &truncated, &err);
        if (cut == frame) {
            assert_int_equal(status, COLLET_OK);
            continue;
        }
        snprintf(expected, sizeof expected, "the file ends at byte %zu inside frame %d", cut,
                 cut > frame);
        if (status != COLLET_FORMAT || n_frames != (cut > frame) || !strstr(err.text, expected) ||
            (truncated != 1 && cut >= HEAD))
            fail_msg("cut at %zu: status %d, %lld frames, '%s'", cut, status, (long long)n_frames,
                     err.text);
    }
}

static void check_damage(io_bytes *file, size_t at, uint32_t value, const char *text)
{
    const char *path = io_path(directory, "damaged.xtc");
    int64_t n_frames;
    int32_t truncated;
    collet_error err = {0};
    uint8_t kept[4];

    memcpy(kept, file->data + at, 4);
    for (int k = 0; k < 4; k++)
        file->data[at + (size_t)k] = (uint8_t)(value >> (24 - 8 * k));
    io_save(path, file->data, file->size);
    memcpy(file->data + at, kept, 4);
    collet_status status = read_through(path, &n_frames, &truncated, &err);
    if (status != COLLET_FORMAT || n_frames != 1 || truncated || !strstr(err.text, text) ||
        !strstr(err.text, "frame 1 at byte"))
        fail_msg("byte %zu = %08x: status %d, %lld frames, truncated %d, '%s'", at, value, status,
                 (long long)n_frames, truncated, err.text);
}

TEST(damage_is_named)
{
    OWNED(io_bytes) file = io_load(CORPUS "xtc/chain");
    size_t second = first_frame(&file);

    check_damage(&file, second, 1994, "no .xtc frame begins here (bytes 00 00 07 ca)");
    check_damage(&file, second + 4, 61, "two different numbers of atoms, 61 and 60");
    check_damage(&file, second + 56, 0, "has a precision of 0");
    check_damage(&file, second + 56, 1, "has a precision of 1.4013e-45");
    check_damage(&file, second + 56, 0x7fc00000, "has a precision of nan");
    check_damage(&file, second + 60, 0x7fffffff, "its bounds are reversed or span 2^32 values");
    uint8_t *most = file.data + second + 72; /* of x */
    uint8_t kept[4];
    memcpy(kept, most, 4);
    memcpy(most, "\x7f\xff\xff\xff", 4);
    check_damage(&file, second + 60, 0x80000000, "its bounds are reversed or span 2^32 values");
    memcpy(most, kept, 4);
    check_damage(&file, second + 84, 3,
                 "the index of the range of small differences is outside the table");
    check_damage(&file, second + 84, 74,
                 "the index of the range of small differences is outside the table");
    check_damage(&file, second + 88, 0, "has 0 bytes for 60 atoms");
    check_damage(&file, second + 88, 20, "its packed bytes end before the last atom");
}

TEST(a_changed_number_of_atoms)
{
    OWNED(io_bytes) a = io_load(CORPUS "xtc/chain");
    OWNED(io_bytes) b = io_load(CORPUS "xtc/same");
    const char *path = io_path(directory, "joined.xtc");
    OWNED(io_image) image = {0};
    int64_t n_frames;
    int32_t truncated;
    collet_error err;

    io_put(&image, a.data, a.size);
    io_put(&image, b.data, b.size);
    io_save(path, image.data, image.size);
    assert_int_equal(read_through(path, &n_frames, &truncated, &err), COLLET_FORMAT);
    assert_int_equal(n_frames, 2);
    assert_contains(err.text, "frame 2 at byte 800: has 20 atoms, the first frame has 60");
}

/* With any byte changed, reading ends and stays within bounds (run with the sanitizers). */
TEST(any_byte_may_be_wrong)
{
    static const char *const names[] = {CORPUS "xtc/chain", CORPUS "xtc/packed63",
                                        CORPUS "xtc/unpacked", CORPUS "xtc/nine"};
    const char *path = io_path(directory, "flipped.xtc");
    int64_t n_frames;
    int32_t truncated;

    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        OWNED(io_bytes) file = io_load(names[f]);
        for (size_t i = 4; i < file.size; i++) {
            file.data[i] ^= (uint8_t)(0x80 >> i % 8);
            io_save(path, file.data, file.size);
            collet_status status = read_through(path, &n_frames, &truncated, NULL);
            assert_true(status == COLLET_OK || status == COLLET_FORMAT);
            file.data[i] ^= (uint8_t)(0x80 >> i % 8);
        }
    }
}

/* A header with more atoms than its data can hold causes no allocation. */
TEST(more_atoms_than_bytes)
{
    OWNED(io_bytes) file = io_load(CORPUS "xtc/chain");
    const char *path = io_path(directory, "many.xtc");
    int64_t n_frames;
    int32_t truncated;
    collet_error err;

    file.data[4] = file.data[52] = 0x7f;
    io_save(path, file.data, file.size);
    assert_int_equal(read_through(path, &n_frames, &truncated, &err), COLLET_FORMAT);
    assert_int_equal(truncated, 0);
    assert_contains(err.text, "bytes for 2130706492 atoms: the file is damaged");
}

/* Fewer atoms than were packed: a run past the last atom writes nothing. */
TEST(no_atom_too_many)
{
    OWNED(io_bytes) file = io_load(CORPUS "xtc/chain");
    FREED(uint8_t) *packed = calloc(1, file.size + TRAJECTORY_XTC_PADDING);
    trajectory_xtc_block block = {.bytes = packed, .n_bytes = trajectory_be32(file.data + 88)};
    float positions[3 * 61];
    int refused = 0;

    assert_non_null(packed);
    memcpy(packed, file.data + HEAD, block.n_bytes);
    block.precision = trajectory_be_f32(file.data + 56);
    block.small_index = trajectory_be_i32(file.data + 84);
    for (size_t i = 0; i < 3; i++) {
        block.min[i] = trajectory_be_i32(file.data + 60 + 4 * i);
        block.max[i] = trajectory_be_i32(file.data + 72 + 4 * i);
    }
    for (block.n_atoms = 1; block.n_atoms <= 60; block.n_atoms++) {
        int64_t n_done;
        for (int i = 0; i < 3 * 61; i++)
            positions[i] = 1e30f;
        const char *wrong = trajectory_xtc_decode(&block, block.n_atoms, positions, &n_done);
        assert_true(wrong ? n_done < block.n_atoms : n_done == block.n_atoms);
        refused += wrong && strstr(wrong, "longer than the atoms left");
        for (int64_t i = 3 * block.n_atoms; i < 3 * 61; i++)
            assert_true(positions[i] == 1e30f);
    }
    assert_true(refused > 10 && refused < 60);
}

/* The variant with a 64-bit count of packed bytes, made from a regular file. */
TEST(large_variant)
{
    OWNED(io_bytes) file = io_load(CORPUS "xtc/chain");
    const char *path = io_path(directory, "large.xtc");
    OWNED(io_image) image = {0};

    for (size_t at = 0; at < file.size;) {
        size_t packed = (trajectory_be32(file.data + at + 88) + 3) & ~(size_t)3;
        io_put_i32(&image, 2023);
        io_put(&image, file.data + at + 4, 84);
        io_put_i32(&image, 0);
        io_put(&image, file.data + at + 88, 4 + packed);
        at += HEAD + packed;
    }
    io_save(path, image.data, image.size);
    OWNED(trajectory_reader) *t = io_open(path);
    OWNED(trajectory_frames) *frames = io_batch(t, 3, 0);
    io_read(t, frames, 2);
    assert_true(io_hash(IO_HASH, frames->positions, 2 * io_frame_bytes(frames)) ==
                UINT64_C(0x401dbd5d57fe28f5));
}

TEST_GROUP(make_directory, remove_directory)
