/* SPDX-License-Identifier: Apache-2.0 */
#include "io_files.h"
#include "io/spool.h"

#include <dirent.h>

#define PATH_BYTES 4096

char *io_make_directory(void)
{
    const char *base = getenv("TMPDIR");
    char *path = NULL;

    assert_true(asprintf(&path, "%s/collet-io-XXXXXX", base ? base : "/tmp") > 0);
    assert_non_null(mkdtemp(path));
    return path;
}

static void remove_tree(const char *path)
{
    DIR *directory = opendir(path);

    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *inner = NULL;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        assert_true(asprintf(&inner, "%s/%s", path, entry->d_name) > 0);
        if (unlink(inner) != 0)
            remove_tree(inner);
        free(inner);
    }
    if (directory)
        closedir(directory);
    rmdir(path);
}

void io_remove_directory(char *path)
{
    remove_tree(path);
    free(path);
}

int io_count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int n = 0;

    assert_non_null(directory);
    while (readdir(directory))
        n++;
    closedir(directory);
    return n - 2;
}

const char *io_path(const char *directory, const char *name)
{
    static char buffers[2][PATH_BYTES];
    static int turn;

    turn = !turn;
    snprintf(buffers[turn], PATH_BYTES, "%s/%s", directory, name);
    return buffers[turn];
}

io_bytes io_load(const char *path)
{
    io_bytes bytes = {0};
    FILE *file = fopen(path, "rb");

    if (!file)
        fail_msg("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    bytes.size = (size_t)ftell(file);
    rewind(file);
    bytes.data = malloc(bytes.size + 1);
    assert_non_null(bytes.data);
    assert_int_equal(fread(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
    return bytes;
}

const char *io_save(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    if (!file)
        fail_msg("cannot write %s", path);
    if (size > 0)
        assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

collet_status io_make_spool(const char *path, const void *bytes, size_t n, collet_error *err)
{
    io_spool *spool;
    collet_status status = io_spool_create(path, IO_SPOOL_OUTPUT, &spool, err);

    if (status == COLLET_OK)
        status = io_spool_write(spool, bytes, n, err);
    if (status == COLLET_OK)
        status = io_spool_publish(spool, 1, err);
    io_spool_free(spool);
    return status;
}

uint64_t io_hash(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

trajectory_topology *io_topology(const char *path, const char *text)
{
    trajectory_topology *topology;
    collet_error err;

    io_save(path, text, strlen(text));
    assert_success(trajectory_topology_read(path, NULL, &topology, &err), err);
    return topology;
}

void io_refuse_topologies(const char *path, const io_malformed *bad, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        trajectory_topology *t = (trajectory_topology *)&t;
        collet_error err;

        io_save(path, bad[i].text, strlen(bad[i].text));
        collet_status status = trajectory_topology_read(path, NULL, &t, &err);
        if (status != COLLET_FORMAT || !strstr(err.text, bad[i].message) || !strstr(err.text, path))
            fail_msg("case %zu: status %d, '%s', expected '%s'", i, status, err.text,
                     bad[i].message);
        assert_null(t);
        assert_int_equal(trajectory_topology_read(path, NULL, &t, NULL), COLLET_FORMAT);
    }
}

void io_refuse(const char *path, const char *message)
{
    trajectory_reader *t;
    collet_error err;

    assert_error(trajectory_reader_open(path, NULL, &t, &err), COLLET_FORMAT, err, message, path);
    assert_null(t);
}

trajectory_reader *io_open(const char *path)
{
    trajectory_reader *trajectory;
    collet_error err;

    assert_success(trajectory_reader_open(path, NULL, &trajectory, &err), err);
    return trajectory;
}

trajectory_frames *io_batch(const trajectory_reader *trajectory, int64_t capacity, int everything)
{
    const trajectory_reader_info *info = trajectory_reader_get_info(trajectory);
    trajectory_frames *frames;

    assert_int_equal(trajectory_frames_create(trajectory_reader_selected(trajectory), capacity,
                                              info->dtype, everything && info->has_velocities,
                                              everything && info->has_forces, &frames, NULL),
                     COLLET_OK);
    return frames;
}

trajectory_frames *io_expect(const char *path, const char *text, size_t size, int64_t n_frames,
                             int truncated, const char *message)
{
    io_save(path, text, size);
    return io_expect_frames(path, 10, n_frames, truncated, message);
}

trajectory_frames *io_expect_frames(const char *path, int64_t most, int64_t n_frames, int truncated,
                                    const char *message)
{
    trajectory_reader *r = io_open(path);
    trajectory_frames *frames = io_batch(r, most, 1);
    collet_error err = {0};
    collet_status status = trajectory_reader_read(r, frames, &err);

    if (status != (message ? COLLET_FORMAT : COLLET_OK) || frames->n_frames != n_frames ||
        frames->truncated != truncated || !strstr(err.text, message ? message : ""))
        fail_msg("%s: status %d, %lld frames, truncated %d, '%s'", path, status,
                 (long long)frames->n_frames, frames->truncated, err.text);
    trajectory_reader_close(r);
    return frames;
}

size_t io_frame_bytes(const trajectory_frames *frames)
{
    return (size_t)frames->n_atoms * 3 * (frames->dtype == COLLET_F64 ? 8 : 4);
}

/* ---- Images ------------------------------------------------------------------------------ */

void io_put(io_image *image, const void *bytes, size_t n)
{
    if (image->size + n > image->capacity) {
        image->capacity = 2 * (image->size + n);
        image->data = realloc(image->data, image->capacity);
        assert_non_null(image->data);
    }
    if (n > 0) /* `bytes` may be NULL if there are none */
        memcpy(image->data + image->size, bytes, n);
    image->size += n;
}

void io_put_i32(io_image *image, int32_t value)
{
    uint32_t bits = (uint32_t)value;
    uint8_t bytes[4] = {(uint8_t)(bits >> 24), (uint8_t)(bits >> 16), (uint8_t)(bits >> 8),
                        (uint8_t)bits};

    io_put(image, bytes, sizeof bytes);
}

void io_put_f32(io_image *image, float value)
{
    int32_t bits;

    memcpy(&bits, &value, sizeof bits);
    io_put_i32(image, bits);
}

void io_put_f64(io_image *image, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    io_put_i32(image, (int32_t)(uint32_t)(bits >> 32));
    io_put_i32(image, (int32_t)(uint32_t)bits);
}

static void put_real(io_image *image, int real, double value)
{
    if (real == 8)
        io_put_f64(image, value);
    else
        io_put_f32(image, (float)value);
}

static void put_vectors(io_image *image, int real, int32_t atoms, double first)
{
    for (int32_t i = 0; i < 3 * atoms; i++)
        put_real(image, real, first + i * 0.25);
}

void io_put_trr(io_image *image, int real, int32_t atoms, int32_t frame, int fields)
{
    int32_t vectors = 3 * atoms * real;

    io_put_i32(image, 1993);
    io_put_i32(image, 13);
    io_put_i32(image, 12);
    io_put(image, "GMX_trn_file", 12);
    io_put_i32(image, 0);
    io_put_i32(image, 0);
    io_put_i32(image, fields & IO_BOX ? 9 * real : 0);
    for (int i = 0; i < 4; i++)
        io_put_i32(image, 0);
    io_put_i32(image, fields & IO_X ? vectors : 0);
    io_put_i32(image, fields & IO_V ? vectors : 0);
    io_put_i32(image, fields & IO_F ? vectors : 0);
    io_put_i32(image, atoms);
    io_put_i32(image, 10 * frame);
    io_put_i32(image, 0);
    put_real(image, real, frame * 0.5);
    put_real(image, real, 0.0);
    for (int i = 0; fields & IO_BOX && i < 9; i++)
        put_real(image, real, i % 4 == 0 ? 5.0 : 0.0);
    if (fields & IO_X)
        put_vectors(image, real, atoms, frame * 100.0);
    if (fields & IO_V)
        put_vectors(image, real, atoms, frame * 100.0 + 1000.0);
    if (fields & IO_F)
        put_vectors(image, real, atoms, frame * 100.0 + 2000.0);
}
