/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/scatter.h - resonant soft X-ray scattering of a voxel morphology, as CyRSoXS simulates it.
 *
 * Library libcollet-scatter, on top of collet.h. A collet_scattering gets the materials of a
 * morphology and their optical constants and returns one pattern an energy: the intensity that a
 * detector sees, averaged over the angles of polarisation.
 *
 *     collet_scattering_options options = COLLET_SCATTERING_OPTIONS;
 *     options.shape[0] = 32, ...
 *     status = collet_scattering_create(context, &scattering, &options, &err);
 *     while (status == COLLET_OK &&
 *            (status = collet_scattering_next(scattering, &pattern, &err)) == COLLET_OK && pattern)
 *         ...                                                 pattern->values[y * pattern->x + x]
 *     collet_scattering_destroy(scattering);
 *
 * There are two methods. COLLET_SCATTERING_FAST transforms each field of the morphology once and
 * combines two slices of the spectra for an energy; COLLET_SCATTERING_DIRECT transforms the
 * polarisation for each energy and angle, as CyRSoXS does, and serves as its check. They agree to
 * the rounding of the precision.
 *
 * Conventions
 *   As in collet.h: status returned, `collet_error *` may be NULL, `**out` belongs to the caller
 * and is NULL after an error. Structures begin with struct_size. A scattering belongs to one thread
 * at a time and uses its contexts, which nothing else uses until the scattering is closed: of
 * several ones each on a thread of its own, which works on between the calls. Callbacks are called
 * by collet_scattering_next, on its thread. Nothing is printed. Lengths are nm, energies eV, angles
 * degrees.
 */
#ifndef COLLET_SCATTER_H
#define COLLET_SCATTER_H

#include <collet/collet.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A material of the morphology: arrays of Z x Y x X numbers, C-contiguous. Euler: volume fraction,
 * alignment S (0 to 1), theta and psi in radians, which are ignored where S is 0; `alignment`
 * NULL: isotropic. Vector: `direction`
 * (Z x Y x X x 3) and `unaligned`. The caller's, unchanged until collet_scattering_destroy.
 */
typedef struct collet_scattering_material {
    uint32_t struct_size;
    collet_dtype dtype; /* of the arrays: COLLET_F32 or COLLET_F64 */
    const void *volume, *alignment, *theta, *psi;
    const void *direction, *unaligned;
    uint32_t kind; /* COLLET_SCATTERING_*, where `layers` of the options reads it, else 0 */
    uint32_t reserved;
} collet_scattering_material;

/* What `layers` brings of a material, in this order. */
COLLET_ENUM(uint32_t){
    COLLET_SCATTERING_ISOTROPIC = 1, /* volume */
    COLLET_SCATTERING_EULER = 2,     /* volume, alignment, theta, psi */
    COLLET_SCATTERING_VECTOR = 3,    /* direction, unaligned */
};

/*
 * Writes layers first .. first + count - 1 along z of a material, from 0, to the arrays of its
 * kind, of its dtype. Called by collet_scattering_next, on its thread, more than once for a layer
 * if memory is short or several devices share the energies. A failure ends that call; its text is
 * in `err`.
 */
typedef collet_status (*collet_scattering_layers_fn)(void *user, void *const *arrays,
                                                     int64_t material, int64_t first, int64_t count,
                                                     collet_error *err);

/* n = 1 - delta + i beta, along the direction of a material and across it. */
typedef struct collet_scattering_constants {
    double delta_parallel, beta_parallel, delta_perpendicular, beta_perpendicular;
} collet_scattering_constants;

COLLET_ENUM(uint32_t){
    COLLET_SCATTERING_FAST = 0,
    COLLET_SCATTERING_DIRECT = 1,
};

/* The q of pixel i of N, with voxels of a nm. */
COLLET_ENUM(uint32_t){
    COLLET_SCATTERING_CYRSOXS = 0, /* -pi / a + i (2 pi / a) / (N - 1) */
    COLLET_SCATTERING_FFT = 1,     /* (i - N / 2) 2 pi / (N a) */
};

/* How far the work is; steps of one energy are about equal. */
typedef struct collet_scattering_progress {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t energies;  /* done */
    double fraction;   /* 0 to 1 */
    const char *stage; /* "transforming", "scattering"; static */
} collet_scattering_progress;

/* Any value but 0 cancels: the current call returns COLLET_CANCELLED. */
typedef int32_t (*collet_scattering_progress_fn)(void *user,
                                                 const collet_scattering_progress *progress);

/* Everything is copied by collet_scattering_create but the arrays of the materials. */
typedef struct collet_scattering_options {
    uint32_t struct_size;
    uint32_t method;     /* COLLET_SCATTERING_FAST or _DIRECT */
    collet_dtype dtype;  /* of the computation: COLLET_F32 or COLLET_F64 */
    uint32_t grid;       /* COLLET_SCATTERING_CYRSOXS or _FFT */
    uint32_t nearest;    /* 1: the nearest slice to Ewald's sphere; 0: between two */
    uint32_t window;     /* 1: a periodic Hann window along each axis of more than one voxel */
    uint32_t neighbours; /* 1: at q = 0 the mean of the elements about it, as CyRSoXS 1.2 */
    uint32_t mask;       /* 1: of each pixel the mean of the angles that it has (RotMask) */
    uint32_t material;   /* 1: ReferenceFrame MATERIAL */
    uint32_t reserved;
    int64_t shape[3];    /* Z, Y, X: voxels */
    double voxel;        /* edge, nm */
    double direction[3]; /* of the beam, x, y, z; normalised; 0, 0, 0: 0, 0, 1 */
    double angles[3];    /* of polarisation: first, step, last; degrees; step 0: the first alone */
    int64_t n_materials;
    const collet_scattering_material *materials;
    int64_t n_energies;
    const double *energies;                       /* eV */
    const collet_scattering_constants *constants; /* n_energies x n_materials */
    uint64_t memory; /* bytes that arrays may take; 0: no limit. One energy has a minimum */
    collet_scattering_progress_fn progress; /* NULL: none */
    void *progress_user;
    /* NULL: the arrays of the materials hold all. Else their layers are read, and checked as they
     * are, some at a time, so that a morphology may be larger than memory. */
    collet_scattering_layers_fn layers;
    void *layers_user;
    /* Further contexts, each with its own choice of device, with which `context` shares the
     * energies; none twice. Devices of one kind compute the same patterns whichever has an energy.
     * `memory` is a limit for each device. */
    int64_t n_contexts;
    collet_context *const *contexts;
    /* The detector's normal, x, y, z; normalised; 0, 0, 0: 0, 0, 1. As CyRSoXS does, the averaged
     * pattern is warped about pixel (Y / 2, X / 2), bilinearly: q is moved to the upper left 2 x 2
     * of D K times q, where K is the rotation that takes z to `direction` and D that which takes z
     * to the normal, each about the axis across both. So a normal -x, -y, z for a beam x, y, z
     * leaves q as it is. Outside: NaN, or 0 with `mask`. Without `mask`, also where q stays, a
     * pixel is NaN if the one to the right, below or both is: these are read with weight 0. */
    double detector[3];
} collet_scattering_options;

#define COLLET_SCATTERING_OPTIONS                                                                  \
    {                                                                                              \
        .struct_size = sizeof(collet_scattering_options), .dtype = COLLET_F32                      \
    }

typedef struct collet_scattering collet_scattering;

/*
 * Checks the options and plans the work; nothing is computed. INVALID names what is wrong: a voxel
 * that is not finite or not a fraction, with its material and place; an energy at which Ewald's
 * sphere meets no pixel. NO_MEMORY, or REFUSED where
 * `memory` does not suffice, with what would.
 */
COLLET_API collet_status collet_scattering_create(collet_context *context, collet_scattering **out,
                                                  const collet_scattering_options *options,
                                                  collet_error *err);
/* NULL is allowed. */
COLLET_API void collet_scattering_destroy(collet_scattering *scattering);

/* What the work takes. */
typedef struct collet_scattering_plan {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t passes;     /* over the morphology: more than 1 where `memory` does not suffice */
    int64_t fields;     /* real fields of all materials */
    int64_t transforms; /* three-dimensional ones of the whole work, of all devices */
    int64_t block;      /* energies at a time */
    int64_t angles;
    uint64_t bytes; /* of arrays of each device, at most at a time */
    uint64_t kept;  /* of these, between the calls too, until the scattering is closed */
} collet_scattering_plan;
COLLET_API void collet_scattering_get_plan(const collet_scattering *scattering,
                                           collet_scattering_plan *plan);

/* One pattern. */
typedef struct collet_scattering_pattern {
    uint32_t struct_size;
    collet_dtype dtype;    /* of `values` */
    int64_t index;         /* of the energy */
    double energy;         /* eV */
    int64_t y, x;          /* pixels */
    const double *qy, *qx; /* of the pixels, 1/nm */
    const void *values;    /* y x x, C-contiguous; NaN where nothing is scattered to */
} collet_scattering_pattern;

/*
 * The pattern of the next energy, in the order of the options, valid until the next call; NULL with
 * COLLET_OK after the last. INVALID for one without any finite number. After an error each further
 * call returns the same one, after CANCELLED the work can go on. The failure of one of several
 * devices, which the error names, ends the work.
 */
COLLET_API collet_status collet_scattering_next(collet_scattering *scattering,
                                                const collet_scattering_pattern **out,
                                                collet_error *err);

/* ---- Integration ------------------------------------------------------------------------- */

/*
 * The rings over which patterns are integrated. A pixel's q is the transform's, (i - N / 2) 2
 * pi / (N voxel) on each axis, on both grids: COLLET_SCATTERING_CYRSOXS only chooses slices by its
 * own.
 */
typedef struct collet_scattering_rings {
    uint32_t struct_size;
    uint32_t flat; /* 1: q in the detector's plane, as of one slice; 0: |q|, on Ewald's sphere */
    int64_t y, x;  /* pixels, at least 2 x 2 */
    double voxel;  /* edge, nm */
    double direction[3]; /* of the beam, x, y, z; 0, 0, 0: 0, 0, 1 */
    double wedge;        /* whole width of each wedge, degrees, up to 180; 0: 90 */
    double detector[3];  /* as the options' */
} collet_scattering_rings;

/* Directions: chi = -179.5 + i degrees, from x, the direction of the electric field, towards y. */
#define COLLET_SCATTERING_CHI 360

/* The number of rings, and q of each, 1/nm (NULL: only the number): multiples of the smaller side
 * of a pixel, up to the corner of the detector. INVALID. */
COLLET_API collet_status collet_scattering_rings_q(const collet_scattering_rings *rings,
                                                   int64_t *count, double *q, collet_error *err);

/* The caller's arrays, NULL for what is not wanted. A ring's mean is over the chi that are not NaN,
 * NaN if there is none. */
typedef struct collet_scattering_integrals {
    uint32_t struct_size;
    uint32_t reserved;
    float *polar;         /* chi x rings: bilinear between pixels; NaN outside, or if one is NaN */
    float *mean;          /* of all chi */
    float *parallel;      /* of the wedges about chi = 0 and 180 */
    float *perpendicular; /* of the wedges about chi = 90 and -90 */
    float *anisotropy;    /* (parallel - perpendicular) / (parallel + perpendicular), or NaN */
} collet_scattering_integrals;

/* Integrates a pattern, y x x values, whose angles of polarisation were turned back to x, as
 * collet_scattering_next does. Sums are of f64. INVALID, also where no ring has a finite number.
 * Any thread. */
COLLET_API collet_status collet_scattering_integrate(const collet_scattering_rings *rings,
                                                     const collet_scattering_integrals *out,
                                                     double energy, collet_dtype dtype,
                                                     const void *values, collet_error *err);

/* ---- Files of CyRSoXS -------------------------------------------------------------------- */

/*
 * A morphology (HDF5: /Euler_Angles/Mat_i_{Vfrac,S,Theta,Psi} or
 * /Vector_Morphology/Mat_i_{alignment,unaligned}, /Morphology_Parameters/{PhysSize,NumMaterial}),
 * a configuration (config.txt) and the materials' constants (Material<i>.txt, beside the
 * configuration), in memory.
 */
typedef struct collet_scattering_input collet_scattering_input;

/*
 * Reads them, but the voxels, which a scattering reads when it needs them: a file that is replaced
 * or changed meanwhile is an error, IO; one on which libhdf5 crashes or does not end, FORMAT:
 * another process, collet-inspect beside the plugins, opens it first where that is installed. The
 * numbers are converted to `dtype`; a material without alignment anywhere becomes isotropic. IO,
 * FORMAT, INVALID with file, dataset or key; NO_MEMORY.
 */
COLLET_API collet_status collet_scattering_read(collet_scattering_input **out,
                                                const char *morphology, const char *configuration,
                                                collet_dtype dtype, collet_error *err);
COLLET_API void collet_scattering_input_destroy(collet_scattering_input *input);
/* What was read, for the first beam; valid as long as the input. A program copies it, sets method,
 * context's memory, progress and grid, and opens a scattering for each beam. */
COLLET_API const collet_scattering_options *
collet_scattering_input_options(const collet_scattering_input *input);
/* Directions x, y, z of beams, normalised. */
COLLET_API int64_t collet_scattering_input_beams(const collet_scattering_input *input,
                                                 const double (**beams)[3]);
/* What the files have that is not used or is suspicious; NULL beyond the last. Warnings about
 * voxels come when `layers` of the options has read them all. */
COLLET_API const char *collet_scattering_input_warning(const collet_scattering_input *input,
                                                       size_t index);

/* What collet_scattering_check found. Its text ends with the call that reports it. */
typedef struct collet_scattering_finding {
    uint32_t struct_size;
    uint32_t warning;    /* 0: a fault, with which nothing is computed; 1: suspicious */
    const char *text;    /* which file, what, where */
    const char *dataset; /* of voxels that have the fault, or NULL */
    int64_t material;    /* theirs, from 1; 0: of all materials together */
    int64_t voxels;      /* how many; 0: it is none of voxels */
    int64_t first[3][3]; /* z, y, x of the first ones */
} collet_scattering_finding;

typedef void (*collet_scattering_finding_fn)(void *user, const collet_scattering_finding *finding);

/*
 * Reports every fault that collet_scattering_read and _open would find in these files, and what is
 * suspicious; the voxels are read in parts. `path` is a morphology, a configuration or a file of
 * optical constants. With a morphology the configuration and the constants beside it are checked
 * too, unless `configuration` is NULL; with constants, that they have the configuration's energies.
 * A configuration is checked with those Material<i>.txt beside it that exist. OK whatever was
 * found; NO_MEMORY.
 */
COLLET_API collet_status collet_scattering_check(const char *path, const char *configuration,
                                                 collet_scattering_finding_fn report, void *user,
                                                 collet_error *err);

/* What a slice shows of a material. */
COLLET_ENUM(uint32_t){
    COLLET_SCATTERING_FRACTION = 0,  /* the volume fraction */
    COLLET_SCATTERING_ALIGNMENT = 1, /* S; NaN where its volume fraction is 0 */
    COLLET_SCATTERING_THETA = 2,     /* radians; NaN where nothing is aligned */
    COLLET_SCATTERING_PSI = 3,       /* radians; NaN where nothing is aligned */
};

/* A slice across an axis: rows are z, or y across z; columns x, or y across x. */
typedef struct collet_scattering_slice {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t rows, columns;
    double voxel;  /* edge, nm */
    float *values; /* rows x columns */
} collet_scattering_slice;

/*
 * Reads voxels `at` of an axis (0: z, 1: y, 2: x) of a material, counted from 1; of a file with
 * Euler angles and vectors the angles. INVALID if material or voxel are not there, else as
 * collet_scattering_read. The values are freed by collet_scattering_slice_destroy.
 */
COLLET_API collet_status collet_scattering_read_slice(collet_scattering_slice *out,
                                                      const char *morphology, int64_t material,
                                                      uint32_t field, uint32_t axis, int64_t at,
                                                      collet_error *err);
/* NULL is allowed. */
COLLET_API void collet_scattering_slice_destroy(collet_scattering_slice *slice);

/*
 * Writes all fields of all materials, by the names of their datasets, to an image file of VTK
 * (.vti), which ParaView opens: cells with the edge in nm, the first at the origin. Layers are
 * copied some at a time; nothing is checked but shapes. The file gets its name when it is complete.
 * Errors as collet_scattering_read.
 */
COLLET_API collet_status collet_scattering_write_image(const char *morphology, const char *path,
                                                       collet_error *err);

/* "Energy_285.20.h5", as CyRSoXS names the file of an energy. */
#define COLLET_SCATTERING_NAME 40
COLLET_API void collet_scattering_file_name(char name[COLLET_SCATTERING_NAME], double energy);
/*
 * Writes the patterns of one energy, one a beam, as CyRSoXS does: /K<i>/projection (Y, X) of f32
 * and /KIDList/KVec; and `settings`, any text, as an attribute of the file. The file gets its name
 * when it is complete and on disk. IO, NO_MEMORY.
 */
COLLET_API collet_status collet_scattering_write(const char *directory, double energy,
                                                 int64_t n_beams, const double (*beams)[3],
                                                 const collet_scattering_pattern *patterns,
                                                 const char *settings, collet_error *err);
/* The size of such a file, of n_beams patterns; of many beams about. 0 without memory. */
COLLET_API uint64_t collet_scattering_file_bytes(int64_t n_beams, int64_t y, int64_t x,
                                                 const char *settings);
/* OK if the energy's file is there and was written with these settings; NOT_FOUND; INVALID with
 * the file's name and the first part, between semicolons, that differs if they were others; FORMAT
 * if it is no such file. */
COLLET_API collet_status collet_scattering_written(const char *directory, double energy,
                                                   const char *settings, collet_error *err);
/* The pattern of an energy and a beam, counted from 0, into y x x values. NOT_FOUND; FORMAT if
 * there is no such pattern in the file; IO, NO_MEMORY. */
COLLET_API collet_status collet_scattering_read_pattern(float *values, const char *directory,
                                                        double energy, int64_t beam, int64_t y,
                                                        int64_t x, collet_error *err);
/*
 * Writes integrals of all beams and energies, each array n_beams x n_energies x what it is for one
 * pattern, none NULL: I_chi, I, I_parallel, I_perpendicular and A of beam, energy, chi and q, which
 * are dimension scales; units and meanings are attributes. The file gets its name when it is
 * complete and on disk. INVALID, IO, NO_MEMORY.
 */
COLLET_API collet_status collet_scattering_write_integrals(
    const char *path, const collet_scattering_rings *rings, int64_t n_beams,
    const double (*beams)[3], int64_t n_energies, const double *energies,
    const collet_scattering_integrals *integrals, collet_error *err);
/* The directory that the configuration names for results, or NULL. */
COLLET_API const char *collet_scattering_input_directory(const collet_scattering_input *input);

#ifdef __cplusplus
}
#endif
#endif
