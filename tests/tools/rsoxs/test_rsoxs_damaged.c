/* SPDX-License-Identifier: Apache-2.0 */
/* collet-rsoxs on HDF5 files that are damaged so that libhdf5 crashes, does not end, or reads beyond its
 * memory. */

#include "rsoxs_runs.h"

#include <hdf5.h>
#include <hdf5_hl.h>
#include <signal.h>

enum { EDGE = 8, LAYERS = 2, MUTANTS = 12 };

static int is_1_10; /* other versions of libhdf5 may read these files, or report an error */

static void limit_time(void *unused)
{
    alarm(20);
}

/* Runs every command of collet-rsoxs that reads a morphology. No command may crash or run for ever, and `validate`
 * must print `found` (NULL: anything). The other commands need not read the damaged part. */
static void expect_refused(const char *file, const char *found)
{
    const tool_setup setup = {.prepare = limit_time};
    const char *const commands[][8] = {{"validate", file},
                                       {"view", file, "-o", "view.vti", "--force"},
                                       {"view", file, "--field", "psi", "-o", "view.png", "--force"},
                                       {file, "-o", "damaged", "--energies", "281", "--force"}};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        tool_result r = rsoxs_with(&setup, commands[i]);
        const char *said = i == 0 ? r.out : r.err;
        if (r.status > 1)
            fail_msg("command %zu of %s ended with %d: %s", i, file, r.status, said);
        if (found && i == 0 && is_1_10 && !strstr(said, found))
            fail_msg("'%s' is not in: %s", found, said);
    }
}

TEST(damaged_files_end_no_program)
{
    expect_refused(DAMAGED "/damaged_hangs.h5", "is damaged: libhdf5 does not end");
    expect_refused(DAMAGED "/damaged_crashes.h5", "is damaged: libhdf5 crashes");
    /* The parameters cannot be read either: only `validate` continues, and counts the materials itself. */
    expect_refused(DAMAGED "/damaged_parameters.h5", "is damaged: libhdf5 crashes");
}

/* Saves a morphology of two materials. A B-tree leads to the chunks of each dataset, and the labels
 * are in the heap. */
static io_bytes save_chunked(const char *name)
{
    static const char *const arrays[] = {"Vfrac", "S", "Theta", "Psi"};
    static const char *const labels[] = {"Z", "Y", "X"};
    const hsize_t shape[] = {EDGE, EDGE, EDGE}, chunk[] = {LAYERS, EDGE, EDGE};
    float values[EDGE * EDGE * EDGE];
    hid_t file = create_morphology(name, 2), space = H5Screate_simple(3, shape, NULL);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_chunk(properties, 3, chunk);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = 0.5f;
    for (int i = 0; i < 8; i++) {
        char path[80];
        snprintf(path, sizeof path, "/Euler_Angles/Mat_%d_%s", i / 4 + 1, arrays[i % 4]);
        hid_t set =
            H5Dcreate2(file, path, H5T_IEEE_F32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
        assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        for (unsigned a = 0; a < 3; a++)
            assert_true(H5DSset_label(set, a, labels[a]) >= 0);
        H5Dclose(set);
    }
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(file);
    return io_load(io_path(directory, name));
}

/* If a chunk has 0 bytes, libhdf5 reads beyond the end of a block of memory, which may crash the
 * process. */
TEST(memory_behind_a_block_is_never_read)
{
    /* The key of the last chunk in the B-tree: its size in bytes, a mask, its first layer. */
    static const uint32_t key[] = {LAYERS * EDGE * EDGE * sizeof(float), 0, EDGE - LAYERS, 0};
    io_bytes film = save_chunked("zero.h5");
    uint8_t *found = memmem(film.data, film.size, key, sizeof key);

    EXPECT(0, "zero.h5: no fault\n", "validate", "zero.h5");
    assert_non_null(found);
    memset(found, 0, sizeof *key);
    io_save(io_path(directory, "zero.h5"), film.data, film.size);
    free(film.data);
    for (int i = 0; i < 5; i++) {
        tool_result r = RSOXS("validate", "zero.h5");
        tool_expect(&r, 1);
        if (is_1_10 && GUARDED)
            assert_contains(r.out, "is damaged: libhdf5 crashes");
    }
}

/* Changes bytes of headers, trees and heaps, the same bytes in each run: no change may crash a program. */
TEST(mutants_end_no_program)
{
    static const char *const blocks[] = {"TREE", "SNOD", "HEAP", "GCOL"};
    OWNED(io_bytes) film = save_chunked("mutant.h5");
    FREED(uint8_t) *mutant = malloc(film.size);
    uint64_t random = 20261129;

    for (int k = 0; k < MUTANTS; k++) {
        const char *block = blocks[k % 4];
        uint8_t *at = mutant;
        memcpy(mutant, film.data, film.size);
        for (int i = 0; i < 12; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            uint8_t *next = memmem(at + 1, film.size - (size_t)(at + 1 - mutant), block, 4);
            at = next ? next : mutant;
            size_t offset = (size_t)(at - mutant) + 4 + (random >> 33) % 300;
            if (offset < film.size)
                mutant[offset] = (uint8_t)(random >> 24);
        }
        io_save(io_path(directory, "mutant.h5"), mutant, film.size);
        expect_refused("mutant.h5", NULL);
    }
}

/* The time limit for reading does not refuse valid files, even with the largest number of materials. */
TEST(a_good_file_is_never_damaged)
{
    enum { MATERIALS = 1000 };
    static const char *const arrays[] = {"Vfrac", "S", "Theta", "Psi"};
    const hsize_t shape[] = {1, 2, 2};
    hid_t file = create_morphology("many.h5", MATERIALS);
    for (int i = 0; i < 4 * MATERIALS; i++) {
        char name[80];
        float value = i % 4 ? 0.0f : 1.0f / MATERIALS;
        const float values[] = {value, value, value, value};
        snprintf(name, sizeof name, "/Euler_Angles/Mat_%d_%s", i / 4 + 1, arrays[i % 4]);
        assert_true(H5LTmake_dataset_float(file, name, 3, shape, values) >= 0);
        hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
        for (unsigned a = 0; a < 3; a++)
            assert_true(H5DSset_label(set, a, a == 0 ? "Z" : a == 1 ? "Y" : "X") >= 0);
        H5Dclose(set);
    }
    H5Fclose(file);
    EXPECT(0, "many.h5: no fault\n", "validate", "many.h5");
}

static int set_up(void **state)
{
    unsigned major, minor, release;
    H5get_libversion(&major, &minor, &release);
    is_1_10 = major == 1 && minor == 10;
    return rsoxs_set_up(state);
}

TEST_GROUP(set_up, rsoxs_tear_down)
