/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - reads the files of a simulation: morphology, configuration, optical constants. */
#pragma once

#include "io/hdf5/inspect.h"

#include <collet/scatter.h>
#include <sys/stat.h>

#define SCATTER_CONSTANT_MAX 1000 /* delta and beta are about 0.001 */

/* Facts about the voxels of a material, by which suspicious voxels are recognised. */
typedef struct scatter_range {
    double volume, angle; /* sum of the volume fractions, 0 if the material is absent (layers that are read again count
                             again); largest |theta| or |psi|, radians */
    int64_t layers;       /* number of layers counted so far, from layer 0 on */
} scatter_range;

struct collet_scatter_input {
    collet_scatter_options options;
    collet_scatter_material *materials;
    scatter_range *ranges; /* one for each material, from the voxels read so far */
    char *path;            /* path of the morphology */
    struct stat file;      /* stat() of the morphology when it was first opened */
    int reversed;          /* 1: the axes of the morphology are X, Y, Z */
    int vectors;           /* the configuration's MorphologyType */
    double *energies;
    collet_scatter_constants *constants;
    double (*beams)[3];
    int64_t n_beams;
    char *directory; /* HDF5DirName, or NULL */
    char **warnings;
    size_t n_warnings;
    collet_scatter_finding_fn report; /* set by collet_scatter_check; else NULL */
    void *report_user;
    io_hdf5_step step; /* NULL except in collet-inspect */
};

/* Returns number i of an array of f32 or f64. */
static inline double scatter_element(const void *values, collet_dtype dtype, int64_t i)
{
    return dtype == COLLET_F64 ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

/* 1 if reading continues after `status`. If in->report is set, reports the fault in `err` and sets `status`
 * to OK; then only NO_MEMORY ends the work. */
int scatter_goes_on(const collet_scatter_input *in, collet_status *status,
                    const collet_error *err);

/* Reads the configuration, but not the materials' constants. */
collet_status scatter_read_configuration(collet_scatter_input *in, const char *path,
                                         collet_error *err);
/* Sets `path` to the file of material m, from 0, in the folder of the configuration; `size` must be
 * at least strlen(configuration) + 40. */
void scatter_material_path(const char *configuration, int64_t m, char *path, size_t size);
/* Reads a material's constants at the energies of the configuration, and checks all groups. */
collet_status scatter_read_material(collet_scatter_input *in, const char *path, int64_t m,
                                    collet_error *err);
/* Reads the constants of all materials from files in the folder of the configuration. */
collet_status scatter_read_constants(collet_scatter_input *in, const char *configuration,
                                     collet_error *err);
/* Reports faults in all groups of a file of constants, and warns about suspicious values. */
collet_status scatter_check_constants(collet_scatter_input *in, const char *path,
                                      collet_error *err);
/* A collet_scatter_layers_fn; `user` is the input. After a material's last layer it warns if its
 * voxels are suspicious. */
collet_status scatter_read_layers(void *user, void *const *arrays, int64_t material, int64_t first,
                                  int64_t count, collet_error *err);
/* Reads the morphology without its voxels. */
collet_status scatter_read_morphology(collet_scatter_input *in, const char *path,
                                      collet_error *err);
/* NO_MEMORY. */
collet_status scatter_warn(collet_scatter_input *in, collet_error *err, const char *format, ...)
    COLLET_PRINTF(3, 4);
