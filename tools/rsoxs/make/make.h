/* SPDX-License-Identifier: Apache-2.0 */
/* make.h - the command make, for morphologies with known patterns: its options, and the declarations that its files
 * share. */
#pragma once

#include <collet/scatter.h>
#include <stddef.h>

#include "common/command.h"
#include "io/spool.h"

#define MAKE_MATERIALS 100

typedef enum make_kind { MAKE_SPHERE, MAKE_CORE_SHELL, MAKE_CYLINDERS, MAKE_EULER } make_kind;

typedef struct make_options {
    make_kind kind;
    const char *output;
    int64_t size[3];                         /* Z, Y, X */
    double voxel;                            /* nm; all lengths are in nm */
    double radius, thickness, length, grain; /* thickness of the shell */
    double alignment, theta, psi, tilt;      /* alignment: S; angles: degrees */
    int64_t count, materials, samples, seed;
    double *energies; /* eV */
    int64_t n_energies;
    double angles[3]; /* angles of polarisation: first, step, last */
    int force, quiet;
} make_options;

/* The members of the command's tool_command. */
extern const char make_doc[];
extern const struct argp_option make_argp_options[];
error_t make_parse(int key, char *text, struct argp_state *state);

/* Reads the command line. The program ends after --help, --version or a wrong command line. Free the options
 * with make_options_free. */
void make_options_parse(const tool_command *self, int argc, char **argv, make_options *options);
void make_options_free(make_options *options);

/* A ball, a core and its shell, or a cylinder. If there is only one layer of voxels, the object is a disk. */
typedef struct make_object {
    double centre[3]; /* x, y, z; nm from the centre of voxel 0, 0, 0 */
    double axis[3];   /* the axis of a cylinder, or of the aligned part of a ball */
} make_object;

typedef struct make_scene {
    const make_options *options;
    int64_t materials;    /* the last material surrounds the objects */
    make_object *objects; /* NULL: grains */
} make_scene;

/* Places the objects. Fails with INVALID if they do not fit. Free the scene with make_scene_free. */
collet_status make_scene_open(make_scene *scene, const make_options *options, collet_error *err);
void make_scene_free(make_scene *scene);
int make_is_aligned(const make_scene *scene, int64_t material);

/* One layer of voxels of a material, Y x X. Only aligned materials have alignment and angles. */
typedef struct make_layer {
    float *volume, *alignment, *theta, *psi;
} make_layer;

/* Fill the layers of all materials at z. make_fill_grains is for MAKE_EULER, a morphology without objects. */
void make_fill_objects(const make_scene *scene, int64_t z, make_layer *layers);
void make_fill_grains(const make_scene *scene, int64_t z, make_layer *layers);
uint64_t make_hash(uint64_t x);
/* Returns a number 0 <= x < 1, made from bits of a hash. */
double make_unit(uint64_t hash);

/* Sums over the voxels of a material. */
typedef struct make_sums {
    double volume, aligned;
    double order[6]; /* the sum of the aligned part times s s^T: xx, xy, xz, yy, yz, zz */
} make_sums;

/* Adds the aligned part `aligned` with this direction. */
void make_add_order(make_sums *sums, double aligned, double theta, double psi);

/* A set of files. When all files are complete, they get their names in this order. */
typedef struct make_set {
    io_spool *spools[MAKE_MATERIALS + 3]; /* the owner of the set frees them */
    size_t count;
} make_set;

/* Writes the morphology to a NAMED spool, and sets `sums`, one for each material. CANCELLED after a signal. */
collet_status make_write_morphology(const make_scene *scene, const io_spool *spool, make_sums *sums,
                                    collet_error *err);
/* Adds config.txt and Material<i>.txt in `directory`, which ends with a slash. */
collet_status make_add_settings(make_set *set, const make_scene *scene, const char *directory,
                                collet_error *err);
/* Adds the expected patterns of a morphology with these sums. */
collet_status make_add_expected(make_set *set, const make_scene *scene, const char *path,
                                const make_sums *sums, collet_error *err);
collet_status make_add_text(make_set *set, const char *path, const char *text, collet_error *err);

/* Returns the index of refraction of a material. */
collet_scatter_constants make_constants(const make_scene *scene, int64_t material,
                                        double energy);
