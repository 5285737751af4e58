/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/trajectory.h - observables of every frame of a molecular dynamics trajectory.
 *
 * Library libcollet-trajectory, on top of collet.h. A collet_trajectory reads a topology and a
 * trajectory in the formats that collet_trajectory_format_at lists, or takes both from the program,
 * and computes the quantities that collet_trajectory_quantity_at lists: centre of mass, inertia,
 * angular momentum, torque, energies, gyration, rmsd and so on, one row a frame, 64-bit floats.
 * Memory does not depend on the length of the trajectory: threads read ahead while kernels run.
 *
 * To files, with one call:
 *
 *     collet_trajectory_options options = {.struct_size = sizeof options,
 *                                          .topology = "conf.gro", .trajectory = "traj.trr"};
 *     status = collet_trajectory_extract("out.npz", 0, &options, &err);
 *
 * Or batch by batch:
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
 *   Zero means the default. A member that is not 0 and that the library does not know is INVALID. The text of an
 *   error names file, frame and atom, and what to do. Nothing is printed, and there is no global
 *   state. A trajectory belongs to one thread at a time; several may run at once. Callbacks run on
 *   the thread that called.
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
    double time;            /* ps; ignored where the source has no times */
    const void *positions;  /* nm */
    const void *velocities; /* nm/ps; NULL: none */
    const void *forces;     /* kJ/mol/nm; NULL: none */
    const double *box; /* nm, the vectors a, b and c of the periodic box; NULL or zeros: none */
} collet_trajectory_frame;

/* Atoms and frames of the program in place of files. The library keeps its address: the struct, and all that it
 * points to, must stay valid until the trajectory is destroyed. */
typedef struct collet_trajectory_source {
    uint32_t struct_size;
    collet_dtype dtype; /* of all arrays: COLLET_F32 or COLLET_F64 */
    const char *name;   /* stands in messages and the meta file in place of a path */
    int64_t n_atoms;
    int64_t n_frames;
    const char *const *names;         /* of atoms, n_atoms, for selections and guessed masses, up to
                                         15 bytes each; NULL: all "" */
    const char *const *residue_names; /* likewise */
    const int32_t *residue_ids;       /* NULL: all 0 */
    const int64_t *residue_numbers;   /* n_atoms, different for successive residues; NULL: where
                                         name, id, segment or chain change, a residue begins */
    const char *const *segments;      /* of atoms, up to 15 bytes each, "": none; NULL: all "" */
    const char *const *chains;        /* likewise */
    const double *charges;            /* n_atoms, elementary charges; NULL: unknown */
    const int64_t *bonds;             /* n_bonds x 2 atoms, from 0; NULL: unknown */
    int64_t n_bonds;
    int32_t has_velocities; /* 0 or 1: frames have them */
    int32_t has_forces;
    int32_t has_times;
    uint32_t reserved;
    /* Sets *frame to frame `index`. Called on the thread that called the library, with rising
     * indices, once more for a frame that a warning is about, and for the first frame also by
     * collet_trajectory_create where residues may be joined. Any status but COLLET_OK ends the
     * work and is returned, with the text in *err. It may not use the trajectory or its context. */
    collet_status (*read)(void *user, collet_trajectory_frame *frame, int64_t index,
                          collet_error *err);
    /* Sets chosen[i] to 1 for each of the n_atoms atoms that are analysed in frame `index`, the last frame that was
     * read, and to 0 for all others. Atoms that the options' selection does not choose are left out in any case.
     * Threads and errors as for `read`. NULL: the same atoms in all frames. */
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
 * What is done about the periodic box before anything is computed, for any box, triclinic too.
 * The topology's bonds say which atoms form a molecule. If some atoms of a residue have no bonds, all its atoms
 * belong together; successive residues of a protein or a nucleic acid are joined if they are near each other in
 * the first frame that is read. Atoms that are not selected are read if they connect selected atoms of a molecule. The first atom of a molecule stays where it is. A frame
 * without a box is used as it is.
 */
COLLET_ENUM(uint32_t){
    COLLET_TRAJECTORY_PBC_WHOLE,  /* molecules are made whole */
    COLLET_TRAJECTORY_PBC_NOJUMP, /* then each molecule moves from frame to frame by the shortest
                                     way, so its path has no jumps from the first frame that is read
                                     on. It must move by less than half a box from one frame that is
                                     read to the next */
    COLLET_TRAJECTORY_PBC_CENTER, /* whole; the selection's centre of mass is moved to the middle of
                                     the box, and each molecule to its image nearest to the middle */
    COLLET_TRAJECTORY_PBC_NONE    /* positions are used as they are in the file */
};

/* collet_trajectory_create copies everything except `context`, `source` and the callbacks' `user`. */
typedef struct collet_trajectory_options {
    uint32_t struct_size;
    uint32_t missing; /* COLLET_TRAJECTORY_MISSING_*; of frames in files */

    const char *topology;             /* a file of a format with a topology */
    const char *trajectory;           /* a file of a format with frames, of the same atoms */
    const char *const *continuations; /* further files, ended by NULL, in any format. All files are
                                         one trajectory. If a frame's time is not before the first
                                         time of a later file, this frame and the rest of its file
                                         are left out. NULL: none */
    const char *selection; /* atoms to analyse, in the language of collet-extract(1); with "within"
                               other atoms in each frame. NULL: all */
    const char *ndx;  /* a .ndx file of GROMACS, whose groups the selection may name; NULL: none */
    const char *each; /* "residue", "molecule", "segment", "chain", or patterns of groups of ndx,
                         separated by blanks: rows of each of these bodies, with selected atoms
                         only. NULL: the selection is one body, without an axis of bodies */
    const char *masses;        /* file with one mass a line for each atom of the topology, amu, or
                               "equal": each selected atom has 1. NULL: mass_values, or the topology's
                               masses; if it has none, the standard atomic weights of its elements;
                               if it has no elements, these are guessed from the atoms' names */
    const double *mass_values; /* instead of a file: one for each atom of the topology, amu */
    int64_t n_mass_values;     /* their number */
    const char *reference; /* rmsd to the first frame of this file; NULL: the first frame read */
    const char *keys;      /* quantities, separated by ','; '*' stands for any characters:
                              "com,L_*". NULL: all for which the trajectory has the fields, except
                              "positions", which must be named */
    double axis[3];        /* axis of the z parts and the tilt; 0,0,0 means 0,0,1 */

    int64_t start; /* frames start, start + step, ... below stop are read, counted from 0 */
    int64_t stop;  /* 0: to the end */
    int64_t step;  /* 0: 1 */
    uint32_t pbc;  /* COLLET_TRAJECTORY_PBC_* */
    uint32_t reserved;

    collet_context *context; /* to compute with; nothing else may use it until the trajectory is
                                destroyed. NULL: the trajectory creates a runtime and a context */
    const char *backend;     /* without a context: as collet_set_backend; NULL: the settings' */
    int64_t threads;   /* without a context: CPU threads in all. 1: the calling thread reads and
                                computes in turn. With more threads one reads and the others compute.
                                .xtc and text take longer to decode than kernels need: then most
                                threads read. 0: as many as there are processors, and the settings'
                                number for kernels */
    collet_log_fn log; /* without a context: messages of the runtime, by default from info on;
                                NULL: dropped */
    void *log_user;
    int64_t batch_frames; /* frames read and computed at a time; three such batches are in
                             memory, two if they are large. 0: about 3 MiB */
    int64_t batch_rows;   /* rows that collet_trajectory_next delivers at a time. It computes at
                             most three times as many ahead, or batch_frames if that is more.
                             A small number delivers sooner, and each row costs more time. 0: 1024,
                             or fewer frames of many bodies: at most 32768 rows of bodies */

    /* Called from time to time while files are opened, before the first frame, after each batch that was
     * computed, and every 50 ms while a batch is read. `done`: frames computed; `bytes`: of the
     * trajectory, up to the last of them; the stage is what takes long before frames are computed.
     * Once cancelled, no output file is created. NULL: none */
    collet_progress_fn progress;
    void *progress_user;

    const char *program;        /* recorded in the meta file; NULL: "libcollet-trajectory" */
    const char *const *command; /* likewise: the command line, ended by NULL; NULL: none */

    const collet_trajectory_source *source; /* in place of topology and trajectory, which are then
                                               NULL; NULL: files */

    int64_t shard;    /* the part of the work to compute, 1 to n_shards: `write` writes its file */
    int64_t n_shards; /* 0: the whole work */
    const char *shards; /* the directory of that file, and of an index of the trajectory that shards
                           use in common; NULL: the output's path with ".shards" */
    const char *const *parts; /* files of shards, or directories of them: rows are read from them.
                                 They record the options that decide the results: these options must
                                 be NULL or 0 here. Context, backend, threads, log, batches, progress
                                 and source may be given. The inputs are opened, but no frame is
                                 computed. NULL: none */
    int64_t n_parts;

    /* Devices that share the frames. Each computes sums over the atoms for whole batches; the host
     * computes the rest. Backends of the host may be among the devices. Devices with the same name give
     * the same bits. If a device fails, a warning says so. With `contexts`, backend is NULL and threads
     * 0. NULL: one device */
    const collet_devices *devices;
} collet_trajectory_options;

/*
 * COLLET_INVALID when `text` is not a selection, with the reason, the column, and two more lines
 * that point at it. Reads no file.
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
 * Opens all files and checks them against each other; needs no backend. COLLET_IO and COLLET_FORMAT
 * for files, COLLET_INVALID for options, for a selection without atoms or mass and for keys that do
 * not exist or need fields that the trajectory lacks; COLLET_NO_MEMORY. If the program collet-inspect is
 * installed in the folder of the plugins, it opens HDF5 files first, in another process: COLLET_FORMAT
 * if libhdf5 crashes on the file or does not end.
 */
COLLET_API collet_status collet_trajectory_create(collet_trajectory **out,
                                                  const collet_trajectory_options *options,
                                                  collet_error *err);

/* Cancels the work and frees everything; incomplete output is removed. NULL is allowed.
 */
COLLET_API void collet_trajectory_destroy(collet_trajectory *trajectory);

/* Files and progress; all but the last block is valid after create. */
typedef struct collet_trajectory_info {
    uint32_t struct_size;
    int32_t truncated;      /* 1: the trajectory ends inside a frame; 2: a frame is damaged, or its
                               atoms or precision differ from the first. All frames before it
                               are computed, and a warning gives the frame and the byte */
    const char *format;     /* of the trajectory: a format's name, or "memory" */
    int32_t has_velocities; /* 0 or 1: in the trajectory */
    int32_t has_forces;
    int32_t has_times;
    int32_t masses_guessed; /* 1: masses of some selected atoms were guessed from their names */
    const char *elements;   /* "H 142, C 84" of the selected atoms, where their masses follow from
                               elements; else NULL */
    const char *periodic;   /* what was done about the periodic box: "molecules were made whole by
                             bonds"; after the last row, else NULL */
    int64_t atoms_total;    /* of the topology */
    int64_t atoms;          /* selected in at least one frame, and in a body */
    int64_t least_atoms; /* the least number of atoms that a frame has selected so far. It differs from
                            `atoms` and most_atoms only if the selection depends on positions (within) */
    int64_t most_atoms;  /* the greatest number */
    int64_t bodies;      /* by `each`; 0: not divided */
    double mass;         /* of the selected atoms, amu */
    uint64_t bytes_total; /* of the trajectory */

    int64_t frames;      /* computed so far */
    int64_t first_frame; /* their numbers in the file */
    int64_t last_frame;
    double first_time; /* ps; NaN: that frame has none */
    double last_time;
    uint64_t bytes; /* of the trajectory, up to the last frame */
    double seconds; /* from open until the last row or file was complete, or until now */

    const char *output; /* what `write` wrote: a path; else NULL */
    int64_t rows;       /* of all shards together, if this is a shard; else 0 */
    int32_t kept;       /* 1: the shard was there, and RESUME kept it */
    uint32_t reserved;
} collet_trajectory_info;

/* The label of a body by `each`, counted from 0: "SOL 3", "chain A", or the name of a group. NULL
 * beyond the last. */
COLLET_API const char *collet_trajectory_body_at(const collet_trajectory *trajectory, size_t index);

/* The label of an atom of the key "positions", counted from 0: "CA of ALA 3", "CA of ALA 3 of chain
 * A" where there are several. NULL beyond the last, and where the key is not computed. */
COLLET_API const char *collet_trajectory_atom_at(const collet_trajectory *trajectory, size_t index);

COLLET_API void collet_trajectory_get_info(const collet_trajectory *trajectory,
                                           collet_trajectory_info *info);

/* One file of the trajectory. */
typedef struct collet_trajectory_file {
    uint32_t struct_size;
    int32_t was_cut;    /* after the last row, 1: its last frames are left out, because a later file
                            has their times */
    const char *path;   /* valid until the trajectory is destroyed */
    const char *format; /* a format's name, or "memory" */
    uint64_t bytes;
    /* after the last row: */
    int64_t
        first_frame; /* the number of its first frame, counted over all files; -1: none was read */
    int64_t frames;  /* that were read; frames that `step` skips count, frames that are left out do not */
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
    int64_t width;    /* numbers of a row */
    int64_t shape[3]; /* of a row. With bodies the first axis is the bodies, except for the times; for
                             the positions it is the atoms */
    const char *const
        *components;      /* the names of the numbers of a row, or of one body or one atom in a
                                      row: "x", "y", "z"; "" for a single number */
    const char *left_out; /* NULL: computed. Else why not: "the trajectory has no forces" */
} collet_trajectory_quantity;

/* Always the same list, in the same order. */
COLLET_API size_t collet_trajectory_quantity_count(void);
/* NOT_FOUND beyond the count. Without a trajectory (NULL) nothing is left out, and there is one
 * body of one atom. */
COLLET_API collet_status collet_trajectory_quantity_at(const collet_trajectory *trajectory,
                                                       collet_trajectory_quantity *quantity,
                                                       size_t index, collet_error *err);

/* What device `index` of the options' devices has done, in frames; at any time. NOT_FOUND beyond the
 * last, and before the first row was requested. The strings are valid until the trajectory is destroyed. */
COLLET_API collet_status collet_trajectory_share_at(const collet_trajectory *trajectory,
                                                    collet_device_share *share, size_t index,
                                                    collet_error *err);

/* What the work needs on a device. */
typedef struct collet_trajectory_plan {
    uint32_t struct_size; /* set by the caller */
    uint32_t reserved;
    int64_t batch_frames; /* frames read and computed at a time */
    int64_t batches;      /* in the host's memory */
    uint64_t host_bytes;  /* of these */
    uint64_t bytes;       /* of a batch's arrays, on each device */
} collet_trajectory_plan;

/*
 * Opens the devices and reads the first batch. Each device computes it twice, and collet_trajectory_share_at then
 * gives the share of the second time, also of the context alone. Call it once, before any row is requested;
 * afterwards no row can be requested. Errors as in collet_trajectory_next.
 */
COLLET_API collet_status collet_trajectory_plan_work(collet_trajectory *trajectory,
                                                     collet_trajectory_plan *plan,
                                                     collet_error *err);

/* ---- Rows -------------------------------------------------------------------------------- */

/* Rows of all quantities for the same frames. */
typedef struct collet_trajectory_batch {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t first_row; /* of this batch, counted from the first frame that was read */
    int64_t n_rows;
    const double *const *columns; /* by the index of the quantity of this trajectory: n_rows x
                                     width, contiguous; NULL: left out */
} collet_trajectory_batch;

/*
 * Computes batch_rows rows, or up to the end of the trajectory, and returns them in *out, valid
 * until the next call for this trajectory. *out is NULL with COLLET_OK after the last. The size of
 * batches changes no bit of any row. If no context was given, the first call creates a runtime and a context, and
 * returns their errors. Other errors come from reading and from kernels. Rows of frames before an error may be lost.
 * After an error each further call returns the same error.
 */
COLLET_API collet_status collet_trajectory_next(collet_trajectory *trajectory,
                                                const collet_trajectory_batch **out,
                                                collet_error *err);

/* The same for all remaining rows, in one batch. Memory grows with the trajectory. */
COLLET_API collet_status collet_trajectory_collect(collet_trajectory *trajectory,
                                                   const collet_trajectory_batch **out,
                                                   collet_error *err);

/*
 * Takes a batch, valid during the call. Any status but COLLET_OK stops reading and computing at
 * once; it is returned, with the text in *err, and every later call returns the same.
 */
typedef collet_status (*collet_trajectory_batch_fn)(void *user,
                                                    const collet_trajectory_batch *batch,
                                                    collet_error *err);

/* Calls `take` for each remaining batch. */
COLLET_API collet_status collet_trajectory_each(collet_trajectory *trajectory,
                                                collet_trajectory_batch_fn take, void *user,
                                                collet_error *err);

/* ---- Files ------------------------------------------------------------------------------- */

#define COLLET_TRAJECTORY_DIRECTORY 1u /* path is a directory for one .npy a key, and meta.json */
#define COLLET_TRAJECTORY_OVERWRITE 2u /* files of an earlier run are replaced */
#define COLLET_TRAJECTORY_RESUME                                                                   \
    4u /* only for a shard: the file of an earlier run of the same work is
                                          kept, and nothing is computed */
#define COLLET_TRAJECTORY_CHECK                                                                    \
    8u /* not for a shard: returns the errors of paths, and writes nothing */

/*
 * Computes everything and writes it to `path`, in the form that the ending of `path` names, and a meta file that
 * describes results and inputs:
 *   OUT.npz   arrays for NumPy; OUT.meta.json
 *   OUT.csv   one line a frame; the first one has the names of the columns and their units:
 *             "com_x (nm)"; OUT.csv.meta.json
 *   OUT.xvg   the same as programs of GROMACS write it; OUT.xvg.meta.json
 *   OUT.h5    HDF5: a dataset a key with attributes "unit" and "meaning"; the meta data are the
 *             attribute "meta" of the file. HDF5 may allow only one thread at a time to write
 *   DIR       with the flag DIRECTORY; DIR/meta.json
 * The first column of a table (.csv and .xvg) is the time, also if it is not among the keys, or the number of the row
 * if there are no times. Numbers read back to the same double. Tables cannot have positions.
 * Call it once, before any row is requested. Files get their names when all of them are complete: after an error no
 * file was created or replaced, unless the text reports which were. Before the files get their names an old meta file
 * is removed, and the new meta file gets its name last. So a meta file always describes the results beside it, also
 * after the program was killed. Its "id" is the comment of the .npz archive. COLLET_IO when the
 * output exists and OVERWRITE is not given, or cannot be written; COLLET_INVALID when it would
 * replace an input. A trajectory that ends inside a frame, or has a damaged one, returns COLLET_OK and `truncated` in the
 * info, if it has one complete frame.
 *
 * With n_shards the call writes one shard. The R rows are divided before `missing` leaves any out: shard k
 * has rows R (k - 1) / n to R k / n - 1. It may have none. It depends on no other shard: if it needs the first
 * frame or earlier ones, it reads them itself. Its file, DIR/003-of-100.npz for shard 3 of 100, appears
 * complete; DIR is `shards`, or `path` with ".shards", and is created. A trajectory with all the `parts` writes the
 * results, in the form of `path` and DIRECTORY. They equal the results without shards byte for byte, and so does the
 * meta file except for "created", "counters" and "timing". Warnings are about the merged results. A frame that
 * cannot be read ends the rows of the results; later shards are not needed. With `parts` create returns
 * COLLET_NOT_FOUND if shards are missing, and COLLET_INVALID if some are of other work.
 */
COLLET_API collet_status collet_trajectory_write(collet_trajectory *trajectory, const char *path,
                                                 uint32_t flags, collet_error *err);

/* From now on `write` also passes each row to `take`, in order, as soon as it is computed, on the thread that called
 * `write`. NULL: no longer. An error of `take` ends the work. */
COLLET_API void collet_trajectory_watch(collet_trajectory *trajectory,
                                        collet_trajectory_batch_fn take, void *user);

/* The contents of the meta file, JSON, after the last row or after `write`; else NULL. */
COLLET_API const char *collet_trajectory_meta(const collet_trajectory *trajectory);

/*
 * Warnings about the results, after the last row or after `write`: frames with values that are not
 * finite (frame and atom), frames without a field, metals guessed in residues of many atoms,
 * molecules that the periodic box cuts in the first frame, or that are bonded to themselves through
 * it, frames without a box, velocities of some atoms only, keys left
 * out because there are no times, times that do not rise, singular inertia tensors, a truncated or
 * damaged trajectory. NULL beyond the last.
 */
COLLET_API const char *collet_trajectory_warning_at(const collet_trajectory *trajectory,
                                                    size_t index);

/* Create, write and destroy. COLLET_FORMAT also if the trajectory ends inside a frame or a frame is damaged: then the
 * frames before it were written. */
COLLET_API collet_status collet_trajectory_extract(const char *path, uint32_t flags,
                                                   const collet_trajectory_options *options,
                                                   collet_error *err);

/* ---- Molecules of arrays ----------------------------------------------------------------- */

COLLET_ENUM(uint32_t){
    COLLET_TRAJECTORY_PLACE_WHOLE,  /* makes molecules whole; the first atom of each stays */
    COLLET_TRAJECTORY_PLACE_UNWRAP, /* and each moves from frame to frame by the shortest way */
    COLLET_TRAJECTORY_PLACE_PACK /* whole, and the centre of each is in its frame's box: fractions
                                       of a, b and c from 0 to below 1 */
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
    const double *boxes;  /* n_boxes x 9, the vectors a, b and c; zeros: the frame has none, and is
                            left as it is */
    int64_t n_boxes;      /* n_frames, or 1 for all of them */
    const int64_t *bonds; /* n_bonds x 2 atoms, from 0; NULL: none are known */
    int64_t n_bonds;
    const int64_t *offsets; /* n_molecules + 1: atoms offsets[m] to offsets[m + 1] - 1 belong
                               together; ascending from 0 to n_atoms. NULL: only bonds join atoms */
    int64_t n_molecules;
    const double *masses; /* n_atoms, for centres; NULL: centres of geometry */
    int64_t left;      /* result: the number of molecules that were not changed, because they are bonded
                           to their own image through the box, or have more than 4096 atoms without bonds */
    int64_t left_atom; /* result: the first atom of the first such molecule; -1: none */
} collet_trajectory_places;

/*
 * Places molecules as COLLET_TRAJECTORY_PBC_* describes, in any box; the first frame that has a box
 * decides how atoms without bonds are joined. Changes positions in place, on the calling thread.
 * INVALID for wrong sizes, atoms, offsets, masses that are negative or not finite, and boxes that are
 * flat or not finite; then nothing is changed. NO_MEMORY.
 */
COLLET_API collet_status collet_trajectory_place(collet_trajectory_places *places,
                                                 collet_error *err);

#ifdef __cplusplus
}
#endif

#endif
