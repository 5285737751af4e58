/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/scatter.h - resonant soft X-ray scattering of a voxel morphology, as CyRSoXS simulates it.
 *
 * Library libcollet-scatter, on top of collet.h. A collet_scatter gets the materials of a
 * morphology and their optical constants and returns one pattern per energy: the intensity that a
 * detector sees, averaged over the angles of polarisation.
 *
 *     collet_scatter_options options = COLLET_SCATTER_OPTIONS;
 *     options.shape[0] = 32, ...
 *     status = collet_scatter_create(context, &scattering, &options, &err);
 *     while (status == COLLET_OK &&
 *            (status = collet_scatter_next(scattering, &pattern, &err)) == COLLET_OK && pattern)
 *         ...                                                 pattern->values[y * pattern->x + x]
 *     collet_scatter_destroy(scattering);
 *
 * There are two methods. COLLET_SCATTER_FAST transforms each field of the morphology once, in the planes of
 * its layers, and then sums the layers only on the Ewald spheres of the energies. COLLET_SCATTER_DIRECT transforms the
 * polarisation for each energy and angle, as CyRSoXS does; it is a check of the fast method.
 * The results of the two methods differ only by rounding.
 *
 * Conventions
 *   As in collet.h: status returned, `collet_error *` may be NULL, `**out` belongs to the caller
 * and is NULL after an error. Structures begin with struct_size. A scattering belongs to one thread
 * at a time. Nothing else may use its contexts until it is destroyed. With several devices, each
 * device has its own thread, which also works between calls. collet_scatter_next calls the callbacks
 * on the thread of its caller. Nothing is printed. Lengths are in nm, energies in eV, angles in
 * degrees.
 */
#ifndef COLLET_SCATTER_H
#define COLLET_SCATTER_H

#include <collet/devices.h>
#include <collet/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A material of the morphology: arrays of Z x Y x X numbers, C-contiguous. With Euler angles:
 * volume fraction, alignment S (0 to 1), theta and psi in radians, which are ignored where S is 0;
 * `alignment` = NULL means an isotropic material. With vectors: `direction` (Z x Y x X x 3) and `unaligned`. The
 * arrays belong to the caller, who must not change them until collet_scatter_destroy.
 */
typedef struct collet_scatter_material {
    uint32_t struct_size;
    collet_dtype dtype; /* of the arrays: COLLET_F32 or COLLET_F64 */
    const void *volume, *alignment, *theta, *psi;
    const void *direction, *unaligned;
    uint32_t kind; /* with `arrays`, or if the options have `layers`: COLLET_SCATTER_ISOTROPIC, ...; else 0 */
    uint32_t reserved;
    /* If not NULL, used in place of the pointers above: C-contiguous arrays of the context's runtime, in the order that
     * the comment of the material's kind states. Elements that are in the memory of the device that computes are not
     * copied. The device also checks the voxels. If it finds a voxel that may be wrong, the arrays are copied to the
     * host, which checks them again and names the voxel. Gradients and collet_scatter_compare also copy the arrays.
     * REFUSED with `layers`. */
    const collet_array *const *arrays;
} collet_scatter_material;

/* Kinds of materials. Each comment lists the arrays that `layers` fills, in this order. */
COLLET_ENUM(uint32_t){
    COLLET_SCATTER_ISOTROPIC = 1, /* volume */
    COLLET_SCATTER_EULER = 2,     /* volume, alignment, theta, psi */
    COLLET_SCATTER_VECTOR = 3,    /* direction, unaligned */
};

/*
 * Writes layers first .. first + count - 1 along z of a material to `arrays`: the arrays of the
 * material's kind, in its dtype. Layers and materials count from 0. collet_scatter_next calls this
 * function on its caller's thread, and more than once for a layer if memory is short or several devices
 * share the energies. If the function fails, it must set `err`; collet_scatter_next returns this error.
 */
typedef collet_status (*collet_scatter_layers_fn)(void *user, void *const *arrays,
                                                  int64_t material, int64_t first, int64_t count,
                                                  collet_error *err);

/* The refractive index n = 1 - delta + i beta, along the direction of a material and perpendicular
 * to it. */
typedef struct collet_scatter_constants {
    double delta_parallel, beta_parallel, delta_perpendicular, beta_perpendicular;
} collet_scatter_constants;

COLLET_ENUM(uint32_t){
    COLLET_SCATTER_FAST = 0,
    COLLET_SCATTER_DIRECT = 1,
};

/*
 * The grid: how q of pixel i of N is computed, and the intensity between the slices of the spectrum along z. a is the
 * edge of a voxel in nm; N / 2 is rounded down.
 *
 * EXACT sums the layers at each pixel's own q_z, which lies on Ewald's sphere; a film has the same pattern whatever
 * empty layers are above and below it. Images are rotated about the pixel of q = 0, so its intensity does not spread
 * to other pixels. Pixels where |q_z| > pi / a are NaN. CYRSOXS and FFT interpolate intensities between slices, as
 * CyRSoXS does: a film of identical layers can be 4 times too bright or have no intensity at all, and empty layers
 * around a film change its pattern. CYRSOXS also shifts q against the spectrum, and leaves out the last row and
 * column.
 */
COLLET_ENUM(uint32_t){
    COLLET_SCATTER_EXACT = 0,   /* (i - N / 2) 2 pi / (N a) */
    COLLET_SCATTER_CYRSOXS = 1, /* -pi / a + i (2 pi / a) / (N - 1) */
    COLLET_SCATTER_FFT = 2,     /* (i - N / 2) 2 pi / (N a) */
};

/* collet_scatter_create copies everything but the arrays of the materials. */
typedef struct collet_scatter_options {
    uint32_t struct_size;
    uint32_t method;    /* COLLET_SCATTER_FAST or _DIRECT */
    collet_dtype dtype; /* dtype of the computation: COLLET_F32 or COLLET_F64 */
    uint32_t grid;      /* COLLET_SCATTER_EXACT, _CYRSOXS or _FFT */
    uint32_t nearest;   /* 1: use the slice nearest to Ewald's sphere; 0: interpolate between two. Not with EXACT */
    uint32_t window;    /* 1: apply a periodic Hann window along each axis of more than one voxel */
    uint32_t neighbours; /* 1: q = 0 gets the mean of the elements around it, as in CyRSoXS 1.2. Not with EXACT */
    uint32_t mask;     /* 1: average each pixel over the angles that have a value there (RotMask) */
    uint32_t material_frame; /* 1: ReferenceFrame is MATERIAL */
    /* 1: patterns are multiplied by exp(-mu t), the part of the beam that the film does not absorb:
     * mu = 4 pi beta / lambda, with the mean of beta over the film and (beta_parallel + 2
     * beta_perpendicular) / 3 of each material; t = Z voxel / z of the beam's direction. Two
     * assumptions are made: the path of a scattered ray is as long as the beam's, and the film is
     * parallel to the detector. */
    uint32_t attenuation;
    int64_t shape[3];    /* Z, Y, X: voxels */
    double voxel;        /* edge, nm */
    double direction[3]; /* beam: x, y, z, of any length; 0, 0, 0 means 0, 0, 1 */
    double angles[3];    /* polarisation: first, step, last; degrees; step 0: only the first */
    int64_t n_materials;
    const collet_scatter_material *materials;
    int64_t n_energies;
    const double *energies;                       /* eV */
    const collet_scatter_constants *constants; /* n_energies x n_materials */
    uint64_t memory; /* limit for the bytes of arrays. 0: 7/8 of the available memory if the system limits
                        this process, else no limit. REFUSED if one energy needs more */
    collet_progress_fn progress; /* `done`: energies; the stage is "transforming", "scattering" or
                                    "differentiating". NULL: none */
    void *progress_user;
    /* NULL: the arrays of the materials are used. Otherwise this callback reads the layers, a few at a
     * time, so that a morphology may be larger than memory. Each layer is checked when it is read. */
    collet_scatter_layers_fn layers;
    void *layers_user;
    /* Devices that share the energies; NULL: `context` alone. If all devices are of one kind, the patterns do not
     * depend on which device computes an energy. `memory` is a limit for each device. */
    const collet_devices *devices;
    /*
     * The detector's normal: x, y, z, of any length; 0, 0, 0 means 0, 0, 1. As in CyRSoXS, the
     * averaged pattern is warped around pixel (Y / 2, X / 2) with bilinear interpolation: the intensity at
     * q moves to M q, where M is the upper left 2 x 2 part of D K. K is the rotation that maps z to
     * `direction`, D the rotation that maps z to the normal. The axis of each rotation is perpendicular to
     * z and to the vector to which z is mapped. So for a beam x, y, z the normal -x, -y, z leaves q
     * unchanged. A pixel whose position lies outside the image is NaN, or 0 with `mask`. On the grids
     * CYRSOXS and FFT without `mask`, a pixel becomes NaN, even where q is unchanged, if the pixel to the
     * right, below, or below right is NaN, because these pixels are read with weight 0.
     */
    double detector[3];
    /* 1: the fields of all layers are replaced by their mean along z, which gives a film of one layer.
     * This is an approximation for thin films, like z_collapse_mode "mean" of NRSS. REFUSED with `layers`. */
    uint32_t collapse;
    uint32_t omit_zero; /* 1: the pixel of q = 0 is NaN */
    /* eV, lowest and highest. On the exact grid, patterns are interpolated between nodes of q_z. The nodes are chosen
     * for this range and all `energies`, unless `memory` is so small that several passes are needed. Runs that share
     * the energies of a range thus compute the same bits as one run. 0, 0: the range of `energies`. */
    double energy_range[2];
} collet_scatter_options;

#define COLLET_SCATTER_OPTIONS                                                                     \
    {                                                                                              \
        .struct_size = sizeof(collet_scatter_options), .dtype = COLLET_F32                         \
    }

typedef struct collet_scatter collet_scatter;

/*
 * Checks the options and plans the work; nothing is computed. INVALID, for instance if a voxel's
 * value is not finite or its volume fraction is not 0 to 1 (the text has material and position), or if
 * Ewald's sphere of an energy meets no pixel. REFUSED if one energy needs more bytes than `memory`;
 * the text has the number of bytes. NO_MEMORY.
 */
COLLET_API collet_status collet_scatter_create(collet_context *context, collet_scatter **out,
                                               const collet_scatter_options *options,
                                               collet_error *err);
/* NULL is allowed. */
COLLET_API void collet_scatter_destroy(collet_scatter *scattering);

/* The cost of the work. */
typedef struct collet_scatter_plan {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t passes;     /* passes over the morphology: more than 1 if `memory` is small */
    int64_t fields;     /* number of real fields of all materials */
    int64_t transforms; /* number of three-dimensional FFTs, all devices together */
    int64_t block;      /* energies computed at a time */
    int64_t angles;
    uint64_t bytes; /* largest size of all arrays at a time, for each device */
    uint64_t kept;  /* the part of `bytes` that stays allocated until destroy */
} collet_scatter_plan;
COLLET_API void collet_scatter_get_plan(const collet_scatter *scattering,
                                        collet_scatter_plan *plan);

/* One pattern. */
typedef struct collet_scatter_pattern {
    uint32_t struct_size;
    collet_dtype dtype;    /* dtype of `values` */
    int64_t index;         /* index of the energy */
    double energy;         /* eV */
    int64_t y, x;          /* pixels */
    const double *qy, *qx; /* q of rows and columns, 1/nm */
    const void *values;    /* y x x, C-contiguous; NaN where Ewald's sphere meets no pixel */
} collet_scatter_pattern;

/*
 * Returns the pattern of the next energy, in the order of the options, valid until the next call; after
 * the last energy *out is NULL. INVALID for a pattern without a finite number. After an error each
 * further call returns the same error; after CANCELLED a further call continues. If one of several
 * devices fails, the others compute its energies; collet_scatter_share_at returns its error. When all
 * have failed, the first error is returned; its text names the device.
 */
COLLET_API collet_status collet_scatter_next(collet_scatter *scattering,
                                             const collet_scatter_pattern **out,
                                             collet_error *err);

/*
 * Like collet_scatter_next, but *out is a new array [Y, X] in the memory of the device that computed it, and nothing is
 * copied to the host. The caller destroys *out. NULL after the last energy. May be mixed with calls of
 * collet_scatter_next. REFUSED with `devices`, and if the last steps of a pattern run on the host: if the detector's
 * plane differs from the pattern's plane, and on the grids CYRSOXS and FFT without `mask`.
 */
COLLET_API collet_status collet_scatter_next_array(collet_scatter *scattering, collet_array **out,
                                                   collet_error *err);

/* The part of the work that device `index` of the options' devices has done so far. NOT_FOUND if there is no such
 * device. The strings are valid until destroy. May be called at any time. */
COLLET_API collet_status collet_scatter_share_at(const collet_scatter *scattering,
                                                 collet_device_share *share, size_t index,
                                                 collet_error *err);

/* How far the intensities of a grid with slices are from the exact intensities. */
typedef struct collet_scatter_comparison {
    uint32_t struct_size;
    uint32_t reserved;
    double energy;     /* eV */
    int64_t y, x;      /* voxels of the part of the film */
    double low, high;  /* of all bright pixels: the smallest and the largest quotient intensity / exact intensity */
    double total;      /* the quotient of the sums over these pixels */
} collet_scatter_comparison;

/*
 * Compares the patterns of options->grid and of COLLET_SCATTER_EXACT at the middle energy, for the middle rows and
 * columns of the film, at most 64 of each; q = 0 and pixels with less than 1/1000 of the largest intensity are left
 * out. For films of one layer and for the exact grid the quotients are 1. If no pixel is left, the quotients are
 * NaN. Nothing else may use the context during the call. Errors as in collet_scatter_next.
 */
COLLET_API collet_status collet_scatter_compare(collet_context *context,
                                                collet_scatter_comparison *comparison,
                                                const collet_scatter_options *options,
                                                collet_error *err);

/* ---- Gradients --------------------------------------------------------------------------- */

/* Arrays for the gradients with respect to the arrays of a material, with the same dtype and shapes. NULL: this
 * gradient is not computed. */
typedef struct collet_scatter_derivatives {
    uint32_t struct_size;
    uint32_t reserved;
    void *volume, *alignment, *theta, *psi;
    void *direction, *unaligned;
} collet_scatter_derivatives;

/* Results of collet_scatter_differentiate; NULL: not computed. */
typedef struct collet_scatter_gradients {
    uint32_t struct_size;
    uint32_t reserved;
    collet_scatter_constants *constants;         /* n_energies x n_materials */
    const collet_scatter_derivatives *materials; /* n_materials */
} collet_scatter_gradients;

/*
 * The gradients of a real function L of all patterns, by the adjoint of the fast method. cotangents
 * has dL / d(value) of each pixel of each pattern: n_energies x Y x X numbers of the options' dtype.
 * The cotangents of pixels that are NaN are ignored. The results are dL / d(delta, beta) of each material and
 * energy, and dL / d(number) of each number of the morphology. Each derivative holds all other numbers constant,
 * so the sum of a voxel's fractions is not kept at 1.
 *
 * The slices of the last pass are reused; slices of other passes are computed again. The device computes
 * only the transforms; threads of the host compute everything else, and the results do not depend on
 * the number of threads. Where S = 0, dL / dS uses theta and psi, and is NaN if they are NaN. May be
 * called before, between and after calls of collet_scatter_next. REFUSED for the direct method
 * and with `devices`. Errors and cancellation are as in collet_scatter_next; options.progress also
 * reports the progress of this call.
 */
COLLET_API collet_status collet_scatter_differentiate(collet_scatter *scattering,
                                                      const void *cotangents,
                                                      const collet_scatter_gradients *out,
                                                      collet_error *err);

/* ---- Integration ------------------------------------------------------------------------- */

/*
 * The rings over which patterns are integrated. On all grids, q of a pixel is computed as for COLLET_SCATTER_FFT:
 * (i - N / 2) 2 pi / (N voxel) on each axis. The q of COLLET_SCATTER_CYRSOXS is used only to choose slices.
 */
typedef struct collet_scatter_rings {
    uint32_t struct_size;
    uint32_t flat; /* 1: q in the detector's plane, for films of one layer; 0: |q| on Ewald's sphere */
    int64_t y, x;  /* pixels, at least 2 x 2 */
    double voxel;  /* edge, nm */
    double direction[3]; /* beam: x, y, z; 0, 0, 0 means 0, 0, 1 */
    double wedge;        /* full width of each wedge, degrees, up to 180; 0 means the default, 90 */
    double detector[3];  /* as in the options */
} collet_scatter_rings;

/* Number of directions chi = -179.5 + i degrees, measured from x, the direction of the electric
 * field, towards y. */
#define COLLET_SCATTER_CHI 360

/* Returns the number of rings, and q of each in 1/nm (NULL: only the number): multiples of the
 * smaller side of a pixel, up to the corner of the detector. INVALID. */
COLLET_API collet_status collet_scatter_rings_q(const collet_scatter_rings *rings,
                                                int64_t *count, double *q, collet_error *err);

/* Arrays of the caller; NULL: not computed. The mean of a ring is over the directions chi whose value is not
 * NaN; it is NaN if there is none. */
typedef struct collet_scatter_integrals {
    uint32_t struct_size;
    uint32_t wide;       /* 1: the arrays are f64; 0: f32 */
    void *polar;         /* chi x rings: bilinear interpolation; NaN outside or if a pixel is NaN */
    void *mean;          /* mean over all chi */
    void *parallel;      /* mean over the wedges around chi = 0 and 180 */
    void *perpendicular; /* mean over the wedges around chi = 90 and -90 */
    void *anisotropy;    /* (parallel - perpendicular) / (parallel + perpendicular), or NaN */
} collet_scatter_integrals;

/* Integrates a pattern of y x x values whose images were rotated back so that the electric field is
 * along x, as collet_scatter_next does. Sums are f64. INVALID, also if no ring has a finite
 * number. May be called on any thread. */
COLLET_API collet_status collet_scatter_integrate(const collet_scatter_rings *rings,
                                                  const collet_scatter_integrals *out,
                                                  double energy, collet_dtype dtype,
                                                  const void *values, collet_error *err);
/*
 * The adjoint of collet_scatter_integrate, for a real function L of the integrals. Each array of
 * `cotangents` has dL / d(number) of each number of that integral; NULL: L does not depend on it. Sets
 * `out`, y x x numbers of `dtype`, to dL / d(value). Cotangents of integrals that are NaN are ignored.
 * INVALID as collet_scatter_integrate. May be called on any thread.
 */
COLLET_API collet_status collet_scatter_integrate_adjoint(
    const collet_scatter_rings *rings, const collet_scatter_integrals *cotangents,
    double energy, collet_dtype dtype, const void *values, void *out, collet_error *err);

/* ---- Files of CyRSoXS -------------------------------------------------------------------- */

/*
 * A morphology (HDF5: /Euler_Angles/Mat_i_{Vfrac,S,Theta,Psi} or
 * /Vector_Morphology/Mat_i_{alignment,unaligned}, or /vector_morphology as in CyRSoXS 1.1;
 * /Morphology_Parameters/{PhysSize,NumMaterial}),
 * a configuration (config.txt) and the materials' constants (Material<i>.txt in the folder of the
 * configuration), in memory.
 */
typedef struct collet_scatter_input collet_scatter_input;

/*
 * Reads the files except the voxels; a scattering reads the voxels when it needs them, and fails with IO
 * if the file was replaced or changed in between. If the program collet-inspect is installed in the folder of
 * the plugins, it opens the file first, in another process: FORMAT if libhdf5 crashes on the file
 * or does not end. Numbers are converted to `dtype`; a material whose alignment is 0 everywhere
 * becomes isotropic. If `morphology` is NULL, only the configuration is read: its energies, beams and
 * directory. IO, FORMAT, INVALID (the text names the file and the dataset or key); NO_MEMORY.
 */
COLLET_API collet_status collet_scatter_read(collet_scatter_input **out,
                                             const char *morphology, const char *configuration,
                                             collet_dtype dtype, collet_error *err);
COLLET_API void collet_scatter_input_destroy(collet_scatter_input *input);
/* The options that were read, for the first beam and with the grid CYRSOXS; valid as long as the input. Copy them, set
 * method, grid, memory and progress, and create a scattering for each beam. */
COLLET_API const collet_scatter_options *
collet_scatter_input_options(const collet_scatter_input *input);
/* Directions x, y, z of beams, normalised. */
COLLET_API int64_t collet_scatter_input_beams(const collet_scatter_input *input,
                                              const double (**beams)[3]);
/* Warnings about parts of the files that are suspicious or not used; NULL beyond the last. Warnings
 * about voxels appear only when the callback `layers` of the options has read all voxels. */
COLLET_API const char *collet_scatter_input_warning_at(const collet_scatter_input *input,
                                                       size_t index);

/* One finding of collet_scatter_check; valid during the call that reports it. */
typedef struct collet_scatter_finding {
    uint32_t struct_size;
    uint32_t warning;    /* 0: a fault that prevents the computation; 1: suspicious */
    const char *text;    /* file, fault and position */
    const char *dataset; /* dataset of the faulty voxels, or NULL */
    int64_t material;    /* material of the faulty voxels, from 1; 0: sum of all materials */
    int64_t voxels;      /* number of faulty voxels; 0: the fault is not in voxels */
    int64_t first[3][3]; /* z, y, x of the first three faulty voxels */
} collet_scatter_finding;

typedef void (*collet_scatter_finding_fn)(void *user, const collet_scatter_finding *finding);

/*
 * Reports every fault that collet_scatter_read and collet_scatter_create would find in these
 * files, and everything suspicious; voxels are read in parts. `path` is a morphology, a
 * configuration or a file of optical constants. With a morphology, the configuration and the constants
 * in the configuration's folder are checked too, unless `configuration` is NULL. With a file of constants,
 * checks that it has the configuration's energies. With a configuration, checks also the files
 * Material<i>.txt that exist in its folder. OK even if faults were found; NO_MEMORY.
 */
COLLET_API collet_status collet_scatter_check(const char *path, const char *configuration,
                                              collet_scatter_finding_fn report, void *user,
                                              collet_error *err);

/* The quantity that a slice shows. */
COLLET_ENUM(uint32_t){
    COLLET_SCATTER_FRACTION = 0,  /* the volume fraction */
    COLLET_SCATTER_ALIGNMENT = 1, /* S; NaN where the volume fraction is 0 */
    COLLET_SCATTER_THETA = 2,     /* radians; NaN where S is 0 */
    COLLET_SCATTER_PSI = 3,       /* radians; NaN where S is 0 */
};

/* A slice perpendicular to an axis: rows are z (y for axis z), columns are x (y for axis x). */
typedef struct collet_scatter_slice {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t rows, columns;
    double voxel;  /* edge, nm */
    float *values; /* rows x columns */
} collet_scatter_slice;

/*
 * Reads slice `at` along an axis (0: z, 1: y, 2: x). Materials count from 1. If the file has both Euler
 * angles and vectors, the angles are used. INVALID if the material or the slice does not
 * exist; else errors as collet_scatter_read. collet_scatter_slice_destroy frees the values.
 */
COLLET_API collet_status collet_scatter_read_slice(collet_scatter_slice *out,
                                                   const char *morphology, int64_t material,
                                                   uint32_t field, uint32_t axis, int64_t at,
                                                   collet_error *err);
/* NULL is allowed. */
COLLET_API void collet_scatter_slice_destroy(collet_scatter_slice *slice);

/*
 * Writes all fields of all materials, under the names of their datasets, to an image file of VTK
 * (.vti), which ParaView opens. A voxel is a cell with its edge in nm; the first cell begins at the
 * origin. A few layers are copied at a time; values are not checked, only shapes. The file appears at
 * `path` only when it is complete. Errors as collet_scatter_read, and IO if there is a file at `path`
 * and `replace` is 0.
 */
COLLET_API collet_status collet_scatter_write_image(const char *morphology, const char *path,
                                                    int32_t replace, collet_error *err);

/* Writes "Energy_285.20.h5", the name that CyRSoXS gives to the file of an energy. */
#define COLLET_SCATTER_NAME 40
COLLET_API void collet_scatter_file_name(char name[COLLET_SCATTER_NAME], double energy);
/*
 * Writes the patterns of one energy, one for each beam, as CyRSoXS does: /K<i>/projection (Y, X) of
 * f32 and /KIDList/KVec. `settings`, any text, becomes an attribute of the file. The file appears under
 * its name only when it is complete and on disk. IO, NO_MEMORY.
 */
COLLET_API collet_status collet_scatter_write(const char *directory, double energy,
                                              int64_t n_beams, const double (*beams)[3],
                                              const collet_scatter_pattern *patterns,
                                              const char *settings, collet_error *err);
/* The size in bytes of a file of collet_scatter_write with n_beams patterns; for more than 32 patterns an
 * estimate. 0: out of memory. */
COLLET_API uint64_t collet_scatter_file_bytes(int64_t n_beams, int64_t y, int64_t x,
                                              const char *settings);
/* OK if the energy's file exists and was written with these settings; NOT_FOUND; INVALID for other
 * settings: the text has the file's name and the first part, between semicolons, that differs;
 * FORMAT if collet_scatter_write did not write the file. */
COLLET_API collet_status collet_scatter_written(const char *directory, double energy,
                                                const char *settings, collet_error *err);
/* Reads the pattern of an energy and a beam, counted from 0, into y x x values. NOT_FOUND; FORMAT
 * if the file has no such pattern; IO, NO_MEMORY. */
COLLET_API collet_status collet_scatter_read_pattern(float *values, const char *directory,
                                                     double energy, int64_t beam, int64_t y,
                                                     int64_t x, collet_error *err);
/*
 * Writes the integrals of all beams and energies: I_chi, I, I_parallel, I_perpendicular and A. Each
 * array has the shape n_beams x n_energies x its shape for one pattern; none may be NULL. Beam,
 * energy, chi and q are dimension scales; units, meanings and `settings`, any text, are attributes. The
 * file appears at `path` only when it is complete and on disk. INVALID, IO, NO_MEMORY.
 */
COLLET_API collet_status collet_scatter_write_integrals(
    const char *path, const collet_scatter_rings *rings, int64_t n_beams,
    const double (*beams)[3], int64_t n_energies, const double *energies,
    const collet_scatter_integrals *integrals, const char *settings, collet_error *err);
/* Like collet_scatter_written, for the file `path` of collet_scatter_write_integrals. */
COLLET_API collet_status collet_scatter_integrals_written(const char *path, const char *settings,
                                                          collet_error *err);
/* The directory that the configuration names for results, or NULL. */
COLLET_API const char *collet_scatter_input_directory(const collet_scatter_input *input);

#ifdef __cplusplus
}
#endif
#endif
