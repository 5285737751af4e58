/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - what the files of a simulation hold. */
#ifndef ENGINES_SCATTER_FILES_INPUT_H
#define ENGINES_SCATTER_FILES_INPUT_H

#include <collet/scatter.h>
#include <sys/stat.h>

#define SCATTER_CONSTANT_MAX 1000 /* delta and beta are about 0.001 */

/* What is suspicious of a material's voxels, all without fault. */
typedef struct scatter_range {
    double volume, angle; /* the sum of its fractions; the largest size of an angle */
    int64_t layers;       /* of these, from 0 on */
} scatter_range;

struct collet_scattering_input {
    collet_scattering_options options;
    collet_scattering_material *materials;
    scatter_range *ranges; /* of the materials, from the voxels that were read */
    char *path;            /* of the morphology */
    struct stat file;      /* the same, when it was opened first */
    int reversed;          /* its axes are X, Y, Z */
    int vectors;           /* the configuration's MorphologyType */
    double *energies;
    collet_scattering_constants *constants;
    double (*beams)[3];
    int64_t n_beams;
    char *directory; /* HDF5DirName, or NULL */
    char **warnings;
    size_t n_warnings;
    collet_scattering_finding_fn report; /* of collet_scattering_check, else NULL */
    void *report_user;
};

/*
 * Whether reading goes on after `status`. Where faults are reported, they are (of `err`), and
 * `status` becomes OK; only NO_MEMORY ends the work.
 */
int scatter_goes_on(const collet_scattering_input *in, collet_status *status,
                    const collet_error *err);

/* Reads the configuration but for the materials' constants. */
collet_status scatter_read_configuration(collet_scattering_input *in, const char *path,
                                         collet_error *err);
/* The file of material m, from 0, beside the configuration; of strlen(configuration) + 40 bytes. */
void scatter_material_path(const char *configuration, int64_t m, char *path, size_t size);
/* Reads a material's constants at the energies of the configuration, and checks all. */
collet_status scatter_read_material(collet_scattering_input *in, const char *path, int64_t m,
                                    collet_error *err);
/* The constants of all materials, whose files are beside the configuration. */
collet_status scatter_read_constants(collet_scattering_input *in, const char *configuration,
                                     collet_error *err);
/* Reports faults of all groups of a file of constants, and warns of what is suspicious. */
collet_status scatter_check_constants(collet_scattering_input *in, const char *path,
                                      collet_error *err);
/* A collet_scattering_layers_fn; `user` is the input. With a material's last layer it warns of what
 * is suspicious of its voxels. */
collet_status scatter_read_layers(void *user, void *const *arrays, int64_t material, int64_t first,
                                  int64_t count, collet_error *err);
/* Reads all but the voxels. */
collet_status scatter_read_morphology(collet_scattering_input *in, const char *path,
                                      collet_error *err);
/* NO_MEMORY. */
collet_status scatter_warn(collet_scattering_input *in, collet_error *err, const char *format, ...)
    COLLET_PRINTF(3, 4);

#endif
