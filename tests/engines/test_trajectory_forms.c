/* SPDX-License-Identifier: Apache-2.0 */
/* The ending of a file's name chooses the format of the results. Files of every format have the same numbers as the
 * arrays, bit for bit. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include <hdf5.h>

#include "directory.h"
#include "io/numerals.h"
#include "trajectory/writing/forms.h"

#define PEPTIDE COLLET_TEST_DATA "/md/peptide/"

static const char keys[] = "com,euler_zyz,inertia_tensor,moments,axes,L_vector,rg";

static collet_trajectory_options options_of(const char *chosen)
{
    return (collet_trajectory_options){.struct_size = sizeof(collet_trajectory_options),
                                       .topology = PEPTIDE "conf.gro",
                                       .trajectory = PEPTIDE "traj.trr",
                                       .keys = chosen,
                                       .backend = "cpu_scalar"};
}

static collet_trajectory *computed(const char *chosen, const collet_trajectory_batch **rows)
{
    collet_trajectory_options options = options_of(chosen);
    collet_trajectory *x;
    collet_error err;

    if (collet_trajectory_create(&x, &options, &err) != COLLET_OK ||
        collet_trajectory_collect(x, rows, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    return x;
}

/* Returns the contents of the file and a terminating NUL. The caller frees them. */
static char *load_text(const char *name)
{
    io_bytes file = io_load(io_path(directory, name));
    char *text = realloc(file.data, file.size + 1);

    assert_non_null(text);
    text[file.size] = '\0';
    return text;
}

static char *extract(const char *name, const char *chosen)
{
    collet_trajectory_options options = options_of(chosen);
    const char *path = io_path(directory, name);
    collet_error err;

    assert_success(collet_trajectory_extract(path, COLLET_TRAJECTORY_OVERWRITE, &options, &err),
                   err);
    return load_text(name);
}

/* The text is a table of all columns of `rows`, in their order. */
static void check_numbers(char *text, char separator, const collet_trajectory_batch *rows)
{
    locale_t before = io_numerals_begin();

    for (int64_t k = 0; k < rows->n_rows; k++)
        for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
            collet_trajectory_quantity q = {.struct_size = sizeof q};
            collet_trajectory_quantity_at(NULL, &q, i, NULL);
            for (int64_t j = 0; rows->columns[i] && j < q.width; j++) {
                char *end;
                double value = strtod(text, &end);
                assert_true(value == rows->columns[i][k * q.width + j]);
                assert_true(*end == separator || *end == '\n');
                text = end + 1;
            }
        }
    assert_int_equal(*text, '\0');
    io_numerals_end(before);
}

TEST(csv)
{
    const collet_trajectory_batch *rows;
    OWNED(collet_trajectory) *x =
        computed("time_ps,com,euler_zyz,inertia_tensor,moments,axes,L_vector,rg", &rows);
    char *text = extract("out.csv", keys), *line = strchr(text, '\n');

    assert_non_null(line);
    *line = '\0';
    assert_string_equal(
        text,
        "time_ps (ps),com_x (nm),com_y (nm),com_z (nm),inertia_tensor_xx (amu nm^2),"
        "inertia_tensor_xy (amu nm^2),inertia_tensor_xz (amu nm^2),inertia_tensor_yx (amu nm^2),"
        "inertia_tensor_yy (amu nm^2),inertia_tensor_yz (amu nm^2),inertia_tensor_zx (amu nm^2),"
        "inertia_tensor_zy (amu nm^2),inertia_tensor_zz (amu nm^2),moments_1 (amu nm^2),"
        "moments_2 (amu nm^2),moments_3 (amu nm^2),axes_x1,axes_x2,axes_x3,"
        "axes_y1,axes_y2,axes_y3,axes_z1,axes_z2,axes_z3,"
        "euler_zyz_phi (rad),euler_zyz_theta (rad),euler_zyz_psi (rad),L_vector_x (amu nm^2/ps),"
        "L_vector_y (amu nm^2/ps),L_vector_z (amu nm^2/ps),rg (nm)");
    check_numbers(line + 1, ',', rows);
    free(text);
    free(io_load(io_path(directory, "out.csv.meta.json")).data); /* it exists */
}

TEST(xvg)
{
    const collet_trajectory_batch *rows;
    OWNED(collet_trajectory) *x = computed("time_ps,com,rg", &rows);
    char *text = extract("out.xvg", "com,rg"), *one = extract("out.xvg", "rg"), *line = text;

    assert_contains(text, "@    xaxis  label \"Time (ps)\"\n@    yaxis  label \"(nm)\"\n",
                    "@ s2 legend \"com z (nm)\"\n@ s3 legend \"rg (nm)\"\n0");
    assert_contains(one, "@    yaxis  label \"rg (nm)\"\n");
    while (*line == '#' || *line == '@')
        line = strchr(line, '\n') + 1;
    check_numbers(line, ' ', rows);
    free(text);
    free(one);
}

static const trajectory_output *output_of(const char *key)
{
    size_t i = 0;

    while (strcmp(trajectory_outputs[i].key, key) != 0)
        i++;
    return &trajectory_outputs[i];
}

typedef struct writing {
    trajectory_table table;
    const trajectory_form *form;
} writing;

static collet_status write_bodies(void *user, io_results *results, io_spool *file,
                                  collet_error *err)
{
    writing *w = user;

    w->table.results = results;
    return w->form->write(&w->table, file, err);
}

/* Writes the times, and the centres of mass and radii of two bodies in two frames. */
static char *write_two_bodies(const char *name)
{
    static const char *const labels[] = {"SOL 1", "a,\"b"};
    static const double times[] = {0, 0.1}, radii[] = {0.5, 1e-30, -0.0, 1.0 / 3},
                        com[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const char *path = io_path(directory, name);
    writing w = {.table = {.n = 3,
                           .outputs = {output_of("time_ps"), output_of("com"), output_of("rg")},
                           .extent = {.bodies = 2},
                           .labels = {"bodies", 2, labels},
                           .title = "two \"bodies\""},
                 .form = trajectory_form_of(name)};
    const io_results_writer writer = {w.form->spool, write_bodies, &w};
    io_results *results;

    assert_int_equal(io_results_create_file(path, &writer, &results, NULL), COLLET_OK);
    io_results_add(results, "time_ps", 0, NULL, &w.table.arrays[0], NULL);
    io_results_add(results, "com", 2, (const int64_t[]){2, 3}, &w.table.arrays[1], NULL);
    io_results_add(results, "rg", 1, (const int64_t[]){2}, &w.table.arrays[2], NULL);
    io_results_append(results, w.table.arrays[0], 2, times, NULL);
    io_results_append(results, w.table.arrays[1], 2, com, NULL);
    io_results_append(results, w.table.arrays[2], 2, radii, NULL);
    assert_int_equal(io_results_link(results, NULL), COLLET_OK);
    assert_int_equal(io_results_rename(results, NULL, 0, NULL), COLLET_OK);
    io_results_free(results);
    return load_text(name);
}

/* A .csv file has a line for each body of a frame. A .xvg file has a line for each frame, with the columns of all
 * bodies. */
TEST(bodies)
{
    char *csv_text = write_two_bodies("bodies.csv"), *xvg_text = write_two_bodies("bodies.xvg");
    const hsize_t expected[] = {2, 2, 3};
    hsize_t shape[3];

    assert_string_equal(csv_text, "time_ps (ps),body,com_x (nm),com_y (nm),com_z (nm),rg (nm)\n"
                                  "0,SOL 1,1,2,3,0.5\n"
                                  "0,\"a,\"\"b\",4,5,6,1.0000000000000001e-30\n"
                                  "0.1,SOL 1,7,8,9,-0\n"
                                  "0.1,\"a,\"\"b\",10,11,12,0.33333333333333331\n");
    assert_contains(xvg_text, "@    title \"two bodies\"\n",
                    "@ s7 legend \"a,b rg (nm)\"\n"
                    "0 1 2 3 0.5 4 5 6 1.0000000000000001e-30\n"
                    "0.1 7 8 9 -0 10 11 12 0.33333333333333331\n");
    free(csv_text);
    free(xvg_text);
    free(write_two_bodies("bodies.h5"));
    hid_t file = H5Fopen(io_path(directory, "bodies.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "com", H5P_DEFAULT), space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_dims(space, shape, NULL), 3);
    assert_memory_equal(shape, expected, sizeof shape);
    H5Sclose(space);
    H5Dclose(set);
    set = H5Dopen2(file, "bodies", H5P_DEFAULT);
    hid_t type = H5Dget_type(set);
    char *labels[2];
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, labels) >= 0);
    assert_string_equal(labels[0], "SOL 1");
    assert_string_equal(labels[1], "a,\"b");
    H5free_memory(labels[0]);
    H5free_memory(labels[1]);
    H5Tclose(type);
    H5Dclose(set);
    H5Fclose(file);
}

static void check_attribute(hid_t object, const char *name, const char *expected)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
    char *text;

    assert_true(attribute >= 0);
    assert_true(H5Aread(attribute, type, &text) >= 0);
    assert_contains(text, expected);
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(attribute);
}

TEST(hdf5)
{
    const collet_trajectory_batch *rows;
    collet_trajectory *x = computed(keys, &rows);

    free(extract("out.h5", keys));
    hid_t file = H5Fopen(io_path(directory, "out.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    check_attribute(file, "meta", "\"status\":\t\"complete\"");
    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        collet_trajectory_quantity q = {.struct_size = sizeof q};
        collet_trajectory_quantity_at(x, &q, i, NULL);
        assert_int_equal(H5Lexists(file, q.key, H5P_DEFAULT), rows->columns[i] != NULL);
        if (!rows->columns[i])
            continue;
        hid_t set = H5Dopen2(file, q.key, H5P_DEFAULT), space = H5Dget_space(set);
        hsize_t shape[3];
        size_t n = (size_t)(rows->n_rows * q.width);
        FREED(double) *values = calloc(n, sizeof *values);
        assert_int_equal(H5Sget_simple_extent_dims(space, shape, NULL), q.ndim + 1);
        assert_int_equal(shape[0], rows->n_rows);
        for (int32_t k = 0; k < q.ndim; k++)
            assert_int_equal(shape[k + 1], q.shape[k]);
        assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        assert_memory_equal(values, rows->columns[i], n * sizeof *values);
        check_attribute(set, "unit", q.unit);
        check_attribute(set, "meaning", q.meaning);
        H5Sclose(space);
        H5Dclose(set);
    }
    H5Fclose(file);
    collet_trajectory_destroy(x);
}

/* On a full disk no file is left behind, and HDF5 can still close the file. */
TEST(a_full_disk)
{
    static const char *const names[] = {"full.npz", "full.csv", "full.xvg", "full.h5"};
    struct rlimit before, small;
    int entries = io_count_entries(directory);

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){8192, before.rlim_max};
    for (size_t i = 0; i < 4; i++) {
        collet_trajectory_options options = options_of(NULL);
        collet_error err = {0};

        setrlimit(RLIMIT_FSIZE, &small);
        collet_status status =
            collet_trajectory_extract(io_path(directory, names[i]), 0, &options, &err);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, COLLET_IO);
        assert_contains(err.text, names[i]);
        assert_int_equal(io_count_entries(directory), entries);
    }
}

TEST(refusals)
{
    collet_trajectory_options options = options_of("rg");
    collet_error err;

    assert_error(collet_trajectory_extract("out.txt", 0, &options, &err), COLLET_INVALID, err,
                 "let it end in .npz, .csv, .xvg or .h5");
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"out.csv", "out.xvg", "out.h5"};
        assert_error(collet_trajectory_extract(io_path(directory, names[i]), 0, &options, &err),
                     COLLET_IO, err, "already exists");
    }
}

TEST_GROUP(make_directory, remove_directory)
