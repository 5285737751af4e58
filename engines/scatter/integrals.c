/* SPDX-License-Identifier: Apache-2.0 */
/* Writes integrals to HDF5, with dimension scales as in netCDF-4.
 * Tests: tests/engines/scatter/test_scatter_integrals.c */
#include "scatter/files/store.h"

#include <hdf5_hl.h>
#include <stdlib.h>

#include <collet/scatter.h>

#include <collet/floating.h>

enum { BEAM, ENERGY, CHI, Q, DIMENSIONS };

typedef struct integrals_file {
    hid_t file;
    hid_t scales[DIMENSIONS];
    hsize_t extents[DIMENSIONS];
} integrals_file;

/* Writes a text of variable length, because other programs read a text of fixed length as bytes. */
static int write_text(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    int done = attribute >= 0 && H5Awrite(attribute, type, &text) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return done;
}

static int write_number(hid_t object, const char *name, double value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    int done = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    return done;
}

static int describe(hid_t set, const char *units, const char *meaning)
{
    return write_text(set, "units", units) && write_text(set, "long_name", meaning);
}

static int write_scale(integrals_file *f, int dimension, const char *name, const double *values,
                       const char *units, const char *meaning)
{
    hid_t set = scatter_make_set(f->file, name, H5T_IEEE_F64LE, 1, &f->extents[dimension],
                                 H5T_NATIVE_DOUBLE, values);
    f->scales[dimension] = set;
    return set >= 0 && describe(set, units, meaning) && H5DSset_scale(set, name) >= 0;
}

/* Writes an array. Bit d of `dimensions` is set if the array has dimension d. */
static int write_array(const integrals_file *f, const char *name, unsigned dimensions, hid_t stored,
                       hid_t type, const void *values, const char *units, const char *meaning)
{
    hsize_t shape[DIMENSIONS];
    int axes = 0, done = 1;
    for (unsigned i = 0; i < DIMENSIONS; i++)
        if (dimensions & 1u << i)
            shape[axes++] = f->extents[i];
    hid_t set = scatter_make_set(f->file, name, stored, axes, shape, type, values);
    done = set >= 0 && describe(set, units, meaning);
    for (unsigned i = 0, axis = 0; i < DIMENSIONS && done; i++)
        if (dimensions & 1u << i)
            done = H5DSattach_scale(set, f->scales[i], axis++) >= 0;
    return set >= 0 && H5Dclose(set) >= 0 && done;
}

static int write_scales(integrals_file *f, const collet_scatter_rings *rings,
                        const double *energies, const double *q)
{
    double chi[COLLET_SCATTER_CHI], *beams = malloc(f->extents[BEAM] * sizeof *beams);
    for (int i = 0; i < COLLET_SCATTER_CHI; i++)
        chi[i] = i - 0.5 * (COLLET_SCATTER_CHI - 1);
    for (hsize_t i = 0; beams && i < f->extents[BEAM]; i++)
        beams[i] = (double)i;
    int done = beams &&
               write_scale(f, BEAM, "beam", beams, "1", "beam, as K0, K1, ... of the patterns") &&
               write_scale(f, ENERGY, "energy", energies, "eV", "energy of the beam") &&
               write_scale(f, CHI, "chi", chi, "degree",
                           "angle on the detector from the electric field, x, towards y") &&
               write_scale(f, Q, "q", q, "1/nm",
                           rings->flat ? "q in the plane of the detector"
                                       : "length of q on Ewald's sphere");
    free(beams);
    return done;
}

static int write_directions(const integrals_file *f, const double (*beams)[3])
{
    static const char *const names[] = {"direction_x", "direction_y", "direction_z"};
    double *values = malloc(f->extents[BEAM] * sizeof *values);
    int done = values != NULL;
    for (int a = 0; a < 3 && done; a++) {
        for (hsize_t i = 0; i < f->extents[BEAM]; i++)
            values[i] = beams[i][a];
        done = write_array(f, names[a], 1u << BEAM, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values, "1",
                           "of the beam");
    }
    free(values);
    return done;
}

static int write_all(integrals_file *f, const collet_scatter_integrals *in, double wedge)
{
    static const char intensity[] = "1/nm^4"; /* |k^2 p|^2, where p is a sum over voxels */
    const unsigned ring = 1u << BEAM | 1u << ENERGY | 1u << Q;
    const struct {
        const char *name;
        unsigned dimensions;
        const void *values;
        const char *units, *meaning;
    } arrays[] = {
        {"I_chi", ring | 1u << CHI, in->polar, intensity, "intensity"},
        {"I", ring, in->mean, intensity, "intensity, mean over chi"},
        {"I_parallel", ring, in->parallel, intensity,
         "intensity, mean over the wedges about chi = 0 and 180"},
        {"I_perpendicular", ring, in->perpendicular, intensity,
         "intensity, mean over the wedges about chi = 90 and -90"},
        {"A", ring, in->anisotropy, "1",
         "(I_parallel - I_perpendicular) / (I_parallel + I_perpendicular)"},
    };
    hid_t type = in->wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
    int done = write_text(f->file, "title", "X-ray scattering patterns, integrated by Collet") &&
               write_number(f->file, "wedge_degrees", wedge);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && done; i++)
        done = write_array(f, arrays[i].name, arrays[i].dimensions, H5T_IEEE_F32LE, type,
                           arrays[i].values, arrays[i].units, arrays[i].meaning);
    return done;
}

collet_status collet_scatter_write_integrals(const char *path,
                                             const collet_scatter_rings *rings,
                                             int64_t n_beams, const double (*beams)[3],
                                             int64_t n_energies, const double *energies,
                                             const collet_scatter_integrals *in,
                                             const char *settings, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    int64_t count;
    io_hdf5_quiet before;
    if (!path || !beams || !energies || !in || !settings || n_beams < 1 || n_energies < 1)
        return collet_fail(err, COLLET_INVALID, "%s",
                           !path       ? "path is NULL"
                           : !beams    ? "beams is NULL"
                           : !energies ? "energies is NULL"
                           : !in       ? "integrals is NULL"
                           : !settings ? "settings is NULL"
                                       : "n_beams and n_energies must be at least 1");
    if (!in->polar || !in->mean || !in->parallel || !in->perpendicular || !in->anisotropy)
        return collet_fail(err, COLLET_INVALID,
                           "an array of the integrals is NULL; all are needed");
    collet_status status = collet_scatter_rings_q(rings, &count, NULL, err);
    if (status != COLLET_OK)
        return status;
    double *q = malloc((size_t)count * sizeof *q);
    if (!q)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to write %s", path);
    collet_scatter_rings_q(rings, &count, q, NULL);
    io_hdf5_be_quiet(&before);
    integrals_file f = {
        .file = scatter_make_file(),
        .scales = {-1, -1, -1, -1},
        .extents = {(hsize_t)n_beams, (hsize_t)n_energies, COLLET_SCATTER_CHI, (hsize_t)count}};
    int done = f.file >= 0 && write_scales(&f, rings, energies, q) && write_directions(&f, beams) &&
               write_all(&f, in, rings->wedge > 0 ? rings->wedge : 90) &&
               scatter_write_settings(f.file, settings);
    for (int i = 0; i < DIMENSIONS; i++)
        if (f.scales[i] >= 0)
            done = H5Dclose(f.scales[i]) >= 0 && done;
    status = scatter_store(f.file, done, path, err);
    io_hdf5_report_again(&before);
    free(q);
    return status;
}

collet_status collet_scatter_integrals_written(const char *path, const char *settings,
                                               collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    return scatter_compare_settings(path, settings, err);
}
