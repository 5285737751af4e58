/* SPDX-License-Identifier: Apache-2.0 */
/* H5MD trajectories: elements, units, steps, chunks, and files that are refused. */
#include <hdf5.h>

#include "directory.h"

#define ATOMS 5
#define FRAMES 4

/* ---- Files ------------------------------------------------------------------------------- */

static hid_t begin(void)
{
    return H5Fcreate(io_path(directory, "made.h5md"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

static void name_unit(hid_t file, const char *name, const char *unit, int is_variable)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    hid_t type = H5Tcopy(H5T_C_S1);

    H5Tset_size(type, is_variable ? H5T_VARIABLE : strlen(unit));
    hid_t attribute = H5Acreate2(set, "unit", type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, is_variable ? (const void *)&unit : unit) >= 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
}

/* Value i of element `kind` is kind * 1000 + i / 4. `chunk` frames are compressed together; 0: none. */
static void put(hid_t file, const char *name, int kind, int axes, const hsize_t *shape, hid_t type,
                hsize_t chunk, const char *unit)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE), properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(axes, shape, NULL);
    hsize_t n = 1, chunks[3] = {chunk, 2, 2};
    double values[1000];

    for (int i = 0; i < axes; i++)
        n *= shape[i];
    for (hsize_t i = 0; i < n; i++)
        values[i] = kind * 1000 + (double)i / 4;
    H5Pset_create_intermediate_group(links, 1);
    if (chunk) {
        H5Pset_chunk(properties, axes, chunks);
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 4);
    }
    hid_t set = H5Dcreate2(file, name, type, space, links, properties, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(properties);
    H5Pclose(links);
    if (unit)
        name_unit(file, name, unit, chunk > 0);
}

static void put_moments(hid_t file, const char *name, const double *values, hsize_t n,
                        int is_scalar)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    hid_t space = is_scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, NULL);

    H5Pset_create_intermediate_group(links, 1);
    hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, links, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(links);
}

static const hsize_t vectors[] = {FRAMES, ATOMS, 3};

static trajectory_frames *read_all(collet_status expected, const char *message)
{
    trajectory_reader *t = io_open(io_path(directory, "made.h5md"));
    trajectory_frames *frames = io_batch(t, FRAMES + 1, 1);
    collet_error err = {0};

    assert_string_equal(trajectory_reader_get_info(t)->format, "h5md");
    if (trajectory_reader_read(t, frames, &err) != expected)
        fail_msg("'%s'", err.text);
    assert_contains(err.text, message);
    trajectory_reader_close(t);
    return frames;
}

static void check(const trajectory_frames *frames, const void *array, int kind, double factor)
{
    for (int64_t i = 0; i < frames->n_frames * frames->n_atoms * 3; i++) {
        double value = trajectory_frames_value(frames, array, i);
        double expected = (kind * 1000 + (double)i / 4) * factor;
        if (fabs(value - expected) > 1e-7 * fabs(expected))
            fail_msg("element %d, number %lld: %.17g, not %.17g", kind, (long long)i, value,
                     expected);
    }
}

/* ---- Tests ------------------------------------------------------------------------------- */

TEST(forms)
{
    static const double times[] = {0, 500, 1000, 1500}, box[] = {0, .025, .05};
    static const hsize_t lengths[] = {FRAMES, 3};

    for (hsize_t chunk = 0; chunk <= 3; chunk++)
        for (int wide = 0; wide <= 1; wide++) {
            hid_t file = begin(), type = wide ? H5T_IEEE_F64BE : H5T_IEEE_F32LE;
            put(file, "/particles/all/position/value", 0, 3, vectors, type, chunk, "Angstrom");
            put(file, "/particles/all/velocity/value", 1, 3, vectors, type, chunk, "nm ps-1");
            put(file, "/particles/all/force/value", 2, 3, vectors, H5T_IEEE_F32LE, chunk,
                "kcal mol-1 Angstrom-1");
            put(file, "/particles/all/box/edges/value", 0, 2, lengths, type, 0, NULL);
            put_moments(file, "/particles/all/position/time", times, 4, 0);
            name_unit(file, "/particles/all/position/time", "fs", 0);
            H5Fclose(file);

            OWNED(trajectory_frames) *frames = read_all(COLLET_OK, "");
            assert_int_equal(frames->n_frames, FRAMES);
            assert_int_equal(frames->dtype, wide ? COLLET_F64 : COLLET_F32);
            check(frames, frames->positions, 0, .1);
            check(frames, frames->velocities, 1, 1);
            check(frames, frames->forces, 2, 41.84);
            for (int i = 0; i < FRAMES; i++) {
                assert_true(fabs(frames->times[i] - i * .5) < 1e-12);
                for (int k = 0; k < 9; k++)
                    assert_true(fabs(frames->boxes[9 * i + k] -
                                     (k % 4 ? 0 : box[k / 4] + .075 * i)) < 1e-12);
            }
        }
}

TEST(selections)
{
    static const int64_t indices[] = {1, 3, 4};
    hid_t file = begin();
    put(file, "/particles/x/position/value", 0, 3, vectors, H5T_IEEE_F32LE, 2, "nm");
    H5Fclose(file);
    OWNED(trajectory_reader) *t = io_open(io_path(directory, "made.h5md"));
    assert_true(!trajectory_reader_get_info(t)->has_times);
    assert_int_equal(trajectory_reader_select(t, indices, 3, NULL), COLLET_OK);
    assert_int_equal(trajectory_reader_slice(t, 1, -1, 2, NULL), COLLET_OK);
    OWNED(trajectory_frames) *frames = io_batch(t, 4, 1);
    io_read(t, frames, 2);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 9; k++)
            assert_true(((float *)frames->positions)[9 * i + k] ==
                        (float)((1 + 2 * i) * 15 + indices[k / 3] * 3 + k % 3) / 4);
}

/* Velocities are stored at every second step. The box is the same in all frames, and the times are regular. */
TEST(other_intervals)
{
    static const hsize_t fewer[] = {2, ATOMS, 3}, edges[] = {3, 3};
    static const double steps[] = {0, 10, 20, 30}, some[] = {0, 20}, interval = .25;
    hid_t file = begin();
    put(file, "/particles/trajectory/position/value", 0, 3, vectors, H5T_IEEE_F32LE, 0, "nm");
    put_moments(file, "/particles/trajectory/position/step", steps, 4, 0);
    put_moments(file, "/particles/trajectory/position/time", &interval, 1, 1);
    name_unit(file, "/particles/trajectory/position/time", "ps", 0);
    put(file, "/particles/trajectory/velocity/value", 1, 3, fewer, H5T_IEEE_F32LE, 0, "nm/ps");
    put_moments(file, "/particles/trajectory/velocity/step", some, 2, 0);
    put(file, "/particles/trajectory/box/edges", 0, 2, edges, H5T_IEEE_F64LE, 0, "nm");
    put(file, "/particles/solvent/position/value", 0, 3, vectors, H5T_IEEE_F32LE, 0, "nm");
    H5Fclose(file);
    OWNED(trajectory_frames) *frames = read_all(COLLET_NOT_FOUND, "frame 1 at byte");
    assert_int_equal(frames->n_frames, 1);
    check(frames, frames->velocities, 1, 1);
    for (int k = 0; k < 9; k++)
        assert_true(frames->boxes[k] == k * .25);
    trajectory_frames_free(frames);

    OWNED(trajectory_reader) *t = io_open(io_path(directory, "made.h5md"));
    assert_int_equal(trajectory_reader_slice(t, 0, -1, 2, NULL), COLLET_OK);
    frames = io_batch(t, 4, 1);
    io_read(t, frames, 2);
    check(frames, frames->velocities, 1, 1);
    assert_true(frames->times[1] == .5);
}

static void refuse(const char *message)
{
    io_refuse(io_path(directory, "made.h5md"), message);
}

TEST(refused_files)
{
    static const hsize_t flat[] = {FRAMES, ATOMS};
    hid_t file = begin();
    put(file, "/particles/a/position/value", 0, 3, vectors, H5T_IEEE_F32LE, 0, NULL);
    H5Fclose(file);
    refuse("/particles/a/position/value has no attribute 'unit'");
    file = begin();
    put(file, "/particles/a/position/value", 0, 3, vectors, H5T_IEEE_F32LE, 0, "furlong");
    H5Fclose(file);
    refuse("has the unit 'furlong'");
    file = begin();
    put(file, "/particles/a/position/value", 0, 3, vectors, H5T_IEEE_F32LE, 0, "nm");
    put(file, "/particles/b/position/value", 0, 3, vectors, H5T_IEEE_F32LE, 0, "nm");
    H5Fclose(file);
    refuse("the file has several groups of particles (a, b)");
    file = begin();
    put(file, "/particles/a/position/value", 0, 2, flat, H5T_IEEE_F32LE, 0, "nm");
    H5Fclose(file);
    refuse("has not the shape frames x atoms x 3");
    file = begin();
    put(file, "/particles/a/position/value", 0, 3, vectors, H5T_STD_I32LE, 0, "nm");
    H5Fclose(file);
    refuse("is not an array of floating-point numbers");
    file = begin();
    put(file, "/coordinates", 0, 3, vectors, H5T_IEEE_F32LE, 0, "nm");
    H5Fclose(file);
    refuse("no group /particles/NAME/position");
}

TEST(truncated_files)
{
    hid_t file = begin();
    put(file, "/particles/a/position/value", 0, 3, vectors, H5T_IEEE_F32LE, 0, "nm");
    H5Fclose(file);
    OWNED(io_bytes) bytes = io_load(io_path(directory, "made.h5md"));
    for (size_t cut = 8; cut < bytes.size; cut += 97) {
        io_save(io_path(directory, "made.h5md"), bytes.data, cut);
        refuse("HDF5 cannot open the file: it is damaged, or was not closed");
    }
}

TEST_GROUP(make_directory, remove_directory)
