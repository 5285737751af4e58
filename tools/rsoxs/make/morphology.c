/* SPDX-License-Identifier: Apache-2.0 */
/* The HDF5 file, one layer of voxels at a time.
 * Tests: tests/tools/rsoxs/test_rsoxs_make.c */
#include "make.h"

#include "common/interrupt.h"
#include "common/progress.h"

#include <errno.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 4 /* the fields of a material, as in make_layer */

typedef struct writer {
    const make_scene *scene;
    hid_t file;
    hid_t (*sets)[FIELDS];
    make_layer *layers;
    tool_progress progress;
} writer;

void make_add_order(make_sums *sums, double aligned, double theta, double psi)
{
    double s[3] = {cos(psi) * sin(theta), sin(psi) * sin(theta), cos(theta)};
    int at = 0;
    sums->aligned += aligned;
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++)
            sums->order[at++] += aligned * s[i] * s[k];
}

static void add_sums(const writer *w, make_sums *sums)
{
    const make_options *o = w->scene->options;
    for (int64_t m = 0; m < w->scene->materials; m++) {
        const make_layer *l = &w->layers[m];
        int64_t count = o->size[1] * o->size[2];
        double aligned = 0; /* the aligned part of voxels with the same direction */
        for (int64_t i = 0; i < count; i++) {
            sums[m].volume += (double)l->volume[i];
            if (!l->alignment)
                continue;
            aligned += (double)l->volume[i] * (double)l->alignment[i];
            if (i + 1 < count && l->theta[i] == l->theta[i + 1] && l->psi[i] == l->psi[i + 1])
                continue;
            make_add_order(&sums[m], aligned, (double)l->theta[i], (double)l->psi[i]);
            aligned = 0;
        }
    }
}

/* ---- Datasets -------------------------------------------------------------------------------- */

/* Creates the datasets. A dataset that is never written takes no space and is read as zeros. */
static int create_datasets(writer *w)
{
    static const char *const names[FIELDS] = {"Vfrac", "S", "Theta", "Psi"};
    static const char *const labels[3] = {"Z", "Y", "X"};
    const make_options *o = w->scene->options;
    const hsize_t shape[3] = {(hsize_t)o->size[0], (hsize_t)o->size[1], (hsize_t)o->size[2]};
    hid_t space = H5Screate_simple(3, shape, NULL);
    int done = space >= 0;
    for (int64_t i = 0; i < w->scene->materials * FIELDS && done; i++) {
        char name[80];
        snprintf(name, sizeof name, "/Euler_Angles/Mat_%" PRId64 "_%s", i / FIELDS + 1,
                 names[i % FIELDS]);
        hid_t set =
            H5Dcreate2(w->file, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        w->sets[i / FIELDS][i % FIELDS] = set;
        done = set >= 0;
        for (unsigned a = 0; a < 3 && done; a++)
            done = H5DSset_label(set, a, labels[a]) >= 0;
    }
    H5Sclose(space);
    return done;
}

static int create_groups(writer *w)
{
    static const char *const names[] = {"/Morphology_Parameters", "/Euler_Angles"};
    const hsize_t one = 1;
    const int materials = (int)w->scene->materials;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        hid_t group = H5Gcreate2(w->file, names[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (group < 0)
            return 0;
        H5Gclose(group);
    }
    return H5LTmake_dataset_double(w->file, "/Morphology_Parameters/PhysSize", 1, &one,
                                   &w->scene->options->voxel) >= 0 &&
           H5LTmake_dataset_int(w->file, "/Morphology_Parameters/NumMaterial", 1, &one,
                                &materials) >= 0;
}

static int write_layer(const writer *w, int64_t z)
{
    const make_options *o = w->scene->options;
    const hsize_t start[3] = {(hsize_t)z, 0, 0};
    const hsize_t count[3] = {1, (hsize_t)o->size[1], (hsize_t)o->size[2]};
    hid_t memory = H5Screate_simple(3, count, NULL);
    int done = memory >= 0;
    for (int64_t i = 0; i < w->scene->materials * FIELDS && done; i++) {
        const make_layer *l = &w->layers[i / FIELDS];
        const float *values[FIELDS] = {l->volume, l->alignment, l->theta, l->psi};
        if (!values[i % FIELDS])
            continue;
        hid_t file = H5Dget_space(w->sets[i / FIELDS][i % FIELDS]);
        done = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
               H5Dwrite(w->sets[i / FIELDS][i % FIELDS], H5T_NATIVE_FLOAT, memory, file,
                        H5P_DEFAULT, values[i % FIELDS]) >= 0;
        H5Sclose(file);
    }
    H5Sclose(memory);
    return done;
}

/* ---- File ------------------------------------------------------------------------------------ */

static int allocate(writer *w)
{
    const make_options *o = w->scene->options;
    size_t materials = (size_t)w->scene->materials, layer = (size_t)(o->size[1] * o->size[2]);
    w->sets = malloc(materials * sizeof *w->sets);
    w->layers = calloc(materials, sizeof *w->layers);
    if (!w->sets || !w->layers)
        return 0;
    memset(w->sets, 0xff, materials * sizeof *w->sets); /* none is open */
    for (size_t m = 0; m < materials; m++) {
        make_layer *l = &w->layers[m];
        int aligned = make_is_aligned(w->scene, (int64_t)m);
        l->volume = malloc(layer * (aligned ? FIELDS : 1) * sizeof(float));
        if (!l->volume)
            return 0;
        l->alignment = aligned ? l->volume + layer : NULL;
        l->theta = aligned ? l->volume + 2 * layer : NULL;
        l->psi = aligned ? l->volume + 3 * layer : NULL;
    }
    return 1;
}

static int close_file(writer *w)
{
    int done = 1;
    for (int64_t i = 0; w->sets && i < w->scene->materials * FIELDS; i++)
        done = (w->sets[i / FIELDS][i % FIELDS] < 0 ||
                H5Dclose(w->sets[i / FIELDS][i % FIELDS]) >= 0) &&
               done;
    return (w->file < 0 || H5Fclose(w->file) >= 0) && done;
}

static void free_writer(writer *w)
{
    for (int64_t m = 0; w->layers && m < w->scene->materials; m++)
        free(w->layers[m].volume);
    free(w->layers);
    free(w->sets);
}

/* Fails with `code`: HDF5 leaves errno as the failing system call set it; 0 means that no call set it. */
static collet_status refuse(const char *path, const char *what, int code, collet_error *err)
{
    return collet_fail(err, COLLET_IO, "%s: cannot be %s: %s%s", path, what,
                       code ? strerror(code) : "HDF5 failed",
                       code == EFBIG ? " (limit on the size of files, ulimit -f)" : "");
}

static collet_status write_layers(writer *w, const char *path, make_sums *sums, collet_error *err)
{
    int64_t layers = w->scene->options->size[0], z = 0;
    int done = create_groups(w) && create_datasets(w);
    for (; z < layers && done && !tool_interrupt_signal(); z++) {
        if (w->scene->options->kind == MAKE_EULER)
            make_fill_grains(w->scene, z, w->layers);
        else
            make_fill_objects(w->scene, z, w->layers);
        add_sums(w, sums);
        done = write_layer(w, z);
        tool_progress_update(&w->progress, z + 1, 0, (double)(z + 1) / (double)layers);
    }
    int failed = errno;
    done = close_file(w) && done;
    failed = failed ? failed : errno;
    if (!done)
        return refuse(path, "written", failed, err);
    return z < layers ? collet_fail(err, COLLET_CANCELLED, "stopped") : COLLET_OK;
}

static collet_status write_file(writer *w, const io_spool *spool, make_sums *sums,
                                collet_error *err)
{
    const char *path = io_spool_path(spool);
    errno = 0;
    w->file = H5Fcreate(io_spool_temporary(spool), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (w->file < 0)
        return refuse(path, "created", errno, err);
    return write_layers(w, path, sums, err);
}

collet_status make_write_morphology(const make_scene *scene, const io_spool *spool, make_sums *sums,
                                    collet_error *err)
{
    writer w = {.scene = scene, .file = -1};
    collet_status status = allocate(&w)
                               ? COLLET_OK
                               : collet_fail(err, COLLET_NO_MEMORY, "no memory for a layer of %s",
                                             io_spool_path(spool));
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1); /* HDF5's lock would conflict with the spool's lock */
    H5dont_atexit();                             /* HDF5's exit handler crashes after a full disk */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* by default HDF5 prints its errors */
    tool_progress_begin(&w.progress, "collet-rsoxs make", "layers", stderr, scene->options->quiet);
    if (status == COLLET_OK)
        status = write_file(&w, spool, sums, err);
    tool_progress_end(&w.progress);
    free_writer(&w);
    return status;
}
