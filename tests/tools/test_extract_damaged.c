/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract on H5MD files that are damaged so that libhdf5 crashes or does not end. */

#include "extract_warnings.h"

#include <hdf5.h>

enum { FRAMES = 5, ATOMS = 2 };

/* ---- Files ------------------------------------------------------------------------------- */

static void save_topology(void)
{
    static const char text[] = "two\n    2\n"
                               "    1SOL     OW    1   1.000   2.000   3.000\n"
                               "    2SOL     OW    2   1.000   2.000   3.000\n"
                               "   9.00000   9.00000   9.00000\n";

    io_save(io_path(directory, "two.gro"), text, sizeof text - 1);
}

/* Saves a trajectory whose unit is a string of variable length (HDF5 stores it in a heap), and whose frames are chunks
 * (in a tree). */
static io_bytes save_trajectory(void)
{
    const hsize_t shape[] = {FRAMES, ATOMS, 3}, chunk[] = {1, ATOMS, 3};
    static const float positions[FRAMES][ATOMS][3] = {{{1, 2, 3}, {3, 4, 5}}};
    const char *unit = "nm";
    const char *path = io_path(directory, "good.h5md");
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t links = H5Pcreate(H5P_LINK_CREATE), properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(3, shape, NULL), one = H5Screate(H5S_SCALAR);
    hid_t type = H5Tcopy(H5T_C_S1);

    H5Pset_create_intermediate_group(links, 1);
    H5Pset_chunk(properties, 3, chunk);
    H5Tset_size(type, H5T_VARIABLE);
    hid_t set = H5Dcreate2(file, "/particles/all/position/value", H5T_IEEE_F32LE, space, links,
                           properties, H5P_DEFAULT);
    hid_t attribute = H5Acreate2(set, "unit", type, one, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, &unit) >= 0);
    assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, positions) >= 0);
    H5Aclose(attribute);
    H5Dclose(set);
    H5Tclose(type);
    H5Sclose(one);
    H5Sclose(space);
    H5Pclose(properties);
    H5Pclose(links);
    H5Fclose(file);
    return io_load(path);
}

static void limit_time(void *unused)
{
    alarm(20);
}

static tool_result extract_file(const char *name)
{
    const tool_setup setup = {.directory = directory, .prepare = limit_time};
    const char *const args[] = {"--backend", "cpu_scalar", "--force", "-o", "out.npz",
                                "--keys",    "com",        "two.gro", name, NULL};

    return tool_run("collet-extract", args, &setup);
}

/* ---- Tests ------------------------------------------------------------------------------- */

/* The first object of the heap begins at byte 16, and its size is at byte 24. Other versions of libhdf5 may read these
 * files, or report an error. */
TEST(damaged_files_end_no_program)
{
    static const struct {
        const char *block;
        size_t at;
        uint64_t value;
        const char *message;
    } damages[] = {{"GCOL", 24, UINT64_C(-16), "is damaged: libhdf5 does not end"},
                   {"GCOL", 24, UINT64_C(1) << 40, "is damaged"},
                   {"GCOL", 24, UINT64_C(1) << 30, "is damaged: libhdf5 crashes"}};
    unsigned major, minor, release;

    H5get_libversion(&major, &minor, &release);
    save_topology();
    OWNED(io_bytes) good = save_trajectory();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        FREED(uint8_t) *bad = malloc(good.size);
        memcpy(bad, good.data, good.size);
        uint8_t *block = memmem(bad, good.size, damages[i].block, 4);
        assert_non_null(block);
        memcpy(block + damages[i].at, &damages[i].value, 8);
        io_save(io_path(directory, "bad.h5md"), bad, good.size);
        tool_result r = extract_file("bad.h5md");
        if (r.status > 1)
            fail_msg("run %zu ended with %d: %s", i, r.status, r.err);
        if (major == 1 && minor == 10 && !strstr(r.err, damages[i].message))
            fail_msg("'%s' is not in: %s", damages[i].message, r.err);
    }
}

TEST(a_good_file_is_never_damaged)
{
    save_topology();
    free(save_trajectory().data);
    tool_result r = extract_file("good.h5md");
    tool_expect(&r, 0);
}

TEST_GROUP(make_directory, remove_directory)
