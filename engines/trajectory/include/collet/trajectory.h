/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/trajectory.h - observables of every frame of a molecular dynamics trajectory.
 *
 * Library libcollet-trajectory, on top of collet.h. A collet_trajectory reads a topology and a
 * trajectory in the formats that collet_trajectory_format_at lists, or takes both from the program,
 * and computes the quantities that collet_trajectory_quantity_at lists: centre of mass, inertia,
 * angular momentum, torque, energies, gyration, rmsd and so on, one row per frame, 64-bit floats.
 * Memory does not depend on the length of the trajectory. Threads read ahead while kernels run.
 *
 * To write the results to files with one call:
 *
 *     collet_trajectory_options options = {.struct_size = sizeof options,
 *                                          .topology = "conf.gro", .trajectory = "traj.trr"};
 *     status = collet_trajectory_extract("out.npz", 0, &options, &err);
 *
 * To get them batch by batch:
 *
 *     status = collet_trajectory_create(&trajectory, &options, &err);
 *     while (status == COLLET_OK &&
 *            (status = collet_trajectory_next(trajectory, &batch, &err)) == COLLET_OK && batch)
 *         ...                                              batch->columns[i][row * width + k]
 *     collet_trajectory_destroy(trajectory);
 *
 * Conventions
 *   As in collet.h: status returned, `collet_error *` may be NULL, `**out` belongs to the caller
 *   and is NULL after an error, and what a getter returns is valid until the trajectory is
 *   destroyed, unless stated otherwise. Structures begin with struct_size, which the caller sets.
 *   Zero means the default. A member that is not 0 and that the library does not know is INVALID. The
 *   text of an error names file, frame and atom, and what to do. Nothing is printed, and there is no
 *   global state. A trajectory belongs to one thread at a time; several may run at once. Callbacks run on
 *   the thread that called the library.
 */
#ifndef COLLET_TRAJECTORY_H
#define COLLET_TRAJECTORY_H

#include <collet/devices.h>
#include <collet/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collet_trajectory collet_trajectory;

/* ---- Options ----------------------------------------------------------------------------- */

/* The frame that collet_trajectory_source.read fills: arrays of atoms x 3, contiguous, of the
 * source's dtype, valid until the next call of read or until the trajectory is destroyed. */
typedef struct collet_trajectory_frame {
    uint32_t struct_size; /* set by the library */
    uint32_t reserved;
    double time;            /* ps; ignored if the source has no times */
    const void *positions;  /* nm */
    const void *velocities; /* nm/ps; NULL: none */
    const void *forces;     /* kJ/mol/nm; NULL: none */
    const double *box; /* nm, the vectors a, b and c of the periodic box; NULL or zeros: none */
} collet_trajectory_frame;

/* A source: atoms and frames in the program's memory instead of files. The struct, and everything that it points to,
 * must stay valid until the trajectory is destroyed. */
typedef struct collet_trajectory_source {
    uint32_t struct_size;
    collet_dtype dtype; /* of all arrays: COLLET_F32 or COLLET_F64 */
    const char *name;   /* used in messages and in the meta file in place of a path */
    int64_t n_atoms;
    int64_t n_frames;
    const char *const *names;         /* n_atoms names of atoms, for selections and guessed masses,
                                         up to 15 bytes each; NULL: all "" */
    const char *const *residue_names; /* n_atoms, likewise */
    const int32_t *residue_ids;       /* NULL: all 0 */
    const int64_t *residue_numbers;   /* n_atoms, different for successive residues; NULL: a residue
                                         begins where residue name, id, segment or chain changes */
    const char *const *segments;      /* n_atoms, up to 15 bytes each, "": none; NULL: all "" */
    const char *const *chains;        /* n_atoms, likewise */
    const double *charges;            /* n_atoms, elementary charges; NULL: unknown */
    const int64_t *bonds;             /* n_bonds x 2 atoms, from 0; NULL: unknown */
    int64_t n_bonds;
    int32_t has_velocities; /* 0 or 1: frames have them */
    int32_t has_forces;
    int32_t has_times;
    uint32_t reserved;
    /* Sets *frame to frame `index`. Called on the thread that called the library, with rising indices. Some frames are
     * read one more time: a frame that a warning is about; the first frame, by collet_trajectory_create, if residues
     * may be joined or the options have a reference; for a shard, all frames up to the first frame with a box. Any
     * status except COLLET_OK ends the work and is returned, with the text in *err. The function must not use the
     * trajectory or its context. */
    collet_status (*read)(void *user, collet_trajectory_frame *frame, int64_t index,
                          collet_error *err);
    /* Sets chosen[i] to 1 if atom i is to be analysed in frame `index`, the last frame that was read, else
     * to 0, for all n_atoms atoms. Atoms that the options' selection does not choose are left out in any
     * case. Threads and errors are as for `read`. NULL: the same atoms in all frames. */
    collet_status (*choose)(void *user, uint8_t *chosen, int64_t index, collet_error *err);
    void *user;
} collet_trajectory_source;

/* The treatment of a frame that lacks positions, or a field that a key needs and the first frame
 * has. A warning gives the number of such frames. */
COLLET_ENUM(uint32_t){
    COLLET_TRAJECTORY_MISSING_FAIL, /* the work ends with NOT_FOUND */
    COLLET_TRAJECTORY_MISSING_SKIP, /* the frame is left out of all results */
    COLLET_TRAJECTORY_MISSING_NAN   /* keys that need the field are NaN, others are computed; the
                                       first frame that is read needs positions */
};

/*
 * How positions are changed for the periodic box (any triclinic box) before anything is computed.
 * The topology's bonds define which atoms form a molecule. If some atoms of a residue have no bonds, all its atoms
 * belong together; successive residues of this kind in a protein or a nucleic acid are joined if they are near each
 * other in the first frame that is read. Atoms that are not selected are read if they connect selected atoms of a
 * molecule. The first atom of a molecule stays where it is. A frame without a box is used as it is.
 */
COLLET_ENUM(uint32_t){
    COLLET_TRAJECTORY_PBC_WHOLE,  /* molecules are made whole */
    COLLET_TRAJECTORY_PBC_NOJUMP, /* molecules are made whole; then each molecule moves from frame to
                                     frame by the shortest way, so its path has no jumps. Between two
                                     frames that are read a molecule must move by less than half a box */
    COLLET_TRAJECTORY_PBC_CENTER, /* molecules are made whole; the selection's centre of mass is moved
                                     to the middle of the box, and each molecule to its image nearest
                                     to the middle */
    COLLET_TRAJECTORY_PBC_NONE    /* the box is not used: positions are as in the file */
};

/*
 * The drift to remove: motion of the system as a whole, which a simulation adds by rounding, thermostats or initial
 * velocities. Each frame is changed before anything is computed. The velocity of the system's centre of mass (LINEAR),
 * or omega x (r - R) with omega = inertia^-1 L of the system in this frame (ANGULAR), or both are subtracted from the
 * velocities. LINEAR and BOTH also move positions back by the displacement of the centre of mass since the first frame
 * that is read, but only where paths have no jumps: with PBC_NOJUMP, and in frames without a box. Otherwise positions
 * in a box are not changed, because molecules jump there. Positions are never rotated. In a periodic box angular
 * momentum is not conserved, and the rotation depends on the images at which molecules are: a warning says so unless
 * the system is one molecule, or with PBC_NONE.
 */
COLLET_ENUM(uint32_t){
    COLLET_TRAJECTORY_DRIFT_KEEP,    /* nothing is removed */
    COLLET_TRAJECTORY_DRIFT_LINEAR,  /* the motion of the centre of mass */
    COLLET_TRAJECTORY_DRIFT_ANGULAR, /* the rotation about the centre of mass */
    COLLET_TRAJECTORY_DRIFT_BOTH
};

/* collet_trajectory_create copies everything except `context`, `source` and the callbacks' `user`. */
typedef struct collet_trajectory_options {
    uint32_t struct_size;
    uint32_t missing; /* COLLET_TRAJECTORY_MISSING_*; only for frames in files */

    const char *topology;             /* a file of a format with a topology */
    const char *trajectory;           /* a file of a format with frames, of the same atoms */
    const char *const *continuations; /* further files in any format, ended by NULL. All files are one
                                         trajectory. If the first time of a later file is not after
                                         a frame's time, this frame and the rest of its file are
                                         left out. NULL: none */
    const char *selection; /* atoms to analyse, in the language of collet-extract(1). With "within"
                               each frame may have other atoms. NULL: all */
    const char *ndx;  /* a .ndx file of GROMACS, whose groups the selection may name; NULL: none */
    const char *each; /* divides the selected atoms into bodies, each with its own rows: "residue",
                         "molecule", "segment", "chain", or patterns of groups of ndx, separated by
                         blanks. NULL: the selection is one body, and results have no axis of bodies */
    const char *masses;        /* file with one mass (amu) a line for each atom of the topology; or
                               "equal": each selected atom has mass 1. NULL: mass_values, or the
                               topology's masses; if it has none, the standard atomic weights of its
                               elements; if it has no elements, these are guessed from atom names */
    const double *mass_values; /* instead of a file: one mass for each atom of the topology, amu */
    int64_t n_mass_values;     /* their number */
    const char *reference; /* rmsd to the first frame of this file; NULL: the first frame read */
    const char *keys;      /* quantities to compute, separated by ','; '*' stands for any characters:
                              "com,L_*". NULL: all quantities for which the trajectory has the fields,
                              except "positions", which must be named */
    double axis[3];        /* axis of the z parts and the tilt; 0,0,0 means 0,0,1 */

    int64_t start; /* frames start, start + step, ... below stop are read, counted from 0 */
    int64_t stop;  /* 0: to the end */
    int64_t step;  /* 0: 1 */
    uint32_t pbc;  /* COLLET_TRAJECTORY_PBC_* */
    uint32_t drift; /* COLLET_TRAJECTORY_DRIFT_* */
    const char *drift_of; /* the system whose drift is removed: a selection with the same atoms in all
                             frames; only atoms with a mass count. NULL: all atoms of the topology,
                             whatever `selection` chooses */
    uint32_t strict; /* 0 or 1. 1: a frame in which a body may not be in one piece does not give a warning, but ends
                        the work with COLLET_INVALID as soon as this is known. Such a frame has a molecule that is cut,
                        that has no end or cannot be made whole, molecules of a body that are nearer to each other
                        through the box, residues that may be bonded, a step of NOJUMP beyond half a box, or no box
                        (with NOJUMP or CENTER, or if other frames have a box). No results are written */
    uint32_t reserved;

    collet_context *context; /* to compute with; nothing else may use it until the trajectory is
                                destroyed. NULL: the trajectory creates a runtime and a context */
    const char *backend;     /* without a context: as collet_set_backend; NULL: as in the settings */
    int64_t threads;   /* without a context: total number of CPU threads. 1: the calling thread reads
                                and computes in turn. With more threads, one thread reads and the others
                                compute; but most threads read if the files are .xtc or text, because
                                decoding takes longer than the kernels. 0: as many as there are processors;
                                kernels use the number in the settings */
    collet_log_fn log; /* without a context: gets messages of the runtime, by default of level info
                                and above; NULL: messages are dropped */
    void *log_user;
    int64_t batch_frames; /* frames read and computed at a time; three such batches are in
                             memory, two if they are large. 0: about 3 MiB */
    int64_t batch_rows;   /* rows that collet_trajectory_next returns at a time. At most 3 x batch_rows
                             rows are computed ahead, or batch_frames if that is more. With a
                             small number rows come sooner, but each row costs more time. 0: 1024, or
                             fewer if this would be more than 32768 rows of bodies */

    /* Called from time to time while files are opened, before the first frame, after each batch that was
     * computed, and every 50 ms while a batch is read. `done`: frames computed; `bytes`: bytes of the
     * trajectory up to the last of these frames; `stage`: a slow step before frames are computed. After the
     * function has cancelled, no output file is created. NULL: none */
    collet_progress_fn progress;
    void *progress_user;

    const char *program;        /* recorded in the meta file; NULL: "libcollet-trajectory" */
    const char *const *command; /* the command line recorded there, ended by NULL; NULL: none */

    const collet_trajectory_source *source; /* used instead of `topology` and `trajectory`, which must
                                               then be NULL; NULL: files are used */

    int64_t shard;    /* the part of the work to compute, 1 to n_shards; collet_trajectory_write writes
                         its file */
    int64_t n_shards; /* 0: the whole work */
    const char *shards; /* directory for that file, and for an index of the trajectory that all shards
                           use; NULL: the output's path with ".shards" */
    const char *const *parts; /* files of shards, or directories with such files: rows are read from
                                 these files, and no frame is computed. The files record the options
                                 that determine the results; these options must be NULL or 0 here.
                                 Context, backend, threads, log, batches, progress and source may be
                                 given. The inputs are opened. NULL: none */
    int64_t n_parts;

    /* Devices that share the frames. Each computes the sums over atoms of whole batches; the host computes
     * everything else. Backends of the host may be among the devices. Devices with the same name give
     * bitwise equal results. If a device fails, a warning says so. With devices->contexts, `backend` must be
     * NULL and `threads` 0. NULL: one device */
    const collet_devices *devices;
} collet_trajectory_options;

/*
 * COLLET_INVALID if `text` is not a selection; the message has the reason, the column, and two more lines
 * that point at that column. Reads no file.
 */
COLLET_API collet_status collet_trajectory_check_selection(const char *text, collet_error *err);

/* A format of files, recognised by their content. Strings are static. */
typedef struct collet_trajectory_format {
    uint32_t struct_size;
    int32_t has_topology; /* 1: files can be a topology */
    int32_t has_frames;   /* 1: files can be a trajectory */
    uint32_t reserved;
    const char *name;  /* "trr", the suffix of its files without the point */
    const char *title; /* "GROMACS, compressed positions" */
} collet_trajectory_format;

/* Sets *format to format `index`, counted from 0; NOT_FOUND beyond the last. Always the same list.
 * Any thread. */
COLLET_API collet_status collet_trajectory_format_at(collet_trajectory_format *format,
                                                     size_t index, collet_error *err);

/* ---- A trajectory ------------------------------------------------------------------------ */

/*
 * Opens all files and checks them against each other; needs no backend. COLLET_IO and COLLET_FORMAT for
 * faults of files; COLLET_INVALID for invalid options, for a selection without atoms or mass, and for keys
 * that do not exist or need fields that the trajectory lacks; COLLET_NO_MEMORY. If the program
 * collet-inspect is installed in the folder of the plugins, it opens HDF5 files first, in another process:
 * COLLET_FORMAT if libhdf5 crashes on the file or does not end.
 */
COLLET_API collet_status collet_trajectory_create(collet_trajectory **out,
                                                  const collet_trajectory_options *options,
                                                  collet_error *err);

/* Cancels the work and frees everything; incomplete output is removed. NULL is allowed.
 */
COLLET_API void collet_trajectory_destroy(collet_trajectory *trajectory);

/* Files and progress. The members up to bytes_total are valid after collet_trajectory_create. */
typedef struct collet_trajectory_info {
    uint32_t struct_size;
    int32_t truncated;      /* 1: the trajectory ends inside a frame; 2: a frame is damaged, or its
                               atoms or precision differ from the first. All frames before it
                               are computed, and a warning gives the frame and the byte */
    const char *format;     /* format of the trajectory: a format's name, or "memory" */
    int32_t has_velocities; /* 0 or 1: the trajectory has velocities; also has_forces, has_times */
    int32_t has_forces;
    int32_t has_times;
    int32_t masses_guessed; /* 1: masses of some selected atoms were guessed from their names */
    const char *elements;   /* "H 142, C 84": elements of the selected atoms, if their masses were
                               computed from elements; else NULL */
    const char *periodic;   /* after the last row, how positions were changed for the periodic box:
                             "molecules were made whole by bonds"; before, NULL */
    const char *drift;      /* after the last row, what drift was removed; NULL: none, or before */
    int64_t atoms_total;    /* atoms of the topology */
    int64_t atoms;          /* atoms that are in a body and selected in at least one frame */
    int64_t least_atoms; /* smallest number of atoms selected in a frame so far. It differs from `atoms`
                            and most_atoms only if frames may select different atoms (within, choose) */
    int64_t most_atoms;  /* greatest number of atoms selected in a frame so far */
    int64_t bodies;      /* number of bodies by `each`; 0: not divided */
    double mass;         /* total mass of the selected atoms, amu */
    uint64_t bytes_total; /* size of the trajectory */

    int64_t frames;      /* frames computed so far */
    int64_t first_frame; /* number in the file of the first of these frames */
    int64_t last_frame;
    double first_time; /* time of first_frame, ps; NaN: it has none */
    double last_time;
    uint64_t bytes; /* bytes of the trajectory up to the last frame */
    double seconds; /* from create until the last row or file was complete, or until now */

    const char *output; /* path that collet_trajectory_write wrote; else NULL */
    int64_t rows;       /* if this is a shard: rows of all shards together; else 0 */
    int32_t kept;       /* 1: the shard's file existed, and RESUME kept it */
    uint32_t reserved;
} collet_trajectory_info;

/* The label of a body by `each`, counted from 0: "SOL 3", "chain A", or the name of a group. NULL
 * beyond the last. */
COLLET_API const char *collet_trajectory_body_at(const collet_trajectory *trajectory, size_t index);

/* The label of an atom of the key "positions", counted from 0: "CA of ALA 3", or with several chains "CA of
 * ALA 3 of chain A". NULL beyond the last, and if the key is not computed. */
COLLET_API const char *collet_trajectory_atom_at(const collet_trajectory *trajectory, size_t index);

COLLET_API void collet_trajectory_get_info(const collet_trajectory *trajectory,
                                           collet_trajectory_info *info);

/* One file of the trajectory. */
typedef struct collet_trajectory_file {
    uint32_t struct_size;
    int32_t was_cut;    /* after the last row, 1: the file's last frames are left out, because a later
                            file has these times */
    const char *path;   /* valid until the trajectory is destroyed */
    const char *format; /* a format's name, or "memory" */
    uint64_t bytes;
    /* after the last row: */
    int64_t
        first_frame; /* number of the file's first frame, counted over all files; -1: none was read */
    int64_t frames;  /* number of frames: frames that `step` skips count, frames left out do not */
} collet_trajectory_file;

/* Sets *file to file `index` of the trajectory, counted from 0; NOT_FOUND beyond the last. */
COLLET_API collet_status collet_trajectory_file_at(const collet_trajectory *trajectory,
                                                   collet_trajectory_file *file, size_t index,
                                                   collet_error *err);

/* One array of the results. Strings are static. */
typedef struct collet_trajectory_quantity {
    uint32_t struct_size;
    collet_dtype dtype; /* COLLET_F64 */
    const char *key;    /* "L_vector" */
    const char *unit;   /* "amu nm^2/ps" */
    const char *meaning;
    int32_t ndim; /* axes of a row: 0 (one number) to 3 */
    uint32_t reserved;
    int64_t width;    /* count of numbers in a row */
    int64_t shape[3]; /* shape of a row. With bodies the first axis is the bodies, except for the
                             times; for the positions it is the atoms */
    const char *const
        *components;      /* names of the numbers that a row has (for each body or atom): "x", "y",
                                      "z"; "" for a single number */
    const char *left_out; /* NULL: computed. Else the reason: "the trajectory has no forces" */
} collet_trajectory_quantity;

/* The number of quantities. The list is always the same, in the same order. */
COLLET_API size_t collet_trajectory_quantity_count(void);
/* Sets *quantity to quantity `index`; NOT_FOUND beyond the last. If `trajectory` is NULL, no quantity is left out, and
 * shapes are for one body of one atom. */
COLLET_API collet_status collet_trajectory_quantity_at(const collet_trajectory *trajectory,
                                                       collet_trajectory_quantity *quantity,
                                                       size_t index, collet_error *err);

/* Sets *share to the work that device `index` of the options' devices has done so far, in frames. NOT_FOUND beyond the
 * last device, and before the first row was requested. The strings are valid until the trajectory is destroyed. */
COLLET_API collet_status collet_trajectory_share_at(const collet_trajectory *trajectory,
                                                    collet_device_share *share, size_t index,
                                                    collet_error *err);

/* The batches and the memory that the work needs. */
typedef struct collet_trajectory_plan {
    uint32_t struct_size; /* set by the caller */
    uint32_t reserved;
    int64_t batch_frames; /* frames read and computed at a time */
    int64_t batches;      /* number of batches in the host's memory */
    uint64_t host_bytes;  /* bytes of these batches */
    uint64_t bytes;       /* bytes of a batch's arrays on each device */
} collet_trajectory_plan;

/*
 * Opens the devices and reads the first batch. Each device computes this batch twice; afterwards
 * collet_trajectory_share_at returns the time of the second run (without `devices`, of the context). Call it at most
 * once, before any row is requested; afterwards no row can be requested. Errors as in collet_trajectory_next.
 */
COLLET_API collet_status collet_trajectory_plan_work(collet_trajectory *trajectory,
                                                     collet_trajectory_plan *plan,
                                                     collet_error *err);

/* ---- Rows -------------------------------------------------------------------------------- */

/* Rows of all quantities for the same frames. */
typedef struct collet_trajectory_batch {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t first_row; /* number of the batch's first row, counted from the first frame read */
    int64_t n_rows;
    const double *const *columns; /* columns[i]: quantity i, n_rows x width, contiguous; NULL: left
                                     out */
} collet_trajectory_batch;

/*
 * Computes batch_rows rows, or up to the end of the trajectory, and returns them in *out, valid until the next
 * call for this trajectory. After the last row *out is NULL and the status COLLET_OK. Rows do not depend on the
 * size of batches, bit for bit. If no context was given, the first call creates a runtime and a context, and
 * returns their errors. Other errors come from reading and from kernels. Rows of frames before an error may be
 * lost. After an error each further call returns the same error.
 */
COLLET_API collet_status collet_trajectory_next(collet_trajectory *trajectory,
                                                const collet_trajectory_batch **out,
                                                collet_error *err);

/* Returns all remaining rows in one batch. Memory grows with the length of the trajectory. */
COLLET_API collet_status collet_trajectory_collect(collet_trajectory *trajectory,
                                                   const collet_trajectory_batch **out,
                                                   collet_error *err);

/*
 * Receives a batch, which is valid during the call. Any status except COLLET_OK stops reading and
 * computing at once; this status is returned, with the text in *err, and every later call returns it too.
 */
typedef collet_status (*collet_trajectory_batch_fn)(void *user,
                                                    const collet_trajectory_batch *batch,
                                                    collet_error *err);

/* Calls `take` for each remaining batch. */
COLLET_API collet_status collet_trajectory_each(collet_trajectory *trajectory,
                                                collet_trajectory_batch_fn take, void *user,
                                                collet_error *err);

/* ---- Files ------------------------------------------------------------------------------- */

#define COLLET_TRAJECTORY_DIRECTORY 1u /* `path` is a directory: one .npy for each key, meta.json */
#define COLLET_TRAJECTORY_OVERWRITE 2u /* files of an earlier run are replaced */
#define COLLET_TRAJECTORY_RESUME                                                                   \
    4u /* only for a shard: if its file of an earlier run of the same work
                                          exists, it is kept, and nothing is computed */
#define COLLET_TRAJECTORY_CHECK                                                                    \
    8u /* not for a shard: checks the paths and writes nothing */

/*
 * Computes everything and writes it to `path`, in the form that the ending of `path` names, and a meta file that
 * describes results and inputs:
 *   OUT.npz   arrays for NumPy; OUT.meta.json
 *   OUT.csv   one line for each frame, after a line with the names of the columns and their units:
 *             "com_x (nm)"; OUT.csv.meta.json
 *   OUT.xvg   the same table in the format of GROMACS's programs; OUT.xvg.meta.json
 *   OUT.h5    HDF5: one dataset for each key, with attributes "unit" and "meaning"; the meta data are
 *             the attribute "meta" of the file. HDF5 may allow only one thread at a time to write
 *   DIR       with the flag DIRECTORY; DIR/meta.json
 * The first column of a table (.csv and .xvg) is the time, even if it is not among the keys, or the number of
 * the row if there are no times. A program that reads a number gets exactly the same double. Tables cannot have
 * positions. Call it once, before any row is requested. Files appear under their names only when all of them
 * are complete: after an error no file was created or replaced, unless the text reports which were. An old meta
 * file is removed first, and the new meta file gets its name last. So a meta file always describes the results
 * next to it, even after the program was killed. Its "id" is the comment of the .npz archive. COLLET_IO if the
 * output exists and OVERWRITE is not given, or if it cannot be written; COLLET_INVALID if it would replace an
 * input. If the trajectory ends inside a frame or has a damaged frame, and has at least one complete frame
 * before it, returns COLLET_OK and sets `truncated` of the info.
 *
 * With n_shards the call writes one shard. The R rows are divided before `missing` leaves any out: shard k
 * has rows R (k - 1) / n to R k / n - 1. A shard may have no rows. It depends on no other shard: if it needs the first
 * frame or earlier frames, it reads them itself. Its file, DIR/003-of-100.npz for shard 3 of 100, appears only when
 * complete; DIR is `shards`, or `path` with ".shards", and is created. A trajectory with all the `parts` writes the
 * results, in the form that `path` and DIRECTORY choose. They equal the results without shards byte for byte, and so
 * does the meta file except for "created", "counters" and "timing". Warnings are about the merged results. A frame that
 * cannot be read ends the rows of the results; later shards are not needed. With `parts`, collet_trajectory_create
 * returns COLLET_NOT_FOUND if shards are missing, and COLLET_INVALID if some belong to other work.
 */
COLLET_API collet_status collet_trajectory_write(collet_trajectory *trajectory, const char *path,
                                                 uint32_t flags, collet_error *err);

/* After this call collet_trajectory_write also passes each row to `take`, in order, as soon as it is computed, on the
 * thread that called write. If the trajectory has times, the rows have them even if their key is not chosen. A call
 * with `take` = NULL ends this. An error of `take` ends the work. */
COLLET_API void collet_trajectory_watch(collet_trajectory *trajectory,
                                        collet_trajectory_batch_fn take, void *user);

/* The contents of the meta file, JSON, after the last row or after `write`; else NULL. */
COLLET_API const char *collet_trajectory_meta(const collet_trajectory *trajectory);

/*
 * Warnings about the results, after the last row or after `write`: frames with values that are not
 * finite (frame and atom), frames without a field, metals guessed in residues of many atoms,
 * molecules that the periodic box cuts in the first frame, or that are bonded to themselves through
 * it, a rotation that is removed in a box, steps by half a box with PBC_NOJUMP, frames without a box,
 * velocities of some atoms only, keys left out because there are no times, times that do not rise,
 * singular inertia tensors, a truncated or damaged trajectory. NULL beyond the last.
 */
COLLET_API const char *collet_trajectory_warning_at(const collet_trajectory *trajectory,
                                                    size_t index);

/* Calls create, write and destroy. Returns COLLET_FORMAT also if the trajectory ends inside a frame or a frame is
 * damaged: then the frames before it were written. */
COLLET_API collet_status collet_trajectory_extract(const char *path, uint32_t flags,
                                                   const collet_trajectory_options *options,
                                                   collet_error *err);

/*
 * Sets times[0..min(capacity, *n)) to the times of a trajectory's frames in ps, equal to the quantity time_ps, and *n
 * to the number of frames; NaN for a frame without a time. `paths`: the files, ended by NULL; several are one
 * trajectory. Heads are read up to the end, or to the first head that cannot be read. INVALID for arguments that are
 * NULL (`times` may be if capacity is 0); IO, FORMAT, NO_MEMORY. Any thread.
 */
COLLET_API collet_status collet_trajectory_times(double *times, size_t capacity, int64_t *n,
                                                 const char *const *paths, collet_error *err);

/* ---- Molecules of arrays ----------------------------------------------------------------- */

COLLET_ENUM(uint32_t){
    COLLET_TRAJECTORY_PLACE_WHOLE,  /* makes molecules whole; the first atom of each stays */
    COLLET_TRAJECTORY_PLACE_UNWRAP, /* whole; each molecule moves between frames by the shortest way */
    COLLET_TRAJECTORY_PLACE_PACK /* whole; the centre of each molecule is moved into its frame's box:
                                       fractions of a, b and c from 0 to below 1 */
};

/* Positions that collet_trajectory_place changes, in any unit. */
typedef struct collet_trajectory_places {
    uint32_t struct_size;
    uint32_t what;      /* COLLET_TRAJECTORY_PLACE_* */
    collet_dtype dtype; /* of positions: COLLET_F32 or COLLET_F64 */
    uint32_t reserved;
    void *positions; /* n_frames x n_atoms x 3, contiguous */
    int64_t n_frames;
    int64_t n_atoms;
    const double *boxes;  /* n_boxes x 9, the vectors a, b and c; zeros: the frame has no box and is
                            not changed */
    int64_t n_boxes;      /* n_frames, or 1: all frames have the same box */
    const int64_t *bonds; /* n_bonds x 2 atoms, from 0; NULL: none are known */
    int64_t n_bonds;
    const int64_t *offsets; /* n_molecules + 1: atoms offsets[m] to offsets[m + 1] - 1 belong
                               together; ascending from 0 to n_atoms. NULL: only bonds join atoms */
    int64_t n_molecules;
    const double *masses; /* n_atoms, for centres; NULL: centres of geometry */
    int64_t left;      /* result: the number of molecules that were not changed, because they are bonded
                           to their own image through the box, or have more than 4096 atoms without bonds */
    int64_t left_atom; /* result: the first atom of the first such molecule; -1: none */
    int64_t far;       /* result of UNWRAP: the number of steps from frame to frame by more than about 0.4 of
                           the box: the molecule may really have moved the other way round the box */
    int64_t far_frame; /* result: the frame of the first such step; -1: none */
    int64_t far_atom;  /* result: the first atom of the molecule that makes it; -1: none */
} collet_trajectory_places;

/*
 * Moves molecules as places->what requests, in any triclinic box. Molecules are made whole as
 * COLLET_TRAJECTORY_PBC_WHOLE describes; the first frame that has a box decides how atoms without bonds are
 * joined. Changes positions in place, on the calling thread. INVALID for wrong sizes, atoms, offsets, masses
 * that are negative or not finite, and boxes that are flat or not finite; then nothing is changed. NO_MEMORY.
 */
COLLET_API collet_status collet_trajectory_place(collet_trajectory_places *places,
                                                 collet_error *err);

#ifdef __cplusplus
}
#endif

#endif
