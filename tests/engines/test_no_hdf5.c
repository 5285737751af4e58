/* SPDX-License-Identifier: Apache-2.0 */
/* In a build with COLLET_HDF5=OFF every function for .h5 files fails, and its message names the
 * option. This program is linked with the sources of such a build instead of the engines. */
#include <collet/scatter.h>
#include <collet/trajectory.h>

#include "common/support.h"
#include "trajectory/formats/formats.h"
#include "trajectory/writing/hdf5.h"

static void refused(collet_status status, const collet_error *err, const char *path)
{
    assert_int_equal(status, COLLET_UNSUPPORTED);
    assert_non_null(strstr(err->text, "COLLET_HDF5=OFF"));
    assert_non_null(strstr(err->text, path));
}

TEST(test_scattering)
{
    collet_scatter_input *input = (collet_scatter_input *)1;
    collet_scatter_slice slice = {.struct_size = sizeof slice, .values = (float *)1};
    const collet_scatter_rings rings = {.struct_size = sizeof rings};
    collet_error err;
    float value;
    char name[COLLET_SCATTER_NAME];

    refused(collet_scatter_read(&input, "m.h5", "config.txt", COLLET_F32, &err), &err, "m.h5");
    assert_null(input);
    refused(collet_scatter_read(&input, NULL, "config.txt", COLLET_F32, &err), &err,
            "config.txt");
    collet_scatter_input_destroy(NULL);
    refused(collet_scatter_check("m.h5", NULL, NULL, NULL, &err), &err, "m.h5");
    refused(collet_scatter_read_slice(&slice, "m.h5", 1, 0, 0, 0, &err), &err, "m.h5");
    collet_scatter_slice_destroy(&slice);
    refused(collet_scatter_write_image("m.h5", "m.vti", 0, &err), &err, "m.h5");
    refused(collet_scatter_write("results", 285, 0, NULL, NULL, "", &err), &err, "results");
    refused(collet_scatter_written("results", 285, "", &err), &err, "results");
    refused(collet_scatter_read_pattern(&value, "results", 285, 0, 1, 1, &err), &err, "results");
    refused(collet_scatter_write_integrals("i.h5", &rings, 0, NULL, 0, NULL, NULL, "", &err),
            &err, "i.h5");
    refused(collet_scatter_integrals_written("i.h5", "", &err), &err, "i.h5");
    collet_scatter_file_name(name, 285.2);
    assert_string_equal(name, "Energy_285.20.h5");
}

TEST(test_trajectory)
{
    trajectory_reader reader = {.format = &trajectory_h5md_format, .source.path = "traj.h5md"};
    trajectory_frame_head head;
    collet_error err;

    assert_true(trajectory_h5md_format.recognise((const uint8_t *)"\x89HDF\r\n\x1a\n", 8));
    assert_false(trajectory_h5md_format.recognise((const uint8_t *)"\x89HDF", 4));
    refused(trajectory_h5md_format.head(&reader, &head, &err), &err, "traj.h5md");
    refused(trajectory_hdf5_check("out.h5", &err), &err, "out.h5");
    refused(trajectory_hdf5_write(NULL, NULL, &err), &err, "");
}
