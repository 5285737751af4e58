/* SPDX-License-Identifier: Apache-2.0 */

#include "rsoxs_runs.h"

#include <hdf5.h>
#include <hdf5_hl.h>

#define VOXELS (Z * Y * X)

static void write_dataset(hid_t file, const char *name, double (*value)(int64_t i), const flaws *f)
{
    static double values[VOXELS];
    int64_t y = f->narrow && !strcmp(f->narrow, name) ? Y - 1 : Y;
    const hsize_t shape[] = {Z, (hsize_t)y, X};
    char path[80];
    if (f->missing && !strcmp(f->missing, name))
        return;
    for (int64_t i = 0; i < VOXELS; i++)
        values[i] = value(i) * (f->degrees && !strcmp(f->degrees, name) ? 180 / 3.14 : 1);
    if (f->nan && !strcmp(f->nan, name))
        values[X + 5] = NAN;
    if (f->zero && !strcmp(f->zero, name))
        values[X + 5] = 0;
    if (f->large && !strcmp(f->large, name))
        values[2 * Y * X + 3] += 0.2;
    snprintf(path, sizeof path, "/Euler_Angles/%s", name);
    assert_true(H5LTmake_dataset_double(file, path, 3, shape, values) >= 0);
}

static double some(int64_t i)
{
    return (double)(i * 2654435761 % 1000) / 1000;
}

static double fraction(int64_t i)
{
    return 0.2 + some(i) / 2;
}

static double rest(int64_t i)
{
    return 1 - fraction(i);
}

static double none(int64_t i)
{
    return 0;
}

hid_t create_morphology(const char *name, double materials)
{
    const hsize_t one = 1;
    const double size = 2;
    hid_t file = H5Fcreate(io_path(directory, name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    H5Gclose(H5Gcreate2(file, "/Morphology_Parameters", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(H5Gcreate2(file, "/Euler_Angles", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5LTmake_dataset_double(file, "/Morphology_Parameters/PhysSize", 1, &one, &size);
    H5LTmake_dataset_double(file, "/Morphology_Parameters/NumMaterial", 1, &one, &materials);
    return file;
}

void write_morphology(const char *name, const flaws *f)
{
    hid_t file = create_morphology(name, 2);
    write_dataset(file, "Mat_1_Vfrac", fraction, f);
    write_dataset(file, "Mat_1_S", some, f);
    write_dataset(file, "Mat_1_Theta", some, f);
    write_dataset(file, "Mat_1_Psi", some, f);
    write_dataset(file, "Mat_2_Vfrac", rest, f);
    write_dataset(file, "Mat_2_S", none, f);
    H5Fclose(file);
}

void write_huge(const char *name)
{
    const hsize_t shape[] = {1 << 21, 1 << 21, 1 << 20}, chunk[] = {16, 16, 16};
    const flaws f = {.missing = "Mat_1_Vfrac"};
    write_morphology(name, &f);
    hid_t file = H5Fopen(io_path(directory, name), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t space = H5Screate_simple(3, shape, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 3, chunk);
    H5Dclose(H5Dcreate2(file, "/Euler_Angles/Mat_1_Vfrac", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                        properties, H5P_DEFAULT));
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(file);
}

void write_text(const char *name, const char *text)
{
    FILE *f = fopen(io_path(directory, name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

void write_configuration(const char *name, const char *first, int energies, const char *more)
{
    FILE *f = fopen(io_path(directory, name), "w");
    assert_non_null(f);
    fprintf(f, "CaseType = 0;\nMorphologyType = 0;\nEnergies = [%s", first);
    for (int i = 1; i < energies; i++)
        fprintf(f, ", %d.0", 280 + i);
    fprintf(f, "];\nEAngleRotation = [0.0, 10.0, 350.0];\nRotMask = true;\n%s", more);
    fclose(f);
}

void write_constants(const char *name, int energies)
{
    FILE *f = fopen(io_path(directory, name), "w");
    assert_non_null(f);
    for (int i = 0; i < energies; i++)
        fprintf(f,
                "EnergyData%d: { Energy = %d.0; BetaPara = %de-5; BetaPerp = 3e-5; "
                "DeltaPara = 1.5e-4; DeltaPerp = -2e-4; }\n",
                i, 280 + i, 10 + i);
    fclose(f);
}

char *directory;

int rsoxs_set_up(void **state)
{
    directory = io_make_directory();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    write_morphology("film.h5", &(flaws){0});
    write_configuration("config.txt", "280.0", ENERGIES, "");
    write_constants("Material1.txt", ENERGIES);
    write_constants("Material2.txt", ENERGIES);
    return 0;
}

int rsoxs_tear_down(void **state)
{
    io_remove_directory(directory);
    return 0;
}

/* Without --q-grid a run warns about the default grid. */
static int needs_grid(const char *const *args)
{
    const char *end = args[0] ? strrchr(args[0], '.') : NULL;
    int runs = end && strcmp(end, ".h5") == 0;
    for (int i = 0; args[i]; i++)
        runs = runs && strncmp(args[i], "--q-grid", 8) != 0;
    return runs;
}

tool_result rsoxs_with(const tool_setup *more, const char *const *args)
{
    const char *all[64] = {NULL};
    int count = 0;
    tool_setup setup = more ? *more : (tool_setup){0};
    setup.directory = directory;
    for (; args[count] && count < 60; count++)
        all[count] = args[count];
    if (needs_grid(args)) {
        all[count] = "--q-grid";
        all[count + 1] = "cyrsoxs";
    }
    return tool_run("collet-rsoxs", all, &setup);
}
