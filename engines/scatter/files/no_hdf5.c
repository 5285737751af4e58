/* SPDX-License-Identifier: Apache-2.0 */
/* The functions for files in a build without HDF5. No input can be read, so the functions of an input are called only
 * with NULL.
 * Tests: tests/engines/test_no_hdf5.c */
#include <collet/scatter.h>

#include "io/hdf5/absent.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define REFUSE(path)                                                                               \
    collet_fail(err, COLLET_UNSUPPORTED, "%s: " IO_HDF5_ABSENT, (path) ? (path) : "NULL")

collet_status collet_scatter_read(collet_scatter_input **out, const char *morphology,
                                  const char *configuration, collet_dtype dtype,
                                  collet_error *err)
{
    if (out)
        *out = NULL;
    return REFUSE(morphology ? morphology : configuration);
}

void collet_scatter_input_destroy(collet_scatter_input *input)
{
}

const collet_scatter_options *
collet_scatter_input_options(const collet_scatter_input *input)
{
    return NULL;
}

int64_t collet_scatter_input_beams(const collet_scatter_input *input,
                                   const double (**beams)[3])
{
    *beams = NULL;
    return 0;
}

const char *collet_scatter_input_warning_at(const collet_scatter_input *input, size_t index)
{
    return NULL;
}

const char *collet_scatter_input_directory(const collet_scatter_input *input)
{
    return NULL;
}

collet_status collet_scatter_check(const char *path, const char *configuration,
                                   collet_scatter_finding_fn report, void *user,
                                   collet_error *err)
{
    return REFUSE(path);
}

collet_status collet_scatter_read_slice(collet_scatter_slice *out, const char *morphology,
                                        int64_t material, uint32_t field, uint32_t axis,
                                        int64_t at, collet_error *err)
{
    if (out)
        out->values = NULL;
    return REFUSE(morphology);
}

void collet_scatter_slice_destroy(collet_scatter_slice *slice)
{
}

collet_status collet_scatter_write_image(const char *morphology, const char *path,
                                         int32_t replace, collet_error *err)
{
    return REFUSE(morphology);
}

collet_status collet_scatter_write(const char *directory, double energy, int64_t n_beams,
                                   const double (*beams)[3],
                                   const collet_scatter_pattern *patterns,
                                   const char *settings, collet_error *err)
{
    return REFUSE(directory);
}

uint64_t collet_scatter_file_bytes(int64_t n_beams, int64_t y, int64_t x, const char *settings)
{
    return (uint64_t)(n_beams * y * x) * sizeof(float);
}

collet_status collet_scatter_written(const char *directory, double energy, const char *settings,
                                     collet_error *err)
{
    return REFUSE(directory);
}

collet_status collet_scatter_read_pattern(float *values, const char *directory, double energy,
                                          int64_t beam, int64_t y, int64_t x, collet_error *err)
{
    return REFUSE(directory);
}

collet_status collet_scatter_write_integrals(
    const char *path, const collet_scatter_rings *rings, int64_t n_beams,
    const double (*beams)[3], int64_t n_energies, const double *energies,
    const collet_scatter_integrals *integrals, const char *settings, collet_error *err)
{
    return REFUSE(path);
}

collet_status collet_scatter_integrals_written(const char *path, const char *settings,
                                               collet_error *err)
{
    return REFUSE(path);
}
